import TestSupport
import Testing

@testable import TileCache

/// The default policy on cases small enough to know the right answer.
@Suite struct AdaptivePolicyTests {
    @Test func movingRightWishesForWhatIsOnTheRight() throws {
        var session = try PolicySession()
        let level = session.level(scale: 1)
        var wishes = Wishes()
        // At the end the next column on the right is 60 pixels away, and the last one on the left 220.
        for step in 0..<20 { wishes = session.show(.at(20_147 + 15 * Double(step), 30_000)) }
        let view = TileViewport.at(20_147 + 15 * 19, 30_000).uprightRectangle
        let neighbours = (wishes.urgent + wishes.entries).map(\.key.coordinate).filter { $0.level == level }
        #expect(neighbours.count >= 4)
        for tile in neighbours.prefix(3) {
            #expect(Double(tile.column) * 256 >= view.maxX, "\(tile) is not on the right")
        }
    }

    @Test func withoutEffortNothingIsWishedFor() throws {
        var session = try PolicySession()
        session.effort = 0
        for step in 0..<5 {
            let wishes = session.show(.at(20_000 + 40 * Double(step / 3), 30_000))
            #expect(
                wishes.entries.isEmpty && wishes.first.isEmpty && wishes.hopeless.isEmpty && wishes.keepValues.isEmpty
            )
        }
    }

    @Test func atRestMoreEffortWishesForMore() throws {
        func wishes(_ effort: Double) throws -> Int {
            var session = try PolicySession()
            session.effort = effort
            var wishes = Wishes()
            for _ in 0..<10 { wishes = session.show(.at(20_000, 30_000)) }
            return wishes.entries.count
        }
        let (little, usual, all) = (try wishes(0.02), try wishes(0.5), try wishes(1))
        #expect(little < usual)
        #expect(usual <= all)
    }

    /// The candidates of a view at rest are kept, but their worths follow the effort.
    @Test func atRestAnotherEffortCounts() throws {
        let view = TileViewport.at(20_000, 30_000)
        func wishes(before: Double, _ effort: Double) throws -> [PlanEntry] {
            var session = try PolicySession()
            session.effort = before
            for _ in 0..<10 { _ = session.show(view) }
            session.effort = effort
            return session.show(view).entries
        }
        let (little, usual) = (try wishes(before: 0.02, 0.02), try wishes(before: 0.5, 0.5))
        #expect(little.count < usual.count)
        #expect(try wishes(before: 0.5, 0.02) == little)
        #expect(try wishes(before: 0.02, 0.5) == usual)
    }

    @Test func theSameObservationsGiveTheSameWishes() throws {
        var (first, second) = (try PolicySession(), try PolicySession())
        var random = SplitMix64(seed: 7)
        for step in 0..<200 {
            let x = 20_000 + 3000 * random.nextUnit()
            let view = TileViewport.at(x, 30_000, scale: step % 40 < 20 ? 1 : 0.4)
            // A copy changes independently.
            if step == 100 { second = first }
            let (a, b) = (first.show(view), second.show(view))
            #expect(a.entries == b.entries && a.keepValues == b.keepValues && a.recency == b.recency)
        }
    }

    /// At 1,200 pixels a second the view travels 300 pixels more. A tile 60 pixels away comes into view after a load of
    /// 40 ms and a frame, and one 95 pixels away after two loads and a frame.
    @Test func theLastChanceOfATilePrecedesNeededOnes() throws {
        var session = try PolicySession()
        var gaps: [Double] = []
        for step in 0..<60 {
            let view = TileViewport.at(20_000 + 20 * Double(step), 30_000)
            let wishes = session.show(view)
            guard step > 10 else { continue }
            let edge = view.uprightRectangle.maxX
            let next = Int((edge / 256).rounded(.up))
            let gap = Double(next) * 256 - edge
            #expect(wishes.urgent.allSatisfy { $0.key.coordinate.column == next && $0.reason == .prefetch })
            // Its three rows; a pixel of doubt on both sides.
            if gap > 62, gap < 93 { #expect(wishes.urgent.count >= 3, "\(gap) pixels away") }
            if gap < 58 || gap > 97 { #expect(wishes.urgent.isEmpty, "\(gap) pixels away") }
            if !wishes.urgent.isEmpty { gaps.append(gap) }
            let urgent = Set(wishes.urgent.map(\.key))
            #expect(urgent.isDisjoint(with: wishes.entries.map(\.key)), "no tile is planned twice")
        }
        #expect(gaps.contains { $0 < 75 } && gaps.contains { $0 > 80 })
    }

    /// A tile that comes into view before its load ends is not begun. A load in flight stays in the plan.
    @Test func aLoadInFlightOfATileThatComesIntoViewGoesOn() throws {
        var session = try PolicySession()
        var begun: [(key: TileKey, frame: Int)] = []
        var stayed = 0
        for frame in 0..<60 {
            let view = TileViewport.at(20_000 + 150 * Double(frame), 30_000)
            for load in begun where load.frame + 3 <= frame {
                session.loading.remove(load.key)
                session.resident.insert(load.key)
            }
            begun.removeAll { $0.frame + 3 <= frame }
            let wishes = session.show(view)
            let needed = Set(session.pyramid.neededTiles(under: view, at: 8).map { TileKey(layer: 0, $0) })
            let planned = Set((wishes.urgent + wishes.entries).map(\.key)).union(needed)
            for load in begun {
                stayed += needed.contains(load.key) ? 0 : 1
                #expect(planned.contains(load.key), "\(load.key) is cancelled in frame \(frame)")
            }
            for entry in wishes.urgent where session.loading.insert(entry.key).inserted {
                begun.append((entry.key, frame))
            }
        }
        #expect(stayed > 20)
    }

    @Test func atRestAndWithoutTheEffectNothingIsUrgent() throws {
        var session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.deadlines))
        for step in 0..<60 { #expect(session.show(.at(20_000 + 20 * Double(step), 30_000)).urgent.isEmpty) }
        session = try PolicySession()
        for _ in 0..<30 { #expect(session.show(.at(20_000, 30_000)).urgent.isEmpty) }
    }

    @Test func whatLeavesBeforeItCouldLandIsNotStarted() throws {
        var session = try PolicySession()
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(.at(20_000 + 100 * Double(step), 30_000)) }
        let view = TileViewport.at(20_000 + 100 * 19, 30_000).uprightRectangle
        #expect(!wishes.hopeless.isEmpty)
        for key in wishes.hopeless { #expect(Double(key.coordinate.column + 1) * 256 < view.minX + 512) }
        // The planner takes the order as it is.
        let needed = session.pyramid.neededTiles(under: .at(20_000 + 100 * 19, 30_000), at: 8)
        #expect(wishes.needed.count + wishes.hopeless.count == needed.count)
        #expect(Set(wishes.needed).isDisjoint(with: wishes.hopeless))
        #expect(session.show(.at(20_000 + 100 * 19, 30_000)).hopeless.count <= wishes.hopeless.count + 8)
    }

    /// The lead follows the number of tiles that come at once: those that were not needed before.
    @Test(arguments: [0, 0.4]) func theLeadFollowsNewTiles(rotation: Double) throws {
        var session = try PolicySession()
        var views = [TileViewport.at(20_000, 30_000), .at(20_700, 30_000)]
        for index in views.indices { views[index].rotation = rotation }
        let needed = views.map { Set(session.pyramid.neededTiles(under: $0, at: 8)) }
        for view in views { _ = session.show(view) }
        let new = needed[1].subtracting(needed[0]).count
        #expect(new != 4, "as many as before the first tiles")
        let burst = 4 + (Double(new) - 4) * ViewMotion.burstRate
        let lead = 0.04 * (1 + burst / 4) + ViewMotion.frameSeconds
        #expect(abs(session.policy.motion.lead - lead) < 1e-9)
    }

    @Test func aDestinationIsWishedForFirst() throws {
        var session = try PolicySession()
        let there = TileViewport.at(50_000, 50_000, scale: 0.5)
        session.destination = ViewportDestination(viewport: there, time: MonotonicTime(nanoseconds: 2_000_000_000))
        let wishes = session.show(.at(10_000, 10_000))
        let wanted = session.pyramid.neededTiles(under: there, at: session.level(scale: 0.5))
        #expect(wishes.entries.prefix(wanted.count).map(\.key.coordinate) == wanted)
    }

    /// The candidates of a view at rest were kept, though another view had taken the room at its destination.
    @Test func aDestinationWithLessRoomHasCoarserCandidates() throws {
        var session = try PolicySession()
        let there = TileViewport.at(50_000, 50_000, scale: 0.5)
        session.destination = ViewportDestination(viewport: there, time: MonotonicTime(nanoseconds: 2_000_000_000))
        let finest = session.level(scale: 0.5)
        for level in [finest, finest - 1, finest] {
            session.destinationLevel = level
            for _ in 0..<3 {
                _ = session.show(.at(10_000, 10_000))
                let found = session.policy.candidates.list.filter { $0.bin < 0 }.map(\.key.coordinate)
                #expect(found == session.pyramid.neededTiles(under: there, at: level))
            }
        }
    }

    /// A view that has not moved to its destination in time is at rest where it is.
    @Test func aDestinationIsOverAtItsTime() throws {
        var session = try PolicySession()
        let there = TileViewport.at(50_000, 50_000, scale: 0.5)
        session.destination = ViewportDestination(viewport: there, time: MonotonicTime(nanoseconds: 2_000_000_000))
        let wanted = Set(session.pyramid.neededTiles(under: there, at: session.level(scale: 0.5)))
        for _ in 0..<3 {
            let wishes = session.show(.at(10_000, 10_000))
            #expect(wishes.entries.contains { wanted.contains($0.key.coordinate) })
        }
        session.frame = 121
        for _ in 0..<3 {
            let wishes = session.show(.at(10_000, 10_000))
            #expect(!wishes.entries.contains { wanted.contains($0.key.coordinate) })
        }
    }

    /// Jumps back and forth between two places. The pool has no visits of tiles that it has evicted.
    @Test func visitsOfTilesThatComeBackAreTold() throws {
        var session = try PolicySession()
        var visits: [Set<UInt8>] = []
        for step in 0..<12 {
            let view = TileViewport.at(step / 2 % 2 == 0 ? 10_000 : 40_000, 30_000)
            let needed = Set(session.pyramid.neededTiles(under: view, at: session.pyramid.maximumLevel))
            let told = session.show(view).keepValues.filter { needed.contains($0.key.coordinate) }
            #expect(told.isEmpty || Set(told.map(\.key.coordinate)) == needed && told.allSatisfy { $0.value == 1 })
            visits.append(Set(told.map(\.visits)))
        }
        #expect(visits == [[], [], [], [], [2], [], [2], [], [3], [], [3], []])
    }

    @Test func theWorthOfKeepingFallsWithAgeAndRisesWithVisits() {
        let worth = RecencyWorth.standard
        #expect(worth.worth(visits: 1, age: 16) == 0.09)
        #expect(worth.worth(visits: 1, age: 17) == 0.06)
        #expect(worth.worth(visits: 2, age: 16) == Float(0.09 * 1.4))
        #expect(worth.worth(visits: 8, age: 1_000_000) == Float(0.09 * 2.2 / 5.5))
        #expect(worth.worth(visits: 0, age: 0) == worth.worth(visits: 1, age: .max))
    }

    /// What a view at rest keeps from plan to plan, against a policy that has just considered another destination and
    /// therefore keeps nothing.
    @Test(arguments: UInt64(1)...4) func atRestAPlanEqualsOneMadeAnew(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func happens(onceIn frames: Int) -> Bool { Int.random(in: 0..<frames, using: &random) == 0 }
        func place() -> TileViewport {
            let x = Double.random(in: 0...65_536, using: &random)
            return .at(x, 30_000, scale: happens(onceIn: 2) ? 1 : 0.5)
        }
        let elsewhere = ViewportDestination(viewport: .at(1, 1), time: MonotonicTime(nanoseconds: 1 << 60))
        var session = try PolicySession(wrapsX: seed % 2 == 0)
        var view = place()
        var wished: [TileKey] = []
        var (moving, rest, compared, expired) = (0, 0, 0, 0)
        for _ in 0..<500 {
            if moving == 0, rest > 20, happens(onceIn: 30) { moving = 8 }
            if moving > 0 {
                (moving, rest) = (moving - 1, 0)
                view.center.x += 40
                if happens(onceIn: 8) { view = place() }
                _ = session.show(view)
                continue
            }
            rest += 1
            if happens(onceIn: 10) { session.effort = [0.02, 0.1, 0.5, 0.9].randomElement(using: &random) ?? 1 }
            if happens(onceIn: 10) { session.latency = Int64.random(in: 1...200, using: &random) * 1_000_000 }
            if happens(onceIn: 15) {
                let frame = Int64(session.frame + Int.random(in: 1...20, using: &random))
                let time = MonotonicTime(nanoseconds: frame * 16_666_667)
                session.destination = happens(onceIn: 4) ? nil : ViewportDestination(viewport: place(), time: time)
            }
            if happens(onceIn: 4), let key = wished.randomElement(using: &random),
                session.resident.remove(key) == nil
            {
                session.resident.insert(key)
            }
            // Until then the view may count as moving.
            if rest > 12 {
                var other = session
                other.destination = elsewhere
                _ = other.show(view)
                other.destination = session.destination
                other.frame = session.frame
                let (kept, anew) = (session.show(view), other.show(view))
                #expect(kept.entries == anew.entries)
                #expect(kept.keepValues == anew.keepValues)
                wished = kept.entries.map(\.key)
                compared += 1
                let now = Int64(session.frame - 1) * 16_666_667
                if let end = session.destination?.time.nanoseconds, end <= now { expired += 1 }
            } else {
                _ = session.show(view)
            }
        }
        #expect(compared > 100 && expired > 10)
    }

    @Test(arguments: [0.26, 0.4, 0.51, 1, 3]) func plansOf4KAreBounded(scale: Double) throws {
        var session = try PolicySession()
        for step in 0..<40 {
            let wishes = session.show(
                .at(20_000 + 60 * Double(step) / scale, 30_000, scale: scale, width: 3840, height: 2160)
            )
            #expect(session.policy.candidates.list.count <= Candidates.maximumCount)
            #expect(wishes.entries.count <= 2 * Judgement.maximumWishes + 16)
            #expect(Set(wishes.entries.map(\.key)).count == wishes.entries.count)
        }
    }

    @Test func absurdViewportsLeaveFiniteOdds() throws {
        for wraps in [false, true] {
            var session = try PolicySession(wrapsX: wraps)
            for (x, scale, width) in [
                (0.0, 1.0, 1000.0), (1e18, 1, 1000), (-1e18, 1e-9, 1000), (1e300, 1e-5, 1e6), (0, 1e-12, 1),
                (5, 1e300, 1e-300), (30_000, 1e-300, 1e-300), (30_000, 1e12, 4000), (30_000, 1, 1e9),
                (30_000, 1, 0.001), (30_000, 0.001, 1e7),
            ] {
                let viewport = TileViewport.at(x, 30_000, scale: scale, width: width, height: width)
                guard viewport.isDrawable else { continue }
                for _ in 0..<3 {
                    let wishes = session.show(viewport)
                    #expect(wishes.entries.allSatisfy { !$0.value.isNaN })
                    #expect(wishes.keepValues.allSatisfy { $0.value.isFinite })
                    #expect(wishes.recency.worths.allSatisfy { $0.isFinite })
                }
            }
            let wishes = session.show(.at(30_000, 30_000))
            #expect(!wishes.entries.isEmpty)
        }
    }

    @Test func aWrappingWorldLooksOverItsEdge() throws {
        var session = try PolicySession(wrapsX: true)
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(.at(65_536 - 700 + 15 * Double(step), 30_000)) }
        let tiles = wishes.entries.map(\.key.coordinate).filter { $0.level == session.pyramid.maximumLevel }
        #expect(tiles.prefix(6).contains { $0.column <= 1 })
    }
}
