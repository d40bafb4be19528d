import Testing

@testable import TileCache

/// The declared destination of a view in the plan.
@Suite struct DestinationPlanTests {
    /// At 0.45 the view keeps level 8, that of 1:1, by its hysteresis. It will at its destination, too. Levels 0 and 1
    /// have none that is coarser by two.
    @Test(
        arguments: [
            (0.45, 0, [5, 7]), (0.45, 0.5, [6, 8]), (0x1p-6, 0, [0, 2]), (0x1p-7, 0, [1]), (0x1p-8, 0, [0]),
        ] as [(Double, Double, Set<Int>)]
    )
    func tilesAreOfTheLevelThatTheViewKeeps(scale: Double, hysteresis: Double, levels: Set<Int>) throws {
        let level = try #require(levels.max())
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        func viewport(_ x: Double) -> TileViewport {
            TileViewport(center: WorldPoint(x: x, y: 30_000), width: 1000, height: 700, scale: scale)
        }
        let selection = TileLevelSelection(hysteresis: hysteresis)
        #expect(selection.level(for: scale, in: pyramid, previous: 8) == level)
        let snapshot = ViewSnapshot(
            viewport: viewport(10_000),
            destination: ViewportDestination(
                viewport: viewport(50_000),
                time: MonotonicTime(nanoseconds: 1_000_000_000)
            ),
            layers: [
                .init(
                    id: LayerID(0),
                    pyramid: pyramid,
                    selection: selection,
                    level: level,
                    needed: [],
                    hasOwnList: false,
                    observations: []
                )
            ]
        )
        var planner = Planner()
        let plan = planner.makePlan(of: [(id: 0, snapshot: snapshot)], context: .empty())
        #expect(Set(plan.entries.map(\.key.level)) == levels)
        // A level that is made of finer tiles takes more loads than the destination itself.
        var context = PlanContext.empty()
        for made in 0..<8 {
            context.synthesizedLevels = [made]
            let plan = planner.makePlan(of: [(id: 0, snapshot: snapshot)], context: context)
            #expect(Set(plan.entries.map(\.key.level)) == levels.filter { $0 == level || $0 >= made })
        }
    }
}
