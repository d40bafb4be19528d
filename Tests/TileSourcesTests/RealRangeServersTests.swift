import Foundation
import Testing

@testable import TileCache
@testable import TileSources

/// Byte ranges of real servers, as far as they are installed.
@Suite(.timeLimit(.minutes(45))) struct RealRangeServersTests {
    private let folder = ScratchFolder()
    private let counter = SourceCounter()
    private let bytes: [UInt8] = {
        var random = SplitMix64(seed: 4)
        return (0..<100_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }()

    private func open(_ place: String) throws -> (reader: ByteRangeReader, beginning: [UInt8]) {
        let http = HTTPTileOptions(timeout: .seconds(60), retries: 3, backOff: .milliseconds(1))
        return try ByteRangeReader.open(
            place,
            expecting: "a file",
            first: 16_384,
            least: 127,
            http: http,
            counter: counter
        )
    }

    private static let installed = [FileServer.Kind.webfsd, .weborf, .civetweb, .busybox, .lighttpd].filter {
        $0.program != nil
    }

    @Test(
        .enabled(if: !installed.isEmpty, "none of webfs, weborf, civetweb, busybox, lighttpd is installed"),
        arguments: installed
    )
    func filesOfAllSizesAreRead(kind: FileServer.Kind) throws {
        // Some servers give up their rights, and the folder is not theirs.
        chmod(folder.path, 0o755)
        let sizes = [127, 128, 3000, 16_383, 16_384, 16_385, 100_000]
        for size in sizes { folder.write(Array(bytes.prefix(size)), to: "file\(size).bin") }
        let server = try #require(FileServer(kind, folder: folder.path))
        for size in sizes {
            let (reader, beginning) = try open(server.address("file\(size).bin"))
            let file = Array(bytes.prefix(size))
            #expect(reader.size == size && beginning == Array(file.prefix(16_384)), "\(kind), \(size)")
            // Of BusyBox the range 0-0 is all of the file.
            for range in [1..<2, 100..<127, size - 1..<size, 0..<size] {
                #expect(try reader.readNow(range) == Array(file[range]), "\(kind), \(size): \(range)")
            }
            #expect(reader.warning == nil && reader.isStorable, "\(kind), \(size)")
            reader.stop()
        }
        #expect(counter.statistics.failureCount == 0, "\(kind): \(counter.statistics)")
        #expect(message { _ = try open(server.address("nothing.bin")) }.contains("the status 404"))
    }

    /// Once somebody has fetched all of the file, the cache answers ranges with that.
    @Test(.enabled(if: FileServer.Kind.haproxy.program != nil, "haproxy is not installed"))
    func aCacheWithTheWholeFileIsPassed() throws {
        let origin = try #require(RangeServer(bytes))
        let cache = try #require(FileServer(.haproxy, folder: folder.path, origin: origin.port))
        let address = cache.address("file")
        let (early, _) = try open(address)
        // All of it, as another client fetches it.
        let engine = try #require(HTTPEngine(HTTPTileOptions(), counter: SourceCounter(), wallClock: wallClockSeconds))
        #expect(try HTTPDocument.get(address, limit: bytes.count, engine) == bytes)
        engine.stop()
        let (late, beginning) = try open(address)
        #expect(beginning == Array(bytes.prefix(16_384)) && late.size == bytes.count)
        for start in stride(from: 20_000, to: 90_000, by: 7_000) {
            for reader in [early, late] {
                #expect(try reader.readNow(start..<start + 500) == Array(bytes[start..<start + 500]))
            }
        }
        #expect(counter.statistics.failureCount == 0 && early.warning == nil && late.warning == nil)
        early.stop()
        late.stop()
    }
}
