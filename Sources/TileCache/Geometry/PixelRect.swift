/// A point in the world plane, in world pixels.
public struct WorldPoint: Hashable, Sendable {
    /// The horizontal position in world pixels, growing to the right.
    public var x: Double
    /// The vertical position in world pixels, growing downwards.
    public var y: Double

    /// Makes a point from its two positions in world pixels.
    @inlinable
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// A rectangle, half open: the right and the bottom edge do not belong to it.
///
/// Used in world pixels for what a placement covers and in tile pixels for the part of a tile that is drawn.
public struct PixelRect: Hashable, Sendable {
    /// The left edge.
    public var minX: Double
    /// The top edge.
    public var minY: Double
    /// The right edge, not included.
    public var maxX: Double
    /// The bottom edge, not included.
    public var maxY: Double

    /// Makes a rectangle from its edges.
    @inlinable
    public init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }

    /// The width; negative where the edges are reversed.
    @inlinable public var width: Double { maxX - minX }
    /// The height; negative where the edges are reversed.
    @inlinable public var height: Double { maxY - minY }
    /// The area, 0 where the rectangle is empty.
    @inlinable public var area: Double { isEmpty ? 0 : width * height }
    /// Whether it holds no point.
    @inlinable public var isEmpty: Bool { !(maxX > minX && maxY > minY) }

    /// The common part of two rectangles; empty where they only touch.
    @inlinable
    public func intersection(_ other: PixelRect) -> PixelRect {
        PixelRect(
            minX: max(minX, other.minX),
            minY: max(minY, other.minY),
            maxX: min(maxX, other.maxX),
            maxY: min(maxY, other.maxY)
        )
    }

    /// The same rectangle moved by an offset.
    @inlinable
    public func offsetBy(x: Double, y: Double) -> PixelRect {
        PixelRect(minX: minX + x, minY: minY + y, maxX: maxX + x, maxY: maxY + y)
    }

    /// The rectangle with its edges moved outwards.
    package func grown(x: Double, y: Double) -> PixelRect {
        PixelRect(minX: minX - x, minY: minY - y, maxX: maxX + x, maxY: maxY + y)
    }
}
