import CacheBenchKit
import PanTraces
import Testing
import TileCache
import TileScroll

@testable import ViewerKit

/// Several panes in one window.
@Suite struct PaneTests {
    private func move(_ x: Double) -> InputEvent { .pointerMoved(to: ScrollVector(x: x, y: 7)) }

    @Test func panesShareTheWindow() {
        let window = PaneLayout.window(count: 3, pane: PanTraceHeader.Size(width: 480, height: 270))
        #expect(window == PanTraceHeader.Size(width: 1444, height: 270))
        let layout = PaneLayout(count: 3, window: ScrollSize(width: window.width, height: window.height))
        #expect(layout.pane == ScrollSize(width: 480, height: 270))
        #expect((0..<3).map { layout.area($0).x } == [0, 482, 964])
        #expect(layout.area(2).width == 480 && layout.area(2).height == 270)
        // One of any width fits, and none has no pixels.
        for width in [1.0, 3, 7, 1000, 1001] {
            let layout = PaneLayout(count: 4, window: ScrollSize(width: width, height: 0))
            #expect(layout.pane.width >= 1 && layout.pane.height == 1)
            #expect(width < 10 || Double(layout.area(3).x + layout.area(3).width) <= width)
        }
    }

    @Test func inputBelongsToThePaneThatItBeganIn() {
        var layout = PaneLayout(count: 3, window: ScrollSize(width: 1444, height: 270))
        #expect(layout.local(move(481)) == move(481))
        #expect(layout.local(move(482)) == move(0))
        #expect(layout.local(move(1443)) == move(479))
        #expect(
            layout.local(.buttonDown(at: ScrollVector(x: 500, y: 7), clicks: 1))
                == .buttonDown(at: ScrollVector(x: 18, y: 7), clicks: 1)
        )
        #expect(layout.local(move(100)) == move(-382), "a drag goes on outside of its pane")
        #expect(layout.local(.buttonUp) == .buttonUp)
        #expect(layout.local(move(100)) == move(100))
        _ = layout.local(.fingerDown(id: 4, at: ScrollVector(x: 970, y: 7)))
        #expect(
            layout.local(.fingerDown(id: 5, at: ScrollVector(x: 10, y: 7)))
                == .fingerDown(id: 5, at: ScrollVector(x: -954, y: 7))
        )
        _ = layout.local(.fingerUp(id: 4))
        #expect(
            layout.local(.fingerMoved(id: 5, to: ScrollVector(x: 964, y: 7)))
                == .fingerMoved(id: 5, to: ScrollVector(x: 0, y: 7))
        )
        _ = layout.local(.fingerUp(id: 5))
        #expect(layout.local(move(100)) == move(100))
    }

    @Test func aPaneIsToldItsOwnSize() {
        var layout = PaneLayout(count: 2, window: ScrollSize(width: 962, height: 270))
        #expect(
            layout.local(.resized(ScrollSize(width: 202, height: 50))) == .resized(ScrollSize(width: 100, height: 50))
        )
        #expect(layout.area(1).x == 102)
        var single = PaneLayout(count: 1, window: ScrollSize(width: 962, height: 270))
        #expect(single.area(0) == PixelRectangle(x: 0, y: 0, width: 962, height: 270))
        #expect(single.local(move(961)) == move(961))
    }

    @Test func aViewIsFittedWhole() {
        let view = TileViewport(center: WorldPoint(x: 10, y: 20), width: 1280, height: 720, scale: 2)
        let same = view.fitted(to: ScrollSize(width: 640, height: 360))
        #expect(same.scale == 1 && same.width == 640 && same.height == 360 && same.center == view.center)
        let wide = view.fitted(to: ScrollSize(width: 1280, height: 360))
        #expect(wide.scale == 1, "all of the height, and more of the width")
    }

    @Test func blankAreaIsWhatNoTileCovers() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1000, worldHeight: 1000)
        var figures = PaneFigures(name: "none")
        #expect(figures.meanBlank == nil)
        // Half of the view is beyond the world's edge, so 100 x 100 world pixels count.
        let view = TileViewport(center: WorldPoint(x: 0, y: 50), width: 400, height: 200, scale: 2)
        let left = PixelRect(minX: 0, minY: 0, maxX: 100, maxY: 25)
        figures.add(drawn: [left], viewport: view, pyramid: pyramid)
        #expect(abs(figures.blank - 0.75) < 1e-12)
        // What lies outside of the view does not count.
        let two = [left, PixelRect(minX: 50, minY: 25, maxX: 300, maxY: 500)]
        figures.add(drawn: two, viewport: view, pyramid: pyramid)
        #expect(abs(figures.blank - 0.375) < 1e-12)
        figures.add(drawn: [PixelRect(minX: 0, minY: 0, maxX: 256, maxY: 256)], viewport: view, pyramid: pyramid)
        #expect(figures.blank == 0)
        #expect(abs((figures.meanBlank ?? 0) - 0.375) < 1e-12)
        let wrapping = try TilePyramid.powerOfTwo(worldWidth: 1000, worldHeight: 1000, wrapsX: true)
        figures.add(drawn: [left], viewport: view, pyramid: wrapping)
        #expect(abs(figures.blank - 0.875) < 1e-12, "a wrapping world has no left edge")
    }

    @Test func figuresFitTheirCorner() {
        let cache = try? TileCache(byteLimit: .mebibytes(16))
        let shapes = PaneFigures(name: "skewport").shapes(cache?.statistics ?? TileCacheStatistics(), x: 482)
        guard case .fill(let box, _) = shapes[0] else { return #expect(Bool(false), "a box was expected first") }
        #expect(box.minX == 488 && box.minY == 6)
        let texts = shapes.compactMap { if case .text(let text, let x, let y, _) = $0 { (text, x, y) } else { nil } }
        #expect(texts.map(\.0) == ["skewport", "hits - of 0", "blank -, now 0.0 %"])
        for (text, x, y) in texts {
            #expect(x > box.minX && x + Shape.width(of: text) < box.maxX)
            #expect(y > box.minY && y + Shape.lineHeight <= box.maxY)
        }
    }
}

/// Policies of panes, by their names.
@Suite struct PrefetchRuleTests {
    @Test func rulesHaveNames() {
        #expect(PrefetchRule.names == ["none", "ring", "velocity", "skewport", "gaussian", "zoom4", "tilecache"])
        for name in PrefetchRule.names { #expect(PrefetchRule(name)?.name == name) }
        for name in ["oracle", "", "Ring"] { #expect(PrefetchRule(name) == nil) }
    }

    /// After a view at rest has loaded, a ring has loaded one tile more on each side, and none has not.
    @Test(.timeLimit(.minutes(45))) func rulesPrefetch() async throws {
        for (name, tiles) in [("none", 4), ("ring", 16)] {
            let rule = try #require(PrefetchRule(name))
            var configuration = TileCache.Configuration(byteLimit: .mebibytes(32))
            rule.configure(&configuration)
            let cache = try TileCache(configuration)
            let world = try WorldSource.builtIn.open()
            let layer = try world.add(to: cache)
            let view = rule.makeView(of: [layer], in: cache)
            view.update(
                TileViewport(center: WorldPoint(x: 65_536, y: 65_536), width: 400, height: 400, scale: 1)
            )
            _ = view.frame()
            while cache.statistics.loads.finished < tiles { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: .milliseconds(50))
            #expect(cache.statistics.loads.started == tiles, "\(name)")
            cache.shutdown()
        }
    }
}

/// The world of a trace, and the size of its view.
@Suite struct TraceWorldTests {
    /// A window of 1280 x 720 points with two pixels each is recorded and played in pixels.
    @Test func tracesAreInPixels() throws {
        let world = try WorldSource.builtIn.open()
        let pixels = ScrollSize(width: 2560, height: 1440)
        let navigator = try Navigator(pyramid: world.pyramid, view: pixels)
        let viewport = navigator.viewport(at: MonotonicTime(nanoseconds: 0))
        let recorder = PanTraceRecorder(header: world.traceHeader)
        #expect(recorder.record(viewport, at: 0))
        #expect(recorder.record(viewport, at: 100_000_000))
        #expect(recorder.counts.resized == 0)
        #expect(recorder.text.contains("# viewport: 2560x1440\n"))
        var playback = try Playback(PanTraceReader(text: recorder.text), pyramid: world.pyramid)
        #expect(playback.size == PanTraceHeader.Size(width: 2560, height: 1440))
        let next = playback.next()
        let played = try #require(next)
        #expect((played.width, played.height, played.scale) == (2560, 1440, viewport.scale))
        #expect(pixels.points(pixelsPerPoint: 2) == ScrollSize(width: 1280, height: 720))
        #expect(pixels.points(pixelsPerPoint: 1.5) == ScrollSize(width: 1707, height: 960))
        #expect(pixels.points(pixelsPerPoint: 1) == pixels)
        #expect(ScrollSize(width: 1, height: 1).points(pixelsPerPoint: 4) == ScrollSize(width: 1, height: 1))
    }

    @Test func theBuiltInWorldTakesTheSizeOfATrace() throws {
        let header = PanTraceHeader(
            viewport: PanTraceHeader.Size(width: 640, height: 376),
            world: PanTraceHeader.Size(width: 4096, height: 2048),
            wrapsX: false,
            tileSize: 128
        )
        let world = try WorldSource.builtIn.open(for: header)
        #expect(world.pyramid.worldWidth == 4096 && world.pyramid.worldHeight == 2048)
        #expect(!world.pyramid.wrapsX && world.tileSize == 128)
        let text =
            "# pan-trace: 1\n# viewport: 640x376\n# world: 4096x2048\n# tile_size: 128\ntime_s,center_x,center_y,scale\n0,5,5,1\n"
        var playback = try Playback(PanTraceReader(text: text), pyramid: world.pyramid)
        #expect(playback.next()?.center == WorldPoint(x: 5, y: 5))
        #expect(try playback.windowSize() == PanTraceHeader.Size(width: 640, height: 376))
        let large = text.replacing("640x376", with: "640x20000")
        let error = #expect(throws: ViewerError.self) {
            try Playback(PanTraceReader(text: large), pyramid: world.pyramid).windowSize()
        }
        #expect(error?.description.contains("at most 16384 pixels a side was expected") == true)
        let plain = try WorldSource.builtIn.open(for: PanTraceHeader())
        #expect(plain.pyramid.worldWidth == 131_072 && plain.tileSize == 256)
    }
}
