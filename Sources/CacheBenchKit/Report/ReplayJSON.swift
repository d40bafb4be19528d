/// The figures of a replay for programs. The names of fields are a contract: they are added to, never renamed.
public enum ReplayJSON {
    /// One trace's report as one object; several traces' with their pooled figures around them.
    ///
    /// Keys are sorted, so that two runs can be compared line by line; it ends with one line feed.
    public static func text(_ result: ReplayResult) throws -> String {
        try result.traces.count == 1 ? JSONText.of(result.traces[0]) : JSONText.of(result)
    }
}
