import Foundation
import TestSupport

@testable import TileCache

/// Random worlds and views of them.
extension NaiveDice {
    /// Up to 64 tiles a side at the finest level, sometimes many more one way. Half of them wrap; most are no multiple
    /// of the tile size.
    mutating func world() -> NaiveWorld {
        let tileSize = [1, 3, 8, 16, 50, 64][whole(0...5)]
        func side(_ dice: inout NaiveDice) -> Int {
            let tiles = pow(2, dice.unit() * 6)
            let side = max(Int(tiles * Double(tileSize)), 1)
            return dice.whole(0...3) == 0 ? (side + tileSize - 1) / tileSize * tileSize : side
        }
        var world = NaiveWorld(
            width: Double(side(&self)),
            height: Double(side(&self)),
            wraps: whole(0...1) == 1,
            tileSize: Double(tileSize)
        )
        if whole(0...9) == 0 { world.width = (world.width * 40).rounded() }
        return world
    }

    /// From 2^-20 to 2^4, mostly scales at which worlds of this size have several levels.
    mutating func scale() -> Double { pow(2, whole(0...2) == 0 ? -20 + unit() * 24 : -7 + unit() * 8) }

    /// Screen pixels, from one to some tiles.
    mutating func screenSide(_ world: NaiveWorld) -> Double { Double(whole(1...max(Int(world.tileSize * 6), 2))) }

    /// From a screen left of the world to some copies right of it.
    mutating func view(of world: NaiveWorld, isTurned: Bool) -> NaiveView {
        var view = NaiveView(
            x: (unit() * 4 - 1.5) * world.width,
            y: (unit() * 1.4 - 0.2) * world.height,
            width: screenSide(world),
            height: screenSide(world),
            scale: scale()
        )
        if isTurned {
            // Also right angles and tiny deviations from them, with edges along those of tiles.
            let quarter = Double(whole(-4...4)) * .pi / 2
            let nearby = (unit() - 0.5) * [20, 0, 1e-9, 0.01][whole(0...3)]
            view.rotation = quarter + nearby
            // Brute force examines each copy of the world, so their number is bounded.
            if world.wraps { view.scale = max(view.scale, (view.width + view.height) / world.width / 200) }
        }
        return view
    }
}

extension NaiveWorld {
    func pyramid() throws -> TilePyramid {
        try .powerOfTwo(
            worldWidth: Int(width),
            worldHeight: Int(height),
            tileSize: Int(tileSize),
            wrapsX: wraps
        )
    }
}

extension NaiveView {
    var viewport: TileViewport {
        TileViewport(center: WorldPoint(x: x, y: y), width: width, height: height, scale: scale, rotation: rotation)
    }

    /// Approximate number of tiles under the view if the world repeats.
    func tileCount(atSpan span: Double) -> Double {
        (width / scale / span + 2) * (height / scale / span + 2)
    }
}

extension NaiveTile {
    init(_ tile: TileCoordinate) { self.init(level: tile.level, column: tile.column, row: tile.row) }
}

extension TilePyramid {
    /// Level that a view without bias and hysteresis draws.
    func level(_ scale: Double) -> Int { TileLevelSelection().level(for: scale, in: self) }
}
