import Foundation
import Testing
import TileCache

@testable import ViewerKit

@Suite struct TileQuadTests {
    private func viewport(scale: Double, rotation: Double = 0) -> TileViewport {
        TileViewport(
            center: WorldPoint(x: 1000, y: 1000),
            width: 400,
            height: 300,
            scale: scale,
            rotation: rotation
        )
    }

    private func quad(_ world: PixelRect, _ part: PixelRect, _ viewport: TileViewport) -> TileQuad? {
        TileQuad(slot: 3, world: world, part: part, width: 256, height: 256, viewport: viewport)
    }

    private let whole = PixelRect(minX: 0, minY: 0, maxX: 256, maxY: 256)

    /// The tile begins at (768, 768), so at (-32, -82) on screen.
    @Test func aTileOfTheScreensScaleIsCopied() throws {
        let world = PixelRect(minX: 768, minY: 768, maxX: 1024, maxY: 1024)
        let quad = try #require(self.quad(world, whole, viewport(scale: 1)))
        #expect(quad.isNearest)
        #expect(quad.corners == [SIMD2(-32, -82), SIMD2(224, -82), SIMD2(224, 174), SIMD2(-32, 174)])
        var vertices: [Float] = []
        quad.append(to: &vertices)
        #expect(vertices.count == 6 * TileQuad.vertexSize)
        #expect(Array(vertices[8..<16]) == [224, -82, 256, 0, 3, 0, 255, 255])
    }

    @Test func otherScalesPartsAndTurnsAreWeighted() throws {
        let world = PixelRect(minX: 768, minY: 768, maxX: 1024, maxY: 1024)
        #expect(try #require(quad(world, whole, viewport(scale: 0.9))).isNearest == false)
        #expect(try #require(quad(world, whole, viewport(scale: 1, rotation: 0.1))).isNearest == false)
        let odd = PixelRect(minX: 0.5, minY: 0, maxX: 128.5, maxY: 128)
        let small = PixelRect(minX: 900, minY: 900, maxX: 1028, maxY: 1028)
        #expect(try #require(quad(small, odd, viewport(scale: 1))).isNearest == false)
        let even = PixelRect(minX: 64, minY: 0, maxX: 192, maxY: 128)
        #expect(try #require(quad(small, even, viewport(scale: 1))).isNearest)
    }

    /// Rotated clockwise over the world by a quarter, the screen's right is the world's down.
    @Test func turnsAreThoseOfTheLibrary() throws {
        let position = viewport(scale: 2, rotation: .pi / 2).screenPosition(ofX: 1000, y: 1010)
        #expect(abs(position.x - 220) < 1e-9)
        #expect(abs(position.y - 150) < 1e-9)
    }

    @Test func whatIsOffTheScreenIsNotDrawn() {
        for world in [
            PixelRect(minX: 0, minY: 900, maxX: 256, maxY: 1156),
            PixelRect(minX: 900, minY: 2000, maxX: 1156, maxY: 2256),
            PixelRect(minX: 1000.2, minY: 1000.2, maxX: 1000.3, maxY: 1000.3),
        ] { #expect(quad(world, whole, viewport(scale: 1)) == nil) }
    }

    @Test func neighboursShareTheirCorners() throws {
        for step in 0..<60 {
            let viewport = self.viewport(
                scale: 0.5 + Double(step) * 0.017,
                rotation: step < 30 ? 0 : Double(step) * 0.1
            )
            let left = PixelRect(minX: 768, minY: 896, maxX: 1024, maxY: 1152)
            let right = PixelRect(minX: 1024, minY: 896, maxX: 1280, maxY: 1152)
            let (a, b) = (try #require(quad(left, whole, viewport)), try #require(quad(right, whole, viewport)))
            #expect(a.corners[1] == b.corners[0])
            #expect(a.corners[2] == b.corners[3])
        }
    }
}

@Suite struct CompositionTests {
    /// Two by two pixels: red 10, 20, 30 and 40.
    private let slot = Composition.Slot(
        width: 2,
        height: 2,
        pixels: [10, 20, 30, 40].flatMap { [$0, 0, 0, 0] as [UInt8] }
    )
    private let whole = PixelRect(minX: 0, minY: 0, maxX: 2, maxY: 2)

    private func picture(scale: Double, rotation: Double = 0, size: Int) throws -> Composition {
        let quad = try #require(
            TileQuad(
                slot: 0,
                world: whole,
                part: whole,
                width: 2,
                height: 2,
                viewport: TileViewport(
                    center: WorldPoint(x: 1, y: 1),
                    width: Double(size),
                    height: Double(size),
                    scale: scale,
                    rotation: rotation
                )
            )
        )
        var picture = Composition(width: size, height: size, background: Colour(0x01_02_03))
        picture.draw(quad, slot)
        return picture
    }

    private func reds(_ picture: Composition) -> [UInt8] {
        stride(from: 0, to: picture.pixels.count, by: 4).map { picture.pixels[$0] }
    }

    @Test func pixelsAreCopied() throws {
        let picture = try self.picture(scale: 1, size: 4)
        #expect(reds(picture) == [1, 1, 1, 1, 1, 10, 20, 1, 1, 30, 40, 1, 1, 1, 1, 1])
        #expect(picture.pixels[20..<24] == [10, 0, 0, 255])
    }

    /// At twice the size the middles are a quarter and three quarters between two pixels; the edge is repeated.
    @Test func pixelsAreWeighted() throws {
        #expect(
            reds(try picture(scale: 2, size: 4))
                == [10, 13, 18, 20, 15, 18, 23, 25, 25, 28, 33, 35, 30, 33, 38, 40]
        )
    }

    /// A quarter turn of the screen: the world's down is right, so the upper left pixel comes to the lower left.
    @Test func picturesAreTurned() throws {
        let picture = try self.picture(scale: 8, rotation: .pi / 2, size: 16)
        let rows = reds(picture)
        #expect(rows[16 + 1] == 20)
        #expect(rows[14 * 16 + 1] == 10)
        #expect(rows[14 * 16 + 14] == 30)
        #expect(rows[16 + 14] == 40)
    }

    @Test func differencesAreCounted() throws {
        let exact = try picture(scale: 1, size: 4)
        var other = exact.pixels
        #expect(exact.difference(to: other).isNone)
        #expect(exact.difference(to: other).background == 12 && exact.difference(to: other).exact == 4)
        other[0] += 1
        #expect(exact.difference(to: other).wrongExact == 1, "the background counts too")
        other[0] -= 1
        other[20] += 1
        #expect(exact.difference(to: other).wrongExact == 1)
        let weighted = try picture(scale: 2, size: 4)
        other = weighted.pixels
        other[0] += 1
        #expect(weighted.difference(to: other).isNone)
        other[0] += 1
        #expect(weighted.difference(to: other).wrongWeighted == 1)
        // A tile turned by a quarter as large as the picture: only its edge is uncertain.
        let turned = try picture(scale: 7, rotation: 0.3, size: 16)
        let result = turned.difference(to: turned.pixels)
        #expect(result.isNone && result.weighted > 150 && result.uncertain < 20)
        #expect(result.background + result.weighted + result.uncertain == 256 && result.exact == 0)
    }
}
