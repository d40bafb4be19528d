import Testing

@testable import TileCache

/// Layers and pyramids whose coarser levels can be made from the finer ones, and those whose cannot.
@Suite struct LevelSynthesisRuleTests {
    @Test func whatCannotBeMadeIsRefused() throws {
        let cache = try TileCache(byteLimit: .mebibytes(1))
        let world = try MadeWorld(width: 256, height: 256, depth: 4)
        func problem(_ pyramid: TilePyramid, _ options: LayerOptions) -> String {
            do {
                _ = try cache.addLayer(MadeSource(world), pyramid: pyramid, options: options)
                return "none"
            } catch {
                return error.description
            }
        }
        #expect(problem(world.pyramid, LayerOptions(synthesizedLevels: 4)) == "none")
        #expect(problem(world.pyramid, LayerOptions(synthesizedLevels: 5)).contains("0 to 4 of its levels"))
        #expect(problem(world.pyramid, LayerOptions(synthesizedLevels: -1)).contains("0 to 4 of its levels"))
        let odd = try TilePyramid.powerOfTwo(worldWidth: 400, worldHeight: 400, tileSize: 20)
        #expect(problem(odd, LayerOptions(synthesizedLevels: 2)) == "none")
        #expect(problem(odd, LayerOptions(synthesizedLevels: 3)).contains("can be halved 2 times, not 3"))
        let bordered = try TilePyramid.powerOfTwo(worldWidth: 256, worldHeight: 256, tileSize: 16, border: 1)
        #expect(problem(bordered, LayerOptions(synthesizedLevels: 1)).contains("no border"))
        #expect(
            problem(world.pyramid, LayerOptions(format: .float32, synthesizedLevels: 1, downsampling: .sRGB))
                .contains("cannot be halved")
        )
        #expect(problem(world.pyramid, LayerOptions(format: .opaque(bytesPerTile: 9), synthesizedLevels: 1)) != "none")
        let steep = try TilePyramid(
            worldWidth: 64,
            worldHeight: 64,
            levels: [4, 1].map {
                PyramidLevel(
                    width: 64 / $0,
                    height: 64 / $0,
                    tileWidth: 16,
                    tileHeight: 16,
                    worldPixelsPerPixel: Double($0)
                )
            }
        )
        #expect(problem(steep, LayerOptions(synthesizedLevels: 1)).contains("is not the half of level 1"))
    }

    @Test func aPyramidKeepsItsFinestLevels() throws {
        let whole = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 2048)
        let part = whole.keepingFinestLevels(3)
        #expect(part.levels == Array(whole.levels.suffix(3)))
        #expect(part.maximumLevel == 2 && part.worldWidth == 4096)
        #expect(whole.keepingFinestLevels(0).levels.count == 1)
        #expect(whole.keepingFinestLevels(99) == whole)
    }
}
