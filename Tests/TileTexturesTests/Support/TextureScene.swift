import TestSupport
import Testing

@testable import TileCache
@testable import TileTextures

/// A view over a small world of 64-pixel tiles, without a cache. The test determines which of them are ready.
struct TextureScene {
    static let tileBytes = 64 * 64 * 4
    /// Four whole tiles of the finest level: columns and rows 32 and 33.
    static let four = viewport(2112, 2112)
    static let fourTiles = [tile(6, 32, 32), tile(6, 33, 32), tile(6, 32, 33), tile(6, 33, 33)]
    /// 4096 pixels a side, levels 0 to 6.
    let pyramid: TilePyramid
    let layer = LayerID(0)
    var selection = TileLevelSelection()
    var levelBias = 0.0
    /// Generation of the ready tiles' pixels. Tiles that are not in it are not ready.
    var ready: [TileCoordinate: UInt32] = [:]
    var upcoming: [(tile: TileCoordinate, worth: Float)] = []
    private var level: Int?

    init(wraps: Bool = false) throws {
        pyramid = try .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64, wrapsX: wraps)
    }

    static func options(
        slots: Int,
        tilesPerFrame: Int = 1000,
        neverShowsHoles: Bool = false
    ) -> TextureSlotOptions {
        var options = TextureSlotOptions()
        options.slotLimit = slots
        (options.width, options.height) = (64, 64)
        options.uploadBytes = .bytes(tilesPerFrame * tileBytes)
        options.neverShowsHoles = neverShowsHoles
        return options
    }

    static func viewport(
        _ x: Double,
        _ y: Double,
        _ width: Double = 128,
        _ height: Double = 128,
        scale: Double = 1,
        rotation: Double = 0
    ) -> TileViewport {
        TileViewport(center: WorldPoint(x: x, y: y), width: width, height: height, scale: scale, rotation: rotation)
    }

    func key(_ tile: TileCoordinate) -> TextureKey { TextureKey(layer: layer, tile: tile) }

    /// The tiles that a viewport needs, at the level that the bias allows.
    mutating func needed(_ viewport: TileViewport) -> [(tile: TileCoordinate, offset: Double)] {
        let rule = TileLevelSelection(bias: selection.bias + levelBias, hysteresis: selection.hysteresis)
        let level = rule.level(for: viewport.scale, in: pyramid, previous: level)
        self.level = level
        var tiles: [(TileCoordinate, Double)] = []
        ViewportCover(pyramid: pyramid, viewport: viewport, levelIndex: level).forEach { column, row, offset in
            tiles.append((TileCoordinate(level: level, column: column, row: row), offset))
            return true
        }
        return tiles
    }

    /// The screen as a frame of a cache would describe it.
    mutating func screen(_ viewport: TileViewport) -> TextureScreen {
        var screen = TextureScreen(
            layers: [FrameLayer(id: layer, pyramid: pyramid, format: .rgba8)],
            viewport: viewport,
            selection: selection
        )
        var listed: Set<TileCoordinate> = []
        func list(_ tile: TileCoordinate, worth: Float? = nil) {
            guard let generation = ready[tile], listed.insert(tile).inserted else { return }
            screen.tiles.append(
                TextureTile(layer: 0, tile: tile, generation: generation, bytes: Self.tileBytes, worth: worth)
            )
        }
        for (tile, offset) in needed(viewport) {
            let rectangle = pyramid.worldRectangle(of: tile).offsetBy(x: offset, y: 0)
            screen.wants.append(TextureWant(layer: 0, tile: tile, worldRectangle: rectangle))
            var fallback: TileCoordinate? = tile
            while let tile = fallback, ready[tile] == nil { fallback = pyramid.parent(of: tile) }
            if let fallback { list(fallback) }
        }
        for (tile, worth) in upcoming { list(tile, worth: worth) }
        return screen
    }

    /// Makes all tiles of some levels ready.
    mutating func makeReady(_ levels: ClosedRange<Int>, generation: UInt32 = 1) {
        for level in levels {
            let table = pyramid.levels[level]
            for row in 0..<table.rows {
                for column in 0..<table.columns {
                    ready[TileCoordinate(level: level, column: column, row: row)] = generation
                }
            }
        }
    }
}

/// One frame of a core.
struct Step {
    var screen: TextureScreen
    var picks: [TexturePick]
    var result: TextureResult

    var uploaded: [TileCoordinate] { picks.map { screen.tiles[$0.tile].tile } }
    var drawn: [TileCoordinate] { result.placements.map(\.identity.tile) }
}

extension TextureCore {
    /// - Parameter isGone: Whether the cache has evicted an expected tile since the plan.
    mutating func step(
        _ scene: inout TextureScene,
        _ viewport: TileViewport,
        isGone: (TextureTile) -> Bool = { _ in false }
    ) -> Step {
        let screen = scene.screen(viewport)
        var picks = begin(screen)
        for pick in picks where screen.tiles[pick.tile].worth != nil && isGone(screen.tiles[pick.tile]) {
            drop(pick)
            picks.removeAll { $0.slot == pick.slot }
        }
        return Step(screen: screen, picks: picks, result: finish())
    }
}

func tile(_ level: Int, _ column: Int, _ row: Int) -> TileCoordinate {
    TileCoordinate(level: level, column: column, row: row)
}
