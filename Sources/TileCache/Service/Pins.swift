/// Pinned tiles of a cache.
struct Pins: Sendable {
    /// Those of a layer, with a number that no earlier ones had.
    private struct OfLayer {
        var tiles: TileRuns
        var version: Int
    }

    private var layers: [Int: OfLayer] = [:]
    private var lastVersion = 0
    /// Runs to pin in the pool. Tiles without room in the table wait.
    private var waiting: [(layer: Int, runs: [TileRuns.Run])] = []
    /// What of them is pinned: lists, runs of the next list, and tiles of the next run.
    private var entered = (lists: 0, runs: 0, tiles: 0)

    var isEmpty: Bool { layers.isEmpty }
    /// Whether pinned tiles wait for room in the table.
    var areMissing: Bool { !waiting.isEmpty }

    func tiles(of layer: Int) -> TileRuns { layers[layer]?.tiles ?? .none }

    /// Differs whenever the tiles of the layer do.
    func version(of layer: Int) -> Int { layers[layer]?.version ?? 0 }

    func contains(_ key: TileKey) -> Bool { layers[key.layer]?.tiles.contains(key.coordinate) ?? false }

    /// Bytes of all pinned tiles of other layers.
    func byteCount(without layer: Int, in pool: borrowing PoolState) -> Int {
        var bytes = 0
        for (other, own) in layers where other != layer { bytes += own.tiles.count * pool.slotBytes(ofLayer: other) }
        return bytes
    }

    /// Replaces the pinned tiles of a layer by more.
    ///
    /// - Parameter new: Those of them that were not pinned.
    mutating func add(_ new: TileRuns, to all: TileRuns, of layer: Int) {
        replace(by: all, of: layer)
        waiting.append((layer, new.runs))
    }

    /// Replaces the pinned tiles of a layer by fewer.
    mutating func cut(to rest: TileRuns, of layer: Int) {
        replace(by: rest, of: layer)
        guard waiting.dropFirst(entered.lists).contains(where: { $0.layer == layer }) else { return }
        // What waits may have been unpinned. Pinning a pinned tile changes nothing.
        let isFirst = waiting[entered.lists].layer == layer
        waiting = waiting.dropFirst(entered.lists).filter { $0.layer != layer }
        entered = isFirst ? (0, 0, 0) : (0, entered.runs, entered.tiles)
        if !rest.isEmpty { waiting.append((layer, rest.runs)) }
    }

    private mutating func replace(by tiles: TileRuns, of layer: Int) {
        lastVersion += 1
        layers[layer] = tiles.isEmpty ? nil : OfLayer(tiles: tiles, version: lastVersion)
    }

    /// Pins declared tiles in the pool. Tiles without room in the table wait for the next plan.
    ///
    /// - Returns: Whether more steps would help.
    mutating func enter(in pool: inout PoolState) -> Bool {
        for _ in 0..<PoolState.stepsAtOnce {
            guard entered.lists < waiting.count else {
                waiting.removeAll()
                entered = (0, 0, 0)
                return false
            }
            let (layer, runs) = waiting[entered.lists]
            guard entered.runs < runs.count else {
                entered = (entered.lists + 1, 0, 0)
                continue
            }
            let run = runs[entered.runs]
            let column = run.columns.lowerBound + entered.tiles
            guard column < run.columns.upperBound else {
                entered = (entered.lists, entered.runs + 1, 0)
                continue
            }
            let tile = TileCoordinate(level: run.level, column: column, row: run.row)
            guard pool.enter(TileKey(layer: layer, tile), for: .pin) != .none else { return false }
            entered.tiles += 1
        }
        return true
    }
}

extension CacheCore {
    /// Pins tiles.
    ///
    /// The sets are compared without the lock, since that takes the longer the more tiles are pinned.
    ///
    /// - Parameter missing: Returns how many of the tiles are not among those given, and then these.
    func pin(
        _ layer: LayerID,
        _ missing: (TileRuns) -> (count: Double, tiles: () -> TileRuns)
    ) throws(TileCacheError) {
        var isDone = false
        while !isDone {
            let found = read { state in
                state.record(of: layer).map { _ in
                    (
                        tiles: state.pins.tiles(of: layer.index), version: state.pins.version(of: layer.index),
                        others: state.pins.byteCount(without: layer.index, in: state.pool),
                        room: state.pool.roomForPins(ofLayer: layer.index)
                    )
                }
            }
            guard let found else { return }
            let (count, tiles) = missing(found.tiles)
            guard count > 0 else { break }
            // Before the tiles are listed, of which there may be any number.
            let own = (count + Double(found.tiles.count)) * Double(found.room.slotBytes)
            for (bytes, most, name) in [
                (own + Double(found.others), found.room.ofAll, "half of the limit"),
                (own, found.room.ofLayer, "the layer's maximum share"),
            ] where bytes > Double(most) {
                let number = Int(exactly: bytes) ?? .max
                throw .invalidConfiguration("pinned tiles would take \(number) bytes, more than \(name)")
            }
            let new = tiles()
            let all = found.tiles.union(disjoint: new)
            isDone = perform { state in
                guard state.record(of: layer) != nil else { return true }
                // Otherwise another thread has pinned or unpinned tiles.
                let others = state.pins.byteCount(without: layer.index, in: state.pool)
                guard state.pins.version(of: layer.index) == found.version, others <= found.others else { return false }
                state.pins.add(new, to: all, of: layer.index)
                // Some may find no room in the table.
                state.pool.noteDemand()
                return true
            }
        }
        while perform({ $0.pins.enter(in: &$0.pool) }) {}
    }

    /// Unpins tiles.
    ///
    /// - Parameter selected: Returns the tiles to unpin, given the pinned ones of the layer. Others are ignored.
    func unpin(_ layer: LayerID, _ selected: (TileRuns) -> TileRuns) {
        var gone = TileRuns.none
        var isDone = false
        while !isDone {
            let found = read { state in
                state.record(of: layer).map { _ in
                    (tiles: state.pins.tiles(of: layer.index), version: state.pins.version(of: layer.index))
                }
            }
            guard let found else { return }
            let rest = found.tiles.subtracting(selected(found.tiles))
            gone = found.tiles.subtracting(rest)
            guard !gone.isEmpty else { return }
            isDone = perform { state in
                guard state.record(of: layer) != nil else { return true }
                guard state.pins.version(of: layer.index) == found.version else { return false }
                state.pins.cut(to: rest, of: layer.index)
                return true
            }
        }
        gone.tiles.forEachPart(of: PoolState.stepsAtOnce) { tiles in
            perform { state in
                guard state.record(of: layer) != nil else { return }
                for tile in tiles { state.unpin(TileKey(layer: layer.index, tile)) }
            }
        }
        let now = clock()
        perform { $0.noteUnpinned(now: now) }
    }

    /// The pyramid of a layer whose tiles are to be pinned.
    func pyramid(of layer: LayerID) throws(TileCacheError) -> TilePyramid {
        guard let pyramid = read({ $0.record(of: layer)?.pyramid }) else {
            throw .invalidConfiguration("the layer has been removed")
        }
        return pyramid
    }
}

extension CoreState {
    /// Unpins a tile, unless another thread has pinned it again.
    fileprivate mutating func unpin(_ key: TileKey) {
        if !pins.contains(key) { pool.letGo(pool.table.find(key), by: .pin) }
    }

    /// Gives views, and what waits for room in the table, the room of unpinned tiles.
    fileprivate mutating func noteUnpinned(now: Int64) {
        refitShort(now: now)
        pool.noteDemand()
    }
}
