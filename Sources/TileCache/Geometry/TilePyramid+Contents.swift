/// Where a pyramid has tiles.
extension TilePyramid {
    /// Maximum tiles of another level over one tile that are searched. In odd tables of levels there may be any number
    /// of them.
    static let mostTilesOverAPlace = 64

    /// The same pyramid, with tiles in a part of the world only: those that overlap it, at each level.
    ///
    /// For a source that knows its bounds. Nothing beside them is needed, loaded, predicted or counted as missing. Bounds
    /// that are too small hide tiles.
    ///
    /// - Parameter part: In world pixels. Earlier limits still hold: a tile has to be within all of them. A part beside
    ///   the earlier ones leaves no tiles.
    public func limited(to part: PixelRect) -> TilePyramid {
        let both = contents.intersection(part)
        let rest = both.isEmpty ? PixelRect(minX: 0, minY: 0, maxX: 0, maxY: 0) : both
        guard rest != contents else { return self }
        let ranges = levels.indices.map { range(overlapping: rest, at: $0) }
        return TilePyramid(self, levels: levels, contents: rest, tileRanges: ranges)
    }

    /// The same pyramid, with these tiles only.
    ///
    /// For a source that knows the tiles of each level. Where a level has none and a coarser one has, the coarser tile is
    /// drawn, and the finer one is never asked for.
    ///
    /// - Parameter ranges: The tiles by level, one range for each. Levels that are not named have no tiles. What lies
    ///   outside of a level's grid does not count. Earlier limits still hold.
    public func limited(to ranges: [TileRange]) -> TilePyramid {
        let named = Dictionary(ranges.map { ($0.level, $0) }) { first, _ in first }
        let nothing = PixelRect(minX: 0, minY: 0, maxX: 0, maxY: 0)
        var covered: PixelRect?
        let kept = levels.indices.map { index -> TileRange in
            let known = range(overlapping: worldRectangle, at: index)
            let own = TileRange(
                level: index,
                columns: (named[index]?.columns ?? 0..<0).clamped(to: known.columns),
                rows: (named[index]?.rows ?? 0..<0).clamped(to: known.rows)
            )
            if !own.isEmpty { covered = covered?.union(area(of: own)) ?? area(of: own) }
            return own
        }
        // The tiles of a whole level may leave a part of the world, which counts as theirs.
        let isWhole = levels.indices.contains { kept[$0] == cells(overlapping: worldRectangle, at: $0) }
        let both = contents.intersection(isWhole ? worldRectangle : covered ?? nothing)
        return TilePyramid(self, levels: levels, contents: both.isEmpty ? nothing : both, tileRanges: kept)
    }

    /// Whether there may be such a tile: it is in the grid of its level, and no limit excludes it.
    public func hasTile(_ tile: TileCoordinate) -> Bool {
        contains(tile) && (tileRanges.isEmpty || tileRanges[tile.level].contains(tile))
    }

    /// World rectangle of some tiles, cut at the world's edges.
    private func area(of range: TileRange) -> PixelRect {
        let first = TileCoordinate(level: range.level, column: range.columns.lowerBound, row: range.rows.lowerBound)
        let last = TileCoordinate(
            level: range.level,
            column: range.columns.upperBound - 1,
            row: range.rows.upperBound - 1
        )
        return worldRectangle(of: first).union(worldRectangle(of: last))
    }
}
