import Synchronization

/// A rectangle of tiles of one level that the renderer has pinned.
struct PinnedRange: Sendable {
    var layer: Int
    var range: TileRange
    /// Tiles that count for it: all of them until it has been entered, then those that no other range had pinned before.
    var tiles: Int
    /// Tiles that have been entered, row by row.
    var entered = 0
    var isEntered: Bool { entered == range.count }

    func hasEntered(_ tile: TileCoordinate) -> Bool {
        guard range.contains(tile) else { return false }
        let place = (tile.row - range.rows.lowerBound) * range.columns.count + tile.column - range.columns.lowerBound
        return place < entered
    }
}

extension CoreState {
    /// Bytes of the slots that pinned tiles take.
    var pinnedBytes: Int { pins.reduce(0) { $0 + $1.tiles * pool.slotBytes(ofLayer: $1.layer) } }

    /// Declares ranges as pinned, unless they would take more than half of the limit; what is wrong, or `nil`.
    mutating func declarePins(_ layer: LayerID, levels: ClosedRange<Int>, region: Rectangle?) -> String? {
        guard layers.indices.contains(layer.index) else { return "the layer is not one of this cache" }
        let pyramid = layers[layer.index].pyramid
        guard levels.overlaps(0...pyramid.maximumLevel) else {
            return "the layer has levels 0 to \(pyramid.maximumLevel), not \(levels.lowerBound)"
        }
        let world = Rectangle(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)
        let ranges = levels.clamped(to: 0...pyramid.maximumLevel).map {
            pyramid.range(overlapping: region ?? world, at: $0)
        }
        let half = pool.configuration.byteLimit / 2
        var count = 0
        for range in ranges {
            let (tiles, overflow) = range.columns.count.multipliedReportingOverflow(by: range.rows.count)
            count += overflow ? half : min(tiles, half)
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: pool.slotBytes(ofLayer: layer.index))
        guard !overflow, bytes <= half - pinnedBytes else {
            return "the floors would take \(overflow ? .max : bytes + pinnedBytes) bytes, more than half of the limit"
        }
        for range in ranges where !range.isEmpty {
            pins.append(PinnedRange(layer: layer.index, range: range, tiles: range.count))
        }
        return nil
    }

    /// Pins some of the tiles that have been declared; whether more steps would get further. Tiles for which the table has
    /// no room yet wait for the next plan.
    mutating func enterPins(steps: Int = PoolState.stepsAtOnce) -> Bool {
        var left = steps
        for index in pins.indices where !pins[index].isEntered {
            let pin = pins[index]
            let columns = pin.range.columns
            while !pins[index].isEntered {
                guard left > 0 else { return true }
                left -= 1
                let next = pins[index].entered
                let tile = TileCoordinate(
                    level: pin.range.level,
                    column: columns.lowerBound + next % columns.count,
                    row: pin.range.rows.lowerBound + next / columns.count
                )
                switch pool.pin(TileKey(layer: pin.layer, tile)) {
                case .noRoom: return false
                case .already: pins[index].tiles -= 1
                case .pinned: break
                }
                pins[index].entered += 1
            }
        }
        return false
    }

    /// Unpins some tiles of ranges that are pinned no longer; the ranges that are left.
    mutating func unpin(_ ranges: [PinnedRange]) -> [PinnedRange] {
        var ranges = ranges
        var left = PoolState.stepsAtOnce
        while left > 0, let last = ranges.last {
            guard last.entered > 0 else {
                ranges.removeLast()
                continue
            }
            left -= 1
            let next = last.entered - 1
            ranges[ranges.count - 1].entered = next
            let columns = last.range.columns
            let tile = TileCoordinate(
                level: last.range.level,
                column: columns.lowerBound + next % columns.count,
                row: last.range.rows.lowerBound + next / columns.count
            )
            // Another thread may have pinned it anew between two steps.
            if let other = pins.firstIndex(where: { $0.layer == last.layer && $0.hasEntered(tile) }) {
                pins[other].tiles += 1
            } else {
                pool.unpin(TileKey(layer: last.layer, tile))
            }
        }
        return ranges
    }
}

extension CacheCore {
    func addFloor(_ layer: LayerID, levels: ClosedRange<Int>, region: Rectangle?) throws(TileCacheError) {
        let problem = perform { $0.declarePins(layer, levels: levels, region: region) }
        if let problem { throw .invalidConfiguration(problem) }
        while perform({ $0.enterPins() }) {}
        perform { $0.effects.plans = true }
    }

    func removeFloors(_ layer: LayerID) {
        var ranges = perform { state in
            defer { state.pins.removeAll { $0.layer == layer.index } }
            return state.pins.filter { $0.layer == layer.index }
        }
        while !ranges.isEmpty {
            let some = ranges
            ranges = perform { $0.unpin(some) }
        }
        // What there was no room for beside them may come now.
        perform { $0.effects.plans = true }
    }
}
