/// A search for a limit as text: the rows, the answer, a command to paste.
package enum TuneText {
    static func reason(_ report: TuneReport) -> String {
        if let missed = MissedTarget(report) { return missed.reason }
        guard let suggested = report.suggested else {
            guard report.rows.isEmpty else {
                return "No limit tried \(report.interrupted ? "so far " : "")holds what one screen needs."
            }
            return "Stopped before the first limit was replayed over all traces: there is no hit rate yet."
        }
        switch suggested.reason {
        case "target":
            var text =
                "The smallest limit \(report.interrupted ? "so far " : "")that reaches \(MissedTarget.wanted(report))"
            if let smaller = report.oneStepSmaller {
                let value = report.target?.field == "blank" ? smaller.blank : smaller.hitRate
                text +=
                    "; \(MemoryLimit.bytes(smaller.byteLimit).shown) "
                    + (smaller.shortfallBytes > 0 ? "is too small for one screen" : "gives \(percent: value)")
            }
            return text + "."
        default: return "The knee: from here on more memory pays less than it does on average over the sweep."
        }
    }

    /// The text, with a line feed at its end.
    package static func text(_ report: TuneReport, style: TextStyle = .plain) -> String {
        var lines = TraceNotes.text(report.traces, style)
        if report.interrupted, !report.rows.isEmpty {
            let count = "\(count: report.rows.count) \(report.rows.count == 1 ? "limit" : "limits")"
            lines += [style.warning("stopped: \(count) of the search replayed so far"), ""]
        }
        lines += LimitWarning.text(report).map { wrapped($0).map(style.warning) + [""] } ?? []
        lines += table(report, style)
        if let knee = report.knee {
            lines.append("knee of the curve: \(bytes: knee.byteLimit), \(percent: knee.hitRate) hits")
        }
        let largest = report.rows.map(\.byteLimit).max() ?? .max
        if let point = report.largestLRU(within: largest) {
            lines += wrapped(
                "plain LRU of \(count: point.tiles) tiles with instant loads and no prefetch: "
                    + "\(percent: point.demandHitRate) hits"
            )
        }
        lines.append("")
        if let missed = MissedTarget(report) {
            return (lines + missed.lines(style)).joined(separator: "\n") + "\n"
        }
        guard let suggested = report.suggested else {
            return (lines + [reason(report)]).joined(separator: "\n") + "\n"
        }
        let limit = MemoryLimit.bytes(suggested.byteLimit).shown
        lines.append(
            style.bold("suggested limit      \(limit)") + "   \(percent: suggested.hitRate) hits, "
                + "\(percent: suggested.blank) blank"
        )
        lines += details(suggested, report, style) + wrapped(reason(report))
        lines += ["", command(suggested, report)]
        return lines.joined(separator: "\n") + "\n"
    }

    /// A command to paste, with the traces: up to three files, or else their folders.
    static func command(_ answer: TuneReport.Suggestion, _ report: TuneReport) -> String {
        let paths = report.traces.map(\.path).filter { !$0.isEmpty }
        let folders = paths.map { path in path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./" }.unique
        let names = (paths.count <= 3 ? paths.unique : folders).map(\.printable.quotedForShells)
        return (["cachebench replay", answer.flags] + names).joined(separator: " ")
    }

    /// Lines of an answer's store and effort, if it has them.
    static func details(_ answer: TuneReport.Suggestion, _ report: TuneReport, _ style: TextStyle) -> [String] {
        var lines: [String] = []
        if let store = answer.storeLimit {
            lines.append(style.bold("limit of its store   \(MemoryLimit.bytes(store).shown)"))
        }
        if let effort = answer.effort {
            let waste = report.rows.first(where: report.isAnswer)?.waste
            lines.append(
                style.bold("its effort           \(Figures.plain(effort))") + "   \(percent: waste) waste"
            )
            if let most = report.maximumWaste, let waste, waste > most {
                lines += wrapped(
                    "No effort tried above 0 wastes at most \(percent: most); at 0 nothing is prefetched."
                )
            }
        }
        return lines
    }

    private static func table(_ report: TuneReport, _ style: TextStyle) -> [String] {
        let rows = report.rows + report.policies
        let unit = max(.mebibytes, ByteUnit.fitting((rows.map(\.byteLimit).max() ?? 0) / 10))
        let hasVariants =
            Set(report.rows.map { "\($0.workers) \($0.tileSize ?? 0) \($0.compressedShare ?? -1)" }).count > 1
        let hasStores = report.rows.contains { $0.sourceLoads != nil }
        var heads = [
            ["policy"], ["limit", unit.symbol], ["hits", "%"], ["blank", "%"], ["waste", "%"], ["sharp", "%"],
            ["peak", unit.symbol],
        ]
        let hasEfforts = rows.contains { $0.effort != nil }
        if hasEfforts { heads.append(["effort"]) }
        if hasVariants { heads += [["workers"], ["tile"], ["compr."]] }
        if hasStores { heads += [["store", "MiB"], ["source"]] }
        // Units below the names, where they would make lines longer than 80 columns.
        var table =
            hasVariants || hasStores && hasEfforts
            ? [heads.map { $0[0] }, heads.map { $0.count > 1 ? $0[1] : "" }]
            : [heads.map { $0.joined(separator: " ") }]
        let first = table.count
        for row in rows {
            let rates = [row.hitRate, row.blank, row.waste, row.sharp].map(Figures.percentNumber)
            var cells = [row.policy, unit.number(row.byteLimit)] + rates + [unit.number(row.peakBytes)]
            if hasEfforts { cells.append(row.effort.map { Figures.decimal($0, places: 3) } ?? Figures.none) }
            if hasVariants {
                cells += [
                    "\(row.workers)", row.tileSize.map { "\($0)" } ?? Figures.none,
                    row.compressedShare.map { Figures.decimal($0, places: 2) } ?? "adapt",
                ]
            }
            if hasStores {
                cells += [
                    row.storeLimit.map { ByteUnit.mebibytes.number($0) } ?? Figures.none,
                    row.sourceLoads.map { Figures.count($0) } ?? Figures.none,
                ]
            }
            table.append(cells)
        }
        // Peak and sharp have no room beside all options at once: JSON has them.
        if hasVariants, hasStores, hasEfforts { for row in table.indices { table[row].removeSubrange(5...6) } }
        return columns(table, gap: hasVariants || hasStores ? " " : "  ").enumerated().map { index, line in
            let row = index - first
            let isAnswer = report.rows.indices.contains(row) && report.isAnswer(rows[row])
            return isAnswer ? style.bold(line + " <") : line
        } + [""]
    }
}

extension MemoryLimit {
    /// Text for display: `61 MiB`.
    var shown: String {
        guard case .bytes(let bytes) = self else { return description }
        return Figures.roundBytes(Double(bytes))
    }
}
