/// A zoom-out for people and for programs.
public enum ZoomoutText {
    /// A line for each factor, and what was checked.
    public static func text(_ report: ZoomoutReport) -> String {
        var lines = [
            ["factor", "one bitmap", "finest tiles", "needed", "tiles", "peak held", "hits", "sharp", "blank"]
        ]
        for row in report.rows {
            lines.append(
                [
                    row.factor == row.factor.rounded() ? "\(Int(row.factor))x" : "\(row.factor)x",
                    bytes(row.bitmapBytes), bytes(row.fullResolutionBytes), bytes(row.neededBytes),
                    "\(row.neededTiles)", bytes(row.peakBytes), Figures.percent(row.hitRate),
                    Figures.percent(row.sharp), Figures.percent(row.blank),
                ]
            )
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        var text = lines.map { line in
            line.enumerated().map { column, word in
                String(repeating: " ", count: widths[column] - word.count) + word
            }.joined(separator: " ")
        }
        let checks = report.checks
        text += [
            "",
            "needed     at most \(checks.mostNeededTiles) of \(checks.tileBound) tiles in any frame",
            "peak       at most \(bytes(checks.largestPeakBytes)) of \(bytes(checks.byteLimit)), "
                + "\(checks.largestToMedianPeak.map { Figures.decimal($0, places: 2) } ?? "-") times the median",
            "checks     \(checks.passed ? "passed" : "FAILED")",
        ]
        return text.joined(separator: "\n") + "\n"
    }

    /// In powers of ten, three digits: what it is compared with is counted in pixels.
    private static func bytes(_ bytes: Int) -> String {
        var value = Double(bytes)
        var units = ["kB", "MB", "GB", "TB", "PB"][...]
        var unit = "B"
        while value >= 999.5, let next = units.popFirst() {
            value /= 1000
            unit = next
        }
        return Figures.decimal(value, places: value >= 99.95 || unit == "B" ? 0 : value >= 9.995 ? 1 : 2) + " " + unit
    }
}
