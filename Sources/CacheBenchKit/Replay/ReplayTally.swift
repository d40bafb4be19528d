import TileCache

/// Sums of one replay, from which its report, or a pooled one, is made.
struct ReplayTally: Sendable {
    var frames = 0
    var seconds = 0.0
    var pan = TileCacheStatistics.DemandCounts()
    var zoom = TileCacheStatistics.DemandCounts()
    var drawableHits = 0
    var sharpPixels = 0.0
    var fallbackPixels = 0.0
    var blankPixels = 0.0
    var fallbackPixelMilliseconds = 0.0
    var blankPixelMilliseconds = 0.0
    var deficitPixels = 0.0
    var countedFrames = 0
    var gapFrames = 0
    /// Number of waits by their duration, in tenths of milliseconds.
    var waits: [Int64: Int] = [:]
    var loads = ReplayReport.Loads()
    var prefetch = ReplayReport.Prefetch()
    /// Bytes of compressed tiles, before and after.
    var demotedRawBytes = 0
    var demotedBlockBytes = 0
    var storedRaw = 0
    var memory = ReplayReport.Memory()
    var evictions = [Int](repeating: 0, count: TileCacheStatistics.RemovalCause.allCases.count)

    var tiers: [ReplayReport.Tier] = []
    /// Waits for a first complete frame, in milliseconds.
    var firstFrames: [Double] = []
    var service = ServiceSums()
    /// Counts of a source that is not the built-in world.
    var tileSource: ReplaySourceCounts?
    /// Texture slots, if there are any.
    var textures: ReplayTextureSums?

    /// Sums measured in the real service only.
    struct ServiceSums: Sendable {
        var demandWaits = DurationHistogram()
        var prefetchWaits = DurationHistogram()
        var frameCosts = DurationHistogram()
    }

    /// Adds a frame's coverage, if the view moved or a tile was missing.
    ///
    /// - Parameter viewportPixels: Sharp area if nothing is missing.
    mutating func add(_ coverage: Coverage, hasMoved: Bool, viewportPixels: Double, frameMilliseconds: Double) {
        guard hasMoved || coverage.missingTiles > 0 else { return }
        countedFrames += 1
        if coverage.missingTiles == 0 {
            sharpPixels += viewportPixels
            return
        }
        gapFrames += 1
        sharpPixels += coverage.sharp
        fallbackPixels += coverage.fallback
        blankPixels += coverage.blank
        fallbackPixelMilliseconds += coverage.fallback * frameMilliseconds
        blankPixelMilliseconds += coverage.blank * frameMilliseconds
        deficitPixels += coverage.deficit
    }

    mutating func add(wait nanoseconds: Int64) { waits[(nanoseconds + 50_000) / 100_000, default: 0] += 1 }

    /// Adds another replay's sums, and the maximum of its memory.
    mutating func add(_ other: ReplayTally) {
        let counts: [WritableKeyPath<ReplayTally, Int>] = [
            \.frames, \.drawableHits, \.countedFrames, \.gapFrames, \.loads.started, \.loads.finished, \.loads.absent,
            \.loads.failed, \.loads.cancelled, \.loads.bytes, \.loads.unseen, \.prefetch.started, \.prefetch.useful,
            \.prefetch.late, \.prefetch.wasted, \.prefetch.cancelled, \.prefetch.requests, \.prefetch.bytes,
            \.prefetch.drawnBytes, \.prefetch.heldBack, \.demotedRawBytes, \.demotedBlockBytes, \.storedRaw,
        ]
        let peaks: [WritableKeyPath<ReplayTally, Int>] = [
            \.memory.byteLimit, \.memory.peakBytes, \.memory.peakDecodedBytes, \.memory.peakCompressedBytes,
            \.memory.peakInFlightBytes, \.memory.bookkeepingBytes, \.memory.screenTiles, \.memory.screenBytes,
            \.memory.shortfallBytes,
        ]
        let sums: [WritableKeyPath<ReplayTally, Double>] = [
            \.seconds, \.sharpPixels, \.fallbackPixels, \.blankPixels, \.fallbackPixelMilliseconds,
            \.blankPixelMilliseconds, \.deficitPixels,
        ]
        for field in counts { self[keyPath: field] += other[keyPath: field] }
        for field in peaks { self[keyPath: field] = max(self[keyPath: field], other[keyPath: field]) }
        for field in sums { self[keyPath: field] += other[keyPath: field] }
        if let bytes = other.memory.storeBytes { memory.storeBytes = max(memory.storeBytes ?? 0, bytes) }
        if let growth = other.memory.peakResidentGrowth {
            memory.peakResidentGrowth = max(memory.peakResidentGrowth ?? 0, growth)
        }
        pan = pan + other.pan
        zoom = zoom + other.zoom
        waits.merge(other.waits, uniquingKeysWith: +)
        service.demandWaits.merge(other.service.demandWaits)
        service.prefetchWaits.merge(other.service.prefetchWaits)
        service.frameCosts.merge(other.service.frameCosts)
        for index in evictions.indices { evictions[index] += other.evictions[index] }
        firstFrames += other.firstFrames
        for tier in other.tiers {
            if let index = tiers.firstIndex(where: { $0.name == tier.name }) {
                tiers[index].add(tier)
            } else {
                tiers.append(tier)
            }
        }
        if let own = other.textures {
            if textures == nil { textures = own } else { textures?.add(own) }
        }
        guard let counts = other.tileSource else { return }
        if tileSource == nil { tileSource = counts } else { tileSource?.add(counts) }
    }
}

extension ReplayReport.Memory {
    /// Adds the needs of the fullest frame, once limit and tables are known.
    mutating func takeScreen(tiles: Int, tileBytes: Int) {
        screenTiles = tiles
        let slotBytes = VirtualCache.slotBytes(ofTile: tileBytes)
        screenBytes = tiles.multipliedReportingOverflow(by: slotBytes).partialValue + bookkeepingBytes
        shortfallBytes = max(screenBytes - byteLimit, 0)
    }
}

extension ReplayTally {
    /// Sums of several replays.
    init(pooling tallies: [ReplayTally]) {
        self.init()
        for tally in tallies { add(tally) }
    }

    /// The report of the sums of several traces.
    func pooledReport(
        name: String,
        source: String = "",
        configuration: [String: ConfigurationValue] = [:]
    ) -> ReplayReport {
        let trace = ReplayReport.Trace(name: name, source: source, hash: "", frames: frames, seconds: seconds)
        return report(trace: trace, configuration: configuration)
    }

    func report(trace: ReplayReport.Trace, configuration: [String: ConfigurationValue]) -> ReplayReport {
        let all = pan + zoom
        let pixels = sharpPixels + fallbackPixels + blankPixels
        func share(_ part: Double) -> Double? { pixels > 0 ? part / pixels : nil }
        var loads = loads
        loads.waste = loads.started == 0 ? nil : Double(loads.unseen) / Double(loads.started)
        func percentile(_ share: Double) -> Double? { Self.percentile(share, of: waits) }
        func demandShare(_ counts: TileCacheStatistics.DemandCounts) -> ReplayReport.DemandShare {
            .init(total: counts.total, hits: counts.hits, hitRate: counts.hitRate)
        }
        return ReplayReport(
            trace: trace,
            configuration: configuration,
            demands: .init(
                total: all.total,
                decodedHits: all.decodedHits,
                compressedHits: all.compressedHits,
                late: all.late,
                missed: all.missed,
                hitRate: all.hitRate,
                drawableHits: drawableHits,
                drawableHitRate: all.total == 0 ? nil : Double(drawableHits) / Double(all.total),
                pan: demandShare(pan),
                zoom: demandShare(zoom)
            ),
            coverage: .init(
                sharp: share(sharpPixels),
                fallback: share(fallbackPixels),
                blank: share(blankPixels),
                blankPixelMilliseconds: blankPixelMilliseconds,
                fallbackPixelMilliseconds: fallbackPixelMilliseconds,
                deficit: share(deficitPixels),
                frames: countedFrames,
                pixels: pixels
            ),
            framesWithGap: countedFrames == 0 ? nil : Double(gapFrames) / Double(countedFrames),
            timeToSharp: .init(p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99)),
            loads: loads,
            prefetch: prefetch,
            memory: memory,
            compression: .init(
                ratio: demotedBlockBytes == 0 ? nil : Double(demotedRawBytes) / Double(demotedBlockBytes),
                storedRaw: storedRaw
            ),
            evictions: TileCacheStatistics.RemovalCause.allCases.reduce(into: [:]) {
                $0[$1.name] = evictions[$1.rawValue]
            },
            service: service.frameCosts.count == 0
                ? nil
                : .init(
                    demandWait: .init(service.demandWaits),
                    prefetchWait: .init(service.prefetchWaits),
                    frameCost: .init(service.frameCosts)
                ),
            tiers: tiers,
            firstCompleteFrame: firstFrames.isEmpty ? nil : firstFrames.reduce(0, +) / Double(firstFrames.count),
            tileSource: tileSource,
            textures: textures?.report
        )
    }

    /// Smallest wait, in milliseconds, that at least a fraction of all waits does not exceed.
    ///
    /// - Parameter waits: Number of waits by their duration, in tenths of milliseconds.
    static func percentile(_ share: Double, of waits: [Int64: Int]) -> Double? {
        let total = waits.values.reduce(0, +)
        guard total > 0 else { return nil }
        let rank = max(Int((share * Double(total)).rounded(.up)), 1)
        var seen = 0
        for (tenths, count) in waits.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= rank { return Double(tenths) / 10 }
        }
        return nil
    }
}

extension ReplayReport.Durations {
    init(_ histogram: DurationHistogram) {
        func milliseconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e6 }
        self.init(
            count: histogram.count,
            p50: histogram.quantile(0.5).map(milliseconds),
            p95: histogram.quantile(0.95).map(milliseconds),
            p99: histogram.quantile(0.99).map(milliseconds),
            maximum: milliseconds(histogram.maximum)
        )
    }
}
