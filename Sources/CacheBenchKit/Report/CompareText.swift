#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A comparison for people and for programs.
public enum CompareText {
    /// A line for each source, budget and policy, traces of a source pooled; no line is longer than 80 columns.
    ///
    /// - Parameter style: how headings are set off.
    public static func text(_ report: CompareReport, style: TextStyle = .plain) -> String {
        var table = [
            ["budget", "policy", "hits", "pan", "zoom", "gap", "waste", "sharp", "blank", "fallb.", "loaded"],
            ["", "", "%", "%", "%", "%", "%", "%", "Mpx s", "Mpx s", "MB"],
        ]
        for row in report.totals {
            let budget = row.screens.map { $0 == $0.rounded() ? "\(Int($0)) scr" : "\($0) scr" }
            table.append(
                [
                    budget ?? Figures.bytes(row.byteLimit), row.policy, Figures.percentNumber(row.hitRate),
                    Figures.percentNumber(row.panHitRate), Figures.percentNumber(row.zoomHitRate),
                    Figures.percentNumber(row.gapClosed), Figures.percentNumber(row.waste),
                    Figures.percentNumber(row.sharp), mega(row.blankPixelMilliseconds),
                    mega(row.fallbackPixelMilliseconds), Figures.count(row.loadedBytes / 1_000_000),
                ]
            )
        }
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            zip(cells, widths).enumerated().map { column, cell in
                column < 2 ? cell.0.padded(to: cell.1) : cell.0.aligned(to: cell.1)
            }.joined(separator: " ")
        }
        var lines = [line(table[0]), style.dim(line(table[1]))]
        var source: String?
        for (row, cells) in zip(report.totals, table.dropFirst(2)) {
            if row.source != source {
                lines.append(style.bold(row.source.printable.shortened(to: ReplayText.width)))
                source = row.source
            }
            lines.append(line(cells))
        }
        return
            (lines + [
                "", "gap: share of the way from no prefetch to the oracle with the same budget",
                "blank and fallback: millions of screen pixels times seconds",
            ]).joined(separator: "\n") + "\n"
    }

    /// The report as one object, keys sorted, with one line feed at its end.
    public static func json(_ report: CompareReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }

    private static func mega(_ value: Double) -> String { Figures.decimal(value / 1e9, places: 2) }
}
