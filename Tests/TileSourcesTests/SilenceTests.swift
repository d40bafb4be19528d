import CacheBenchKit
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Sources that show nothing say why.
@Suite(.timeLimit(.minutes(45))) struct SilenceTests {
    private let folder = ScratchFolder()

    /// A clock that the test moves.
    private final class Clock: Sendable {
        let nanoseconds: Lock<Int64>

        init(_ start: Int64 = 0) { nanoseconds = Lock(start) }

        func pass(_ time: Int64) { nanoseconds.withLock { $0 += time } }
    }

    private func counter(_ clock: Clock) -> SourceCounter { SourceCounter(now: { clock.nanoseconds.withLock { $0 } }) }

    @Test func aReasonIsGivenAfterTwoSeconds() {
        let clock = Clock(5)
        let counter = counter(clock)
        clock.pass(60_000_000_000)
        #expect(counter.statistics.silence == nil, "nothing was asked for")
        counter.countLoad()
        clock.pass(1_999_999_999)
        #expect(counter.statistics.silence == nil)
        clock.pass(1)
        #expect(
            counter.statistics.silence == "none of 1 request has brought a tile in 2 s, and nothing has failed yet"
        )
        counter.countLoad()
        counter.countAbsent("http://u:p@h/1")
        #expect(
            counter.statistics.silence
                == "none of 2 requests has brought a tile, 1 was of tiles that do not exist; the last one is http://***@h/1"
        )
        counter.count(TileLoadFailure(.status, "the server answered 500"), of: "http://h/2")
        let reason = "none of 2 requests has brought a tile; last failure: http://h/2: the server answered 500"
        #expect(counter.statistics.silence == reason && "\(counter.statistics)".hasSuffix("; \(reason)"))
        #expect(counter.warning("own", of: "set") == "own; set: \(reason)")
        counter.countDecoded(scaledFrom: nil)
        #expect(counter.statistics.silence == nil && counter.warning(nil, of: "set") == nil)
    }

    /// Tiles that nobody wants any more, and those that a store has, are no reason.
    @Test func whatIsNotMissedIsNoReason() {
        let clock = Clock()
        let cancelled = counter(clock)
        cancelled.countLoad()
        cancelled.count { $0.cancelled += 1 }
        let stored = counter(clock)
        stored.countLoad()
        stored.count { $0.notModified += 1 }
        clock.pass(9_000_000_000)
        #expect(cancelled.statistics.silence == nil && stored.statistics.silence == nil)
    }

    /// A replay that ends with nothing on the screen names the reason first.
    @Test func aReplayThatShowsNothingSaysSo() throws {
        for zoom in 0...2 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom { folder.write([1, 2, 3], to: "\(zoom)/\(column)/\(row).png") }
            }
        }
        let source = try FolderTileSource(path: folder.path, options: TileSourceOptions(tileSize: 64))
        let warnings = Record<String>()
        func report(_ source: any PyramidTileSource, contents: PixelRect? = nil) throws -> ReplayResult {
            var options = ReplayOptions()
            (options.clock, options.loadLatency, options.speed) = (.real, nil, 50)
            (options.memoryLimit, options.duration) = (.bytes(8 << 20), 2_000_000_000)
            let replayed = ReplaySource(
                address: "xyz:\(folder.path)",
                pyramid: source.pyramid,
                contents: contents ?? source.contents,
                addLayer: { try source.addLayer(to: $0, pyramid: $1, stores: $2) },
                counts: { ReplaySourceCounts() },
                warning: { source.warning }
            )
            var hooks = ReplayHooks()
            hooks.warn = { warnings.add($0) }
            return try Replay(options, source: replayed).run(ReplayInput(builtIn: options), hooks: hooks)
        }
        let blank = try report(source)
        #expect(warnings.count <= 1)
        let counts = try #require(blank.total.tileSource)
        #expect(counts.blankEnds == 1)
        #expect(counts.blankReason?.contains("it is neither PNG nor JPEG nor WebP") == true)
        let text = ReplayText.text(blank)
        #expect(text.hasPrefix("nothing on the screen at the end: \(folder.path.prefix(10))"))
        #expect(BlankWarning.text(blank) != nil)
        // With one tile that is there.
        folder.write(TestImage(width: 64, height: 64).png, to: "0/0/0.png")
        let shown = try report(try FolderTileSource(path: folder.path))
        #expect(shown.total.tileSource?.blankEnds == 0 && BlankWarning.text(shown) == nil)
    }

    /// The known bounds of a set are a rectangle, and its tiles need not fill it. A view of a gap is rightly blank.
    @Test func aGapBetweenTilesIsNoSilence() throws {
        for place in ["3/0/0", "3/7/7"] { folder.write(TestImage(width: 64, height: 64).png, to: place + ".png") }
        let source = try FolderTileSource(path: folder.path, options: TileSourceOptions(tileSize: 64))
        let trace = """
            # pan-trace: 1
            # viewport: 48x48
            # world: 512x512
            # tile_size: 64
            time_s,center_x,center_y,scale
            0,32,32,1
            1,32,32,1
            1.1,480,32,1
            1.2,480,32,1

            """
        let path = folder.write(Array(trace.utf8), to: "trace.csv")
        var options = ReplayOptions()
        (options.clock, options.loadLatency, options.memoryLimit) = (.real, nil, .bytes(8 << 20))
        let replayed = ReplaySource(
            address: "xyz:\(folder.path)",
            pyramid: source.pyramid,
            contents: source.contents,
            addLayer: { try source.addLayer(to: $0, pyramid: $1, stores: $2) },
            counts: { ReplaySourceCounts() },
            warning: { source.warning }
        )
        var hooks = ReplayHooks()
        // The view stays until its tile has come.
        hooks.noteFrame = { cache, _ in #expect(settled { cache.statistics.loads.finished > 0 }) }
        let result = try Replay(options, source: replayed).run(ReplayInput(path: path, options: options), hooks: hooks)
        #expect(result.total.tileSource?.blankEnds == 0 && BlankWarning.text(result) == nil)
        #expect(result.total.coverage.blank ?? 0 > 0)
    }
}

/// Sets of files of the IIIF Image API that differ from what their description says.
@Suite(.timeLimit(.minutes(45))) struct StaticIIIFTests {
    private let image = TestImage(width: 300, height: 200)

    private func description(_ id: String, version: Int, width: Int, height: Int, factors: String) -> String {
        let profile = version == 3 ? #""level0""# : #"["http://iiif.io/api/image/2/level0.json"]"#
        return """
            {"@context": "http://iiif.io/api/image/\(version)/context.json", "\(version == 3 ? "id" : "@id")": "\(id)",
             "protocol": "http://iiif.io/api/image", "type": "ImageService3", "profile": \(profile),
             "width": \(width), "height": \(height), "tiles": [{"width": 128, "scaleFactors": \(factors)}]}
            """
    }

    /// Writes the tiles of factors 1, 2 and 4, all regions with their sizes; that of all of the image in one form.
    private func add(_ server: DescribedServer, at base: String, version: Int, format: String, whole: String) {
        for factor in [1, 2, 4] {
            for y in stride(from: 0, to: 200, by: 128 * factor) {
                for x in stride(from: 0, to: 300, by: 128 * factor) {
                    let (w, h) = (min(128 * factor, 300 - x), min(128 * factor, 200 - y))
                    let part = image.part(x: x, y: y, width: w, height: h).thinned(by: factor)
                    let size = version == 3 ? "\(part.width),\(part.height)" : "\(part.width),"
                    let region = w == 300 && h == 200 ? whole : "\(x),\(y),\(w),\(h)"
                    server.add(part.png, at: "\(base)/\(region)/\(size)/0/default.\(format)")
                }
            }
        }
    }

    @Test(arguments: [2, 3], ["full", "0,0,300,200"])
    func tilesAreFoundWhereTheyAre(version: Int, whole: String) throws {
        for (id, format) in [
            ("https://example.com/iiif/a", "png"), ("own", "webp"), ("http://127.0.0.1:1/a", "jpg"), ("set", "jpg"),
        ] {
            let server = try #require(DescribedServer())
            let own = "\(server.root)/set"
            let text = description(
                id == "own" ? own : id,
                version: version,
                width: 300,
                height: 200,
                factors: "[1, 2, 4]"
            )
            server.add(text, at: "/set/info.json")
            add(server, at: "/set", version: version, format: format, whole: whole)
            var http = HTTPTileOptions()
            (http.retries, http.backOff) = (0, .zero)
            let source = try HTTPTileSource(iiif: own, http: http)
            for (level, factor) in [4, 2, 1].enumerated() {
                let drawn = try compare(source, level: level, with: image.thinned(by: factor))
                #expect(!drawn.isEmpty)
            }
            let warning = source.warning ?? ""
            switch id {
            case "own": #expect(warning.isEmpty)
            case "set": #expect(warning.contains("its id, set, is no address"))
            case "http://127.0.0.1:1/a": #expect(warning.contains("not from its id, http://127.0.0.1:1/a"))
            default: #expect(warning.contains("its id, https://example.com/iiif/a, is a placeholder"))
            }
        }
    }

    /// A cache whose view shows a part of a source from its corner on.
    private struct Scene {
        let cache: TileCache
        let view: TileView
        let viewport: TileViewport

        init(_ source: HTTPTileSource, width: Double, height: Double) throws {
            cache = try TileCache(byteLimit: .mebibytes(1), workers: 2)
            let layer = try source.addLayer(to: cache)
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
            viewport = TileViewport(center: WorldPoint(x: width / 2, y: height / 2), width: width, height: height)
        }

        func isComplete() -> Bool {
            view.update(viewport)
            return view.frame().missingTileCount == 0
        }
    }

    /// Nothing is known of tiles at an id whose server fails in passing, though the description's has none. That server
    /// is asked again with each try.
    @Test func aTileIsNotAbsentWhileItsServerFails() throws {
        let (own, other) = (try #require(DescribedServer(missing: 404)), try #require(DescribedServer(missing: 502)))
        let text = description("\(other.root)/set", version: 3, width: 300, height: 200, factors: "[1]")
        own.add(text, at: "/set/info.json")
        var http = HTTPTileOptions()
        (http.retries, http.backOff) = (0, .zero)
        let source = try HTTPTileSource(iiif: "\(own.root)/set", http: http)
        let scene = try Scene(source, width: 300, height: 200)
        // Six tiles at three addresses each, more than twice.
        #expect(
            settled {
                _ = scene.isComplete()
                return own.refused.count > 36 || source.statistics.absent > 0
            }
        )
        #expect(source.statistics.absent == 0)
        add(other, at: "/set", version: 3, format: "jpg", whole: "full")
        #expect(settled { scene.isComplete() || source.statistics.absent > 0 } && source.statistics.absent == 0)
        #expect(scene.view.frame().count == 6 && scene.cache.shutdown())
    }

    /// A tile for which the cache has no room is where it was, and comes once there is room.
    @Test func aTileWithoutRoomIsNotAbsent() throws {
        let server = try #require(DescribedServer(missing: 404))
        let own = "\(server.root)/set"
        server.add(description(own, version: 3, width: 300, height: 200, factors: "[1]"), at: "/set/info.json")
        let (tile, place) = (image.part(x: 0, y: 0, width: 128, height: 128), "/set/0,0,128,128/128,128/0/default.jpg")
        server.add(tile.png + [UInt8](repeating: 0, count: 4 << 20), at: place)
        let source = try HTTPTileSource(iiif: own)
        let scene = try Scene(source, width: 128, height: 128)
        #expect(
            settled {
                _ = scene.isComplete()
                return source.statistics.failures[.noRoom, default: 0] > 1 || source.statistics.absent > 0
            }
        )
        #expect(source.statistics.absent == 0 && server.refused.isEmpty)
        server.add(tile.png, at: place)
        #expect(settled { scene.isComplete() } && scene.view.frame().count == 1 && scene.cache.shutdown())
    }

    /// libvips 8.14 lists no factors for an image that is one tile, and writes its region; 8.18 writes `full` and its
    /// size.
    @Test(arguments: [2, 3], ["[]", "[1]"]) func anImageThatIsOneTile(version: Int, factors: String) throws {
        let small = image.part(x: 0, y: 0, width: 100, height: 90)
        for region in ["full", "0,0,100,90"] {
            let server = try #require(DescribedServer())
            let own = "\(server.root)/set"
            server.add(
                description(own, version: version, width: 100, height: 90, factors: factors),
                at: "/set/info.json"
            )
            let size = version == 3 ? "100,90" : "100,"
            server.add(small.png, at: "/set/\(region)/\(size)/0/default.png")
            let source = try HTTPTileSource(iiif: own)
            #expect(source.pyramid.levels.count == 1)
            #expect(try compare(source, level: 0, with: small).count == 1)
        }
    }

    /// A set without any tile ends after some requests, and says so.
    @Test func aSetWithoutTilesIsNotAskedForEver() throws {
        let server = try #require(DescribedServer(status: 200))
        let own = "\(server.root)/set"
        server.add(
            description(own, version: 3, width: 3000, height: 2000, factors: "[1, 2, 4, 8]"),
            at: "/set/info.json"
        )
        let source = try HTTPTileSource(iiif: own)
        let cache = try TileCache(byteLimit: .mebibytes(32), workers: 2)
        let layer = try source.addLayer(to: cache)
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        let isSaid = settled {
            view.update(TileViewport(center: WorldPoint(x: 1500, y: 1000), width: 3000, height: 2000))
            return view.frame().isEmpty && source.warning != nil
        }
        #expect(isSaid)
        #expect(source.warning?.contains("none of") == true, "\(source.statistics)")
        // Three formats for some tiles, one for the rest; a server that is asked 384 tiles is asked little more often.
        #expect(server.asked.count <= source.statistics.loads + 3 * 3 * 16)
        #expect(cache.shutdown())
    }
}
