import TestSupport
import Testing

@testable import TileCache

/// Tables of the default policy: candidates, visited tiles and samples.
@Suite struct PolicyTableTests {
    /// The walk along the last plan's candidates looks up little. What it returns has to equal the look-ups.
    @Test(arguments: UInt64(1)...6) func candidatesHaveTheRecordsOfTheirTiles(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var session = try PolicySession(worldWidth: seed % 2 == 0 ? 4096 : 65_536, wrapsX: seed % 2 == 0)
        // The smallest tables: records of visited tiles are taken by others.
        session.policy = AdaptivePolicy(memory: 190_000)
        var view = TileViewport.at(2000, 30_000)
        var speed = WorldPoint(x: 0, y: 0)
        var (candidates, seen) = (0, 0)
        for _ in 0..<1000 {
            func happens(onceIn frames: Int) -> Bool { Int.random(in: 0..<frames, using: &random) == 0 }
            if happens(onceIn: 40) {
                speed.x = Double.random(in: -50...50, using: &random)
                speed.y = Double.random(in: -50...50, using: &random)
            }
            if happens(onceIn: 60) { view.scale = Double([1, 2, 4].randomElement(using: &random) ?? 1) / 2 }
            if happens(onceIn: 100) { view.rotation = Bool.random(using: &random) ? 0.3 : 0 }
            view.center.x += speed.x / view.scale
            view.center.y = min(max(view.center.y + speed.y / view.scale, 10_000), 50_000)
            _ = session.show(view)
            let policy = session.policy
            for candidate in policy.candidates.list {
                let slot = policy.bins.visits.slot(of: candidate.key)
                let isNeeded = policy.bins.visits.isNeeded(slot)
                candidates += 1
                seen += slot < 0 ? 0 : 1
                if Int(candidate.slot) != slot || isNeeded {
                    Issue.record("\(candidate) has the record \(slot), needed: \(isNeeded)")
                    return
                }
            }
        }
        #expect(candidates > 50_000 && seen > 5_000, "\(candidates) candidates, of which \(seen) were visited")
    }

    /// A plan that takes candidates over and looks up the tiles that have changed equals one from scratch. In the small
    /// world, views show all of it from time to time: its level has no candidates then.
    @Test(arguments: UInt64(1)...8, [65_536, 2048]) func changesAreEnough(seed: UInt64, side: Int) throws {
        var random = SplitMix64(seed: seed)
        let (middle, wraps) = (Double(side) / 2, seed % 4 == 0)
        var all = try PolicySession(worldWidth: side, worldHeight: side, wrapsX: wraps)
        var some = all
        some.tellsChanges = true
        var view = TileViewport.at(middle, middle)
        var speed = WorldPoint(x: 0, y: 0)
        var keys: [TileKey] = []
        var wished = 0
        for step in 0..<600 {
            func happens(onceIn frames: Int) -> Bool { Int.random(in: 0..<frames, using: &random) == 0 }
            if happens(onceIn: 40) {
                speed.x = Double.random(in: -30...30, using: &random)
                speed.y = Double.random(in: -30...30, using: &random)
            }
            if happens(onceIn: 50) {
                view.scale = Double([1, 2, 4].randomElement(using: &random) ?? 1) / (side > 2048 ? 2 : 8)
            }
            // More than the pool keeps, from time to time.
            for _ in 0..<(happens(onceIn: 30) ? 100 : Int.random(in: 0...3, using: &random)) {
                guard let key = keys.randomElement(using: &random) else { break }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: all.loading.formSymmetricDifference([key])
                case 1: all.lost.formSymmetricDifference([key])
                default: all.resident.formSymmetricDifference([key])
                }
            }
            (some.loading, some.lost, some.resident) = (all.loading, all.lost, all.resident)
            if happens(onceIn: 60) {
                let place = TileViewport.at(view.center.x + 4000, view.center.y)
                let time = MonotonicTime(nanoseconds: Int64(step + 60) * 16_666_667)
                all.destination = happens(onceIn: 2) ? ViewportDestination(viewport: place, time: time) : nil
                some.destination = all.destination
            }
            // Back into the small world.
            if side == 2048, abs(view.center.x - middle) > middle { speed.x = (middle - view.center.x) / 50 }
            view.center.x += speed.x / view.scale
            view.center.y = min(max(view.center.y + speed.y / view.scale, 0.3 * middle), 1.6 * middle)
            all.policy.forgetGrids()
            let (wishes, others) = (all.show(view), some.show(view))
            #expect(wishes.entries == others.entries && wishes.urgent == others.urgent, "step \(step)")
            #expect(wishes.keepValues == others.keepValues && wishes.first == others.first, "step \(step)")
            keys = all.policy.candidates.list.map(\.key)
            wished += wishes.entries.count
        }
        #expect(wished > (side > 2048 ? 1000 : 100), "\(wished) wishes")
    }

    @Test func tooManyChangesAreNotKept() {
        func key(_ column: Int) -> TileKey { TileKey(layer: 0, TileCoordinate(level: 9, column: column, row: 0)) }
        var changes = StateChanges()
        var version = -1
        #expect(changes.take(since: &version) == nil && version == 0)
        for column in 0..<40 { changes.note(key(column)) }
        #expect(changes.take(since: &version) == (0..<40).map(key) && version == 40)
        for column in 40..<104 { changes.note(key(column)) }
        var same = version
        #expect(changes.take(since: &same) == (40..<104).map(key))
        changes.note(key(104))
        #expect(changes.take(since: &version) == nil && version == 105)
        #expect(changes.take(since: &version) == [])
    }

    @Test func distancesAreOfTheClassOfTheirBound() {
        for (number, bound) in CandidateBin.distanceBounds.enumerated() {
            #expect(CandidateBin.distance(bound) == number)
            #expect(CandidateBin.distance(bound.nextUp) == number + 1)
        }
        #expect(CandidateBin.distance(-1) == 0)
        #expect(CandidateBin.distance(.nan) == CandidateBin.distances - 1)
    }

    @Test func aWalkFindsTheCandidatesOfALevelAgain() {
        func key(_ level: Int, _ column: Int, _ row: Int) -> TileKey {
            TileKey(layer: 0, TileCoordinate(level: level, column: column, row: row))
        }
        var candidates = Candidates()
        candidates.begin(change: 1, valuation: 1, mayRepeat: false)
        for level in [3, 2] {
            let first = candidates.count
            for (column, row) in [(4, 1), (5, 1), (7, 1), (4, 2), (5, 2)] {
                let key = key(level, column, row)
                let isNew = candidates.claim(key, as: candidates.count)
                #expect(isNew)
                var candidate = Candidates.Candidate(key: key)
                candidate.bin = Int32(level)
                candidates.append(candidate)
            }
            candidates.noteWalk(ofLevel: level, from: first)
        }
        var walk = candidates.walk(ofLevel: 2)
        // A column further left, a hole, a column further right, and a row below.
        for (column, row, isKnown) in [
            (3, 1, false), (4, 1, true), (6, 1, false), (7, 1, true), (8, 1, false), (5, 2, true), (6, 2, false),
            (5, 3, false),
        ] {
            let found = walk.find(key(2, column, row))
            #expect((found != nil) == isKnown && found?.bin ?? 2 == 2)
        }
        var none = candidates.walk(ofLevel: 4)
        let missing = none.find(key(4, 4, 1))
        #expect(missing == nil)
    }

    @Test func aTileIndexKeepsWhatADictionaryKeeps() {
        var index = TileIndex()
        var truth: [TileKey: Int] = [:]
        var random = SplitMix64(seed: 1)
        for step in 0..<20_000 {
            let key = TileKey(
                layer: 0,
                TileCoordinate(level: 3, column: Int(random.nextUnit() * 40), row: Int(random.nextUnit() * 40))
            )
            if random.nextUnit() < 0.4 {
                index.remove(key)
                truth[key] = nil
            } else {
                index.set(key, step)
                truth[key] = step
            }
            #expect(index.find(key) == truth[key])
            #expect(index.count == truth.count)
        }
        for (key, number) in truth { #expect(index.find(key) == number) }
    }

    /// Exactly the samples of the present candidates have not been left, also if there are more tiles than candidates.
    @Test(arguments: [false, true], [1000.0, 3840]) func samplesAreLeftByTheirTiles(wraps: Bool, width: Double) throws {
        var session = try PolicySession(wrapsX: wraps)
        var random = SplitMix64(seed: 7)
        var (x, y, scale) = (65_000.0, 30_000.0, 0.26)
        for step in 0..<600 {
            switch random.next() % 8 {
            case 0: scale = PortableMath.exp2(-2 - 3 * random.nextUnit())
            case 1: (x, y) = (65_536 * random.nextUnit(), 65_536 * random.nextUnit())
            case 2, 3: break
            default: (x, y) = (x + 90 / scale * random.nextUnit(), y - 40 / scale * random.nextUnit())
            }
            _ = session.show(.at(x, y, scale: scale, width: width, height: width / 2))
            let policy = session.policy
            let samples = policy.bins.samples
            let open = policy.candidates.list.count { samples.isOpen($0.sample, Int($0.bin)) }
            #expect(samples.presentCount == open, "step \(step)")
        }
    }

    @Test func memoryIsBoundedOverALongSession() throws {
        var session = try PolicySession()
        var random = SplitMix64(seed: 3)
        for _ in 0..<1000 {
            let scale = PortableMath.exp2(-6 * random.nextUnit())
            _ = session.show(.at(65_536 * random.nextUnit(), 65_536 * random.nextUnit(), scale: scale))
            let bins = session.policy.bins
            #expect(bins.visits.seen.records.count <= bins.visits.seen.capacity)
            #expect(bins.samples.count <= bins.samples.capacity)
        }
        let seen = session.policy.bins.visits.seen
        #expect(seen.records.count == seen.capacity)
    }
    /// Whenever it was first seen, and however often it was visited.
    @Test func theVisitedTileNeededLongestAgoIsForgotten() {
        var seen = SeenTiles(capacity: 4)
        for (demand, column) in [0, 1, 2, 3, 0, 2, 4, 5].enumerated() {
            let slot = seen.record(key(column))
            seen.note(slot, change: demand, isDemand: true, demands: demand)
        }
        #expect((0..<6).filter { seen.find(key($0)) != nil } == [0, 2, 4, 5])
    }

    /// A tile that is needed again after a few demands was in view all the time.
    @Test func visitsHaveSomeDemandsInBetween() {
        var seen = SeenTiles(capacity: 4)
        let slot = seen.record(key(0))
        let visits = [(100, true), (112, true), (125, true), (200, false), (212, true), (225, true)].map {
            seen.note(slot, change: 1, isDemand: $1, demands: $0)
            return seen.records[slot].visits
        }
        #expect(visits == [1, 1, 2, 2, 2, 3])
    }
}
