import CacheBenchKit
import Foundation
import PanTraces
import TileCache
import TileScroll
import ViewerKit

/// Runs one window from opening to closing. Decisions are ViewerKit's.
final class Session {
    struct Settings {
        /// Size of the window, or of a pane, in points.
        var size: PanTraceHeader.Size
        /// Whether `size` is in pixels instead.
        var isInPixels = false
        var byteLimit: Int
        var workers: Int
        var showsOverlay = false
        /// Texture slots; `nil` draws with SDL.
        var slots: GLPainter.Options?
        /// Pixels for each point of the overlay; `nil` for the window system's.
        var pixelsPerPoint: Double?
        var frames: Int?
        var screenshot: (path: String, after: Int64)?
        var record: String?
        /// Tiers below memory, nearest first.
        var stores: [any TileStore] = []
        /// Prefetch policies of panes side by side; empty for one view with the library's.
        var rules: [PrefetchRule] = []
        var recordPicture: String?

        init(size: PanTraceHeader.Size, byteLimit: Int, workers: Int) {
            (self.size, self.byteLimit, self.workers) = (size, byteLimit, workers)
        }
    }

    /// A view with a cache of its own.
    private struct Pane {
        let cache: TileCache
        let layer: TileLayer
        let view: TileView
        var figures: PaneFigures
    }

    private let world: OpenWorld
    private let settings: Settings
    /// At least one; the first of several is no different from the others.
    private var panes: [Pane] = []
    private var layout: PaneLayout
    private let window: Window
    private var navigator: Navigator
    private var clock: FrameClock
    private var script: Script?
    private var playback: Playback?
    private var recording: Recording?
    private var picture: PictureRecording?
    private var picturePace = PicturePace()

    private var showsOverlay: Bool
    private var isOver = false
    private var cost = FrameCosts()
    /// The same in CPU time of this thread, without the other load of the machine.
    private var ownCost = FrameCosts()
    private var whole = FrameCosts()
    private var streaming = 0
    private var rate = FrameRateMeter()
    private var screenshots = 0
    private var pending: [String] = []
    private var status = FrameText(framesPerSecond: nil, late: 0, cost: FrameCosts())

    init(_ world: OpenWorld, _ settings: Settings, script: Script?, playback: Playback?) throws {
        self.world = world
        self.settings = settings
        self.script = script
        self.playback = playback
        showsOverlay = settings.showsOverlay
        clock = FrameClock(pace: script == nil && playback == nil ? .realTime : .everyFrame)
        if let path = settings.record {
            recording = try Recording(path: path, world: world)
        }
        if let path = settings.recordPicture { picture = try PictureRecording(path: path) }
        let paneCount = max(settings.rules.count, 1)
        let size = PaneLayout.window(count: paneCount, pane: settings.size)
        window = try Window(
            title: "TileCache: \(world.name)",
            size: ScrollSize(width: size.width, height: size.height),
            isInPixels: settings.isInPixels,
            slots: settings.slots,
            blends: world.isTransparent
        )
        layout = PaneLayout(count: paneCount, window: window.size)
        navigator = try Navigator(pyramid: world.pyramid, contents: world.contents, view: layout.pane)
        navigator.canTurn = window.painter.isFull && paneCount == 1
        guard window.painter.isFull || paneCount == 1 else { throw ViewerError("--compare needs OpenGL 3.3") }
        if let playback, playback.isTurned, !navigator.canTurn {
            throw ViewerError("--play: the view was rotated, which needs OpenGL 3.3, and no --compare")
        }
        if settings.rules.isEmpty { panes = [try pane(nil)] } else { panes = try settings.rules.map(pane) }
    }

    private func pane(_ rule: PrefetchRule?) throws -> Pane {
        var configuration = TileCache.Configuration(byteLimit: .bytes(settings.byteLimit), workers: settings.workers)
        // Keys may raise the limit; reserved addresses cost nothing.
        configuration.maximumByteLimit = .bytes(max(settings.byteLimit, 4 << 30))
        rule?.configure(&configuration)
        let cache = try TileCache(configuration)
        let layer = try world.add(to: cache, stores: settings.stores)
        let view = rule?.makeView(of: [layer], in: cache) ?? cache.makeView(layers: [layer])
        // Pinned levels would hide what the policies differ in: blank area.
        if rule == nil { Self.pin(world, layer, in: cache) }
        return Pane(cache: cache, layer: layer, view: view, figures: PaneFigures(name: rule?.name ?? ""))
    }

    func run() throws {
        while !isOver {
            window.wait(nanoseconds: clock.wait(at: .now))
            try drawFrame()
            if let frames = settings.frames, clock.index + 1 >= frames { isOver = true }
        }
        try recording?.finish()
        try picture?.finish(at: Int(clock.elapsed / 1_000_000) + 100)
        for pane in panes { pane.cache.shutdown(timeout: .milliseconds(500)) }
        for store in settings.stores { store.close() }
        report()
    }

    private func drawFrame() throws {
        let began = MonotonicTime.now
        let due = clock.next(at: began)
        let time = MonotonicTime(nanoseconds: clock.elapsed)
        takeInput(at: time)
        let viewport = playedViewport() ?? ownViewport(at: time)

        // A late frame has its planned time in the trace, as in a replay.
        recording?.recorder.record(viewport, at: clock.elapsed)

        // Cost of the cache on the drawing thread: `update`, `frame()` and releasing the frame.
        let watch = StopWatch()
        let destination = playback == nil ? self.destination : nil
        var frames = panes.enumerated().map { index, pane in
            pane.view.update(viewport, at: due, destination: destination)
            return PaneFrame(
                frame: pane.view.frame(),
                view: pane.view,
                viewport: viewport,
                area: layout.area(index)
            )
        }
        var spent = watch.elapsed
        if frames.contains(where: { $0.frame.missingTileCount > 0 }) { streaming += 1 }
        if panes.count > 1 {
            for (index, pane) in frames.enumerated() {
                let drawn = pane.frame.map(\.worldRectangle)
                panes[index].figures.add(drawn: drawn, viewport: viewport, pyramid: world.pyramid)
            }
        }

        let painter = window.painter
        try painter.draw(frames)
        let factor = settings.pixelsPerPoint ?? window.pixelsPerPoint
        painter.draw(shapes(viewport.inPoints(pixelsPerPoint: factor), factor), pixelsPerPoint: factor)
        try takeScreenshots()
        if let picture, picturePace.isDue(frame: clock.index) {
            picture.add(try painter.readPixels(), at: Int(clock.elapsed / 1_000_000))
        }

        let end = StopWatch()
        frames.removeAll()
        spent.wall += end.elapsed.wall
        spent.thread += end.elapsed.thread
        cost.add(spent.wall)
        ownCost.add(spent.thread)
        painter.paint()
        whole.add(MonotonicTime.now.nanoseconds - began.nanoseconds)
        painter.show()
        if rate.frame(at: .now) {
            status = FrameText(
                framesPerSecond: rate.framesPerSecond,
                late: clock.late,
                usesProcessor: painter.usesProcessor,
                cost: cost
            )
        }
    }

    /// Viewport of the trace that is played; `nil` after its end.
    private func playedViewport() -> TileViewport? {
        guard let viewport = playback?.next() else { return nil }
        return panes.count > 1 ? viewport.fitted(to: layout.pane) : viewport
    }

    private func ownViewport(at time: MonotonicTime) -> TileViewport {
        if let last = playback?.last {
            // The trace has ended: user input continues from its last view.
            navigator.look(at: panes.count > 1 ? last.fitted(to: layout.pane) : last, at: time)
            playback = nil
            if picture != nil { isOver = true }
        }
        return navigator.viewport(at: time)
    }

    /// Position at which the view will come to rest, on the clock of the cache.
    private var destination: ViewportDestination? {
        guard var destination = navigator.destination else { return nil }
        destination.time.nanoseconds += clock.origin
        return destination
    }

    // MARK: Input

    private func takeInput(at time: MonotonicTime) {
        for event in window.takeEvents() { take(event, at: time) }
        for entry in script?.take(until: clock.elapsed) ?? [] {
            // Input between frames keeps its own time, since velocities depend on it.
            switch entry.action {
            case .input(.resized(let size)): window.resize(to: size)
            case .input(let event): take(event, at: MonotonicTime(nanoseconds: entry.time))
            case .command(let command): take(command)
            }
        }
        navigator.advance(to: time)
    }

    private func take(_ event: InputEvent, at time: MonotonicTime) {
        if let command = navigator.handle(layout.local(event), at: time) { take(command) }
    }

    private func take(_ command: ViewerCommand) {
        switch command {
        case .quit: isOver = true
        case .toggleOverlay: showsOverlay.toggle()
        case .scaleMemory(let octaves):
            for pane in panes {
                pane.cache.byteLimit = MemoryKeys.limit(pane.cache.byteLimit, octaves: octaves)
                if settings.rules.isEmpty { Self.pin(world, pane.layer, in: pane.cache) }
            }
        case .screenshot(let path):
            screenshots += path == nil ? 1 : 0
            pending.append(path ?? "tileviewer-\(screenshots).png")
        }
    }

    /// Pins as many of the coarsest levels as the limit allows.
    private static func pin(_ world: OpenWorld, _ layer: TileLayer, in cache: TileCache) {
        layer.unpin()
        let count = MemoryKeys.pinnedLevels(of: world.pyramid, options: world.options, limit: cache.byteLimit)
        // Pins are optional: without them more tiles are missing at first.
        if count > 0 { try? layer.pin(levels: 0...count - 1) }
    }

    // MARK: Output

    /// Shapes over the tiles, in points.
    private func shapes(_ viewport: TileViewport, _ pixelsPerPoint: Double) -> [Shape] {
        guard panes.count == 1 else {
            return panes.enumerated().flatMap { index, pane in
                pane.figures.shapes(pane.cache.statistics, x: Double(layout.area(index).x) / pixelsPerPoint)
            }
        }
        return showsOverlay ? overlay(viewport, panes[0]) : status.shapes(height: viewport.height)
    }

    private func overlay(_ viewport: TileViewport, _ pane: Pane) -> [Shape] {
        Overlay.shapes(
            Overlay.Facts(
                viewport: viewport,
                diagnostics: pane.view.diagnostics(margin: Overlay.margin),
                statistics: pane.cache.statistics,
                costs: status,
                stores: settings.stores.map(\.label),
                textures: window.painter.textureText
            )
        )
    }

    private func takeScreenshots() throws {
        if let wanted = settings.screenshot, clock.elapsed >= wanted.after {
            pending.append(wanted.path)
            isOver = true
        }
        for path in pending { try window.writePicture(to: path) }
        pending.removeAll()
    }

    /// Prints the summary at the end.
    private func report() {
        print(
            "frames    \(clock.index + 1) in \(seconds(clock.elapsed)) s, \(clock.late) late, \(streaming) with tiles missing"
        )
        print("cache     \(cost.text)")
        print("  of that \(ownCost.text) computing")
        print("frame     \(whole.text)")
        print("textures  \(ByteCount.bytes(window.painter.peakTextureBytes)) at their peak, in addition to the limit")
        guard panes.count == 1 else {
            for pane in panes { print("pane      \(pane.figures.summary(pane.cache.statistics))") }
            return
        }
        let statistics = panes[0].cache.statistics
        let demands = statistics.demands
        print(
            "demands   \(demands.total) (pan \(statistics.pan.total), zoom \(statistics.zoom.total)), hits \(demands.hits)"
        )
        print("loads     \(statistics.loads.started), peak memory \(statistics.memory.peak)")
        print("TileCache \(statistics)")
    }

    private func seconds(_ nanoseconds: Int64) -> String { String(format: "%.2f", Double(nanoseconds) / 1e9) }
}
