package import TileCache

/// When each tile of a trace is needed: what a replay can know and a cache cannot.
package final class FutureNeeds: Sendable {
    /// A stretch of frames that need a tile.
    struct Stretch {
        var start: Int64
        var end: Int64
    }

    /// By tile, in the order of time.
    private let stretches: [TileCoordinate: [Stretch]]
    /// Every beginning of a need, in the order of time, then of the screen.
    let beginnings: [(time: Int64, tile: TileCoordinate)]

    /// Looks at every frame of a trace.
    ///
    /// - Parameter next: gives the frames; called until it returns `nil`.
    package init(
        pyramid: TilePyramid,
        selection: LevelSelection,
        next: () throws -> (time: Int64, viewport: Viewport)?
    ) rethrows {
        var stretches: [TileCoordinate: [Stretch]] = [:]
        var beginnings: [(Int64, TileCoordinate)] = []
        var before: Set<TileCoordinate> = []
        var lastTiles: [TileCoordinate] = []
        var level: Int?
        while let frame = try next() {
            let chosen = selection.level(for: frame.viewport.scale, in: pyramid, previous: level)
            level = chosen
            let tiles = pyramid.neededTiles(under: frame.viewport, at: chosen)
            if tiles != lastTiles {
                for tile in tiles where !before.contains(tile) {
                    stretches[tile, default: []].append(Stretch(start: frame.time, end: frame.time))
                    beginnings.append((frame.time, tile))
                }
                before = Set(tiles)
                lastTiles = tiles
            }
            for tile in tiles { stretches[tile]![stretches[tile]!.count - 1].end = frame.time }
        }
        self.stretches = stretches
        self.beginnings = beginnings
    }

    /// When a tile is next needed after a moment: at once where it is needed then; `nil` where never again.
    func nextNeed(of tile: TileCoordinate, after now: Int64) -> Int64? {
        guard let list = stretches[tile] else { return nil }
        var low = 0
        var high = list.count
        while low < high {
            let middle = (low + high) / 2
            if list[middle].end <= now { low = middle + 1 } else { high = middle }
        }
        return low < list.count ? max(list[low].start, now) : nil
    }
}

/// The perfect future: loads what is needed next, gives up what is needed last, and loads nothing that is needed later
/// than what it would push out.
///
/// Greedy, and so no proof of an optimum where loads cannot keep up: there it may help to give a tile up altogether.
package struct OraclePolicy: PrefetchPolicy {
    /// Wishes that one plan makes; more never start before the next plan.
    static let lookAhead = 64

    private let future: FutureNeeds
    private let prefetches: Bool
    private var base: any PrefetchPolicy
    private var cursor = 0

    /// Makes an oracle.
    ///
    /// - Parameters:
    ///   - future: of the trace that will be replayed.
    ///   - base: where prefetches come from; `nil` for the oracle's own, else only eviction knows the future (Belady).
    package init(future: FutureNeeds, base: (any PrefetchPolicy)? = nil) {
        self.future = future
        prefetches = base == nil
        self.base = base ?? NoPrefetch()
    }

    package var goesFirst: Bool { base.goesFirst }

    package mutating func observe(_ frame: FrameObservation) { base.observe(frame) }

    package mutating func appendWishes(to plan: inout Plan, target: PlanTarget, context: PlanContext) {
        base.appendWishes(to: &plan, target: target, context: context)
        while cursor < future.beginnings.count, future.beginnings[cursor].time <= context.now { cursor += 1 }
        if prefetches {
            var wished: Set<TileCoordinate> = []
            var index = cursor
            while index < future.beginnings.count, wished.count < Self.lookAhead {
                let next = future.beginnings[index]
                index += 1
                guard !context.isPresent(next.tile, layer: target.layer), wished.insert(next.tile).inserted else {
                    continue
                }
                plan.wish(for: next.tile, layer: target.layer, value: Self.value(next.time - context.now))
            }
        }
        // What keeping each resident tile is worth; those never needed again are not mentioned and go first.
        context.forEachResident(ofLayer: target.layer) { tile in
            guard let next = future.nextNeed(of: tile, after: context.now) else { return }
            plan.value(tile, layer: target.layer, value: Self.value(next - context.now))
        }
    }

    /// The sooner the more: at most 1, so that a prefetch of another policy, worth 2, may give any unneeded tile up.
    private static func value(_ wait: Int64) -> Float { 1 / (1 + Float(wait) / 1e6) }
}
