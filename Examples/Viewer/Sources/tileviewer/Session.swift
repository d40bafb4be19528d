import Foundation
import TileCache
import TileScroll
import ViewerKit

/// Runs one window from opening to closing. Decisions are ViewerKit's.
final class Session {
    struct Settings {
        var size: PanTraceHeader.Size
        var byteLimit: Int
        var workers: Int
        var showsOverlay = false
        var usesSoftware = false
        var frames: Int?
        var screenshot: (path: String, after: Int64)?
        var record: String?
        /// Tiers below memory, nearest first.
        var stores: [any TileStore] = []

        init(size: PanTraceHeader.Size, byteLimit: Int, workers: Int) {
            (self.size, self.byteLimit, self.workers) = (size, byteLimit, workers)
        }
    }

    private let world: OpenWorld
    private let settings: Settings
    private let cache: TileCache
    private let layer: LayerID
    private let view: TileView
    private let window: Window
    private var navigator: Navigator
    private var clock: FrameClock
    private var script: Script?
    private var playback: Playback?
    private var recording: Recording?

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
        var configuration = TileCache.Configuration(byteLimit: .bytes(settings.byteLimit), workers: settings.workers)
        // Keys may raise the limit; reserved addresses cost nothing.
        configuration.maximumByteLimit = .bytes(max(settings.byteLimit, 4 << 30))
        cache = try TileCache(configuration)
        layer = try world.add(to: cache, stores: settings.stores)
        view = cache.makeView(layers: [layer])
        Self.pin(world, layer, in: cache)
        let size = ScrollSize(width: settings.size.width, height: settings.size.height)
        navigator = try Navigator(pyramid: world.pyramid, contents: world.contents, view: size)
        clock = FrameClock(pace: script == nil && playback == nil ? .realTime : .everyFrame)
        if let path = settings.record {
            recording = try Recording(path: path, world: world, size: settings.size)
        }
        window = try Window(
            title: "TileCache: \(world.name)",
            width: Int(settings.size.width),
            height: Int(settings.size.height),
            usesSoftware: settings.usesSoftware,
            blends: world.isTransparent
        )
    }

    func run() throws {
        while !isOver {
            window.wait(nanoseconds: clock.wait(at: .now))
            try drawFrame()
            if let frames = settings.frames, clock.index + 1 >= frames { isOver = true }
        }
        try recording?.finish()
        cache.shutdown(timeout: .milliseconds(500))
        for store in settings.stores { store.close() }
        report()
    }

    private func drawFrame() throws {
        let began = MonotonicTime.now
        let due = clock.next(at: began)
        let time = MonotonicTime(nanoseconds: clock.elapsed)
        takeInput(at: time)
        let viewport = playback?.next() ?? ownViewport(at: time)

        // A late frame has its planned time in the trace, as in a replay.
        recording?.recorder.record(viewport, at: clock.elapsed)

        // Cost of the cache on the drawing thread: `update`, `frame()` and releasing the frame.
        let watch = StopWatch()
        view.update(viewport, at: due, destination: playback == nil ? destination : nil)
        var frame: TileFrame? = view.frame()
        var spent = watch.elapsed
        if let frame, frame.missingTileCount > 0 { streaming += 1 }

        if let frame { window.draw(frame, viewport: viewport) }
        window.draw(showsOverlay ? overlay(viewport) : status.shapes(height: viewport.height))
        try takeScreenshots()

        let end = StopWatch()
        frame = nil
        spent.wall += end.elapsed.wall
        spent.thread += end.elapsed.thread
        cost.add(spent.wall)
        ownCost.add(spent.thread)
        window.paint()
        whole.add(MonotonicTime.now.nanoseconds - began.nanoseconds)
        window.show()
        if rate.frame(at: .now) {
            status = FrameText(framesPerSecond: rate.framesPerSecond, late: clock.late, cost: cost)
        }
    }

    private func ownViewport(at time: MonotonicTime) -> TileViewport {
        if let last = playback?.last {
            // The trace has ended: user input continues from its last view.
            navigator.look(at: last, at: time)
            playback = nil
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
        if let command = navigator.handle(event, at: time) { take(command) }
    }

    private func take(_ command: ViewerCommand) {
        switch command {
        case .quit: isOver = true
        case .toggleOverlay: showsOverlay.toggle()
        case .scaleMemory(let octaves):
            cache.byteLimit = MemoryKeys.limit(cache.byteLimit, octaves: octaves)
            Self.pin(world, layer, in: cache)
        case .screenshot(let path):
            screenshots += path == nil ? 1 : 0
            pending.append(path ?? "tileviewer-\(screenshots).png")
        }
    }

    /// Pins as many of the coarsest levels as the limit allows.
    private static func pin(_ world: OpenWorld, _ layer: LayerID, in cache: TileCache) {
        cache.unpin(layer)
        let count = MemoryKeys.pinnedLevels(of: world.pyramid, options: world.options, limit: cache.byteLimit)
        // Pins are optional: without them more tiles are missing at first.
        if count > 0 { try? cache.pin(layer, levels: 0...count - 1) }
    }

    // MARK: Output

    private func overlay(_ viewport: TileViewport) -> [Shape] {
        Overlay.shapes(
            Overlay.Facts(
                viewport: viewport,
                diagnostics: view.diagnostics(margin: Overlay.margin),
                statistics: cache.statistics,
                costs: status,
                stores: settings.stores.map(\.label)
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
        let statistics = cache.statistics
        let demands = statistics.demands
        print(
            "frames    \(clock.index + 1) in \(seconds(clock.elapsed)) s, \(clock.late) late, \(streaming) with tiles missing"
        )
        print("cache     \(cost.text)")
        print("  of that \(ownCost.text) computing")
        print("frame     \(whole.text)")
        print(
            "demands   \(demands.total) (pan \(statistics.pan.total), zoom \(statistics.zoom.total)), hits \(demands.hits)"
        )
        print("loads     \(statistics.loads.started), peak memory \(statistics.memory.peak)")
        print("textures  \(ByteCount.bytes(window.peakTextureBytes)) at their peak, in addition to the limit")
        print("TileCache \(statistics)")
    }

    private func seconds(_ nanoseconds: Int64) -> String { String(format: "%.2f", Double(nanoseconds) / 1e9) }
}
