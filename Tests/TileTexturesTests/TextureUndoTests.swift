import TestSupport
import Testing

@testable import TileCache
@testable import TileTextures

/// What undone uploads and emptied slots leave.
@Suite struct TextureUndoTests {
    /// The cache may have evicted an expected tile since the plan. Then its upload is undone.
    @Test func undoneUploadsLeaveTheFallback() throws {
        var scene = try TextureScene()
        scene.ready[tile(5, 16, 16)] = 1
        var core = try TextureCore(TextureScene.options(slots: 1))
        let one = TextureScene.viewport(2080, 2080, 64, 64)
        #expect(core.step(&scene, one).drawn == [tile(5, 16, 16)])
        var screen = scene.screen(one)
        let expected = TextureTile(
            layer: 0,
            tile: tile(6, 32, 32),
            generation: 1,
            bytes: TextureScene.tileBytes,
            worth: 1
        )
        screen.tiles.append(expected)
        let picks = core.begin(screen)
        #expect(picks.map(\.slot) == [0])
        core.drop(picks[0])
        let result = core.finish()
        #expect(result.placements.map(\.identity.tile) == [tile(5, 16, 16)])
        #expect(result.holeCount == 0 && result.waitingTileCount == 0)
        #expect(core.statistics.uploads == 1 && core.statistics.evictions == 0)
    }

    /// A frame that needs an upload has one, also if the most valuable tile has gone.
    @Test func anotherTileIsUploadedInPlaceOfAnUndoneOne() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        scene.ready[tile(4, 8, 8)] = 1
        scene.upcoming = [(tile(4, 8, 8), .infinity)]
        var core = try TextureCore(TextureScene.options(slots: 8, tilesPerFrame: 1))
        let screen = scene.screen(TextureScene.four)
        let undone = core.begin(screen)
        #expect(undone.map { screen.tiles[$0.tile].tile } == [tile(4, 8, 8)])
        for pick in undone { core.drop(pick) }
        let picks = core.decideAgain()
        #expect(picks.count == 1 && picks.allSatisfy { TextureScene.fourTiles.contains(screen.tiles[$0.tile].tile) })
        #expect(core.finish().placements.map(\.isExact) == [true] && core.statistics.uploads == 1)
    }

    @Test func undoneUploadsLeaveOlderPixels() throws {
        var scene = try TextureScene()
        let other = tile(6, 40, 40)
        scene.ready[other] = 1
        scene.upcoming = [(other, 1)]
        var core = try TextureCore(TextureScene.options(slots: 8))
        #expect(core.step(&scene, TextureScene.four).uploaded == [other])
        scene.ready[other] = 2
        #expect(core.step(&scene, TextureScene.four, isGone: { _ in true }).picks.isEmpty)
        let slot = try #require(core.table.find(scene.key(other)))
        #expect(core.table.slots[slot].generation == 1 && core.statistics.usedSlots == 1)
    }

    /// A tile that was to leave a slot beyond a lowered limit stays there. So does the one in its new slot.
    @Test func undoneUploadsLeaveSlotsBeyondTheLimit() throws {
        var scene = try TextureScene()
        let (fallback, other) = (tile(5, 16, 16), tile(6, 40, 40))
        scene.ready[other] = 1
        scene.upcoming = [(other, 1)]
        var core = try TextureCore(TextureScene.options(slots: 2))
        let one = TextureScene.viewport(2080, 2080, 64, 64)
        _ = core.step(&scene, one)
        scene.ready[fallback] = 1
        #expect(core.step(&scene, one).drawn == [fallback])
        core.setSlotLimit(1)
        scene.ready = [:]
        var screen = scene.screen(one)
        screen.tiles.append(
            TextureTile(layer: 0, tile: fallback, generation: 1, bytes: TextureScene.tileBytes, worth: .infinity)
        )
        let picks = core.begin(screen)
        #expect(picks.map(\.slot) == [0])
        core.drop(picks[0])
        let result = core.finish()
        #expect(result.placements.map(\.slot) == [1] && result.holeCount == 0 && result.slotCount == 2)
        #expect(core.table.find(scene.key(other)) == 0 && core.statistics.evictions == 0)
    }

    @Test func removedTilesLeaveNoSlotsBeyondTheLimit() throws {
        var scene = try TextureScene()
        let (fallback, others) = (tile(5, 16, 16), [tile(6, 40, 40), tile(6, 41, 40)])
        for other in others { scene.ready[other] = 1 }
        scene.upcoming = others.map { ($0, 1) }
        var core = try TextureCore(TextureScene.options(slots: 3))
        let one = TextureScene.viewport(2080, 2080, 64, 64)
        _ = core.step(&scene, one)
        scene.ready[fallback] = 1
        #expect(core.step(&scene, one).result.placements.map(\.slot) == [2])
        core.setSlotLimit(1)
        scene.ready = [:]
        // Slot 1 is free, but slot 2 is on screen.
        #expect(core.step(&scene, one).result.slotCount == 3)
        core.remove { _ in true }
        #expect(core.table.slots.count == 1 && core.statistics.usedSlots == 0)
    }

    /// Putting a tile back into a used slot ends the process. The test runs it in a separate one. Builds without
    /// assertions do not notice it.
    @Test func tilesAreNotPutBackIntoUsedSlotsInAnotherProcess() async {
        var isAsserting = false
        assert({ isAsserting = true }() == ())
        guard isAsserting else { return }
        await #expect(processExitsWith: .failure) {
            let keys = try (0..<2).map { try TextureScene().key(tile(6, $0, 0)) }
            var table = SlotTable(limit: 1)
            table.assign(0, to: keys[0], generation: 1, frame: 1, isAhead: false)
            let held = table.slots[0]
            table.assign(0, to: keys[1], generation: 1, frame: 2, isAhead: false)
            table.restore(0, held)
        }
    }
}
