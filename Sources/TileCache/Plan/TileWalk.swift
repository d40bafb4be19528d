/// Tiles of one layer, each once, one after the other.
protocol TileWalk {
    var count: Int { get }
    func forEachKey(_ body: (TileKey) -> Void)
}

extension [TileKey]: TileWalk {
    @inline(__always)
    func forEachKey(_ body: (TileKey) -> Void) { for key in self { body(key) } }
}

/// The tiles of a layer under a viewport, without a list: a level that has no room may have tens of thousands, and the
/// limit does not count their memory.
struct CoveredTiles: TileWalk {
    let cover: ViewportCover
    let layer: Int
    let count: Int

    init(_ cover: ViewportCover, layer: Int) {
        (self.cover, self.layer, count) = (cover, layer, cover.tileCount)
    }

    @inline(__always)
    func forEachKey(_ body: (TileKey) -> Void) {
        cover.forEachTile { column, row in
            body(TileKey(layer: layer, TileCoordinate(level: cover.levelIndex, column: column, row: row)))
        }
    }
}
