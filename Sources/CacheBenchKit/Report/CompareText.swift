#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A comparison for people and for programs.
public enum CompareText {
    /// A line for each source, budget and policy, sources pooled.
    public static func text(_ report: CompareReport) -> String {
        var lines = [
            [
                "source", "budget", "policy", "hit", "pan", "zoom", "waste", "gap", "sharp", "blank", "fallback",
                "MB loaded",
            ]
        ]
        for row in report.totals {
            let budget = row.screens.map { $0 == $0.rounded() ? "\(Int($0)) scr" : "\($0) scr" }
            lines.append(
                [
                    row.source, budget ?? "\(row.byteLimit >> 20) MiB", row.policy, share(row.hitRate),
                    share(row.panHitRate), share(row.zoomHitRate), share(row.waste),
                    share(row.gapClosed), share(row.sharp), mega(row.blankPixelMilliseconds),
                    mega(row.fallbackPixelMilliseconds), "\(row.loadedBytes / 1_000_000)",
                ]
            )
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let text = lines.map { line in
            line.enumerated().map { column, word in
                let space = String(repeating: " ", count: widths[column] - word.count)
                return column < 3 ? word + space : space + word
            }.joined(separator: "  ")
        }
        let note = "blank and fallback in millions of pixel-milliseconds; gap: share of the way from none to oracle"
        return (text + ["", note]).joined(separator: "\n") + "\n"
    }

    /// The report as one object, keys sorted, with one line feed at its end.
    public static func json(_ report: CompareReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }

    private static func share(_ value: Double?) -> String {
        guard let value else { return "-" }
        let thousandths = Int((abs(value) * 1000).rounded())
        let digits = "\(thousandths % 1000)"
        let padded = String(repeating: "0", count: 3 - digits.count) + digits
        return (value < 0 && thousandths > 0 ? "-" : "") + "\(thousandths / 1000).\(padded)"
    }

    private static func mega(_ value: Double) -> String { "\(Int((value / 1e6).rounded()))" }
}
