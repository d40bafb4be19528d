/// What there is to draw in place of needed tiles that will not come: under each point the deepest ancestor that exists.
///
/// Walks up level by level, and ends where tiles are resident or may come. Sources need not be pyramids whose tiles nest:
/// each level is asked for, the nearest first. Neighbours have the same ancestors, so that a walk of any height asks for
/// about a third of the tiles that are missing, and four more a level at the edges. An ancestor that turns out to be
/// absent has an entry in the pool, as all absent tiles, and is not asked for again.
struct GapAncestors {
    /// Ancestors to draw, those of fine levels first: resident ones, and the nearest ones that may come.
    private(set) var tiles: [TileKey] = []

    /// Part of a side that does not count: edges that tiles of several levels share are rounded.
    private static let hair = 1e-6

    /// - Parameters:
    ///   - gaps: Needed tiles that are absent or have failed for good, of any levels.
    ///   - first: The coarsest level that is loaded. Of coarser ones, only resident tiles count.
    ///   - lookUp: Residency of some tiles.
    init(
        of gaps: [TileCoordinate],
        layer: Int,
        in pyramid: TilePyramid,
        from first: Int,
        lookUp: ([TileKey]) -> [TileResidency]
    ) {
        guard let finest = gaps.lazy.map(\.level).max() else { return }
        var open: [PixelRect] = []
        for level in (0..<finest).reversed() {
            for gap in gaps where gap.level == level + 1 { open.append(pyramid.worldRectangle(of: gap)) }
            if open.isEmpty { continue }
            var covers = Covers()
            // What the tiles of the level leave open.
            var rest = open.filter { !covers.add(tilesOver: $0, at: level, in: pyramid) }
            let keys = covers.tiles.map { TileKey(layer: layer, $0) }
            for (place, found) in lookUp(keys).enumerated() {
                if found.residency.isResident || (!found.isUnavailable && level >= first) {
                    tiles.append(keys[place])
                } else {
                    rest.append(covers.areas[place])
                }
            }
            open = rest
        }
    }

    /// Tiles of one level over open areas, each once.
    private struct Covers {
        private(set) var tiles: [TileCoordinate] = []
        /// Bounds of what each tile covers of the areas.
        private(set) var areas: [PixelRect] = []
        private var places: [TileCoordinate: Int] = [:]

        /// Adds the tiles over an area. Returns whether they cover all of it.
        mutating func add(tilesOver area: PixelRect, at level: Int, in pyramid: TilePyramid) -> Bool {
            let inside = area.grown(x: -area.width * GapAncestors.hair, y: -area.height * GapAncestors.hair)
            guard !inside.isEmpty else { return true }
            let range = pyramid.range(overlapping: inside, at: level)
            guard range.count <= TilePyramid.mostTilesOverAPlace else { return false }
            var covered = 0.0
            for tile in range {
                let part = area.intersection(pyramid.worldRectangle(of: tile))
                covered += part.area
                if let place = places[tile] {
                    areas[place] = areas[place].union(part)
                } else {
                    places[tile] = tiles.count
                    tiles.append(tile)
                    areas.append(part)
                }
            }
            return covered >= area.area * (1 - 4 * GapAncestors.hair)
        }
    }
}
