/// A needed tile on screen: which of the needed ones, and in which copy of a wrapping world.
struct VisibleTile: Hashable, Sendable {
    var index: Int32
    var offset: Double
}

/// Tells whether a frame's touches would change nothing.
struct TouchMark: Hashable, Sendable {
    /// The stamp of the pool's last use.
    var stamp: UInt64 = 0
    /// Of the needed tiles, how many were touched.
    var count = -1
}

/// One layer as one view sees it.
struct ViewLayer: Sendable {
    let id: LayerID
    var layer: Int { id.index }
    let pyramid: TilePyramid
    var needs = ViewNeeds()
    /// Where the pool stood after the last frame's touches.
    var touched = TouchMark()
    /// The needed tiles as they lie on screen, with repeats on a world that wraps within the viewport.
    var visible: [VisibleTile] = []
    /// Whether the renderer handed over its own list of needed tiles.
    var hasOwnList = false
    /// How much each needed tile matters where the renderer handed over its own list; empty otherwise.
    var importance: [Float] = []
    /// Frames that the layer's policy has not learned from yet, oldest first.
    var observations: [FrameObservation] = []

    /// Frames that may wait for a planner; beyond it the oldest go unlearned.
    static let maximumObservations = 240

    init(id: LayerID, pyramid: TilePyramid) {
        self.id = id
        self.pyramid = pyramid
    }

    mutating func observe(_ viewport: TileViewport, now: Int64, demands: Int = 0, missed: Int = 0) {
        if observations.count == Self.maximumObservations { observations.removeFirst() }
        observations.append(
            FrameObservation(
                time: now,
                viewport: viewport,
                level: needs.level,
                needed: needs.tiles,
                pyramid: pyramid,
                demands: demands,
                missed: missed
            )
        )
    }
}

/// A view's own list of needed tiles, for renderers with perspective, globes or feedback buffers.
public struct NeededTile: Hashable, Sendable {
    /// The layer of the tile.
    public var layer: LayerID
    /// The tile.
    public var tile: TileCoordinate
    /// How much the tile matters, larger is sooner; 1 unless given.
    public var importance: Float

    /// Names a tile that the renderer needs.
    public init(layer: LayerID, tile: TileCoordinate, importance: Float = 1) {
        self.layer = layer
        self.tile = tile
        self.importance = importance
    }
}

/// Everything of a view that decides; no lock, no clock.
struct ViewModel: Sendable {
    var layers: [ViewLayer]
    var selection: TileLevelSelection
    /// Whether a level whose needed tiles do not fit the budget gives way to a coarser one.
    var fitsBudget = false
    var viewport: TileViewport?
    var destination: ViewportDestination?
    var pan = TileCacheStatistics.DemandCounts()
    var zoom = TileCacheStatistics.DemandCounts()
    /// Whether the last update changed what is seen.
    var hasMoved = false
    /// When an update last did.
    private var lastMoved: Int64 = 0
    /// Raised when the needed tiles, or where they lie on screen, change.
    private(set) var needsVersion: UInt64 = 0
    /// Whether there was no memory for some of the needed tiles: they are left out until there is.
    private(set) var isTruncated = false
    /// Bytes that the needed set would take where the budget was too small for it; 0 where it fits.
    var shortfallBytes = 0
    private var scratch: [TileKey] = []
    /// Frames at rest that nobody has learned from, oldest first.
    private var rests: [Int64] = []

    init(layers: [ViewLayer], selection: TileLevelSelection, fitsBudget: Bool = false) {
        self.layers = layers
        self.selection = selection
        self.fitsBudget = fitsBudget
    }

    /// Whether the view has stood still for so long that a further plan would say what the last one does.
    ///
    /// - Parameter span: in nanoseconds. Default: a second.
    func hasRested(at now: Int64, for span: Int64 = 1_000_000_000) -> Bool { !hasMoved && now - lastMoved >= span }

    /// Whether the renderer has named a place where the view will be, and it is not there yet.
    func isHeadingElsewhere(at now: Int64) -> Bool { destination.map { $0.time.nanoseconds > now } ?? false }

    /// How far back policies look: in nanoseconds, and in frames.
    private static let historyTime: Int64 = 100_000_000
    private static let historyFrames = 8

    /// A frame in which nothing can happen: the view is where it was, and only how long it has been there matters. Of a
    /// long rest no more is kept than policies look back.
    mutating func rest(at now: Int64) {
        hasMoved = false
        rests.append(now)
        // In batches: taking the first one off moves all others.
        guard rests.count >= 256 else { return }
        let first = rests.firstIndex { now - $0 <= Self.historyTime } ?? 0
        rests.removeFirst(min(max(first - 1, 0), rests.count - Self.historyFrames))
    }

    /// What has been left out at rest is learned after all.
    private mutating func endRest() {
        guard !rests.isEmpty, let viewport else { return }
        let last = rests[rests.count - 1]
        let first = rests.firstIndex { last - $0 <= Self.historyTime } ?? 0
        for time in rests[min(max(first - 1, 0), max(rests.count - Self.historyFrames, 0))...] {
            for index in layers.indices { layers[index].observe(viewport, now: time) }
        }
        rests.removeAll(keepingCapacity: true)
    }

    /// Takes a viewport: chooses levels, finds the needed tiles, counts demands. Whether it can be drawn at all.
    ///
    /// - Parameter time: when the view was there, which tells how it moves; `now` unless given.
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
        if hasMoved { lastMoved = now }
        guard hasMoved || layers.contains(where: { !$0.needs.hasBegun }) else {
            for index in layers.indices { layers[index].observe(newViewport, now: time) }
            return true
        }
        viewport = newViewport
        shortfallBytes = 0
        isTruncated = false
        for index in layers.indices { update(layer: index, newViewport, now: now, time: time, pool: &pool) }
        return true
    }

    /// Replaces the layers. Those that stay keep their needs; new ones get theirs where the view stands.
    mutating func setLayers(_ new: [(id: LayerID, pyramid: TilePyramid)], now: Int64, pool: inout PoolState) {
        var former = layers
        layers = new.map { layer in
            guard let index = former.firstIndex(where: { $0.id == layer.id }) else {
                return ViewLayer(id: layer.id, pyramid: layer.pyramid)
            }
            return former.remove(at: index)
        }
        for index in former.indices { pool.clear(&former[index].needs) }
        needsVersion &+= 1
        // The view is not at rest: new layers have been planned for by no frame.
        lastMoved = now
        guard let viewport else { return }
        for index in layers.indices where !layers[index].needs.hasBegun {
            update(layer: index, viewport, now: now, time: now, pool: &pool)
        }
    }

    /// Finds the needs anew where the view stands: the limit has changed, or there was no memory for all of them.
    mutating func refit(now: Int64, pool: inout PoolState) {
        guard fitsBudget || isTruncated, let viewport, !layers.contains(where: { $0.hasOwnList }) else { return }
        shortfallBytes = 0
        isTruncated = false
        for index in layers.indices { update(layer: index, viewport, now: now, time: now, pool: &pool) }
    }

    private mutating func update(
        layer index: Int,
        _ viewport: TileViewport,
        now: Int64,
        time: Int64,
        pool: inout PoolState
    ) {
        let pyramid = layers[index].pyramid
        let previous = layers[index].needs.level
        let visibleBefore = layers[index].visible
        var level = selection.level(for: viewport.scale, in: pyramid, previous: previous)
        layers[index].hasOwnList = false
        layers[index].importance = []
        collect(layer: index, level: level, viewport)
        if fitsBudget {
            let slotBytes = pool.slotBytes(ofLayer: layers[index].layer)
            let own = layers[index].layer
            let attainable = pool.attainableBytes(ofLayer: own)
            let part = (pool.ledger.limit - pool.bookkeepingBytes) / max(layers.count, 1)
            let budget = min(max(part, pool.guaranteedBytes(ofLayer: own)), attainable)
            while scratch.count * slotBytes > budget, level > 0 {
                shortfallBytes = max(shortfallBytes, scratch.count * slotBytes)
                level -= 1
                collect(layer: index, level: level, viewport)
            }
        }
        let before = pan + zoom
        if layers[index].needs.tiles != scratch {
            layers[index].touched = TouchMark()
            let former = layers[index].needs.tiles
            pool.update(&layers[index].needs, tiles: scratch, level: level, pan: &pan, zoom: &zoom, now: now)
            // A view without memory for all of its tiles keeps the first ones: they may be the same.
            if layers[index].needs.tiles != former { needsVersion &+= 1 }
            noteDropped(layer: index, pool)
        }
        if layers[index].visible != visibleBefore { needsVersion &+= 1 }
        layers[index].needs.level = level
        layers[index].needs.hasBegun = true
        let counts = pan + zoom
        let demands = counts.total - before.total
        layers[index].observe(viewport, now: time, demands: demands, missed: demands - (counts.hits - before.hits))
    }

    /// Takes the renderer's own list instead of a viewport's tiles.
    mutating func update(_ list: [NeededTile], now: Int64, pool: inout PoolState) {
        hasMoved = false
        needsVersion &+= 1
        shortfallBytes = 0
        for index in layers.indices {
            scratch.removeAll(keepingCapacity: true)
            var importance: [TileKey: Float] = [:]
            for wish in list where wish.layer == layers[index].id {
                guard layers[index].pyramid.contains(wish.tile) else { continue }
                let key = TileKey(layer: layers[index].layer, wish.tile)
                // A number that is none is no order.
                let own = wish.importance.isNaN ? -.infinity : wish.importance
                if importance.updateValue(max(own, importance[key] ?? own), forKey: key) == nil { scratch.append(key) }
            }
            scratch.sort { (importance[$0] ?? 0) > (importance[$1] ?? 0) }
            // More than the limit can hold are not kept track of: the least important ones go.
            let most = pool.ledger.limit / pool.slotBytes(ofLayer: layers[index].layer)
            shortfallBytes = max(shortfallBytes, bytes(of: scratch.count, beyond: most, layer: index, pool))
            scratch.removeLast(max(scratch.count - max(most, 1), 0))
            let ordered = scratch.map { importance[$0] ?? 0 }
            let isSame = layers[index].needs.tiles == scratch && layers[index].importance == ordered
            hasMoved = hasMoved || !layers[index].hasOwnList || !isSame
            layers[index].hasOwnList = true
            layers[index].importance = ordered
            layers[index].visible = scratch.indices.map { VisibleTile(index: Int32($0), offset: 0) }
            let level = scratch.map(\.level).max() ?? layers[index].needs.level
            layers[index].touched = TouchMark()
            pool.update(&layers[index].needs, tiles: scratch, level: level, pan: &pan, zoom: &zoom, now: now)
            noteDropped(layer: index, pool)
        }
        if hasMoved { lastMoved = now }
    }

    /// Needed tiles that there was no memory for are neither drawn nor waited for, but reported.
    private mutating func noteDropped(layer index: Int, _ pool: borrowing PoolState) {
        let kept = layers[index].needs.tiles.count
        guard kept < scratch.count else { return }
        isTruncated = true
        shortfallBytes = max(shortfallBytes, bytes(of: scratch.count, beyond: kept, layer: index, pool))
        layers[index].visible.removeAll { $0.index >= Int32(kept) }
        if layers[index].hasOwnList { layers[index].importance.removeLast(scratch.count - kept) }
    }

    /// Bytes of so many tiles if they are more than there may be; else 0.
    private func bytes(of count: Int, beyond most: Int, layer index: Int, _ pool: borrowing PoolState) -> Int {
        count > most ? count * pool.slotBytes(ofLayer: layers[index].layer) : 0
    }

    private mutating func collect(layer index: Int, level: Int, _ viewport: TileViewport) {
        let pyramid = layers[index].pyramid
        let layer = layers[index].layer
        let columns = pyramid.levels[level].columns
        scratch.removeAll(keepingCapacity: true)
        layers[index].visible.removeAll(keepingCapacity: true)
        var currentRow = -1
        var firstInRow = 0
        var inRow = 0
        ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level).forEach { column, row, offset in
            if row != currentRow {
                currentRow = row
                firstInRow = scratch.count
                inRow = 0
            }
            // The walk is cyclic in the columns: after as many as there are, a row's tiles come again.
            let number: Int
            if inRow < columns {
                number = scratch.count
                scratch.append(TileKey(layer: layer, TileCoordinate(level: level, column: column, row: row)))
            } else {
                number = firstInRow + inRow % columns
            }
            inRow += 1
            layers[index].visible.append(VisibleTile(index: Int32(number), offset: offset))
            return true
        }
    }

    /// What a planner needs to know, the frames that it has not learned from included.
    mutating func takeSnapshot() -> ViewSnapshot {
        endRest()
        defer { for index in layers.indices { layers[index].observations.removeAll() } }
        return ViewSnapshot(
            viewport: viewport,
            destination: destination,
            selection: selection,
            layers: layers.map {
                ViewSnapshot.Layer(
                    id: $0.id,
                    pyramid: $0.pyramid,
                    level: $0.needs.level,
                    needed: $0.needs.tiles,
                    hasOwnList: $0.hasOwnList,
                    importance: $0.importance,
                    observations: $0.observations
                )
            }
        )
    }
}
