package enum ZoomoutText {
    /// A line for each factor, and the checked conditions.
    package static func text(_ report: ZoomoutReport) -> String {
        var lines = [
            ["factor", "one bitmap", "finest tiles", "needed", "tiles", "peak held", "hits", "sharp", "blank"]
        ]
        for row in report.rows {
            lines.append([
                Figures.plain(row.factor) + "x", "\(bytes: row.bitmapBytes)", "\(bytes: row.fullResolutionBytes)",
                "\(bytes: row.neededBytes)", "\(count: row.neededTiles)", "\(bytes: row.peakBytes)",
                "\(percent: row.hitRate)", "\(percent: row.sharp)", "\(percent: row.blank)",
            ])
        }
        var text = columns(lines, leading: 0)
        let checks = report.checks
        let outcome = checks.failure.map { "FAILED: \($0)" } ?? "passed"
        text += [
            "",
            "needed     at most \(checks.mostNeededTiles) of \(checks.tileBound) tiles in any frame",
            "peak       at most \(bytes: checks.largestPeakBytes) of \(bytes: checks.byteLimit), "
                + "\(checks.largestToMedianPeak.map { Figures.decimal($0, places: 2) } ?? "-") times the median",
            "checks     " + (report.rows.isEmpty ? "none: no factor was done" : outcome),
            "",
        ]
        text += ReplayText.optionLines(report.configuration, style: .plain)
        if let warning = LimitWarning.text(report) { text.insert(contentsOf: wrapped(warning) + [""], at: 0) }
        return text.joined(separator: "\n") + "\n"
    }
}
