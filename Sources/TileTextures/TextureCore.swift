package import TileCache

/// A tile that can be uploaded.
package struct TextureTile: Sendable {
    /// Index of its layer among the screen's.
    package var layer: Int
    package var tile: TileCoordinate
    package var generation: UInt32
    package var bytes: Int
    /// Worth of a tile that may be drawn soon; `nil` for those of the frame.
    package var worth: Float?

    package init(layer: Int, tile: TileCoordinate, generation: UInt32, bytes: Int, worth: Float? = nil) {
        self.layer = layer
        self.tile = tile
        self.generation = generation
        self.bytes = bytes
        self.worth = worth
    }
}

/// What a frame needs, and the tiles that it could upload.
package struct TextureScreen: Sendable {
    /// In the order of drawing; only those whose tiles fit the slots.
    package var layers: [FrameLayer]
    /// `nil` if the renderer lists the needed tiles itself.
    package var viewport: TileViewport?
    package var selection: TileLevelSelection
    package var wants: [TextureWant] = []
    /// The frame's tiles, then those that may be drawn soon, the most valuable first.
    package var tiles: [TextureTile] = []

    package init(layers: [FrameLayer] = [], viewport: TileViewport? = nil, selection: TileLevelSelection = .init()) {
        self.layers = layers
        self.viewport = viewport
        self.selection = selection
    }
}

/// A decided upload.
package struct TexturePick: Sendable {
    package let slot: Int
    /// Index among the screen's tiles.
    package let tile: Int
    package let isAhead: Bool
    /// The slot before the upload, and the one that the tile leaves for it.
    let former: [FormerSlot]
}

struct FormerSlot: Sendable {
    let slot: Int
    let held: SlotTable.Slot
}

/// The decisions of texture slots: identities and areas in, slots out. Without pixels, leases, clocks and threads.
///
/// For each frame: ``begin(_:)``, ``drop(_:)`` for tiles that are not available any more, ``decideAgain()`` if none is,
/// and ``finish()``.
package struct TextureCore: Sendable {
    package let options: TextureSlotOptions
    package internal(set) var statistics = TextureStatistics()
    var table: SlotTable
    var budget: UploadBudget
    var bias = LevelBias()
    var frame = 0
    var screen = TextureScreen()
    /// How each want is drawn, and its area on screen.
    var drawings: [Drawing] = []
    /// Tiles that are not in a slot, or in one that they must leave.
    var pending: [TextureKey: Int] = [:]
    var picks: [TexturePick] = []
    /// Bytes of the picks.
    var spent = 0

    package init(_ options: TextureSlotOptions) throws(TileCacheError) {
        try options.check()
        self.options = options
        table = SlotTable(limit: options.slotLimit)
        budget = UploadBudget(
            bytes: options.uploadBytes.bytes,
            time: options.uploadTime.nanoseconds,
            slotBytes: options.slotBytes ?? 1
        )
    }

    /// Decides the uploads of a frame, the most valuable first.
    package mutating func begin(_ screen: TextureScreen) -> [TexturePick] {
        frame += 1
        statistics.frames += 1
        self.screen = screen
        picks = []
        spent = 0
        table.resetUses()
        chooseBias()
        pending.removeAll(keepingCapacity: true)
        for (number, tile) in screen.tiles.enumerated() {
            let key = key(ofLayer: tile.layer, tile.tile)
            let slot = table.find(key)
            if let slot, let worth = tile.worth { table.setWorth(worth, of: slot, frame: frame) }
            if let slot, slot < table.limit, table.slots[slot].generation == tile.generation { continue }
            if pending[key] == nil { pending[key] = number }
        }
        drawings.removeAll(keepingCapacity: true)
        for index in screen.wants.indices {
            drawings.append(resolved(index))
            for part in drawings[index].parts { table.use(part.slot, 1) }
        }
        releaseBeyondLimit()
        if !pending.isEmpty { decideUploads() }
        return picks
    }

    /// Undoes an upload whose tile is not available any more.
    ///
    /// Nothing has overwritten the slot's old pixels.
    package mutating func drop(_ pick: TexturePick) {
        picks.removeAll { $0.slot == pick.slot }
        let tile = screen.tiles[pick.tile]
        spent -= tile.bytes
        let key = key(ofLayer: tile.layer, tile.tile)
        if let victim = pick.former.first?.held.key, victim != key { statistics.evictions -= 1 }
        replaceDrawings(of: wants(drawnBy: pick.slot)) {
            $0.table.release(pick.slot)
            for former in pick.former { $0.table.restore(former.slot, former.held) }
        }
    }

    /// Decides again after all uploads of a frame were undone. Their tiles are not chosen again.
    package mutating func decideAgain() -> [TexturePick] {
        if picks.isEmpty, !pending.isEmpty { decideUploads() }
        return picks
    }

    /// Ends a frame: what it draws once the uploads are done.
    package mutating func finish() -> TextureResult {
        // Uploads may have replaced what was in them.
        releaseBeyondLimit()
        var result = TextureResult(slotCount: table.slots.count, levelBias: bias.value)
        var distinct: Set<TextureKey> = []
        var waiting: Set<TextureKey> = []
        for (want, decided) in zip(screen.wants, drawings) {
            var drawing = decided
            if drawing.covered < ScreenDrawing.whole { look(at: want.layer).addRest(of: want, to: &drawing) }
            let key = key(ofLayer: want.layer, want.tile)
            distinct.insert(key)
            if drawing.kind != .exact, pending[key] != nil { waiting.insert(key) }
            if drawing.covered < 1 - 1e-9 { result.holeCount += 1 }
            place(drawing, of: want, in: &result)
        }
        result.waitingTileCount = waiting.count
        result.neededSlots = max(bias.neededSlots, distinct.count) + reservedSlots
        count(waiting: waiting.count)
        return result
    }

    package mutating func noteUploads(bytes: Int, nanoseconds: Int64) {
        budget.note(bytes: bytes, nanoseconds: nanoseconds)
    }

    package var slotLimit: Int { table.limit }

    package mutating func setSlotLimit(_ limit: Int) {
        table.setLimit(min(max(limit, 1), TextureSlotOptions.maximumSlots))
    }

    package mutating func setUploadBudget(bytes: Int, time: Int64) {
        (budget.bytes, budget.time) = (max(bytes, budget.slotBytes), max(time, 1))
    }

    /// Releases the slots of some tiles, of those in a region if there is one.
    package mutating func remove(in region: PixelRect? = nil, where isIncluded: (TextureKey) -> Bool) {
        // The last slot beyond a lowered limit takes the free ones before it along.
        for slot in table.slots.indices.reversed() where slot < table.slots.count {
            guard let key = table.slots[slot].key, isIncluded(key) else { continue }
            if let region, table.slots[slot].area.intersection(region).isEmpty { continue }
            table.release(slot)
        }
        drawings = []
        screen.wants = []
        statistics.usedSlots = table.usedCount
    }

    // MARK: - Parts

    func key(ofLayer layer: Int, _ tile: TileCoordinate) -> TextureKey {
        TextureKey(layer: screen.layers[layer].id, tile: tile)
    }

    /// Slots kept for coarse tiles that cover what is off screen.
    private var reservedSlots: Int { options.neverShowsHoles ? screen.layers.count : 0 }

    private mutating func chooseBias() {
        guard let viewport = screen.viewport, viewport.isDrawable, !screen.layers.isEmpty else {
            bias.reset()
            return
        }
        let slots = max(table.limit - reservedSlots, 1)
        bias.update(viewport, screen.selection, screen.layers, slots: slots)
    }

    /// Slots of a layer, as the rest of the frame sees them.
    func look(at layer: Int) -> ScreenDrawing {
        let layer = screen.layers[layer]
        // Under the option no sharper tile is worth as much as an area without any.
        let blank = Double(layer.pyramid.levels.count) * (options.neverShowsHoles ? 1000 : 1)
        return ScreenDrawing(table: table, pyramid: layer.pyramid, layer: layer.id, blank: blank)
    }

    func resolved(_ index: Int) -> Drawing {
        let want = screen.wants[index]
        return look(at: want.layer).drawing(of: want) { slot in
            guard let number = pending[key(ofLayer: want.layer, want.tile)] else { return false }
            return screen.tiles[number].generation != table.slots[slot].generation
        }
    }

    func wants(drawnBy slot: Int) -> [Int] {
        drawings.indices.filter { drawings[$0].parts.contains { $0.slot == slot } }
    }

    /// Changes the table, and finds anew how some wants are drawn.
    mutating func replaceDrawings(of wants: [Int], change: (inout TextureCore) -> Void) {
        for index in wants {
            for part in drawings[index].parts { table.use(part.slot, -1) }
        }
        change(&self)
        for index in wants {
            drawings[index] = resolved(index)
            for part in drawings[index].parts { table.use(part.slot, 1) }
        }
    }

    /// Slots beyond a lowered limit are released once no tile on screen is in them. Those that cover what nothing else
    /// covers are uploaded again first, if they can be.
    private mutating func releaseBeyondLimit() {
        guard table.slots.count > table.limit else { return }
        for slot in (table.limit..<table.slots.count).reversed() where slot < table.slots.count {
            guard let key = table.slots[slot].key, table.slots[slot].uses == 0,
                mayUncover(slot) || key.tile.level > 0 && pending[key] == nil
            else { continue }
            table.release(slot)
            statistics.evictions += 1
        }
    }

    /// Whether a slot's tile covers its world. Finer tiles are no substitute: they could take all slots, and the next one
    /// would have to uncover something.
    func coversWorld(_ slot: Int) -> Bool {
        guard let key = table.slots[slot].key, key.tile.level == 0,
            let level = screen.layers.first(where: { $0.id == key.layer })?.pyramid.levels[0]
        else { return false }
        return level.columns == 1 && level.rows == 1
    }

    /// Whether a slot may be taken without uncovering an area, if that matters.
    func mayUncover(_ slot: Int, with new: Int? = nil) -> Bool {
        guard options.neverShowsHoles, let key = table.slots[slot].key,
            let layer = screen.layers.firstIndex(where: { $0.id == key.layer })
        else { return true }
        if coversWorld(slot) { return false }
        let other = new.flatMap { screen.tiles[$0].layer == layer ? screen.tiles[$0].tile : nil }
        return look(at: layer).isCovered(key.tile, with: other)
    }

    private mutating func place(_ drawing: Drawing, of want: TextureWant, in result: inout TextureResult) {
        let pyramid = screen.layers[want.layer].pyramid
        var offset = 0.0
        if pyramid.wrapsX {
            let own = pyramid.worldRectangle(of: want.tile)
            offset = ((want.worldRectangle.minX - own.minX) / pyramid.worldWidth).rounded() * pyramid.worldWidth
        }
        for part in drawing.parts {
            if table.noteDrawn(part.slot, frame: frame) { statistics.aheadDrawn += 1 }
            result.placements.append(
                TexturePlacement(
                    slot: part.slot,
                    identity: TileIdentity(
                        layer: screen.layers[want.layer].id,
                        tile: part.tile,
                        generation: table.slots[part.slot].generation
                    ),
                    worldRectangle: drawing.kind == .exact
                        ? want.worldRectangle : part.rectangle.offsetBy(x: offset, y: 0),
                    slotRectangle: pyramid.levels[part.tile.level]
                        .tileRectangle(of: part.tile, showing: part.rectangle),
                    isExact: drawing.kind == .exact
                )
            )
        }
    }

    private mutating func count(waiting: Int) {
        let ahead = picks.filter(\.isAhead)
        statistics.uploads += picks.count
        statistics.uploadedBytes += .bytes(spent)
        statistics.peakUploads = max(statistics.peakUploads, picks.count)
        statistics.peakUploadedBytes = max(statistics.peakUploadedBytes, .bytes(spent))
        statistics.aheadUploads += ahead.count
        statistics.aheadBytes += .bytes(ahead.reduce(0) { $0 + screen.tiles[$1.tile].bytes })
        if waiting > 0 { statistics.waitingFrames += 1 }
        statistics.biasChanges = bias.changes
        statistics.usedSlots = table.usedCount
    }
}

/// What a frame draws.
package struct TextureResult: Sendable {
    package var placements: [TexturePlacement] = []
    package var slotCount: Int
    package var levelBias: Double
    package var neededSlots = 0
    package var waitingTileCount = 0
    package var holeCount = 0
}
