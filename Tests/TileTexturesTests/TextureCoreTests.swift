import TestSupport
import Testing

@testable import TileCache
@testable import TileTextures

/// Exact cases by hand, in a world of 64-pixel tiles.
@Suite struct TextureCoreTests {
    @Test func theLargestAreaIsUploadedFirst() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        var core = try TextureCore(TextureScene.options(slots: 20, tilesPerFrame: 1))
        // 96 of 128 pixels of a row are in column 32, and 112 of a column in row 32.
        let viewport = TextureScene.viewport(2048 + 64 - 32, 2048 + 64 - 48)
        var order: [TileCoordinate] = []
        for _ in 0..<9 { order += core.step(&scene, viewport).uploaded }
        // Areas: columns 31, 32, 33 show 32, 64, 32 pixels; rows 31, 32, 33 show 48, 64, 16.
        #expect(order.first == tile(6, 32, 32))
        let areas = order.map { tile in
            [31: 32, 32: 64, 33: 32][tile.column]! * [31: 48, 32: 64, 33: 16][tile.row]!
        }
        #expect(areas == areas.sorted(by: >) && order.count == 9)
        #expect(core.statistics.uploads == 9 && core.statistics.uploadedBytes == .bytes(9 * TextureScene.tileBytes))
        #expect(core.statistics.peakUploads == 1 && core.statistics.aheadUploads == 0)
        #expect(core.step(&scene, viewport).picks.isEmpty)
    }

    @Test func theBudgetInTimeFollowsTheMeasuredSpeed() throws {
        var options = TextureScene.options(slots: 64, tilesPerFrame: 8)
        options.uploadTime = .milliseconds(2)
        var core = try TextureCore(options)
        #expect(core.budget.allowed == 8 * TextureScene.tileBytes)
        // 4 tiles in 4 ms: two in 2 ms.
        core.noteUploads(bytes: 4 * TextureScene.tileBytes, nanoseconds: 4_000_000)
        #expect(core.budget.allowed == 2 * TextureScene.tileBytes)
        // A stall leaves one tile; fast uploads soon lead back.
        core.noteUploads(bytes: TextureScene.tileBytes, nanoseconds: 1_000_000_000)
        #expect(core.budget.allowed == TextureScene.tileBytes)
        for _ in 0..<40 { core.noteUploads(bytes: TextureScene.tileBytes, nanoseconds: 1000) }
        #expect(core.budget.allowed == 8 * TextureScene.tileBytes)
        core.noteUploads(bytes: 0, nanoseconds: 1_000_000_000)
        #expect(core.budget.allowed == 8 * TextureScene.tileBytes)
    }

    /// A coarse tile is drawn until the last of four needs its slot. Four slots are enough for four tiles.
    @Test func theLastTileReplacesTheFallback() throws {
        var scene = try TextureScene()
        scene.ready[tile(5, 16, 16)] = 1
        var core = try TextureCore(TextureScene.options(slots: 4, tilesPerFrame: 1))
        let first = core.step(&scene, TextureScene.four)
        #expect(first.uploaded == [tile(5, 16, 16)] && first.drawn == Array(repeating: tile(5, 16, 16), count: 4))
        #expect(first.result.placements[1].slotRectangle == PixelRect(minX: 32, minY: 0, maxX: 64, maxY: 32))
        scene.makeReady(6...6)
        for count in 1...3 {
            let step = core.step(&scene, TextureScene.four)
            #expect(step.result.placements.count { $0.isExact } == count && step.result.holeCount == 0)
            #expect(step.result.waitingTileCount == 4 - count)
        }
        let last = core.step(&scene, TextureScene.four)
        #expect(last.picks.map(\.slot) == [first.picks[0].slot])
        #expect(last.result.placements.allSatisfy { $0.isExact } && last.result.waitingTileCount == 0)
    }

    /// A tile that was uploaded in this frame keeps its slot until the next one, also if nothing draws it any more.
    @Test func slotsAreFilledOnceAFrame() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        scene.ready[tile(5, 16, 16)] = 1
        scene.upcoming = [(tile(5, 16, 16), .infinity)]
        var core = try TextureCore(TextureScene.options(slots: 5))
        // Beside the four whole tiles there are strips of 4 pixels, which gain less than these over the coarse one.
        let wide = TextureScene.viewport(2112, 2112, 136, 128)
        let first = core.step(&scene, wide)
        #expect(first.uploaded.first == tile(5, 16, 16))
        #expect(Set(first.uploaded.dropFirst()) == Set(TextureScene.fourTiles))
        #expect(Set(first.picks.map(\.slot)).count == first.picks.count && first.result.waitingTileCount == 4)
        #expect(core.step(&scene, wide).picks.map(\.slot) == [first.picks[0].slot])
    }

    /// Finer tiles are uploaded for what nothing draws, those first that show most of it. Beside a coarser one they are
    /// for later frames alone, in the order of their worth.
    @Test(arguments: [false, true]) func finerTilesFillWhatIsBlank(hasCoarser: Bool) throws {
        var scene = try TextureScene()
        if hasCoarser { scene.ready[tile(3, 4, 4)] = 1 }
        var core = try TextureCore(TextureScene.options(slots: 8, tilesPerFrame: 1))
        // Tile 4/8/8 alone.
        let out = TextureScene.viewport(2176, 2176, 64, 64, scale: 0.25)
        #expect(core.step(&scene, out).uploaded == (hasCoarser ? [tile(3, 4, 4)] : []))
        let (small, large) = (tile(6, 32, 32), tile(5, 17, 17))
        (scene.ready[small], scene.ready[large]) = (1, 1)
        scene.upcoming = [(small, 2), (large, 1)]
        let step = core.step(&scene, out)
        #expect(step.uploaded == [hasCoarser ? small : large])
        #expect(step.picks.map(\.isAhead) == [hasCoarser])
        let next = core.step(&scene, out)
        #expect(next.uploaded == [hasCoarser ? large : small] && next.picks.map(\.isAhead) == [hasCoarser])
    }

    /// With budget and slots for the tiles themselves, their fallback is not uploaded.
    @Test func fallbacksAreNotUploadedInVain() throws {
        var scene = try TextureScene()
        scene.makeReady(0...6)
        scene.upcoming = [(tile(0, 0, 0), .infinity)]
        var core = try TextureCore(TextureScene.options(slots: 8, tilesPerFrame: 4))
        #expect(Set(core.step(&scene, TextureScene.four).uploaded) == Set(TextureScene.fourTiles))
        // With the rest of the next budget, the coarse tile is uploaded for what comes.
        let next = core.step(&scene, TextureScene.four)
        #expect(next.uploaded == [tile(0, 0, 0)] && next.picks[0].isAhead)
        // Without the budget, a tile two levels coarser comes first: it improves four tiles by 5 of 7 levels. The
        // coarsest one would improve them by 1.
        scene.upcoming = [(tile(0, 0, 0), .infinity), (tile(4, 8, 8), 0.1)]
        var slow = try TextureCore(TextureScene.options(slots: 8, tilesPerFrame: 1))
        #expect(slow.step(&scene, TextureScene.four).uploaded == [tile(4, 8, 8)])
        #expect(TextureScene.fourTiles.contains(slow.step(&scene, TextureScene.four).uploaded[0]))
    }

    @Test func changedTilesAreUploadedAgain() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        var core = try TextureCore(TextureScene.options(slots: 4, tilesPerFrame: 2))
        for _ in 0..<2 { _ = core.step(&scene, TextureScene.four) }
        scene.makeReady(6...6, generation: 2)
        let step = core.step(&scene, TextureScene.four)
        #expect(step.picks.count == 2 && step.result.placements.allSatisfy { $0.isExact })
        #expect(step.result.placements.map(\.identity.generation).sorted() == [1, 1, 2, 2])
        let next = core.step(&scene, TextureScene.four)
        #expect(next.result.placements.allSatisfy { $0.identity.generation == 2 })
        #expect(core.statistics.evictions == 0)
    }

    /// A tile in a slot is drawn even if the cache has evicted it.
    @Test func slotsOutliveTheCache() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        var core = try TextureCore(TextureScene.options(slots: 8))
        _ = core.step(&scene, TextureScene.four)
        scene.ready = [:]
        let step = core.step(&scene, TextureScene.four)
        #expect(step.result.placements.count == 4 && step.result.placements.allSatisfy { $0.isExact })
        core.remove { $0.tile == tile(6, 32, 32) }
        #expect(core.statistics.usedSlots == 3)
        let after = core.step(&scene, TextureScene.four)
        #expect(after.result.placements.count == 3 && after.result.holeCount == 1)
        #expect(after.result.waitingTileCount == 0)
    }

    /// On a zoom out, four children are drawn instead of a coarser ancestor. Together they cover the tile.
    @Test func childrenAreDrawnIfTheyCoverATile() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        scene.ready[tile(0, 0, 0)] = 1
        scene.upcoming = [(tile(0, 0, 0), .infinity)]
        var core = try TextureCore(TextureScene.options(slots: 20))
        for _ in 0..<2 { _ = core.step(&scene, TextureScene.four) }
        let out = TextureScene.viewport(2112, 2112, scale: 0.5)
        let step = core.step(&scene, out)
        let children = step.result.placements.filter { $0.identity.tile.level == 6 }
        #expect(Set(children.map(\.identity.tile)) == Set(TextureScene.fourTiles))
        #expect(step.result.placements.filter { $0.identity.tile.level == 0 }.count == 8)
        #expect(step.result.holeCount == 0 && !step.result.placements.contains { $0.isExact })
    }

    /// In a pyramid that is not of powers of two a tile lies in two coarser ones.
    @Test func theRestOfATileIsDrawnFromOtherCoarserTiles() throws {
        func level(_ width: Int, _ height: Int, _ scale: Double) -> PyramidLevel {
            PyramidLevel(width: width, height: height, tileWidth: 64, tileHeight: 64, worldPixelsPerPixel: scale)
        }
        let levels = [level(256, 26, 2.5), level(640, 64, 1)]
        let pyramid = try TilePyramid(worldWidth: 640, worldHeight: 64, levels: levels)
        var screen = TextureScreen(
            layers: [FrameLayer(id: LayerID(0), pyramid: pyramid, format: .rgba8)],
            viewport: TextureScene.viewport(160, 32, 64, 64)
        )
        let box = PixelRect(minX: 128, minY: 0, maxX: 192, maxY: 64)
        screen.wants = [TextureWant(layer: 0, tile: tile(1, 2, 0), worldRectangle: box)]
        let bytes = TextureScene.tileBytes
        screen.tiles = [
            TextureTile(layer: 0, tile: tile(0, 1, 0), generation: 1, bytes: bytes),
            TextureTile(layer: 0, tile: tile(0, 0, 0), generation: 1, bytes: bytes, worth: 1),
        ]
        var core = try TextureCore(TextureScene.options(slots: 4))
        _ = core.begin(screen)
        let result = core.finish()
        #expect(result.placements.map(\.identity.tile) == [tile(0, 1, 0), tile(0, 0, 0)] && result.holeCount == 0)
        #expect(result.placements.map(\.worldRectangle.minX) == [160, 128])
        #expect(result.placements.last?.slotRectangle == PixelRect(minX: 51.2, minY: 0, maxX: 64, maxY: 25.6))
    }

    @Test func aLoweredLimitKeepsWhatIsOnScreen() throws {
        var scene = try TextureScene()
        scene.makeReady(0...6)
        var core = try TextureCore(TextureScene.options(slots: 40, tilesPerFrame: 40))
        let viewport = TextureScene.viewport(2100, 2100, 300, 300)
        let full = core.step(&scene, viewport)
        #expect(full.result.placements.count == 36 && full.result.levelBias > 0)
        // A view of 300 pixels may need 11 tiles each way.
        #expect(full.result.neededSlots == 121)
        core.setSlotLimit(16)
        core.setUploadBudget(bytes: 4 * TextureScene.tileBytes, time: 1_000_000_000)
        let first = core.step(&scene, viewport)
        #expect(first.drawn == full.drawn && first.result.slotCount >= 36 && first.result.levelBias > 1)
        #expect(first.result.neededSlots == 121)
        scene.levelBias = first.result.levelBias
        var last = first
        for _ in 0..<20 {
            last = core.step(&scene, viewport)
            #expect(last.result.holeCount == 0)
        }
        #expect(last.result.slotCount == 16 && last.result.placements.allSatisfy { $0.isExact })
        // And back.
        core.setSlotLimit(200)
        scene.levelBias = core.step(&scene, viewport).result.levelBias
        #expect(scene.levelBias == 0)
        for _ in 0..<20 { last = core.step(&scene, viewport) }
        #expect(last.drawn.allSatisfy { $0.level == 6 } && last.result.placements.count == 36)
    }

    @Test func expectedTilesAreUploadedWithTheRestOfTheBudget() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        scene.upcoming = [(tile(6, 34, 32), 0.5), (tile(6, 34, 33), 0.4), (tile(6, 35, 32), 0.3)]
        var core = try TextureCore(TextureScene.options(slots: 6, tilesPerFrame: 5))
        let first = core.step(&scene, TextureScene.four)
        #expect(Set(first.uploaded.prefix(4)) == Set(TextureScene.fourTiles))
        #expect(first.picks.map(\.isAhead) == [false, false, false, false, true])
        #expect(first.uploaded.last == tile(6, 34, 32))
        let second = core.step(&scene, TextureScene.four)
        #expect(second.uploaded == [tile(6, 34, 33)])
        // No slot is left, and what was uploaded ahead is worth more.
        for _ in 0..<50 { #expect(core.step(&scene, TextureScene.four).picks.isEmpty) }
        #expect(core.statistics.aheadUploads == 2)
        #expect(core.statistics.aheadBytes == .bytes(2 * TextureScene.tileBytes))
        // The view moves on: both are drawn in its first frame.
        let moved = core.step(&scene, TextureScene.viewport(2112 + 64, 2112))
        #expect(moved.result.placements.allSatisfy { $0.isExact } && !moved.picks.contains { !$0.isAhead })
        #expect(core.statistics.aheadDrawn == 2)
    }

    /// A tile that was just drawn keeps its slot against one that is only expected.
    @Test func expectedTilesDoNotTakeRecentSlots() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        var core = try TextureCore(TextureScene.options(slots: 4))
        _ = core.step(&scene, TextureScene.four)
        let half = TextureScene.viewport(2592, 2080, 64, 64)
        _ = core.step(&scene, half)
        scene.upcoming = [(tile(6, 10, 10), 1)]
        var frames = 0
        while core.statistics.aheadUploads == 0, frames < 100 {
            _ = core.step(&scene, half)
            frames += 1
        }
        #expect((25...35).contains(frames))
    }

    /// With `neverShowsHoles`, a parent stays until all of its children are there. After that it may go.
    @Test func parentsStayUntilTheirChildrenCoverThem() throws {
        for keeps in [false, true] {
            var scene = try TextureScene()
            scene.ready[tile(5, 16, 16)] = 1
            var core = try TextureCore(TextureScene.options(slots: 5, neverShowsHoles: keeps))
            _ = core.step(&scene, TextureScene.four)
            // Three children: the view then shows only these, and two more tiles elsewhere ask for slots.
            for child in TextureScene.fourTiles.prefix(3) { scene.ready[child] = 1 }
            _ = core.step(&scene, TextureScene.four)
            scene.makeReady(6...6)
            let away = TextureScene.viewport(1024, 1024, 64, 64)
            let other = core.step(&scene, away)
            #expect(other.result.holeCount == 0)
            #expect((core.table.find(scene.key(tile(5, 16, 16))) != nil) == keeps)
            // With the fourth child, the parent may go.
            let back = core.step(&scene, TextureScene.four)
            #expect(back.result.placements.allSatisfy { $0.isExact })
        }
    }

    /// A missing tile of a layer's finest level, beside a layer with more levels.
    @Test func layersMayHaveDifferentNumbersOfLevels() throws {
        var scene = try TextureScene()
        scene.makeReady(6...6)
        var screen = scene.screen(TextureScene.four)
        let small = try TilePyramid.powerOfTwo(worldWidth: 2048, worldHeight: 2048, tileSize: 64)
        #expect(small.maximumLevel == 5)
        screen.layers.append(FrameLayer(id: LayerID(1), pyramid: small, format: .rgba8))
        let missing = tile(5, 31, 31)
        let rectangle = small.worldRectangle(of: missing)
        screen.wants.append(TextureWant(layer: 1, tile: missing, worldRectangle: rectangle))
        var core = try TextureCore(TextureScene.options(slots: 8))
        let picks = core.begin(screen)
        let result = core.finish()
        #expect(picks.map { screen.tiles[$0.tile].layer } == [0, 0, 0, 0])
        #expect(result.holeCount == 1)
    }

    @Test func optionsAreChecked() throws {
        func expectError(_ text: String, _ change: (inout TextureSlotOptions) -> Void) {
            var options = TextureSlotOptions()
            change(&options)
            let error = #expect(throws: TileCacheError.self) { try TextureSlots(options) }
            #expect(error?.description.contains(text) == true)
        }
        expectError("1 to 65536 texture slots are expected, not 0") { $0.slotLimit = 0 }
        expectError("not 65537") { $0.slotLimit = 65_537 }
        expectError("1 to 65536 pixels a side are expected, not 0 x 256") { $0.width = 0 }
        expectError("262144 bytes, is expected, not 262143") { $0.uploadBytes = .bytes(262_143) }
        expectError("larger than 0") { $0.uploadTime = .zero }
        var options = TextureSlotOptions()
        options.uploadBytes = .bytes(262_144)
        options.slotLimit = 65_536
        var slots = try TextureSlots(options)
        slots.slotLimit = -3
        slots.uploadBytes = .bytes(0)
        slots.uploadTime = .seconds(-1)
        #expect(slots.slotLimit == 1 && slots.uploadBytes.bytes == 262_144 && slots.uploadTime == .nanoseconds(1))
    }

    @Test func anAtlasPlacesSlotsRowByRow() throws {
        let atlas = try TextureAtlas(TextureSlotOptions(), width: 1000)
        #expect(atlas.columns == 3 && atlas.height(ofSlots: 7) == 768 && atlas.height(ofSlots: 0) == 0)
        #expect(atlas.rectangle(ofSlot: 4) == PixelRect(minX: 256, minY: 256, maxX: 512, maxY: 512))
        let part = PixelRect(minX: 1, minY: 2, maxX: 3, maxY: 4)
        #expect(atlas.rectangle(ofSlot: 2, part: part) == PixelRect(minX: 513, minY: 2, maxX: 515, maxY: 4))
        #expect(throws: TileCacheError.self) { try TextureAtlas(TextureSlotOptions(), width: 255) }
        // Any number is clamped, also in a texture wider than all slots.
        let wide = try TextureAtlas(TextureSlotOptions(), width: .max)
        #expect(wide.height(ofSlots: .max) == 256 && wide.height(ofSlots: .min) == 0)
        #expect(atlas.rectangle(ofSlot: .max) == atlas.rectangle(ofSlot: 65_535))
        #expect(atlas.rectangle(ofSlot: .min) == atlas.rectangle(ofSlot: 0))
        var flat = TextureSlotOptions()
        flat.height = .max
        #expect(throws: TileCacheError.self) { try TextureAtlas(flat, width: 256) }
    }

    /// The state is bounded by slots and screen, not by the number of frames.
    @Test func theStateDoesNotGrow() throws {
        var scene = try TextureScene()
        scene.makeReady(0...6)
        var core = try TextureCore(TextureScene.options(slots: 32, tilesPerFrame: 4))
        var dice = SplitMix64(seed: 7)
        var viewport = TextureScene.four
        for _ in 0..<5000 {
            viewport.center.x = min(max(viewport.center.x + dice.next(from: -30, to: 30), 0), 4096)
            viewport.center.y = min(max(viewport.center.y + dice.next(from: -30, to: 30), 0), 4096)
            scene.upcoming = (0..<8).map { _ in (tile(6, dice.below(64), dice.below(64)), Float(dice.nextUnit())) }
            let step = core.step(&scene, viewport)
            #expect(core.table.slots.count == 32 && core.table.usedCount <= 32)
            #expect(core.pending.count <= step.screen.tiles.count && core.drawings.count == step.screen.wants.count)
            #expect(core.drawings.allSatisfy { $0.parts.count <= 16 })
        }
        #expect(core.statistics.frames == 5000 && core.statistics.peakUploads <= 4)
    }
}
