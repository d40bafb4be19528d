import Testing

@testable import TileCache

/// Urgent prefetches in the plan of two views.
@Suite struct UrgentPlanTests {
    /// Two views pan to the right over an empty cache, and then a plan is made.
    private func plan(_ allowance: PrefetchAllowance) throws -> Plan {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        var planner = Planner(policies: [0: [LayerID(0): AdaptivePolicy()], 1: [LayerID(0): AdaptivePolicy()]])
        func snapshot(_ viewport: TileViewport, time: Int64) -> ViewSnapshot {
            let needed = pyramid.neededTiles(under: viewport, at: 8).map { TileKey(layer: 0, $0) }
            let frame = FrameObservation(time: time, viewport: viewport, level: 8, needed: needed, pyramid: pyramid)
            return ViewSnapshot(
                viewport: viewport,
                layers: [
                    .init(
                        id: LayerID(0),
                        pyramid: pyramid,
                        level: 8,
                        needed: needed,
                        hasOwnList: false,
                        observations: [frame]
                    )
                ]
            )
        }
        var plan = Plan()
        for frame in 0..<20 {
            let time = Int64(frame) * 16_666_667
            // In the last frame the next column is 76 pixels away.
            let x = 20_036 + 20 * Double(frame)
            let views = [10_000.0, 50_000].enumerated().map { id, y in
                let center = WorldPoint(x: x, y: y)
                let viewport = TileViewport(center: center, width: 1000, height: 700, scale: 1)
                return (id: id, snapshot: snapshot(viewport, time: time))
            }
            var context = PlanContext.empty(now: time)
            context.isNear = { _ in false }
            context.allowances = [allowance]
            plan = planner.makePlan(of: views, context: context)
        }
        return plan
    }

    @Test func theyPrecedeTheNeededTilesOfTheirOwnViewOnly() throws {
        let plan = try plan(.standard)
        // Rows 37 to 40 are the first view's, 193 to 196 the second one's.
        func view(_ entry: PlanEntry) -> Int { entry.key.coordinate.row < 100 ? 0 : 1 }
        let entries = plan.entries.filter { $0.isUrgent || $0.reason == .demand }
        for number in 0..<2 {
            let own = entries.filter { view($0) == number }
            let urgent = own.prefix { $0.isUrgent }.count
            #expect((3...4).contains(urgent), "one for each worker at most")
            #expect(own.dropFirst(urgent).allSatisfy { $0.reason == .demand } && own.count > urgent)
        }
        #expect(entries.map(view) == entries.map(view).sorted())
    }

    /// Tiles of the next coarser level come into view all at once, here one and a half loads after the first that would
    /// land in time. Four workers load five of them in two turns; one of the view's own level has one turn.
    @Test(arguments: [(4, 0), (5, 4), (8, 4)]) func coarserTilesBeginAsManyTurnsEarlier(count: Int, urgent: Int) {
        var missing: [MissingCandidate] = []
        func add(_ key: TileKey, entersAfter: Double) {
            var candidate = Candidates.Candidate(key: key)
            candidate.entersAfter = Float(entersAfter)
            missing.append(MissingCandidate(candidate, missing.count, viewLevel: 3, value: 0.5, latency: 0.1))
        }
        let later = ViewMotion.frameSeconds + 2.5 * 0.1
        for column in 0..<count { add(key(column, level: 2), entersAfter: later) }
        add(key(0), entersAfter: later)
        // Those that do not come into view take no turn.
        for column in 10..<20 { add(key(column, level: 2), entersAfter: .infinity) }
        let taken = MissingCandidate.takeUrgent(of: &missing, workers: 4)
        #expect(taken.count == urgent && taken.allSatisfy { !$0.isOfView })
        #expect(missing.count == count + 11 - urgent)
    }

    @Test func allowancesExcludeThem() throws {
        for allowance in [PrefetchAllowance.never, .resident] {
            let entries = try plan(allowance).entries
            #expect(entries.contains { $0.reason == .demand } && !entries.contains { $0.isUrgent })
        }
    }
}
