package enum CompareText {
    /// Table with a line for each source, budget and policy, at most 80 columns wide. Traces of a source are pooled. A
    /// second table if the codec was charged.
    package static func text(_ report: CompareReport, style: TextStyle = .plain) -> String {
        var lines = LimitWarning.lines(report).flatMap { line in
            wrapped(line).map(style.alarm)
        }
        if !lines.isEmpty { lines.append("") }
        lines += TraceNotes.text(report.traces, style)
        lines += table(report.totals, isCharged: false, style)
        if let cost = report.cost, let totals = report.chargedTotals {
            lines += ["", "with the codec's time charged: \(cost)"] + table(totals, isCharged: true, style)
            lines += ["", "drawn: demands that their own frame could draw"]
        }
        if report.totals.contains(where: { $0.targetLoads != nil }) {
            lines += [
                "", "behind each policy the effort with which it loads as much as the others",
                "*: no effort comes within 2 % of their loads",
            ]
        } else if showsEffort(report.totals) {
            lines += ["", "behind each policy its effort"]
        }
        lines += [
            "", "gap: share of the way from no prefetch to the oracle with the same budget",
            "blank and fallback: millions of screen pixels times seconds",
        ]
        lines += [""] + ReplayText.optionLines(report.configuration, style: style)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func table(_ rows: [CompareRow], isCharged: Bool, _ style: TextStyle) -> [String] {
        let second = isCharged ? "drawn" : "pan"
        let heads = [
            ["budget", "policy", "hits", second, "zoom", "gap", "waste", "sharp", "blank", "fallb.", "loaded"],
            ["", "", "%", "%", "%", "%", "%", "%", "Mpx s", "Mpx s", "MB"],
        ]
        let showsEffort = showsEffort(rows)
        let ordered = rows.grouped(by: \.source).flatMap(\.elements)
        let cells = ordered.map { row in
            let rates = [
                row.hitRate, isCharged ? row.drawableHitRate : row.panHitRate, row.zoomHitRate, row.gapClosed,
                row.waste,
                row.sharp,
            ]
            let budget = row.screens.map { Figures.plain($0) + " scr" } ?? row.budgetTitle
            return [budget, policy(row, showsEffort: showsEffort)] + rates.map(Figures.percentNumber)
                + [row.blankPixelMilliseconds, row.fallbackPixelMilliseconds].map(Figures.mega)
                + [Figures.decimal(Double(row.loadedBytes) / 1e6, places: 0)]
        }
        let set = columns(heads + cells, leading: 2)
        var lines = [set[0], style.dim(set[1])]
        var source: String?
        for (row, line) in zip(ordered, set.dropFirst(2)) {
            if row.source != source {
                lines.append(style.bold(row.source.sourceTitle.printable.shortened(to: ReplayText.width)))
                source = row.source
            }
            lines.append(line)
        }
        return lines
    }

    /// Whether a policy has rows of different effort. Rows of `none` and `oracle` always have 1.
    static func showsEffort(_ rows: [CompareRow]) -> Bool {
        Set(rows.filter { $0.policy != "none" && $0.policy != "oracle" }.map(\.effort)).count > 1
            || rows.contains { $0.targetLoads != nil }
    }

    /// The policy, with its effort if efforts differ. An asterisk means that no effort reaches the requested loads.
    static func policy(_ row: CompareRow, showsEffort: Bool) -> String {
        guard showsEffort, row.policy != "none", row.policy != "oracle" else { return row.policy }
        let thousandths = Int((row.effort * 1000).rounded())
        return "\(row.policy) \(Double(thousandths) / 1000)" + (row.reachesTarget == false ? "*" : "")
    }
}
