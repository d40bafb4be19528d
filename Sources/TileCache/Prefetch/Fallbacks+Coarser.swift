/// A coarser level first, if sharp tiles come late.
extension Fallbacks {
    /// Turns of all workers for the missing tiles above which a coarser level comes first.
    static let turnsForCoarser = 2

    /// Tiles of the area that the view will show, at one coarser level. It is the finest level that the workers load in
    /// one turn, or half of the workers if loads are hardly noticed: such a tile shows for a moment only.
    ///
    /// Each coarser tile covers several sharp tiles, which follow turn by turn. So a view that outruns its loads shows
    /// nearly sharp tiles, where fallbacks would be several levels coarser.
    ///
    /// - Parameters:
    ///   - missing: Needed tiles that are not resident.
    ///   - ancestors: Their nearest resident ancestors.
    static func coarserTiles(
        _ outlook: Outlook,
        missing: [TileKey],
        ancestors: ResidentAncestors,
        context: PlanContext
    ) -> [TileKey] {
        let target = outlook.target
        let way = outlook.way
        let most = outlook.isNoticed ? context.workers : (context.workers + 1) / 2
        let coarsest = max(target.level - Self.levels, context.firstLoadedLevel(ofLayer: target.layer))
        for level in stride(from: target.level - 1, through: coarsest, by: -1) {
            var tiles: [TileKey] = []
            func add(_ key: TileKey) { if !tiles.contains(key) { tiles.append(key) } }
            // A level with more tiles is out of the question, however many more: the way of a long load may have a million.
            func goesOn() -> Bool { tiles.count <= most }
            for (key, nearest) in zip(missing, ancestors.nearest) where (nearest?.level ?? -1) < level {
                guard goesOn() else { break }
                guard outlook.rectangle(of: key).intersection(way).area > 0,
                    let ancestor = target.pyramid.ancestor(of: key.coordinate, at: level)
                else { continue }
                add(TileKey(layer: target.layer, ancestor))
            }
            // Of what does not show yet.
            if outlook.travel.isMoving, goesOn() {
                outlook.forEachTile(at: level, in: way, while: goesOn) { key, tile in
                    let hidden = tile.intersection(way).area - tile.intersection(outlook.view).area
                    if hidden > 0, !context.residency(key).isResident { add(key) }
                }
            }
            if goesOn() { return tiles }
        }
        return []
    }
}
