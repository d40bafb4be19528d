extension WorldPoint: CustomStringConvertible {
    /// As "(128, 64.5)".
    public var description: String { "(\(Wording.number(x)), \(Wording.number(y)))" }
}

extension PixelRect: CustomStringConvertible {
    /// Size and top left corner, as "256 x 128 at (0, 64)".
    public var description: String { "\(Wording.size(width, height)) at \(WorldPoint(x: minX, y: minY))" }
}

extension TileViewport: CustomStringConvertible {
    /// As "1280 x 720 around (512, 512), scale 0.5, turned by 0.1".
    public var description: String {
        "\(Wording.size(width, height)) around \(center), scale \(Wording.number(scale))"
            + (rotation == 0 ? "" : ", turned by \(Wording.number(rotation))")
    }
}

extension PyramidLevel: CustomStringConvertible {
    /// As "1000 x 750 pixels of 2 world pixels, in 2 x 2 tiles of 512 x 512".
    public var description: String {
        "\(width) x \(height) pixels of \(Wording.number(worldPixelsPerPixel)) world pixel"
            + "\(worldPixelsPerPixel == 1 ? "" : "s"), in \(columns) x \(rows) tiles of \(tileWidth) x \(tileHeight)"
            + (border == 0 ? "" : " with a border of \(border)")
            + (origin.x == 0 && origin.y == 0 ? "" : " from \(origin)")
    }
}

extension TilePyramid: CustomStringConvertible {
    /// The world, then a line for each level.
    public var description: String {
        let part = contents == worldRectangle ? "" : ", tiles in \(contents)"
        let head = "world of \(Wording.size(worldWidth, worldHeight))\(wrapsX ? ", wraps" : "")\(part)"
        return levels.enumerated().reduce(head) { $0 + "\n  level \($1.offset): \($1.element)" }
    }
}

extension TileLevelSelection: CustomStringConvertible {
    /// As "bias 0.5, hysteresis 0 octaves".
    public var description: String { "bias \(Wording.number(bias)), hysteresis \(Wording.number(hysteresis)) octaves" }
}
