package enum StressText {
    /// The verdict first, then the counts.
    package static func text(_ report: StressReport) -> String {
        var lines = ["\(report.verdict)  \(verdictDetail(report))"]
        for violation in report.violations { lines.append("  \(violation.rule): \(violation.explanation)") }
        if report.violationCount > report.violations.count {
            lines.append("  and \(count: report.violationCount - report.violations.count) more")
        }
        lines += [
            "",
            line("operations", Figures.count(report.operations), list(report.operationsByKind)),
            line("tiles checked", Figures.count(report.tilesChecked), "\(count: report.callbacks) callbacks"),
            line("faults", Figures.count(report.faults.values.reduce(0, +)), list(report.faults)),
            line(
                "ledger maximum",
                Figures.bytes(report.peakBytes),
                "of \(bytes: report.byteLimit); \(count: report.ledgerSamples) samples, "
                    + "\(count: report.ledgerSamplesAboveLoweredLimit) while a lowered limit was being reached"
            ),
        ]
        for (name, memory, isJudged) in [
            ("heap", report.heap, true), ("resident", report.resident, report.heap.samples.isEmpty),
        ] {
            guard let medians = memory.medians, let last = memory.samples.last else { continue }
            let verdict = memory.isFlat.map { $0 ? ": flat" : ": GROWS" } ?? ": too short a run to judge"
            let thirds = "medians of thirds \(medians.map(Figures.bytes).joined(separator: ", "))"
            lines.append(line(name, Figures.bytes(last.bytes), thirds + (isJudged ? verdict : "")))
        }
        lines += [
            line("longest update", Figures.milliseconds(Double(report.longestUpdateNanoseconds) / 1e6), ""),
            line(
                "shutdown",
                Figures.milliseconds(Double(report.shutdownNanoseconds) / 1e6),
                "with what hung until then"
            ),
        ]
        // A name stays with its number.
        return lines.map { $0.wrapped(to: ReplayText.width) + "\n" }.joined().replacing("\u{A0}", with: " ")
    }

    private static func verdictDetail(_ report: StressReport) -> String {
        let configuration = report.configuration
        return "seed \(configuration.seed), \(configuration.threads) threads, \(configuration.workers) workers, "
            + "\(seconds: report.seconds)"
            + (report.interrupted ? ", interrupted" : "")
            + (report.passed ? "" : ", \(count: report.violationCount) violations")
    }

    private static func line(_ name: String, _ value: String, _ rest: String) -> String {
        name.padded(to: 16) + value.aligned(to: 12) + (rest.isEmpty ? "" : "   \(rest)")
    }

    private static func list(_ counts: [String: Int]) -> String {
        counts.largestFirst.filter { $0.value > 0 }.map { "\($0.key)\u{A0}\(count: $0.value)" }.joined(separator: ", ")
    }
}

extension String {
    /// Wraps at spaces to a maximum width, later lines indented. From a longer word on nothing is wrapped.
    func wrapped(to width: Int) -> String {
        guard count > width else { return self }
        var lines: [String] = []
        var rest = self[...]
        while rest.count > width, let space = rest.prefix(width).lastIndex(of: " "),
            rest[..<space].contains(where: { $0 != " " })
        {
            lines.append(String(rest[..<space]))
            rest = rest[rest.index(after: space)...]
            rest = Substring(String(repeating: " ", count: 31) + rest)
        }
        return (lines + [String(rest)]).joined(separator: "\n")
    }
}
