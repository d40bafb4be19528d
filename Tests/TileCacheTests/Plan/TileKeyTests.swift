import Testing

@testable import TileCache

/// Keys of tiles that a caller names.
@Suite struct TileKeyTests {
    private static let largest = TileCoordinate(level: 255, column: 1 << 40 - 1, row: .max)

    /// The numbers that fit a key come back out of it.
    @Test(arguments: [TileCoordinate(level: 0, column: 0, row: 0), largest], [0, 65_535])
    func numbersThatFitArePacked(tile: TileCoordinate, layer: Int) throws {
        let key = try #require(TileKey(exactly: layer, tile))
        #expect(key.layer == layer && key.coordinate == tile)
    }

    /// Packed, each of them would be the key of another tile, or of no coordinate of a pyramid.
    @Test(arguments: [
        TileCoordinate(level: 256, column: 0, row: 0), TileCoordinate(level: -1, column: 0, row: 0),
        TileCoordinate(level: 0, column: 1 << 40, row: 0), TileCoordinate(level: 0, column: -1, row: 0),
        TileCoordinate(level: 0, column: 0, row: -1),
    ])
    func noTileHasNumbersThatDoNotFit(tile: TileCoordinate) { #expect(TileKey(exactly: 0, tile) == nil) }

    @Test(arguments: [-1, 65_536])
    func noLayerHasANumberThatDoesNotFit(layer: Int) { #expect(TileKey(exactly: layer, Self.largest) == nil) }
}
