import TestSupport
import Testing
import TileCache

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

    /// Files are read into lent buffers, and sources count them.
    @Test func filesAreReadIntoLentBuffers() throws {
        let folder = ScratchFolder()
        let scratch = ScratchMemory()
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        do {
            guard case .bytes(let read) = Files.read(folder.write(bytes, to: "a"), scratch) else {
                Issue.record("the file cannot be read")
                return
            }
            #expect(read.memory.elementsEqual(bytes) && scratch.byteCount == 128 << 10)
            read.shorten(to: 3)
            #expect(Array(read.memory) == [0, 0, 0] && scratch.byteCount == 128 << 10)
        }
        guard case .bytes(let empty) = Files.read(folder.write([UInt8](), to: "b"), scratch) else {
            Issue.record("the empty file cannot be read")
            return
        }
        #expect(empty.memory.isEmpty && scratch.byteCount == 192 << 10)
    }

    @Test func aFoldersSourceCountsWhatItReads() throws {
        let folder = ScratchFolder()
        let image = TestImage(width: 64, height: 64, seed: 1)
        folder.write(image.png, to: "0/0/0.png")
        let source = try FolderTileSource(path: folder.path)
        #expect(source.heldMemory == .bytes(0))
        #expect(try source.loaded(0, 0, 0).image == image)
        #expect(source.heldMemory == .bytes(64 << 10))
    }

    /// libtiff decodes them from where they were read to: one buffer of what is read, one of what is decoded.
    @Test func aTIFFsSourceCountsWhatItReads() throws {
        let image = TestImage(width: 256, height: 256, seed: 1)
        var directory = MadeTIFF.Directory(image)
        directory.tile = 256
        let folder = ScratchFolder()
        let source = try TIFFTileSource(folder.write(MadeTIFF(directories: [directory]).bytes(), to: "made.tif"))
        let before = source.heldMemory.bytes
        // The beginning, which was read when it was opened.
        #expect(before == source.statistics.directoryMemory.bytes + 64 << 10)
        #expect(try source.loaded(0, 0, 0).image == image)
        #expect(source.heldMemory.bytes == before + 2 * (256 << 10))
    }
}
