import TileCache

/// Chooses uploads and their slots.
extension TextureCore {
    /// Frames after its last use for which a tile keeps its slot. Only a tile on screen takes it earlier.
    private static let restingFrames = 30

    /// Tiles that could improve wants, and the wants that they could improve.
    private struct Gains {
        var wants: [[Int]]
        var tiles: [[Int]]
        var areas: [Double]
        /// Whether fallbacks are uploaded for wants whose exact tile is available.
        var allowsFallbacks = true
    }

    mutating func decideUploads() {
        let allowed = budget.allowed
        uploadNeeded(allowed)
        moveBelowLimit(allowed)
        uploadAhead(allowed)
    }

    // MARK: - On screen

    /// Uploads what improves the screen now, always the tile that improves it most.
    private mutating func uploadNeeded(_ allowed: Int) {
        guard drawings.contains(where: { $0.deficit > 0 }) else { return }
        let served = findGains(allowed)
        var gains = [Double](repeating: 0, count: screen.tiles.count)
        var heap: [(gain: Double, number: Int)] = []
        func goesFirst(_ a: (gain: Double, number: Int), _ b: (gain: Double, number: Int)) -> Bool {
            a.gain != b.gain ? a.gain > b.gain : a.number < b.number
        }
        for tile in served.wants.indices where !served.wants[tile].isEmpty {
            gains[tile] = gain(of: tile, served)
            if gains[tile] > 0 { heap.insertInHeap((gains[tile], tile), by: goesFirst) }
        }
        while let (gain, tile) = heap.removeFirstOfHeap(by: goesFirst) {
            // Another upload has changed it since.
            guard gain == gains[tile] else { continue }
            gains[tile] = 0
            guard spent + screen.tiles[tile].bytes <= allowed else { return }
            guard let slot = takeSlot(for: tile) ?? slotToReplace(by: tile, served) else { continue }
            let changed = upload(tile, to: slot, isAhead: false, improving: served.wants[tile])
            for other in Set(changed.flatMap { served.tiles[$0] }).sorted() where gains[other] > 0 {
                gains[other] = self.gain(of: other, served)
                if gains[other] > 0 { heap.insertInHeap((gains[other], other), by: goesFirst) }
            }
        }
    }

    private func findGains(_ allowed: Int) -> Gains {
        let clip = ViewportClip(screen.viewport)
        var gains = Gains(
            wants: [[Int]](repeating: [], count: screen.tiles.count),
            tiles: [[Int]](repeating: [], count: drawings.count),
            areas: [Double](repeating: 0, count: drawings.count)
        )
        var levels: Set<Int> = []
        for number in pending.values { levels.insert(screen.tiles[number].tile.level) }
        var exact: Set<Int> = []
        for (index, want) in screen.wants.enumerated() where drawings[index].deficit > 0 {
            // A tile at the edge of the screen needs an upload too.
            gains.areas[index] = max(clip.screenArea(of: want.worldRectangle), 1e-6)
            func add(_ tile: Int) {
                gains.tiles[index].append(tile)
                gains.wants[tile].append(index)
            }
            let own = pending[key(ofLayer: want.layer, want.tile)]
            if let own {
                exact.insert(own)
                add(own)
            }
            let pyramid = screen.layers[want.layer].pyramid
            for level in levels where level < want.tile.level {
                guard let ancestor = pyramid.ancestor(of: want.tile, at: level) else { continue }
                if let tile = pending[key(ofLayer: want.layer, ancestor)] { add(tile) }
            }
            guard own == nil else { continue }
            // Other layers may have more levels.
            let finest = min(want.tile.level + ScreenDrawing.descendantDepth, pyramid.maximumLevel)
            for level in levels where level > want.tile.level && level <= finest {
                let range = pyramid.range(overlapping: pyramid.worldRectangle(of: want.tile), at: level)
                guard range.count <= 64 else { continue }
                for finer in range {
                    if let tile = pending[key(ofLayer: want.layer, finer)] { add(tile) }
                }
            }
        }
        // Fallbacks cost as much as the tiles themselves.
        let bytes = exact.reduce(0) { $0 + screen.tiles[$1].bytes }
        let room = table.limit - table.slots.count { $0.uses > 0 }
        gains.allowsFallbacks = options.neverShowsHoles || bytes > allowed || exact.count > room
        return gains
    }

    /// Area of the screen that a tile improves, times the levels by which it does.
    private func gain(of tile: Int, _ gains: Gains) -> Double {
        gains.wants[tile].reduce(0) { $0 + improvement(of: $1, by: tile, gains) * gains.areas[$1] }
    }

    private func improvement(of index: Int, by number: Int, _ gains: Gains) -> Double {
        let (want, tile, now) = (screen.wants[index], screen.tiles[number], drawings[index])
        if tile.tile.level == want.tile.level { return now.deficit }
        let look = look(at: want.layer)
        let own = look.pyramid.worldRectangle(of: want.tile)
        let part = own.intersection(look.pyramid.worldRectangle(of: tile.tile))
        let share = part == own ? 1 : part.area / max(own.area, .leastNormalMagnitude)
        if tile.tile.level < want.tile.level {
            guard gains.allowsFallbacks || pending[key(ofLayer: want.layer, want.tile)] == nil else { return 0 }
            return max(now.deficit - look.deficit(ofAncestorAt: tile.tile.level, of: want.tile, covering: share), 0)
        }
        // Finer tiles are drawn in parts only if there is no coarser one.
        guard now.kind == .none || now.kind == .finer, now.covered < 1 else { return 0 }
        return min(share * (look.blank - ScreenDrawing.finerDeficit), now.deficit)
    }

    /// Puts a tile into a slot. Returns the wants that may be drawn in another way now.
    @discardableResult
    private mutating func upload(_ number: Int, to slot: Int, isAhead: Bool, improving wants: [Int]) -> [Int] {
        let tile = screen.tiles[number]
        let key = key(ofLayer: tile.layer, tile.tile)
        var changed = wants
        var former = [FormerSlot(slot: slot, held: table.slots[slot])]
        if let left = table.find(key), left != slot {
            changed += self.wants(drawnBy: left)
            former.append(FormerSlot(slot: left, held: table.slots[left]))
        }
        changed = Array(Set(changed)).sorted()
        if let victim = table.slots[slot].key, victim != key { statistics.evictions += 1 }
        pending[key] = nil
        picks.append(TexturePick(slot: slot, tile: number, isAhead: isAhead, former: former))
        spent += tile.bytes
        replaceDrawings(of: changed) {
            $0.table.assign(slot, to: key, generation: tile.generation, frame: $0.frame, isAhead: isAhead)
            let pyramid = $0.screen.layers[tile.layer].pyramid
            $0.table.setArea(pyramid.worldRectangle(of: tile.tile), of: slot)
            if let worth = tile.worth { $0.table.setWorth(worth, of: slot, frame: $0.frame) }
        }
        return changed
    }

    // MARK: - Slots

    /// Takes the tile's own slot, a free one, or that of another tile. That is the least valuable tile that is not on
    /// screen.
    private mutating func takeSlot(for number: Int) -> Int? {
        let tile = screen.tiles[number]
        if let own = table.find(key(ofLayer: tile.layer, tile.tile)), own < table.limit { return own }
        return table.takeFree() ?? victim(for: number, isOnScreen: true) ?? lastResort()
    }

    /// Slot of the tile of least worth that is not on screen. Of equal worth, the one that was drawn least recently.
    private func victim(for number: Int, isOnScreen: Bool) -> Int? {
        var best: Int?
        var least = (worth: Float.infinity, lastUse: Int.max)
        for slot in 0..<table.limit {
            let held = table.slots[slot]
            guard held.key != nil, held.uses == 0, held.uploadedAt < frame else { continue }
            let own = (worth: table.worth(of: slot, frame: frame), lastUse: held.lastUse)
            if !isOnScreen {
                guard own.worth < (screen.tiles[number].worth ?? 0) / 2, own.lastUse < frame - Self.restingFrames else {
                    continue
                }
            }
            guard best == nil || own < least, mayUncover(slot) else { continue }
            (best, least) = (slot, own)
        }
        return best
    }

    /// Slot of the finest tile off screen, which covers least. For use if each of these covers something that nothing
    /// else covers.
    private func lastResort() -> Int? {
        guard options.neverShowsHoles else { return nil }
        let candidates = (0..<table.limit).filter {
            table.slots[$0].key != nil && table.slots[$0].uses == 0 && table.slots[$0].uploadedAt < frame
                && !coversWorld($0)
        }
        return candidates.min {
            let (a, b) = (table.slots[$0], table.slots[$1])
            return (-(a.key?.tile.level ?? 0), a.lastUse) < (-(b.key?.tile.level ?? 0), b.lastUse)
        }
    }

    /// Slot of a fallback that nothing draws any more once a tile is uploaded. It is replaced in the same frame.
    ///
    /// Without this a view whose tiles take all slots would never become sharp. With as many slots as needed tiles there
    /// is always one: each fallback on screen draws at least one missing tile, and no more are missing than fallbacks
    /// are on screen.
    private func slotToReplace(by number: Int, _ gains: Gains) -> Int? {
        let tile = screen.tiles[number]
        var freed: [Int: Int] = [:]
        for index in gains.wants[number] where improvement(of: index, by: number, gains) > 0 {
            let want = screen.wants[index]
            guard tile.tile.level <= want.tile.level else { continue }
            let pyramid = screen.layers[want.layer].pyramid
            let own = pyramid.worldRectangle(of: want.tile)
            guard own.intersection(pyramid.worldRectangle(of: tile.tile)) == own else { continue }
            for part in drawings[index].parts { freed[part.slot, default: 0] += 1 }
        }
        return freed.filter { slot, count in
            slot < table.limit && table.slots[slot].uses == count && table.slots[slot].uploadedAt < frame
                && mayUncover(slot, with: number)
        }.keys.min()
    }

    /// Uploads tiles again whose slots are beyond a lowered limit.
    private mutating func moveBelowLimit(_ allowed: Int) {
        guard table.slots.count > table.limit else { return }
        for number in screen.tiles.indices {
            let key = key(ofLayer: screen.tiles[number].layer, screen.tiles[number].tile)
            guard pending[key] == number, let slot = table.find(key), slot >= table.limit else { continue }
            guard spent + screen.tiles[number].bytes <= allowed,
                let new = table.takeFree() ?? victim(for: number, isOnScreen: true) ?? lastResort()
            else { return }
            upload(number, to: new, isAhead: false, improving: [])
        }
    }

    // MARK: - Ahead

    /// Uploads what may be drawn soon with the rest of the budget. Takes free slots, or those of less valuable tiles.
    private mutating func uploadAhead(_ allowed: Int) {
        for number in screen.tiles.indices {
            let tile = screen.tiles[number]
            guard tile.worth != nil, pending[key(ofLayer: tile.layer, tile.tile)] == number else { continue }
            guard spent + tile.bytes <= allowed else { return }
            let own = table.find(key(ofLayer: tile.layer, tile.tile)).flatMap { $0 < table.limit ? $0 : nil }
            guard let slot = own ?? table.takeFree() ?? victim(for: number, isOnScreen: false) else { continue }
            upload(number, to: slot, isAhead: true, improving: [])
        }
    }
}
