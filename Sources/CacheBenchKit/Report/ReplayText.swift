/// Figures of a replay as text: the verdict, then a card for one trace, a table for several.
package enum ReplayText {
    static let width = 80

    /// The text, with a line feed at its end.
    ///
    /// - Parameter endsWithVerdict: Whether the verdict is also the end. The first lines scroll off a terminal of 24.
    package static func text(
        _ result: ReplayResult,
        style: TextStyle = .plain,
        endsWithVerdict: Bool = false
    ) -> String {
        var verdict: [String] = []
        if let (text, isGood) = Verdict.text(result) { verdict = wrapped(text).map(isGood ? style.bold : style.alarm) }
        var lines = verdict.isEmpty ? [] : verdict + [""]
        lines += TraceNotes.text(result.traces.map(\.trace), style)
        lines +=
            result.traces.count == 1
            ? ReplayCard(report: result.traces[0], style: style).lines : ReplayTable(result: result, style: style).lines
        if endsWithVerdict, !verdict.isEmpty { lines += [""] + verdict }
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
