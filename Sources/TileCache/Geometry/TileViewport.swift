/// A viewport: a rectangle of the screen over the world.
public struct TileViewport: Hashable, Sendable {
    /// World point at the middle of the screen, in world pixels. In any copy of a wrapping world.
    public var center: WorldPoint
    /// Width in screen pixels.
    public var width: Double
    /// Height in screen pixels.
    public var height: Double
    /// Screen pixels per world pixel.
    public var scale: Double
    /// Rotation of the screen over the world, in radians, clockwise with y downwards.
    public var rotation: Double

    /// Creates a viewport.
    ///
    /// - Parameters:
    ///   - center: World point at the middle of the screen, in world pixels.
    ///   - width: Width in screen pixels.
    ///   - height: Height in screen pixels.
    ///   - scale: Screen pixels per world pixel, larger than 0. Default: 1.
    ///   - rotation: In radians. Default: 0.
    @inlinable
    public init(center: WorldPoint, width: Double, height: Double, scale: Double = 1, rotation: Double = 0) {
        self.center = center
        self.width = width
        self.height = height
        self.scale = scale
        self.rotation = rotation
    }

    /// Whether it can be drawn: every number finite, sizes and scale larger than 0.
    ///
    /// A view counts and ignores viewports that cannot be drawn.
    public var isDrawable: Bool {
        center.x.isFinite && center.y.isFinite && rotation.isFinite
            && width.isFinite && width > 0 && height.isFinite && height > 0
            && scale.isFinite && scale > 0
            && (width / scale).isFinite && (height / scale).isFinite
    }

    /// World rectangle that the viewport covers without its rotation.
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

    /// The viewport, enlarged if its edges would be the same number. This happens if it is small and far from the
    /// origin. Differences beyond 2^52 world pixels do not matter.
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
