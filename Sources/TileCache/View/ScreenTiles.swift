/// A layer that a frame draws.
package struct FrameLayer: Sendable {
    package let id: LayerID
    package let pyramid: TilePyramid
    package let format: TilePixelFormat

    package init(id: LayerID, pyramid: TilePyramid, format: TilePixelFormat) {
        self.id = id
        self.pyramid = pyramid
        self.format = format
    }
}

/// A needed tile on screen. It is there several times if the world wraps within the viewport.
package struct ScreenTile: Sendable {
    package let layer: LayerID
    package let tile: TileCoordinate
    /// World rectangle of the tile in the copy on screen.
    package let worldRectangle: PixelRect
    /// Whether its pixels can be drawn now.
    package let isDrawable: Bool
    /// Generation of its pixels; 0 without any.
    package let generation: UInt32
}

extension ScreenTile {
    init(_ composed: ComposedTile, of layer: LayerID) {
        self.layer = layer
        tile = composed.key.coordinate
        worldRectangle = composed.worldRectangle
        isDrawable = true
        generation = composed.generation
    }
}

/// A resident tile that a view may draw soon.
package struct UpcomingTile: Sendable {
    package let layer: LayerID
    package let tile: TileCoordinate
    package let generation: UInt32
    /// Worth according to the plan; infinite for the coarsest resident tile over the screen.
    package let worth: Float
}

extension ViewLayer {
    /// Calls `body` with each needed tile on screen, in the order of drawing. Those outside of the world are left out.
    func forEachOnScreen(in pool: borrowing PoolState, drawsCompressed: Bool, _ body: (ScreenTile) -> Void) {
        for visible in visible {
            let (number, key) = (needs.entries[Int(visible.index)], needs.tiles[Int(visible.index)])
            let rectangle = pyramid.worldRectangle(of: key.coordinate)
            guard !rectangle.isEmpty else { continue }
            let residency = number == .none ? Residency.none : pool.table[number].residency
            body(
                ScreenTile(
                    layer: id,
                    tile: key.coordinate,
                    worldRectangle: rectangle.offsetBy(x: visible.offset, y: 0),
                    isDrawable: residency.isDrawable(drawsCompressed: drawsCompressed),
                    generation: number == .none ? 0 : pool.table[number].generation
                )
            )
        }
    }
}

extension ViewModel {
    /// Resident tiles that the plan expects the view to draw, the most valuable first.
    ///
    /// Before them come the coarsest resident ancestors of needed tiles, which cover the most. Needed tiles are left
    /// out.
    ///
    /// - Parameter chosen: Layers whose tiles are listed. Default: `nil`, all.
    func upcoming(
        limit: Int,
        of chosen: Set<LayerID>? = nil,
        in pool: borrowing PoolState,
        drawsCompressed: Bool
    ) -> [UpcomingTile] {
        var tiles: [UpcomingTile] = []
        let layers = layers.filter { chosen?.contains($0.id) ?? true }
        for layer in layers {
            layer.appendOverviews(to: &tiles, limit: limit, in: pool, drawsCompressed: drawsCompressed)
        }
        let overviews = tiles.count
        var best: [(worth: Float, number: EntryID, layer: LayerID)] = []
        for number in pool.queue.valued.lazy.map(\.number) {
            let entry = pool.table[number]
            guard entry.planEpoch == pool.queue.epoch, entry.value > 0, entry.needCount == 0,
                entry.residency.isDrawable(drawsCompressed: drawsCompressed),
                let layer = layers.first(where: { $0.layer == entry.key.layer })
            else { continue }
            best.append((entry.value, number, layer.id))
        }
        best.sort { ($1.worth, $0.number.number) < ($0.worth, $1.number.number) }
        for tile in best.prefix(max(limit - overviews, 0)) {
            let coordinate = pool.table[tile.number].key.coordinate
            guard !tiles[..<overviews].contains(where: { $0.layer == tile.layer && $0.tile == coordinate }) else {
                continue
            }
            tiles.append(UpcomingTile(pool.table[tile.number], of: tile.layer, worth: tile.worth))
        }
        return tiles
    }
}

extension ViewLayer {
    /// Appends the coarsest resident ancestors of needed tiles.
    fileprivate func appendOverviews(
        to tiles: inout [UpcomingTile],
        limit: Int,
        in pool: borrowing PoolState,
        drawsCompressed: Bool
    ) {
        var last: TileRange?
        for key in needs.tiles where key.level > 0 {
            let own = pyramid.worldRectangle(of: key.coordinate)
            for level in 0..<key.level {
                // Several tiles, if the pyramid is not of powers of two.
                let range = pyramid.range(overlapping: own, at: level)
                // Neighbours have the same coarse ancestors.
                if range == last { break }
                guard range.count <= TilePyramid.mostTilesOverAPlace else { continue }
                var isFound = false
                for tile in range {
                    let number = pool.table.find(TileKey(layer: layer, tile))
                    guard number != .none,
                        pool.table[number].residency.isDrawable(drawsCompressed: drawsCompressed)
                    else { continue }
                    isFound = true
                    if !tiles.contains(where: { $0.layer == id && $0.tile == tile }), tiles.count < limit {
                        tiles.append(UpcomingTile(pool.table[number], of: id, worth: .infinity))
                    }
                }
                guard isFound else { continue }
                last = range
                break
            }
        }
    }
}

extension UpcomingTile {
    fileprivate init(_ entry: Entry, of layer: LayerID, worth: Float) {
        self.init(layer: layer, tile: entry.key.coordinate, generation: entry.generation, worth: worth)
    }
}

extension Residency {
    fileprivate func isDrawable(drawsCompressed: Bool) -> Bool { drawsCompressed ? isResident : isDecoded }
}
