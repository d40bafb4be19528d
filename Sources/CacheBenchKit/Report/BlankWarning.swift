/// Warning before any figure if a source has shown nothing.
package enum BlankWarning {
    /// Text of the warning; `nil` if something was on the screen at the end of each trace.
    package static func text(_ result: ReplayResult) -> String? {
        guard let source = result.total.tileSource, source.blankEnds > 0 else { return nil }
        let traces =
            result.traces.count == 1 ? "" : " of \(count: source.blankEnds) of \(count: result.traces.count) traces"
        let reason = source.blankReason ?? "no tile has come from \(source.address)"
        return "nothing on the screen at the end\(traces): \(reason.printable)"
    }
}
