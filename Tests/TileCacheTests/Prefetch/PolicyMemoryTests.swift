import Testing

@testable import TileCache

/// Policies that forget for lack of room.
@Suite struct PolicyMemoryTests {
    private struct Learned: PrefetchPolicy {
        var byteCount = 100
        mutating func reset() { byteCount = 10 }
        mutating func observe(_ frame: FrameObservation) {}
        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {}
    }

    /// First those of views that have not moved, and no more than necessary. The first of three views has moved.
    @Test(arguments: [
        (400, [100, 100, 100, 100]), (399, [100, 10, 100, 100]), (310, [100, 10, 100, 100]), (309, [100, 10, 10, 100]),
        (219, [100, 10, 10, 10]), (129, [10, 10, 10, 10]), (0, [10, 10, 10, 10]),
    ]) func viewsAtRestForgetFirst(limit: Int, held: [Int]) throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096)
        let viewport = TileViewport.at(2000, 2000)
        let frame = FrameObservation(time: 0, viewport: viewport, level: 4, needed: [], pyramid: pyramid)
        func view(_ id: Int, layers: Int, hasMoved: Bool) -> (id: Int, snapshot: ViewSnapshot) {
            let layers = (0..<layers).map { layer in
                ViewSnapshot.Layer(
                    id: LayerID(layer),
                    pyramid: pyramid,
                    level: 4,
                    needed: [],
                    hasOwnList: false,
                    observations: hasMoved ? [frame] : []
                )
            }
            return (id, ViewSnapshot(viewport: viewport, selection: TileLevelSelection(), layers: layers))
        }
        let views = [
            view(0, layers: 1, hasMoved: true), view(1, layers: 2, hasMoved: false),
            view(2, layers: 1, hasMoved: false),
        ]
        var planner = Planner(policies: [
            0: [LayerID(0): Learned()], 1: [LayerID(0): Learned(), LayerID(1): Learned()], 2: [LayerID(0): Learned()],
        ])
        let rest = planner.trimPolicies(toBytes: limit, of: views)
        let left = [(0, 0), (1, 0), (1, 1), (2, 0)].map { planner.policies[$0]?[LayerID($1)]?.byteCount ?? 0 }
        #expect(left == held && rest == held.reduce(0, +))
    }
}
