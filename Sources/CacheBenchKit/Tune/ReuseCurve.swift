import TileCache

/// Hits of plain LRU at every size at once. For all needed tiles of all frames, instant loads, no pins.
///
/// It bounds the effect of memory alone, without prediction. Accesses are every needed tile of every frame, as
/// `replay --export-keys` writes them. Demands are accesses that the previous frame did not have, without the first
/// frame.
struct ReuseCurve: Sendable, Hashable {
    /// Accesses and demands by their stack distance; 0 is not used.
    private var accessesAt: [Int] = [0]
    private var demandsAt: [Int] = [0]
    /// All accesses, including first ones.
    private(set) var accesses = 0
    private(set) var demands = 0
    /// Maximum number of distinct tiles of its traces: hits are constant beyond this size.
    private(set) var distinctTiles = 0

    /// Frames read, and the time of the last one in nanoseconds; sums over traces.
    private(set) var frames = 0
    private(set) var lastTime: Int64 = 0

    init() {}

    /// - Parameter shouldStop: Called at each frame; a stopped curve is of a part of the trace.
    init(_ input: ReplayInput, options: ReplayOptions, shouldStop: () -> Bool = { false }) throws {
        var needed = try NeededTiles(input, options: options)
        var distances = StackDistances<TileCoordinate>()
        var before: Set<TileCoordinate> = []
        var isFirst = true
        while !shouldStop(), try needed.advance() {
            let tiles = needed.tiles
            frames += 1
            lastTime = needed.time
            accesses += tiles.count
            if needed.isSame {
                // The same tiles in the same order: between two uses of each lie exactly all the others.
                count(tiles.count, at: tiles.count, in: &accessesAt)
                continue
            }
            for tile in tiles {
                let distance = distances.access(tile)
                if let distance { count(1, at: distance, in: &accessesAt) }
                guard !isFirst, !before.contains(tile) else { continue }
                demands += 1
                if let distance { count(1, at: distance, in: &demandsAt) }
            }
            before = Set(tiles)
            isFirst = false
        }
        distinctTiles = distances.distinctCount
    }

    private func count(_ count: Int, at distance: Int, in counts: inout [Int]) {
        guard distance > 0 else { return }
        if distance >= counts.count {
            counts += [Int](repeating: 0, count: distance + 1 - counts.count)
        }
        counts[distance] += count
    }

    /// Adds another trace's accesses; each trace has its own cache.
    mutating func add(_ other: ReuseCurve) {
        for (distance, number) in other.accessesAt.enumerated() { count(number, at: distance, in: &accessesAt) }
        for (distance, number) in other.demandsAt.enumerated() { count(number, at: distance, in: &demandsAt) }
        accesses += other.accesses
        demands += other.demands
        frames += other.frames
        lastTime += other.lastTime
        distinctTiles = max(distinctTiles, other.distinctTiles)
    }

    /// Points of the curve at some sizes, in tiles, sorted.
    func points(at sizes: [Int]) -> [TuneReport.LRUPoint] {
        var hits = 0
        var demandHits = 0
        var distance = 0
        return sizes.sorted().map { size in
            while distance < size, distance + 1 < max(accessesAt.count, demandsAt.count) {
                distance += 1
                if distance < accessesAt.count { hits += accessesAt[distance] }
                if distance < demandsAt.count { demandHits += demandsAt[distance] }
            }
            return TuneReport.LRUPoint(
                tiles: size,
                hits: hits,
                hitRate: accesses == 0 ? nil : Double(hits) / Double(accesses),
                demandHitRate: demands == 0 ? nil : Double(demandHits) / Double(demands)
            )
        }
    }

    /// Sizes to draw: all up to 64, then in steps of a thirty-second. The last is that of the last change.
    var sizes: [Int] {
        var sizes: [Int] = []
        var size = 1
        while size < distinctTiles {
            sizes.append(size)
            size += max(size / 32, 1)
        }
        return distinctTiles == 0 ? [] : sizes + [distinctTiles]
    }
}
