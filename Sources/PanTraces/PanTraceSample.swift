public import TileCache

/// The viewport of a view at one moment of a pan trace.
///
/// Times are integer nanoseconds, not seconds in floating point, so that every program replays a trace with exactly the
/// same frame times.
public struct PanTraceSample: Hashable, Sendable {
    /// Nanoseconds since the first sample of the trace, which is at 0.
    public var time: Int64
    /// World point at the middle of the screen, in world pixels.
    public var center: WorldPoint
    /// Screen pixels per world pixel, larger than 0.
    public var scale: Double
    /// Rotation of the view in radians; 0 if the trace has no such column.
    public var rotation: Double

    /// Creates a sample without checking it.
    ///
    /// - Parameters:
    ///   - time: Nanoseconds since the first sample of the trace.
    ///   - center: World point at the middle of the screen, in world pixels.
    ///   - scale: Screen pixels per world pixel.
    ///   - rotation: In radians. Default: 0.
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
    ///   - width: Width of the view in screen pixels.
    ///   - height: Height of the view in screen pixels.
    @inlinable
    public func viewport(width: Double, height: Double) -> TileViewport {
        TileViewport(center: center, width: width, height: height, scale: scale, rotation: rotation)
    }
}
