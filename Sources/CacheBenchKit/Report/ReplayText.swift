/// Figures of a replay as text: the verdict, then a card for one trace, a table for several.
package enum ReplayText {
    static let width = 80

    /// The text, with a line feed at its end.
    package static func text(_ result: ReplayResult, style: TextStyle = .plain) -> String {
        var lines: [String] = []
        if let (text, isGood) = Verdict.text(result) {
            lines = wrapped(text).map(isGood ? style.bold : style.alarm) + [""]
        }
        lines += TraceNotes.text(result.traces.map(\.trace), style)
        lines +=
            result.traces.count == 1
            ? ReplayCard(report: result.traces[0], style: style).lines : ReplayTable(result: result, style: style).lines
        return lines.joined(separator: "\n") + "\n"
    }

    /// Traces and options of the replay, at the end of a card or a table.
    static func optionLines(_ configuration: [String: ConfigurationValue], style: TextStyle) -> [String] {
        let lines = wrapped(
            [ReplayFlags.versions(configuration) + ":"] + ReplayFlags.words(configuration),
            width: width,
            indent: 2
        )
        return lines.map { style.dim($0) }
    }
}
