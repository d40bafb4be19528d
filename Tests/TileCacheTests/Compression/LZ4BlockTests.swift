import CLZ4
import Testing

@testable import TileCache

@Suite struct LZ4BlockTests {
    @Test func theBoundsAreThoseOfTheLibrary() {
        #expect(LZ4Block.maximumInput == Int(LZ4_MAX_INPUT_SIZE))
        for count in [0, 1, 254, 255, 256, 65_536, 1 << 20, LZ4Block.maximumInput] {
            #expect(LZ4Block.bound(count) == Int(LZ4_compressBound(Int32(count))), "\(count)")
        }
    }

    /// Each implementation reads the blocks of the other.
    @Test func blocksAreThoseOfTheLibrary() {
        let seed = UInt64.random(in: 0...9999)
        var random = SplitMix64(seed: seed)
        let scratch = UnsafeMutableRawPointer.allocate(byteCount: LZ4Block.scratchByteCount, alignment: 64)
        defer { scratch.deallocate() }
        for count in [1, 12, 13, 64, 1000, 70_000] {
            let input = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 60) }
            var block = [UInt8](repeating: 0, count: LZ4Block.bound(count))
            let size = input.withUnsafeBytes { source in
                block.withUnsafeMutableBytes {
                    LZ4Block.compress(
                        source.baseAddress!,
                        count: count,
                        into: $0.baseAddress!,
                        capacity: $0.count,
                        scratch: scratch
                    )
                }
            }
            #expect(size > 0, "\(count) bytes, seed \(seed)")
            var output = [UInt8](repeating: 0, count: count)
            let written = block.withUnsafeBytes { from in
                output.withUnsafeMutableBytes { to in
                    LZ4_decompress_safe(
                        from.baseAddress?.assumingMemoryBound(to: CChar.self),
                        to.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(size),
                        Int32(count)
                    )
                }
            }
            #expect(written == count && output == input, "\(count) bytes, seed \(seed)")
            for (part, isWhole) in [(size, true), (size - 1, false)] {
                let done = block.withUnsafeBytes { from in
                    output.withUnsafeMutableBytes {
                        LZ4Block.decompress(
                            UnsafeRawBufferPointer(rebasing: from[..<part]),
                            into: $0.baseAddress!,
                            count: count,
                            scratch: scratch
                        )
                    }
                }
                #expect(done == isWhole, "\(part) of \(size) bytes, seed \(seed)")
            }
        }
    }
}
