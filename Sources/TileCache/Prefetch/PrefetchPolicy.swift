/// One frame of a view, for policies to learn from.
package struct FrameObservation: Sendable {
    package var time: Int64
    package var viewport: TileViewport
    package var level: Int
    /// The needed tiles, in screen order.
    var needed: [TileKey]
    package var pyramid: TilePyramid
}

/// View and layer to plan for.
package struct PlanTarget: Sendable {
    package var layer: Int
    package var pyramid: TilePyramid
    package var viewport: TileViewport
    package var level: Int
    package var needed: [TileKey]
    package var destination: ViewportDestination?
    /// Level whose tiles have room at the destination; `nil` for the level that the selection chooses.
    var destinationLevel: Int?
    package var selection: TileLevelSelection
}

/// State of the cache, for policies.
package struct PlanContext {
    package var now: Int64
    /// Number of concurrent loads.
    package var workers: Int
    /// That number by the layer's index; empty if it is the same for all layers.
    var loadsInFlight: [Int] = []
    /// Measured duration of a load, in nanoseconds.
    package var loadLatency: Int64
    /// Number of decoded tiles of the layer's size that fit the whole limit.
    package var capacityTiles: Int
    /// That number by the layer's index; empty if it is the same for all layers.
    var capacities: [Int] = []
    /// Number of policies that share the memory: one for each layer of each view with a viewport. Default: 1.
    var policies = 1
    /// Effort, from 0 (needed tiles only) to 1 (everything). Default: 0.5.
    package var effort: Double
    var residency: (TileKey) -> Residency
    /// Looks up many tiles under one lock.
    var lookUpMany: (([TileKey]) -> [TileResidency])?
    /// The tiles whose residency has changed since a version, and the new version. `nil`, also the result: all may have.
    var changedTiles: ((inout Int) -> [TileKey]?)?
    /// Load time of a tile relative to the source's, 0...1. Less than 1 if a tier below memory has it. `nil`: no layer
    /// has such tiers.
    var nearness: ((TileKey) -> Double)?
    /// Whether a tier on this machine is known to have a tile. `nil`: no layer has such tiers.
    var isNear: ((TileKey) -> Bool)?
    /// Allowances by the layer's index; empty if all are standard.
    var allowances: [PrefetchAllowance] = []
    /// Number of levels that are made of finer ones, by the layer's index. A load of such a tile takes many loads of
    /// the source.
    var synthesizedLevels: [Int] = []
    /// Whether only near tiles are of use.
    var isResidentOnly = false
    /// Calls its argument with every resident tile; for replays only.
    var residents: ((TileKey) -> Void) -> Void = { _ in }
    /// Loads in flight and their ends; for replays only.
    package var flights: () -> [(key: TileKey, finish: Int64)] = { [] }
    /// Changes with every change of residency or loads in flight; for replays only.
    package var changes: Int?

    func allowance(ofLayer layer: Int) -> PrefetchAllowance {
        allowances.indices.contains(layer) ? allowances[layer] : .standard
    }

    /// The coarsest level of a layer that its source has.
    func firstLoadedLevel(ofLayer layer: Int) -> Int {
        synthesizedLevels.indices.contains(layer) ? synthesizedLevels[layer] : 0
    }

    /// The context of a layer's policy, which is one of several.
    func with(_ allowance: PrefetchAllowance, ofLayer layer: Int, policies: Int) -> PlanContext {
        var context = self
        context.policies = policies
        if capacities.indices.contains(layer) { context.capacityTiles = capacities[layer] }
        if loadsInFlight.indices.contains(layer) { context.workers = loadsInFlight[layer] }
        guard allowance != .standard else { return context }
        context.effort = allowance.effort(standard: effort)
        context.isResidentOnly = allowance == .resident
        return context
    }

    /// Leaves out the loads ahead of need that an allowance excludes. Marks the loads that ask no source.
    func admit(_ entries: inout [PlanEntry], by allowance: PrefetchAllowance) {
        guard allowance != .standard else { return }
        let found = allowance == .resident ? residencies(of: entries.map(\.key)) : []
        entries = entries.enumerated().compactMap { place, entry in
            guard entry.reason.isPrefetch || entry.reason == .fallback, !entry.isPromotion else { return entry }
            var entry = entry
            entry.isNear = isNear?(entry.key) ?? false
            switch allowance {
            case .never: return nil
            // A tile in memory needs no load.
            case .resident: return entry.isNear || found[place].residency != .none ? entry : nil
            case .priced: return entry
            }
        }
    }

    /// Residency of some tiles.
    func residencies(of keys: [TileKey]) -> [TileResidency] {
        lookUpMany?(keys) ?? keys.map { TileResidency(residency: residency($0), isKnown: true) }
    }

    /// Calls `body` with the resident tiles of a layer; does nothing outside of replays.
    package func forEachResident(ofLayer layer: Int, _ body: (TileCoordinate) -> Void) {
        residents { key in if key.layer == layer { body(key.coordinate) } }
    }
}

extension PrefetchAllowance {
    /// Effort of the layer's policies, 0...1.
    ///
    /// - Parameter standard: Effort of the cache.
    func effort(standard: Double) -> Double {
        switch self {
        case .never: 0
        case .resident: standard
        case .priced(let terms): terms.effort ?? standard
        }
    }
}

extension Wishes {
    /// Requests the load of a tile.
    package mutating func wish(for tile: TileCoordinate, layer: Int, value: Float) {
        entries.append(PlanEntry(key: TileKey(layer: layer, tile), value: value, reason: .prefetch))
    }

    /// Sets the worth of keeping a tile; never loads it.
    package mutating func value(_ tile: TileCoordinate, layer: Int, value: Float) {
        keepValues.append(PlanEntry(key: TileKey(layer: layer, tile), value: value, reason: .prefetch))
    }
}

/// How long wishes hold while no tile changes: another plan would equal the last one.
package struct WishValidity: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Once the view has rested for seconds; not those of an oracle, which knows when it will move.
    package static let onceRested = WishValidity(rawValue: 1)
    /// While the view stands still, at any time, without loads in flight.
    package static let whileStill = WishValidity(rawValue: 2)
    /// While the view goes on as before (`PlannedFrame`), and nothing of them is left to load.
    package static let whileGoingOn = WishValidity(rawValue: 4)
}

/// A source of prefetches for one layer in one view. Observes it, and says which tiles to load or keep.
///
/// Policies are pure values: equal observations give equal wishes.
package protocol PrefetchPolicy: Sendable {
    /// Whether its wishes come before missing needed tiles. Default: false.
    var goesFirst: Bool { get }

    /// How long its last wishes hold while no tile changes. Default: once the view has rested.
    var validity: WishValidity { get }

    /// Bytes learned, beyond those of a new policy. Default: 0.
    var byteCount: Int { get }

    /// Forgets what was learned, and frees its memory. Default: does nothing.
    mutating func reset()

    /// What the session has taught, for later sessions. Default: `nil`, nothing.
    var learned: SessionSamples? { get }

    /// Takes in a frame; called for each viewport of a view, in order of time.
    mutating func observe(_ frame: FrameObservation)

    /// Appends tiles to load or keep beyond the needed ones, the most wanted first.
    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext)
}

extension PrefetchPolicy {
    package var goesFirst: Bool { false }
    package var validity: WishValidity { .onceRested }
    package var byteCount: Int { 0 }
    package mutating func reset() {}
    package var learned: SessionSamples? { nil }
}

extension PlanTarget {
    /// Upright rectangle of the world that the viewport shows; the bounds of a rotated one.
    package var rectangle: PixelRect { ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level).box }

    /// Whether tiles on screen are left out, since there are too many of the coarsest level. What is beside or finer then
    /// is worth no load.
    var isCut: Bool {
        level == 0 && ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level).leftOutCount > 0
    }

    /// Calls `body` with the tiles of a level under a rectangle, row by row. Each tile comes once unless the world
    /// wraps within the rectangle.
    package func forEachTile(at level: Int, in rectangle: PixelRect, _ body: (TileKey) -> Void) {
        ViewportCover(pyramid: pyramid, rectangle: rectangle, levelIndex: level).forEach { column, row, _ in
            body(TileKey(layer: layer, TileCoordinate(level: level, column: column, row: row)))
            return true
        }
    }

    /// Requests the tiles of a level under a rectangle, row by row, with equal values.
    package func appendWishes(at level: Int, in rectangle: PixelRect, value: Float, to wishes: inout Wishes) {
        forEachTile(at: level, in: rectangle) {
            wishes.entries.append(PlanEntry(key: $0, value: value, reason: .prefetch))
        }
    }
}

/// Prefetches nothing.
package struct NoPrefetch: PrefetchPolicy {
    package init() {}
    package var validity: WishValidity { [.onceRested, .whileStill] }
    package mutating func observe(_ frame: FrameObservation) {}
    package mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {}
}
