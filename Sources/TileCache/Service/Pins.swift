import Synchronization

/// A rectangle of pinned tiles of one level. No tile is in two of them.
struct PinnedRange: Sendable {
    var layer: Int
    var range: TileRange
    /// Tiles that have been pinned in the pool, row by row.
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

    /// What is left without another range: at most four ranges that do not overlap.
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

    /// A tile by its place, row by row.
    fileprivate func tile(at place: Int) -> TileCoordinate {
        TileCoordinate(
            level: level,
            column: columns.lowerBound + place % columns.count,
            row: rows.lowerBound + place / columns.count
        )
    }
}

extension CoreState {
    /// Whether pinned tiles wait for room in the table.
    var hasMissingPins: Bool { pins.contains { !$0.isEntered } }

    /// Bytes of the slots that pinned tiles take.
    private var pinnedBytes: Int { pins.reduce(0) { $0 + $1.range.count * pool.slotBytes(ofLayer: $1.layer) } }

    /// Declares ranges as pinned, each tile once, unless all pinned tiles would take more than half of the limit.
    ///
    /// - Returns: what is wrong, or `nil`.
    mutating func declarePins(_ ranges: [TileRange], of layer: Int) -> String? {
        var new: [TileRange] = []
        for range in ranges {
            var parts = [range]
            for other in pins.filter({ $0.layer == layer }).map(\.range) + new where !parts.isEmpty {
                parts = parts.flatMap { $0.subtracting(other) }
            }
            new += parts
        }
        guard !new.isEmpty else { return nil }
        let half = pool.ledger.limit / 2
        var count = 0
        for range in new {
            let (tiles, overflow) = range.columns.count.multipliedReportingOverflow(by: range.rows.count)
            count += overflow ? half : min(tiles, half)
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: pool.slotBytes(ofLayer: layer))
        guard !overflow, bytes <= half - pinnedBytes else {
            return "pinned tiles would take \(overflow ? .max : bytes + pinnedBytes) bytes, more than half of the limit"
        }
        pins += new.map { PinnedRange(layer: layer, range: $0) }
        return nil
    }

    /// Takes what lies in some ranges out of the pinned ones.
    ///
    /// - Returns: the ranges that are pinned no longer.
    mutating func takePins(_ ranges: [TileRange], of layer: Int) -> [TileRange] {
        var taken: [TileRange] = []
        for range in ranges {
            pins = pins.flatMap { pin -> [PinnedRange] in
                let common =
                    pin.layer == layer
                    ? pin.range.intersection(range) : TileRange(level: 0, columns: 0..<0, rows: 0..<0)
                guard !common.isEmpty else { return [pin] }
                taken.append(common)
                // If it is not whole, it is entered again from the start: tiles that are pinned stay so.
                return pin.range.subtracting(range).map {
                    PinnedRange(layer: layer, range: $0, entered: pin.isEntered ? $0.count : 0)
                }
            }
        }
        return taken
    }

    /// Pins some of the tiles that have been declared. Tiles for which the table has no room yet wait for the next plan.
    ///
    /// - Returns: whether more steps would get further.
    mutating func enterPins(steps: Int = PoolState.stepsAtOnce) -> Bool {
        var left = steps
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
            state.record(of: layer).flatMap { _ in state.declarePins(ranges, of: layer.index) }
        }
        if let problem { throw .invalidConfiguration(problem) }
        while perform({ $0.enterPins() }) {}
        perform { $0.effects.plans = true }
    }

    func unpin(_ layer: LayerID, _ ranges: (TilePyramid) -> [TileRange]) {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else { return }
        let ranges = ranges(pyramid)
        let taken = perform { state in
            state.record(of: layer).map { _ in state.takePins(ranges, of: layer.index) } ?? []
        }
        for range in taken {
            for first in stride(from: 0, to: range.count, by: PoolState.stepsAtOnce) {
                perform { state in
                    guard state.record(of: layer) != nil else { return }
                    for place in first..<min(first + PoolState.stepsAtOnce, range.count) {
                        let tile = range.tile(at: place)
                        // Another thread may have pinned it anew since.
                        let isPinned = state.pins.contains { $0.layer == layer.index && $0.range.contains(tile) }
                        if !isPinned { state.pool.unpin(TileKey(layer: layer.index, tile)) }
                    }
                }
            }
        }
        // What there was no room for beside them may come now.
        perform { $0.effects.plans = true }
    }

    /// Tiles that are asked for once, at most: each plan names all of them.
    static let maximumAsked = 4096

    /// Asks for tiles once.
    func prefetch(_ tiles: [TileCoordinate], of layer: LayerID) {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else { return }
        let known = tiles.filter { pyramid.contains($0) }
        perform { state in
            guard state.record(of: layer) != nil else { return }
            state.pruneAsked()
            let room = state.pool.ledger.limit / 4 / state.pool.slotBytes(ofLayer: layer.index)
            let most = min(room, Self.maximumAsked)
            var asked = Set(state.asked)
            for tile in known {
                guard state.asked.count < most else { break }
                let key = TileKey(layer: layer.index, tile)
                if state.pool.wantsLoad(key), asked.insert(key).inserted { state.asked.append(key) }
            }
            if !state.chargeAsked() {
                state.asked = []
                _ = state.chargeAsked()
            }
            state.effects.plans = true
        }
    }
}

extension CoreState {
    /// Forgets tiles that were asked for once and have come, or will not.
    mutating func pruneAsked() {
        guard !asked.isEmpty else { return }
        asked.removeAll { !pool.wantsLoad($0) }
        _ = chargeAsked()
    }

    /// Forgets a tile whose load has ended, however it did.
    mutating func forgetAsked(_ key: TileKey) {
        guard let index = asked.firstIndex(of: key) else { return }
        asked.remove(at: index)
        _ = chargeAsked()
    }

    mutating func forgetAsked(ofLayer layer: Int) {
        asked.removeAll { $0.layer == layer }
        _ = chargeAsked()
    }

    /// Counts the memory of the list; whether there is room for it.
    fileprivate mutating func chargeAsked() -> Bool {
        let growth = asked.count * MemoryLayout<TileKey>.stride - askedBytes
        guard pool.charge(growth, to: .views) else { return false }
        askedBytes += growth
        return true
    }
}

extension TileCache {
    /// Pins tiles: they are loaded before all others and evicted only if the limit is lowered or memory is short; then
    /// they are loaded again as soon as there is room. A tile that is pinned twice is pinned once.
    ///
    /// - Parameters:
    ///   - layer: the layer of the tiles.
    ///   - levels: levels of the layer; those that it does not have are left out.
    ///   - region: in world pixels. Default: the whole world.
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if all pinned tiles would take more than half of the limit,
    ///   if the layer has none of the levels or is not one of this cache.
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
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if all pinned tiles would take more than half of the limit, if
    ///   the layer has no such tile or is not one of this cache.
    public func pin(_ tiles: [TileCoordinate], of layer: LayerID) throws(TileCacheError) {
        try core.pin(layer) { pyramid in
            if let tile = tiles.first(where: { !pyramid.contains($0) }) {
                return .failure(.invalidConfiguration("the layer has no tile \(tile)"))
            }
            return .success(TileRange.runs(of: tiles))
        }
    }

    /// Unpins tiles; they stay until eviction takes them. Tiles that are not pinned are ignored.
    ///
    /// - Parameters:
    ///   - layer: the layer of the tiles.
    ///   - levels: Default: all levels.
    ///   - region: in world pixels. Default: the whole world.
    public func unpin(_ layer: LayerID, levels: ClosedRange<Int>? = nil, region: PixelRect? = nil) {
        core.unpin(layer) { $0.ranges(of: levels ?? 0...$0.maximumLevel, in: region) }
    }

    /// Unpins single tiles. Those that are not pinned are ignored.
    public func unpin(_ tiles: [TileCoordinate], of layer: LayerID) {
        core.unpin(layer) { pyramid in TileRange.runs(of: tiles.filter { pyramid.contains($0) }) }
    }

    /// Loads tiles ahead of need, once: after what views need and before all guesses, whatever the effort. They are
    /// evicted like all others.
    ///
    /// Ignored are tiles that are resident or absent, that have failed, that the layer does not have, and those beyond a
    /// quarter of the limit or 4,096 tiles together with what was asked for before and has not come.
    public func prefetch(_ tiles: [TileCoordinate], of layer: LayerID) { core.prefetch(tiles, of: layer) }
}

extension TileRange {
    /// Tiles as runs of neighbours in a row, each tile once: far fewer ranges than tiles.
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
    /// The tiles of some levels that overlap a region of the world.
    fileprivate func ranges(of levels: ClosedRange<Int>, in region: PixelRect?) -> [TileRange] {
        guard levels.overlaps(0...maximumLevel) else { return [] }
        let world = PixelRect(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)
        return levels.clamped(to: 0...maximumLevel).map { range(overlapping: region ?? world, at: $0) }
            .filter { !$0.isEmpty }
    }
}
