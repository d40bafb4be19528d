/// Conversion between the screen and the world, turned views included.
///
/// Screen positions are in screen pixels from the top left corner of the viewport, x to the right and y downwards. With
/// `(x, y)` the distance from the middle of the screen divided by `scale`, and the rotation `r`, the world point is
/// `center + (x cos r - y sin r, x sin r + y cos r)`. A scale of 0 gives no finite points.
extension TileViewport {
    /// Returns the screen position of a world point, which may be outside of the screen.
    ///
    /// - Parameter point: In world pixels. In a wrapping world, in the copy whose position is wanted.
    /// - Returns: In screen pixels from the top left corner.
    public func screen(of point: WorldPoint) -> (x: Double, y: Double) {
        let (cosine, sine) = (PortableMath.cos(rotation), PortableMath.sin(rotation))
        let (x, y) = (point.x - center.x, point.y - center.y)
        return (width / 2 + (x * cosine + y * sine) * scale, height / 2 + (y * cosine - x * sine) * scale)
    }

    /// Returns the world point at a screen position, the inverse of ``screen(of:)``.
    ///
    /// - Parameter position: In screen pixels from the top left corner.
    /// - Returns: In world pixels; in a wrapping world, of the copy that is drawn there, beside 0 to the world's width too.
    public func world(at position: (x: Double, y: Double)) -> WorldPoint {
        let (cosine, sine) = (PortableMath.cos(rotation), PortableMath.sin(rotation))
        let (x, y) = ((position.x - width / 2) / scale, (position.y - height / 2) / scale)
        return WorldPoint(x: center.x + x * cosine - y * sine, y: center.y + x * sine + y * cosine)
    }
}
