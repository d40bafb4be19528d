/// A client's request of one tile.
package struct LoggedTile: Hashable, Sendable {
    /// Nanoseconds on any clock.
    package var time: Int64
    package var zoom: UInt8
    package var x: UInt32
    package var y: UInt32

    package init(time: Int64, zoom: Int, x: Int, y: Int) {
        self.time = time
        self.zoom = UInt8(clamping: zoom)
        self.x = UInt32(clamping: x)
        self.y = UInt32(clamping: y)
    }

    /// The tile alone, at time 0.
    var tile: LoggedTile {
        var tile = self
        tile.time = 0
        return tile
    }
}

/// Columns and rows of tiles that hold some requests.
struct TileBox: Hashable {
    private(set) var columns: ClosedRange<Double>
    private(set) var rows: ClosedRange<Double>

    init(_ request: LoggedTile) {
        columns = Double(request.x)...Double(request.x)
        rows = Double(request.y)...Double(request.y)
    }

    /// Number of columns and of rows.
    var width: Double { columns.upperBound - columns.lowerBound + 1 }
    var height: Double { rows.upperBound - rows.lowerBound + 1 }

    /// The tiles of the box and those around it, at time 0. Called for boxes full of requests.
    func tilesAndNeighbours(_ any: LoggedTile) -> [LoggedTile] {
        let xs = Int(columns.lowerBound) - 1...Int(columns.upperBound) + 1
        let ys = Int(rows.lowerBound) - 1...Int(rows.upperBound) + 1
        return xs.flatMap { x in ys.map { LoggedTile(time: 0, zoom: Int(any.zoom), x: x, y: $0) } }
    }

    func with(_ request: LoggedTile) -> TileBox { with(column: Double(request.x), row: Double(request.y)) }

    /// The box with a tile of a world that wraps after some columns, in the copy nearest to the middle of the box.
    func with(_ request: LoggedTile, wrappingAfter count: Double) -> TileBox {
        let middle = (columns.lowerBound + columns.upperBound) / 2
        let x = Double(request.x)
        return with(column: x + ((middle - x) / count).rounded() * count, row: Double(request.y))
    }

    /// The box in the copy of the world nearest to a centre, in tiles.
    func nearest(to center: Double, wrappingAfter count: Double) -> TileBox {
        let middle = (columns.lowerBound + columns.upperBound + 1) / 2
        let shift = ((center - middle) / count).rounded() * count
        var box = self
        box.columns = (columns.lowerBound + shift)...(columns.upperBound + shift)
        return box
    }

    private func with(column: Double, row: Double) -> TileBox {
        var box = self
        box.columns = min(columns.lowerBound, column)...max(columns.upperBound, column)
        box.rows = min(rows.lowerBound, row)...max(rows.upperBound, row)
        return box
    }
}
