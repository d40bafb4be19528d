import CTileImages
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Images end at their last row, whatever follows it, and only their pixels are inflated.
@Suite struct ImageCostTests {
    private let folder = ScratchFolder()
    private let image = TestImage(width: 32, height: 32)
    private let origin = TileCoordinate(level: 0, column: 0, row: 0)

    private func source() throws -> FolderTileSource {
        folder.write(image.png, to: "0/0/0.png")
        return try FolderTileSource(path: folder.path)
    }

    @Test func dataAfterTheLastRowAreNotInflated() throws {
        let source = try source()
        #expect(try source.decoded(HostileImages.png(side: 32, extra: 200), of: origin).outcome == .pixels)
        #expect(throws: TileFailure.permanent) {
            _ = try source.decoded(HostileImages.png(side: 32, surplus: 100_000), of: origin)
        }
        let last = try #require(source.statistics.lastFailure)
        #expect(last.contains("the data continue after the last row"))
    }

    /// A megabyte after the last row is searched for the image's end. If more follows, the rest is not read.
    @Test func whatFollowsTheLastRowIsNotReadToItsEnd() throws {
        let source = try source()
        let jpeg = Array(image.jpeg().dropLast(2))
        for (bytes, isGood) in [(1_000_000, false), (1_200_000, true)] {
            let more = [UInt8](repeating: 7, count: bytes)
            let files = [jpeg + more, HostileImages.png(side: 32, end: HostileImages.chunk("prIv", more))]
            for file in files {
                let outcome = try? source.decoded(file, of: origin).outcome
                #expect((outcome == .pixels) == isGood, "\(bytes) bytes after \(file.prefix(2))")
            }
        }
        #expect(source.statistics.failures == [.truncated: 2])
        // With the bytes that follow, the file exceeds its memory limit.
        let webP = folder.write(image.webP + [UInt8](repeating: 7, count: 3 << 20), to: "image.webp")
        let options = ImageTileOptions(memoryLimit: .mebibytes(2))
        #expect(try ImageTileSource(path: webP, image: options).loaded(0, 0, 0).outcome == .pixels)
    }

    /// Comments are not inflated. Each of a hundred, of 50 kB, would inflate to 8 MB.
    @Test func commentsAreNotInflated() throws {
        let comment = HostileImages.chunk("zTXt", [65, 0, 0] + HostileImages.stream([65], surplus: 50_000))
        var comments: [UInt8] = []
        for _ in 0..<100 { comments += comment }
        let file = HostileImages.png(side: 32, before: comments)
        var (info, error) = (ti_info(), ti_error())
        let before = residentBytes()
        let reader = try #require(ti_open_memory(file, file.count, &info, &error))
        let grown = residentBytes() - before
        ti_close(reader)
        #expect(grown < 200 << 20, "\(grown) bytes")
        #expect(try source().decoded(file, of: origin).outcome == .pixels)
    }

    /// Resident memory of the process in bytes; 0 if the system does not report it.
    private func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 200)
        let count = fread(&line, 1, line.count, file)
        let text = String(decoding: line.prefix(count), as: UTF8.self)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }

    /// The error of an unreadable file is not that of an earlier failure.
    @Test func reasonsAreTheFilesOwn() throws {
        folder.write([1], to: "0/0/0.png/notes.txt")
        errno = EPERM
        #expect(message { _ = try FolderTileSource(path: folder.path) }.hasSuffix("0/0/0.png: it is no file"))
        #expect(message { _ = try ImageTileSource(path: folder.path) }.hasSuffix("and this is no file"))
    }

    /// Opening a pipe would wait for its writer. This one has a writer and bytes, so that the test always ends.
    @Test func pipesAreNotOpened() {
        let path = "\(folder.path)/pipe"
        mkfifo(path, 0o600)
        let pipe = open(path, O_RDWR)
        defer { close(pipe) }
        let png = image.png
        let written = write(pipe, png, png.count)
        #expect(written == png.count)
        #expect(message { _ = try ImageTileSource(path: path) }.hasSuffix("and this is no file"))
        #expect(message { _ = try MBTilesTileSource(path: path) }.hasSuffix("and this is no file"))
    }
}
