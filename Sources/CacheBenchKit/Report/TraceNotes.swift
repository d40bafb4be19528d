/// What to know of the traces before any figure: the same notes in texts and on pages, below the answer.
enum TraceNotes {
    static func lines(_ traces: [ReplayReport.Trace]) -> [String] {
        [imported(traces), SparseNote.text(traces)].compactMap { $0 }
    }

    /// The notes as lines of a text, each followed by an empty one.
    static func text(_ traces: [ReplayReport.Trace], _ style: TextStyle) -> [String] {
        lines(traces).flatMap { wrapped($0).map(style.warning) + [""] }
    }

    /// Says that positions are guessed; `nil` if all traces are recorded.
    private static func imported(_ traces: [ReplayReport.Trace]) -> String? {
        let origins = Set(traces.compactMap(\.imported)).sorted().map(\.printable)
        guard !origins.isEmpty else { return nil }
        let count = traces.count { $0.imported != nil }
        let which = traces.count == 1 ? "imported" : "\(count: count) of \(count: traces.count) traces are imported"
        return "\(which) (\(origins.joined(separator: ", ")), see # guessed in the header): figures are estimates"
    }
}
