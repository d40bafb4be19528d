/// State and decisions of a view, without lock or clock.
struct ViewModel: Sendable {
    var layers: [ViewLayer]
    /// How levels are chosen, without the level bias.
    let baseSelection: TileLevelSelection
    /// Octaves by which the view is coarser than its selection says.
    private(set) var levelBias = 0.0
    /// Whether a level whose needed tiles exceed the budget is replaced by a coarser one.
    var fitsBudget = false
    var viewport: TileViewport?
    var destination: ViewportDestination?
    /// Rings of further tiles around what shows, loaded too.
    var margin = 0
    var pan = TileCacheStatistics.DemandCounts()
    var zoom = TileCacheStatistics.DemandCounts()
    /// Whether the last update changed the visible area.
    var hasMoved = false
    /// Number of updates that changed the visible area.
    private(set) var moveCount = 0
    /// Time of the last update that changed the visible area.
    private var lastMoved: Int64 = 0
    /// Movement since the update before.
    private var step = FrameStep()
    private var planned: PlannedFrame?
    /// Incremented when the needed tiles, or their places on screen, change.
    private(set) var needsVersion: UInt64 = 0
    /// Whether some needed tiles were left out for lack of memory.
    private(set) var isTruncated = false
    /// Bytes of the needed tiles if they exceed the budget; otherwise 0.
    var shortfallBytes = 0
    private(set) var scratch: [TileKey] = []
    private(set) var scratchVisible: [VisibleTile] = []
    /// Number of tiles that were listed so far.
    private(set) var listedCount = 0
    private var scratchRange: TileRange?
    private var scratchLeftOut = 0
    /// Frames at rest that no policy has learned from, oldest first.
    private var rests: [Int64] = []

    init(layers: [ViewLayer], selection: TileLevelSelection, fitsBudget: Bool = false) {
        self.layers = layers
        baseSelection = selection
        self.fitsBudget = fitsBudget
    }

    /// Whether the view has not moved for a time, in nanoseconds.
    func hasRested(at now: Int64, for span: Int64) -> Bool { now - lastMoved >= span }

    /// Nanoseconds without a movement after which a view rests.
    static let restSpan: Int64 = 1_000_000_000

    /// When the view, if it is not moved, has rested so long that a further plan would change nothing, and its
    /// destination is not ahead.
    var restTime: Int64 {
        let rested = MonotonicTime.bounded(lastMoved) + Self.restSpan
        guard let destination, destination.viewport.isDrawable, destination.viewport != viewport else { return rested }
        return max(rested, destination.time.nanoseconds)
    }

    /// Whether the view has a destination that it has not reached yet.
    func isHeadingElsewhere(at now: Int64) -> Bool {
        destination.map { $0.isAhead(at: now) && $0.viewport != viewport } ?? false
    }

    /// Whether the view goes on as in the frame of its newest plan.
    func goesOn(at now: Int64) -> Bool {
        guard destination == nil, let viewport, let planned else { return false }
        return planned.holds(for: viewport, step, needsVersion: needsVersion, now: now)
    }

    /// How far back policies look: in nanoseconds, and in frames.
    private static let historyTime: Int64 = 100_000_000
    private static let historyFrames = 8

    /// Notes a frame at rest, of which only the time matters. Of a long rest, only as many are kept as policies look
    /// back.
    mutating func rest(at now: Int64) {
        hasMoved = false
        rests.append(now)
        // In batches: removing the first element moves all others.
        guard rests.count >= 256 else { return }
        let first = rests.firstIndex { now - $0 <= Self.historyTime } ?? 0
        rests.removeFirst(min(max(first - 1, 0), rests.count - Self.historyFrames))
    }

    /// Passes the frames at rest to the policies.
    private mutating func endRest() {
        guard !rests.isEmpty, let viewport else { return }
        let last = rests[rests.count - 1]
        let first = rests.firstIndex { last - $0 <= Self.historyTime } ?? 0
        for time in rests[min(max(first - 1, 0), max(rests.count - Self.historyFrames, 0))...] {
            for index in layers.indices { layers[index].observe(viewport, now: time) }
        }
        rests.removeAll(keepingCapacity: true)
    }

    /// Updates the viewport: chooses levels, finds the needed tiles, counts demands. Returns whether the viewport can
    /// be drawn.
    ///
    /// - Parameter time: Time of the viewport, which determines its velocity. Default: `now`.
    mutating func update(
        _ newViewport: TileViewport,
        now: Int64,
        observedAt time: Int64? = nil,
        pool: inout PoolState
    ) -> Bool {
        let time = time ?? now
        guard newViewport.isDrawable else { return false }
        endRest()
        hasMoved = newViewport != viewport || layers.contains { $0.hasOwnList }
        if hasMoved { noteMove(at: now) }
        step = viewport.map { FrameStep(from: $0, to: newViewport) } ?? FrameStep()
        guard hasMoved || layers.contains(where: { !$0.needs.hasBegun }) else {
            for index in layers.indices { layers[index].observe(newViewport, now: time) }
            return true
        }
        viewport = newViewport
        shortfallBytes = 0
        isTruncated = false
        updateLayers(newViewport, now: now, time: time, pool: &pool)
        return true
    }

    /// Replaces the layers. Those that stay keep their needs, unless another level fits; new ones get theirs at the
    /// present viewport.
    mutating func setLayers(_ new: [(id: LayerID, pyramid: TilePyramid)], now: Int64, pool: inout PoolState) {
        endRest()
        let former = layers
        var rest = Dictionary(former.map { ($0.id, $0) }) { first, _ in first }
        layers = new.map { rest.removeValue(forKey: $0.id) ?? ViewLayer(id: $0.id, pyramid: $0.pyramid) }
        for var layer in former where rest[layer.id] != nil { pool.clear(&layer.needs) }
        needsVersion &+= 1
        // Not at rest: no plan contains the new layers yet.
        lastMoved = now
        // Each layer's part of the limit is another now.
        refit(now: now, pool: &pool)
        guard let viewport else { return }
        let share = fitsBudget ? claimRoom(for: viewport, &pool) : .max
        for index in layers.indices where !layers[index].needs.hasBegun {
            update(layer: index, viewport, share: share, now: now, time: now, pool: &pool)
        }
    }

    /// Recomputes the needed tiles after a change of the limit or the layers. Also if some were left out for lack of
    /// memory.
    mutating func refit(now: Int64, pool: inout PoolState) {
        guard fitsBudget || isTruncated else { return }
        chooseAgain(now: now, pool: &pool)
    }

    /// Changes the level bias, and with it the levels. Returns whether the bias was another one before.
    ///
    /// - Parameter layer: Default: `nil`, the bias of all layers, of which each has the larger of this and its own.
    mutating func setLevelBias(
        _ bias: Double,
        of layer: LayerID? = nil,
        now: Int64,
        pool: inout PoolState
    ) -> Bool {
        let bias = bias.isNaN ? 0 : min(max(bias, 0), 8)
        let place = layers.firstIndex { $0.id == layer }
        guard layer == nil || place != nil else { return false }
        guard bias != (place.map { layers[$0].levelBias } ?? levelBias) else { return false }
        if let place { layers[place].levelBias = bias } else { levelBias = bias }
        lastMoved = now
        chooseAgain(now: now, pool: &pool)
        return true
    }

    /// How the levels of a layer are chosen, with the level bias.
    func selection(of layer: ViewLayer) -> TileLevelSelection {
        TileLevelSelection(
            bias: baseSelection.bias + max(levelBias, layer.levelBias),
            hysteresis: baseSelection.hysteresis
        )
    }

    /// Marks needed tiles as stale that have expired; returns when the next one expires.
    func expire(now: Int64, pool: inout PoolState) -> Int64 {
        var next = Int64.max
        for layer in layers { next = min(next, pool.expire(layer.needs.entries, now: now)) }
        return next
    }

    private mutating func chooseAgain(now: Int64, pool: inout PoolState) {
        guard let viewport, !layers.contains(where: { $0.hasOwnList }) else { return }
        // Policies learn from frames in order of time.
        endRest()
        shortfallBytes = 0
        isTruncated = false
        updateLayers(viewport, now: now, time: now, pool: &pool)
    }

    private mutating func updateLayers(_ viewport: TileViewport, now: Int64, time: Int64, pool: inout PoolState) {
        let share = fitsBudget ? claimRoom(for: viewport, &pool) : .max
        for index in layers.indices {
            update(layer: index, viewport, share: share, now: now, time: time, pool: &pool)
        }
    }

    private mutating func update(
        layer index: Int,
        _ viewport: TileViewport,
        share: Int,
        now: Int64,
        time: Int64,
        pool: inout PoolState
    ) {
        layers[index].hasOwnList = false
        layers[index].importance = []
        let cover = chooseLevel(layer: index, viewport, share: share, &pool)
        let isSame = collect(layer: index, cover)
        layers[index].leftOut = scratchLeftOut
        layers[index].isCut = layers[index].leftOut > 0
        if !isSame { takeCollected(layer: index, level: cover.levelIndex, now: now, pool: &pool) }
        layers[index].needs.level = cover.levelIndex
        layers[index].needs.hasBegun = true
        layers[index].fittedVersion = pool.needVersion
        layers[index].observe(viewport, now: time)
    }

    /// Replaces a layer's needed and visible tiles by the collected ones.
    private mutating func takeCollected(layer index: Int, level: Int, now: Int64, pool: inout PoolState) {
        // Former lists may have been far longer. The limit does not count their memory any more.
        if scratch.hasRoom(farBeyond: scratch.count) { scratch = scratch.map { $0 } }
        if scratchVisible.hasRoom(farBeyond: scratchVisible.count) { scratchVisible = scratchVisible.map { $0 } }
        // What showed before is scratch from here on.
        swap(&layers[index].visible, &scratchVisible)
        layers[index].range = scratchRange
        if layers[index].needs.tiles != scratch {
            layers[index].touched = TouchMark()
            let former = layers[index].needs.tiles
            pool.update(&layers[index].needs, tiles: scratch, level: level, pan: &pan, zoom: &zoom, now: now)
            // A view without memory for all of its tiles keeps the first ones: they may be the same.
            if layers[index].needs.tiles != former { needsVersion &+= 1 }
            noteDropped(layer: index, pool)
        }
        if layers[index].visible != scratchVisible { needsVersion &+= 1 }
        if scratchVisible.hasRoom(farBeyond: layers[index].visible.count) { scratchVisible = [] }
    }

    /// Updates the needed tiles to the renderer's own list.
    mutating func update(_ list: NeededList, now: Int64, pool: inout PoolState) {
        // The list takes the place of both: layers that are added later need nothing of a former viewport.
        (viewport, destination) = (nil, nil)
        hasMoved = false
        needsVersion &+= 1
        shortfallBytes = 0
        isTruncated = false
        for index in layers.indices {
            let former = layers[index]
            let own = list[former.id]
            // Tiles beyond the limit are dropped, the least important ones first.
            let most = pool.ledger.limit / pool.slotBytes(ofLayer: layers[index].layer)
            shortfallBytes = max(shortfallBytes, bytes(of: own.keys.count, beyond: most, layer: index, pool))
            scratch.removeAll(keepingCapacity: true)
            scratch += own.keys.prefix(max(most, 1))
            layers[index].hasOwnList = true
            layers[index].range = nil
            layers[index].gaveWay = false
            (layers[index].askedLevel, layers[index].leftOut) = (-1, own.keys.count - scratch.count)
            layers[index].isCut = false
            layers[index].importance = Array(own.importance.prefix(scratch.count))
            layers[index].visible = scratch.indices.map { VisibleTile(index: Int32($0), offset: 0) }
            let level = scratch.map(\.level).max() ?? layers[index].needs.level
            layers[index].touched = TouchMark()
            pool.update(&layers[index].needs, tiles: scratch, level: level, pan: &pan, zoom: &zoom, now: now)
            noteDropped(layer: index, pool)
            noteLeast(layer: index, layers[index].needs.tiles.count, &pool)
            // Without the tiles that have no room, which each update leaves out again.
            let isSame =
                former.needs.tiles == layers[index].needs.tiles && former.importance == layers[index].importance
            hasMoved = hasMoved || !former.hasOwnList || !isSame
        }
        if hasMoved { noteMove(at: now) }
    }

    private mutating func noteMove(at now: Int64) {
        lastMoved = now
        moveCount += 1
    }

    /// Leaves out needed tiles without memory: they are neither drawn nor waited for, but reported.
    private mutating func noteDropped(layer index: Int, _ pool: borrowing PoolState) {
        let kept = layers[index].needs.tiles.count
        guard kept < scratch.count else { return }
        isTruncated = true
        layers[index].range = nil
        layers[index].leftOut += scratch.count - kept
        shortfallBytes = max(shortfallBytes, bytes(of: scratch.count, beyond: kept, layer: index, pool))
        layers[index].visible.removeAll { $0.index >= Int32(kept) }
        if layers[index].hasOwnList { layers[index].importance.removeLast(scratch.count - kept) }
    }

    mutating func noteLeast(layer index: Int, _ count: Int, _ pool: inout PoolState) {
        let bytes = count * pool.slotBytes(ofLayer: layers[index].layer)
        pool.setLeast(bytes, of: &layers[index].needs)
    }

    /// Bytes of this many tiles if they exceed the maximum; otherwise 0.
    private func bytes(of count: Int, beyond most: Int, layer index: Int, _ pool: borrowing PoolState) -> Int {
        count > most ? count * pool.slotBytes(ofLayer: layers[index].layer) : 0
    }

    /// Collects the tiles under a viewport, unless they are the needed and visible ones. Returns whether they are.
    private mutating func collect(layer index: Int, _ cover: ViewportCover) -> Bool {
        let (layer, level) = (layers[index].layer, cover.levelIndex)
        let columns = cover.period
        (scratchRange, scratchLeftOut) = (cover.range, cover.leftOutCount)
        if let range = scratchRange, range == layers[index].range, layers[index].needs.hasBegun { return true }
        scratch.removeAll(keepingCapacity: true)
        scratchVisible.removeAll(keepingCapacity: true)
        var currentRow = -1
        var firstInRow = 0
        var inRow = 0
        cover.forEach { column, row, offset in
            if row != currentRow {
                currentRow = row
                firstInRow = scratch.count
                inRow = 0
            }
            // Columns are cyclic: after as many as there are, a row's tiles come again.
            let number: Int
            if inRow < columns {
                number = scratch.count
                scratch.append(TileKey(layer: layer, TileCoordinate(level: level, column: column, row: row)))
            } else {
                number = firstInRow + inRow % columns
            }
            inRow += 1
            scratchVisible.append(VisibleTile(index: Int32(number), offset: offset))
            return true
        }
        listedCount += scratch.count
        return false
    }

    /// Takes a snapshot for a planner, with the frames that it has not learned from.
    ///
    /// - Parameter now: Time of the plan.
    mutating func takeSnapshot(at now: Int64, _ pool: borrowing PoolState) -> ViewSnapshot {
        endRest()
        planned = viewport.map { PlannedFrame(viewport: $0, step: step, needsVersion: needsVersion, time: now) }
        let heading = destination.flatMap { fitsBudget && $0.isAhead(at: now) ? $0.viewport : nil }
        let share = heading.map { shareOfRoom(for: $0, pool) } ?? 0
        defer { for index in layers.indices { layers[index].observations.removeAll() } }
        return ViewSnapshot(
            viewport: viewport,
            destination: destination,
            margin: margin,
            layers: layers.map {
                ViewSnapshot.Layer(
                    id: $0.id,
                    pyramid: $0.pyramid,
                    selection: selection(of: $0),
                    level: $0.needs.level,
                    needed: $0.needs.tiles,
                    hasOwnList: $0.hasOwnList,
                    gaps: $0.gaps(in: pool),
                    importance: $0.importance,
                    observations: $0.observations,
                    destinationLevel: destinationLevel(of: $0, under: heading, share: share, pool)
                )
            }
        )
    }
}

extension Array {
    /// Whether the array has the memory of a far longer list.
    fileprivate func hasRoom(farBeyond count: Int) -> Bool { capacity > 4 * count + 256 }
}
