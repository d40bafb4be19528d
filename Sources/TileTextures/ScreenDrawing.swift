package import TileCache

/// A needed tile on screen, which a slot or fallbacks are to draw.
package struct TextureWant: Sendable {
    /// Index of its layer among the screen's.
    package var layer: Int
    package var tile: TileCoordinate
    /// World rectangle of the tile in the copy on screen.
    package var worldRectangle: PixelRect

    package init(layer: Int, tile: TileCoordinate, worldRectangle: PixelRect) {
        self.layer = layer
        self.tile = tile
        self.worldRectangle = worldRectangle
    }
}

/// Slots that draw a want, and how well.
struct Drawing: Sendable {
    struct Part: Sendable {
        var slot: Int
        var tile: TileCoordinate
        /// World rectangle in the copy that begins at 0.
        var rectangle: PixelRect
    }

    enum Kind: Sendable { case none, exact, finer, coarser }

    var kind = Kind.none
    var parts: [Part] = []
    /// Fraction of the want that is drawn, 0 to 1.
    var covered = 0.0
    /// Levels by which it is too coarse, on average. What is not drawn counts as the number of levels.
    var deficit = 0.0
}

/// Finds the slots that draw wants. Decides nothing.
struct ScreenDrawing {
    /// Levels finer than the needed one that are searched for fallbacks, as in the cache.
    static let descendantDepth = 2
    /// Deficit of older pixels of the right tile, and of finer tiles. It is less than that of any coarser tile.
    static let staleDeficit = 0.75
    static let finerDeficit = 0.5
    static let whole = 1 - 1e-9

    let table: SlotTable
    let pyramid: TilePyramid
    let layer: LayerID
    /// Deficit of what is not drawn.
    let blank: Double

    /// Finds what draws a want best. In this order: the exact tile, finer tiles if they cover it, the nearest ancestor,
    /// finer tiles that cover a part.
    ///
    /// - Parameter isStale: Whether the exact tile's slot has older pixels.
    func drawing(of want: TextureWant, isStale: (Int) -> Bool) -> Drawing {
        let own = pyramid.worldRectangle(of: want.tile)
        if let slot = table.find(TextureKey(layer: layer, tile: want.tile)) {
            let part = Drawing.Part(slot: slot, tile: want.tile, rectangle: own)
            return Drawing(kind: .exact, parts: [part], covered: 1, deficit: isStale(slot) ? Self.staleDeficit : 0)
        }
        var finer = Drawing(kind: .finer)
        let area = max(own.area, .leastNormalMagnitude)
        forEachDescendant(of: want.tile, within: own) { child, slot, part in
            guard let slot else { return }
            finer.parts.append(Drawing.Part(slot: slot, tile: child, rectangle: part))
        }
        finer.covered = min(finer.parts.reduce(0) { $0 + $1.rectangle.area } / area, 1)
        if finer.covered >= Self.whole {
            finer.covered = 1
            finer.deficit = Self.finerDeficit
            return finer
        }
        for level in stride(from: want.tile.level - 1, through: 0, by: -1) where table.hasTiles(ofLevel: level) {
            guard let ancestor = pyramid.ancestor(of: want.tile, at: level),
                let slot = table.find(TextureKey(layer: layer, tile: ancestor))
            else { continue }
            let part = own.intersection(pyramid.worldRectangle(of: ancestor))
            guard !part.isEmpty else { continue }
            let covered = part == own ? 1 : min(part.area / area, 1)
            return Drawing(
                kind: .coarser,
                parts: [Drawing.Part(slot: slot, tile: ancestor, rectangle: part)],
                covered: covered,
                deficit: deficit(ofAncestorAt: level, of: want.tile, covering: covered)
            )
        }
        guard !finer.parts.isEmpty else { return Drawing(deficit: blank) }
        finer.deficit = finer.covered * Self.finerDeficit + (1 - finer.covered) * blank
        return finer
    }

    /// Adds coarser tiles over what a drawing leaves out, the nearest first.
    ///
    /// In pyramids that are not of powers of two a tile lies in several tiles of a coarser level. Uploads are decided
    /// without these parts: fallbacks that several wants share could take all slots, and none of them could be replaced.
    func addRest(of want: TextureWant, to drawing: inout Drawing) {
        let own = pyramid.worldRectangle(of: want.tile)
        var gaps = [own]
        func fill(_ rectangle: PixelRect, _ body: (PixelRect) -> Void) {
            var rest: [PixelRect] = []
            for gap in gaps {
                let part = gap.intersection(rectangle)
                guard part.area > own.area * (1 - Self.whole) else {
                    rest.append(gap)
                    continue
                }
                gap.appendRest(without: part, to: &rest)
                body(part)
            }
            gaps = rest
        }
        for part in drawing.parts { fill(part.rectangle) { _ in } }
        for level in stride(from: want.tile.level - 1, through: 0, by: -1) where table.hasTiles(ofLevel: level) {
            let range = pyramid.range(overlapping: own, at: level)
            guard range.count <= 64 else { continue }
            for tile in range {
                guard let slot = table.find(TextureKey(layer: layer, tile: tile)) else { continue }
                fill(pyramid.worldRectangle(of: tile)) {
                    drawing.parts.append(Drawing.Part(slot: slot, tile: tile, rectangle: $0))
                    drawing.covered += $0.area / own.area
                }
            }
        }
    }

    func deficit(ofAncestorAt level: Int, of tile: TileCoordinate, covering covered: Double) -> Double {
        covered * Double(tile.level - level) + (1 - covered) * blank
    }

    /// Calls a function with the finer tiles that have slots, or are to get one, and the parts that they draw. Parts do
    /// not overlap.
    private func forEachDescendant(
        of tile: TileCoordinate,
        with new: TileCoordinate? = nil,
        within own: PixelRect,
        depth: Int = ScreenDrawing.descendantDepth,
        _ body: (_ tile: TileCoordinate, _ slot: Int?, _ part: PixelRect) -> Void
    ) {
        let levels = tile.level + 1..<min(tile.level + 1 + depth, pyramid.levels.count)
        guard levels.contains(where: { table.hasTiles(ofLevel: $0) || $0 == new?.level }),
            let children = pyramid.children(of: tile), children.count <= 64
        else { return }
        for child in children {
            let part = own.intersection(pyramid.worldRectangle(of: child))
            guard !part.isEmpty else { continue }
            let slot = table.find(TextureKey(layer: layer, tile: child))
            if slot != nil || child == new {
                body(child, slot, part)
            } else if depth > 1 {
                forEachDescendant(of: child, with: new, within: part, depth: depth - 1, body)
            }
        }
    }

    /// Whether other tiles with slots cover the area of a tile. Includes one that is to get a slot.
    func isCovered(_ tile: TileCoordinate, with new: TileCoordinate? = nil) -> Bool {
        let own = pyramid.worldRectangle(of: tile)
        for level in stride(from: tile.level - 1, through: 0, by: -1) where table.hasTiles(ofLevel: level) {
            guard let ancestor = pyramid.ancestor(of: tile, at: level),
                table.find(TextureKey(layer: layer, tile: ancestor)) != nil
            else { continue }
            if own.intersection(pyramid.worldRectangle(of: ancestor)) == own { return true }
        }
        if let new, new.level < tile.level, own.intersection(pyramid.worldRectangle(of: new)) == own { return true }
        var covered = 0.0
        forEachDescendant(of: tile, with: new, within: own) { covered += $2.area }
        return covered >= own.area * Self.whole
    }
}
