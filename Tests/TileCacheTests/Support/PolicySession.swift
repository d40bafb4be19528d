@testable import TileCache

/// A policy with one view, an empty cache and a clock of 60 frames a second.
struct PolicySession {
    var policy = AdaptivePolicy()
    var frame = 0
    var resident: Set<TileKey> = []
    var loading: Set<TileKey> = []
    /// Those of the resident tiles that are compressed.
    var compressed: Set<TileKey> = []
    /// Tiles that have failed for good.
    var lost: Set<TileKey> = []
    /// Tiles that do not exist.
    var absent: Set<TileKey> = []
    var effort = 0.5
    /// Duration of a load, in nanoseconds.
    var latency: Int64 = 40_000_000
    var destination: ViewportDestination?
    var destinationLevel: Int?
    /// Tiles that memory holds.
    var capacity = 200
    /// Policies that share the memory.
    var policies = 1
    /// Levels that are made of finer ones.
    var synthesizedLevels = 0
    var pyramid: TilePyramid
    /// Tells the policy which tiles have changed since its last plan, and so need to be looked up.
    var tellsChanges = false
    /// Number of tiles that the policy has looked up one by one in its last plan.
    private(set) var lookUps = 0
    private var changes = StateChanges()
    private var last: [Set<TileKey>] = []

    init(worldWidth: Int = 65_536, worldHeight: Int = 65_536, wrapsX: Bool = false) throws {
        pyramid = try .powerOfTwo(worldWidth: worldWidth, worldHeight: worldHeight, wrapsX: wrapsX)
    }

    /// One frame; returns the policy's wishes.
    mutating func show(_ viewport: TileViewport) -> Wishes {
        let level = level(scale: viewport.scale)
        let needed = pyramid.neededTiles(under: viewport, at: level).map { TileKey(layer: 0, $0) }
        let time = Int64(frame) * 16_666_667
        let (present, flying, compressed, lost, absent) = (resident, loading, compressed, lost, absent)
        let sets = [present, flying, compressed, lost, absent]
        for (set, before) in zip(sets, last) { for key in set.symmetricDifference(before) { changes.note(key) } }
        last = sets
        func state(_ key: TileKey) -> TileResidency {
            let isThere = present.contains(key)
            return TileResidency(
                residency: !isThere ? .none : compressed.contains(key) ? .compressed : .decoded,
                isKnown: isThere || flying.contains(key),
                isLoading: flying.contains(key),
                isUnavailable: !isThere && (lost.contains(key) || absent.contains(key))
            )
        }
        policy.observe(
            FrameObservation(
                time: time,
                viewport: viewport,
                level: level,
                needed: needed,
                pyramid: pyramid
            )
        )
        frame += 1
        var count = 0
        defer { lookUps = count }
        var wishes = Wishes()
        policy.appendWishes(
            to: &wishes,
            target: PlanTarget(
                layer: 0,
                pyramid: pyramid,
                viewport: viewport,
                level: level,
                needed: needed,
                destination: destination,
                destinationLevel: destinationLevel,
                selection: TileLevelSelection()
            ),
            context: PlanContext(
                now: time,
                workers: 4,
                loadLatency: latency,
                capacityTiles: capacity,
                policies: policies,
                effort: effort,
                residency: {
                    count += 1
                    return present.contains($0) ? .decoded : .none
                },
                lookUpMany: { $0.map(state) },
                changedTiles: tellsChanges ? { [changes] version in changes.take(since: &version) } : nil,
                synthesizedLevels: [synthesizedLevels]
            )
        )
        return wishes
    }

    func level(scale: Double) -> Int { TileLevelSelection().level(for: scale, in: pyramid) }
}

extension PlanContext {
    /// Four workers, loads of 40 ms, memory for 200 tiles. No tile is resident.
    static func empty(now: Int64 = 0) -> PlanContext {
        PlanContext(
            now: now,
            workers: 4,
            loadLatency: 40_000_000,
            capacityTiles: 200,
            effort: 0.5,
            residency: { _ in .none }
        )
    }
}

extension TileViewport {
    static func at(_ x: Double, _ y: Double, scale: Double = 1, width: Double = 1000, height: Double = 700)
        -> TileViewport
    {
        TileViewport(center: WorldPoint(x: x, y: y), width: width, height: height, scale: scale)
    }
}
