import Testing
import TileCache

@testable import DemoWorld

@Suite struct DemoWorldTests {
    private func tile(
        _ world: DemoWorld,
        _ level: Int,
        _ column: Int,
        _ row: Int,
        maximumLevel: Int? = nil
    ) -> [UInt8] {
        let size = world.tileSize
        var bytes = [UInt8](repeating: 0, count: size * size * 4)
        bytes.withUnsafeMutableBytes {
            world.draw(
                level: level,
                column: column,
                row: row,
                maximumLevel: maximumLevel ?? world.maximumLevel,
                into: $0,
                bytesPerRow: size * 4
            )
        }
        return bytes
    }

    /// The middle of a town, a coast and open country. At levels with and without streets and houses.
    @Test(arguments: DemoWorld.Style.allCases, [(0, 0, 0), (3, 2, 3), (6, 27, 35), (8, 55, 71)])
    func fourTilesAreOneLargeOne(style: DemoWorld.Style, place: (level: Int, column: Int, row: Int)) {
        let large = DemoWorld(tileSize: 512, style: style)
        let small = DemoWorld(tileSize: 256, style: style)
        #expect(large.maximumLevel == 8 && small.maximumLevel == 9)
        let whole = tile(large, place.level, place.column, place.row)
        for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let quarter = tile(small, place.level + 1, place.column * 2 + right, place.row * 2 + down)
            let isEqual = (0..<256).allSatisfy { y in
                let start = ((down * 256 + y) * 512 + right * 256) * 4
                return whole[start..<start + 1024].elementsEqual(quarter[y * 1024..<(y + 1) * 1024])
            }
            #expect(isEqual)
        }
    }

    @Test func tilesOfAnySizeFit() {
        let odd = DemoWorld(tileSize: 85)
        let large = DemoWorld(tileSize: 255)
        let whole = tile(large, 5, 7, 9, maximumLevel: 9)
        for (right, down) in [(0, 0), (1, 1), (2, 0), (2, 2)] {
            let part = tile(odd, 5, 21 + right, 27 + down, maximumLevel: 9)
            let isEqual = (0..<85).allSatisfy { y in
                let start = ((down * 85 + y) * 255 + right * 85) * 4
                return whole[start..<start + 340].elementsEqual(part[y * 340..<(y + 1) * 340])
            }
            #expect(isEqual)
        }
    }

    /// A tile of a small world, whose copies have more settlements than 16 bits count. Only the last one is in it.
    @Test func aTileHasAnyNumberOfSettlements() {
        func settlement(_ x: Double) -> Settlement {
            Settlement(rank: 0, x: x, y: 32, radius: 8, cosine: 1, sine: 0, bits: 0)
        }
        let grid = TownGrid(
            frame: TileFrame(worldPerPixel: 1, left: 0, top: 0, size: 64),
            settlements: [Settlement](repeating: settlement(-1000), count: 40_000) + [settlement(32)]
        )
        #expect(grid.owner(8 * 17 + 8, 17)?.x == 32)
    }

    /// Up to the widest world, whose size is no power of two.
    @Test func theLastLevelHasTheWorldsPixels() {
        func level(_ width: Int, _ height: Int, _ tileSize: Int) -> Int {
            DemoWorld(worldWidth: width, worldHeight: height, tileSize: tileSize).maximumLevel
        }
        #expect(level(1, 1, 1) == 0 && level(2, 1, 1) == 1 && level(3, 1, 1) == 2)
        #expect(level(256, 100, 256) == 0 && level(100, 257, 256) == 1 && level(512, 512, 256) == 1)
        #expect(level(1 << 62, 1, 256) == 54 && level(1, 1 << 62 + 1, 256) == 55 && level(.max, .max, 256) == 55)
        #expect(level(.max, 1, .max) == 0 && level(.max, 1, 1) == 63)
    }

    /// Four columns of level 2: the fifth is the first again.
    @Test func theWorldIsRound() {
        let world = DemoWorld()
        let (first, again) = (tile(world, 2, 0, 0), tile(world, 2, 4, 0))
        // Distances from numbers that are larger by a world differ in their last bits, and a colour by one at most.
        #expect(zip(first, again).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test func aSeedIsAWorld() {
        #expect(tile(DemoWorld(), 3, 2, 3) == tile(DemoWorld(seed: 1), 3, 2, 3))
        #expect(tile(DemoWorld(), 3, 2, 3) != tile(DemoWorld(seed: 2), 3, 2, 3))
    }

    @Test func rowsMayBePadded() {
        let world = DemoWorld(tileSize: 64)
        var bytes = [UInt8](repeating: 7, count: 64 * 300)
        bytes.withUnsafeMutableBytes {
            world.draw(level: 4, column: 3, row: 5, maximumLevel: world.maximumLevel, into: $0, bytesPerRow: 300)
        }
        let packed = tile(world, 4, 3, 5)
        for row in 0..<64 {
            #expect(bytes[row * 300..<row * 300 + 256].elementsEqual(packed[row * 256..<(row + 1) * 256]))
            #expect(bytes[row * 300 + 256..<(row + 1) * 300].allSatisfy { $0 == 7 })
        }
    }

    /// Neither flat nor noise: some land and some sea, few colours, opaque alpha.
    @Test func looksLikeAMap() {
        let pixels = tile(DemoWorld(), 1, 0, 0)
        var counts: [UInt32: Int] = [:]
        for index in stride(from: 0, to: pixels.count, by: 4) {
            let color = UInt32(pixels[index]) << 16 | UInt32(pixels[index + 1]) << 8 | UInt32(pixels[index + 2])
            counts[color, default: 0] += 1
        }
        #expect(stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 })
        #expect(counts[0xF3EFE6, default: 0] > 3000)
        #expect(counts[0xA9CFE0, default: 0] > 3000)
        #expect(counts[0xB5D5A4, default: 0] > 1000)
        #expect((50..<20_000).contains(counts.count))
    }
}
