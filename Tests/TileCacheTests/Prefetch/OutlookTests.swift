import Testing

@testable import TileCache

/// Zooms in progress: which levels they reach, and where.
@Suite struct OutlookTests {
    /// An outlook of a view that zooms about a point, and is so many levels coarser than its scale says.
    private static func outlook(
        octaves: Double,
        scale end: Double,
        selection: TileLevelSelection = TileLevelSelection(),
        shortfall: Int = 0
    ) throws -> Outlook {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        var motion = MotionEstimate()
        var viewport = TileViewport(center: WorldPoint(x: 30_000, y: 30_000), width: 800, height: 600)
        var level: Int?
        // A sixth of a second.
        for frame in 0...10 {
            viewport.scale = end * PortableMath.exp2(octaves * Double(frame - 10) / 60)
            viewport.center.x = 30_000 - 200 / viewport.scale
            let selected = selection.level(for: viewport.scale, in: pyramid, previous: level)
            level = selected
            motion.observe(
                viewport,
                box: viewport.uprightRectangle,
                level: selected - shortfall,
                time: 1 + Double(frame) / 60,
                period: 0
            )
        }
        let target = PlanTarget(
            layer: 0,
            pyramid: pyramid,
            viewport: viewport,
            level: level! - shortfall,
            needed: [],
            destination: nil,
            selection: selection
        )
        let view = viewport.uprightRectangle
        let travel = EdgeTravel(view: view, scale: viewport.scale, motion: motion, now: motion.time)
        return Outlook(
            target: target,
            travel: travel,
            motion: motion,
            seesHeading: true,
            latency: 0.04,
            lead: 0,
            workers: 4
        )
    }

    /// The bound that the view will find, stepping on in little zooms.
    @Test(arguments: [3.0, -3.0], [0, 0.4, 1]) func theBoundIsWhereTheLevelChanges(
        octaves: Double,
        hysteresis: Double
    ) throws {
        for bias in [-0.7, 0, 0.5] {
            let selection = TileLevelSelection(bias: bias, hysteresis: hysteresis)
            let outlook = try Self.outlook(octaves: octaves, scale: 0.11, selection: selection)
            let level = outlook.target.level
            var scale = outlook.scale
            while selection.level(for: scale, in: outlook.target.pyramid, previous: level) == level {
                scale *= PortableMath.exp2(octaves / 3000)
            }
            let bound = outlook.scale(at: octaves > 0 ? level + 1 : level - 1)
            #expect(abs(bound / scale - 1) < 0.002, "bias \(bias): \(bound), found \(scale)")
        }
    }

    /// A speed of three octaves a second has three quarters of one left.
    @Test func aLevelIsReachedAsFarAsTheZoomGoes() throws {
        func reach(_ octaves: Double, from scale: Double, _ step: Int, shortfall: Int = 0) throws
            -> MotionEstimate.ZoomContext?
        {
            let outlook = try Self.outlook(octaves: octaves, scale: scale, shortfall: shortfall)
            return outlook.zoomReach(of: outlook.target.level + step)
        }
        let bound = 0.125
        for (octaves, way) in [(3.0, 1.0), (-3, -1)] {
            func from(_ distance: Double) -> Double { bound * PortableMath.exp2(-way * distance) }
            let step = Int(way)
            #expect(try reach(octaves, from: from(0.37), step) == .imminent)
            #expect(try reach(octaves, from: from(0.38), step) == .expected)
            #expect(try reach(octaves, from: from(0.74), step) == .expected)
            #expect(try reach(octaves, from: from(0.76), step) == .possible)
            #expect(try reach(octaves, from: from(0.4), 2 * step) == .possible)
            #expect(try reach(octaves, from: from(0.6), 2 * step) == nil)
            #expect(try reach(octaves, from: from(0.1), -step) == nil)
            // A view that is coarser for lack of room stays so.
            #expect(try reach(octaves, from: from(0.37), step, shortfall: 2) == .imminent)
            #expect(try reach(octaves, from: from(0.6), 2 * step, shortfall: 2) == nil)
        }
    }

    /// A speed of three octaves a second has three quarters of one left, of which half counts.
    @Test func theNextCoarserLevelComesInTime() throws {
        func time(_ octaves: Double, bound distance: Double, shortfall: Int = 0) throws -> Double {
            let scale = 0.125 * PortableMath.exp2(octaves < 0 ? distance : -distance)
            return try Self.outlook(octaves: octaves, scale: scale, shortfall: shortfall).coarserAfter
        }
        // A third of the travel: a quarter of a second times ln 1.5.
        #expect(try abs(time(-3, bound: 0.25) - 0.25 * 0.405465) < 0.001)
        #expect(try abs(time(-3, bound: 0.37) - 0.17) < 0.005)
        #expect(try time(-3, bound: 0.38) == .infinity)
        #expect(try time(3, bound: 0.25) == .infinity)
        // A view that is coarser for lack of room stays so.
        #expect(try abs(time(-3, bound: 0.25, shortfall: 2) - 0.25 * 0.405465) < 0.001)
    }

    @Test func theCentreMovesAboutTheFixedPoint() throws {
        let outlook = try Self.outlook(octaves: 3, scale: 0.1)
        #expect(abs(outlook.zoom.offset.x - 200) < 0.01)
        // The point is at 30,000 in the world.
        let center = outlook.center(scaledTo: 0.4, about: outlook.zoom.offset)
        #expect(abs(center.x - 29_500) < 0.1 && center.y == 30_000)
        let extreme = outlook.center(scaledTo: .leastNonzeroMagnitude, about: outlook.zoom.offset)
        #expect(extreme == outlook.target.viewport.center)
    }
}
