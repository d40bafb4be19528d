import Foundation
import Testing
import TileCache

@testable import CacheBenchKit

/// Conditions on reports, and comparisons with earlier ones.
@Suite struct FieldCheckTests {
    private func tree(_ fields: [String: JSONTree]) -> JSONTree { .object(fields) }

    /// Structure of a report of one trace.
    private var one: JSONTree { whole(.object(fields)) }

    private func whole(_ report: JSONTree) -> JSONTree {
        tree(["schema": .number(2), "traces": .array([report]), "total": report, "sources": .array([report])])
    }

    private var fields: [String: JSONTree] {
        [
            "trace": tree(["name": .text("a.csv"), "hash": .text("1")]),
            "demands": tree(["hitRate": .number(0.95), "total": .number(2000), "pan": tree(["hitRate": .null])]),
            "memory": tree(["peakBytes": .number(64 * 1_048_576)]),
            "timeToSharp": tree(["p95": .number(40)]),
            "configuration": tree(["prefetch": .text("ring")]),
        ]
    }

    private func part(_ rate: Double, _ name: String, source: String = "touch") -> JSONTree {
        tree([
            "trace": tree(["name": .text(name), "source": .text(source), "hash": .text(name)]),
            "demands": tree(["hitRate": .number(rate), "total": .number(7)]),
            "configuration": tree(["workers": .number(4)]),
        ])
    }

    private func several(_ a: Double, _ b: Double, _ total: Double, isTurned: Bool = false) -> JSONTree {
        let parts = [part(a, "a"), part(b, "b")]
        return tree([
            "traces": .array(isTurned ? parts.reversed() : parts), "total": part(total, "total"),
            "sources": .array([part(total, "2 traces")]),
        ])
    }

    private var several: JSONTree { several(0.9, 0.98, 0.95) }

    @Test(arguments: [
        ("demands.hitRate>=0.95", true), ("demands.hitRate>0.95", false), ("demands.hitRate <= 95%", true),
        ("demands.hitRate<0.95", false), ("demands.hitRate==0.95", true), ("demands.hitRate!=0.95", false),
        ("demands.hitRate>=95.1%", false), ("memory.peakBytes<=64MiB", true), ("memory.peakBytes<64MiB", false),
        ("memory.peakBytes<=67108863", false), ("timeToSharp.p95<=40ms", true), ("timeToSharp.p95<=39.9ms", false),
        ("timeToSharp.p95<0.1s", true), ("configuration.prefetch==ring", true), ("configuration.prefetch!=ring", false),
        ("traces.demands.hitRate>=0.95", true), ("total.demands.total==2000", true), ("demands.pan.hitRate>0", false),
        ("demands.pan.hitRate==null", true),
    ])
    func bothSidesOfEachBound(condition: String, holds: Bool) throws {
        #expect(try FieldCheck(condition).failures(in: one).isEmpty == holds)
    }

    @Test func anObjectIsNotNull() throws {
        #expect(try FieldCheck("demands!=null").failures(in: one).isEmpty)
        #expect(
            try FieldCheck("demands==null").failures(in: one) == [
                "check failed: demands==null: total.demands is an object"
            ]
        )
    }

    @Test func severalTracesAreCheckedTogetherOrEach() throws {
        #expect(try FieldCheck("demands.hitRate>=0.95").failures(in: several).isEmpty)
        #expect(try FieldCheck("total.demands.hitRate>=0.95").failures(in: several).isEmpty)
        let failed = try FieldCheck("traces.demands.hitRate>=0.95").failures(in: several)
        #expect(failed == ["check failed: traces.demands.hitRate>=0.95: traces[0].demands.hitRate is 0.9"])
        #expect(try FieldCheck("traces[1].demands.hitRate>=0.95").failures(in: several).isEmpty)
        #expect(throws: ReplayError.self) { try FieldCheck("traces[2].demands.hitRate>=0").failures(in: several) }
    }

    @Test(arguments: [
        ("demands.hitrate>=1", "demands.hitRate"), ("hitRate>=1", "demands.hitRate"),
        ("demand.hitRate>1", "demands.hitRate"),
        ("memory.peakByte<1", "memory.peakBytes"), ("timeToSharp.p96<1", "timeToSharp.p95"),
    ])
    func aMistakenNameIsToldWhatIsNear(condition: String, near: String) throws {
        let error = #expect(throws: ReplayError.self) { try FieldCheck(condition).validate(against: one) }
        #expect(error?.description.contains("near are") == true && error?.description.contains(near) == true)
    }

    @Test(arguments: ["", "demands.hitRate", ">=3", "demands.hitRate>=", "a=1"])
    func whatIsNoConditionIsRefused(text: String) {
        #expect(throws: ReplayError.self) { try FieldCheck(text) }
    }

    @Test(arguments: [
        "demands.hitRate>=95", "demands.hitRate<=101%", "demands.hitRate>=-0.1", "demands.hitRate>=64MiB",
        "memory.peakBytes<=40ms", "configuration.prefetch>3", "timeToSharp.p95<1%",
    ])
    func unitsMustFit(text: String) throws {
        let check = try FieldCheck(text)
        #expect(throws: ReplayError.self) { try check.failures(in: one) }
    }

    /// Before the run it has no value.
    @Test(arguments: ["demands.hitRate>=95 percent", "timeToSharp.p95<0.5", "coverage.blank<1%", "loads.waste==null"])
    func theValueForARateIsCheckedBeforeTheRun(condition: String) throws {
        let check = try FieldCheck(condition)
        let report = try #require(JSONTree.emptyReplay(ReplayOptions()))
        guard condition.contains("percent") else { return try check.validate(against: report) }
        let error = #expect(throws: ReplayError.self) { try check.validate(against: report) }
        #expect(
            error?.description.contains("demands.hitRate is a share from 0 to 1 (0.95, 95%), and 95 percent") == true
        )
    }

    @Test func everyFieldOfARealReportCanBeChecked() throws {
        let report = try #require(JSONTree.emptyReplay(ReplayOptions()))
        #expect(report.leaves.count > 60)
        for leaf in report.leaves {
            if case .number(let value) = leaf.value {
                #expect(try FieldCheck("\(leaf.path)==\(value)").failures(in: report).isEmpty, "\(leaf.path)")
            }
        }
    }

    private func changed(_ change: (inout [String: JSONTree]) -> Void) -> JSONTree {
        var fields = fields
        change(&fields)
        return whole(.object(fields))
    }

    private func compare(_ now: JSONTree, _ tolerance: Double = 0) throws -> Baseline.Outcome {
        try Baseline(report: one, path: "old.json", tolerance: tolerance).compare(now)
    }

    @Test func whatIsWorseAndWhatIsBetter() throws {
        #expect(try compare(one).worse.isEmpty && compare(one).better.isEmpty)
        let worse = changed {
            $0["demands"] = tree(["hitRate": .number(0.94), "total": .number(1999), "pan": tree(["hitRate": .null])])
            $0["memory"] = tree(["peakBytes": .number(60 * 1_048_576)])
        }
        let outcome = try compare(worse)
        #expect(outcome.worse == ["worse   a.csv demands.hitRate: 0.95 -> 0.94 (-1.1 %)"])
        #expect(outcome.better.count == 1 && outcome.better[0].hasPrefix("better  a.csv memory.peakBytes: "))
        #expect(outcome.changed == 1)
    }

    @Test(arguments: [
        ("drawableHitRate", 0.9, 0.8), ("deficitGapClosed", 0.5, 0.4), ("deficit", 0.1, 0.2),
        ("firstCompleteFrame", 50.0, 60.0),
    ])
    func figuresThatWereAddedLaterHaveADirectionToo(name: String, before: Double, after: Double) throws {
        let baseline = Baseline(report: rows { $0[name] = .number(before) }, path: "old.json")
        #expect(try baseline.compare(rows { $0[name] = .number(after) }).worse.count == 3)
        let other = Baseline(report: rows { $0[name] = .number(after) }, path: "old.json")
        #expect(try other.compare(rows { $0[name] = .number(before) }).better.count == 3)
    }

    /// Also if the quotient of the figures, rounded, exceeds it.
    @Test func aChangeAsLargeAsTheToleranceIsTolerated() throws {
        let baseline = Baseline(report: rows { $0["deficit"] = .number(100) }, path: "old.json", tolerance: 0.01)
        #expect(try baseline.compare(rows { $0["deficit"] = .number(101) }).worse.isEmpty)
        #expect(try baseline.compare(rows { $0["deficit"] = .number(101.001) }).worse.count == 3)
    }

    @Test(arguments: [(0.01, false), (0.011, true)])
    func toleranceOnBothSides(tolerance: Double, isWell: Bool) throws {
        let worse = changed {
            $0["demands"] = tree(["hitRate": .number(0.94), "total": .number(2000), "pan": tree(["hitRate": .null])])
        }
        let outcome = try compare(worse, tolerance)
        #expect(outcome.worse.isEmpty == isWell)
        #expect(outcome.tolerated == (isWell ? 1 : 0))
    }

    @Test func anotherTraceIsNoBaseline() throws {
        let other = changed { $0["trace"] = tree(["name": .text("a.csv"), "hash": .text("2")]) }
        let error = #expect(throws: ReplayError.self) { try compare(other) }
        #expect(error?.description.contains("different traces") == true)
        #expect(throws: ReplayError.self) { try compare(tree(["verdict": .text("PASS")])) }
    }

    /// A row as `compare` writes it.
    private func rows(_ change: (inout [String: JSONTree]) -> Void = { _ in }) -> JSONTree {
        var row: [String: JSONTree] = [
            "policy": .text("tilecache"), "byteLimit": .number(1e7), "budget": .text("4screens"),
            "screens": .number(4), "workers": .number(4), "loadLatency": .number(40), "effort": .number(0.5),
            "hash": .text("1"), "hitRate": .number(0.9),
        ]
        change(&row)
        return tree(["rows": .array([tree(row), tree(row)]), "totals": .array([tree(row)])])
    }

    @Test(arguments: ["budget", "workers", "loadLatency", "effort"])
    func rowsOfAnotherBudgetAreNoBaseline(field: String) throws {
        let baseline = Baseline(report: rows(), path: "old.json")
        #expect(try baseline.compare(rows { $0["hitRate"] = .number(0.8) }).worse.count == 3)
        for other in [JSONTree.number(3), .null] {
            let error = #expect(throws: ReplayError.self) { try baseline.compare(rows { $0[field] = other }) }
            #expect(error?.description.contains("different traces or settings: it has tilecache ") == true)
        }
    }

    @Test func rowsOfOtherTracesOrAnotherNumberAreNoBaseline() throws {
        let baseline = Baseline(report: rows(), path: "old.json")
        let traces = #expect(throws: ReplayError.self) { try baseline.compare(rows { $0["hash"] = .text("2") }) }
        #expect(traces?.description.contains("these are different traces") == true)
        guard case .object(var fields) = rows(), case .array(let list)? = fields["rows"] else {
            Issue.record("a report has no rows")
            return
        }
        fields["rows"] = .array(list + list)
        let more = #expect(throws: ReplayError.self) { try baseline.compare(.object(fields)) }
        #expect(more?.description.contains("it has nothing else, this report has tilecache 4screens, ") == true)
        // Tables, which are part of a limit in screens, change with the policy.
        #expect(try baseline.compare(rows { $0["byteLimit"] = .number(2e7) }).changed == 3)
    }

    @Test(arguments: [
        ("firstCompleteFrame", "50ms", 50), ("textures.timeToSharp.maximum", "1.2s", 1200),
        ("tiers.waitMilliseconds", "2s", 2000), ("configuration.loadLatencyMilliseconds", "40ms", 40),
        ("service.frameCost.p99", "50us", 0.05), ("trace.seconds", "2min", 120),
        ("configuration.durationSeconds", "500ms", 0.5),
        ("coverage.blankPixelMilliseconds", "50%", 0.5),
    ])
    func timesAreInTheUnitOfTheirField(field: String, text: String, value: Double) {
        #expect(FieldUnit(of: field).number(text) == value)
    }

    /// How many traces and folders there will be is not known then.
    @Test func numbersOfTracesAreNotCheckedBeforeTheRun() throws {
        let report = try #require(JSONTree.emptyReplay(ReplayOptions()))
        for path in ["traces[0]", "traces[7]", "sources[2]"] {
            try FieldCheck("\(path).demands.hitRate>=0.5").validate(against: report)
        }
        for path in ["traces[-1]", "traces[x]", "total[1]", "traces[7].tiers", "traces[7].demand"] {
            #expect(throws: ReplayError.self, "\(path)") {
                try FieldCheck("\(path).hits>=0").validate(against: report)
            }
        }
    }

    @Test(arguments: [
        "rows[3].hitRate>=0.5", "totals.waste<0.4", "chargedRows.sharp>0.9", "configuration.budgets==2screens",
    ])
    func fieldsOfAComparisonCanBeCheckedBeforeIt(condition: String) throws {
        var options = ReplayOptions()
        if condition.hasPrefix("charged") { options.cost = .measured }
        let comparison = Compare(options: options, policies: [.none], budgets: [.screens(2)])
        let report = try #require(JSONTree.emptyComparison(comparison))
        try FieldCheck(condition).validate(against: report)
        #expect(throws: ReplayError.self) { try FieldCheck("rows.hitRat>=0.5").validate(against: report) }
        #expect(throws: ReplayError.self) { try FieldCheck("totals.loadedBytes<4ms").validate(against: report) }
    }

    @Test(arguments: [
        "suggested.byteLimit<=64MiB", "suggested.effort>0.1", "oneStepSmaller.hitRate<1", "target.value>0",
        "knee==null", "oneStepSmaller!=null", "steps[3].hitRate<1", "alternatives[1].blank<1",
    ])
    func fieldsOfASearchCanBeCheckedBeforeIt(condition: String) throws {
        var options = TuneOptions(replay: ReplayOptions(), target: .hitRate(0.9))
        options.maximumWaste = 0.5
        let report = try #require(JSONTree.emptySearch(options))
        try FieldCheck(condition).validate(against: report)
        #expect(throws: ReplayError.self) { try FieldCheck("suggested.hitRat>=1").validate(against: report) }
        #expect(throws: ReplayError.self) { try FieldCheck("suggested.byteLimit<4ms").validate(against: report) }
    }

    /// A curve may have no knee. The path is right, as the check before the run has found.
    @Test func aFieldOfAnObjectThatIsNullFails() throws {
        let report = tree(["knee": .null])
        let failures = try FieldCheck("knee.byteLimit<=64MiB").failures(in: report)
        #expect(failures == ["check failed: knee.byteLimit<=64MiB: knee is null"])
        #expect(try FieldCheck("knee.byteLimit==null").failures(in: report).isEmpty)
        #expect(throws: ReplayError.self) { try FieldCheck("knee.byteLimit<=64MiB").validate(against: report) }
    }

    @Test func theKindOfABaselineIsCheckedBeforeTheRun() throws {
        let comparison = Compare(options: ReplayOptions(), policies: [.none], budgets: [.screens(2)])
        let reports = try [
            #require(JSONTree.emptyReplay(ReplayOptions())), #require(JSONTree.emptyComparison(comparison)),
            #require(JSONTree.emptySearch(TuneOptions(replay: ReplayOptions()))),
        ]
        for (number, report) in reports.enumerated() {
            let baseline = Baseline(report: report, path: "old.json")
            for (other, empty) in reports.enumerated() {
                if number == other {
                    try baseline.validate(against: empty)
                } else {
                    #expect(throws: ReplayError.self) { try baseline.validate(against: empty) }
                }
            }
        }
    }

    /// Fields that only some runs have: tiers, the service's waits and the source's counts.
    @Test func fieldsOfTheRunCanBeCheckedBeforeIt() throws {
        func validate(_ condition: String, _ report: JSONTree?) throws {
            try FieldCheck(condition).validate(against: #require(report))
        }
        var tiered = ReplayOptions()
        tiered.tiers = [VirtualTiers.Tier(name: "disk", latency: 2_000_000)]
        try validate("tiers.hits>=1", .emptyReplay(tiered))
        try validate("tiers.waitMilliseconds<=2s", .emptyReplay(tiered))
        var real = ReplayOptions()
        real.clock = .real
        try validate("service.frameCost.p99<=50ms", .emptyReplay(real))
        try validate("service.demandWait.maximum<=50ms", .emptyReplay(real))
        try validate("tileSource.loads>=0", .emptyReplay(real, hasSource: true))
        try validate("tiers[1].hits>=1", .emptyReplay(real, storeCount: 2))
        try validate("memory.storeBytes<=16MiB", .emptyReplay(real, storeCount: 1))
        for condition in [
            "tiers.hits>=1", "memory.storeBytes<=16MiB", "service.frameCost.p99<=50ms", "tileSource.loads>=0",
        ] {
            #expect(throws: ReplayError.self) { try validate(condition, .emptyReplay(ReplayOptions())) }
        }
    }

    @Test func anEffortThatWasFoundForEqualLoadsMayDiffer() throws {
        let equal = rows { $0["targetLoads"] = .number(900) }
        let now = rows {
            $0["targetLoads"] = .number(890)
            $0["effort"] = .number(0.4)
        }
        #expect(try Baseline(report: equal, path: "old.json").compare(now).worse.isEmpty)
        // Outside of rows a budget is an option like any other.
        let memory = changed { $0["memory"] = tree(["byteLimit": .number(1), "peakBytes": .number(64 * 1_048_576)]) }
        let old = changed { $0["memory"] = tree(["byteLimit": .number(2), "peakBytes": .number(64 * 1_048_576)]) }
        #expect(try Baseline(report: old, path: "old.json").compare(memory).changed == 1)
    }

    @Test func aRateThatBecameNullIsWorse() throws {
        let gone = changed {
            $0["demands"] = tree(["hitRate": .null, "total": .number(2000), "pan": tree(["hitRate": .null])])
        }
        #expect(try compare(gone, 1).worse == ["worse   a.csv demands.hitRate: 0.95 -> null"])
        // In the other direction the earlier value is unknown.
        #expect(try Baseline(report: gone, path: "old.json").compare(one).worse.isEmpty)
        // If all demands were hits there is no wait.
        let prompt = changed { $0["timeToSharp"] = tree(["p95": .null]) }
        #expect(try compare(prompt).worse.isEmpty && compare(prompt).changed == 1)
    }

    @Test func tracesAreFoundByTheirHashAndNamed() throws {
        let baseline = Baseline(report: several, path: "old.json")
        let outcome = try baseline.compare(several(0.89, 0.49, 0.7, isTurned: true))
        #expect(
            outcome.lines == [
                "worse   touch/b demands.hitRate: 0.98 -> 0.49 (-50.0 %)",
                "worse   all traces demands.hitRate: 0.95 -> 0.7 (-26.3 %)",
                "worse   touch/a demands.hitRate: 0.9 -> 0.89 (-1.1 %)",
                "baseline: 3 worse, 0 better, 6 equal",
            ]
        )
        let error = #expect(throws: ReplayError.self) { try baseline.compare(one) }
        #expect(error?.description.contains("it has touch/a, touch/b, this report has a.csv") == true)
    }

    @Test func theLastBitsOfANumberAreIgnored() throws {
        func outcome(_ rate: Double) throws -> Baseline.Outcome {
            try Baseline(report: several, path: "old.json").compare(several(rate, 0.98, 0.95))
        }
        #expect(try outcome(0.9.nextDown).lines == ["baseline: 0 worse, 0 better, 9 equal"])
        #expect(try outcome(0.9 - 7 * 0.9.ulp).worse.isEmpty)
        #expect(try outcome(0.9 - 8 * 0.9.ulp).worse.count == 1)
        #expect(try outcome(0.9 + 8 * 0.9.ulp).better.count == 1)
        #expect(Baseline.isSameButForLastBits(0, 0) && !Baseline.isSameButForLastBits(0, Double.leastNonzeroMagnitude))
    }

    @Test func optionsAreSaidOnceAndLongListsEnd() throws {
        func report(_ workers: Double, _ rate: Double) -> JSONTree {
            let traces = (0..<90).map { index in
                tree([
                    "trace": tree(["name": .text("t\(index)"), "hash": .text("\(index)")]),
                    "demands": tree(["hitRate": .number(rate + Double(index) / 1000)]),
                    "configuration": tree(["workers": .number(workers)]),
                ])
            }
            return tree(["traces": .array(traces), "total": part(rate, "total"), "sources": .array([])])
        }
        let outcome = try Baseline(report: report(4, 0.5), path: "old.json").compare(report(2, 0.4))
        #expect(outcome.options == ["option  workers: 4 -> 2"])
        #expect(outcome.worse.count == 91 && outcome.lines.count == 40 + 1 + 1 + 1)
        #expect(outcome.lines[0].hasPrefix("worse   ") && outcome.lines[0].contains("0.5 -> 0.4 (-20.0 %)"))
        #expect(outcome.lines[40] == "        and 51 more of this kind")
    }
}
