import Testing
import TileCache

@testable import ViewerKit

@Suite struct DrawingTests {
    private let viewport = TileViewport(center: WorldPoint(x: 1000, y: 1000), width: 400, height: 300, scale: 0.7)

    /// Neighbours share the same edge pixel at any scale.
    @Test func tilesLeaveNeitherGapNorSeam() throws {
        for step in 0..<50 {
            var viewport = viewport
            viewport.scale = 0.5 + Double(step) * 0.013
            viewport.center.x += Double(step) * 0.37
            var right: Double?
            for column in 0..<8 {
                let world = PixelRect(minX: Double(column) * 256, minY: 768, maxX: Double(column + 1) * 256, maxY: 1024)
                guard
                    let draw = TileDraw(
                        world: world,
                        part: PixelRect(minX: 0, minY: 0, maxX: 256, maxY: 256),
                        width: 256,
                        height: 256,
                        viewport: viewport
                    )
                else { continue }
                #expect(draw.clip == nil)
                if let right { #expect(draw.destination.minX == right) }
                right = draw.destination.maxX
            }
            #expect(try #require(right) >= 400)
        }
    }

    @Test func whatIsOffTheScreenIsNotDrawn() {
        let part = PixelRect(minX: 0, minY: 0, maxX: 256, maxY: 256)
        for world in [
            PixelRect(minX: 0, minY: 900, maxX: 256, maxY: 1156),
            PixelRect(minX: 900, minY: 2000, maxX: 1156, maxY: 2256),
            PixelRect(minX: 1000, minY: 1000, maxX: 1000.1, maxY: 1000.1),
        ] {
            #expect(TileDraw(world: world, part: part, width: 256, height: 256, viewport: viewport) == nil)
        }
    }

    /// A cut of 0.25 pixels, at 100.5 of a tile. The whole pixel is drawn, a quarter of it is visible.
    @Test func cutsWithinAPixelAreClipped() throws {
        let draw = try #require(
            TileDraw(
                world: PixelRect(minX: 1000, minY: 1000, maxX: 1100, maxY: 1100),
                part: PixelRect(minX: 100.5, minY: 8, maxX: 100.75, maxY: 8.25),
                width: 256,
                height: 256,
                viewport: TileViewport(center: WorldPoint(x: 1000, y: 1000), width: 400, height: 300, scale: 1)
            )
        )
        #expect(draw.source == PixelRectangle(x: 100, y: 8, width: 1, height: 1))
        #expect(draw.destination == PixelRect(minX: 0, minY: 150, maxX: 400, maxY: 550))
        #expect(draw.clip == PixelRectangle(x: 200, y: 150, width: 100, height: 100))
    }

    /// A known checksum, and an image whose parts match it.
    @Test func picturesArePNG() {
        #expect(PNG.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
        let file = PNG.encoded(rgba: [1, 2, 3, 255, 4, 5, 6, 0], width: 2, height: 1)
        let idat: [UInt8] = [0x78, 1, 1, 7, 0, 0xF8, 0xFF, 0, 1, 2, 3, 4, 5, 6]
        #expect(file.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(Array(file[41..<55]) == idat)
        // Adler-32 of 0 1 2 3 4 5 6: 22 and 7 + 56.
        #expect(Array(file[55..<59]) == [0, 63, 0, 22])
        #expect(file.count == 8 + 25 + 12 + 18 + 12)
        // More than one stored block.
        let large = PNG.encoded(rgba: [UInt8](repeating: 7, count: 160_000), width: 200, height: 200)
        #expect(large.count == 120_273)
    }
}
