import TileCache

/// Operations for a policy that decides itself when needed tiles are loaded.
extension Wishes {
    /// Keeps the planner from loading a needed tile; the policy may add it itself.
    mutating func leaveToPolicy(_ tile: TileCoordinate, layer: Int) {
        hopeless.append(TileKey(layer: layer, tile))
    }

    /// Adds a needed tile that was left to the policy, as the planner would have.
    mutating func need(_ tile: TileCoordinate, layer: Int) {
        entries.append(
            PlanEntry(key: TileKey(layer: layer, tile), value: .infinity, reason: .demand, wantsDecoded: true)
        )
    }
}

extension PlanTarget {
    /// Needed tiles, row by row from the top left.
    var neededTiles: [TileCoordinate] { needed.map(\.coordinate) }
}

extension PlanContext {
    /// Loads in flight of a layer, with their ends; empty outside of replays.
    func flights(ofLayer layer: Int) -> [(tile: TileCoordinate, finish: Int64)] {
        flights().compactMap { $0.key.layer == layer ? ($0.key.coordinate, $0.finish) : nil }
    }
}
