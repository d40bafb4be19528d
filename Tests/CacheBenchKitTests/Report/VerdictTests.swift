import Testing

@testable import CacheBenchKit

/// The first line of a replay, on both sides of each threshold.
@Suite struct VerdictTests {
    /// A screen of 10 MiB in a limit of 40 MiB, with tiles that come soon and evictions.
    private func report(sharp: Double? = 0.9, blank: Double? = 0.005) throws -> ReplayReport {
        var tally = ReplayTally()
        tally.loads.started = 1000
        tally.memory.byteLimit = 40 << 20
        tally.memory.screenBytes = 10 << 20
        tally.evictions[0] = 1
        var report = tally.pooledReport(name: "total")
        report.demands.total = 10
        report.coverage.sharp = sharp
        report.coverage.blank = blank
        report.timeToSharp.p50 = 200
        #expect(report.evictions["capacity"] == 1)
        return report
    }

    @Test func withoutDemandsThereIsNone() throws {
        var report = try report(sharp: 0, blank: 1)
        report.demands.total = 0
        #expect(Verdict(report) == nil)
        report.memory.shortfallBytes = 1
        #expect(Verdict(report) == .noScreen)
    }

    @Test(arguments: [
        (0.95, 0.01, Verdict.good), (0.9499, 0.01, .notForeseen), (0.95, 0.0101, .notForeseen), (1, 0, .good),
    ])
    func goodIsWhatIsSharp(sharp: Double, blank: Double, expected: Verdict) throws {
        #expect(Verdict(try report(sharp: sharp, blank: blank)) == expected)
    }

    @Test func failedLoadsComeFirst() throws {
        var report = try report(sharp: 1, blank: 0)
        report.memory.shortfallBytes = 1
        report.loads.failed = 100
        #expect(Verdict(report) == .noScreen)
        report.loads.failed = 101
        #expect(Verdict(report) == .sourceFails)
        #expect(Verdict.sourceFails.text(report) == "source fails: 101 of 1,000 loads brought an error")
    }

    /// Loads that are put off while a server is not reached neither end nor fail.
    @Test func aSourceOfWhichNothingComesFails() throws {
        var report = try report(sharp: 0, blank: 1)
        report.tileSource = ReplaySourceCounts()
        #expect(Verdict(report) == .notForeseen)
        report.tileSource?.failures = ["connection": 6]
        report.tileSource?.lastFailure = "http://a/0/0/0.png: no\u{1B} answer"
        #expect(Verdict(report) == .sourceFails)
        #expect(
            Verdict.sourceFails.text(report)
                == "source fails: none of 1,000 loads has brought a tile; the last: http://a/0/0/0.png: no? answer"
        )
        for field in [\ReplayReport.Loads.finished, \.absent] {
            var some = report
            some.loads[keyPath: field] = 1
            #expect(Verdict(some) == .notForeseen)
        }
        report.loads.finished = 1
        report.loads.failed = 999
        #expect(
            Verdict.sourceFails.text(report).hasPrefix("source fails: 999 of 1,000 loads brought an error; the last")
        )
    }

    @Test func aLimitBelowOneScreenIsNamedBeforeWhatWasSeen() throws {
        var report = try report(sharp: 1, blank: 0)
        #expect(Verdict(report) == .good)
        report.memory.shortfallBytes = 1
        #expect(Verdict(report) == .noScreen)
        #expect(Verdict.noScreen.text(report).hasPrefix("limit too small: one screen needs 10.0 MiB"))
    }

    @Test func aSourceIsSlowIfHalfOfTheTilesTakeLong() throws {
        var report = try report()
        report.memory.byteLimit = 20 << 20
        report.timeToSharp.p50 = 500
        #expect(Verdict(report) == .limitTooSmall)
        report.timeToSharp.p50 = 500.1
        #expect(Verdict(report) == .sourceTooSlow)
        #expect(
            Verdict.sourceTooSlow.text(report)
                == "source too slow: 90.0 % of the area was sharp, 0.5 % blank; half of the missing tiles came after "
                + "500.1 ms or more"
        )
        report.timeToSharp.p50 = nil
        #expect(Verdict(report) == .limitTooSmall)
    }

    @Test func aLimitIsTooSmallIfItEvictsAndHoldsFewScreens() throws {
        var report = try report()
        #expect(Verdict(report) == .notForeseen)
        report.memory.byteLimit = (40 << 20) - 1
        #expect(Verdict(report) == .limitTooSmall)
        #expect(
            Verdict.limitTooSmall.text(report).hasSuffix(
                "the limit holds 3.9 screens, and 4 leave room for tiles ahead"
            )
        )
        report.evictions["capacity"] = 0
        #expect(Verdict(report) == .notForeseen)
        report.demands.total = 10
        report.demands.late = 1
        report.demands.missed = 2
        #expect(Verdict.notForeseen.text(report).contains("0.5 % blank; 30.0 % of demands were no hits"))
    }

    /// Demands are of later frames than the first. Hits that had to be decompressed may come late too.
    @Test func aFirstScreenThatComesLateIsNamed() throws {
        var report = try report()
        report.evictions["capacity"] = 0
        report.demands.total = 1000
        report.demands.drawableHits = 1000
        #expect(
            Verdict.notForeseen.text(report)
                == "tiles come late: 90.0 % of the area was sharp, 0.5 % blank; only the first screen came late, no demand "
                + "after it. What helps is a disk store; a longer replay shows the rest"
        )
        report.demands.drawableHits = 999
        #expect(Verdict.notForeseen.text(report).contains("0.5 % blank; 0 of 1,000 demands were no hits"))
        report.demands.drawableHits = 1000
        report.demands.late = 1
        #expect(Verdict.notForeseen.text(report).contains("0.5 % blank; 0.1 % of demands were no hits"))
        report.demands.total = 1001
        #expect(Verdict.notForeseen.text(report).contains("0.5 % blank; 1 of 1,001 demands were no hits"))
    }

    /// A result of many traces keeps the warning that counts those whose limit is too small.
    @Test func oneLineOfSeveralTraces() throws {
        let good = try report(sharp: 1, blank: 0)
        var small = good
        small.memory.shortfallBytes = 1
        func text(_ traces: [ReplayReport], total: ReplayReport) -> String? {
            Verdict.text(ReplayResult(traces: traces, total: total, sources: []))?.text
        }
        #expect(text([good, good], total: good) == "good: 100.0 % of the area was sharp, 0.0 % blank")
        #expect(text([good, small], total: small)?.hasPrefix("limit too small for 1 of 2 traces") == true)
        small.loads.failed = 1000
        #expect(text([good, small], total: small)?.hasPrefix("source fails") == true)
    }
}
