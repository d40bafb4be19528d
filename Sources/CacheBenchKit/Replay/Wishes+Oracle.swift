package import TileCache

/// What only a policy that knows the future asks for: to say itself when needed tiles are loaded.
extension Wishes {
    /// Keeps the planner from loading a needed tile; the policy may wish for it where it sees fit.
    package mutating func leaveToPolicy(_ tile: TileCoordinate, layer: Int) {
        hopeless.append(TileKey(layer: layer, tile))
    }

    /// Wishes for a needed tile that was left to the policy, like the planner would have done.
    package mutating func need(_ tile: TileCoordinate, layer: Int) {
        entries.append(
            PlanEntry(key: TileKey(layer: layer, tile), value: .infinity, reason: .demand, wantsDecoded: true)
        )
    }
}

extension PlanTarget {
    /// The needed tiles, row by row from the top left.
    package var neededTiles: [TileCoordinate] { needed.map(\.coordinate) }
}

extension PlanContext {
    /// The loads in flight of a layer, with when they end; none outside of replays.
    package func flights(ofLayer layer: Int) -> [(tile: TileCoordinate, finish: Int64)] {
        flights().compactMap { $0.key.layer == layer ? ($0.key.coordinate, $0.finish) : nil }
    }
}
