/// What a view looks at: a rectangle of the screen laid over the world.
public struct TileViewport: Hashable, Sendable {
    /// The world point at the middle of the screen, in world pixels. On a wrapping world any copy may be meant.
    public var center: WorldPoint
    /// The width on screen, in screen pixels.
    public var width: Double
    /// The height on screen, in screen pixels.
    public var height: Double
    /// Screen pixels per world pixel.
    public var scale: Double
    /// The angle by which the screen is turned over the world, in radians, clockwise as seen with y downwards.
    public var rotation: Double

    /// Makes a viewport.
    ///
    /// - Parameters:
    ///   - center: the world point at the middle of the screen, in world pixels.
    ///   - width: the width on screen in screen pixels.
    ///   - height: the height on screen in screen pixels.
    ///   - scale: screen pixels per world pixel, larger than 0; 1 unless given.
    ///   - rotation: in radians; 0 unless given.
    @inlinable
    public init(center: WorldPoint, width: Double, height: Double, scale: Double = 1, rotation: Double = 0) {
        self.center = center
        self.width = width
        self.height = height
        self.scale = scale
        self.rotation = rotation
    }

    /// Whether it can be drawn at all: every number finite, sizes and scale larger than 0.
    ///
    /// A view that is given one that cannot keeps the viewport that it had, and counts it.
    public var isDrawable: Bool {
        center.x.isFinite && center.y.isFinite && rotation.isFinite
            && width.isFinite && width > 0 && height.isFinite && height > 0
            && scale.isFinite && scale > 0
            && (width / scale).isFinite && (height / scale).isFinite
    }

    /// The upright rectangle of the world that the viewport without its rotation covers.
    @inlinable package var uprightRectangle: PixelRect {
        let halfWidth = width / scale / 2
        let halfHeight = height / scale / 2
        return PixelRect(
            minX: center.x - halfWidth,
            minY: center.y - halfHeight,
            maxX: center.x + halfWidth,
            maxY: center.y + halfHeight
        )
    }

    /// The viewport itself; or, where it is so small that its edges are the same number so far from the origin, one
    /// around the same place whose edges are not. Beyond 2^52 world pixels nothing can be told apart that matters.
    var withDistinctEdges: TileViewport {
        let step = max(center.x.ulp, center.y.ulp)
        guard step <= 1, min(width, height) / scale < 4 * step else { return self }
        return TileViewport(
            center: center,
            width: max(width / scale, 4 * step),
            height: max(height / scale, 4 * step),
            rotation: rotation
        )
    }
}
