import Testing

@testable import TileCache

/// The declared destination of a view in the plan.
@Suite struct DestinationPlanTests {
    /// At 0.45 the view keeps level 8, that of 1:1, by its hysteresis. It will at its destination, too.
    @Test(arguments: [(0.0, 7), (0.5, 8)]) func tilesAreOfTheLevelThatTheViewKeeps(hysteresis: Double, level: Int)
        throws
    {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        func viewport(_ x: Double) -> TileViewport {
            TileViewport(center: WorldPoint(x: x, y: 30_000), width: 1000, height: 700, scale: 0.45)
        }
        let selection = TileLevelSelection(hysteresis: hysteresis)
        #expect(selection.level(for: 0.45, in: pyramid, previous: 8) == level)
        let snapshot = ViewSnapshot(
            viewport: viewport(10_000),
            destination: ViewportDestination(
                viewport: viewport(50_000),
                time: MonotonicTime(nanoseconds: 1_000_000_000)
            ),
            selection: selection,
            layers: [
                .init(
                    id: LayerID(0),
                    pyramid: pyramid,
                    level: level,
                    needed: [],
                    hasOwnList: false,
                    observations: []
                )
            ]
        )
        var planner = Planner()
        let plan = planner.makePlan(of: [(id: 0, snapshot: snapshot)], context: .empty())
        #expect(!plan.entries.isEmpty)
        #expect(Set(plan.entries.map(\.key.level)) == [level - 2, level])
    }
}
