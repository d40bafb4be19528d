/// Where a view will be, and when: a fly-to, or a fling that the renderer drives itself.
public struct ViewportDestination: Hashable, Sendable {
    /// What the view will look at.
    public var viewport: TileViewport
    /// When it will.
    public var time: MonotonicTime

    /// Names a destination.
    public init(viewport: TileViewport, time: MonotonicTime) {
        self.viewport = viewport
        self.time = time
    }
}
