import Dispatch
import Synchronization

/// Layers, limits and statistics.
extension CacheCore {
    func addLayer(_ source: AnySource, pyramid: TilePyramid, options: LayerOptions) throws(TileCacheError) -> LayerID {
        guard !isForked else { throw .forked }
        var levelBytes = try NewLayer.levelBytes(of: pyramid, options.format)
        let tileBytes = levelBytes.max() ?? 0
        if levelBytes.allSatisfy({ $0 == tileBytes }) { levelBytes = [] }
        let synthesis = try LevelSynthesis(pyramid: pyramid, options: options, pageBytes: configuration.pageBytes)
        // The limit refuses larger tiles below.
        let slotBytes = min(tileBytes, 1 << 46).roundedUp(toPages: configuration.pageBytes)
        let (limit, maximum, codecs, hasSlots) = read { state in
            (
                state.pool.ledger.limit, state.pool.maximumByteLimit,
                state.usesCompressedTier && options.isCompressible ? state.codecs : nil,
                state.pool.slots.has(slotBytes: slotBytes)
            )
        }
        guard tileBytes <= limit else {
            throw .invalidLayer("a tile takes \(tileBytes) bytes, more than the limit of \(limit)")
        }
        guard options.maximumShare > 0, options.maximumShare <= 1 else {
            throw .invalidLayer("a maximum share of more than 0 to 1 is expected, not \(options.maximumShare)")
        }
        if let problem = options.prefetch.problem { throw .invalidLayer(problem) }
        let loadsInFlight = source.loadsInFlight
        if let problem = loadsInFlight?.problem { throw .invalidLayer(problem) }
        let tiers = try makeTiers(pyramid: pyramid, options: options)
        if let tiers { limitStores(with: tiers.stores) }
        // Of a layer that is refused.
        defer { if let tiers { releaseStores(tiers.stores) } }
        // Address ranges and scratch memory are reserved without the lock, and released if they are not needed.
        let new = NewLayer(
            source: source,
            pyramid: pyramid,
            options: options,
            loadsInFlight: loadsInFlight,
            levelBytes: levelBytes,
            tileBytes: tileBytes,
            slotBytes: slotBytes,
            synthesis: synthesis,
            tiers: tiers,
            isCompressible: codecs != nil,
            storeBytes: newStoreBytes(tiers),
            sourceBytes: newSourceBytes(source),
            region: hasSlots ? nil : try slotRegion(slotBytes: slotBytes, limit: limit, maximum: maximum),
            codecs: codecs.map { $0.tileBytes < tileBytes ? $0.make(tileBytes: tileBytes, limit: limit) : [] } ?? []
        )
        makeRoom(for: new.chargedBytes)
        let added = perform { $0.add(new) }
        // The codecs that were large enough may have gone with another layer meanwhile.
        if let codecs, codecs.tileBytes >= tileBytes, read({ $0.codecs.tileBytes < tileBytes }) { fitCodecs() }
        if let added { return try added.get() }
        return try addLayer(source, pyramid: pyramid, options: options)
    }

    /// Reserves addresses for slots of the highest limit. If the system refuses, of the present one.
    private func slotRegion(slotBytes: Int, limit: Int, maximum: Int) throws(TileCacheError) -> MemoryRegion {
        if let region = MemoryRegion(byteCount: maximum / slotBytes * slotBytes) { return region }
        guard configuration.maximumByteLimit == nil, limit >= slotBytes,
            let region = MemoryRegion(byteCount: limit / slotBytes * slotBytes)
        else { throw .outOfMemory(size: .bytes(maximum)) }
        return region
    }

    private func makeTiers(pyramid: TilePyramid, options: LayerOptions) throws(TileCacheError) -> LayerTiers? {
        guard let stores = options.stores, !stores.stores.isEmpty else { return nil }
        guard stores.stores.count <= 32 else {
            throw .invalidLayer("a layer has at most 32 stores, not \(stores.stores.count)")
        }
        guard stores.dataSet.contains(where: { !$0.isEmpty }) else {
            throw .invalidLayer("stores need a name of the layer's data")
        }
        let time = configuration.expectedLoadLatency.nanoseconds
        return LayerTiers(stores, pyramid: pyramid, options: options, expectedTime: time)
    }

    /// Bytes of stores that no layer has named before.
    private func newStoreBytes(_ tiers: LayerTiers?) -> Int {
        guard let tiers else { return 0 }
        let known = read { $0.layers.stores }
        var new: [any TileStore] = []
        for store in tiers.stores where !(known + new).contains(where: { $0 === store }) { new.append(store) }
        return new.memorySize.bytes
    }

    func invalidate(_ layer: LayerID, region: PixelRect?, keepsStale: Bool) {
        guard let (pyramid, tiers) = read({ $0.record(of: layer).map { ($0.pyramid, $0.tiers) } }) else { return }
        let ranges = region.map { region in
            pyramid.levels.indices.map { pyramid.range(overlapping: region, at: $0) }
        }
        let removable = tiers?.removable(ranges)
        let isAffected = { (tile: TileCoordinate) -> Bool in ranges?[tile.level].contains(tile) ?? true }
        // The layer may be removed between any two steps, and its index reused.
        // `shutdown` waits for what the stores still have to do.
        activity.enter()
        let begun = perform { state -> (entries: Int, pages: Range<Int32>, stored: LayerTiers.Invalidation?)? in
            guard state.record(of: layer) != nil else { return nil }
            let (entries, pages) = state.pool.beginInvalidation(layer: layer.index, where: isAffected)
            if let tiers { state.stores.beginInvalidation(of: tiers.namespace) }
            return (entries, pages, tiers?.invalidate(removable, isWhole: ranges == nil))
        }
        if let tiers, let stored = begun?.stored { persist(stored, of: tiers) } else { activity.leave() }
        guard let begun else { return }
        // Tiles of a small region are looked up; for a larger one, the table is walked.
        let regionTiles = ranges?.tileCount ?? .infinity
        if let ranges, regionTiles <= Double(begun.entries) {
            ranges.joined().forEachPart(of: PoolState.stepsAtOnce) { tiles in
                perform { state in
                    guard state.record(of: layer) != nil else { return }
                    state.pool.invalidate(tiles: tiles, layer: layer.index, dropsAtOnce: !keepsStale)
                }
            }
        } else {
            walk(begun.pages) { state, some in
                guard state.record(of: layer) != nil else { return false }
                state.pool.invalidate(onPages: some, layer: layer.index, dropsAtOnce: !keepsStale, where: isAffected)
                return true
            }
        }
        let requested = perform { state -> Set<TileKey> in
            guard state.record(of: layer) != nil else { return [] }
            state.pool.endInvalidation(layer: layer.index)
            return state.interests.requestedTiles(ofLayer: layer.index)
        }
        // Requests that the invalidation has kept waiting, though it did not affect their tiles.
        requested.forEachPart(of: PoolState.stepsAtOnce) { tiles in
            perform { state in
                guard state.record(of: layer) != nil else { return }
                for tile in tiles { state.settleFetches(of: tile) }
            }
        }
    }

    /// Makes room for a later charge, in steps that release the lock in between.
    func makeRoom(for bytes: Int) { while perform({ $0.pool.prepareCharge(of: bytes) }) {} }

    /// Walks pages of the table in steps, while `body` returns true. Releases the lock in between.
    func walk(_ pages: Range<Int32>, _ body: (inout CoreState, Range<Int32>) -> Bool) {
        var rest = pages
        let count = read { max(Int32(PoolState.stepsAtOnce / $0.pool.table.entriesPerPage), 1) }
        while !rest.isEmpty {
            let some = rest.lowerBound..<min(rest.lowerBound + count, rest.upperBound)
            guard perform({ body(&$0, some) }) else { return }
            rest = some.upperBound..<rest.upperBound
        }
    }

    func trim(toBytes bytes: Int) {
        while perform({ $0.pool.trim(toBytes: max(bytes, 0), steps: PoolState.stepsAtOnce) }) {}
        // What is drawn for tiles that will not come, and margins, may have been evicted too.
        perform { $0.pool.noteDemand() }
    }

    func setByteLimit(_ bytes: Int) {
        changeLimit { state in
            state.setFullByteLimit(bytes)
            return true
        }
    }

    /// Moves the pool to a changed limit, in steps that release the lock in between.
    ///
    /// - Parameter change: Returns whether the limit may have changed.
    func changeLimit(_ change: @Sendable (inout CoreState) -> Bool) {
        let now = clock()
        let begun = perform { state -> Bool? in
            guard !state.isShutDown, change(&state) else { return nil }
            let limit = state.pressure.bytes(of: state.fullByteLimit)
            state.shrinkCodecs(toLimit: limit)
            return state.pool.setByteLimit(limit, steps: PoolState.stepsAtOnce)
        }
        guard var goesOn = begun else { return }
        while goesOn { goesOn = perform { $0.pool.settleLimit() } }
        fitCodecs()
        limitStoresLater()
        let views = read { $0.views.count }
        for place in 0..<views { perform { $0.refit(view: place, now: now) } }
        perform { $0.pool.noteDemand() }
    }

    /// Makes codecs for the largest compressible tile, as many as the limit allows.
    func fitCodecs() {
        let (codecs, largest, limit) = read { state in
            (state.codecs, state.largestCompressibleTile, state.pool.ledger.limit)
        }
        var made = largest != codecs.tileBytes && largest > 0 ? codecs.make(tileBytes: largest, limit: limit) : []
        if made.isEmpty { made = codecs.make(codecs.missing(limit: limit), tileBytes: codecs.tileBytes, limit: limit) }
        makeRoom(for: made.scratchByteCount)
        perform { state in
            state.dropUnneededCodecs()
            state.adoptCodecs(made)
        }
    }

    func statistics() -> TileCacheStatistics {
        let now = clock()
        let (slow, longest) = callbacks.withLock { $0.figures(at: now) }
        return read { state in
            var figures = TileCacheStatistics(of: state.pool)
            figures.countAges(ofLoads: state.pool.loads, at: now, stuckAfter: stuckLoadTime)
            (figures.pan, figures.zoom) = (state.views.pan, state.views.zoom)
            figures.loads.secondAnswers = secondAnswers.load(ordering: .relaxed)
            figures.memory.shortfall = .bytes(state.views.shortfallBytes)
            figures.meanLoadTime = .nanoseconds(state.times.mean)
            figures.demandWaits = state.times.demand.summary
            figures.prefetchWaits = state.times.prefetch.summary
            figures.blockedWorkers = state.workers.blocked(before: now - stuckLoadTime)
            figures.slowCallbacks = slow
            figures.longestCallback = .nanoseconds(longest)
            figures.refusedViewports = state.views.refusedViewports
            figures.synthesis = state.synthesis.counts
            figures.stores = state.stores.counts(of: state.layers)
            return figures
        }
    }
}
