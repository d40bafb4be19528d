import Foundation
public import TileCache

/// A part of a texture slot, placed on a screen that may be rotated.
///
/// On a screen that is not rotated the edges are whole pixels, as in ``TileDraw``: neighbours leave no gap or seam.
public struct TileQuad: Hashable, Sendable {
    /// Index of the slot.
    public let slot: Int
    /// Corners in screen pixels: upper left, upper right, lower right and lower left of the part.
    public let corners: [SIMD2<Double>]
    /// The part, in pixels of the slot.
    public let part: PixelRect
    /// Columns and rows of the slot's tile: others are undefined.
    public let size: SIMD2<Int>
    /// Whether each pixel of the screen is a pixel of the slot. Otherwise four are weighted (bilinear).
    public let isNearest: Bool

    /// Places a part of a slot.
    ///
    /// - Parameters:
    ///   - slot: Index of the slot.
    ///   - world: Area to draw, in world pixels.
    ///   - part: The same area in pixels of the slot.
    ///   - width: Width of the slot's tile in its pixels.
    ///   - height: Height of the slot's tile in its pixels.
    ///   - viewport: Present viewport.
    /// - Returns: `nil` if nothing of it is on screen.
    public init?(slot: Int, world: PixelRect, part: PixelRect, width: Int, height: Int, viewport: TileViewport) {
        guard part.width > 0, part.height > 0, width > 0, height > 0 else { return nil }
        var corners = [
            (world.minX, world.minY), (world.maxX, world.minY), (world.maxX, world.maxY), (world.minX, world.maxY),
        ].map { viewport.screenPosition(ofX: $0.0, y: $0.1) }
        if viewport.rotation == 0 { corners = corners.map { $0.rounded(.toNearestOrAwayFromZero) } }
        let (x, y) = (corners.map(\.x), corners.map(\.y))
        guard let left = x.min(), let right = x.max(), let top = y.min(), let bottom = y.max(),
            right > left, bottom > top, right > 0, bottom > 0, left < viewport.width, top < viewport.height
        else { return nil }
        (self.slot, self.corners, self.part, size) = (slot, corners, part, SIMD2(width, height))
        isNearest =
            viewport.rotation == 0 && right - left == part.width && bottom - top == part.height
            && part.minX == part.minX.rounded() && part.minY == part.minY.rounded()
    }

    /// Numbers of a vertex: x and y on screen, x and y in the slot, slot, 0, last column, last row.
    public static let vertexSize = 8

    /// Appends two triangles, six vertices.
    public func append(to vertices: inout [Float]) {
        let places = [(part.minX, part.minY), (part.maxX, part.minY), (part.maxX, part.maxY), (part.minX, part.maxY)]
        for index in [0, 1, 2, 0, 2, 3] {
            vertices.append(Float(corners[index].x))
            vertices.append(Float(corners[index].y))
            vertices.append(Float(places[index].0))
            vertices.append(Float(places[index].1))
            vertices.append(Float(slot))
            vertices.append(0)
            vertices.append(Float(size.x - 1))
            vertices.append(Float(size.y - 1))
        }
    }
}

extension TileViewport {
    /// Position of a world point, in screen pixels.
    func screenPosition(ofX x: Double, y: Double) -> SIMD2<Double> {
        let (x, y) = ((x - center.x) * scale, (y - center.y) * scale)
        guard rotation != 0 else { return SIMD2(x + width / 2, y + height / 2) }
        let (cosine, sine) = (cos(rotation), sin(rotation))
        return SIMD2(x * cosine + y * sine + width / 2, y * cosine - x * sine + height / 2)
    }
}
