import TestSupport
import Testing

@testable import TileCache

/// Whether a view should be redrawn: the frames before and after are compared.
@Suite struct ViewGainsTests {
    private struct Drawn: Hashable {
        var key: TileKey
        var world: PixelRect
        var part: PixelRect
    }

    @Test(arguments: 1...30) func aViewHearsOfWhatChangesItsPicture(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let pyramid = try TilePyramid.powerOfTwo(
            worldWidth: 1024,
            worldHeight: 1024,
            tileSize: 64,
            wrapsX: seed.isMultiple(of: 3)
        )
        let small = TilePool(tiles: 500)
        var view = ViewRecord(
            serial: 0,
            model: ViewModel(layers: [ViewLayer(id: LayerID(0), pyramid: pyramid)], selection: TileLevelSelection())
        )
        let viewport = TileViewport(
            center: WorldPoint(x: Double(random.below(1024)), y: Double(random.below(1024))),
            width: 200,
            height: 150,
            scale: [1, 0.5, 0.25][random.below(3)]
        )
        // Sometimes a tile that covers the middle is resident before: any entry may be a fallback, also the first.
        if seed.isMultiple(of: 2) {
            let side = 1 << (seed / 2 % 4)
            let (column, row) = (Int(viewport.center.x) * side / 1024, Int(viewport.center.y) * side / 1024)
            small.load(TileKey(layer: 0, TileCoordinate(level: seed / 2 % 4, column: column, row: row)))
        }
        _ = view.model.update(viewport, now: 0, pool: &small.pool)
        let needed = view.model.layers[0].needs.level
        var hasHeard = 0
        for _ in 0..<120 {
            let level = random.below(5)
            let side = 1 << level
            let tile = TileCoordinate(level: level, column: random.below(side), row: random.below(side))
            let key = TileKey(layer: 0, tile)
            guard !small.residency(of: key).isResident else { continue }
            let before = drawn(view, small)
            small.load(key)
            let hears = view.draws(key, pool: small.pool)
            let isOther = drawn(view, small) != before
            if hears { hasHeard += 1 }
            // A finer tile may lie beside the viewport: then the notification is unnecessary.
            if level > needed { #expect(hears || !isOther) } else { #expect(hears == isOther, "\(tile)") }
        }
        #expect(hasHeard > 0)
    }

    private func drawn(_ view: ViewRecord, _ small: TilePool) -> Set<Drawn> {
        var drawn: Set<Drawn> = []
        var coverage = Coverage()
        let composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: 0)
        for layer in view.model.layers {
            composer.compose(
                layer,
                viewport: view.model.viewport,
                pool: small.pool,
                isMissing: true,
                coverage: &coverage
            ) { drawn.insert(Drawn(key: $0.key, world: $0.worldRectangle, part: $0.tileRectangle)) }
        }
        return drawn
    }
}
