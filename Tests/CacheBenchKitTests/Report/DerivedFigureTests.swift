import Foundation
import PanTraces
import TestSupport
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Rates, shares, percentiles and answers, recomputed from their counts.
@Suite struct DerivedFigureTests {
    private func share(_ part: Int, _ whole: Int) -> Double? { whole == 0 ? nil : Double(part) / Double(whole) }

    private func tally(_ dice: inout SplitMix64) -> ReplayTally {
        // Zeros are as likely as any other count.
        func count(_ bound: Int = 1000) -> Int { dice.below(4) == 0 ? 0 : dice.below(bound) }
        func demands() -> TileCacheStatistics.DemandCounts {
            var demands = TileCacheStatistics.DemandCounts()
            (demands.decodedHits, demands.compressedHits) = (count(), count())
            (demands.late, demands.missed) = (count(), count())
            demands.total = demands.decodedHits + demands.compressedHits + demands.late + demands.missed
            return demands
        }
        var tally = ReplayTally()
        (tally.pan, tally.zoom) = (demands(), demands())
        tally.drawableHits = dice.below(tally.pan.hits + tally.zoom.hits + 1)
        (tally.sharpPixels, tally.fallbackPixels, tally.blankPixels) = (
            Double(count()), Double(count()), Double(count())
        )
        tally.countedFrames = count()
        tally.gapFrames = dice.below(tally.countedFrames + 1)
        for _ in 0..<count(40) { tally.waits[Int64(dice.below(5000)), default: 0] += 1 + dice.below(3) }
        tally.loads.started = count()
        tally.loads.unseen = dice.below(tally.loads.started + 1)
        (tally.demotedRawBytes, tally.demotedBlockBytes) = (count(), count())
        (tally.memory.byteLimit, tally.memory.bookkeepingBytes) = (count(10_000_000), count())
        tally.memory.takeScreen(tiles: count(40), tileBytes: 1 + dice.below(300_000))
        return tally
    }

    @Test(arguments: 0..<200)
    func ofRandomCounts(seed: Int) {
        var dice = SplitMix64(seed: UInt64(seed) + 1)
        let parts = (0..<1 + dice.below(3)).map { _ in tally(&dice) }
        var sum = ReplayTally()
        for part in parts { sum.add(part) }
        func all(_ value: (ReplayTally) -> Int) -> Int { parts.reduce(0) { $0 + value($1) } }
        func pixels(_ value: (ReplayTally) -> Double) -> Double { parts.reduce(0) { $0 + value($1) } }
        let report = sum.report(trace: .init(name: "", source: "", hash: "", frames: 0, seconds: 0), configuration: [:])

        func total(_ demands: TileCacheStatistics.DemandCounts) -> Int {
            demands.decodedHits + demands.compressedHits + demands.late + demands.missed
        }
        func hits(_ demands: TileCacheStatistics.DemandCounts) -> Int { demands.decodedHits + demands.compressedHits }
        let demands = all { total($0.pan) + total($0.zoom) }
        #expect(report.demands.total == demands)
        #expect(report.demands.hitRate == share(all { hits($0.pan) + hits($0.zoom) }, demands))
        #expect(report.demands.drawableHitRate == share(all(\.drawableHits), demands))
        #expect(report.demands.pan.hitRate == share(all { hits($0.pan) }, all { total($0.pan) }))
        #expect(report.demands.zoom.hitRate == share(all { hits($0.zoom) }, all { total($0.zoom) }))
        let area = pixels { $0.sharpPixels + $0.fallbackPixels + $0.blankPixels }
        #expect(report.coverage.sharp == (area == 0 ? nil : pixels(\.sharpPixels) / area))
        #expect(report.coverage.fallback == (area == 0 ? nil : pixels(\.fallbackPixels) / area))
        #expect(report.coverage.blank == (area == 0 ? nil : pixels(\.blankPixels) / area))
        #expect(report.framesWithGap == share(all(\.gapFrames), all(\.countedFrames)))
        #expect(report.loads.waste == share(all(\.loads.unseen), all(\.loads.started)))
        #expect(report.compression.ratio == share(all(\.demotedRawBytes), all(\.demotedBlockBytes)))
        let waits = parts.flatMap { $0.waits.flatMap { Array(repeating: Double($0.key) / 10, count: $0.value) } }
            .sorted()
        func percentile(_ percent: Int) -> Double? {
            waits.isEmpty ? nil : waits[max((waits.count * percent + 99) / 100, 1) - 1]
        }
        #expect(report.timeToSharp.p50 == percentile(50))
        #expect(report.timeToSharp.p95 == percentile(95))
        #expect(report.timeToSharp.p99 == percentile(99))
        #expect(report.memory.shortfallBytes == parts.map { max($0.memory.screenBytes - $0.memory.byteLimit, 0) }.max())
        #expect(report.memory.screenBytes == parts.map(\.memory.screenBytes).max())
    }

    /// Some prefetches are needed before they have come, and in flight at the end.
    @Test func latePrefetchesInFlightAreNotWastedToo() throws {
        var options = ReplayOptions()
        options.duration = 4_100_000_000
        options.loadLatency = 300_000_000
        let prefetch = try Replay(options).run(ReplayInput(builtIn: options)).total.prefetch
        #expect(prefetch.late > 0)
        #expect(prefetch.useful + prefetch.late + prefetch.wasted + prefetch.cancelled == prefetch.started)
    }

    /// The counts of a replay are consistent in every replay.
    @Test(arguments: 0..<8)
    func ofRandomReplays(seed: Int) throws {
        var dice = SplitMix64(seed: UInt64(seed) + 500)
        var options = ReplayOptions()
        options.duration = 2_000_000_000
        options.pixelFormat = [.rgba8, .gray8, .gray16][dice.below(3)]
        // Also tiles that are no whole number of pages.
        options.overrides.tileSize = [100, 128, 200, 256, 300][dice.below(5)]
        options.compressionRatio = [1, 1.5, 2, 3.7][dice.below(4)]
        options.prefetch = [.none, .ring, .skewport, .tilecache][dice.below(4)]
        options.eviction = options.prefetch.usualEviction
        options.workers = 1 + dice.below(6)
        options.loadLatency = Int64(dice.below(200)) * 1_000_000
        options.memoryLimit =
            dice.below(2) == 0 ? .screens(0.5 + Double(dice.below(5))) : .bytes((4 << 20) << dice.below(4))
        options.seed = UInt64(dice.below(20))
        let shared = options
        let result = try Replay(options).run(ReplayInput(lively: shared), hooks: ReplayHooks(keepsSeries: true))
        let report = result.traces[0]
        let side = try #require(options.overrides.tileSize)
        let tileBytes = side * side * (try #require(options.pixelFormat.bytesPerPixel))
        let slotBytes = (tileBytes + 4095) / 4096 * 4096

        let (demands, loads, memory) = (report.demands, report.loads, report.memory)
        #expect(demands.total == demands.decodedHits + demands.compressedHits + demands.late + demands.missed)
        #expect(demands.total == demands.pan.total + demands.zoom.total)
        #expect(demands.decodedHits + demands.compressedHits == demands.pan.hits + demands.zoom.hits)
        #expect(loads.bytes == loads.finished * tileBytes)
        #expect(loads.started >= loads.finished + loads.absent + loads.failed + loads.cancelled)
        #expect(loads.waste == share(loads.unseen, loads.started))
        let prefetch = report.prefetch
        #expect(prefetch.useful + prefetch.late + prefetch.wasted + prefetch.cancelled <= prefetch.started)
        let shares = [report.coverage.sharp, report.coverage.fallback, report.coverage.blank].compactMap { $0 }
        #expect(shares.isEmpty || abs(shares.reduce(0, +) - 1) < 1e-9)
        // Decoded bytes, not slots, over block bytes.
        if let ratio = report.compression.ratio {
            let block = (Double(tileBytes) / options.compressionRatio).rounded(.up)
            #expect(abs(ratio - Double(tileBytes) / block) < 1e-9)
        }
        #expect(memory.peakBytes <= memory.byteLimit)
        #expect(memory.screenBytes == memory.screenTiles * slotBytes + memory.bookkeepingBytes)
        #expect(memory.shortfallBytes == max(memory.screenBytes - memory.byteLimit, 0))

        let series = result.series[0]
        let blank = series.buckets.reduce(0) { $0 + $1.blankPixels } * 1000 / 60
        let coarse = series.buckets.reduce(0) { $0 + $1.coarsePixels } * 1000 / 60
        func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= max(abs(a), abs(b)) * 1e-9 }
        #expect(isNear(blank, report.coverage.blankPixelMilliseconds))
        #expect(isNear(coarse, report.coverage.fallbackPixelMilliseconds))
        let worst = series.moments
        #expect(zip(worst, worst.dropFirst()).allSatisfy { !$1.isWorse(than: $0) })
        if worst.count < MomentRecorder.keptMoments {
            #expect(isNear(worst.reduce(0) { $0 + $1.blankPixelMilliseconds }, blank))
            #expect(isNear(worst.reduce(0) { $0 + $1.coarsePixelMilliseconds }, coarse))
        }
        for moment in worst {
            #expect(moment.seconds >= 0 && moment.duration > 0 && moment.duration <= 2.1 && moment.missingTiles > 0)
            #expect(moment.blank >= 0 && moment.coarse >= 0 && moment.blank + moment.coarse <= 1 + 1e-9)
            #expect((moment.cause == .start) == (moment.seconds == 0))
        }
    }

    /// Clamped neither at 0 nor at 1. A policy may be worse than none, and better than the oracle, which is not exact.
    @Test(arguments: 0..<50)
    func theGapThatIsClosed(seed: Int) throws {
        var dice = SplitMix64(seed: UInt64(seed) + 9)
        func rate() -> Double { Double(dice.below(1001)) / 1000 }
        for _ in 0..<100 {
            let (rate, none, oracle) = (rate(), rate(), rate())
            let gap = Compare.gapClosed(rate, none: none, oracle: oracle)
            if oracle - none < 0.02 {
                #expect(gap == nil)
            } else {
                let gap = try #require(gap)
                #expect(abs(none + gap * (oracle - none) - rate) < 1e-9)
            }
        }
        #expect(Compare.gapClosed(nil, none: 0, oracle: 1) == nil)
        #expect(
            Compare.gapClosed(0.5, none: nil, oracle: 1) == nil && Compare.gapClosed(0.5, none: 0, oracle: nil) == nil
        )
    }

    private func tune(_ seed: Int, policies: [PrefetchKind]) throws -> (TuneOptions, TuneReport) {
        var dice = SplitMix64(seed: UInt64(seed) + 40)
        var replay = ReplayOptions()
        replay.duration = 1_500_000_000
        replay.seed = UInt64(seed)
        let targets: [TuneTarget?] = [
            .hitRate(0.2 + 0.1 * Double(dice.below(7))), .blank(0.002 * Double(1 + dice.below(20))), nil,
        ]
        var options = TuneOptions(replay: replay, target: targets[seed % 3])
        options.budgets = [12, 24, 48].map { .bytes($0 << 20) }
        // The first one is the worst of them.
        options.workers = [1, 8, 3]
        options.compressedShares = dice.below(2) == 0 ? [] : [0.1, nil]
        options.policies = policies
        let shared = replay
        return (options, try Tune(options, inputs: [{ try ReplayInput(lively: shared) }]).run())
    }

    /// The answer, from the rows alone. It is the smallest limit of all variants from which on the target is met and a
    /// screen fits; without a target, the best knee.
    @Test(arguments: 0..<3)
    func theSuggestedLimit(seed: Int) throws {
        let (options, report) = try tune(seed, policies: [])
        func isMet(_ row: TuneReport.Row) -> Bool {
            switch options.target {
            case .hitRate(let least)?: (row.hitRate ?? 1) >= least
            case .blank(let most)?: (row.blank ?? 0) <= most
            case nil: true
            }
        }
        var variants: [TuneReport.Variant] = []
        for row in report.rows where !variants.contains(row.variant) { variants.append(row.variant) }
        #expect(variants.count == 3 * max(options.compressedShares.count, 1))
        let suggested = try #require(report.answer)
        var answers: [(limit: Int, variant: TuneReport.Variant)] = []
        for variant in variants {
            let rows = report.rows.filter { $0.variant == variant }.sorted { $0.byteLimit > $1.byteLimit }
            let holding = rows.prefix { isMet($0) && $0.shortfallBytes == 0 }
            if let last = holding.last { answers.append((last.byteLimit, variant)) }
        }
        if options.target != nil, let least = answers.map(\.limit).min() {
            #expect(suggested.byteLimit == least && suggested.reason == "target")
            #expect(suggested.variant == answers.first { $0.limit == least }?.variant)
        }
        #expect((report.suggested == nil) == (options.target != nil && answers.isEmpty))
        let row = try #require(report.rows.first(where: report.isAnswer))
        #expect(row.shortfallBytes == 0 && row.hitRate == suggested.hitRate && row.blank == suggested.blank)
        if options.target == nil {
            // No variant's knee has more hits, as far as its best row shows.
            #expect(suggested.reason == "knee")
            let budgets = Set(report.rows.map(\.byteLimit))
            #expect(budgets.contains(suggested.byteLimit))
        }
    }

    /// A policy is compared with no prefetch and with the oracle. The number of workers is the same.
    @Test func eachNumberOfWorkersHasItsOwnBaselineAndOracle() throws {
        let (options, report) = try tune(1, policies: [.none, .oracle])
        for variant in Set(report.rows.map(\.variant)) {
            for policy in options.policies {
                let rows = report.policies.filter { $0.policy == policy.rawValue && $0.variant == variant }
                #expect(rows.map(\.byteLimit) == [12 << 20, 48 << 20], "\(variant) \(policy)")
                for row in rows {
                    var alone = options.replay
                    alone.workers = variant.workers
                    alone.compressedShare = variant.compressedShare
                    alone.prefetch = policy
                    alone.eviction = policy.usualEviction
                    alone.memoryLimit = .bytes(row.byteLimit)
                    let shared = alone
                    let own = try Replay(alone).run([{ try ReplayInput(lively: shared) }]).total
                    #expect(row.hitRate == own.demands.hitRate && row.waste == own.loads.waste)
                }
            }
        }
        // The page draws only the variant of the answer, and marks one row.
        let page = try TunePage.text(report)
        let mark = report.suggested == nil ? "nearest" : "suggested"
        #expect(
            page.components(separatedBy: "<tr class=\"marked\"><td class=\"name\">tilecache (\(mark))").count == 2
        )
        let own = report.policies.filter { $0.policy == "oracle" && $0.variant == report.answer?.variant }
        #expect(page.components(separatedBy: "<title>oracle: ").count - 1 == 2 * own.count)
    }

    @Test func aLimitThatHoldsNoScreenIsNeverSuggested() throws {
        var replay = ReplayOptions()
        replay.duration = 2_000_000_000
        let shared = replay
        for target in [nil, TuneTarget.hitRate(0.01), .blank(0.9)] {
            var options = TuneOptions(replay: replay, target: target)
            options.budgets = [.bytes(1 << 20), .bytes(2 << 20), .bytes(3 << 20)]
            options.policies = []
            let report = try Tune(options, inputs: [{ try ReplayInput(lively: shared) }]).run()
            let tooSmall = report.rows.filter { $0.shortfallBytes > 0 }
            #expect(tooSmall.count >= 3 && tooSmall.contains { $0.meetsTarget != false })
            if target == nil {
                #expect(report.suggested == nil && report.knee == nil)
                #expect(TuneText.text(report).contains("No limit tried holds what one screen needs."))
            } else {
                let suggested = try #require(report.suggested)
                #expect(suggested.byteLimit > 3 << 20 && suggested.reason == "target")
            }
            for text in [TuneText.text(report), try TunePage.text(report)] {
                #expect(text.replacing("\n  ", with: " ").contains("too small and never suggested"))
            }
            #expect(TuneText.text(report).hasPrefix("one screen needs up to "))
        }
    }
}
