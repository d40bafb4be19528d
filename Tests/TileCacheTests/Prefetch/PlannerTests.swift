import Testing

@testable import TileCache

/// Policies of several views and layers in one planner.
@Suite struct PlannerTests {
    private let pyramid: TilePyramid

    init() throws { pyramid = try .powerOfTwo(worldWidth: 4096, worldHeight: 4096) }

    /// Wishes for tiles in a row, and has learned 100 bytes.
    private struct Fixed: PrefetchPolicy {
        var values: [Float] = []
        var byteCount = 100
        mutating func reset() { byteCount = 10 }
        mutating func observe(_ frame: FrameObservation) {}
        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            for (column, value) in values.enumerated() {
                let tile = TileCoordinate(level: 4, column: column, row: 0)
                wishes.wish(for: tile, layer: target.layer, value: value)
            }
        }
    }

    private func view(_ id: Int, layers: Range<Int>, hasMoved: Bool = false) -> (id: Int, snapshot: ViewSnapshot) {
        let viewport = TileViewport.at(2000, 2000)
        let frame = FrameObservation(time: 0, viewport: viewport, level: 4, needed: [], pyramid: pyramid)
        let layers = layers.map { layer in
            ViewSnapshot.Layer(
                id: LayerID(layer),
                pyramid: pyramid,
                level: 4,
                needed: [],
                hasOwnList: false,
                observations: hasMoved ? [frame] : []
            )
        }
        return (id, ViewSnapshot(viewport: viewport, layers: layers))
    }

    /// Wishes of several views or layers are in one order, equal ones in that of the views. One policy's keep their own.
    @Test(arguments: [false, true]) func wishesOfAllPoliciesAreOrderedByWorth(areOfOneView: Bool) {
        let (first, second) = (Fixed(values: [5, 3, 1]), Fixed(values: [4, 3, 2]))
        var planner = Planner(
            policies: areOfOneView
                ? [0: [LayerID(0): first, LayerID(1): second]] : [0: [LayerID(0): first], 1: [LayerID(1): second]]
        )
        let views = areOfOneView ? [view(0, layers: 0..<2)] : [view(0, layers: 0..<1), view(1, layers: 1..<2)]
        let plan = planner.makePlan(of: views, context: .empty())
        #expect(plan.entries.map(\.value) == [5, 4, 3, 3, 2, 1])
        #expect(plan.entries.map(\.key.layer) == [0, 1, 0, 1, 1, 0])
        var single = Planner(policies: [0: [LayerID(0): Fixed(values: [1, 5, 3])]])
        #expect(single.makePlan(of: [view(0, layers: 0..<1)], context: .empty()).entries.map(\.value) == [1, 5, 3])
    }

    /// Leaves out the needed tiles of some columns. May order the others from the last to the first.
    private struct Leaving: PrefetchPolicy {
        var columns: Set<Int>
        var orders = false
        mutating func observe(_ frame: FrameObservation) {}
        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            func isLeft(_ key: TileKey) -> Bool { columns.contains(key.coordinate.column) }
            wishes.hopeless = target.needed.filter(isLeft)
            if orders { wishes.needed = target.needed.filter { !isLeft($0) }.reversed() }
        }
    }

    /// Hopeless tiles are not planned, whether or not the policy orders the others.
    @Test(arguments: [[], [0], [1, 3], [4], [0, 1, 2, 3, 4]], [false, true])
    func hopelessTilesAreLeftOut(columns: Set<Int>, orders: Bool) {
        var planner = Planner(policies: [0: [LayerID(0): Leaving(columns: columns, orders: orders)]])
        var view = view(0, layers: 0..<1)
        view.snapshot.layers[0].needed = (0..<5).map {
            TileKey(layer: 0, TileCoordinate(level: 4, column: $0, row: 2))
        }
        let plan = planner.makePlan(of: [view], context: .empty())
        let kept = (0..<5).filter { !columns.contains($0) }
        #expect(plan.entries.map(\.key.coordinate.column) == (orders ? kept.reversed() : kept))
        #expect(plan.entries.allSatisfy { $0.reason == .demand && $0.wantsDecoded })
        #expect(plan.leavesNeedsOut == !columns.isEmpty)
    }

    /// Wishes for a fallback and a tile.
    private struct Both: PrefetchPolicy {
        mutating func observe(_ frame: FrameObservation) {}
        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            let root = TileKey(layer: target.layer, TileCoordinate(level: 0, column: 0, row: 0))
            wishes.first.append(PlanEntry(key: root, value: .infinity, reason: .fallback))
            wishes.wish(for: TileCoordinate(level: 4, column: 0, row: 0), layer: target.layer, value: 1)
        }
    }

    /// Each way to want a tile has its rank, and the ranks stand in order, whatever is wanted. What extra tiles are worth
    /// does not rise either.
    @Test func aPlanIsInTheOrderOfRanks() {
        for wanted in 0..<16 {
            var planner = Planner(policies: [0: [LayerID(0): Both()]])
            var view = view(0, layers: 0..<1)
            view.snapshot.layers[0].needed = [TileKey(layer: 0, TileCoordinate(level: 4, column: 7, row: 7))]
            view.snapshot.layers[0].gaps = [TileCoordinate(level: 4, column: 8, row: 7)]
            view.snapshot.margin = 1
            view.snapshot.destination = ViewportDestination(
                viewport: .at(100, 100),
                time: MonotonicTime(nanoseconds: 9)
            )
            let ranks: [Rank] = [.pin, .fetch, .margin, .asked]
            let single = ranks.indices.filter { wanted >> $0 & 1 == 1 }.map {
                WantedTile(key: TileKey(layer: 0, TileCoordinate(level: 4, column: $0, row: 15)), rank: ranks[$0])
            }
            let plan = planner.makePlan(of: [view], wanted: single, context: .empty())
            let found = plan.entries.map(\.reason)
            #expect(found == found.sorted())
            let always: [Rank] = [.fallback, .demand, .ancestor, .margin, .destination, .prefetch]
            #expect(Set(found) == Set(always + single.map(\.rank)))
            for tile in single { #expect(plan.entries.contains { $0.key == tile.key && $0.reason == tile.rank }) }
            let values = plan.entries.map(\.value)
            #expect(values == values.sorted(by: >))
        }
    }

    /// Wishes for one tile, as much as there are policies.
    private struct Counting: PrefetchPolicy {
        mutating func observe(_ frame: FrameObservation) {}
        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            let tile = TileCoordinate(level: 4, column: 0, row: 0)
            wishes.wish(for: tile, layer: target.layer, value: Float(context.policies))
        }
    }

    /// Memory is shared by the policies that are asked, not by lists of the renderer's own.
    @Test func ownListsHaveNoPart() {
        var own = view(1, layers: 0..<3)
        own.snapshot.viewport = nil
        for layer in own.snapshot.layers.indices { own.snapshot.layers[layer].hasOwnList = true }
        let views = [view(0, layers: 0..<2), own, view(2, layers: 2..<3)]
        let all = (0..<3).map { (LayerID($0), Counting() as any PrefetchPolicy) }
        let policies = Dictionary(uniqueKeysWithValues: all)
        var planner = Planner(policies: [0: policies, 1: policies, 2: policies])
        #expect(planner.makePlan(of: views, context: .empty()).entries.map(\.value) == [3, 3, 3])
    }

    /// First those of views that have not moved, and no more than necessary. The first of three views has moved.
    @Test(arguments: [
        (400, [100, 100, 100, 100]), (399, [100, 10, 100, 100]), (310, [100, 10, 100, 100]), (309, [100, 10, 10, 100]),
        (219, [100, 10, 10, 10]), (129, [10, 10, 10, 10]), (0, [10, 10, 10, 10]),
    ]) func viewsAtRestForgetFirst(limit: Int, held: [Int]) {
        let views = [view(0, layers: 0..<1, hasMoved: true), view(1, layers: 0..<2), view(2, layers: 0..<1)]
        var planner = Planner(policies: [
            0: [LayerID(0): Fixed()], 1: [LayerID(0): Fixed(), LayerID(1): Fixed()], 2: [LayerID(0): Fixed()],
        ])
        let rest = planner.trimPolicies(toBytes: limit, of: views)
        let left = [(0, 0), (1, 0), (1, 1), (2, 0)].map { planner.policies[$0]?[LayerID($1)]?.byteCount ?? 0 }
        #expect(left == held && rest == held.reduce(0, +))
    }
}
