/// What is drawn in place of a missing tile.
extension FrameComposer {
    /// Levels finer than the needed one that are searched; Leaflet searches as many.
    static let descendantDepth = 2
    /// Part of an area that does not count: edges that tiles of several levels share are rounded, and so are sums.
    private static let hair = 1e-9

    /// Drawn area, in screen pixels.
    struct Fallback {
        var area = 0.0
        /// Area times the number of levels by which it is too coarse.
        var deficit = 0.0
    }

    /// Emits tiles that show what a missing one would show. Each point is drawn from the nearest finer tile, else from
    /// the nearest coarser one. Placements do not overlap.
    ///
    /// Coarser tiles come first if the missing tile is absent, since they are the final result, and before stale finer
    /// ones. If needed tiles lack room, which the leases of many tiles take, no finer tile is leased. Tiles that a view
    /// needs or a pin holds are drawn in any case: their leases take no room.
    func emitFallback(
        of visible: VisibleTile,
        in layer: ViewLayer,
        _ clip: ViewportClip,
        _ pool: borrowing PoolState,
        _ emit: (ComposedTile) -> Void
    ) -> Fallback {
        // `fill` captures these and not the layer, which would be copied for each tile.
        let (pyramid, layerIndex, offset) = (layer.pyramid, layer.layer, visible.offset)
        let index = Int(visible.index)
        let (tile, number) = (layer.needs.tiles[index].coordinate, layer.needs.entries[index])
        let own = pyramid.worldRectangle(of: tile)
        var fallback = Fallback()
        // `gaps` keeps what is beside the screen.
        var gaps = [own]
        let area = clip.screenArea(of: own.offsetBy(x: offset, y: 0))
        let whole = area * (1 - Self.hair)
        var hasStale = false
        func fill(from levels: some Sequence<Int>, takingRoom mayTakeRoom: Bool, drawsStale: Bool = true) {
            for level in levels {
                if fallback.area >= whole { return }
                let range = pyramid.range(overlapping: own, at: level)
                guard range.count <= TilePyramid.mostTilesOverAPlace else { continue }
                for other in range {
                    let number = pool.table.find(TileKey(layer: layerIndex, other))
                    guard number != .none, isDrawable(pool.table[number].residency),
                        mayTakeRoom || pool.table[number].isKept
                    else { continue }
                    if !drawsStale, pool.table[number].flags.contains(.stale) {
                        hasStale = true
                        continue
                    }
                    gaps.fill(with: pyramid.worldRectangle(of: other)) { part in
                        let placed = part.offsetBy(x: offset, y: 0)
                        let shown = clip.screenArea(of: placed)
                        guard shown > area * Self.hair else { return false }
                        fallback.area += shown
                        fallback.deficit += shown * Double(max(tile.level - level, 0))
                        guard emitsPlacements else { return true }
                        let table = pyramid.levels[level]
                        emit(composed(number, table, covering: placed, offset: offset, isExact: false, pool))
                        return true
                    }
                }
            }
        }
        // Tiles of such a far view have a few pixels: look-ups of finer ones would take most of a frame's time.
        let depth = layer.isCut ? 0 : Self.descendantDepth
        let finer = tile.level + 1..<min(tile.level + 1 + depth, pyramid.levels.count)
        let isAbsent = number != .none && pool.table[number].flags.contains(.absent)
        // Tiles of this layer make no room for another one at its maximum share.
        let isLacking = pool.queue.lack.concerns(layerIndex)
        let takesRoom = takesRoom || !isLacking
        let leasesFiner = takesRoom && !isLacking && !spared.concerns(layerIndex)
        if !isAbsent { fill(from: finer, takingRoom: leasesFiner, drawsStale: false) }
        fill(from: (0..<tile.level).reversed(), takingRoom: takesRoom)
        if isAbsent || hasStale { fill(from: finer, takingRoom: leasesFiner) }
        if fallback.area >= whole { fallback.area = area }
        return fallback
    }
}

extension [PixelRect] {
    /// Takes out the parts that a rectangle covers and `body` draws; those that it does not stay.
    fileprivate mutating func fill(with rectangle: PixelRect, _ body: (PixelRect) -> Bool) {
        var rest: [PixelRect] = []
        for gap in self {
            let part = gap.intersection(rectangle)
            if body(part) { gap.appendRest(without: part, to: &rest) } else { rest.append(gap) }
        }
        self = rest
    }
}

extension PixelRect {
    /// Appends the up to four parts of a rectangle that lie outside of another one within it.
    package func appendRest(without part: PixelRect, to rest: inout [PixelRect]) {
        for piece in [
            PixelRect(minX: minX, minY: minY, maxX: maxX, maxY: part.minY),
            PixelRect(minX: minX, minY: part.minY, maxX: part.minX, maxY: part.maxY),
            PixelRect(minX: part.maxX, minY: part.minY, maxX: maxX, maxY: part.maxY),
            PixelRect(minX: minX, minY: part.maxY, maxX: maxX, maxY: maxY),
        ] where !piece.isEmpty { rest.append(piece) }
    }
}

extension PoolState {
    /// Whether needed tiles lack room that nothing under way will make, and the leases of a frame's fallbacks would take the
    /// room of all tiles that are missing.
    func isKeptFull(byLeasesOf tiles: [ComposedTile], missing: Int) -> Bool {
        guard onlyLeasesMakeRoom else { return false }
        var taken: Set<EntryID> = []
        for tile in tiles where !table[tile.entry].isKept { taken.insert(tile.entry) }
        return missing <= taken.count
    }
}
