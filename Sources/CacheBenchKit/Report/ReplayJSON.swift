/// The figures of a replay for programs. Fields are added, never renamed.
package enum ReplayJSON {
    /// The traces' reports and their pooled figures, also of a single trace.
    ///
    /// Keys are sorted, so that two runs can be compared line by line; ends with one line feed.
    package static func text(_ result: ReplayResult) throws -> String { try JSONText.of(result) }
}
