import Dispatch

/// A cache of decoded and compressed tiles under one byte limit, filled ahead of need.
///
/// A renderer creates one cache, adds its layers and creates a view for each viewport. For each frame it updates the
/// viewport (``TileView/update(_:at:destination:)``) and draws the result of ``TileView/frame()``. All methods may be
/// called from any thread.
///
/// A child of `fork()` has none of its parent's threads. If the parent had created a cache, creating caches and adding
/// layers throw in the child, updates do nothing and frames are empty. `fork()` followed by `exec` is safe.
public final class TileCache: Sendable {
    /// Settings of a cache.
    public struct Configuration: Sendable {
        /// Byte limit for everything: decoded and compressed tiles, loads in flight, tables and scratch memory. See
        /// ``ByteCount/automatic`` for a default.
        public var byteLimit: ByteCount
        /// Largest ``TileCache/byteLimit`` that can be set later, `byteLimit` or more. Default: `nil`, four times
        /// `byteLimit`. Reserves addresses, not memory.
        public var maximumByteLimit: ByteCount?
        /// Threads that call sources, decode and compress, 1...255. Default: 4. A blocking source has at most as many loads
        /// at a time; for an asynchronous one see ``TileSource/loadsInFlight``.
        public var workers: Int
        /// Whether cold tiles are compressed before they are evicted. Default: `true`.
        public var usesCompressedTier = true
        /// Fraction of the limit, 0...1, for the compressed tier if both tiers compete. Default: `nil`, adapts to the
        /// traffic.
        public var compressedShare: Double?
        /// How much is prefetched, from 0 (nothing) to 1 (every tile that may be used). Default: 0.5. Less saves
        /// battery and network, more avoids blank screens.
        public var effort = 0.5
        /// Expected duration of a load until some have been measured, 0 to an hour. Default: 40 ms.
        public var expectedLoadLatency = Duration.milliseconds(40)
        /// Back-off after a tile's first failure, more than 0, at most a minute. Doubles with each failure, up to a
        /// minute. Default: 0.5 s.
        public var retryDelay = Duration.milliseconds(500)
        /// Duration after which a load counts as stuck, 1 ms or more. Default: 10 s. Another worker then replaces its
        /// worker; if it is a request, another request takes its place. The load continues, and its tile is accepted when
        /// it arrives. If all workers are busy and another layer that misses tiles has neither a worker nor a request in
        /// flight, a worker is replaced after a tenth of this time.
        public var stuckLoadTime = Duration.seconds(10)
        /// Duration after which a call of ``TileView/onTilesReady`` counts as slow, 0 or more. Default: 0.1 s.
        public var slowCallbackTime = Duration.milliseconds(100)
        /// Whether a view draws a coarser level if its needed tiles exceed the limit, alone or together with those of
        /// other views. Default: `true`.
        public var fitsLevelToBudget = true

        package var usesValues = true
        package var grantsBookkeeping = false
        /// Whether stores are asked to keep to a part of the limit. Off in tests whose limit is the size of the buffers.
        package var limitsStores = true
        package var clock: @Sendable () -> Int64 = { MonotonicTime.now.nanoseconds }
        /// Seconds since 1970, for the expiry of stored tiles.
        package var wallClock: @Sendable () -> Int64 = wallClockSeconds
        package var executor = Executor()
        /// Bytes of a page of memory, a multiple of the system's.
        package var pageBytes = MemoryRegion.systemPageBytes

        /// Creates a configuration.
        public init(byteLimit: ByteCount, workers: Int = 4) {
            self.byteLimit = byteLimit
            self.workers = workers
        }
    }

    let core: CacheCore

    /// Creates a cache and its workers. Nothing is loaded until a view is updated.
    ///
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if a setting is out of its range, or in a child of `fork()`;
    ///   ``TileCacheError/outOfMemory(size:)`` if the system denies the addresses.
    public init(_ configuration: Configuration) throws(TileCacheError) {
        core = try CacheCore(configuration: configuration)
    }

    /// Creates a cache with the defaults.
    ///
    /// - Parameters:
    ///   - byteLimit: Byte limit for everything.
    ///   - workers: As ``Configuration/workers``, 1...255. Default: 4.
    /// - Throws: As ``init(_:)``.
    public convenience init(byteLimit: ByteCount, workers: Int = 4) throws(TileCacheError) {
        try self.init(Configuration(byteLimit: byteLimit, workers: workers))
    }

    deinit { _ = core.shutDown(within: 0) }

    // MARK: - Layers and views

    /// Adds a layer with a blocking source.
    ///
    /// - Throws: ``TileCacheError/invalidLayer(_:)`` if a tile is larger than the limit or than can be addressed, an
    ///   option is out of its range, the limit has no room for tables or what stores and source hold, or there are
    ///   65,536 layers already; ``TileCacheError/outOfMemory(size:)`` if the system denies the addresses;
    ///   ``TileCacheError/isShutDown``; ``TileCacheError/invalidConfiguration(_:)`` in a child of `fork()`.
    public func addLayer(
        _ source: any BlockingTileSource,
        pyramid: TilePyramid,
        options: LayerOptions = LayerOptions()
    ) throws(TileCacheError) -> TileLayer {
        TileLayer(try core.addLayer(.blocking(source), pyramid: pyramid, options: options), of: core)
    }

    /// Adds a layer with an asynchronous source.
    ///
    /// - Throws: As for a blocking source; also if its ``TileSource/loadsInFlight`` are not within 1...255.
    public func addLayer(
        _ source: any TileSource,
        pyramid: TilePyramid,
        options: LayerOptions = LayerOptions()
    ) throws(TileCacheError) -> TileLayer {
        TileLayer(try core.addLayer(.asynchronous(source), pyramid: pyramid, options: options), of: core)
    }

    /// Creates a view of some layers. It is removed from the cache with its last reference.
    ///
    /// - Parameters:
    ///   - layers: In the order of drawing; those of another cache are ignored, and a layer counts once.
    ///   - selection: How levels are chosen. Default: 1:1 or finer.
    public func makeView(layers: [TileLayer], selection: TileLevelSelection = TileLevelSelection()) -> TileView {
        let memory = core.read { $0.pool.ledger.limit } / 16
        return makeView(layers: layers, selection: selection) { profile in
            AdaptivePolicy(memory: memory, profile: profile)
        }
    }

    package func makeView(
        layers: [TileLayer],
        selection: TileLevelSelection,
        policy: @escaping @Sendable () -> any PrefetchPolicy
    ) -> TileView {
        makeView(layers: layers, selection: selection) { _ in policy() }
    }

    private func makeView(
        layers: [TileLayer],
        selection: TileLevelSelection,
        policy: @escaping @Sendable (PrefetchProfile?) -> any PrefetchPolicy
    ) -> TileView {
        let fits = core.configuration.fitsLevelToBudget
        let place = core.perform { state in
            state.views.add(ViewModel(layers: [], selection: selection, fitsBudget: fits))
        }
        core.setLayers(layers.map(\.id), ofView: place, policy)
        return TileView(core: core, id: place, makePolicy: policy)
    }

    // MARK: - Upkeep

    /// Evicts tiles, coldest first, until at most `size` is in use. Returns memory to the system. Leased and pinned
    /// tiles stay.
    public func trim(to size: ByteCount) { core.trim(toBytes: size.bytes) }

    /// The byte limit. A lower one evicts tiles at once, leased ones when they are released.
    ///
    /// A higher one is clamped to the configuration's `maximumByteLimit`; if that was not set and the system denied the
    /// addresses for it, to the configuration's `byteLimit`. Under memory pressure (``noteMemoryPressure(_:)``) only a
    /// part of it is in force: ``TileCacheStatistics/MemoryUse/limit``.
    public var byteLimit: ByteCount {
        get { .bytes(core.read { $0.fullByteLimit }) }
        set { core.setByteLimit(newValue.bytes) }
    }

    /// Reports memory pressure that the program detected itself, instead of a ``MemoryPressureMonitor``.
    ///
    /// One call is enough, such as in a handler of the system's warnings: a report expires. A warning halves the limit in
    /// force, critical pressure quarters it. Five seconds after the last report of pressure the limit begins to grow back
    /// by half of its size at a time, five seconds apart: it is whole again 10 seconds after a warning and 20 seconds
    /// after critical pressure. While the pressure lasts, call it again at least every four seconds. `normal` is not
    /// needed, and neither ends a report before its time nor that of a ``MemoryPressureMonitor``.
    public func noteMemoryPressure(_ level: MemoryPressureLevel) { core.notePressure(level) }

    /// Statistics of the cache.
    public var statistics: TileCacheStatistics { core.statistics() }

    /// Ends all work: cancels requests and ends callbacks; leased frames stay valid.
    ///
    /// Within a callback, a cancel handler or a source it does not wait, and returns `true`.
    ///
    /// - Parameter timeout: Maximum wait for running loads; 0 or less does not wait. Default: 2 s. A source that blocks
    ///   forever keeps its worker's thread and the memory that it may write to, nothing else.
    /// - Returns: Whether everything had ended by then.
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
        try expect("a retry delay", retryDelay, .nanoseconds(1), .seconds(60))
        try expect("a stuck load time", stuckLoadTime, .milliseconds(1))
        try expect("a slow callback time", slowCallbackTime, .zero)
        var pool = PoolConfiguration(byteLimit: byteLimit.bytes)
        pool.maximumByteLimit = maximumByteLimit?.bytes ?? min(byteLimit.bytes * 4, 1 << 46)
        pool.eviction = usesValues ? .value : .recency
        pool.compressedTier = usesCompressedTier
        pool.compressedShare = compressedShare
        pool.grantsBookkeeping = grantsBookkeeping
        pool.workers = workers
        pool.pageBytes = pageBytes
        pool.retryDelay = retryDelay.nanoseconds
        pool.maximumCodecJobs = SystemMemory.processorCount
        // Each costs an idle queue. The system has threads for some 500 blocked queues.
        pool.spareWorkers = min(max(3 * workers, 15), 255 - workers)
        pool.expectedLoadTime = expectedLoadLatency.nanoseconds
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
    /// Waits of loads for a worker, for reports.
    package var loadWaits: (demand: DurationHistogram, prefetch: DurationHistogram) {
        core.read { ($0.times.demand, $0.times.prefetch) }
    }

    /// Largest ``byteLimit`` that can be set. Does not change.
    package var maximumByteLimit: ByteCount { .bytes(core.read { $0.pool.maximumByteLimit }) }

    /// Counters of the pool, for reports.
    package var counters: PoolCounters { core.read { $0.pool.counters } }

    /// Number of lock acquisitions, and of tiles examined for eviction.
    package var costs: (acquisitions: Int, evictionSteps: Int) {
        core.read { (Int($0.acquisitions), $0.pool.evictionSteps) }
    }
}
