import Synchronization

/// What a renderer asks for beside frames: layers, floors, limits, figures.
extension CacheCore {
    func addLayer(
        _ source: AnySource,
        pyramid: TilePyramid,
        options: LayerOptions
    ) throws(TileCacheError) -> LayerID {
        guard !isForked else { throw .forked }
        var tileBytes = 0
        for (index, level) in pyramid.levels.enumerated() {
            guard let bytes = options.format.byteCount(width: level.pixelWidth, height: level.pixelHeight) else {
                throw .invalidLayer("the size of a tile of level \(index) overflows")
            }
            tileBytes = max(tileBytes, bytes)
        }
        let synthesis = try LevelSynthesis(pyramid: pyramid, options: options)
        let slotBytes = PoolState.slotBytes(for: tileBytes)
        let (limit, maximum, usesCodec, codecJobs, hasSlots) = lock.withLock { state in
            (
                state.pool.configuration.byteLimit, state.pool.maximumByteLimit,
                state.pool.configuration.compressedTier && options.isCompressible,
                tileBytes > state.codecTileBytes ? state.pool.configuration.maximumCodecJobs : -1,
                state.pool.slotClass(ofBytes: slotBytes) != nil
            )
        }
        guard tileBytes <= limit else {
            throw .invalidLayer("a tile takes \(tileBytes) bytes, more than the limit of \(limit)")
        }
        try check(options.share)
        // Addresses and scratch memory come before the lock, and go again if they are not needed.
        let region = hasSlots ? nil : try slotRegion(slotBytes: slotBytes, limit: limit, maximum: maximum)
        // Tables of the slots are made at once; the standard library traps if there is no memory for them.
        let tableBytes = hasSlots ? 0 : limit / slotBytes * 8
        guard MemoryRegion.isGranted(tableBytes) else { throw .outOfMemory(bytes: tableBytes) }
        let made = usesCodec ? makeCodecs(codecJobs + 1, tileBytes: tileBytes, limit) : []
        let added = perform { state -> LayerID? in
            // Another layer may have come since the check.
            guard state.canGuarantee(options.share), state.layers.count < TileKey.layerLimit else { return nil }
            state.guaranteedShares += options.share.guaranteed
            state.adoptCodecs(made)
            state.adopt(synthesis)
            let index = state.pool.addLayer(
                tileBytes: tileBytes,
                isCompressible: usesCodec && state.codecTileBytes >= tileBytes,
                reservesLate: source.reservesLate,
                share: options.share,
                slotCapacity: region.map { $0.byteCount / slotBytes }
            )
            let slotClass = state.pool.layers[index].slotClass
            if slotClass == state.slotRegions.count, let region { state.slotRegions.append(region) }
            state.layers.append(
                LayerRecord(
                    id: LayerID(index),
                    source: source,
                    pyramid: pyramid,
                    options: options,
                    tileBytes: tileBytes,
                    slotClass: slotClass,
                    synthesis: synthesis
                )
            )
            return LayerID(index)
        }
        guard let added else {
            try check(options.share)
            throw .invalidLayer("a cache holds \(TileKey.layerLimit) layers at most")
        }
        return added
    }

    /// Reserves addresses for slots: for the highest limit, or if the system denies them for the present one.
    private func slotRegion(slotBytes: Int, limit: Int, maximum: Int) throws(TileCacheError) -> MemoryRegion {
        if let region = MemoryRegion(byteCount: maximum / slotBytes * slotBytes) { return region }
        guard configuration.maximumByteLimit == nil, limit >= slotBytes,
            let region = MemoryRegion(byteCount: limit / slotBytes * slotBytes)
        else { throw .outOfMemory(bytes: maximum) }
        return region
    }

    private func check(_ share: LayerShare) throws(TileCacheError) {
        guard share.maximum > 0, share.maximum <= 1, share.guaranteed >= 0, share.guaranteed <= share.maximum else {
            throw .invalidLayer(
                "a share of more than 0 to 1, and of that a guaranteed part, are expected, "
                    + "not \(share.maximum) and \(share.guaranteed)"
            )
        }
        guard lock.withLock({ $0.canGuarantee(share) }) else { throw tooMuchGuaranteed(with: share) }
    }

    private func tooMuchGuaranteed(with share: LayerShare) -> TileCacheError {
        let sum = lock.withLock { $0.guaranteedShares } + share.guaranteed
        return .invalidLayer("the layers' guaranteed shares would be \(sum), more than 1")
    }

    /// One for each job at a time and one for the renderer's thread, but no more than a sixteenth of the limit; a single
    /// one may be more, but not so large that it would leave tiles no room. None where a tile is more than LZ4 takes.
    private func makeCodecs(_ count: Int, tileBytes: Int, _ limit: Int) -> [Transferred<TileCodec>] {
        var codecs: [Transferred<TileCodec>] = []
        while codecs.count < count, let codec = try? TileCodec(maximumTileBytes: tileBytes) {
            if (codecs.count + 1) * codec.scratchByteCount > (codecs.isEmpty ? limit / 4 : limit / 16) { break }
            codecs.append(Transferred(value: codec))
        }
        return codecs
    }

    func invalidate(_ layer: LayerID, region: Rectangle?, keepsStale: Bool) {
        perform { state in
            guard state.layers.indices.contains(layer.index) else { return }
            let pyramid = state.layers[layer.index].pyramid
            state.pool.invalidate(layer: layer.index, dropsAtOnce: !keepsStale) { tile in
                guard let region else { return true }
                return !pyramid.worldRectangle(of: tile).intersection(region).isEmpty
            }
        }
        requestPlan()
    }

    func addFloor(_ layer: LayerID, levels: ClosedRange<Int>, region: Rectangle?) throws(TileCacheError) {
        let problem = perform { state -> String? in
            guard state.layers.indices.contains(layer.index) else { return "the layer is not one of this cache" }
            let pyramid = state.layers[layer.index].pyramid
            guard levels.overlaps(0...pyramid.maximumLevel) else {
                return "the layer has levels 0 to \(pyramid.maximumLevel), not \(levels.lowerBound)"
            }
            let world = Rectangle(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)
            let ranges = levels.clamped(to: 0...pyramid.maximumLevel).map {
                pyramid.range(overlapping: region ?? world, at: $0)
            }
            let slotBytes = state.pool.slotBytes(ofLayer: layer.index)
            let floorBytes = state.floors.reduce(0) { $0 + state.pool.slotBytes(ofLayer: $1.layer) }
            let half = state.pool.configuration.byteLimit / 2
            var count = 0
            for range in ranges {
                let (tiles, overflow) = range.columns.count.multipliedReportingOverflow(by: range.rows.count)
                count += overflow ? half : min(tiles, half)
            }
            let (bytes, overflow) = count.multipliedReportingOverflow(by: slotBytes)
            guard !overflow, bytes <= half - floorBytes else {
                return
                    "the floors would take \(overflow ? .max : bytes + floorBytes) bytes, more than half of the limit"
            }
            let present = Set(state.floors)
            for tile in ranges.joined() {
                let key = TileKey(layer: layer.index, tile)
                guard !present.contains(key) else { continue }
                state.pool.setFloor(true, for: key)
                state.floors.append(key)
            }
            return nil
        }
        if let problem { throw .invalidConfiguration(problem) }
        requestPlan()
    }

    func removeFloors(_ layer: LayerID) {
        perform { state in
            for key in state.floors where key.layer == layer.index { state.pool.setFloor(false, for: key) }
            state.floors.removeAll { $0.layer == layer.index }
        }
        // What there was no room for beside them may come now.
        requestPlan()
    }

    func trim(toBytes bytes: Int) {
        let now = clock()
        perform { $0.pool.trim(toBytes: max(bytes, 0), now: now) }
        // Needed tiles may have gone, too.
        requestPlan()
    }

    func setByteLimit(_ bytes: Int) {
        let now = clock()
        // A higher limit takes larger tables at once.
        let tableBytes = lock.withLock { state in
            let more = min(bytes, state.pool.maximumByteLimit) - state.pool.configuration.byteLimit
            return state.pool.slots.reduce(0) { $0 + max(more, 0) / $1.slotBytes * 8 }
        }
        guard MemoryRegion.isGranted(tableBytes) else { return }
        perform { state in
            state.fullByteLimit = min(max(bytes, 1), state.pool.maximumByteLimit)
            state.pool.setByteLimit(state.pressure.bytes(of: state.fullByteLimit), now: now)
        }
        requestPlan()
    }

    func statistics() -> Statistics {
        let now = clock()
        let (slow, oldest) = callbacks.withLock { ($0.begun(before: now - slowCallbackTime), $0.oldest) }
        return lock.withLock { state in
            let counters = state.pool.counters
            var figures = Statistics()
            figures.pan = state.views.reduce(state.closedPan) { $0 + ($1?.model.pan ?? DemandCounts()) }
            figures.zoom = state.views.reduce(state.closedZoom) { $0 + ($1?.model.zoom ?? DemandCounts()) }
            figures.loadsStarted = counters.loadsStarted
            figures.loadsFinished = counters.loadsFinished
            figures.loadsAbsent = counters.loadsAbsent
            figures.loadsFailed = counters.loadsFailed
            figures.loadsCancelled = counters.loadsCancelled
            figures.loadsOutdated = counters.loadsOutdated
            figures.loadedBytes = counters.loadedBytes
            figures.loadsUnseen = counters.loadsUnseen
            figures.secondAnswers = state.secondAnswers
            figures.prefetchStarted = counters.prefetchStarted
            figures.prefetchUseful = counters.prefetchUseful
            figures.prefetchLate = counters.prefetchLate
            figures.prefetchWasted = counters.prefetchWasted
            figures.prefetchCancelled = counters.prefetchCancelled
            figures.demotions = counters.demotions
            figures.promotions = counters.promotions
            figures.incompressible = counters.storedRaw
            figures.damagedBlocks = counters.damagedBlocks
            figures.encodedPayloads = counters.encodedKept
            figures.undecodablePayloads = counters.undecodable
            figures.compressionRatio =
                counters.demotedBlockBytes == 0
                ? nil : Double(counters.demotedRawBytes) / Double(counters.demotedBlockBytes)
            for cause in RemovalCause.allCases { figures.removals[cause] = counters.removals[cause.rawValue] }
            figures.byteLimit = state.pool.configuration.byteLimit
            figures.usedBytes = state.pool.committedBytes
            figures.peakBytes = counters.peakBytes
            figures.decodedBytes = state.pool.slotUsedBytes
            figures.compressedBytes = state.pool.pages.usedBytes
            figures.inFlightBytes = state.pool.inFlightBytes + state.pool.heldBytes
            figures.bookkeepingBytes = state.pool.bookkeepingBytes
            figures.peakDecodedBytes = counters.peakDecodedBytes
            figures.peakCompressedBytes = counters.peakCompressedBytes
            figures.peakInFlightBytes = counters.peakInFlightBytes
            figures.decodedTiles = state.pool.decoded.count
            figures.compressedTiles = state.pool.compressed.count + state.pool.solid.count
            let unseen = state.pool.unseen
            figures.unseenTiles = unseen.all
            figures.unseenPrefetchedTiles = unseen.prefetched
            figures.loadsInFlight = state.pool.loadCount
            figures.meanLoadNanoseconds = state.meanLatency
            figures.demandWaits = state.waits.demand.summary
            figures.prefetchWaits = state.waits.prefetch.summary
            for case let load? in state.pool.loads {
                let age = now - load.started
                figures.oldestLoadNanoseconds = max(figures.oldestLoadNanoseconds, age)
                if load.isWrittenOff || age > stuckLoadTime { figures.stuckLoads += 1 }
            }
            figures.blockedWorkers = state.insideSince.count { $0 != -1 && now - $0 > stuckLoadTime }
            figures.slowCallbacks = state.slowCallbacks + slow
            figures.longestCallbackNanoseconds = max(state.longestCallback, oldest.map { now - $0 } ?? 0)
            figures.refusedViewports = state.views.reduce(state.refusedViewports) { $0 + ($1?.refusedViewports ?? 0) }
            for key in state.floors where state.pool.residency(of: key).isDecoded {
                figures.floorTiles += 1
                figures.floorBytes += state.pool.slotBytes(ofLayer: key.layer)
            }
            figures.synthesizedTiles = state.synthesis.tiles
            figures.synthesisLoads = state.synthesis.loads
            figures.synthesisHoles = state.synthesis.holes
            return figures
        }
    }
}

extension AnySource {
    var reservesLate: Bool {
        switch self {
        case .blocking: false
        case .asynchronous: true
        }
    }
}

extension CoreState {
    /// Whether another layer may be guaranteed its share; but for what sums of fractions lose.
    func canGuarantee(_ share: LayerShare) -> Bool { guaranteedShares + share.guaranteed <= 1 + 1e-9 }

    /// Takes codecs for larger tiles in the place of those for smaller ones; their memory counts.
    mutating func adoptCodecs(_ made: [Transferred<TileCodec>]) {
        guard let new = made.first?.value else { return }
        guard new.maximumTileBytes > codecTileBytes else { return }
        // Smaller ones that are at work count until they are done.
        let spare = codecs.reduce(0) { $0 + $1.value.scratchByteCount }
        let busy = pool.configuration.fixedBytes - spare
        var count = made.count
        if !pool.configuration.grantsBookkeeping {
            while count > 0, !pool.makeBytes(count * new.scratchByteCount - spare) { count -= 1 }
        }
        guard count > 0 else { return }
        codecTileBytes = new.maximumTileBytes
        codecs = Array(made.prefix(count))
        pool.configuration.fixedBytes = busy + count * new.scratchByteCount
        pool.configuration.maximumCodecJobs = count
        pool.coverTaken()
        pool.notePeaks()
    }

    /// Takes a codec back, unless larger ones have come meanwhile.
    mutating func returnCodec(_ codec: Transferred<TileCodec>) {
        if codec.value.maximumTileBytes == codecTileBytes {
            codecs.append(codec)
        } else {
            pool.configuration.fixedBytes -= codec.value.scratchByteCount
        }
    }
}
