/// Figures of a replay as text: the verdict, then a card for one trace, a table for several.
package enum ReplayText {
    static let width = 80

    /// The text, with a line feed at its end.
    package static func text(_ result: ReplayResult, style: TextStyle = .plain) -> String {
        var lines: [String] = []
        if let (text, isGood) = Verdict.text(result) {
            lines = wrapped(text).map(isGood ? style.bold : style.alarm) + [""]
        }
        lines += imported(result.traces).map { wrapped($0).map(style.warning) + [""] } ?? []
        if let note = SparseNote.text(result) { lines += wrapped(note).map(style.warning) + [""] }
        lines +=
            result.traces.count == 1
            ? ReplayCard(report: result.traces[0], style: style).lines : ReplayTable(result: result, style: style).lines
        return lines.joined(separator: "\n") + "\n"
    }

    /// Says that positions are guessed; `nil` if all traces are recorded.
    private static func imported(_ traces: [ReplayReport]) -> String? {
        let origins = Set(traces.compactMap(\.trace.imported)).sorted().map(\.printable)
        guard !origins.isEmpty else { return nil }
        let count = traces.count { $0.trace.imported != nil }
        let which = traces.count == 1 ? "imported" : "\(count: count) of \(count: traces.count) traces are imported"
        return "\(which) (\(origins.joined(separator: ", ")), see # guessed in the header): figures are estimates"
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
