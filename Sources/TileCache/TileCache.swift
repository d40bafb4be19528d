import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A cache of decoded and compressed tiles under one hard byte limit, filled ahead of need.
///
/// A renderer makes one cache, adds its layers, makes a view for each viewport, and for each frame says where the
/// viewport is (``TileView/update(_:at:destination:)``) and draws what ``TileView/frame()`` returns. All methods may be
/// called from any thread.
///
/// A child of `fork()` has none of its parent's threads. Once the parent has made a cache, the child can make none and add
/// no layers, which throw; updates do nothing there and frames are empty. `fork()` with `exec` does no harm.
public final class TileCache: Sendable {
    /// How a cache is set up.
    public struct Configuration: Sendable {
        /// Bytes of everything: decoded and compressed tiles, loads in flight, tables and scratch memory.
        /// ``ByteCount/automatic`` is for those who choose none.
        public var byteLimit: ByteCount
        /// The largest ``TileCache/byteLimit`` while the cache runs, `byteLimit` or more. Default: `nil`, four times
        /// `byteLimit`. Costs addresses, no memory.
        public var maximumByteLimit: ByteCount?
        /// Concurrent loads, 1...255. Default: 4.
        public var workers: Int
        /// Workers reserved for demand loads, 0..<`workers`; prefetches never take them. Default: 0.
        public var reservedWorkers: Int
        /// Whether cold tiles are compressed before they are evicted. Default: `true`.
        public var usesCompressedTier = true
        /// Fraction of the limit, 0...1, for the compressed tier when both tiers compete. Default: `nil`, adapts to the
        /// traffic.
        public var compressedShare: Double?
        /// Eagerness of prefetching, from 0 (no prefetches) to 1 (whatever may be of use). Default: 0.5. Less saves
        /// battery and network, more saves blank screens.
        public var effort = 0.5
        /// The time of a load until some have been measured, 0 to an hour. Default: 40 ms.
        public var expectedLoadLatency = Duration.milliseconds(40)
        /// The first wait before a failed tile is retried, more than 0, at most a day; doubled with each failure.
        /// Default: 0.5 s.
        public var retryDelay = Duration.milliseconds(500)
        /// The time after which a load counts as stuck and another worker replaces its worker, 1 ms or more. Default:
        /// 10 s. The load goes on, and its tile is taken when it comes.
        public var stuckLoadTime = Duration.seconds(10)
        /// The time after which a call of ``TileView/onTilesReady`` counts as slow, 0 or more. Default: 0.1 s.
        public var slowCallbackTime = Duration.milliseconds(100)
        /// Whether a view whose needed tiles do not fit the limit draws a coarser level. Default: `true`.
        public var fitsLevelToBudget = true

        package var usesValues = true
        package var grantsBookkeeping = false
        package var clock: @Sendable () -> Int64 = { MonotonicTime.now.nanoseconds }
        package var executor = Executor()

        /// Makes a configuration.
        public init(byteLimit: ByteCount, workers: Int = 4, reservedWorkers: Int = 0) {
            self.byteLimit = byteLimit
            self.workers = workers
            self.reservedWorkers = reservedWorkers
        }
    }

    let core: CacheCore
    private let configuration: Configuration

    /// Makes a cache and its workers; nothing runs until a view is updated.
    ///
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if a setting is out of its range, or in a child of `fork()`;
    ///   ``TileCacheError/outOfMemory(bytes:)`` if the system denies the addresses.
    public init(_ configuration: Configuration) throws(TileCacheError) {
        self.configuration = configuration
        core = try CacheCore(configuration: configuration)
    }

    /// Makes a cache with the defaults.
    ///
    /// - Parameters:
    ///   - byteLimit: bytes of everything.
    ///   - workers: concurrent loads, 1...255. Default: 4.
    /// - Throws: as ``init(_:)``.
    public convenience init(byteLimit: ByteCount, workers: Int = 4) throws(TileCacheError) {
        try self.init(Configuration(byteLimit: byteLimit, workers: workers))
    }

    deinit { _ = core.shutDown(within: 0) }

    // MARK: - Layers and views

    /// Adds a layer whose source is a blocking function.
    ///
    /// - Throws: ``TileCacheError/invalidLayer(_:)`` if a tile is larger than the limit or than can be addressed, or if there
    ///   are 65,536 layers already.
    public func addLayer(
        _ source: any BlockingTileSource,
        pyramid: TilePyramid,
        options: LayerOptions = LayerOptions()
    ) throws(TileCacheError) -> LayerID {
        try core.addLayer(.blocking(source), pyramid: pyramid, options: options)
    }

    /// Adds a layer whose source answers when it can.
    ///
    /// - Throws: ``TileCacheError/invalidLayer(_:)`` if a tile is larger than the limit or than can be addressed, or if there
    ///   are 65,536 layers already.
    public func addLayer(
        _ source: any TileSource,
        pyramid: TilePyramid,
        options: LayerOptions = LayerOptions()
    ) throws(TileCacheError) -> LayerID {
        try core.addLayer(.asynchronous(source), pyramid: pyramid, options: options)
    }

    /// Removes a layer: its loads are cancelled, its tiles evicted and its pins undone. Views show it no longer. Tiles that
    /// frames hold stay valid until they are released; a source that does not return keeps its worker and its tile's
    /// memory until it does. A layer of another cache, or one that is removed already, is ignored.
    public func removeLayer(_ layer: LayerID) { core.removeLayer(layer) }

    /// Makes a view of some layers. It is removed from the cache with its last reference.
    ///
    /// - Parameters:
    ///   - layers: in the order of drawing; those of another cache are ignored, and a layer counts once.
    ///   - selection: how levels are chosen. Default: 1:1 or finer.
    public func makeView(layers: [LayerID], selection: TileLevelSelection = TileLevelSelection()) -> TileView {
        let memory = core.read { $0.pool.ledger.limit } / 16
        return makeView(layers: layers, selection: selection) { AdaptivePolicy(memory: memory) }
    }

    package func makeView(
        layers: [LayerID],
        selection: TileLevelSelection,
        policy: @escaping @Sendable () -> any PrefetchPolicy
    ) -> TileView {
        let fits = configuration.fitsLevelToBudget
        let place = core.perform { state -> Int in
            let model = ViewModel(layers: [], selection: selection, fitsBudget: fits)
            let record = ViewRecord(serial: state.viewCount, model: model, callbackQueue: .main)
            state.viewCount += 1
            guard let place = state.freeViews.popLast() else {
                state.views.append(record)
                return state.views.count - 1
            }
            state.views[place] = record
            return place
        }
        core.setLayers(layers, ofView: place, policy)
        return TileView(core: core, id: place, makePolicy: policy)
    }

    // MARK: - Upkeep

    /// Says that tiles of a layer have changed at their source. Loads that began before never land; the old pixels go on
    /// being drawn, marked stale, until new ones land.
    ///
    /// - Parameters:
    ///   - layer: whose tiles.
    ///   - region: in world pixels; all of the layer unless given.
    ///   - keepsStale: `false` drops the old pixels at once, except where they are held.
    public func invalidate(_ layer: LayerID, region: PixelRect? = nil, keepsStale: Bool = true) {
        core.invalidate(layer, region: region, keepsStale: keepsStale)
    }

    /// Evicts tiles, coldest first, until no more than `size` is in use, and returns memory to the system. Leased and
    /// pinned tiles stay.
    public func trim(to size: ByteCount) { core.trim(toBytes: size.bytes) }

    /// The limit. A lower one takes effect at once for everything that nobody holds; what is held goes when it is let
    /// go. A higher one is clamped to the configuration's `maximumByteLimit`, and not taken where the system denies the
    /// memory for its tables. Under memory pressure
    /// (``noteMemoryPressure(_:)``) a part of it is in force, which ``TileCacheStatistics/MemoryUse/limit`` tells.
    public var byteLimit: ByteCount {
        get { .bytes(core.read { $0.fullByteLimit }) }
        set { core.setByteLimit(newValue.bytes) }
    }

    /// What the cache has done so far.
    public var statistics: TileCacheStatistics { core.statistics() }

    /// Ends all work: requests are cancelled, no callback begins afterwards, and leased frames stay valid. Within a
    /// callback, a cancel handler or a source it does not wait, and returns `true`.
    ///
    /// - Parameter timeout: the longest wait for loads that are under way; 0 or less does not wait. Default: 2 s. A source
    ///   that blocks for good keeps its worker's thread and the memory that it may write into, nothing else.
    /// - Returns: whether everything had ended in that time.
    @discardableResult
    public func shutdown(timeout: Duration = .seconds(2)) -> Bool { core.shutDown(within: max(timeout.nanoseconds, 0)) }
}

extension TileCache.Configuration {
    func poolConfiguration() throws(TileCacheError) -> PoolConfiguration {
        guard byteLimit.bytes > 0 else {
            throw .invalidConfiguration("a byte limit of 1 or more is expected, not \(byteLimit.bytes)")
        }
        guard byteLimit.bytes <= 1 << 46 else {
            throw .invalidConfiguration("a byte limit of at most 64 TiB is expected, not \(byteLimit.bytes)")
        }
        guard (1...255).contains(workers) else {
            throw .invalidConfiguration("1 to 255 workers are expected, not \(workers)")
        }
        guard (0..<workers).contains(reservedWorkers) || (workers == 1 && reservedWorkers == 0) else {
            throw .invalidConfiguration("0 to \(workers - 1) reserved workers are expected, not \(reservedWorkers)")
        }
        guard compressedShare.map({ (0...1).contains($0) }) ?? true else {
            throw .invalidConfiguration("a compressed share of 0 to 1 is expected, not \(compressedShare ?? 0)")
        }
        guard effort >= 0, effort <= 1 else {
            throw .invalidConfiguration("an effort of 0 to 1 is expected, not \(effort)")
        }
        if let most = maximumByteLimit, !(byteLimit...ByteCount.bytes(1 << 46)).contains(most) {
            throw .invalidConfiguration(
                "a maximum byte limit of \(byteLimit.bytes) to \(1 << 46) bytes is expected, not \(most.bytes)"
            )
        }
        try expect("an expected load latency", expectedLoadLatency, .zero, .seconds(3600))
        try expect("a retry delay", retryDelay, .nanoseconds(1), .seconds(86_400))
        try expect("a stuck load time", stuckLoadTime, .milliseconds(1))
        try expect("a slow callback time", slowCallbackTime, .zero)
        var pool = PoolConfiguration(byteLimit: byteLimit.bytes)
        pool.maximumByteLimit = maximumByteLimit?.bytes ?? min(byteLimit.bytes * 4, 1 << 46)
        pool.eviction = usesValues ? .value : .recency
        pool.compressedTier = usesCompressedTier
        pool.compressedShare = compressedShare
        pool.grantsBookkeeping = grantsBookkeeping
        pool.workers = workers
        pool.reservedWorkers = reservedWorkers
        pool.retryDelay = retryDelay.nanoseconds
        pool.maximumCodecJobs = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        return pool
    }

    private func expect(
        _ name: String,
        _ value: Duration,
        _ least: Duration,
        _ most: Duration? = nil
    ) throws(TileCacheError) {
        guard value < least || value > most ?? value else { return }
        let range = most.map { "\(least) to \($0)" } ?? "\(least) or more"
        throw .invalidConfiguration("\(name) of \(range) is expected, not \(value)")
    }
}

extension TileCache {
    /// How long loads waited for a worker, for reports.
    package var loadWaits: (demand: DurationHistogram, prefetch: DurationHistogram) {
        core.read { ($0.waits.demand, $0.waits.prefetch) }
    }

    /// The pool's own counters, for reports.
    package var counters: PoolCounters { core.read { $0.pool.counters } }

    /// How often the lock was taken, and tiles that searches for something to evict have looked at.
    package var costs: (acquisitions: Int, evictionSteps: Int) {
        core.read { (Int($0.acquisitions), $0.pool.evictionSteps) }
    }
}
