public import TileCache

/// Rectangle of whole pixels.
public struct PixelRectangle: Hashable, Sendable {
    /// Left column.
    public var x: Int
    /// Top row.
    public var y: Int
    /// Width in columns.
    public var width: Int
    /// Height in rows.
    public var height: Int

    /// Creates a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}

/// Copy of a part of a tile to the screen, in whole pixels.
public struct TileDraw: Hashable, Sendable {
    /// Part of the tile, in its pixels.
    public var source: PixelRectangle
    /// Target, in screen pixels.
    public var destination: PixelRect
    /// Clip of the target if the part was rounded outwards; `nil` if none is needed.
    public var clip: PixelRectangle?

    /// Places a tile.
    ///
    /// - Parameters:
    ///   - world: Drawn area, in world pixels.
    ///   - part: The same area in the tile's pixels; it need not be whole for parts of coarse tiles.
    ///   - width: Width of the tile in its pixels.
    ///   - height: Height of the tile in its pixels.
    ///   - viewport: Present viewport.
    /// - Returns: `nil` if nothing of it is on screen.
    public init?(world: PixelRect, part: PixelRect, width: Int, height: Int, viewport: TileViewport) {
        let target = viewport.screenRectangle(of: world)
        // Rounds shared edges to the same pixel, so that neighbours leave no gap or seam.
        let left = target.minX.rounded()
        let top = target.minY.rounded()
        let right = target.maxX.rounded()
        let bottom = target.maxY.rounded()
        guard right > left, bottom > top, right > 0, bottom > 0, left < viewport.width, top < viewport.height,
            part.width > 0, part.height > 0
        else { return nil }
        let minX = min(max(Int(part.minX.rounded(.down)), 0), width - 1)
        let minY = min(max(Int(part.minY.rounded(.down)), 0), height - 1)
        let maxX = min(max(Int(part.maxX.rounded(.up)), minX + 1), width)
        let maxY = min(max(Int(part.maxY.rounded(.up)), minY + 1), height)
        source = PixelRectangle(x: minX, y: minY, width: maxX - minX, height: maxY - minY)
        let isWhole =
            Double(minX) == part.minX && Double(minY) == part.minY && Double(maxX) == part.maxX
            && Double(maxY) == part.maxY
        if isWhole {
            destination = PixelRect(minX: left, minY: top, maxX: right, maxY: bottom)
            return
        }
        let across = (right - left) / part.width
        let down = (bottom - top) / part.height
        destination = PixelRect(
            minX: left + (Double(minX) - part.minX) * across,
            minY: top + (Double(minY) - part.minY) * down,
            maxX: left + (Double(maxX) - part.minX) * across,
            maxY: top + (Double(maxY) - part.minY) * down
        )
        let (clipLeft, clipTop) = (max(left, 0), max(top, 0))
        clip = PixelRectangle(
            x: Int(clipLeft),
            y: Int(clipTop),
            width: Int(min(right, viewport.width.rounded(.up)) - clipLeft),
            height: Int(min(bottom, viewport.height.rounded(.up)) - clipTop)
        )
    }
}

extension TileViewport {
    /// Position of a world rectangle on an unrotated screen, in screen pixels.
    func screenRectangle(of world: PixelRect) -> PixelRect {
        PixelRect(
            minX: (world.minX - center.x) * scale + width / 2,
            minY: (world.minY - center.y) * scale + height / 2,
            maxX: (world.maxX - center.x) * scale + width / 2,
            maxY: (world.maxY - center.y) * scale + height / 2
        )
    }
}
