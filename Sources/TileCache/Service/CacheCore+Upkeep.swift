import Synchronization

/// What a renderer asks for beside frames: layers, floors, limits, figures.
extension CacheCore {
    func addLayer(
        _ source: AnySource,
        pyramid: TilePyramid,
        options: LayerOptions
    ) throws(TileCacheError) -> LayerID {
        var tileBytes = 0
        for (index, level) in pyramid.levels.enumerated() {
            guard let bytes = options.format.byteCount(width: level.pixelWidth, height: level.pixelHeight) else {
                throw .invalidLayer("the size of a tile of level \(index) overflows")
            }
            tileBytes = max(tileBytes, bytes)
        }
        let (limit, maximum, usesCodec, codecJobs) = lock.withLock { state in
            (
                state.pool.configuration.byteLimit, state.pool.maximumByteLimit,
                state.pool.configuration.compressedTier, state.pool.configuration.maximumCodecJobs
            )
        }
        guard tileBytes <= limit else {
            throw .invalidLayer("a tile takes \(tileBytes) bytes, more than the limit of \(limit)")
        }
        // Addresses and scratch memory come before the lock, and go again where they are not needed.
        let slotBytes = PoolState.slotBytes(for: tileBytes)
        guard let region = MemoryRegion(byteCount: maximum / slotBytes * slotBytes) else {
            throw .outOfMemory(bytes: maximum)
        }
        // One for each job at a time and one for the renderer's thread, but never more than a sixteenth of the limit.
        var codecs: [Transferred<TileCodec>] = []
        if usesCodec, options.isCompressible {
            while codecs.count < codecJobs + 1, let codec = try? TileCodec(maximumTileBytes: tileBytes) {
                if !codecs.isEmpty, (codecs.count + 1) * codec.scratchByteCount > limit / 16 { break }
                codecs.append(Transferred(value: codec))
            }
        }
        let made = codecs
        return perform { state in
            state.adoptCodecs(made)
            let index = state.pool.addLayer(
                tileBytes: tileBytes,
                isCompressible: options.isCompressible && usesCodec && state.codecTileBytes >= tileBytes,
                reservesLate: source.reservesLate
            )
            let slotClass = state.pool.layers[index].slotClass
            if slotClass == state.slotRegions.count { state.slotRegions.append(region) }
            state.layers.append(
                LayerRecord(
                    id: LayerID(index),
                    source: source,
                    pyramid: pyramid,
                    options: options,
                    tileBytes: tileBytes,
                    slotClass: slotClass
                )
            )
            return LayerID(index)
        }
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
    }

    func trim(toBytes bytes: Int) {
        let now = clock()
        perform { $0.pool.trim(toBytes: max(bytes, 0), now: now) }
        // Needed tiles may have gone, too.
        requestPlan()
    }

    func setByteLimit(_ bytes: Int) {
        let now = clock()
        perform { state in
            state.pool.setByteLimit(min(max(bytes, 1), state.pool.maximumByteLimit), now: now)
        }
        requestPlan()
    }

    func statistics() -> Statistics {
        lock.withLock { state in
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
    /// Takes codecs for larger tiles in the place of those for smaller ones; their memory counts.
    mutating func adoptCodecs(_ made: [Transferred<TileCodec>]) {
        guard let new = made.first?.value else { return }
        guard new.maximumTileBytes > codecTileBytes else { return }
        let growth = made.count * new.scratchByteCount - pool.configuration.fixedBytes
        if growth > 0, !pool.configuration.grantsBookkeeping { _ = pool.makeBytes(growth) }
        codecTileBytes = new.maximumTileBytes
        codecs = made
        pool.configuration.fixedBytes = made.count * new.scratchByteCount
        pool.coverTaken()
        pool.configuration.maximumCodecJobs = made.count
    }

    /// Takes a codec back, unless larger ones have come meanwhile.
    mutating func returnCodec(_ codec: Transferred<TileCodec>) {
        if codec.value.maximumTileBytes == codecTileBytes { codecs.append(codec) }
    }
}
