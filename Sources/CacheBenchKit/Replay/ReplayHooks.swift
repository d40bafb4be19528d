/// What looks over a replay's shoulder: none of it changes a figure.
package struct ReplayHooks: Sendable {
    /// Asked at each frame; a replay that is told to stop reports what it has.
    package var shouldStop: @Sendable () -> Bool
    /// Called now and then with the name of the trace, how much of it is done (0 to 1, `nil` where that is not known)
    /// and its seconds so far.
    package var progress: (@Sendable (_ name: String, _ part: Double?, _ seconds: Double) -> Void)?
    /// Whether what pictures are drawn of is kept; see ``ReplayResult/series``.
    package var keepsSeries: Bool

    /// Makes hooks that do nothing unless given.
    package init(
        keepsSeries: Bool = false,
        shouldStop: @escaping @Sendable () -> Bool = { false },
        progress: (@Sendable (_ name: String, _ part: Double?, _ seconds: Double) -> Void)? = nil
    ) {
        self.keepsSeries = keepsSeries
        self.shouldStop = shouldStop
        self.progress = progress
    }
}
