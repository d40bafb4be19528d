import Dispatch
import Synchronization
import TileCache

/// One cache, and all operations of the threads.
final class StressRun: Sendable {
    /// Maximum number of layers at a time and in a whole run. The history of each is kept.
    private static let mostLayers = 12
    private static let mostLayersEver = 100
    /// Time after which a load counts as stuck, in nanoseconds.
    static let stuckLoadTime: Int64 = 200_000_000

    let options: StressOptions
    let workers: Int
    let cache: TileCache
    let shared: StressShared
    let checker: StressChecker
    let findings = StressFindings()
    let operations = StressCounts<StressOperation>()
    private let layers: Lock<[TileLayer]>
    private let views: Lock<[TileView]>
    private let stop = StressFlag()
    private let interruption: @Sendable () -> Bool
    private let longestCall = Atomic<Int64>(0)
    private let callbacks = Atomic<Int>(0)
    private let changes: Lock<StressChanges>
    private let ends = Lock(false)

    init(options: StressOptions, interruption: @escaping @Sendable () -> Bool) throws {
        self.options = options
        self.interruption = interruption
        let configuration = options.configuration()
        workers = configuration.workers
        cache = try TileCache(configuration)
        changes = Lock(StressChanges(limit: options.byteLimit / 4 * 3))
        var shared = StressShared(
            seed: SplitMix64.mixed(options.seed),
            faults: options.faults,
            findings: findings,
            // Each takes a spare worker; there are three for each worker, and stalls need some too.
            blocker: StressBlocker(configuration.workers),
            features: options.features
        )
        if options.features.contains(.stores) {
            shared.stores = [true, false].map { [shared] in
                StressStore(seed: shared.seed ^ ($0 ? 1 : 2), hasFilter: $0, calm: shared.calm)
            }
        }
        self.shared = shared
        let checker = StressChecker(findings: findings)
        self.checker = checker
        let first = try StressLayer.Kind.allCases.map { [shared, cache] kind in
            try checker.add { number in
                let size = number == 1 ? 128 : 64
                let layer = try StressLayer(number: number, kind: kind, tileSize: size, shared: shared)
                return (layer, try layer.add(to: cache))
            }
        }
        layers = Lock(first)
        views = Lock([cache.makeView(layers: first), cache.makeView(layers: [first[0], first[3]])])
    }

    // MARK: - For threads

    var isOver: Bool { stop.isUp || interruption() }
    var isInterrupted: Bool { !stop.isUp && interruption() }
    func end() { stop.raise() }

    func layer(_ draw: UInt64) -> TileLayer { layers.withLock { $0[(draw >> 3).below($0.count)] } }
    var allLayers: [TileLayer] { layers.withLock { $0.map { $0 } } }
    func sharedView(_ draw: UInt64) -> TileView { views.withLock { $0[draw.below($0.count)] } }

    func makeView(_ draw: UInt64) -> TileView {
        let selection = TileLevelSelection(bias: Double(draw % 3) / 4, hysteresis: draw % 5 == 0 ? 0.3 : 0)
        return cache.makeView(layers: Set(someLayers(draw)).sorted { $0.id < $1.id }, selection: selection)
    }

    /// One to three layers, perhaps with repetitions.
    private func someLayers(_ draw: UInt64) -> [TileLayer] {
        let all = allLayers
        return (0..<1 + (draw >> 10).below(3)).map { all[((draw >> 3) + UInt64($0)).below(all.count)] }
    }

    @discardableResult
    func look(at view: TileView) -> TileFrame { checker.look(at: view) }

    /// Times a call that must not wait for others, and keeps the maximum.
    func timed(_ call: () -> Void) {
        let start = MonotonicTime.now.nanoseconds
        call()
        longestCall.max(MonotonicTime.now.nanoseconds - start, ordering: .relaxed)
    }

    func callback(of view: TileView?, _ draw: UInt64) {
        callbacks.wrappingAdd(1, ordering: .relaxed)
        if ends.withLock({ $0 }) { findings.note(.shutdown, "a callback began after the cache had been shut down") }
        if draw % 4 == 0, let view { look(at: view) }
        if draw % 64 == 0 { StressLayer.stall(1 << 20) }
    }

    func invalidate(_ draw: UInt64, _ change: StressHistory.Change) {
        let layer = layer(draw)
        checker.all[layer.id.serial].history.change(change) {
            layer.invalidate(region: change.region, keepsStale: change.keepsStale)
        }
    }

    func setLimit(quarters: Int) {
        let limit = options.byteLimit / 4 * quarters
        changing(to: limit) { cache.byteLimit = .bytes(limit) }
    }

    func note(pressure level: MemoryPressureLevel) {
        // A part of the limit, or all of it again.
        changing(to: cache.byteLimit.bytes) { cache.noteMemoryPressure(level) }
    }

    private func changing(to limit: Int = 0, _ body: () -> Void) {
        changes.withLock { $0.begin(limit: limit) }
        body()
        changes.withLock { $0.end() }
    }

    func pin(_ a: UInt64, _ b: UInt64) {
        let level = a.below(5)
        let (x, y) = (a.unit * 4000, b.unit * 4000)
        let region = PixelRect(minX: x, minY: y, maxX: x + 300, maxY: y + 200)
        // More than half of the limit is refused, which is valid.
        try? layer(b).pin(levels: 0...level, region: level > 1 ? region : nil)
    }

    func unpin(_ a: UInt64) { layer(a).unpin() }

    func addLayer(_ draw: UInt64) {
        changing {
            let count = allLayers.count
            let added = try? checker.add { place in
                guard count < Self.mostLayers, place < Self.mostLayersEver else { throw StressError.enough }
                let kind = StressLayer.Kind.allCases[draw.below(StressLayer.Kind.allCases.count)]
                let size = draw % 3 == 0 ? 32 : 64
                let layer = try StressLayer(number: place, kind: kind, tileSize: size, shared: shared)
                return (layer, try layer.add(to: cache))
            }
            if let added { layers.withLock { $0.append(added) } }
        }
    }

    /// Removes a layer that was added later; the first ones stay to the end.
    func removeLayer(_ draw: UInt64) {
        let first = StressLayer.Kind.allCases.count
        let gone = layers.withLock { layers -> TileLayer? in
            layers.count > first ? layers.remove(at: first + draw.below(layers.count - first)) : nil
        }
        gone?.remove()
    }

    func setLayers(_ draw: UInt64) { sharedView(draw).layers = someLayers(draw) }

    func prefetch(_ a: UInt64, _ b: UInt64) {
        let level = a.below(7)
        let tiles = (0..<4).map {
            TileCoordinate(level: level, column: b.below(1 << level) + $0, row: a.below(1 << level))
        }
        layer(b).prefetch(tiles)
    }

    /// Requests a tile; its pixels are checked whenever they come.
    func fetch(_ a: UInt64, _ b: UInt64, on queue: DispatchQueue) -> TileFetch {
        let level = b.below(7)
        let tile = TileCoordinate(level: level, column: a.below(1 << level), row: (b >> 20).below(1 << level))
        let known = checker.completed()
        let check = { @Sendable [checker] (outcome: TileFetch.Outcome) in
            if case .pixels(let tile) = outcome { checker.check(tile, known) }
        }
        let rank: TileFetch.Rank = a % 2 == 0 ? .visible : .margin
        let fetch = layer(b).fetch(tile, rank: rank, on: queue, check)
        if let outcome = fetch.outcome { check(outcome) }
        return fetch
    }

    func borrow(_ a: UInt64, _ b: UInt64, _ c: UInt64) {
        let layer = layer(a)
        let level = b.below(8)
        let tile = TileCoordinate(level: level, column: (b >> 20).below((1 << level) + 1), row: c.below(1 << level))
        let known = checker.completed()
        _ = layer.withTile(tile) { checker.check($0, layer: layer.id.serial, tile, isStale: true, known) }
    }

    func ask(_ a: UInt64, _ b: UInt64) {
        if a % 3 == 0 {
            _ = cache.statistics.description
        } else {
            let level = b.below(9)
            _ = layer(a).isResident(TileCoordinate(level: level, column: a.below(300), row: b.below(99)))
        }
    }

    // MARK: - Watching

    func sampleLedger(_ ledger: inout StressLedger) {
        let before = changes.withLock { $0.takeSample() }
        let statistics = cache.statistics
        let after = changes.withLock { $0 }
        let problem = ledger.observe(
            used: statistics.memory.used.bytes,
            limit: statistics.memory.limit.bytes,
            highest: max(before.highest, after.highest),
            changes: before.underway == 0 && before.begun == after.begun ? before.begun : nil
        )
        if let problem { findings.note(.ledger, problem) }
        if let contradiction = statistics.contradictions.first { findings.note(.counters, contradiction) }
        let breaches = cache.counters.limitBreaches
        if breaches > 0 { findings.note(.ledger, "the pool itself has seen \(breaches) breaches of its limit") }
    }

    var longestCallNanoseconds: Int64 { longestCall.load(ordering: .relaxed) }
    var callbackCount: Int { callbacks.load(ordering: .relaxed) }

    /// No callback may begin from now on.
    func noteEnd() { ends.withLock { $0 = true } }

    func dropViews() {
        let gone = views.withLock { views in
            defer { views = [] }
            return views.map { $0 }
        }
        withExtendedLifetime(gone) {}
    }
}

private enum StressError: Error { case enough }
