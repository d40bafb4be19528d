import PanTraces
import Testing
import TileCache

@testable import TraceImport

@Suite struct RequestPositionsTests {
    private static let ms: Int64 = 1_000_000

    /// All tiles of some columns and rows.
    private func requests(
        at milliseconds: Int64,
        zoom: Int,
        _ columns: ClosedRange<Int>,
        _ rows: ClosedRange<Int>
    ) -> [LoggedTile] {
        columns.flatMap { x in
            rows.map { LoggedTile(time: milliseconds * Self.ms, zoom: zoom, x: x, y: $0) }
        }
    }

    /// A first view of 5 x 4 tiles is one of 4 x 3 in their middle; a column at its right moves it until the column
    /// shows one pixel.
    @Test func aColumnMovesTheViewByTheLeast() {
        let requests = requests(at: 1, zoom: 6, 10...14, 20...23) + requests(at: 601, zoom: 6, 15...15, 20...23)
        let (samples, viewport, _) = RequestPositions.trace(of: requests, tileSize: 256)
        #expect(viewport == .init(width: 1024, height: 768))
        #expect(samples.map(\.time) == [0, 600 * Self.ms])
        #expect(samples[0].center == WorldPoint(x: 3200, y: 5632))
        // The right edge, two tiles from the centre, is at column 15 and a pixel.
        #expect(samples[1].center == WorldPoint(x: 3329, y: 5632))
        #expect(samples.allSatisfy { $0.scale == 1 })
    }

    /// A zoom of 2: a world pixel of the finest level is half a pixel of the coarser one.
    @Test func aZoomKeepsTheCentreIfItCan() {
        let requests = requests(at: 1, zoom: 5, 8...12, 8...12) + requests(at: 2001, zoom: 6, 18...22, 18...22)
        let samples = RequestPositions.trace(of: requests, tileSize: 256).samples
        #expect(samples.map(\.scale) == [0.5, 0.5, 0.5, 1])
        // 10.5 tiles of zoom 5 are 21 of zoom 6, where a view of 4 tiles would begin at column 19. It goes back by a
        // pixel, to show column 18: all that is at the coarser zoom is in the cache, and the view moves there.
        #expect(samples.map { $0.center.x } == [5376, 5376, 5375, 5375])
        // After a rest of more than a second the view moves, then zooms, each within 400 ms.
        #expect(samples.map(\.time) == [0, 1200 * Self.ms, 1600 * Self.ms, 2000 * Self.ms])
    }

    /// Both sides of each boundary of a burst.
    @Test func burstsEndAtPausesZoomsAndTheSizeOfTheView() {
        func count(_ requests: [LoggedTile]) -> Int {
            RequestPositions.bursts(of: requests, view: (4, 3)).count
        }
        let first = requests(at: 0, zoom: 6, 10...10, 20...20)
        #expect(count(first + requests(at: 250, zoom: 6, 11...11, 20...20)) == 1)
        #expect(count(first + requests(at: 251, zoom: 6, 11...11, 20...20)) == 2)
        #expect(count(first + requests(at: 0, zoom: 7, 20...20, 40...40)) == 2)
        // At a new zoom six columns may come, later five.
        #expect(count(requests(at: 0, zoom: 6, 10...15, 20...20)) == 1)
        #expect(count(requests(at: 0, zoom: 6, 10...16, 20...20)) == 2)
        #expect(count(first + requests(at: 999, zoom: 6, 20...24, 20...20)) == 2)
        #expect(count(first + requests(at: 999, zoom: 6, 20...25, 20...20)) == 3)
    }

    /// A view across the edge of zoom 4 goes on there: columns 14, 15, 0, 1 and 2, then 3.
    @Test func aWorldWrapsIfBothItsEdgesCameTogether() {
        let first = requests(at: 1, zoom: 3, 1...5, 1...4)
        let edges = requests(at: 5001, zoom: 4, 14...15, 4...7) + requests(at: 5001, zoom: 4, 0...2, 4...7)
        let requests = first + edges + requests(at: 5601, zoom: 4, 3...3, 4...7)
        let (samples, viewport, wraps) = RequestPositions.trace(of: requests, tileSize: 256)
        #expect(wraps && viewport.width == 1024)
        // From column 7 on, columns -2 to 2 are nearer than 14 to 18. The view shows them all, up to 3, and column -2 by
        // a pixel; column 3 takes it two pixels farther.
        #expect(samples.suffix(2).map { $0.center.x } == [255, 257])
        // All columns, or a jump over two gaps, do not wrap.
        #expect(!RequestPositions.wraps(self.requests(at: 0, zoom: 2, 0...3, 0...3)))
        let jump = self.requests(at: 0, zoom: 4, 0...0, 0...0) + self.requests(at: 0, zoom: 4, 7...7, 0...0)
        #expect(!RequestPositions.wraps(jump + self.requests(at: 0, zoom: 4, 15...15, 0...0)))
        let apart = self.requests(at: 0, zoom: 4, 0...0, 0...0) + self.requests(at: 251, zoom: 4, 15...15, 0...0)
        #expect(!RequestPositions.wraps(apart))
    }

    /// Three zooms in one second of a log are a third of a second apart.
    @Test func burstsOfOneSecondShareIt() {
        var requests: [LoggedTile] = []
        for zoom in 4...6 { requests += self.requests(at: 7000, zoom: zoom, 0...4, 0...3) }
        let samples = RequestPositions.trace(of: requests, tileSize: 256).samples
        #expect(samples.map(\.time) == [0, 333_333_333, 666_666_666])
        let later = requests + self.requests(at: 8000, zoom: 7, 0...4, 0...3)
        #expect(RequestPositions.trace(of: later, tileSize: 256).samples.last?.time == 1_000_000_000)
    }

    /// A strip of what a browser did not have, and a jump that fills no box, say nothing about the view.
    @Test func theSizeIsThatOfMostViews() {
        var full: [LoggedTile] = []
        for time in 1...6 { full += requests(at: Int64(time) * 5000, zoom: 5 + time, 8...12, 8...11) }
        let strip = requests(at: 40_000, zoom: 6, 13...13, 8...11) + requests(at: 40_999, zoom: 7, 9...9, 12...12)
        let holes = requests(at: 50_000, zoom: 12, 0...0, 0...0) + requests(at: 50_000, zoom: 12, 90...90, 90...90)
        let view = RequestPositions.view(of: full + strip + holes, step: Self.ms)
        #expect(view.width == 4 && view.height == 3)
        let one = RequestPositions.view(of: requests(at: 0, zoom: 3, 1...1, 1...1), step: Self.ms)
        #expect(one.width == 5 && one.height == 2.8125)
    }

    /// Requests of a synthetic session come back as positions that show the tiles of each request.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func positionsShowWhatWasRequested(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func draw(_ range: ClosedRange<Double>) -> Double {
            random.next(from: range.lowerBound, to: range.upperBound)
        }
        var (x, y, zoom) = (30.0, 30.0, 6)
        var requests: [LoggedTile] = []
        var seen: Set<LoggedTile> = []
        for step in 0..<200 {
            if step % 25 == 24 {
                let factor = zoom == 6 ? 2.0 : 0.5
                (x, y, zoom) = (x * factor, y * factor, zoom == 6 ? 7 : 6)
            }
            (x, y) = (x + draw(-0.9...0.9), y + draw(-0.9...0.9))
            for column in Int(x - 2)...Int(x + 2) {
                for row in Int(y - 1.5)...Int(y + 1.5) {
                    let tile = LoggedTile(time: 0, zoom: zoom, x: column, y: row)
                    guard seen.insert(tile).inserted else { continue }
                    requests.append(
                        LoggedTile(time: Int64(step) * 700 * Self.ms, zoom: zoom, x: column, y: row)
                    )
                }
            }
        }
        let (samples, viewport, _) = RequestPositions.trace(of: requests, tileSize: 256)
        #expect((896...1152).contains(viewport.width) && (640...896).contains(viewport.height), "seed \(seed)")
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time }, "seed \(seed)")
        // At the time of a request, or of the last position before it, the view shows the tile.
        var hidden = 0
        for request in requests {
            let time = request.time - requests[0].time
            let sample = try #require(samples.last { $0.time <= time })
            // The finest zoom is 7.
            let isLevel = sample.scale == (request.zoom == 7 ? 1 : 0.5)
            let side = 256 / sample.scale
            let right = (sample.center.x / side - Double(request.x) - 0.5).magnitude
            let down = (sample.center.y / side - Double(request.y) - 0.5).magnitude
            let isShown = isLevel && right < viewport.width / 512 + 0.5 && down < viewport.height / 512 + 0.5
            if !isShown { hidden += 1 }
        }
        #expect(hidden == 0, "seed \(seed): \(hidden) of \(requests.count)")
    }
}
