import PanTraces
import Testing
import TileCache

@testable import TraceImport

/// Ways on which the browser's cache had all tiles. A world of zoom 8 at the finest, tiles of 256, a view of 4 x 3 tiles.
@Suite struct CachedWayTests {
    private func ways(_ boxes: (zoom: Int, ClosedRange<Int>, ClosedRange<Int>)...) -> CachedWay {
        let tiles = boxes.flatMap { zoom, columns, rows in
            columns.flatMap { x in rows.map { LoggedTile(time: 7, zoom: zoom, x: x, y: $0) } }
        }
        var ways = CachedWay(view: (4, 3), tileSize: 256, finest: 8, requests: tiles.count)
        ways.see(tiles[...])
        return ways
    }

    /// A position in tiles of its zoom.
    private func at(_ zoom: UInt8, _ x: Double, _ y: Double) -> CachedWay.Position {
        let side = 256 * PortableMath.exp2(Double(8 - Int(zoom)))
        return .init(center: WorldPoint(x: x * side, y: y * side), zoom: zoom)
    }

    @Test func levelsThatWereSeenAreNotSkipped() {
        var seen = ways((6, 8...13, 8...12), (7, 18...22, 18...21))
        let way = seen.positions(from: at(8, 40, 40), to: at(6, 10, 10))
        #expect(way == [at(7, 20, 20), at(6, 10, 10)])
        // Half a view to the right at zoom 6: along after the zooms.
        #expect(seen.positions(from: at(8, 40, 40), to: at(6, 12, 10)).count == 4)
        var unseen = ways((6, 8...13, 8...12))
        #expect(unseen.positions(from: at(8, 40, 40), to: at(6, 10, 10)) == [at(6, 10, 10)])
    }

    /// Of the last position nothing need be in the cache: its requests are in the log.
    @Test func aWayAlongIsOfMovesBelowHalfAView() {
        var seen = ways((8, 0...30, 8...12))
        let way = seen.positions(from: at(8, 10, 10), to: at(8, 16, 10))
        #expect(way == [11.5, 13, 14.5, 16].map { at(8, $0, 10) })
        var narrow = ways((8, 0...15, 8...12))
        #expect(narrow.positions(from: at(8, 10, 10), to: at(8, 16, 10)) == way)
        // The position before the last shows column 15 for certain: 14.5 and one and a half tiles.
        var short = ways((8, 0...14, 8...12))
        #expect(short.positions(from: at(8, 10, 10), to: at(8, 16, 10)) == [at(8, 16, 10)])
    }

    /// The levels above were seen at both ends: out by two, along, and in by two.
    @Test func aLongWayGoesOutAndIn() {
        var seen = ways((7, 3...7, 3...7), (7, 93...97, 3...7), (6, 0...63, 0...7))
        let way = seen.positions(from: at(8, 10, 10), to: at(8, 190, 10))
        // 45 tiles of zoom 6 are 22.5 half views: too far. At zoom 5 nothing was seen.
        #expect(way == [at(8, 190, 10)])
        var near = ways((7, 3...7, 3...7), (7, 23...27, 3...7), (6, 0...63, 0...7))
        let path = near.positions(from: at(8, 10, 10), to: at(8, 50, 10))
        // 10 tiles of zoom 6 are five half views.
        #expect(path.map(\.zoom) == [7, 6, 6, 6, 6, 6, 6, 6, 7, 8])
        #expect(path.first == at(7, 5, 5) && path.last == at(8, 50, 10))
    }

    @Test func columnsWrap() {
        var seen = ways((8, 0...6, 8...12), (8, 250...255, 8...12))
        #expect(seen.positions(from: at(8, 254, 10), to: at(8, 258, 10)).count == 3)
    }

    /// A trace of requests: a zoom in by two levels, and a return that only a new column tells.
    @Test func aReturnShowsWhatWasSeen() {
        func requests(_ second: Int64, _ zoom: Int, _ columns: ClosedRange<Int>, _ rows: ClosedRange<Int>)
            -> [LoggedTile]
        {
            columns.flatMap { x in
                rows.map { LoggedTile(time: second * 1_000_000_000, zoom: zoom, x: x, y: $0) }
            }
        }
        let log =
            requests(1, 6, 8...12, 8...11) + requests(2, 7, 18...22, 18...21) + requests(3, 8, 40...44, 38...41)
            + requests(9, 6, 13...13, 8...11)
        let samples = RequestPositions.trace(of: log, tileSize: 256).samples
        // Zooms within a second each, after a move of a pixel that shows the fifth column; then a rest, and a way out by single levels within 400 ms for each step.
        #expect(samples.map(\.scale) == [0.25, 0.25, 0.5, 0.5, 1, 1, 0.5, 0.25, 0.25])
        #expect(samples.map(\.time) == [0, 600, 1000, 1600, 2000, 6800, 7200, 7600, 8000].map { $0 * 1_000_000 })
    }

    /// Searches end: their time is in proportion to the requests.
    @Test func lookUpsAreBounded() {
        var seen = ways((8, 0...30, 8...12))
        for _ in 0..<20_000 { _ = seen.positions(from: at(8, 10, 10), to: at(8, 16, 10)) }
        #expect(seen.positions(from: at(8, 10, 10), to: at(8, 16, 10)) == [at(8, 16, 10)])
    }
}
