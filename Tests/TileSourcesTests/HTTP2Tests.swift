import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Tiles over HTTP/2: of real servers, and of one that behaves as it is told.
@Suite(.timeLimit(.minutes(45)))
struct HTTP2Tests {
    /// A world of 256 pixels, in 8 x 8 tiles of zoom 3.
    private final class Scene {
        let source: HTTPTileSource
        let cache: TileCache
        let layer: TileLayer
        let view: TileView
        /// Not more tiles than streams that share a connection.
        private let halves = [64.0, 192].map {
            TileViewport(center: WorldPoint(x: 128, y: $0), width: 256, height: 128)
        }

        /// Files of the world, without a certificate.
        static var files: ScratchFolder {
            let folder = ScratchFolder()
            for column in 0..<8 {
                for row in 0..<8 { folder.write(image(column, row).png, to: "3/\(column)/\(row).png") }
            }
            // A server may have given up root's rights.
            _ = OtherPrograms.run("chmod 755 '\(folder.path)'")
            return folder
        }

        static func image(_ column: Int, _ row: Int) -> TestImage {
            TestImage(width: 32, height: 32, seed: column * 10 + row)
        }

        init(_ template: String, _ folder: ScratchFolder, _ change: (inout HTTPTileOptions) -> Void = { _ in }) throws {
            var http = HTTPTileOptions(zooms: 3...3, timeout: .seconds(600), backOff: .milliseconds(10))
            http.trustedCertificates = "\(folder.path)/certificate.pem"
            change(&http)
            source = try HTTPTileSource(template: template, http: http, options: TileSourceOptions(tileSize: 32))
            cache = try TileCache(byteLimit: .mebibytes(8), workers: 32)
            layer = try source.addLayer(to: cache)
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        }

        func look(_ column: Int, _ row: Int) {
            let center = WorldPoint(x: Double(column) * 32 + 16, y: Double(row) * 32 + 16)
            view.update(TileViewport(center: center, width: 8, height: 8))
        }

        /// Shows all of the world, one half after the other, until each tile is there. Every tile drawn meanwhile must be
        /// right.
        func showsAll() -> Bool { halves.allSatisfy(shows) }

        private func shows(_ viewport: TileViewport) -> Bool {
            settled {
                view.update(viewport)
                let frame = view.frame()
                for placement in frame {
                    let tile = placement.tile.identity.tile
                    let expected = Self.image(tile.column, tile.row).pixels
                    guard placement.tile.withUnsafeBytes({ $0.equals(expected) }) else {
                        Issue.record("tile \(tile) has other pixels")
                        return true
                    }
                }
                return frame.missingTileCount == 0
            }
        }
    }

    // MARK: Real servers

    private static let hasServer = ConditionTrait.enabled(
        if: !HTTP2Server.Program.present.isEmpty,
        "neither nginx nor h2o is installed, or openssl is not"
    )

    @Test(hasServer, arguments: HTTP2Server.Program.present)
    func allRequestsShareOneConnection(program: HTTP2Server.Program) throws {
        let files = Scene.files
        let server = try #require(HTTP2Server(program, files: files))
        let scene = try Scene(server.template, files)
        #expect(scene.showsAll())
        let statistics = scene.source.statistics
        #expect(statistics.attempts == 64 && statistics.streams == 64 && statistics.failureCount == 0, "\(statistics)")
        #expect(statistics.connections == 1)
        #expect(settled { server.requests.count == 64 })
        #expect(Set(server.requests.map(\.port)).count == 1)
        #expect(server.requests.allSatisfy { $0.version.hasPrefix("HTTP/2") && $0.status == "200" })
        #expect(scene.cache.shutdown())
    }

    /// Needed tiles go before prefetched ones, and a line of the options before both.
    @Test(hasServer, arguments: HTTP2Server.Program.present)
    func requestsSayHowUrgentTheyAre(program: HTTP2Server.Program) throws {
        let files = Scene.files
        let server = try #require(HTTP2Server(program, files: files))
        let scene = try Scene(server.template, files)
        scene.look(0, 0)
        #expect(settled { server.requests.count == 1 })
        scene.layer.prefetch((0..<64).map { TileCoordinate(level: 0, column: $0 % 8, row: $0 / 8) })
        #expect(settled { server.requests.count == 64 })
        #expect(server.requests.map(\.priority) == ["\"u=1\""] + Array(repeating: "\"u=5\"", count: 63))
        #expect(scene.cache.shutdown())
        let own = try Scene(server.template, files) { $0.headers = ["priority: u=0"] }
        own.look(0, 0)
        #expect(settled { server.requests.count == 65 })
        #expect(server.requests.last?.priority == "\"u=0\"")
        #expect(own.cache.shutdown())
    }

    /// Further connections are opened, three at a time as the options say. In all there may be more: libcurl leaves a
    /// connection that has refused a stream, as one does that was asked for two before it had said its number.
    @Test(hasServer, arguments: HTTP2Server.Program.present)
    func aServerWithOneStream(program: HTTP2Server.Program) throws {
        let files = Scene.files
        let server = try #require(HTTP2Server(program, files: files, streams: 1))
        let scene = try Scene(server.template, files) { $0.connections = 3 }
        #expect(scene.showsAll())
        let statistics = scene.source.statistics
        #expect(statistics.attempts == 64 && statistics.failureCount == 0, "\(statistics)")
        #expect((1..<64).contains(statistics.connections))
        #expect(scene.cache.shutdown())
    }

    // MARK: A server that behaves as it is told

    /// Runs a scene before the Python server; returns its statistics and the server's events.
    private func show(
        _ mode: String,
        _ change: (inout HTTPTileOptions) -> Void = { _ in }
    ) throws -> (TileSourceStatistics, [String]) {
        let files = Scene.files
        #expect(OtherPrograms.makeCertificate(in: files.path))
        let server = try #require(TileServer(folder: files.path, mode: mode, script: "http2_server.py"))
        let scene = try Scene("https" + server.template.dropFirst(4), files, change)
        #expect(scene.showsAll())
        #expect(scene.cache.shutdown())
        return (scene.source.statistics, server.events)
    }

    private static let isThere = ConditionTrait.enabled(
        if: TileServer.speaksHTTP2,
        "python3-h2 or openssl is not installed"
    )

    /// Eight answers are under way at a time, more than there may be connections, and come in the opposite order. No more
    /// are asked for before the first answers.
    @Test(isThere) func answersInAnyOrder() throws {
        let (statistics, events) = try show("gather=8")
        #expect(statistics.attempts == 64 && statistics.streams == 64 && statistics.connections == 1, "\(statistics)")
        #expect(statistics.failureCount == 0 && events.contains("open 8"), "\(events)")
    }

    /// A server that goes away after each five answers loses those under way. They are asked for again.
    @Test(isThere) func aServerThatGoesAway() throws {
        let (statistics, events) = try show("goaway=5") { $0.retries = 20 }
        #expect(events.filter { $0 == "connection" }.count >= 12)
        #expect(Set(statistics.failures.keys).isSubset(of: [.connection, .truncated]), "\(statistics)")
        #expect(statistics.connections >= 12)
    }

    @Test(isThere) func streamsThatAreReset() throws {
        let (statistics, events) = try show("reset=5") { $0.retries = 20 }
        let causes = Set(statistics.failures.keys)
        #expect(!causes.isEmpty && causes.isSubset(of: [.connection, .truncated]), "\(statistics)")
        // libcurl leaves a connection that has refused a stream.
        #expect(events.filter { $0 == "connection" }.count == statistics.connections)
    }

    @Test(isThere) func aServerThatStopsReading() throws {
        let (statistics, _) = try show("stall=5") { ($0.timeout, $0.retries) = (.milliseconds(400), 20) }
        #expect(statistics.failures[.timeOut] ?? 0 > 0, "\(statistics)")
    }

    /// It announces one stream.
    @Test(isThere) func aServerThatWantsOneStream() throws {
        let (statistics, events) = try show("streams=1") { $0.connections = 2 }
        #expect(statistics.failureCount == 0 && statistics.connections <= 2, "\(statistics)")
        #expect(!events.contains("open 2"), "\(events)")
    }

    /// It falls back to HTTP/1.1 in the middle.
    @Test(isThere) func aServerThatBecomesOld() throws {
        let (statistics, events) = try show("old=10") { ($0.connections, $0.retries) = (3, 20) }
        #expect(events.contains("connection") && events.contains("old connection"))
        #expect(statistics.streams >= 10 && statistics.streams < statistics.attempts, "\(statistics)")
        #expect(Set(statistics.failures.keys).isSubset(of: [.connection, .truncated]), "\(statistics)")
    }

    /// It announces no stream at all, and ends the connection if a request comes before that.
    @Test(isThere) func aServerThatWantsNoStream() throws {
        let files = Scene.files
        #expect(OtherPrograms.makeCertificate(in: files.path))
        let server = try #require(TileServer(folder: files.path, mode: "streams=0", script: "http2_server.py"))
        let scene = try Scene("https" + server.template.dropFirst(4), files) {
            ($0.timeout, $0.retries) = (.milliseconds(400), 0)
        }
        scene.look(0, 0)
        #expect(settled { scene.source.statistics.failureCount > 0 })
        let statistics = scene.source.statistics
        #expect(Set(statistics.failures.keys).isSubset(of: [.connection, .truncated, .timeOut]), "\(statistics)")
        #expect(scene.cache.shutdown())
    }

    /// Streams of tiles that nobody wants are reset at once, and the connection stays.
    @Test(isThere) func unwantedStreamsAreReset() throws {
        let files = Scene.files
        #expect(OtherPrograms.makeCertificate(in: files.path))
        let server = try #require(TileServer(folder: files.path, mode: "held", script: "http2_server.py"))
        let template = "https" + server.template.dropFirst(4)
        Origin.of(template).learn {
            $0.note(isMultiplexed: true)
            for _ in 0..<20 { $0.note(.init(handshake: 1000, latency: 1000, body: 100, bytes: 10_000)) }
        }
        let scene = try Scene(template, files)
        for column in 0..<8 {
            scene.look(column, 0)
            #expect(settled { server.events.contains("request /3/\(column)/0.png") })
        }
        #expect(settled { scene.source.statistics.cutOff == 7 })
        // libcurl 7.88 sends a reset with the next request on the connection, and the last one may miss it.
        #expect(settled { server.events.filter { $0 == "cancelled" }.count >= 6 })
        files.write([], to: "go")
        #expect(
            settled {
                scene.look(7, 0); return scene.view.frame().missingTileCount == 0
            }
        )
        let statistics = scene.source.statistics
        #expect(statistics.cutOff == 7 && statistics.cancelled == 7 && statistics.connections == 1, "\(statistics)")
        #expect(statistics.attempts == 8 && statistics.streams == 8 && statistics.failureCount == 0)
        #expect(scene.cache.shutdown())
    }
}
