/// Where a view will be, and when: a fly-to, or a fling that the renderer drives itself.
public struct Destination: Hashable, Sendable {
    /// What the view will look at.
    public var viewport: Viewport
    /// When it will.
    public var time: MonotonicTime

    /// Names a destination.
    public init(viewport: Viewport, time: MonotonicTime) {
        self.viewport = viewport
        self.time = time
    }
}
