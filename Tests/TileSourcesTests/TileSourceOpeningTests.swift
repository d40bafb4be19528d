import Dispatch
import Foundation
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Sources that are opened on another thread.
@Suite(.timeLimit(.minutes(45))) struct TileSourceOpeningTests {
    private final class Ends: Sendable {
        let all = Lock<[Result<String, TileSourceError>]>([])
        func add(_ result: Result<any PyramidTileSource, TileSourceError>) {
            all.withLock { $0.append(result.map(\.name)) }
        }
        var count: Int { all.withLock { $0.count } }
    }

    private final class Bands: Sendable {
        let count = Lock(0)
    }

    /// Waits until a condition holds; at most some minutes, so that a run that hangs ends.
    private static func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<100_000 {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return condition()
    }

    private static func folder() -> (ScratchFolder, TileSourceAddress) {
        let folder = ScratchFolder()
        folder.write(TestImage(width: 32, height: 32, seed: 1).png, to: "0/0/0.png")
        return (folder, .folder(folder.path, TileFolderLayout(.xyz)))
    }

    @Test func theHandlerHasWhatTheBlockingCallReturns() async throws {
        let (folder, place) = Self.folder()
        let ends = Ends()
        place.open { ends.add($0) }
        #expect(await Self.eventually { ends.count == 1 })
        #expect(try ends.all.withLock { $0 }[0].get() == place.open().name)
        let nowhere = TileSourceAddress.mbtiles(folder.path + "/nowhere.mbtiles")
        let error = try #require(#expect(throws: TileSourceError.self) { _ = try nowhere.open() })
        nowhere.open { ends.add($0) }
        #expect(await Self.eventually { ends.count == 2 })
        #expect(ends.all.withLock { $0 }[1] == .failure(error))
        let opened = try await place.opened()
        #expect(opened.pyramid == (try place.open().pyramid))
        await #expect(throws: error) { _ = try await nowhere.opened() }
    }

    /// The wait for a server ends with the cancellation, and nothing of the opening stays.
    @Test func aServerThatDoesNotAnswerIsNotWaitedFor() async throws {
        // Connects and is not answered: the time-out would be an hour.
        let gate = DispatchSemaphore(value: 0)
        let server = try #require(
            ModelServer { _ in
                gate.wait()
                return .init(status: 404)
            }
        )
        defer { for _ in 0..<100 { gate.signal() } }
        let http = HTTPTileOptions(timeout: .seconds(3600))
        for kind in ["pmtiles", "iiif"] {
            let place = try #require(TileSourceAddress("\(kind):http://127.0.0.1:\(server.port)/a"))
            let ends = Ends()
            weak var known: TileSourceOpening?
            do {
                let opening = place.open(http: http) { ends.add($0) }
                known = opening
                try await Task.sleep(for: .milliseconds(30))
                #expect(ends.count == 0 && opening.cancel() && !opening.cancel())
            }
            #expect(await Self.eventually { known == nil })
            #expect(ends.count == 0)

            // An interruption is an error of the source.
            place.open(http: http) { ends.add($0) }.interrupt()
            #expect(await Self.eventually { ends.count == 1 })
            #expect(throws: TileSourceError.self) { try ends.all.withLock { $0 }[0].get() }

            let task = Task { try await place.opened(http: http) }
            try await Task.sleep(for: .milliseconds(30))
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }

    @Test func aTaskCancelledBeforehandOpensNothing() async throws {
        let (folder, place) = Self.folder()
        defer { withExtendedLifetime(folder) {} }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await place.opened()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    /// An image is cut band by band; none follows a cancellation.
    @Test func aCancelledImageIsNotCutToItsEnd() async throws {
        let folder = ScratchFolder()
        folder.write(TestImage(width: 64, height: 2048, seed: 3).png, to: "image.png")
        let bands = Bands()
        let opening = TileSourceOpening()
        let ends = Ends()
        let place = TileSourceAddress.image(folder.path + "/image.png")
        opening.begin(then: { ends.add($0) }) { [weak opening] isWanted throws(TileSourceError) in
            try place.open(TileSourceOptions(tileSize: 64)) { _ in
                // The first band has been cut.
                opening?.cancel()
                bands.count.withLock { $0 += 1 }
                return isWanted()
            }
        }
        #expect(await Self.eventually { bands.count.withLock { $0 } == 1 })
        #expect(ends.count == 0 && bands.count.withLock { $0 } == 1)
    }

    /// Either the handler is called or the cancellation says that it will not be.
    @Test func aCancellationRacesWithTheEnd() async throws {
        let (folder, place) = Self.folder()
        defer { withExtendedLifetime(folder) {} }
        for round in 0..<200 {
            let ends = Ends()
            let opening = place.open { ends.add($0) }
            usleep(UInt32(round * 5))
            let isCancelled = opening.cancel()
            if !isCancelled { #expect(await Self.eventually { ends.count == 1 }) }
            #expect(ends.count == (isCancelled ? 0 : 1))
        }
    }
}
