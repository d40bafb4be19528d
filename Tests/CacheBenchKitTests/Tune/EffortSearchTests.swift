import Testing
import TileCache

@testable import CacheBenchKit

/// Search for an effort against a grid of all that it may find.
@Suite struct EffortSearchTests {
    /// Runs a search over a curve; returns the answer and the efforts tried.
    private func search(
        start: Double,
        maximum: Double?,
        waste: (Double) -> Double?
    ) -> (answer: Double?, tried: [Double]) {
        var search = EffortSearch(start: start, maximumWaste: maximum)
        var tried: [Double] = []
        while let effort = search.next, tried.count < 100 {
            #expect(search.answer == nil)
            tried.append(effort)
            search.record(waste: waste(effort))
        }
        return (search.answer, tried)
    }

    /// Of a rising curve the largest thirty-second within the maximum is found. Below two of them it is 0.
    @Test func aRisingCurveGivesWhatTheGridGives() throws {
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed)
            let start = random.next(from: 0.01, to: 1)
            let maximum = random.next(from: 0, to: 1)
            let (lowest, slope) = (random.next(from: 0, to: 0.5), random.next(from: 0, to: 2))
            let isStepped = random.next() & 1 == 0
            func waste(_ effort: Double) -> Double {
                let waste = lowest + slope * effort
                return isStepped ? (waste * 10).rounded() / 10 : waste
            }
            let grid = (2...32).map { start / 32 * Double($0) }
            let expected = grid.last { waste($0) <= maximum } ?? 0
            let (answer, tried) = search(start: start, maximum: maximum, waste: waste)
            let found = try #require(answer)
            #expect(abs(found - expected) < 1e-12, "seed \(seed): \(found), not \(expected)")
            #expect(tried.count <= EffortSearch.maximumTries && Set(tried).count == tried.count, "seed \(seed)")
            #expect(tried.contains(found) && tried.first == start, "seed \(seed)")
        }
    }

    /// The answer was tried and is within the maximum, or it is 0.
    @Test func anyCurveGivesAnAllowedEffort() throws {
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed)
            var values: [Double: Double] = [:]
            let (answer, tried) = search(start: 0.5, maximum: 0.4) { effort in
                values[effort] = random.next(from: 0, to: 1)
                return values[effort]
            }
            let found = try #require(answer)
            #expect(found == 0 || values[found] ?? 1 <= 0.4, "seed \(seed)")
            #expect(tried.contains(found) && tried.count <= 6, "seed \(seed)")
        }
    }

    @Test func boundaries() {
        // Exactly the maximum is within it.
        #expect(search(start: 0.5, maximum: 0.4) { _ in 0.4 }.tried == [0.5])
        #expect(search(start: 0.5, maximum: 0.4) { _ in 0.4.nextUp }.tried == [0.5, 0.25, 0.125, 0.0625, 0.03125, 0])
        #expect(search(start: 0.5, maximum: 0.4) { _ in 0.9 }.answer == 0)
        #expect(search(start: 0.5, maximum: 0.4) { $0 }.answer == 0.390625)
        #expect(search(start: 0.5, maximum: 0) { _ in nil }.tried == [0.5])
        #expect(search(start: 0.5, maximum: nil) { _ in 1 }.tried == [0.5])
        #expect(search(start: 0, maximum: 0.1) { _ in 1 }.tried == [0])
        #expect(search(start: 0, maximum: 0.1) { _ in 1 }.answer == 0)
    }

    /// Each limit has the effort that the search finds with replays of that limit alone.
    @Test func everyLimitHasItsOwnEffort() throws {
        var options = ReplayOptions()
        options.duration = 4_000_000_000
        let shared = options
        let inputs: [@Sendable () throws -> ReplayInput] = [{ try ReplayInput(lively: shared) }]
        var tuning = TuneOptions(replay: options, target: .hitRate(0.1))
        tuning.budgets = [.bytes(16 << 20), .bytes(48 << 20)]
        tuning.policies = [.none, .ring]
        // Half of what the larger limit wastes with the usual effort.
        let free = try Tune(tuning, inputs: inputs).run()
        let waste = try #require(free.rows.first { $0.byteLimit == 48 << 20 }?.waste)
        try #require(waste > 0)
        let maximum = waste / 2
        tuning.maximumWaste = maximum
        let report = try Tune(tuning, inputs: inputs).run()
        #expect(report.maximumWaste == maximum && report.rows.count >= 2)
        func total(_ row: TuneReport.Row, effort: Double) throws -> ReplayReport {
            var alone = options
            alone.memoryLimit = .bytes(row.byteLimit)
            alone.effort = effort
            return try Replay(alone).run(inputs).total
        }
        for row in report.rows {
            let (answer, tried) = search(start: 0.5, maximum: maximum) { try? total(row, effort: $0).loads.waste }
            #expect(row.effort == answer && tried.count <= 6)
            let own = try total(row, effort: try #require(answer))
            #expect(own.demands.hitRate == row.hitRate && own.loads.waste == row.waste)
            if answer == 0 { #expect(own.prefetch.started == 0) }
        }
        #expect(report.rows.contains { $0.byteLimit == 48 << 20 && ($0.effort ?? 1) < 0.5 })
        let suggested = try #require(report.answer)
        let effort = try #require(suggested.effort)
        #expect(effort == report.rows.first(where: report.isAnswer)?.effort)
        if effort != 0.5 { #expect(suggested.flags.contains("--effort \(Figures.plain(effort))")) }
        #expect(report.policies.filter { $0.policy == "none" }.allSatisfy { $0.effort == 0.5 })

        let text = TuneText.text(report)
        #expect(text.contains("effort") && text.contains("its effort"))
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("cachebench replay ") })
        #expect(try JSONText.of(report).contains("\"maximumWaste\" : "))
        #expect(try TunePage.text(report).contains("--maximum-waste \(Figures.plain(maximum))"))
        let shown = try #require(try Tune.shown(report, options: tuning, inputs: inputs))
        #expect(shown.report.demands.hitRate == suggested.hitRate)
    }

    @Test func withoutAMaximumNothingIsSaidOfEfforts() throws {
        var options = ReplayOptions()
        options.duration = 1_000_000_000
        let shared = options
        var tuning = TuneOptions(replay: options)
        tuning.budgets = [.bytes(32 << 20)]
        tuning.policies = []
        let report = try Tune(tuning, inputs: [{ try ReplayInput(lively: shared) }]).run()
        #expect(report.rows.count == 1 && report.rows[0].effort == nil)
        #expect(!TuneText.text(report).contains("effort"))
        let json = try JSONText.of(report)
        // The only effort is that of the configuration.
        #expect(!json.contains("maximumWaste") && json.components(of: "\"effort\"") == 1)
    }

    @Test func anEffortWithoutEffectIsAnError() throws {
        func problem(_ change: (inout ReplayOptions) -> Void) -> String? {
            var options = ReplayOptions()
            change(&options)
            var tuning = TuneOptions(replay: options)
            tuning.maximumWaste = 0.4
            return tuning.wasteProblem?.description
        }
        #expect(problem { _ in } == nil)
        #expect(problem { $0.allowance = .priced(PrefetchTerms(requestsPerMinute: 60)) } == nil)
        #expect(problem { $0.prefetch = .none }?.contains("--prefetch none") == true)
        #expect(problem { $0.prefetch = .oracle }?.contains("--prefetch oracle") == true)
        var tuning = TuneOptions(replay: ReplayOptions())
        tuning.maximumWaste = 0.4
        tuning.replay.prefetch = .none
        let options = tuning.replay
        #expect(throws: ReplayError.self) {
            try Tune(tuning, inputs: [{ try ReplayInput(lively: options) }]).run()
        }
    }
}

extension String {
    /// Number of times that a text occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
