import TestSupport
import Testing

@testable import TileCache
@testable import TileTextures

/// Compares random views, budgets and limits with a simple reference. It is a dictionary of what each slot holds.
@Suite struct TextureModelTests {
    private struct Reference {
        var slots: [Int: (tile: TileCoordinate, generation: UInt32)] = [:]
        /// Part of each needed tile that the last frame drew, by tile and copy.
        var covered: [Want: Double] = [:]
        /// Needed tiles that were drawn exactly in the last frame.
        var exact: Set<TileCoordinate> = []
        /// Tiles that the last frame drew.
        var drawn: Set<TileCoordinate> = []

        struct Want: Hashable {
            var tile: TileCoordinate
            var x: Double
        }
    }

    @Test(arguments: 1...24, [false, true]) func randomSessions(seed: Int, neverShowsHoles: Bool) throws {
        var dice = SplitMix64(seed: UInt64(seed))
        var scene = try TextureScene(wraps: dice.oneIn(3))
        scene.selection = TileLevelSelection(hysteresis: dice.oneIn(2) ? 0.2 : 0)
        let limit = 1 + dice.below(60)
        let tilesPerFrame = 1 + dice.below(12)
        var core = try TextureCore(
            TextureScene.options(slots: limit, tilesPerFrame: tilesPerFrame, neverShowsHoles: neverShowsHoles)
        )
        var reference = Reference()
        var viewport = TextureScene.viewport(2048, 2048, dice.next(from: 60, to: 400), dice.next(from: 60, to: 400))
        scene.ready[tile(0, 0, 0)] = 1
        for frame in 0..<400 {
            move(&viewport, &dice)
            change(&scene, &core, viewport, &dice)
            let allowed = core.budget.allowed
            let step = core.step(&scene, viewport) { _ in dice.oneIn(4) }
            let context = Comment(rawValue: "seed \(seed), holes \(neverShowsHoles), frame \(frame)")
            check(step, &reference, core, allowed: allowed, context)
            if dice.oneIn(2) { scene.levelBias = step.result.levelBias }
        }
        #expect(core.statistics.uploads > 10)
    }

    /// Whether others cover a tile, and one that is to get a slot with them, against a grid of cells.
    @Test(arguments: 1...4) func coverageIsThatOfAGrid(seed: Int) throws {
        var dice = SplitMix64(seed: UInt64(seed) &+ 3000)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1000, worldHeight: 700, tileSize: 32)
        var coveredCount = 0
        for round in 0..<2000 {
            let level = dice.below(pyramid.levels.count)
            let (columns, rows) = (pyramid.levels[level].columns, pyramid.levels[level].rows)
            let own = tile(level, dice.below(columns), dice.below(rows))
            // Each child or all of its children, less a few of them.
            var held: Set<TileCoordinate> = []
            for child in pyramid.children(of: own).map(Array.init) ?? [] {
                let children = pyramid.children(of: child).map(Array.init) ?? []
                if dice.oneIn(2) || children.isEmpty { held.insert(child) } else { held.formUnion(children) }
                if dice.oneIn(4) { held.formUnion(children) }
            }
            let finer = Array(held).inOrder
            for _ in 0..<dice.below(4) where !finer.isEmpty { held.remove(dice.element(of: finer)) }
            let coarser = (0..<level).compactMap { pyramid.ancestor(of: own, at: $0) }
            if !coarser.isEmpty, dice.oneIn(8) { held.insert(dice.element(of: coarser)) }
            let others = finer + coarser + (pyramid.children(of: own).map(Array.init) ?? [])
            var new: TileCoordinate?
            if !others.isEmpty, !dice.oneIn(4) { new = dice.element(of: others) }
            if let tile = new, held.contains(tile) { new = nil }

            var table = SlotTable(limit: 64)
            for tile in Array(held) + [own] {
                let key = TextureKey(layer: LayerID(0), tile: tile)
                let slot = table.takeFree()
                table.assign(try #require(slot), to: key, generation: 1, frame: 1, isAhead: false)
            }
            let drawing = ScreenDrawing(table: table, pyramid: pyramid, layer: LayerID(0), blank: 7)
            let all = held.union(new.map { [$0] } ?? [])
            let finest = min(level + ScreenDrawing.descendantDepth, pyramid.levels.count - 1)
            let isCovered = pyramid.range(overlapping: pyramid.worldRectangle(of: own), at: finest)
                .allSatisfy { cell in
                    (0...finest).contains { above in
                        let tile = above == finest ? cell : pyramid.ancestor(of: cell, at: above)
                        return tile.map { $0 != own && all.contains($0) } ?? false
                    }
                }
            if isCovered { coveredCount += 1 }
            hold(drawing.isCovered(own, with: new) == isCovered, "seed \(seed), round \(round): \(own), \(all)")
        }
        #expect((200...1800).contains(coveredCount))
    }

    /// What a view at rest needs becomes sharp and stays so, whatever the limit. The view has to follow the bias.
    @Test(arguments: 1...24, [false, true]) func viewsAtRestBecomeSharp(seed: Int, neverShowsHoles: Bool) throws {
        var dice = SplitMix64(seed: UInt64(seed) &+ 1000)
        var scene = try TextureScene()
        scene.makeReady(0...6)
        var core = try TextureCore(
            TextureScene.options(slots: 12 + dice.below(30), tilesPerFrame: 3, neverShowsHoles: neverShowsHoles)
        )
        for _ in 0..<20 {
            let viewport = TextureScene.viewport(
                dice.next(from: 0, to: 4096),
                dice.next(from: 0, to: 4096),
                dice.next(from: 20, to: 300),
                dice.next(from: 20, to: 300),
                scale: PortableMath.exp2(dice.next(from: -6, to: 0.5)),
                rotation: dice.oneIn(3) ? dice.next(from: 0, to: 6) : 0
            )
            if dice.oneIn(4) { core.setSlotLimit(12 + dice.below(30)) }
            scene.upcoming = (0..<20).map { _ in
                (tile(6, dice.below(64), dice.below(64)), Float(dice.nextUnit()))
            }
            var last: Step?
            for _ in 0..<60 {
                last = core.step(&scene, viewport)
                scene.levelBias = last?.result.levelBias ?? 0
            }
            let step = try #require(last)
            let context = Comment(
                rawValue: "seed \(seed): \(viewport), \(core.slotLimit) slots, bias \(scene.levelBias)"
            )
            #expect(step.screen.wants.count <= core.slotLimit, context)
            #expect(step.result.waitingTileCount == 0 && step.result.holeCount == 0, context)
            #expect(step.result.placements.allSatisfy { $0.isExact }, context)
            // Under the option only a tile over the world stays beyond the limit: nothing replaces it.
            let isCut = step.result.slotCount == core.slotLimit
            #expect(isCut || neverShowsHoles && core.table.slots.last?.key?.tile.level == 0, context)
        }
    }

    /// With `neverShowsHoles` and one tile over the world, no frame shows a hole. The first frame may.
    ///
    /// Without a view nothing is expected: the coarse tile is uploaded once, for the first frame.
    @Test(arguments: 1...26, [true, false]) func holesAreNeverShown(seed: Int, passesView: Bool) throws {
        var dice = SplitMix64(seed: UInt64(seed) &+ 2000)
        var scene = try TextureScene(wraps: dice.oneIn(2))
        scene.ready[tile(0, 0, 0)] = 1
        let slots = 2 + dice.below(40)
        var core = try TextureCore(
            TextureScene.options(slots: slots, tilesPerFrame: 1 + dice.below(6), neverShowsHoles: true)
        )
        var viewport = TextureScene.viewport(2048, 2048, 250, 180, scale: passesView ? 1 : 1 / 64)
        for frame in 0..<600 {
            if frame > 0 || passesView { move(&viewport, &dice) }
            // If the limit changes, the coarse tile must be there to be uploaded again. Otherwise its slot protects it, not
            // its worth. One slot would leave no room beside it.
            let changesLimit = seed.isMultiple(of: 2)
            change(&scene, &core, viewport, &dice, leastSlots: changesLimit ? 2 : nil)
            scene.upcoming.removeAll { $0.tile.level == 0 }
            if changesLimit || frame < 3 { scene.upcoming.insert((tile(0, 0, 0), .infinity), at: 0) }
            if !passesView { scene.upcoming = [] }
            let step = core.step(&scene, viewport) { $0.tile.level > 0 && dice.oneIn(4) }
            let context = Comment(rawValue: "seed \(seed), view \(passesView), frame \(frame), \(core.slotLimit) slots")
            hold(step.result.holeCount == 0, context)
            scene.levelBias = step.result.levelBias
        }
    }

    private func move(_ viewport: inout TileViewport, _ dice: inout SplitMix64) {
        switch dice.below(12) {
        case 0:
            viewport.center = WorldPoint(x: dice.next(from: 0, to: 4096), y: dice.next(from: 0, to: 4096))
        case 1: viewport.scale = PortableMath.exp2(dice.next(from: -6, to: 1))
        case 2, 3, 4: viewport.scale *= dice.next(from: 0.8, to: 1.25)
        case 5: viewport.rotation = dice.oneIn(2) ? 0 : dice.next(from: 0, to: 6)
        case 6: break
        default:
            viewport.center.x += dice.next(from: -40, to: 60) / viewport.scale
            viewport.center.y += dice.next(from: -40, to: 40) / viewport.scale
        }
        viewport.scale = min(max(viewport.scale, 1.0 / 64), 2)
        viewport.center.x = min(max(viewport.center.x, 0), 4096)
        viewport.center.y = min(max(viewport.center.y, 0), 4096)
    }

    /// Makes tiles ready, changes and removes them, and changes limits and budgets.
    private func change(
        _ scene: inout TextureScene,
        _ core: inout TextureCore,
        _ viewport: TileViewport,
        _ dice: inout SplitMix64,
        leastSlots: Int? = 1
    ) {
        for (tile, _) in scene.needed(viewport) where dice.oneIn(3) {
            var own = tile
            if dice.oneIn(4), let parent = scene.pyramid.parent(of: tile) { own = parent }
            if dice.oneIn(8), let child = scene.pyramid.children(of: tile)?.first(where: { _ in true }) { own = child }
            scene.ready[own] = scene.ready[own] ?? 1
        }
        if dice.oneIn(20) {
            for tile in Array(scene.ready.keys).inOrder where dice.oneIn(4) { scene.ready[tile, default: 0] += 1 }
        }
        if dice.oneIn(25) {
            let fine = Array(scene.ready.keys).inOrder.filter { $0.level > 0 }
            for tile in fine where dice.oneIn(2) { scene.ready[tile] = nil }
        }
        if let leastSlots, dice.oneIn(15) { core.setSlotLimit(leastSlots + dice.below(60)) }
        if dice.oneIn(10) {
            core.noteUploads(bytes: 1 + dice.below(1 << 20), nanoseconds: Int64(dice.below(10_000_000)))
        }
        let ready = Array(scene.ready.keys).inOrder
        scene.upcoming = (0..<min(ready.count, dice.below(12))).map { _ in
            (dice.element(of: ready), Float(dice.nextUnit()))
        }
    }

    /// As `#expect`, which takes microseconds even for what holds: too long for each tile of each frame.
    private func hold(_ condition: Bool, _ context: Comment, at place: SourceLocation = #_sourceLocation) {
        if !condition { Issue.record(context, sourceLocation: place) }
    }

    private func check(
        _ step: Step,
        _ reference: inout Reference,
        _ core: TextureCore,
        allowed: Int,
        _ context: Comment
    ) {
        // Uploads within the budget, each to a slot below the limit.
        let bytes = step.picks.reduce(0) { $0 + step.screen.tiles[$1.tile].bytes }
        hold(bytes <= allowed, context)
        hold(Set(step.picks.map(\.slot)).count == step.picks.count, context)
        let before = reference.slots
        for pick in step.picks {
            let tile = step.screen.tiles[pick.tile]
            hold(pick.slot >= 0 && pick.slot < core.slotLimit, context)
            for (slot, held) in reference.slots where held.tile == tile.tile { reference.slots[slot] = nil }
            reference.slots[pick.slot] = (tile.tile, tile.generation)
        }
        // Every placement's slot holds what it says.
        for placement in step.result.placements {
            let held = reference.slots[placement.slot]
            hold(held?.tile == placement.identity.tile, context)
            hold(held?.generation == placement.identity.generation, context)
            let box = placement.slotRectangle
            hold(box.minX >= -1e-6 && box.minY >= -1e-6 && box.maxX <= 64 + 1e-6 && box.maxY <= 64 + 1e-6, context)
            hold(placement.slot < step.result.slotCount, context)
        }
        // Slots are never exceeded: beyond a lowered limit there are only tiles on screen, or those that cover for them.
        let drawn = Set(step.drawn)
        for slot in core.table.slots.indices {
            guard let key = core.table.slots[slot].key else { continue }
            hold(reference.slots[slot]?.tile == key.tile, context)
            if slot >= core.slotLimit, !core.options.neverShowsHoles { hold(drawn.contains(key.tile), context) }
        }
        hold(step.result.slotCount == core.table.slots.count && core.table.slots.count >= core.slotLimit, context)
        // What is on screen and stays there is not lost: neither an exact tile, nor an area that was drawn.
        var covered: [Reference.Want: Double] = [:]
        var exact: Set<TileCoordinate> = []
        for want in step.screen.wants {
            let parts = step.result.placements.filter {
                !$0.worldRectangle.intersection(want.worldRectangle).isEmpty
            }
            let area = parts.reduce(0) { $0 + $1.worldRectangle.intersection(want.worldRectangle).area }
            let share = area / want.worldRectangle.area
            hold(share <= 1 + 1e-9, context)
            let id = Reference.Want(tile: want.tile, x: want.worldRectangle.minX)
            covered[id] = share
            if let former = reference.covered[id] { hold(share >= former - 1e-9, context) }
            if parts.contains(where: { $0.isExact }) { exact.insert(want.tile) }
            if reference.exact.contains(want.tile) { hold(exact.contains(want.tile), context) }
        }
        hold(step.result.holeCount == covered.values.count { $0 < 1 - 1e-9 }, context)
        // A tile that both frames draw was uploaded again only if it moved or changed.
        for pick in step.picks {
            let tile = step.screen.tiles[pick.tile]
            guard let held = before.first(where: { $0.value.tile == tile.tile }), core.table.slots.count > 0 else {
                continue
            }
            let hasMoved = held.key >= core.slotLimit
            hold(
                hasMoved || held.value.generation != tile.generation || wasReleased(held.key, before, core),
                context
            )
        }
        let slots = core.table.slots
        reference.slots = reference.slots.filter { $0.key < slots.count && slots[$0.key].key?.tile == $0.value.tile }
        (reference.covered, reference.exact, reference.drawn) = (covered, exact, drawn)
    }

    /// Whether the slot was emptied between the frames: the limit was lowered and raised again.
    private func wasReleased(
        _ slot: Int,
        _ before: [Int: (tile: TileCoordinate, generation: UInt32)],
        _ core: TextureCore
    ) -> Bool { slot >= core.table.slots.count || core.table.slots[slot].key?.tile != before[slot]?.tile }
}
