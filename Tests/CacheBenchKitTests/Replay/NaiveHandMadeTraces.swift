import Testing

/// A trace that is small enough to follow by hand.
struct HandMadeTrace: Sendable, CustomTestStringConvertible {
    var name: String
    var rows: String
    var world = "1024x1024"
    var viewport = "256x256"
    var wraps = false
    var tiles = 20
    var workers = 4
    var latency: Int64 = 40_000_000
    /// Results without prefetch counted by hand, if that is feasible.
    var counted: NaiveFigures?

    var testDescription: String { name }

    var text: String {
        """
        # pan-trace: 1
        # viewport: \(viewport)
        # world: \(world)
        # wraps_x: \(wraps)
        # tile_size: 128
        time_s,center_x,center_y,scale
        \(rows)

        """
    }

    static let all = [
        HandMadeTrace(name: "stands still", rows: "0,512,512,1", counted: NaiveFigures(loads: 4)),
        // 2 x 2 tiles at first; a third column as soon as it moves, and the first stays in view.
        HandMadeTrace(
            name: "pans by half a tile",
            rows: "0,512,512,1\n1,576,512,1",
            counted: NaiveFigures(demands: 2, panDemands: 2, loads: 6)
        ),
        // At 1 s, exactly on a frame, the first column only touches the view's edge; then it is demanded again.
        HandMadeTrace(
            name: "pans there and back",
            rows: "0,512,512,1\n1,640,512,1\n2,512,512,1",
            counted: NaiveFigures(demands: 4, hits: 2, panDemands: 4, panHits: 2, loads: 6)
        ),
        HandMadeTrace(
            name: "jumps",
            rows: "0,256,256,1\n1,768,768,1\n2,256,256,1",
            counted: NaiveFigures(demands: 8, hits: 4, panDemands: 8, panHits: 4, loads: 8)
        ),
        HandMadeTrace(
            name: "zooms out and in at once",
            rows: "0,192,192,1\n1,128,128,0.5\n2,192,192,1",
            viewport: "128x128",
            counted: NaiveFigures(demands: 2, hits: 1, zoomDemands: 2, zoomHits: 1, loads: 2)
        ),
        // In view for 33 ms, out of view before its load of 40 ms lands.
        HandMadeTrace(
            name: "a load comes too late",
            rows: "0,64,64,1\n0.1,320,64,1\n0.1333333,64,320,1",
            viewport: "128x128",
            counted: NaiveFigures(demands: 2, panDemands: 2, loads: 3, unseenLoads: 1)
        ),
        // Frame 3 is at 50 ms: a load that ends then is resident, one that ends a nanosecond later is not.
        HandMadeTrace(
            name: "a load ends exactly at a frame",
            rows: "0,64,64,1\n0.0166,192,64,1\n0.05,64,64,1",
            viewport: "128x128",
            latency: 50_000_000,
            counted: NaiveFigures(demands: 2, hits: 1, panDemands: 2, panHits: 1, loads: 2, unseenLoads: 1)
        ),
        HandMadeTrace(
            name: "a load ends just after a frame",
            rows: "0,64,64,1\n0.0166,192,64,1\n0.05,64,64,1",
            viewport: "128x128",
            latency: 50_000_001,
            counted: NaiveFigures(demands: 2, panDemands: 2, loads: 2, unseenLoads: 1)
        ),
        // One worker, 20 ms a load: three tiles take until 60 ms, if it continues between frames. Away at 50 ms, back
        // at 66.7 ms: all three are resident, and so is one planned in between.
        HandMadeTrace(
            name: "a worker goes on between frames",
            rows: "0,192,64,1\n0.05,192,320,1\n0.0666,192,64,1",
            viewport: "384x128",
            workers: 1,
            latency: 20_000_000,
            counted: NaiveFigures(demands: 6, hits: 3, panDemands: 6, panHits: 3, loads: 4, unseenLoads: 1)
        ),
        // Room for two. A load for tiles that left the view at once takes one place, so only one of the two tiles
        // needed from frame 1 on can start. At 40 ms the old load lands and could be evicted, but the plan has ended.
        // The second starts with frame 3, at 50 ms, and is in flight when frame 5, at 83 ms, demands it again.
        HandMadeTrace(
            name: "a plan without room has ended",
            rows: "0,64,64,1\n0.0166,256,64,1\n0.0666,192,64,1\n0.0667,192,64,1\n0.0833,256,64,1",
            viewport: "128x128",
            tiles: 2,
            counted: NaiveFigures(demands: 3, panDemands: 3, loads: 3, unseenLoads: 1)
        ),
        HandMadeTrace(name: "zooms slowly", rows: "0,500,500,1\n1,500,500,0.75\n2,500,500,0.55\n3,500,500,0.42"),
        HandMadeTrace(name: "wraps", rows: "0,900,512,1\n1,1020,512,1\n2,1130,512,1\n3,100,512,1", wraps: true),
        HandMadeTrace(
            name: "sees the world twice",
            rows: "0,300,512,0.5\n1,200,512,0.3\n2,100,512,0.22",
            viewport: "700x300",
            wraps: true
        ),
        HandMadeTrace(
            name: "wraps at a cut column",
            rows: "0,900,500,1\n1,980,500,1\n2,1070,500,1\n3,1150,500,1",
            world: "1000x900",
            wraps: true
        ),
        HandMadeTrace(name: "leaves the world", rows: "0,900,512,1\n1,1020,512,1\n2,1140,512,1\n3,1250,512,1"),
        // Four tiles do not fit: two are loaded, and neither may be evicted for the others.
        HandMadeTrace(name: "has too small a budget", rows: "0,512,512,1\n1,640,512,1\n2,512,512,1", tiles: 2),
        HandMadeTrace(
            name: "evicts",
            rows: "0,256,256,1\n1,380,256,1\n2,500,256,1\n3,380,256,1\n4,256,256,1",
            tiles: 6
        ),
        HandMadeTrace(
            name: "loads end together",
            rows: "0,512,512,1\n0.03,640,640,1\n0.06,512,512,1\n0.2,800,512,1",
            tiles: 7,
            workers: 2,
            latency: 50_000_000
        ),
        HandMadeTrace(name: "loads take no time", rows: "0,256,256,1\n1,500,300,1\n2,256,256,1", tiles: 8, latency: 0),
    ]
}
