/// The figures of a replay as text: a card for one trace, a table for several.
package struct ReplayText: Sendable {
    static let width = 80

    let style: TextStyle

    package init(style: TextStyle = .plain) {
        self.style = style
    }

    /// The text, with a line feed at its end.
    package func text(_ result: ReplayResult) -> String {
        let warning = LimitWarning.text(result).map { warning in
            wrapped(warning).map(style.alarm) + [""]
        }
        let lines =
            (warning ?? [])
            + (result.traces.count == 1
                ? ReplayCard(report: result.traces[0], style: style).lines
                : ReplayTable(result: result, style: style).lines)
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
