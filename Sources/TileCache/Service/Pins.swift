/// A rectangle of pinned tiles of one level. Ranges do not overlap.
private struct PinnedRange: Sendable {
    var layer: Int
    var range: TileRange
    /// Number of tiles pinned in the pool, row by row.
    var entered = 0
    var isEntered: Bool { entered == range.count }
}

extension TileRange {
    func intersection(_ other: TileRange) -> TileRange {
        guard level == other.level, columns.overlaps(other.columns), rows.overlaps(other.rows) else {
            return TileRange(level: level, columns: 0..<0, rows: 0..<0)
        }
        return TileRange(level: level, columns: columns.clamped(to: other.columns), rows: rows.clamped(to: other.rows))
    }

    /// The rest without another range: at most four disjoint ranges.
    func subtracting(_ other: TileRange) -> [TileRange] {
        let common = intersection(other)
        guard !common.isEmpty else { return isEmpty ? [] : [self] }
        let parts = [
            TileRange(level: level, columns: columns, rows: rows.lowerBound..<common.rows.lowerBound),
            TileRange(level: level, columns: columns, rows: common.rows.upperBound..<rows.upperBound),
            TileRange(level: level, columns: columns.lowerBound..<common.columns.lowerBound, rows: common.rows),
            TileRange(level: level, columns: common.columns.upperBound..<columns.upperBound, rows: common.rows),
        ]
        return parts.filter { !$0.isEmpty }
    }

    /// Tile by its index, row by row.
    fileprivate func tile(at place: Int) -> TileCoordinate {
        TileCoordinate(
            level: level,
            column: columns.lowerBound + place % columns.count,
            row: rows.lowerBound + place / columns.count
        )
    }
}

/// Pinned tiles of a cache.
struct Pins: Sendable {
    private var pins: [PinnedRange] = []

    var isEmpty: Bool { pins.isEmpty }
    /// Whether pinned tiles wait for room in the table.
    var areMissing: Bool { pins.contains { !$0.isEntered } }

    func contains(_ key: TileKey) -> Bool {
        pins.contains { $0.layer == key.layer && $0.range.contains(key.coordinate) }
    }

    /// Adds ranges, each tile once, unless all pinned tiles would exceed half of the limit.
    ///
    /// - Returns: An error message, or `nil`.
    mutating func add(_ ranges: [TileRange], of layer: Int, in pool: borrowing PoolState) -> String? {
        var new: [TileRange] = []
        for range in ranges {
            var parts = [range]
            for other in pins.filter({ $0.layer == layer }).map(\.range) + new where !parts.isEmpty {
                parts = parts.flatMap { $0.subtracting(other) }
            }
            new += parts
        }
        guard !new.isEmpty else { return nil }
        var pinned = 0
        for pin in pins { pinned += pin.range.count * pool.slotBytes(ofLayer: pin.layer) }
        let half = pool.ledger.limit / 2
        var count = 0
        for range in new {
            let (tiles, overflow) = range.columns.count.multipliedReportingOverflow(by: range.rows.count)
            count += overflow ? half : min(tiles, half)
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: pool.slotBytes(ofLayer: layer))
        guard !overflow, bytes <= half - pinned else {
            return "pinned tiles would take \(overflow ? .max : bytes + pinned) bytes, more than half of the limit"
        }
        pins += new.map { PinnedRange(layer: layer, range: $0) }
        return nil
    }

    /// Removes ranges; returns the tiles that were pinned.
    mutating func take(_ ranges: [TileRange], of layer: Int) -> [TileRange] {
        var taken: [TileRange] = []
        for range in ranges {
            pins = pins.flatMap { pin -> [PinnedRange] in
                let common = pin.range.intersection(range)
                guard pin.layer == layer, !common.isEmpty else { return [pin] }
                taken.append(common)
                // A partly entered pin starts again: pinning a pinned tile changes nothing.
                return pin.range.subtracting(range).map {
                    PinnedRange(layer: layer, range: $0, entered: pin.isEntered ? $0.count : 0)
                }
            }
        }
        return taken
    }

    mutating func remove(layer: Int) { pins.removeAll { $0.layer == layer } }

    /// Pins declared tiles in the pool. Tiles without room in the table wait for the next plan.
    ///
    /// - Returns: Whether more steps would help.
    mutating func enter(in pool: inout PoolState) -> Bool {
        var left = PoolState.stepsAtOnce
        for index in pins.indices where !pins[index].isEntered {
            let pin = pins[index]
            for place in pin.entered..<pin.range.count {
                guard left > 0 else { return true }
                left -= 1
                guard pool.pin(TileKey(layer: pin.layer, pin.range.tile(at: place))) else { return false }
                pins[index].entered = place + 1
            }
        }
        return false
    }
}

extension CacheCore {
    func pin(_ layer: LayerID, _ ranges: (TilePyramid) -> Result<[TileRange], TileCacheError>) throws(TileCacheError) {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else {
            throw .invalidConfiguration("the layer is not one of this cache")
        }
        let ranges = try ranges(pyramid).get()
        let problem = perform { state -> String? in
            state.record(of: layer).flatMap { _ in state.pins.add(ranges, of: layer.index, in: state.pool) }
        }
        if let problem { throw .invalidConfiguration(problem) }
        while perform({ $0.pins.enter(in: &$0.pool) }) {}
        perform { $0.effects.plans = true }
    }

    func unpin(_ layer: LayerID, _ ranges: (TilePyramid) -> [TileRange]) {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else { return }
        let ranges = ranges(pyramid)
        let taken = perform { state in
            state.record(of: layer).map { _ in state.pins.take(ranges, of: layer.index) } ?? []
        }
        for range in taken {
            for first in stride(from: 0, to: range.count, by: PoolState.stepsAtOnce) {
                perform { state in
                    guard state.record(of: layer) != nil else { return }
                    for place in first..<min(first + PoolState.stepsAtOnce, range.count) {
                        let key = TileKey(layer: layer.index, range.tile(at: place))
                        // Another thread may have pinned it again.
                        if !state.pins.contains(key) { state.pool.unpin(key) }
                    }
                }
            }
        }
        // Other tiles may have room now.
        perform { $0.effects.plans = true }
    }

    /// Maximum number of tiles to prefetch once; each plan contains all of them.
    static let maximumAsked = 4096

    /// Prefetches tiles once.
    func prefetch(_ tiles: [TileCoordinate], of layer: LayerID) {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else { return }
        let known = tiles.filter { pyramid.contains($0) }
        perform { state in
            guard state.record(of: layer) != nil else { return }
            state.pruneAsked()
            state.changeAsked { list, pool in
                let most = min(pool.ledger.limit / 4 / pool.slotBytes(ofLayer: layer.index), Self.maximumAsked)
                var asked = Set(list)
                for tile in known where list.count < most {
                    let key = TileKey(layer: layer.index, tile)
                    if pool.wantsLoad(key), asked.insert(key).inserted { list.append(key) }
                }
            }
            state.effects.plans = true
        }
    }
}

extension CoreState {
    /// Forgets requested prefetches that have ended.
    mutating func pruneAsked() { changeAsked { asked, pool in asked = asked.filter { pool.wantsLoad($0) } } }
}

extension TileCache {
    /// Pins tiles. They are loaded before all others and evicted only if the limit is lowered or memory is short.
    ///
    /// Evicted pinned tiles are loaded again as soon as there is room. Pinning twice equals pinning once.
    ///
    /// - Parameters:
    ///   - layer: Layer of the tiles.
    ///   - levels: Levels of the layer; others are ignored.
    ///   - region: Region in world pixels. Default: nil, the whole world.
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if all pinned tiles would take more than half of the
    ///   limit, if the layer has none of the levels or is not one of this cache.
    public func pin(_ layer: LayerID, levels: ClosedRange<Int>, region: PixelRect? = nil) throws(TileCacheError) {
        try core.pin(layer) { pyramid in
            guard levels.overlaps(0...pyramid.maximumLevel) else {
                let found = "not \(levels.lowerBound) to \(levels.upperBound)"
                return .failure(.invalidConfiguration("the layer has levels 0 to \(pyramid.maximumLevel), \(found)"))
            }
            return .success(pyramid.ranges(of: levels, in: region))
        }
    }

    /// Pins single tiles, as ``pin(_:levels:region:)`` does.
    ///
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if all pinned tiles would take more than half of the
    ///   limit, if the layer has no such tile or is not one of this cache.
    public func pin(_ tiles: [TileCoordinate], of layer: LayerID) throws(TileCacheError) {
        try core.pin(layer) { pyramid in
            if let tile = tiles.first(where: { !pyramid.contains($0) }) {
                return .failure(.invalidConfiguration("the layer has no tile \(tile)"))
            }
            return .success(TileRange.runs(of: tiles))
        }
    }

    /// Unpins tiles; they become evictable. Tiles that are not pinned are ignored.
    ///
    /// - Parameters:
    ///   - layer: Layer of the tiles.
    ///   - levels: Levels of the layer. Default: nil, all levels.
    ///   - region: Region in world pixels. Default: nil, the whole world.
    public func unpin(_ layer: LayerID, levels: ClosedRange<Int>? = nil, region: PixelRect? = nil) {
        core.unpin(layer) { $0.ranges(of: levels ?? 0...$0.maximumLevel, in: region) }
    }

    /// Unpins single tiles. Those that are not pinned are ignored.
    public func unpin(_ tiles: [TileCoordinate], of layer: LayerID) {
        core.unpin(layer) { pyramid in TileRange.runs(of: tiles.filter { pyramid.contains($0) }) }
    }

    /// Prefetches tiles once, after needed tiles and before all other prefetches but urgent ones. Effort and allowance do not matter.
    ///
    /// Ignores tiles that are resident, absent, failed or not in the layer, and those beyond a quarter of the limit or
    /// 4,096 pending tiles.
    public func prefetch(_ tiles: [TileCoordinate], of layer: LayerID) { core.prefetch(tiles, of: layer) }
}

extension TileRange {
    /// Groups tiles into runs of neighbours in a row, each tile once.
    fileprivate static func runs(of tiles: [TileCoordinate]) -> [TileRange] {
        var runs: [TileRange] = []
        let sorted = tiles.sorted { ($0.level, $0.row, $0.column) < ($1.level, $1.row, $1.column) }
        for tile in sorted {
            if let last = runs.last, last.level == tile.level, last.rows.contains(tile.row),
                tile.column <= last.columns.upperBound
            {
                let end = Swift.max(last.columns.upperBound, tile.column + 1)
                runs[runs.count - 1].columns = last.columns.lowerBound..<end
            } else {
                let columns = tile.column..<tile.column + 1
                runs.append(TileRange(level: tile.level, columns: columns, rows: tile.row..<tile.row + 1))
            }
        }
        return runs
    }
}

extension TilePyramid {
    /// Tiles of some levels that overlap a region of the world.
    fileprivate func ranges(of levels: ClosedRange<Int>, in region: PixelRect?) -> [TileRange] {
        guard levels.overlaps(0...maximumLevel) else { return [] }
        let world = PixelRect(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)
        return levels.clamped(to: 0...maximumLevel).map { range(overlapping: region ?? world, at: $0) }
            .filter { !$0.isEmpty }
    }
}
