extension TilePyramid {
    /// The same world with its finest levels only. The coarsest remaining level is level 0.
    ///
    /// Limits how far a view can zoom out before tiles are drawn reduced and, with ``LayerOptions/synthesizedLevels``,
    /// the number of tiles that one tile is made of.
    ///
    /// - Parameter count: Number of levels to keep, clamped to 1 and the number there are.
    public func keepingFinestLevels(_ count: Int) -> TilePyramid {
        let kept = Array(levels.suffix(max(count, 1)))
        let dropped = levels.count - kept.count
        let ranges = tileRanges.dropFirst(dropped).map { range in
            TileRange(level: range.level - dropped, columns: range.columns, rows: range.rows)
        }
        return TilePyramid(self, levels: kept, contents: contents, tileRanges: ranges)
    }

    /// The tiles of the next finer level that a tile is made of.
    func parts(of tile: TileCoordinate) -> TileRange {
        let level = levels[tile.level + 1]
        return TileRange(
            level: tile.level + 1,
            columns: 2 * tile.column..<min(2 * tile.column + 2, level.columns),
            rows: 2 * tile.row..<min(2 * tile.row + 2, level.rows)
        )
    }

    /// Explains why the coarsest levels cannot be made by halving; `nil` if they can.
    func obstacle(toSynthesizing count: Int) -> String? {
        guard count >= 0, count < levels.count else {
            return "0 to \(levels.count - 1) of its levels can be made, one less than there are, not \(count)"
        }
        for index in 0..<count {
            let (coarse, fine) = (levels[index], levels[index + 1])
            guard coarse.worldPixelsPerPixel == 2 * fine.worldPixelsPerPixel, coarse.origin == fine.origin,
                coarse.tileWidth == fine.tileWidth, coarse.tileHeight == fine.tileHeight,
                coarse.width == (fine.width - 1) / 2 + 1, coarse.height == (fine.height - 1) / 2 + 1,
                coarse.border == 0, fine.border == 0
            else {
                return "level \(index) is not the half of level \(index + 1): it needs half the pixels a side, tiles "
                    + "of the same size and origin, and no border"
            }
        }
        // A tile of the source must leave whole pixels in the tiles made of it.
        let (width, height) = (levels[count].tileWidth, levels[count].tileHeight)
        let possible = min(width.trailingZeroBitCount, height.trailingZeroBitCount)
        return count <= possible
            ? nil : "tiles of \(width) x \(height) pixels can be halved \(possible) times, not \(count)"
    }
}
