/// Future position and time of a view, for a fly-to or fling of the renderer.
public struct ViewportDestination: Hashable, Sendable {
    /// Viewport at the destination.
    public var viewport: TileViewport
    /// Time of arrival.
    public var time: MonotonicTime

    /// Creates a destination.
    public init(viewport: TileViewport, time: MonotonicTime) {
        self.viewport = viewport
        self.time = time
    }

    /// Whether the destination can be drawn, and its time has not come. A host may go on declaring it after that time.
    func isAhead(at now: Int64) -> Bool { time.nanoseconds > now && viewport.isDrawable }
}
