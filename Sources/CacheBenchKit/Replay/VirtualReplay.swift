import Foundation
package import PanTraces
import TileCache

/// Samples of one trace, and their origin.
package struct ReplayInput {
    /// Name of the file without its folder, or `standard input`.
    package var name: String
    /// Folder of the file.
    package var source: String
    var path = ""
    /// What the trace was imported from, by its header; `nil` for a recorded one.
    private(set) var imported: String?
    /// View and world of the trace and the flags.
    package var scene: PanTraceScene
    /// The samples, none of them read.
    package var samples: any PanSampleStream
    /// Mapping of the samples to a source's world, which is then that of ``scene``. Default: none.
    var fit: WorldFit?
    private(set) var isBuiltIn = false

    /// Opens a trace, `-` for standard input. The overrides of the options replace values of its header.
    ///
    /// - Parameter source: Name of its source among others. Default: that of a single trace.
    package init(path: String, source: String? = nil, options: ReplayOptions) throws(PanTraceError) {
        let reader = try PanTraceReader(path: path)
        name = path == "-" ? "standard input" : path.split(separator: "/").last.map(String.init) ?? path
        self.source = source ?? Self.sources(ofPaths: [path])[0]
        self.path = path == "-" ? "" : path
        imported = reader.header.otherEntries.first { $0.key == "imported" }?.value
        scene = try PanTraceScene(reader.header, overrides: options.overrides, name: path)
        samples = reader
    }

    /// Opens the built-in session, which needs no file.
    package init(builtIn options: ReplayOptions) throws(PanTraceError) {
        let session = BuiltInSession(seed: options.seed)
        name = "built-in"
        source = "."
        scene = try PanTraceScene(session.header, overrides: options.overrides, name: "built-in")
        samples = session.stream
        isBuiltIn = true
    }

    package init(name: String, source: String, scene: PanTraceScene, samples: any PanSampleStream) {
        self.name = name
        self.source = source
        self.scene = scene
        self.samples = samples
    }

    /// Adds the trace's name to an error of its replay. Those of reading it have the name.
    func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ReplayError {
            throw ReplayError("\(path.isEmpty ? name : path): \(error)")
        }
    }

    /// Sources of traces: the last name of each one's folder, preceded by as many names of its absolute path as
    /// distinguish it from other folders.
    package static func sources(ofPaths paths: [String]) -> [String] {
        let folders = paths.map { path in
            URL(fileURLWithPath: path).deletingLastPathComponent().standardizedFileURL.path.split(separator: "/")
        }
        var names = paths.map { path in
            let parts = path.split(separator: "/")
            return parts.count > 1 ? String(parts[parts.count - 2]) : path.hasPrefix("/") ? "/" : "."
        }
        var depth = 1
        while true {
            depth += 1
            let shared = Dictionary(grouping: paths.indices) { names[$0] }.values.filter { own in
                Set(own.map { folders[$0] }).count > 1
            }
            if shared.isEmpty { return names }
            for index in shared.joined() {
                let folder = folders[index]
                names[index] = (depth < folder.count ? "" : "/") + folder.suffix(depth).joined(separator: "/")
            }
        }
    }
}

/// The reference replay: the cache's decisions under a virtual clock.
struct VirtualReplay {
    let options: ReplayOptions
    let loads: LoadClock
    var tiers: VirtualTiers?
    var hooks = ReplayHooks()

    func run(_ input: ReplayInput) throws -> ReplayOutcome {
        var course = try ReplayCourse(input, options, hooks, pyramid: input.scene.pyramid())
        let (recorder, limit) = (course.recorder, course.limit)
        let cache = VirtualCache(
            options: cacheOptions(limit, cost: try options.cost.resolved().cost),
            expectedLatency: loads.latency,
            tiers: tiers,
            latency: { [loads, hooks] load, start in
                recorder?.started(load.tile, isDemand: load.isDemand, at: start)
                hooks.noteStart?(load.isDemand, start)
                return loads.time(of: load.tile)
            }
        )
        let layer = try options.withRoom { () throws(TileCacheError) in
            try cache.addLayer(tileBytes: course.tileBytes, allowance: options.allowance)
        }
        var future: FutureNeeds?
        if options.needsFuture { future = try lookAhead(&course.samples, input.scene, course.pyramid) }
        let policy = try options.policy(
            future: future,
            knowledge: knowledge(limitBytes: limit.bytes, tileBytes: course.tileBytes)
        )
        let view = cache.addView(layers: [(layer, course.pyramid, policy)])
        var textures = try options.textures.map { try TextureReplay($0, options, layer: layer, course) }
        cache.keepsFallbacks = textures != nil
        var rest = RestingFrames(
            isPossible: options.eviction != .belady && options.cost == .none,
            // What a ceiling has held back may start later.
            looksAtViewportOnly: options.allowance == .standard && [.none, .ring, .zoom4].contains(options.prefetch)
        )
        var frames = try options.frames(of: course.samples, in: input.scene)
        while let frame = try frames.next() {
            if textures?.isSettled ?? true, rest.isResting(at: frame, cache) {
                course.addResting(frame)
            } else {
                // Shows policies the end of the rest, instead of a stroke as long as the rest.
                if let last = rest.takeSkipped() { cache.frame(view: view, last.viewport, at: last.time) }
                cache.frame(view: view, frame.viewport, at: frame.time)
                rest.note(frame, view, cache)
                textures?.draw(frame.viewport, of: cache, view: view, at: frame.time)
                course.add(
                    frame,
                    cache.coverage,
                    hasMoved: cache.hasMoved,
                    neededTiles: cache.neededTileCount(view: view),
                    timesToSharp: cache.timesToSharp
                )
            }
            recorder?.note(frame, of: cache, view: view)
            if course.isStopped(after: frame) { break }
        }
        finish(&course.tally, cache, layer)
        course.tally.textures = textures?.sums
        if let note = hooks.noteLearned, let learned = cache.learned(view: view) { note(learned) }
        if let tiers { course.tally.tiers = zip(tiers.tiers, tiers.counts).map { .init($0, $1) } }
        return course.outcome(bookkeepingBytes: cache.bookkeepingBytes)
    }

    /// Reads the whole trace, keeps its samples for the replay and collects its needs. If it is stopped, so is the
    /// replay after its first frame, and the rest is not needed.
    private func lookAhead(
        _ cursor: inout HashingCursor,
        _ scene: PanTraceScene,
        _ pyramid: TilePyramid
    ) throws -> FutureNeeds {
        var samples: [PanTraceSample] = []
        while let sample = try cursor.nextSample() {
            samples.append(sample)
            if hooks.shouldStop() { break }
        }
        cursor = HashingCursor(PanSampleList(samples), viewport: scene.viewport)
        var frames = try options.frames(of: PanSampleList(samples), in: scene)
        return try FutureNeeds(pyramid: pyramid, selection: options.selection) {
            guard !hooks.shouldStop() else { return nil }
            return try frames.next().map { ($0.time, $0.viewport) }
        }
    }

    private func knowledge(limitBytes: Int, tileBytes: Int) -> OraclePolicy.Knowledge {
        let tiles = Double(limitBytes) / Double(VirtualCache.slotBytes(ofTile: tileBytes))
        return OraclePolicy.Knowledge(
            workers: options.loadsInFlight?.most ?? options.workers,
            capacityTiles: Int(options.compressedTier ? tiles * options.compressionRatio : tiles),
            loadTime: loads.timeOfTile
        )
    }

    private func cacheOptions(
        _ limit: (bytes: Int, grantsBookkeeping: Bool),
        cost: CodecCost?
    ) -> VirtualCache.Options {
        var cache = VirtualCache.Options(options.cacheConfiguration(limit))
        cache.compressionRatio = options.compressionRatio
        cache.levelBias = options.levelBias
        cache.loadsInFlight = options.loadsInFlight
        cache.hysteresis = options.hysteresis
        cache.bandwidth = loads.bandwidth
        cache.codecCost = cost
        return cache
    }

    private func finish(_ tally: inout ReplayTally, _ cache: VirtualCache, _ layer: Int) {
        tally.pan = cache.panDemands
        tally.zoom = cache.zoomDemands
        tally.drawableHits = options.cost == .none ? tally.pan.hits + tally.zoom.hits : cache.drawableHits
        let unseen = cache.unseen
        tally.take(
            cache.counters,
            layer: cache.prefetchCounts(ofLayer: layer),
            unseen: unseen.all + cache.loadsInFlight,
            unseenPrefetched: unseen.prefetched + cache.prefetchLoadsInFlight
        )
    }
}

/// Detects frames in which nothing can happen, so that hours without movement cost little.
///
/// The next frame does nothing if the view is at rest, all needed tiles can be drawn, nothing is in flight, no more
/// plans are made and the last frame with the same viewport did nothing.
private struct RestingFrames {
    let isPossible: Bool
    /// Whether plans depend on the viewport only. If so, it need not wait until none is made.
    let looksAtViewportOnly: Bool
    private var viewport: TileViewport?
    private var counters: PoolCounters?
    private var isStill = false
    private var skipped: PanFrame?

    init(isPossible: Bool, looksAtViewportOnly: Bool) {
        self.isPossible = isPossible
        self.looksAtViewportOnly = looksAtViewportOnly
    }

    /// Whether a frame would change nothing.
    mutating func isResting(at next: PanFrame, _ cache: VirtualCache) -> Bool {
        guard isStill, next.time < cache.replanAt, next.viewport == viewport else { return false }
        skipped = next
        return true
    }

    /// Takes the last frame that was left out.
    mutating func takeSkipped() -> PanFrame? { skipped.take() }

    mutating func note(_ drawn: PanFrame, _ view: Int, _ cache: VirtualCache) {
        guard isPossible else { return }
        // A frame that was left out has counted nothing.
        let after = cache.wasLeftOut ? nil : cache.counters
        isStill =
            drawn.viewport == viewport && (cache.wasLeftOut || after == counters) && cache.loadsInFlight == 0
            && cache.coverage.missingTiles == 0 && (looksAtViewportOnly || cache.isResting(view: view, at: drawn.time))
        viewport = drawn.viewport
        if let after { counters = after }
    }
}

/// Samples that are hashed as they are read, so that a report identifies them.
final class HashingCursor: PanSampleStream {
    private var samples: any PanSampleStream
    private(set) var gaps: SampleGaps
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    init(_ samples: any PanSampleStream, viewport: PanTraceHeader.Size) {
        self.samples = samples
        gaps = SampleGaps(viewport: viewport)
    }

    /// FNV-1a, 64 bits, in hexadecimal.
    var hashText: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    func nextSample() throws(PanTraceError) -> PanTraceSample? {
        guard let sample = try samples.nextSample() else { return nil }
        gaps.note(sample)
        for word in [
            UInt64(bitPattern: sample.time), sample.center.x.bitPattern, sample.center.y.bitPattern,
            sample.scale.bitPattern, sample.rotation.bitPattern,
        ] {
            var rest = word
            for _ in 0..<8 {
                hash = (hash ^ (rest & 0xFF)) &* 0x100_0000_01B3
                rest >>= 8
            }
        }
        return sample
    }
}
