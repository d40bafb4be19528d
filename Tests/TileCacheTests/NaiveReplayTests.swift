import Foundation
import Testing

/// The naive model itself, on traces short enough to be counted by hand, and its figures for the recorded ones.
@Suite struct NaiveReplayTests {
    /// 4 x 4 tiles at the finest level, 2; a viewport of one tile.
    private static let header = """
        # pan-trace: 1
        # viewport: 256x256
        # world: 1024x1024
        # wraps_x: false
        time_s,center_x,center_y,scale

        """

    /// One tile, then its neighbour by a jump, then back: with room for two the way back is a hit.
    @Test(arguments: [(2, 1, 2), (1, 0, 3)]) func thereAndBack(capacity: Int, hits: Int, loads: Int) {
        let counts = NaiveReplay.run(Self.header + "0,384,384,1\n1,640,384,1\n2,384,384,1\n", capacity: capacity)
        #expect(counts.frames == 151)
        #expect(counts.demands == 2)
        #expect(counts.hits == hits)
        #expect(counts.panDemands == 2)
        #expect(counts.loads == loads)
        #expect(counts.unseenLoads == 0)
    }

    /// Out by one level to the same place: a zoom demand and no hit; in again: a zoom demand and a hit.
    @Test func zoomDemandsAreApart() {
        let counts = NaiveReplay.run(Self.header + "0,384,384,1\n1,256,256,0.5\n2,384,384,1\n", capacity: 9)
        #expect(counts.demands == 2)
        #expect(counts.hits == 1)
        #expect(counts.zoomDemands == 2)
        #expect(counts.zoomHits == 1)
        #expect(counts.panDemands == 0)
        #expect(counts.loads == 2)
    }

    /// Off the world's edge and back at the same scale is a pan, though the frame before needed nothing.
    @Test func backFromBeyondTheEdgeIsAPan() {
        let counts = NaiveReplay.run(Self.header + "0,384,384,1\n1,384,9000,1\n2,384,384,1\n", capacity: 9)
        #expect(counts.demands == 1)
        #expect(counts.panHits == 1)
    }

    /// A tile that is passed in 33 ms is gone before its load of 40 ms lands, and is never drawn.
    @Test func aLoadThatComesTooLateIsUnseen() {
        let counts = NaiveReplay.run(
            Self.header + "0,128,128,1\n0.1,640,128,1\n0.1333333,128,640,1\n",
            capacity: 9
        )
        #expect(counts.demands == 2)
        #expect(counts.hits == 0)
        #expect(counts.loads == 3)
        #expect(counts.unseenLoads == 1)
    }

    /// Eight tiles and four workers: four land at 40 ms, and their workers go on between frames and land four at 80 ms.
    ///
    /// A jump off the world at 10 ms empties the plan at the frame of 16.7 ms; one at 50 ms comes after the second four
    /// have started. Back at 0.1 s the tiles that were loaded are hits.
    @Test(arguments: [(0.01, 4), (0.05, 8)]) func workersGoOnBetweenFrames(away: Double, hits: Int) {
        let text = """
            # pan-trace: 1
            # viewport: 1024x512
            # world: 1024x1024
            time_s,center_x,center_y,scale
            0,512,512,1
            \(away),512,5000,1
            0.1,512,512,1
            """
        let counts = NaiveReplay.run(text, capacity: 90)
        #expect(counts.demands == 8)
        #expect(counts.hits == hits)
        #expect(counts.loads == 8)
        #expect(counts.unseenLoads == 0)
    }

    /// The seam of a wrapping world is inside: the last column and the first, in this order.
    @Test func wrapsAtTheSeam() {
        let needed = naiveNeededTiles(
            centerX: 1024,
            centerY: 128,
            width: 256,
            height: 256,
            scale: 1,
            world: NaiveWorld(width: 1024, height: 1024, wraps: true, tileSize: 256)
        )
        #expect(
            needed.needed == [NaiveTile(level: 2, column: 3, row: 0), NaiveTile(level: 2, column: 0, row: 0)]
        )
        #expect(needed.doubtful.isEmpty == false)
    }

    /// A square turned by an eighth of a turn reaches 181 px to each side of its middle and misses the corners.
    @Test func aTurnedViewportNeedsItsOutline() {
        let world = NaiveWorld(width: 1024, height: 1024, wraps: false, tileSize: 256)
        let upright = naiveNeededTiles(centerX: 384, centerY: 384, width: 300, height: 300, scale: 1, world: world)
        #expect(upright.needed.count == 9)
        let turned = naiveNeededTiles(
            centerX: 384,
            centerY: 384,
            width: 300,
            height: 300,
            scale: 1,
            rotation: .pi / 4,
            world: world
        )
        // 212 px to each side reach the four neighbours; the corners are 256 px away as the outline measures it.
        #expect(
            Set(turned.needed.map { "\($0.column),\($0.row)" }) == ["1,0", "0,1", "1,1", "2,1", "1,2"]
        )
        #expect(turned.needed.allSatisfy { $0.level == 2 })
    }

    /// A cut last column is a tile of its own where the world begins again.
    @Test func aCutColumnEndsWithTheWorld() {
        let world = NaiveWorld(width: 600, height: 300, wraps: true, tileSize: 256)
        #expect(world.maximumLevel == 2)
        let needed = naiveNeededTiles(centerX: 605, centerY: 100, width: 20, height: 20, scale: 1, world: world)
        #expect(needed.needed.map(\.column) == [2, 0])
        let inside = naiveNeededTiles(centerX: 620, centerY: 100, width: 20, height: 20, scale: 1, world: world)
        #expect(inside.needed.map(\.column) == [0])
    }

    @Test(arguments: [
        (1, 9), (2, 9), (0.5, 8), (0.5000001, 8), (0.50001, 9), (0.49, 8), (0x1p-20, 0), (0x1p-9, 0), (0.0039, 1),
    ])
    func idealLevels(scale: Double, level: Int) {
        let world = NaiveWorld(width: 131_072, height: 131_072, wraps: true, tileSize: 256)
        #expect(world.idealLevel(scale: scale) == level)
    }

    private static let recorded: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../shared/traces/immens_map"
        )
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return (files ?? []).filter { $0.pathExtension == "csv" }.sorted { $0.path < $1.path }
    }()

    @Test(.enabled(if: !recorded.isEmpty, "the recorded traces are not here")) func recordedMapSessions() throws {
        var total = NaiveReplay.Counts()
        for file in Self.recorded {
            let text = try String(contentsOf: file, encoding: .utf8)
            let counts = NaiveReplay.run(text, capacity: 90, duration: 180)
            print(file.lastPathComponent, counts)
            #expect(counts.frames <= 10_801)
            #expect(counts.demands == counts.panDemands + counts.zoomDemands)
            #expect(counts.hits == counts.panHits + counts.zoomHits)
            total.demands += counts.demands
            total.hits += counts.hits
        }
        print("all", total.demands, total.hits, Double(total.hits) / Double(total.demands))
    }
}
