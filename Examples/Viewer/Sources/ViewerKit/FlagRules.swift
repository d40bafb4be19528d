/// Combinations of the viewer's flags that are refused, since one of them would have no effect.
public enum FlagRules {
    /// A flag, those that it excludes, and why.
    private static let exclusions: [(flag: String, others: [String], reason: String)] = [
        (
            "--software", ["--compare", "--texture-slots", "--upload-budget", "--ui-scale", "--check-gl"],
            "SDL draws without OpenGL"
        ),
        ("--compare", ["--disk"], "panes would share its tiles"),
        ("--compare", ["--overlay"], "panes have no overlay"),
        ("--play", ["--script"], "both move the view"),
        (
            "--check-gl",
            [
                "--compare", "--memory-limit", "--workers", "--size", "--disk", "--record", "--record-picture",
                "--script", "--screenshot", "--after", "--overlay", "--ui-scale",
            ],
            "the check has its own sessions without a window"
        ),
    ]

    /// Checks which flags were given.
    ///
    /// - Parameters:
    ///   - given: Flags of the command line, such as `--play`.
    ///   - isBuiltIn: Whether the built-in world is shown.
    /// - Returns: What is wrong, with the names of the flags; `nil` if nothing is.
    public static func problem(_ given: Set<String>, isBuiltIn: Bool) -> String? {
        for (flag, others, reason) in exclusions where given.contains(flag) {
            if let other = others.first(where: given.contains) {
                return "\(flag) or \(other) was expected, not both: \(reason)"
            }
        }
        if given.contains("--after"), !given.contains("--screenshot") {
            return "--after was expected only with --screenshot, whose time it sets"
        }
        if given.contains("--size"), given.contains("--play"), !given.contains("--compare") {
            return
                "--size or --play was expected, not both without --compare: the window has the size of the trace's view"
        }
        if given.contains("--load-latency"), !isBuiltIn {
            return "--load-latency was expected only with the built-in world, whose loads it slows"
        }
        return nil
    }
}
