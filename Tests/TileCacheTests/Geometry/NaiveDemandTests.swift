import TestSupport
import Testing

@testable import TileCache

/// Demands of frames against set differences of the needed tiles by brute force.
@Suite struct NaiveDemandTests {
    @Test(arguments: 0..<12) func demandsAreWhatWasNotNeededBefore(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 600))
        let world = dice.world()
        let pyramid = try world.pyramid()
        let cache = VirtualCache(options: .init(), expectedLatency: 20_000_000, latency: { _, _ in 20_000_000 })
        let layer = try cache.addLayer(tileBytes: 65_536)
        let view = cache.addView(layers: [(layer, pyramid, NoPrefetch())])

        var shape = dice.walkStart(in: world)
        var before: (needed: Set<NaiveTile>, level: Int)?
        var (pan, zoom) = (0, 0)
        for frame in 0..<600 {
            dice.walk(&shape, in: world)
            cache.frame(view: view, shape.viewport, at: Int64(frame) * 16_666_667)
            let level = world.idealLevel(scale: shape.scale)
            let needed = Set(naiveNeeded(shape, in: world))
            if let before {
                let demands = needed.subtracting(before.needed).count
                if level == before.level { pan += demands } else { zoom += demands }
            }
            before = (needed, level)
            try #require(cache.panDemands.total == pan, "frame \(frame), \(shape)")
            try #require(cache.zoomDemands.total == zoom, "frame \(frame), \(shape)")
        }
        #expect(pan + zoom > 0)
    }

    /// The needed tiles and each row's first, not only the number of new ones.
    @Test(arguments: 0..<12) func theNeededSetOfAViewIsThatOfBruteForce(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 700))
        let world = dice.world()
        var pool = PoolState(configuration: PoolConfiguration(byteLimit: 64 << 20))
        let layer = pool.addLayer(tileBytes: 65_536)
        var view = ViewModel(
            layers: [ViewLayer(id: LayerID(layer), pyramid: try world.pyramid())],
            selection: TileLevelSelection()
        )
        var shape = dice.walkStart(in: world)
        for frame in 0..<300 {
            dice.walk(&shape, in: world)
            #expect(view.update(shape.viewport, now: Int64(frame) * 16_666_667, pool: &pool))
            let needed = view.layers[0].needs.tiles.map { NaiveTile($0.coordinate) }
            try #require(needed == naiveNeeded(shape, in: world), "frame \(frame), \(shape)")
        }
    }
}

extension NaiveDice {
    mutating func walkStart(in world: NaiveWorld) -> NaiveView {
        NaiveView(
            x: unit() * world.width,
            y: unit() * world.height,
            width: screenSide(world),
            height: screenSide(world),
            scale: 0.5
        )
    }

    /// One random step of a user: mostly pans, some zooms, turns, jumps and pauses.
    mutating func walk(_ view: inout NaiveView, in world: NaiveWorld) {
        switch whole(0...19) {
        case 0: (view.x, view.y) = (unit() * world.width, unit() * world.height)
        case 1...3: view.scale = min(max(view.scale * (0.7 + unit() * 0.7), 0.004), 2)
        case 4: view.scale = [0.125, 0.25, 0.5, 1][whole(0...3)]
        case 5: view.rotation = whole(0...1) == 0 ? 0 : (unit() - 0.5) * 4
        case 6...8: break
        default:
            view.x += (unit() - 0.5) * world.tileSize / view.scale
            view.y = min(max(view.y + (unit() - 0.5) * world.tileSize / view.scale, 0), world.height)
        }
    }
}
