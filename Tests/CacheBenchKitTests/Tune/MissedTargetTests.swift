import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// A target for which no limit is suggested: the report says what helps instead.
@Suite struct MissedTargetTests {
    private func tune(
        _ target: TuneTarget,
        _ replay: ReplayOptions,
        change: (inout TuneOptions) -> Void = { _ in }
    ) throws -> TuneReport {
        var tuning = TuneOptions(replay: replay, target: target)
        tuning.budgets = [.bytes(8 << 20), .bytes(24 << 20)]
        tuning.policies = []
        change(&tuning)
        return try Tune(tuning, inputs: [{ try ReplayInput(lively: replay) }]).run()
    }

    private var short: ReplayOptions {
        var options = ReplayOptions()
        options.duration = 3_000_000_000
        return options
    }

    @Test(arguments: [TuneTarget.hitRate(1), .blank(0)])
    func nothingIsSuggested(target: TuneTarget) throws {
        let report = try tune(target, short)
        #expect(report.suggested == nil && report.oneStepSmaller == nil)
        let nearest = try #require(report.nearest)
        #expect(nearest.reason == "best")
        // Of the limits that hold a screen the nearest to the target, the smallest of equals.
        let fitting = report.rows.filter { $0.shortfallBytes == 0 }
        #expect(fitting.count > 2)
        let scores = fitting.map { target.score(hitRate: $0.hitRate, blank: $0.blank) }
        let best = try #require(scores.max())
        #expect(best < target.score(hitRate: 1, blank: 0))
        #expect(fitting[try #require(scores.firstIndex(of: best))].byteLimit == nearest.byteLimit)

        #expect(report.steps.map(\.byteLimit) == fitting.map(\.byteLimit))
        #expect(report.steps.first?.gain == nil)
        for (index, step) in report.steps.enumerated().dropFirst() {
            #expect(step.gain == scores[index] - scores[index - 1])
        }
        let wanted = target == .blank(0) ? "at most 0.0 % blank" : "100.0 % hits"
        let text = TuneText.text(report)
        #expect(text.contains("no limit suggested\n") && text.contains("No limit tried reaches \(wanted)."))
        #expect(!text.contains("suggested limit") && text.split(separator: " <\n").count == 2)
        #expect(text.hasSuffix("\ncachebench replay \(nearest.flags)\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        let page = try TunePage.text(report)
        #expect(page.contains("<title>No memory limit reaches \(wanted)</title>"))
        #expect(!page.contains("Use a memory limit") && !page.contains("(suggested)"))
    }

    /// Each alternative is what `replay` gives with its flags, and one of the options differs.
    @Test func anAlternativeIsAReplayWithOneChange() throws {
        let report = try tune(.hitRate(1), short) { $0.policies = [.oracle] }
        let nearest = try #require(report.nearest)
        let names = [
            "--workers 8", "--load-latency 20ms", "--effort 1", "--level-bias 1 (coarser)",
            "a prefetch that knows the future",
        ]
        #expect(report.alternatives.map(\.change) == names)
        let changes: [(inout ReplayOptions) -> Void] = [
            { $0.workers = 8 }, { $0.loadLatency = 20_000_000 }, { $0.effort = 1 }, { $0.levelBias = 1 },
            { ($0.prefetch, $0.eviction) = (.oracle, .belady) },
        ]
        #expect(report.alternatives.map(\.isBound) == [false, false, false, false, true])
        #expect(report.bestAlternative?.isBound == false)
        let text = TuneText.text(report).replacing("\n  ", with: " ")
        let word = try #require(report.alternatives.last).meetsTarget ? "could" : "cannot"
        #expect(text.contains("Better prediction alone \(word) reach the target"), "\(text)")
        for (one, change) in zip(report.alternatives, changes) {
            var options = short
            options.memoryLimit = .bytes(nearest.byteLimit)
            change(&options)
            let same = options
            let total = try Replay(options).run([{ try ReplayInput(lively: same) }]).total
            #expect(one.hitRate == total.demands.hitRate && one.blank == total.coverage.blank, "\(one)")
            #expect(one.waste == total.loads.waste && one.meetsTarget == (total.demands.hitRate == 1), "\(one)")
            #expect(one.flags == ReplayFlags.pasted(options, byteLimit: nearest.byteLimit))
        }
    }

    @Test func whatMeetsTheTargetIsNamed() throws {
        // Slow loads: no memory makes up for them.
        var slow = short
        slow.loadLatency = 1_000_000_000
        let missed = try tune(.hitRate(1), slow)
        let base = try #require(missed.nearest?.hitRate)
        let best = try #require(missed.bestAlternative)
        let rate = try #require(best.hitRate)
        try #require(rate > base, "a change that helps is expected: \(missed.alternatives)")
        // A target between what the limits and what the best change reach, and one at it.
        for target in [(base + rate) / 2, rate] {
            let report = try tune(.hitRate(target), slow)
            #expect(report.suggested == nil)
            let meeting = report.alternatives.filter(\.meetsTarget)
            #expect(meeting.contains { $0.change == best.change })
            #expect(meeting == report.alternatives.filter { ($0.hitRate ?? 0) >= target })
            let text = TuneText.text(report).replacing("\n  ", with: " ")
            #expect(text.contains("The target is met with \(meeting[0].change)"), "\(text)")
        }
        #expect(TuneText.text(missed).replacing("\n  ", with: " ").contains("The best is \(best.change)"))
    }

    /// Limits that meet the target below one that misses it: the words do not deny them.
    @Test(arguments: [false, true]) func aTargetMetByChance(isInterrupted: Bool) throws {
        var report = try tune(.hitRate(1), short)
        report.interrupted = isInterrupted
        let before = isInterrupted ? "No memory limit found so far" : "No memory limit"
        #expect(try TunePage.text(report).contains("<title>\(before) reaches 100.0 % hits</title>"))
        let row = try #require(report.rows.firstIndex(where: report.isAnswer))
        report.rows[row].meetsTarget = true
        #expect(try TunePage.text(report).contains("<title>\(before) keeps 100.0 % hits</title>"))
        let text = TuneText.text(report).replacing("\n  ", with: " ")
        #expect(text.contains("but a larger limit misses 100.0 % hits: it may be chance") && !text.contains("nearest:"))
    }

    /// Changes without an effect are not tried.
    @Test func onlyOptionsThatCanChangeDo() {
        func changes(_ effort: Double? = nil, _ edit: (inout TuneOptions) -> Void) -> [String] {
            var tuning = TuneOptions(replay: ReplayOptions(), target: .hitRate(1))
            tuning.policies = []
            edit(&tuning)
            return TuneChange.all(of: tuning.replay, effort: effort ?? tuning.replay.effort, tuning).map(\.text)
        }
        let usual = ["--workers 8", "--load-latency 20ms", "--effort 1", "--level-bias 1 (coarser)"]
        #expect(changes { _ in } == usual)
        #expect(changes { $0.replay.workers = 200 }.first == "--workers 255")
        #expect(changes { $0.replay.workers = 255 } == Array(usual.dropFirst()))
        #expect(changes { $0.replay.effort = 1 } == usual.filter { $0 != "--effort 1" })
        #expect(changes { $0.replay.levelBias = 7.5 } == Array(usual.dropLast()))
        #expect(changes { $0.replay.levelBias = 7 }.last == "--level-bias 8 (coarser)")
        #expect(changes { $0.replay.loadLatency = 0 } == usual.filter { !$0.hasPrefix("--load") })
        #expect(changes { $0.replay.loadTimes = .file("x") } == usual.filter { !$0.hasPrefix("--load") })
        let faster = "--load-latency 20ms --load-times bandwidth:2000000B"
        #expect(changes { $0.replay.loadTimes = .bandwidth(1e6) }[1] == faster)
        #expect(changes { $0.replay.prefetch = .none } == usual.filter { $0 != "--effort 1" })
        for allowance in [.never, .resident, .priced(PrefetchTerms(requestsPerMinute: 1))] as [PrefetchAllowance] {
            #expect(changes { $0.replay.allowance = allowance }.contains("no ceiling of prefetches"))
        }
        #expect(changes(0.125) { $0.maximumWaste = 0.1 }[2] == "no --maximum-waste")
        // The oracle plans for hits.
        let future = "a prefetch that knows the future"
        #expect(changes { $0.policies = [.oracle] } == usual + [future])
        #expect(changes { ($0.policies, $0.target) = ([.oracle], .blank(0)) } == usual)
        #expect(changes(0.5) { $0.maximumWaste = 0.1 } == usual.filter { $0 != "--effort 1" })
    }
}
