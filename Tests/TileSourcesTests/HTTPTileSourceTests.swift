import CacheBenchKit
import PanTraces
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Tests against local servers that are slow, fail, hang, truncate and die.
@Suite(.enabled(if: TileServer.python != nil, "python3 is not installed"), .serialized, .timeLimit(.minutes(45)))
struct HTTPTileSourceTests {
    /// A world of 256 pixels, with zooms 0 to 3 of 32-pixel tiles. Tile 3/2/2 does not exist.
    private final class Scene {
        let folder = ScratchFolder()
        let server: TileServer
        let source: HTTPTileSource
        let cache: TileCache
        let layer: TileLayer
        let view: TileView
        let all = TileViewport(center: WorldPoint(x: 128, y: 128), width: 256, height: 256)

        init(
            _ mode: String,
            workers: Int = 8,
            byteLimit: ByteCount = .mebibytes(8),
            _ change: (inout HTTPTileOptions) -> Void = { _ in }
        ) throws {
            for zoom in 0...3 {
                for column in 0..<1 << zoom {
                    for row in 0..<1 << zoom where (zoom, column, row) != (3, 2, 2) {
                        folder.write(Self.image(zoom, column, row).png, to: "\(zoom)/\(column)/\(row).png")
                    }
                }
            }
            server = try #require(TileServer(folder: folder.path, mode: mode))
            var http = HTTPTileOptions(zooms: 0...3)
            // Independent of the machine's speed: only tests with hanging servers have a short timeout.
            http.timeout = mode.contains("hang") ? .milliseconds(400) : .seconds(60)
            http.backOff = .milliseconds(10)
            change(&http)
            source = try HTTPTileSource(template: server.template, http: http, options: TileSourceOptions(tileSize: 32))
            cache = try TileCache(byteLimit: byteLimit, workers: workers)
            layer = try source.addLayer(to: cache)
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        }

        static func image(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
            TestImage(width: 32, height: 32, seed: zoom * 100 + column * 10 + row)
        }

        /// Shows all of the world until it is sharp, with the parent of the tile that does not exist. Every tile drawn
        /// meanwhile must be right.
        func look() -> Bool {
            settled {
                view.update(all)
                let frame = view.frame()
                return check(frame) && frame.missingTileCount == 0
                    && frame.contains { $0.tile.identity.tile.level == 2 }
            }
        }

        /// Whether every tile of a frame has the pixels that were written for it.
        func check(_ frame: TileFrame) -> Bool {
            for placement in frame {
                let tile = placement.tile.identity.tile
                let expected = Self.image(tile.level, tile.column, tile.row).pixels
                guard placement.tile.withUnsafeBytes({ $0.equals(expected) }) else {
                    Issue.record("tile \(tile) has other pixels")
                    return false
                }
            }
            return true
        }
    }

    /// Bounds in degrees limit the pyramid of a template. Others are refused.
    @Test func boundsOfATemplate() throws {
        let template = "http://127.0.0.1:9/{z}/{x}/{y}.png"
        func open(_ bounds: MapBounds?) throws -> HTTPTileSource {
            try HTTPTileSource(template: template, http: HTTPTileOptions(zooms: 3...4, bounds: bounds))
        }
        let source = try open(MapBounds(west: 0, south: 1, east: 45, north: 89))
        #expect(source.pyramid.contents == source.contents && source.contents.minX == 2048)
        #expect(source.contents.maxX == 2560 && source.contents.minY == 0 && source.contents.maxY < 2048)
        #expect(source.pyramid.hasTile(TileCoordinate(level: 1, column: 9, row: 7)))
        #expect(!source.pyramid.hasTile(TileCoordinate(level: 1, column: 10, row: 7)))
        #expect(try open(nil).contents.width == 4096)
        for wrong in [(10.0, 1.0, 10.0, 2.0), (0, 1, 181, 2), (0, 3, 1, 2), (.nan, 0, 1, 1)] {
            let bounds = MapBounds(west: wrong.0, south: wrong.1, east: wrong.2, north: wrong.3)
            #expect(throws: TileSourceError.self) { try open(bounds) }
        }
    }

    @Test func everyTileArrivesOnFewConnections() throws {
        let scene = try Scene("slow") { $0.connections = 3 }
        #expect(scene.look())
        let statistics = scene.source.statistics
        // One of the 64 is absent; its ancestor is drawn instead.
        #expect(statistics.lastFailure == nil)
        #expect(statistics.absent == 1 && statistics.failureCount == 0 && statistics.retries == 0)
        #expect(statistics.attempts == statistics.loads && statistics.loads >= 64)
        #expect((1...3).contains(try #require(scene.server.mostConnections)))
        #expect(scene.cache.shutdown())
    }

    /// All faults occur at once. Every tile lands in the end, none is wrong, each cause is counted.
    @Test func misfortunesAreCountedByCause() throws {
        let scene = try Scene("slow,fail,truncate,chunk,garbage,hang,die") { $0.retries = 6 }
        let causes = [TileLoadFailureCause.status, .truncated, .undecodable, .timeOut, .connection]
        func missing() -> [TileLoadFailureCause] {
            causes.filter { scene.source.statistics.failures[$0] ?? 0 == 0 }
        }
        #expect(scene.look())
        for _ in 0..<4 where !missing().isEmpty {
            // Again, so that every cause occurs.
            scene.layer.invalidate(keepsStale: false)
            #expect(scene.look())
        }
        #expect(missing().isEmpty)
        let statistics = scene.source.statistics
        #expect(statistics.retries > 0 && statistics.attempts > statistics.loads)
        #expect(scene.cache.shutdown())
    }

    @Test func aReplayOverABadServerFinishes() throws {
        let scene = try Scene("slow,fail,truncate,hang,die,garbage")
        var options = ReplayOptions()
        options.clock = .real
        options.loadLatency = nil
        options.workers = 6
        options.speed = 2
        options.duration = 4_000_000_000
        options.overrides.viewport = PanTraceHeader.Size(width: 200, height: 150)
        let source = scene.source
        let replaySource = ReplaySource(
            address: source.name,
            pyramid: source.pyramid,
            contents: source.contents,
            addLayer: { try source.addLayer(to: $0, pyramid: $1, stores: $2) },
            counts: {
                var counts = ReplaySourceCounts()
                (counts.loads, counts.attempts) = (source.statistics.loads, source.statistics.attempts)
                for (cause, count) in source.statistics.failures { counts.failures[cause.rawValue] = count }
                return counts
            }
        )
        // A pan over the whole world, at a scale that needs the finest level.
        options.fitsWorld = true
        let samples = (0..<80).map { step in
            PanTraceSample(
                time: Int64(step) * 50_000_000,
                center: WorldPoint(x: 10_000 + Double(step) * 1400, y: 65_536),
                scale: 0.004
            )
        }
        let input = ReplayInput(
            name: "pan",
            source: "tests",
            scene: try PanTraceScene(BuiltInSession().header, overrides: options.overrides, name: "pan"),
            samples: PanSampleList(samples)
        )
        let hooks = ReplayHooks(noteFrame: { cache, _ in
            #expect(settled { cache.statistics.loads.finished > 0 && source.statistics.failures[.status] != nil })
        })
        let result = try Replay(options, source: replaySource).run(input, hooks: hooks)
        let counts = try #require(result.traces[0].tileSource)
        #expect(!result.wasStopped && result.traces[0].loads.finished > 0)
        #expect((counts.failures["status"] ?? 0) > 0 && counts.attempts > 0)
        #expect(scene.cache.shutdown())
    }

    @Test func aServerThatDiesInTheMiddle() throws {
        let scene = try Scene("slow") { $0.retries = 1 }
        scene.view.update(scene.all)
        #expect(
            settled {
                scene.view.update(scene.all); return scene.view.frame().missingTileCount < 60
            }
        )
        scene.server.die()
        #expect(
            settled {
                scene.view.update(scene.all)
                _ = scene.check(scene.view.frame())
                return (scene.source.statistics.failures[.connection] ?? 0) >= 3
            }
        )
        // Landed tiles are still drawn, and the cache shuts down normally.
        #expect(scene.check(scene.view.frame()))
        #expect(scene.cache.shutdown())
    }

    @Test(arguments: ["etag", "date"]) func whatHasNotChangedIsNotSentAgain(mode: String) throws {
        let scene = try Scene(mode)
        #expect(scene.look())
        let first = scene.source.statistics
        #expect(first.notModified == 0)
        scene.layer.invalidate(keepsStale: false)
        #expect(scene.look())
        let second = scene.source.statistics
        #expect(second.lastFailure == nil)
        #expect(second.notModified >= 63)
        #expect(second.failureCount == 0)
        #expect(second.loads == 2 * first.loads)
        #expect(scene.cache.shutdown())
        // Without room for kept answers no request is conditional.
        let forgetful = try Scene(mode) { $0.keptAnswers = .bytes(0) }
        #expect(forgetful.look())
        forgetful.layer.invalidate(keepsStale: false)
        #expect(forgetful.look())
        #expect(forgetful.source.statistics.notModified == 0)
        #expect(forgetful.cache.shutdown())
    }

    @Test func whatNobodyWantsIsBrokenOff() throws {
        let scene = try Scene("silent", workers: 4) { $0.timeout = .seconds(600) }
        // Requests are never answered, so each that has been sent hangs until the view moves away.
        scene.view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(settled { scene.source.statistics.attempts > 0 })
        scene.view.update(TileViewport(center: WorldPoint(x: 224, y: 224), width: 32, height: 32))
        #expect(settled { scene.source.statistics.cancelled > 0 })
        #expect(scene.source.statistics.failureCount == 0)
        #expect(scene.cache.shutdown())
    }

    @Test func aBusyServerIsAskedLater() throws {
        let scene = try Scene("busy")
        #expect(scene.look())
        let statistics = scene.source.statistics
        // What it refuses is asked for once it answers, and others are not asked for before.
        #expect(try #require(statistics.failures[.status]) >= 1 && statistics.failureCount < 20)
        #expect(statistics.retries == 0 && statistics.postponed > statistics.failureCount)
        #expect(statistics.attempts - statistics.failureCount == 65)
        #expect(scene.cache.statistics.loads.failed == 0 && scene.cache.statistics.loads.postponed > 0)
        #expect(scene.cache.shutdown())
    }

    /// A server whose answers are longer than it says: what is left over is taken for the next answer, which is not the
    /// fault of its tile.
    @Test func leftoversOfAnswersFailNoTile() throws {
        let scene = try Scene("babble")
        #expect(
            settled {
                scene.view.update(scene.all)
                let frame = scene.view.frame()
                return scene.check(frame) && frame.filter { $0.tile.identity.tile.level == 3 }.count == 63
            }
        )
        #expect(Set(scene.source.statistics.failures.keys).isSubset(of: [.connection]))
        #expect(scene.cache.shutdown())
    }

    /// Some servers compress in spite of `Accept-Encoding: identity`.
    @Test func gzipThatWasNotAskedForIsDecompressed() throws {
        let scene = try Scene("gzip,etag")
        #expect(scene.look())
        scene.layer.invalidate(keepsStale: false)
        #expect(scene.look())
        let statistics = scene.source.statistics
        #expect(statistics.failureCount == 0 && statistics.notModified >= 63)
        #expect(scene.cache.shutdown())
    }

    /// A tile that is too large is so the next time, too.
    @Test func gzipThatIsTooLargeIsNotAskedForAgain() throws {
        let scene = try Scene("gzip") { $0.largestTile = .bytes(1000) }
        // Zeros come in fewer bytes than the limit.
        for column in 0..<8 {
            for row in 0..<8 { scene.folder.write([UInt8](repeating: 0, count: 4000), to: "3/\(column)/\(row).png") }
        }
        #expect(
            settled {
                scene.view.update(scene.all)
                return scene.view.frame().unavailable.count { $0.cause == .failed } == 64
            }
        )
        #expect(Array(scene.source.statistics.failures.keys) == [.tooLarge])
        #expect(scene.cache.shutdown())
    }

    @Test func redirectionsAreFollowed() throws {
        let scene = try Scene("redirect")
        #expect(scene.look())
        #expect(scene.source.statistics.failureCount == 0)
        #expect(scene.cache.shutdown())
    }

    /// The error says what is wrong with a certificate. Here nobody has signed it.
    @Test(.enabled(if: OtherPrograms.openssl, "openssl is not installed"))
    func refusedCertificatesAreExplained() throws {
        let folder = ScratchFolder()
        #expect(OtherPrograms.makeCertificate(in: folder.path))
        let server = try #require(TileServer(folder: folder.path, mode: "tls"))
        let address = "https://127.0.0.1:\(server.port)/a"
        let said = message { _ = try HTTPTileSource(iiif: address, http: HTTPTileOptions(retries: 0)) }
        #expect(said.hasPrefix("\(address)/info.json: SSL certificate problem: self"), "\(said)")
        withExtendedLifetime(server) {}
    }

    /// A tile that fails permanently is requested once.
    @Test(arguments: [("forbidden", TileLoadFailureCause.status), ("huge", .tooLarge)])
    func whatNeverWillComeIsNotAskedForAgain(mode: String, cause: TileLoadFailureCause) throws {
        let scene = try Scene(mode) { $0.largestTile = .mebibytes(1) }
        #expect(
            settled {
                scene.view.update(scene.all)
                _ = scene.view.frame()
                let figures = scene.source.statistics
                return figures.failureCount >= 63
            }
        )
        #expect(scene.cache.shutdown())
        let statistics = scene.source.statistics
        #expect(Array(statistics.failures.keys) == [cause] && statistics.retries == 0)
        // A load that was cancelled before its turn has no attempt.
        #expect(statistics.attempts <= statistics.loads)
    }

    @Test func aServerThatIsNotThere() throws {
        let scene = try Scene("slow") { $0.retries = 2 }
        scene.server.die()
        #expect(
            settled {
                scene.view.update(scene.all); return scene.source.statistics.failureCount >= 8
            }
        )
        #expect(Array(scene.source.statistics.failures.keys) == [.connection])
        let last = try #require(scene.source.statistics.lastFailure)
        #expect(last.hasPrefix("http://127.0.0.1:"))
        #expect(scene.cache.shutdown())
    }
}
