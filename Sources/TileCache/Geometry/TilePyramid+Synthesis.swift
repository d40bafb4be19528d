/// Pyramids whose coarse levels the cache makes itself.
extension TilePyramid {
    /// The same world with its finest levels only: how far out a view may zoom before tiles are drawn smaller than they
    /// are, and with ``LayerOptions/synthesizedLevels`` how deep the cache goes to make a tile. The finest level keeps its
    /// tiles; the coarsest of those that stay is level 0.
    ///
    /// - Parameter count: how many levels stay; kept within 1 and the number there are.
    public func keepingFinestLevels(_ count: Int) -> TilePyramid {
        TilePyramid(self, levels: Array(levels.suffix(max(count, 1))))
    }

    /// Why so many of the coarsest levels cannot be made by halving; `nil` where they can.
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
        // A tile of the source must leave whole pixels in what is made of it.
        let (width, height) = (levels[count].tileWidth, levels[count].tileHeight)
        let possible = min(width.trailingZeroBitCount, height.trailingZeroBitCount)
        return count <= possible
            ? nil : "tiles of \(width) x \(height) pixels can be halved \(possible) times, not \(count)"
    }
}
