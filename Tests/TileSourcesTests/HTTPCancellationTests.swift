import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// What becomes of requests that nobody wants any more. The server answers when the test lets it.
@Suite(.enabled(if: TileServer.python != nil, "python3 is not installed"), .timeLimit(.minutes(45)))
struct HTTPCancellationTests {
    /// A world of 256 pixels, in 8 x 8 tiles of zoom 3. Each view of one tile needs no other one.
    private final class Scene {
        let folder = ScratchFolder()
        let server: TileServer
        let source: HTTPTileSource
        let cache: TileCache
        let view: TileView

        init(_ mode: String, connections: Int = 6, _ change: (inout HTTPTileOptions) -> Void = { _ in }) throws {
            for column in 0..<8 {
                for row in 0..<8 { folder.write(Self.image(column, row).png, to: "3/\(column)/\(row).png") }
            }
            server = try #require(TileServer(folder: folder.path, mode: mode))
            var http = HTTPTileOptions(zooms: 3...3, connections: connections, timeout: .seconds(3600))
            change(&http)
            source = try HTTPTileSource(template: server.template, http: http, options: TileSourceOptions(tileSize: 32))
            cache = try TileCache(byteLimit: .mebibytes(8), workers: 16)
            let layer = try source.addLayer(to: cache)
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        }

        static func image(_ column: Int, _ row: Int) -> TestImage {
            TestImage(width: 32, height: 32, seed: column * 10 + row)
        }

        /// Teaches how long answers take, and what a connection costs.
        func learn(milliseconds: Double) {
            Origin.of(server.template).learn {
                for _ in 0..<20 {
                    $0.note(.init(handshake: milliseconds, latency: milliseconds, body: 1, bytes: 1000))
                }
            }
        }

        func look(_ column: Int, _ row: Int) {
            let center = WorldPoint(x: Double(column) * 32 + 16, y: Double(row) * 32 + 16)
            view.update(TileViewport(center: center, width: 8, height: 8))
        }

        /// Whether a tile is drawn now, as it was written.
        func draws(_ column: Int, _ row: Int) -> Bool {
            look(column, row)
            return view.frame().contains {
                let expected = Self.image(column, row).pixels
                return $0.tile.withUnsafeBytes { $0.equals(expected) }
            }
        }
    }

    /// A view that moves on leaves requests on all connections. They are finished, their tiles are kept, and nothing is
    /// connected again.
    @Test func connectionsOfUnwantedTilesAreKept() throws {
        let scene = try Scene("held,opened", connections: 3)
        // Nothing is cut off for lateness.
        scene.learn(milliseconds: 3_600_000)
        for column in 0..<6 {
            scene.look(column, 0)
            #expect(settled { scene.source.statistics.loads == column + 1 })
        }
        // Three are sent, and of those that wait the last one alone is wanted.
        #expect(settled { scene.source.statistics.cancelled == 2 && scene.source.statistics.attempts == 3 })
        scene.folder.write([], to: "go")
        #expect(settled { scene.draws(5, 0) })
        #expect(settled { scene.cache.statistics.loads.finished == 4 })
        for column in 0..<3 { #expect(scene.draws(column, 0)) }
        let statistics = scene.source.statistics
        #expect(statistics.attempts == 4 && statistics.loads == 6 && statistics.cancelled == 2)
        #expect(statistics.cutOff == 0 && statistics.cancelledBytes.bytes == 0 && statistics.failureCount == 0)
        #expect(statistics.connections <= 3 && scene.server.connections == statistics.connections)
        #expect(scene.cache.shutdown())
    }

    /// The rest of a session without end: each look leaves its tile before the answer comes.
    @Test func aViewThatMovesOnOpensNoConnectionForEachTile() throws {
        let scene = try Scene("slow,opened", connections: 4)
        scene.learn(milliseconds: 3_600_000)
        for turn in 0..<64 {
            let (column, row) = (turn % 8, turn / 8)
            scene.look(column, row)
            #expect(settled { scene.source.statistics.loads >= turn + 1 })
        }
        #expect(settled { scene.cache.statistics.loadsInFlight == 0 })
        let statistics = scene.source.statistics
        #expect(statistics.cutOff == 0 && statistics.connections <= 4)
        #expect(scene.server.connections == statistics.connections)
        #expect(statistics.attempts + statistics.cancelled >= 64)
        #expect(scene.cache.shutdown())
    }

    /// Answers that are late as nothing was before are cut off, and each costs its connection.
    @Test func lateAnswersThatNobodyWantsAreCutOff() throws {
        let scene = try Scene("held,opened", connections: 2)
        scene.learn(milliseconds: 0)
        for column in 0..<4 {
            scene.look(column, 0)
            #expect(settled { scene.source.statistics.attempts == column + 1 })
        }
        #expect(settled { scene.source.statistics.cutOff == 3 })
        scene.folder.write([], to: "go")
        #expect(settled { scene.draws(3, 0) })
        let statistics = scene.source.statistics
        #expect(statistics.cancelled == 3 && statistics.attempts == 4 && statistics.failureCount == 0)
        #expect(statistics.connections == 4 && settled { scene.server.connections == 4 })
        #expect(scene.cache.shutdown())
    }

    /// A tile that nobody wants is not asked for again if it fails.
    @Test func unwantedFailuresAreNoFailures() throws {
        let scene = try Scene("held,forbidden", connections: 1)
        scene.learn(milliseconds: 3_600_000)
        for column in 0..<3 {
            scene.look(column, 0)
            #expect(settled { scene.source.statistics.loads == column + 1 })
        }
        // The second one waited; the first one was given up before it.
        #expect(settled { scene.source.statistics.cancelled == 1 })
        scene.folder.write([], to: "go")
        #expect(settled { scene.source.statistics.cancelled == 2 && scene.source.statistics.failureCount > 0 })
        #expect(settled { scene.cache.statistics.loadsInFlight == 0 })
        let statistics = scene.source.statistics
        #expect(statistics.failures == [.status: 1] && statistics.attempts == 2 && statistics.cutOff == 0)
        #expect(scene.cache.shutdown())
    }
}
