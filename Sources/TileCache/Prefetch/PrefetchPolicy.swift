/// What a view saw in one frame; policies learn from the sequence.
package struct FrameObservation: Sendable {
    package var time: Int64
    package var viewport: Viewport
    package var level: Int
    /// The needed tiles in the order of the screen.
    var needed: [TileKey]
    package var pyramid: TilePyramid
    /// Tiles that the frame needed and the one before did not; none of a first frame.
    var demands = 0
    /// Of those, how many were not resident.
    var missed = 0
}

/// What a policy is to look ahead from.
package struct PlanTarget: Sendable {
    package var layer: Int
    package var pyramid: TilePyramid
    package var viewport: Viewport
    package var level: Int
    package var needed: [TileKey]
    package var destination: Destination?
    package var selection: LevelSelection
}

/// What a policy may know of the cache.
package struct PlanContext {
    package var now: Int64
    /// Loads at the same time.
    package var workers: Int
    /// How long a load takes, in nanoseconds, as measured.
    package var loadLatency: Int64
    /// How many decoded tiles of the layer's size fit the whole budget.
    package var capacityTiles: Int
    /// From 0, nothing but what is needed, to 1, whatever may be of use; 0.5 is the default.
    package var effort: Double
    var residency: (TileKey) -> Residency
    /// The same for many tiles at once, where each question alone would cost a lock.
    var manyStandings: (([TileKey]) -> [TileStanding])?
    /// Calls its argument with every resident tile; only replays give it.
    var residents: ((TileKey) -> Void) -> Void = { _ in }
    /// The loads in flight and when they end; only replays give them.
    package var flights: () -> [(key: TileKey, finish: Int64)] = { [] }
    /// Another number whenever what is resident or in flight has changed; only replays give it.
    package var changes: Int?

    /// How each of some tiles stands.
    func standings(_ keys: [TileKey]) -> [TileStanding] {
        manyStandings?(keys) ?? keys.map { TileStanding(residency: residency($0), isKnown: true) }
    }

    /// Calls `body` with the resident tiles of a layer; does nothing outside of replays.
    package func forEachResident(ofLayer layer: Int, _ body: (TileCoordinate) -> Void) {
        residents { key in if key.layer == layer { body(key.coordinate) } }
    }
}

extension Wishes {
    /// Wishes for a tile.
    package mutating func wish(for tile: TileCoordinate, layer: Int, value: Float) {
        entries.append(PlanEntry(key: TileKey(layer: layer, tile), value: value, reason: .prefetch))
    }

    /// Says what keeping a tile is worth, should it be resident; never loads it.
    package mutating func value(_ tile: TileCoordinate, layer: Int, value: Float) {
        keepValues.append(PlanEntry(key: TileKey(layer: layer, tile), value: value, reason: .prefetch))
    }
}

/// Where prefetches come from: observes one layer in one view, and says what it would like loaded or kept.
///
/// Policies are pure: the same observations give the same wishes. Each is a value, so that a view's policy can be copied
/// for a plan made elsewhere.
package protocol PrefetchPolicy: Sendable {
    /// Whether its wishes go before needed tiles that are missing.
    var goesFirst: Bool { get }

    /// Whether its wishes go on changing while a view rests, as those of an oracle do.
    var changesAtRest: Bool { get }

    /// Whether another plan for the same view, with the same tiles resident and none in flight, is bound to say what the
    /// last one said, whenever it is made: then nobody has to make it.
    var isSettled: Bool { get }

    /// Bytes of what the policy has learned, beyond what a new one takes. Default: 0.
    var byteCount: Int { get }

    /// Gives up what has been learned, and its memory. Default: does nothing.
    mutating func reset()

    /// Takes in a frame; called for each viewport that a view takes, in the order of time.
    mutating func observe(_ frame: FrameObservation)

    /// Appends what should be loaded or kept beyond the needed tiles, the most wanted first.
    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext)
}

extension PrefetchPolicy {
    package var goesFirst: Bool { false }
    package var changesAtRest: Bool { false }
    package var isSettled: Bool { false }
    package var byteCount: Int { 0 }
    package mutating func reset() {}
}

extension PlanTarget {
    /// The upright rectangle of the world that the viewport shows, turned ones with their bounds.
    package var rectangle: Rectangle { ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level).box }

    /// Calls `body` with the tiles of a level under a rectangle, row by row, each once unless the world wraps within it.
    package func forEachTile(at level: Int, in rectangle: Rectangle, _ body: (TileKey) -> Void) {
        ViewportCover(pyramid: pyramid, rectangle: rectangle, levelIndex: level).forEach { column, row, _ in
            body(TileKey(layer: layer, TileCoordinate(level: level, column: column, row: row)))
            return true
        }
    }

    /// Wishes for the tiles of a level under a rectangle, row by row, all worth the same.
    package func appendWishes(at level: Int, in rectangle: Rectangle, value: Float, to wishes: inout Wishes) {
        forEachTile(at: level, in: rectangle) {
            wishes.entries.append(PlanEntry(key: $0, value: value, reason: .prefetch))
        }
    }
}

/// Loads nothing before it is needed.
package struct NoPrefetch: PrefetchPolicy {
    package init() {}
    package var isSettled: Bool { true }
    package mutating func observe(_ frame: FrameObservation) {}
    package mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {}
}
