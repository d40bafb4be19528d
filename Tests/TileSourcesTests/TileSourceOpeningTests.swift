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

    /// Holds a server's answers back until the test goes on.
    private final class Gate: Sendable {
        private let state = Lock((arrived: 0, released: 0))

        func pass() {
            let number = state.withLock { state in
                state.arrived += 1
                return state.arrived
            }
            while state.withLock({ $0.released }) < number { usleep(500) }
        }

        var isEntered: Bool { state.withLock { $0.arrived > $0.released } }
        func release() { state.withLock { $0.released = $0.arrived } }
        func open() { state.withLock { $0.released = .max } }
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
        let gate = Gate()
        let server = try #require(
            ModelServer { _ in
                gate.pass()
                return .init(status: 404)
            }
        )
        defer { gate.open() }
        let http = HTTPTileOptions(timeout: .seconds(3600))
        for kind in ["pmtiles", "iiif"] {
            let place = try #require(TileSourceAddress("\(kind):http://127.0.0.1:\(server.port)/a"))
            let ends = Ends()
            weak var known: TileSourceOpening?
            do {
                let opening = place.open(http: http) { ends.add($0) }
                known = opening
                #expect(await Self.eventually { gate.isEntered })
                #expect(ends.count == 0 && opening.cancel() && !opening.cancel())
            }
            #expect(await Self.eventually { known == nil })
            #expect(ends.count == 0)
            gate.release()

            // An interruption is an error of the source.
            let interrupted = place.open(http: http) { ends.add($0) }
            #expect(await Self.eventually { gate.isEntered })
            interrupted.interrupt()
            #expect(await Self.eventually { ends.count == 1 })
            #expect(throws: TileSourceError.self) { try ends.all.withLock { $0 }[0].get() }

            gate.release()
            let task = Task { try await place.opened(http: http) }
            #expect(await Self.eventually { gate.isEntered })
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            gate.release()
        }
    }

    /// Nothing is sent for an opening that was cancelled before its turn; other requests of the engine go on.
    @Test func anInterruptedOpeningAsksForNothing() async throws {
        let paths = Lock<[String]>([])
        let server = try #require(
            ModelServer { request in
                paths.withLock { $0.append(request.path) }
                return .init(body: [1, 2, 3])
            }
        )
        let started = HTTPEngine(HTTPTileOptions(), counter: SourceCounter(), wallClock: { 0 })
        let engine = try #require(started)
        defer { engine.stop() }
        let address = "http://127.0.0.1:\(server.port)/"
        let ends = Ends()
        let opening = TileSourceOpening()
        opening.interrupt()
        opening.begin(then: { ends.add($0) }) { _ throws(TileSourceError) in
            _ = try HTTPDocument.get(address + "a", limit: 100, engine)
            throw TileSourceError("a", "nothing is expected")
        }
        #expect(await Self.eventually { ends.count == 1 })
        #expect(ends.all.withLock { $0 } == [.failure(TileSourceError(address + "a", "it was cancelled"))])
        #expect(try HTTPDocument.get(address + "b", limit: 100, engine) == [1, 2, 3])
        #expect(paths.withLock { $0 } == ["/b"])
    }

    /// A template opens without an answer too, with tiles of the usual size: not if the answer was not waited for.
    @Test func anInterruptedOpeningDoesNotGuess() async throws {
        // The server interrupts the opening that waits for it: the test's own turn may come after the time-out.
        let waiting = Lock<TileSourceOpening?>(nil)
        let server = try #require(
            ModelServer { _ in
                while true {
                    if let opening = waiting.withLock({ $0 }) {
                        opening.interrupt()
                        return .init(status: 404)
                    }
                    usleep(500)
                }
            }
        )
        let place = try #require(TileSourceAddress(server.template))
        let ends = Ends()
        let opening = place.open { ends.add($0) }
        waiting.withLock { $0 = opening }
        #expect(await Self.eventually { ends.count == 1 })
        let error = #expect(throws: TileSourceError.self) { try ends.all.withLock { $0 }[0].get() }
        #expect(error?.message == "it was cancelled")
    }

    /// An answer that comes after the interruption, or the other way round, does not replace it.
    @Test func theFirstValueStays() {
        let value = Awaited<Int>()
        value.set(1)
        value.set(2)
        #expect(value.wait() == 1)
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
        let place = TileSourceAddress.image(folder.path + "/image.png")
        // A shutdown of the cache interrupts: then the handler receives the error.
        for isCancelled in [true, false] {
            let bands = Bands()
            let ends = Ends()
            weak var known: TileSourceOpening?
            do {
                let opening = TileSourceOpening()
                known = opening
                opening.begin(then: { ends.add($0) }) { [weak opening] isWanted throws(TileSourceError) in
                    try place.open(TileSourceOptions(tileSize: 64)) { _ in
                        // The first of 32 bands has been cut.
                        bands.count.withLock { $0 += 1 }
                        if isCancelled { opening?.cancel() } else { opening?.interrupt() }
                        return isWanted()
                    }
                }
            }
            // The opening's thread has ended.
            #expect(await Self.eventually { known == nil })
            #expect(bands.count.withLock { $0 } == 1)
            let error = TileSourceError(folder.path + "/image.png", "it was cancelled at row 64 of 2048")
            #expect(ends.all.withLock { $0 } == (isCancelled ? [] : [.failure(error)]))
        }
    }

    /// The last moment: the image has been cut, and the opening has not ended yet.
    @Test func anOpenSourceIsNotHandedOnAfterAnInterruption() async throws {
        let (folder, place) = Self.folder()
        defer { withExtendedLifetime(folder) {} }
        let ends = Ends()
        let opening = TileSourceOpening()
        opening.begin(then: { ends.add($0) }) { [weak opening] _ throws(TileSourceError) in
            let source = try place.open()
            opening?.interrupt()
            return source
        }
        #expect(await Self.eventually { ends.count == 1 })
        #expect(ends.all.withLock { $0 } == [.failure(TileSourceError(try place.open().name, "it was cancelled"))])
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
