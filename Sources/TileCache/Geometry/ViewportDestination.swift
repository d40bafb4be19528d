/// Where a view will be and when, for a fly-to or a fling that the renderer drives itself.
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
}
