/// A point in the world plane, in world pixels.
public struct WorldPoint: Hashable, Sendable {
    /// Horizontal position in world pixels, increasing to the right.
    public var x: Double
    /// Vertical position in world pixels, increasing downwards.
    public var y: Double

    /// Creates a point from its positions in world pixels.
    @inlinable
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// A rectangle, without its right and bottom edges.
///
/// In world pixels for the area that a placement covers, in tile pixels for the part of a tile that is drawn.
public struct PixelRect: Hashable, Sendable {
    /// The left edge.
    public var minX: Double
    /// The top edge.
    public var minY: Double
    /// The right edge, not included.
    public var maxX: Double
    /// The bottom edge, not included.
    public var maxY: Double

    /// Creates a rectangle from its edges.
    @inlinable
    public init(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }

    /// Width; negative if the edges are reversed.
    @inlinable public var width: Double { maxX - minX }
    /// Height; negative if the edges are reversed.
    @inlinable public var height: Double { maxY - minY }
    /// Area; 0 if the rectangle is empty.
    @inlinable public var area: Double { isEmpty ? 0 : width * height }
    /// Whether it contains no point.
    @inlinable public var isEmpty: Bool { !(maxX > minX && maxY > minY) }

    /// Intersection of two rectangles; empty if they only touch.
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

    /// The smallest rectangle around both.
    package func union(_ other: PixelRect) -> PixelRect {
        PixelRect(
            minX: min(minX, other.minX),
            minY: min(minY, other.minY),
            maxX: max(maxX, other.maxX),
            maxY: max(maxY, other.maxY)
        )
    }

    /// The rectangle with its edges moved outwards.
    package func grown(x: Double, y: Double) -> PixelRect {
        PixelRect(minX: minX - x, minY: minY - y, maxX: maxX + x, maxY: maxY + y)
    }
}
