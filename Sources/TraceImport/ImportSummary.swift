import PanTraces

/// The text that `cachebench import` prints.
package enum ImportSummary {
    /// Lines of at most 80 characters, with what was read, guessed and left out.
    package static func text(_ counts: ImportCounts, folder: String) -> String {
        var lines = [
            "\(counts.entries) lines, entries or points read, \(counts.used) of them used",
            "\(counts.sessions) \(counts.sessions == 1 ? "session" : "sessions") with \(counts.positions) positions written to "
                + folder,
        ]
        let omissions = ImportCounts.Omission.allCases.filter { counts.omissions[$0, default: 0] > 0 }
        if !omissions.isEmpty { lines.append("left out:") }
        for omission in omissions {
            let count = "\(counts.omissions[omission, default: 0])"
            lines.append("  \(String(repeating: " ", count: max(0, 9 - count.count)))\(count)  \(omission.text)")
        }
        if counts.reordered > 0 {
            lines.append("\(counts.reordered) requests with times that go back: taken at the time before")
        }
        if counts.sessions > 0 {
            lines.append("guessed: see the line \"# guessed\" of each trace")
            lines.append("next: cachebench tune \(folder)")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
