package import TileCache

/// Observers of a replay, which change no figure.
package struct ReplayHooks: Sendable {
    /// Called at each frame; a stopped replay reports its results so far.
    package var shouldStop: @Sendable () -> Bool
    /// Called now and then with the progress of a trace. Arguments: its name, the part that is done (0 to 1, `nil` if
    /// it is not known) and its seconds so far.
    package var progress: (@Sendable (_ name: String, _ part: Double?, _ seconds: Double) -> Void)?
    /// Whether data for pictures is kept; see ``ReplayResult/series``.
    package var keepsSeries: Bool
    /// Called on workers with each tile requested from the built-in world, under the real clock.
    package var noteLoad: (@Sendable (TileCoordinate) -> Void)?
    /// Called after each frame, on the replay's thread, under the real clock. A test waits in it for what a frame needs:
    /// how much is loaded by the end of a trace depends on the machine.
    package var noteFrame: (@Sendable (TileCache, TileLayer) -> Void)?
    /// Called with the start of each load from the source, in nanoseconds. Virtual clock only.
    package var noteStart: (@Sendable (_ isDemand: Bool, _ time: Int64) -> Void)?

    /// Called with a warning that the source has since the replay began. Real clock only.
    package var warn: (@Sendable (String) -> Void)?

    /// Called at the end of a replay with the learned profile. Virtual clock only.
    package var noteLearned: (@Sendable (PrefetchProfile) -> Void)?

    package init(
        keepsSeries: Bool = false,
        shouldStop: @escaping @Sendable () -> Bool = { false },
        progress: (@Sendable (_ name: String, _ part: Double?, _ seconds: Double) -> Void)? = nil,
        noteLoad: (@Sendable (TileCoordinate) -> Void)? = nil,
        noteFrame: (@Sendable (TileCache, TileLayer) -> Void)? = nil,
        noteStart: (@Sendable (_ isDemand: Bool, _ time: Int64) -> Void)? = nil
    ) {
        self.keepsSeries = keepsSeries
        self.shouldStop = shouldStop
        self.progress = progress
        self.noteLoad = noteLoad
        self.noteFrame = noteFrame
        self.noteStart = noteStart
    }
}
