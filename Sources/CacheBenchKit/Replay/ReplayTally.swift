import TileCache

/// Sums of one replay, from which its report, or that of several pooled, is made.
struct ReplayTally: Sendable {
    var frames = 0
    var seconds = 0.0
    var pan = DemandCounts()
    var zoom = DemandCounts()
    var drawableHits = 0
    var sharpPixels = 0.0
    var fallbackPixels = 0.0
    var blankPixels = 0.0
    var fallbackPixelMilliseconds = 0.0
    var blankPixelMilliseconds = 0.0
    var countedFrames = 0
    var gapFrames = 0
    /// Waits in tenths of milliseconds, how often each.
    var waits: [Int64: Int] = [:]
    var loads = LoadSums()
    var memory = MemorySums()
    var evictions = [Int](repeating: 0, count: RemovalCause.allCases.count)

    var service = ServiceSums()
    /// Of a source that is not the built-in world.
    var tileSource: ReplaySourceCounts?

    /// What only the real service takes.
    struct ServiceSums: Sendable {
        var demandWaits = DurationHistogram()
        var prefetchWaits = DurationHistogram()
        var frameCosts = DurationHistogram()
    }

    struct LoadSums: Sendable {
        var started = 0
        var finished = 0
        var absent = 0
        var failed = 0
        var cancelled = 0
        var bytes = 0
        var unseen = 0
        var prefetchStarted = 0
        var prefetchUseful = 0
        var prefetchLate = 0
        var prefetchWasted = 0
        var prefetchCancelled = 0
        var demotedRawBytes = 0
        var demotedBlockBytes = 0
        var storedRaw = 0
    }

    struct MemorySums: Sendable {
        var byteLimit = 0
        var peak = 0
        var peakDecoded = 0
        var peakCompressed = 0
        var peakInFlight = 0
        var bookkeeping = 0
        var residentGrowth: Int?
        /// Of the fullest frame.
        var screenTiles = 0
        var screenBytes = 0
        var shortfall = 0

        /// Takes in what the fullest frame needed, once limit and tables are known.
        mutating func takeScreen(tiles: Int, tileBytes: Int) {
            screenTiles = tiles
            let slotBytes = (tileBytes + 4095) & ~4095
            screenBytes = tiles.multipliedReportingOverflow(by: slotBytes).partialValue + bookkeeping
            shortfall = max(screenBytes - byteLimit, 0)
        }
    }

    /// Takes a frame's coverage in, where the view moved or something was missing.
    ///
    /// - Parameter viewportPixels: what counts as sharp where nothing is missing.
    mutating func add(
        _ coverage: Coverage,
        hasMoved: Bool,
        viewportPixels: Double,
        frameMilliseconds: Double
    ) {
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
    }

    mutating func add(wait nanoseconds: Int64) { waits[(nanoseconds + 50_000) / 100_000, default: 0] += 1 }

    /// Pools another replay's sums; of memory, the largest.
    mutating func add(_ other: ReplayTally) {
        frames += other.frames
        seconds += other.seconds
        pan = pan + other.pan
        zoom = zoom + other.zoom
        drawableHits += other.drawableHits
        sharpPixels += other.sharpPixels
        fallbackPixels += other.fallbackPixels
        blankPixels += other.blankPixels
        fallbackPixelMilliseconds += other.fallbackPixelMilliseconds
        blankPixelMilliseconds += other.blankPixelMilliseconds
        countedFrames += other.countedFrames
        gapFrames += other.gapFrames
        waits.merge(other.waits, uniquingKeysWith: +)
        loads.add(other.loads)
        memory.add(other.memory)
        service.demandWaits.merge(other.service.demandWaits)
        service.prefetchWaits.merge(other.service.prefetchWaits)
        service.frameCosts.merge(other.service.frameCosts)
        for index in evictions.indices { evictions[index] += other.evictions[index] }
        guard let counts = other.tileSource else { return }
        if tileSource == nil { tileSource = counts } else { tileSource?.add(counts) }
    }
}

extension ReplayTally.LoadSums {
    mutating func add(_ other: Self) {
        started += other.started
        finished += other.finished
        absent += other.absent
        failed += other.failed
        cancelled += other.cancelled
        bytes += other.bytes
        unseen += other.unseen
        prefetchStarted += other.prefetchStarted
        prefetchUseful += other.prefetchUseful
        prefetchLate += other.prefetchLate
        prefetchWasted += other.prefetchWasted
        prefetchCancelled += other.prefetchCancelled
        demotedRawBytes += other.demotedRawBytes
        demotedBlockBytes += other.demotedBlockBytes
        storedRaw += other.storedRaw
    }
}

extension ReplayTally.MemorySums {
    mutating func add(_ other: Self) {
        byteLimit = max(byteLimit, other.byteLimit)
        peak = max(peak, other.peak)
        peakDecoded = max(peakDecoded, other.peakDecoded)
        peakCompressed = max(peakCompressed, other.peakCompressed)
        peakInFlight = max(peakInFlight, other.peakInFlight)
        bookkeeping = max(bookkeeping, other.bookkeeping)
        screenTiles = max(screenTiles, other.screenTiles)
        screenBytes = max(screenBytes, other.screenBytes)
        shortfall = max(shortfall, other.shortfall)
        if let growth = other.residentGrowth { residentGrowth = max(residentGrowth ?? 0, growth) }
    }
}

extension ReplayTally {
    /// The figures of these sums.
    func report(trace: ReplayReport.Trace, configuration: [String: ConfigurationValue]) -> ReplayReport {
        let all = pan + zoom
        let pixels = sharpPixels + fallbackPixels + blankPixels
        func share(_ part: Double) -> Double? { pixels > 0 ? part / pixels : nil }
        func demandShare(_ counts: DemandCounts) -> ReplayReport.DemandShare {
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
                frames: countedFrames,
                pixels: pixels
            ),
            framesWithGap: countedFrames == 0 ? nil : Double(gapFrames) / Double(countedFrames),
            timeToSharp: .init(p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99)),
            loads: .init(
                started: loads.started,
                finished: loads.finished,
                absent: loads.absent,
                failed: loads.failed,
                cancelled: loads.cancelled,
                bytes: loads.bytes,
                unseen: loads.unseen,
                waste: loads.started == 0 ? nil : Double(loads.unseen) / Double(loads.started)
            ),
            prefetch: .init(
                started: loads.prefetchStarted,
                useful: loads.prefetchUseful,
                late: loads.prefetchLate,
                wasted: loads.prefetchWasted,
                cancelled: loads.prefetchCancelled
            ),
            memory: .init(
                byteLimit: memory.byteLimit,
                peakBytes: memory.peak,
                peakDecodedBytes: memory.peakDecoded,
                peakCompressedBytes: memory.peakCompressed,
                peakInFlightBytes: memory.peakInFlight,
                bookkeepingBytes: memory.bookkeeping,
                peakResidentGrowth: memory.residentGrowth,
                screenTiles: memory.screenTiles,
                screenBytes: memory.screenBytes,
                shortfallBytes: memory.shortfall
            ),
            compression: .init(
                ratio: loads.demotedBlockBytes == 0
                    ? nil : Double(loads.demotedRawBytes) / Double(loads.demotedBlockBytes),
                storedRaw: loads.storedRaw
            ),
            evictions: Dictionary(
                uniqueKeysWithValues: RemovalCause.allCases.map { ($0.name, evictions[$0.rawValue]) }
            ),
            service: service.frameCosts.count == 0
                ? nil
                : .init(
                    demandWait: .init(service.demandWaits),
                    prefetchWait: .init(service.prefetchWaits),
                    frameCost: .init(service.frameCosts)
                ),
            tileSource: tileSource
        )
    }

    /// The smallest wait, in milliseconds, that at least a share of all waits does not exceed.
    private func percentile(_ share: Double) -> Double? {
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
