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
}
