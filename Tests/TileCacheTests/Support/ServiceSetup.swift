import Testing

@testable import TileCache

/// A small world for tests of the whole service, 4096 pixels a side. It has 64-pixel tiles of 16 KiB, levels 0 to 6.
enum ServiceSetup {
    static let world = 4096

    static func pyramid(wraps: Bool = false) throws -> TilePyramid {
        try .powerOfTwo(worldWidth: world, worldHeight: world, tileSize: 64, wrapsX: wraps)
    }

    /// Twenty tiles at level 6 and scale 1.
    static func viewport(_ x: Double, _ y: Double, scale: Double = 1, rotation: Double = 0) -> TileViewport {
        TileViewport(center: WorldPoint(x: x, y: y), width: 256, height: 192, scale: scale, rotation: rotation)
    }

    /// A view without prefetch, so that a test knows which tiles load.
    static func quiet(_ cache: TileCache, _ layers: [TileLayer]) -> TileView {
        cache.makeView(layers: layers, selection: TileLevelSelection(), policy: { NoPrefetch() })
    }

    /// Checks that every placement has the right pixels and is at its tile's place.
    static func check(_ frame: TileFrame, _ viewport: TileViewport, layers: Int) {
        for placement in frame {
            let identity = placement.tile.identity
            #expect(holds(placement.tile, expectedPixel(layer: identity.layer.index, identity.tile)))
            let span = Double(world) / Double(1 << identity.tile.level)
            let part = placement.tileRectangle
            let left = Double(identity.tile.column) * span + part.minX * span / 64
            let copies = (placement.worldRectangle.minX - left) / Double(world)
            #expect(abs(copies - copies.rounded()) < 1e-9)
            #expect(
                abs(placement.worldRectangle.minY - Double(identity.tile.row) * span - part.minY * span / 64) < 1e-6
            )
            #expect(abs(placement.worldRectangle.width - part.width * span / 64) < 1e-6)
        }
    }
}
