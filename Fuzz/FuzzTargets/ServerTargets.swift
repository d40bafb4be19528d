@testable import TileCache
@testable import TileSources

/// The `info.json` of an image.
func fuzzIIIF(_ input: UnsafeRawBufferPointer) {
    guard let image = try? IIIFImage(Array(input), address: "http://h/a/info.json"),
        let served = try? image.served(as: "a", home: "http://h/a/info.json", wrapsX: false)
    else { return }
    expectAddresses(served)
}

/// Capabilities, after a byte that chooses among fragments.
func fuzzWMTS(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let fragments = ["", "#layer=roads", "#matrixSet=grid", "#style=a%20b&format=image/png"]
    guard let choice = try? WMTSChoice("http://h/c" + fragments[Int(bytes.byte()) % fragments.count]),
        let layer = try? WMTSLayer(Array(bytes.all), choice),
        let served = try? layer.served(as: "a", home: "http://h/c", wrapsX: false)
    else { return }
    expectAddresses(served)
}

/// Tiles at the corners of each level have addresses of http, or none, and fit in the level's tiles.
private func expectAddresses(_ served: ServedPyramid) {
    for (index, level) in served.pyramid.levels.enumerated() {
        for column in [0, level.columns - 1] {
            for row in [0, level.rows - 1] {
                let tile = TileCoordinate(level: index, column: column, row: row)
                let address = served.tiles.address(of: tile)
                expect(address.map { $0.lowercased().hasPrefix("http") } ?? true, "the address \(address ?? "")")
                let place = served.tiles.placement(of: tile)
                expect(
                    place.width > 0 && place.height > 0 && place.width <= level.tileWidth
                        && place.height <= level.tileHeight,
                    "\(place) in \(level)"
                )
            }
        }
    }
}
