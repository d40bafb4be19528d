/// Where a view was looking at one moment of a pan trace.
///
/// Times are whole nanoseconds and not seconds in floating point, so that every program that replays a trace puts its
/// frames at exactly the same moments.
public struct PanTraceSample: Hashable, Sendable {
    /// The time in nanoseconds since the first sample of the trace, which is at 0.
    public var time: Int64
    /// The world point at the middle of the screen, in world pixels.
    public var center: WorldPoint
    /// Screen pixels per world pixel, larger than 0.
    public var scale: Double
    /// The rotation of the view in radians, 0 where the trace has no such column.
    public var rotation: Double

    /// Makes a sample; nothing is checked.
    ///
    /// - Parameters:
    ///   - time: nanoseconds since the first sample of the trace.
    ///   - center: the world point at the middle of the screen, in world pixels.
    ///   - scale: screen pixels per world pixel.
    ///   - rotation: in radians; 0 unless given.
    @inlinable
    public init(time: Int64, center: WorldPoint, scale: Double, rotation: Double = 0) {
        self.time = time
        self.center = center
        self.scale = scale
        self.rotation = rotation
    }

    /// The viewport of a view of the given size at this moment.
    ///
    /// - Parameters:
    ///   - width: the width of the view in screen pixels.
    ///   - height: the height of the view in screen pixels.
    @inlinable
    public func viewport(width: Double, height: Double) -> TileViewport {
        TileViewport(center: center, width: width, height: height, scale: scale, rotation: rotation)
    }
}
