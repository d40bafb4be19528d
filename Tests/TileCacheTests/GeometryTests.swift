import Testing

@testable import TileCache

@Suite struct GeometryTests {
    @Test func coordinatesSortInReadingOrder() {
        #expect(TileCoordinate(level: 1, column: 5, row: 0) < TileCoordinate(level: 1, column: 0, row: 1))
    }
}
