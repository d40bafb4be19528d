import Testing

@testable import TileSources

/// Buffers that are lent, kept and given back.
@Suite struct ScratchMemoryTests {
    @Test func buffersAreUsedAgainAndBounded() throws {
        let scratch = ScratchMemory()
        var first = scratch.lend(100_000)
        #expect(first?.memory.count == 100_000 && scratch.byteCount == 128 << 10)
        first?.memory.update(repeating: 7)
        let address = first?.memory.baseAddress
        first = nil
        #expect(scratch.byteCount == 128 << 10)
        // Of the same size class, whatever its own size.
        first = scratch.lend(128 << 10)
        #expect(first?.memory.baseAddress == address && first?.memory.count == 128 << 10)
        // Another size takes another buffer; the smallest is 64 KiB.
        let small = try #require(scratch.lend(0))
        #expect(small.memory.count == 0 && scratch.byteCount == 192 << 10)
        // What is lent has no bound but what asks for it; what is kept has one, and the oldest goes.
        var many: [ScratchBytes] = []
        for _ in 0..<5 { many.append(try #require(scratch.lend(512 << 10))) }
        #expect(scratch.byteCount == (192 << 10) + 5 * (512 << 10))
        first = nil
        many = []
        #expect(scratch.byteCount == (64 << 10) + ScratchMemory.mostIdle)
        // One larger than all that is kept is given back at once.
        _ = scratch.lend(ScratchMemory.mostIdle + 1)
        #expect(scratch.byteCount == (64 << 10) + ScratchMemory.mostIdle)
        withExtendedLifetime(small) {}
        #expect(scratch.lend(.max) == nil)
    }
}
