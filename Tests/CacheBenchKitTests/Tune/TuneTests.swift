import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Search for a budget against known curves.
@Suite struct TuneTests {
    /// Runs a search over a curve; returns the answer and the number of budgets tried.
    private func search(
        _ sweep: [Int],
        step: Int = 1,
        ceiling: Int = 0,
        does: (Int) -> Bool
    ) -> (search: BudgetSearch, tried: Int) {
        var search = BudgetSearch(sweep: sweep, step: step, ceiling: ceiling)
        var tried = 0
        while !search.next.isEmpty, tried < 10_000 {
            for budget in search.next {
                search.record(budget, does: does(budget))
                tried += 1
            }
        }
        return (search, tried)
    }

    @Test(arguments: [1, 2, 3, 7, 8, 9, 99, 100, 101, 511, 512, 513, 999, 1000])
    func anyThresholdIsFound(threshold: Int) {
        let (found, tried) = search([8, 16, 100, 512, 1000]) { $0 >= threshold }
        #expect(found.answer == threshold)
        #expect(tried < 40)
    }

    @Test(arguments: 1...40)
    func withAStepTheBudgetOneStepSmallerMisses(threshold: Int) throws {
        let step = 4
        let (found, _) = search([8, 16, 24, 40], step: step) { $0 >= threshold }
        let answer = try #require(found.answer)
        #expect(answer >= threshold && answer - threshold < step)
        if let smaller = found.largestBelow(answer), answer > step { #expect(answer - smaller <= step) }
    }

    @Test func aLuckyDipBelowIsNotTheAnswer() {
        // 20 meets the target, 30 does not, all from 41 on do.
        let (found, _) = search([10, 20, 30, 50, 80]) { $0 == 20 || $0 >= 41 }
        #expect(found.answer == 41)
    }

    @Test func whereNothingDoesBudgetsAreDoubledUpToTheCeiling() {
        let (found, tried) = search([10, 20], ceiling: 100) { _ in false }
        #expect(found.answer == nil)
        #expect(tried == 5)  // 10, 20, 40, 80, 100
        let (late, _) = search([10, 20], ceiling: 100) { $0 >= 70 }
        #expect(late.answer == 70)
        #expect(search([10, 20]) { _ in false }.tried == 2)
    }

    @Test func theKneeIsWhereTheCurveIsFarthestAboveItsChord() {
        func knee(_ points: [(Double, Double)]) -> Int? { Knee.index(of: points.map { (x: $0.0, y: $0.1) }) }
        // Scaled: (0, 0), (0.25, 0.8), (0.5, 0.9), (1, 1): the distances are 0, 0.55, 0.4, 0.
        #expect(knee([(0, 0.1), (10, 0.5), (20, 0.55), (40, 0.6)]) == 1)
        // A dip counts as the maximum before it: (0.5, 0.7) stays at 0.8.
        #expect(knee([(0, 0), (10, 0.8), (20, 0.7), (40, 1)]) == 1)
        #expect(knee([(0, 0), (1, 1)]) == nil)
        #expect(knee([(0, 0.5), (1, 0.5), (2, 0.4)]) == nil)
        #expect(knee([(0, 0), (1, 0), (2, 1)]) == nil)
        #expect(knee([(0, 0), (1, 1), (2, 1)]) == 1)
        // A limit that is too small is not a knee, but belongs to the curve: the last three points alone would give 30.
        let curve = [(x: 0.0, y: 0.0), (10, 0.5), (20, 0.8), (30, 0.9), (60, 1)]
        #expect(Knee.index(of: curve) { $0 > 1 } == 2)
        #expect(Knee.index(of: curve) { $0 > 4 } == nil)
    }

    @Test func aSuggestionHoldsWhenItIsReplayedByItself() throws {
        var options = ReplayOptions()
        options.duration = 4_000_000_000
        var tuning = TuneOptions(replay: options, target: .hitRate(0.5))
        tuning.budgets = [.bytes(8 << 20), .bytes(16 << 20), .bytes(96 << 20)]
        tuning.policies = [.none]
        let shared = options
        let report = try Tune(tuning, inputs: [{ try ReplayInput(lively: shared) }]).run()
        let suggested = try #require(report.suggested)
        #expect(suggested.reason == "target" && report.target?.value == 0.5)
        #expect(suggested.flags == "--memory-limit \(MemoryLimit.bytes(suggested.byteLimit)) --duration 4s")
        func rate(_ bytes: Int) throws -> Double? {
            var alone = options
            alone.memoryLimit = .bytes(bytes)
            return try Replay(alone).run([{ try ReplayInput(lively: shared) }]).total.demands.hitRate
        }
        #expect(try rate(suggested.byteLimit) == suggested.hitRate)
        #expect(try #require(suggested.hitRate) >= 0.5)
        let smaller = try #require(report.oneStepSmaller)
        #expect(suggested.byteLimit - smaller.byteLimit <= report.stepBytes)
        #expect(try #require(try rate(smaller.byteLimit)) < 0.5)
        #expect(report.rows.map(\.byteLimit) == report.rows.map(\.byteLimit).sorted())
        // Other policies are drawn at every second budget.
        #expect(Set(report.policies.map(\.byteLimit)) == [8 << 20, 96 << 20])
        #expect(TuneText.text(report).split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(TuneText.text(report).hasSuffix("\ncachebench replay \(suggested.flags)\n"))
    }

    /// Each row equals `replay` with the row's own flags, whatever variants are tried with it.
    @Test(arguments: [nil, 0.05])
    func everyVariantIsWhatItsReplayIs(maximumWaste: Double?) throws {
        var options = ReplayOptions()
        options.duration = 2_500_000_000
        let shared = options
        var tuning = TuneOptions(replay: options)
        tuning.budgets = [.bytes(24 << 20), .bytes(48 << 20)]
        tuning.tileSizes = [256, 512, 256]
        tuning.workers = [2, 4]
        tuning.compressedShares = [0.3, nil]
        tuning.policies = []
        tuning.maximumWaste = maximumWaste
        let report = try Tune(tuning, inputs: [{ try ReplayInput(lively: shared) }]).run()
        #expect(report.rows.count == 2 * 2 * 2 * 2)
        for row in report.rows {
            var alone = options
            alone.memoryLimit = .bytes(row.byteLimit)
            alone.overrides.tileSize = row.tileSize
            alone.workers = row.workers
            alone.compressedShare = row.compressedShare
            #expect((row.effort == nil) == (maximumWaste == nil))
            if let effort = row.effort { alone.effort = effort }
            let same = alone
            let total = try Replay(alone).run([{ try ReplayInput(lively: same) }]).total
            #expect(row.hitRate == total.demands.hitRate && row.waste == total.loads.waste)
            #expect(row.peakBytes == total.memory.peakBytes)
        }
    }

    /// Each tile size has a ceiling of its own, whichever comes first.
    @Test func theOrderOfTileSizesChangesNoRow() throws {
        var options = ReplayOptions()
        options.duration = 2_000_000_000
        let shared = options
        func rows(_ sizes: [Int]) throws -> Set<TuneReport.Row> {
            var tuning = TuneOptions(replay: shared, target: .hitRate(1))
            tuning.budgets = [.bytes(8 << 20)]
            tuning.policies = []
            tuning.tileSizes = sizes
            return Set(try Tune(tuning, inputs: [{ try ReplayInput(lively: shared) }]).run().rows)
        }
        let first = try rows([128, 512])
        #expect(try first == rows([512, 128]) && first.count > 2)
    }

    @Test func aSearchThatIsStoppedSaysWhatItHas() throws {
        let options = ReplayOptions()
        let report = try Tune(
            TuneOptions(replay: options),
            inputs: [{ try ReplayInput(lively: options) }],
            hooks: ReplayHooks(shouldStop: { true })
        ).run()
        #expect(report.interrupted && report.rows.isEmpty && report.suggested == nil)
    }

    /// The limits that are searched come before other policies, of which the oracle is the slowest.
    @Test func aSearchThatIsStoppedHasLimitsOfItsOwn() {
        let options = ReplayOptions()
        let search = Tune.Search(variant: options, search: BudgetSearch(sweep: [20, 10], step: 1, ceiling: 0))
        let other = Tune.Job(options: options.with(.oracle), budget: 10)
        let round = Tune.round(of: [search], beside: [other])
        #expect(round == [20, 10].map { Tune.Job(options: options, budget: $0) } + [other])
    }

    /// Those of the middle come first: the smallest hold no screen, and would leave no answer.
    @Test func aSearchThatIsStoppedBeganInTheMiddle() throws {
        let search = BudgetSearch(sweep: [14, 1, 2, 3, 4, 6, 9, 15], step: 1, ceiling: 0)
        #expect(search.next == [6, 9, 4, 14, 3, 15, 2, 1])
        var options = ReplayOptions()
        options.duration = 2_000_000_000
        let shared = options
        let done = Lock(0)
        var tuning = TuneOptions(replay: options, target: .hitRate(0))
        tuning.policies = []
        let report = try Tune(
            tuning,
            inputs: [{ try ReplayInput(lively: shared) }],
            hooks: ReplayHooks(shouldStop: { done.withLock { $0 > 0 } }),
            progress: { count, _ in done.withLock { $0 = count } }
        ).run()
        let text = TuneText.text(report)
        #expect(report.interrupted && report.suggested != nil, "\(text)")
        #expect(text.contains("stopped: ") && text.contains("The smallest limit so far that reaches"), "\(text)")
    }

    /// What is known before the first limit is the bound of memory alone.
    @Test func aSearchThatIsStoppedAtOnceSaysWhatIsKnown() throws {
        let options = ReplayOptions()
        // Reading asks too: the stop comes at the first frame of the first replay.
        let starts = Lock(0)
        var hooks = ReplayHooks(shouldStop: { starts.withLock { $0 > 0 } })
        hooks.noteStart = { _, _ in starts.withLock { $0 += 1 } }
        let report = try Tune(
            TuneOptions(replay: options),
            inputs: [{ try ReplayInput(lively: options) }],
            hooks: hooks
        ).run()
        let text = TuneText.text(report)
        #expect(report.interrupted && report.rows.isEmpty && text.contains("plain LRU of "), "\(text)")
        #expect(text.contains("Stopped before the first limit was replayed over all traces"), "\(text)")
    }

    /// A trace of a day takes seconds to read.
    @Test(arguments: [false, true])
    func aStopEndsTheReadingOfATrace(isTune: Bool) throws {
        let read = Lock(0)
        var options = ReplayOptions()
        (options.prefetch, options.eviction) = (.oracle, .belady)
        let shared = options
        let open = { @Sendable () throws -> ReplayInput in
            var input = try ReplayInput(lively: shared)
            input.samples = CountedSamples(samples: input.samples) { read.withLock { $0 += 1 } }
            return input
        }
        let hooks = ReplayHooks(shouldStop: { true })
        if isTune {
            let report = try Tune(TuneOptions(replay: options), inputs: [open], hooks: hooks).run()
            #expect(report.interrupted && report.lruCurve.isEmpty && report.traces.isEmpty)
        } else {
            #expect(try Replay(options).run(open(), hooks: hooks).wasStopped)
        }
        #expect(read.withLock { $0 } < 10)
    }

    private struct CountedSamples: PanSampleStream {
        var samples: any PanSampleStream
        let note: @Sendable () -> Void

        mutating func nextSample() throws(PanTraceError) -> PanTraceSample? {
            note()
            return try samples.nextSample()
        }
    }

    @Test(arguments: [128, 512])
    func aRowOfATileSizeIsAReplayOfThatTileSize(size: Int) throws {
        var options = ReplayOptions()
        options.duration = 3_000_000_000
        let shared = options
        let inputs: [@Sendable () throws -> ReplayInput] = [{ try ReplayInput(lively: shared) }]
        var tuning = TuneOptions(replay: options)
        tuning.budgets = [.bytes(32 << 20)]
        tuning.tileSizes = [256, size]
        tuning.policies = []
        let report = try Tune(tuning, inputs: inputs).run()
        let row = try #require(report.rows.first { $0.tileSize == size })
        options.memoryLimit = .bytes(32 << 20)
        options.overrides.tileSize = size
        let alone = options
        let plain = try Replay(alone).run([{ try ReplayInput(lively: alone) }]).total
        #expect(row.hitRate == plain.demands.hitRate && row.waste == plain.loads.waste)
        #expect(row.sharp == plain.coverage.sharp && row.peakBytes == plain.memory.peakBytes)
        #expect(row.sharp != report.rows.first { $0.tileSize == 256 }?.sharp)

        // The displayed parts of the answer and the curve are of the first size only.
        tuning.tileSizes = [size]
        let single = try Tune(tuning, inputs: inputs).run()
        let shown = try #require(try Tune.shown(single, options: tuning, inputs: inputs))
        #expect(shown.report.demands.total == plain.demands.total)
        let curve = try ReuseCurve(ReplayInput(lively: alone), options: alone)
        #expect(single.lruAccesses == curve.accesses)
    }

    @Test func sizesOfTheCurveWhoseBytesOverflowAreNoTrap() throws {
        var options = ReplayOptions()
        options.duration = 2_000_000_000
        let shared = options
        var tuning = TuneOptions(replay: options)
        tuning.budgets = [.bytes(16 << 20)]
        tuning.policies = []
        tuning.lruSizes = [1, 64, 65, 99_999_999_999_999_999, .max]
        let report = try Tune(tuning, inputs: [{ try ReplayInput(lively: shared) }]).run()
        // 256 x 256 x 4 bytes: 64 of them fill 16 MiB.
        #expect(report.slotBytes == 1 << 18)
        #expect(report.largestLRU(within: 16 << 20)?.tiles == 64)
        #expect(report.largestLRU(within: (65 << 18) - 1)?.tiles == 64)
        #expect(report.largestLRU(within: 65 << 18)?.tiles == 65)
        #expect(report.largestLRU(within: (1 << 18) - 1) == nil)
        #expect(TuneText.text(report).contains("plain LRU of 64 tiles"))
        #expect(try TunePage.text(report).contains("plain LRU"))
    }

    @Test func aStoresLimitIsSuggestedWithTheMemorys() throws {
        var options = ReplayOptions()
        options.duration = 4_000_000_000
        options.tiers = [.init(name: "disk", latency: 2_000_000), .init(name: "shared", latency: 5_000_000)]
        options.keepsTiers = true
        let shared = options
        var tuning = TuneOptions(replay: options, target: .hitRate(0.5))
        tuning.budgets = [.bytes(16 << 20), .bytes(96 << 20)]
        tuning.policies = []
        tuning.storeLimits = [1 << 30, 1 << 20, 64 << 20, 1 << 20]
        #expect(tuning.variants.map { $0.tiers[0].byteLimit } == [1 << 20, 64 << 20, 1 << 30])
        #expect(tuning.variants.allSatisfy { $0.tiers[1].byteLimit == nil })
        // The second of two equal sessions finds the tiles of the first one.
        let input = { @Sendable in try ReplayInput(lively: shared) }
        let inputs = [input, input]
        let report = try Tune(tuning, inputs: inputs).run()
        for row in report.rows {
            var alone = options
            alone.memoryLimit = .bytes(row.byteLimit)
            alone.tiers[0].byteLimit = row.storeLimit
            let total = try Replay(alone).run(inputs).total
            #expect(total.tiers.last?.misses == row.sourceLoads && total.demands.hitRate == row.hitRate)
        }
        let suggested = try #require(report.suggested)
        let same = report.rows.filter { $0.byteLimit == suggested.byteLimit && $0.meetsTarget == true }
        #expect(suggested.storeLimit == same.compactMap(\.storeLimit).min())
        #expect(suggested.flags.contains("--store disk=2ms:\(MemoryLimit.bytes(suggested.storeLimit ?? 0)),shared=5ms"))
        #expect(suggested.flags.contains("--warm"))
        let lines = TuneText.text(report).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("cachebench replay ") })
    }

    @Test(arguments: [(false, true), (true, false), (true, true)])
    func aTableWithEffortsFitsATerminal(hasStores: Bool, hasVariants: Bool) throws {
        var options = ReplayOptions()
        options.duration = 1_000_000_000
        if hasStores { options.tiers = [.init(name: "disk", latency: 2_000_000)] }
        let shared = options
        var tuning = TuneOptions(replay: options, target: .hitRate(0))
        tuning.budgets = [.bytes(128 << 20)]
        tuning.policies = []
        if hasStores { tuning.storeLimits = [256 << 20] }
        if hasVariants { (tuning.workers, tuning.compressedShares) = ([2, 255], [0.25, nil]) }
        tuning.maximumWaste = 0.9
        let text = TuneText.text(try Tune(tuning, inputs: [{ try ReplayInput(lively: shared) }]).run())
        let lines = text.split(separator: "\n")
        let head = try #require(lines.firstIndex { $0.contains("effort") })
        #expect(lines[head + 1].contains("MiB") && lines[(head + 2)...].contains { $0.hasSuffix(" <") }, "\(text)")
        #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("cachebench replay ") }, "\(text)")
    }
}
