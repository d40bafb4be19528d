import TestSupport
import Testing

@testable import TileCache
@testable import TileTextures

@Suite struct LevelBiasTests {
    private static func count(_ viewport: TileViewport, _ level: Int, _ pyramid: TilePyramid) -> Int {
        var tiles: Set<TileCoordinate> = []
        ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level).forEach { column, row, _ in
            tiles.insert(TileCoordinate(level: level, column: column, row: row))
            return true
        }
        return tiles.count
    }

    /// No view of a size needs more tiles than the bound. Pyramid, selection, bias, place and scale are random.
    @Test(arguments: 1...40) func theBoundHolds(seed: Int) throws {
        var dice = SplitMix64(seed: UInt64(seed))
        var levels: [PyramidLevel] = []
        var resolution = 32.0
        while resolution > 0.9 {
            let side = Int(8192 / resolution)
            levels.append(
                PyramidLevel(
                    width: side,
                    height: side,
                    tileWidth: 32 + dice.below(64),
                    tileHeight: 32 + dice.below(64),
                    worldPixelsPerPixel: resolution
                )
            )
            resolution /= dice.oneIn(3) ? 4 : 2
        }
        let pyramid = try TilePyramid(worldWidth: 8192, worldHeight: 8192, levels: levels)
        let selection = TileLevelSelection(
            bias: dice.next(from: -1, to: 1),
            hysteresis: dice.oneIn(2) ? 0 : dice.next(from: 0, to: 1)
        )
        for _ in 0..<30 {
            let bias = Double(dice.below(32)) / 16
            let (width, height) = (dice.next(from: 10, to: 700), dice.next(from: 10, to: 700))
            let rotation = dice.oneIn(2) ? 0 : dice.next(from: 0, to: 7)
            let size = TextureScene.viewport(0, 0, width, height, rotation: rotation)
            let bound = LevelBias.tiles(of: pyramid, size, selection, bias)
            let rule = TileLevelSelection(bias: selection.bias + bias, hysteresis: selection.hysteresis)
            for _ in 0..<20 {
                let viewport = TextureScene.viewport(
                    dice.next(from: 0, to: 8192),
                    dice.next(from: 0, to: 8192),
                    width,
                    height,
                    scale: PortableMath.exp2(dice.next(from: -7, to: 2)),
                    rotation: rotation
                )
                let level = rule.level(for: viewport.scale, in: pyramid, previous: dice.below(levels.count))
                guard level > 0 else { continue }
                #expect(Self.count(viewport, level, pyramid) <= bound, "seed \(seed): \(viewport)")
            }
        }
    }

    /// By hand: at the finest scale of a level, a view of 1280 x 720 has 10 x 5.6 tiles of 256 pixels and 5 x 2.8 of 512,
    /// and one more each way: 11 x 7 and 6 x 4. In 64 MiB there are 64 slots that both fit; half an octave later there are
    /// 9 x 5 and 5 x 3. In slots of its own each layer has all of its tiles, in 19.25 and 24 MiB.
    @Test func layersWithSlotsOfTheirOwnNeedNoBias() throws {
        let layers = try [256, 512].enumerated().map { number, side in
            let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, tileSize: side)
            return FrameLayer(id: LayerID(number), pyramid: pyramid, format: .rgba8)
        }
        let viewport = TextureScene.viewport(0, 0, 1280, 720)
        func bias(_ layers: [FrameLayer], slots: Int) -> LevelBias {
            var bias = LevelBias()
            bias.update(viewport, TileLevelSelection(), layers, slots: slots)
            return bias
        }
        let (common, map, overlay) = (
            bias(layers, slots: 64), bias([layers[0]], slots: 77), bias([layers[1]], slots: 24)
        )
        #expect(common.value == 0.5 && common.neededSlots == 101)
        #expect(map.value == 0 && map.neededSlots == 77)
        #expect(overlay.value == 0 && overlay.neededSlots == 24)
        #expect(bias([layers[0]], slots: 76).value > 0 && bias([layers[1]], slots: 23).value > 0)
    }

    /// By hand: 10 x 5 tiles of 64 pixels, and one more each way. The scale is the finest of a level.
    @Test func theBiasIsTheLeast() throws {
        let pyramid = try TextureScene().pyramid
        let layer = FrameLayer(id: LayerID(0), pyramid: pyramid, format: .rgba8)
        let viewport = TextureScene.viewport(0, 0, 320, 160)
        var bias = LevelBias()
        bias.update(viewport, TileLevelSelection(), [layer], slots: 66)
        #expect(bias.value == 0 && bias.neededSlots == 66)
        bias.update(viewport, TileLevelSelection(), [layer], slots: 65)
        // 10 x 5 tiles become 9 x 5 at the earliest after log2(10 / 9) = .152 octaves: 3 of 16.
        #expect(bias.value == 3.0 / 16 && bias.neededSlots == 66)
        // An octave coarser: 5 x 3 tiles, and one more each way.
        #expect(LevelBias.tiles(of: pyramid, viewport, TileLevelSelection(), 1) == 24)
        bias.update(viewport, TileLevelSelection(), [layer], slots: 24)
        #expect(bias.value > 0.5 && bias.value <= 1)
        bias.update(viewport, TileLevelSelection(), [layer, layer], slots: 132)
        #expect(bias.value == 0 && bias.neededSlots == 132)
        bias.update(viewport, TileLevelSelection(), [layer], slots: 1)
        #expect(bias.value == 8)
    }

    /// A view that turns back and forth about an angle at which the least bias changes by a step keeps the larger one. A
    /// fall of two steps is followed, and one of a single step once the view has other slots.
    @Test func aTurningViewKeepsItsBias() throws {
        let pyramid = try TextureScene().pyramid
        let layer = FrameLayer(id: LayerID(0), pyramid: pyramid, format: .rgba8)
        func turn(_ bias: inout LevelBias, to angle: Double, slots: Int = 50) -> Int {
            let viewport = TextureScene.viewport(0, 0, 320, 160, rotation: angle)
            bias.update(viewport, TileLevelSelection(), [layer], slots: slots)
            return Int(bias.value * 16)
        }
        func least(_ angle: Double) -> Int {
            var bias = LevelBias()
            return turn(&bias, to: angle)
        }
        let angles = (1...800).map { Double($0) / 1000 }
        var pairs = 0
        for (angle, next) in zip(angles, angles.dropFirst()) where abs(least(angle) - least(next)) == 1 {
            pairs += 1
            let larger = max(least(angle), least(next))
            var bias = LevelBias()
            for _ in 0..<20 { for place in [angle, next] { _ = turn(&bias, to: place) } }
            #expect(Int(bias.value * 16) == larger && bias.changes <= 2, "\(angle): \(bias.changes) changes")
            // The angle of the smaller bias, with a slot less: the sizes are no longer those of a turn.
            let smaller = least(angle) < least(next) ? angle : next
            _ = turn(&bias, to: smaller)
            #expect(Int(bias.value * 16) == larger)
            var fresh = LevelBias()
            let other = turn(&fresh, to: smaller, slots: 51)
            #expect(turn(&bias, to: smaller, slots: 51) == other)
            // Two steps below.
            if let far = angles.first(where: { least($0) == larger - 2 }) {
                var falling = LevelBias()
                #expect(turn(&falling, to: least(angle) == larger ? angle : next) == larger)
                #expect(turn(&falling, to: far) == larger - 2 && falling.changes == 2)
            }
        }
        try #require(pairs > 2, "\(pairs) angles at which the least bias changes by one step")
    }

    /// Sizes and resolutions whose products are infinite: the level's own number of tiles is the bound.
    @Test func anyDrawableViewportHasABound() throws {
        let pyramid = try TextureScene().pyramid
        for rotation in [0, 0.3, .pi / 2] {
            for (width, height) in [(1e308, 100.0), (100, 1e308), (1e308, 1e308)] {
                let viewport = TextureScene.viewport(0, 0, width, height, rotation: rotation)
                let bound = LevelBias.tiles(of: pyramid, viewport, TileLevelSelection(), 8)
                let most = pyramid.levels.map { $0.columns * $0.rows }.max() ?? 0
                #expect(bound > 0 && bound <= most, "\(viewport)")
            }
        }
    }

    /// One level alone never causes a bias. The coarsest level has no replacement.
    @Test func aSingleLevelHasNoBias() throws {
        let level = PyramidLevel(width: 8192, height: 8192, tileWidth: 64, tileHeight: 64, worldPixelsPerPixel: 1)
        let pyramid = try TilePyramid(worldWidth: 8192, worldHeight: 8192, levels: [level])
        var bias = LevelBias()
        bias.update(
            TextureScene.viewport(0, 0, 640, 640),
            TileLevelSelection(),
            [FrameLayer(id: LayerID(0), pyramid: pyramid, format: .rgba8)],
            slots: 4
        )
        #expect(bias.value == 0)
    }

    /// At the limit, neither rest nor a zoom through all levels changes the bias. Each level comes once.
    @Test(arguments: [9, 12, 20, 40]) func levelsDoNotFlicker(slots: Int) throws {
        var scene = try TextureScene()
        scene.makeReady(0...6)
        var core = try TextureCore(TextureScene.options(slots: slots, tilesPerFrame: 2))
        var levels: [Int] = []
        var viewport = TextureScene.viewport(2048, 2048, 250, 250, scale: 1.0 / 64)
        for frame in 0..<1500 {
            viewport.scale = PortableMath.exp2(-6 + 6 * Double(frame) / 1499)
            viewport.center.x = 2048 + 200 * PortableMath.sin(Double(frame) / 40)
            let step = core.step(&scene, viewport)
            scene.levelBias = step.result.levelBias
            let level = step.screen.wants[0].tile.level
            if levels.last != level { levels.append(level) }
        }
        #expect(levels == levels.sorted() && levels.count <= 7)
        for _ in 0..<200 { scene.levelBias = core.step(&scene, viewport).result.levelBias }
        #expect(core.statistics.biasChanges == 1)
        #expect(scene.levelBias > 0)
    }

    /// A view that turns to and fro changes its bias seldom. It lowers the bias only by a whole band.
    @Test func turningChangesTheBiasSeldom() throws {
        var scene = try TextureScene()
        scene.makeReady(0...6)
        var core = try TextureCore(TextureScene.options(slots: 30))
        for frame in 0..<600 {
            let rotation = 0.4 + 0.01 * PortableMath.sin(Double(frame) / 5)
            let viewport = TextureScene.viewport(2048, 2048, 250, 250, rotation: rotation)
            scene.levelBias = core.step(&scene, viewport).result.levelBias
        }
        #expect((1...3).contains(core.statistics.biasChanges))
    }

    @Test func listsOfTheRendererHaveNoBias() throws {
        var scene = try TextureScene()
        var core = try TextureCore(TextureScene.options(slots: 4))
        var screen = scene.screen(TextureScene.viewport(2048, 2048, 250, 250))
        _ = core.begin(screen)
        #expect(core.finish().levelBias > 0)
        screen.viewport = nil
        _ = core.begin(screen)
        let result = core.finish()
        #expect(result.levelBias == 0 && result.neededSlots == screen.wants.count)
    }
}
