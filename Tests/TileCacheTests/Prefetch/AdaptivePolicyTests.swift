import TestSupport
import Testing

@testable import TileCache

/// The default policy on cases small enough to know the right answer.
@Suite struct AdaptivePolicyTests {
    /// A policy with one view, an empty cache and a clock of 60 frames a second.
    private struct Session {
        var policy = AdaptivePolicy()
        var frame = 0
        var resident: Set<TileKey> = []
        var loading: Set<TileKey> = []
        /// Those of the resident tiles that are compressed.
        var compressed: Set<TileKey> = []
        /// Tiles that have failed for good.
        var lost: Set<TileKey> = []
        var effort = 0.5
        /// Duration of a load, in nanoseconds.
        var latency: Int64 = 40_000_000
        var destination: ViewportDestination?
        /// Tiles that memory holds.
        var capacity = 200
        let pyramid: TilePyramid

        init(worldWidth: Int = 65_536, wrapsX: Bool = false) throws {
            pyramid = try .powerOfTwo(worldWidth: worldWidth, worldHeight: 65_536, wrapsX: wrapsX)
        }

        /// One frame; returns the policy's wishes.
        mutating func show(_ viewport: TileViewport) -> Wishes {
            let level = TileLevelSelection().level(for: viewport.scale, in: pyramid)
            let needed = pyramid.neededTiles(under: viewport, at: level).map { TileKey(layer: 0, $0) }
            let time = Int64(frame) * 16_666_667
            let (present, flying, compressed, lost) = (resident, loading, compressed, lost)
            func state(_ key: TileKey) -> TileResidency {
                let isThere = present.contains(key)
                return TileResidency(
                    residency: !isThere ? .none : compressed.contains(key) ? .compressed : .decoded,
                    isKnown: isThere || flying.contains(key),
                    isLoading: flying.contains(key),
                    isLost: lost.contains(key)
                )
            }
            policy.observe(
                FrameObservation(
                    time: time,
                    viewport: viewport,
                    level: level,
                    needed: needed,
                    pyramid: pyramid
                )
            )
            frame += 1
            var wishes = Wishes()
            policy.appendWishes(
                to: &wishes,
                target: PlanTarget(
                    layer: 0,
                    pyramid: pyramid,
                    viewport: viewport,
                    level: level,
                    needed: needed,
                    destination: destination,
                    selection: TileLevelSelection()
                ),
                context: PlanContext(
                    now: time,
                    workers: 4,
                    loadLatency: latency,
                    capacityTiles: capacity,
                    effort: effort,
                    residency: { present.contains($0) ? .decoded : .none },
                    lookUpMany: { $0.map(state) }
                )
            )
            return wishes
        }
    }

    private static func view(_ x: Double, _ y: Double, scale: Double = 1, width: Double = 1000, height: Double = 700)
        -> TileViewport
    {
        TileViewport(center: WorldPoint(x: x, y: y), width: width, height: height, scale: scale)
    }

    private static func level(_ session: Session, scale: Double) -> Int {
        TileLevelSelection().level(for: scale, in: session.pyramid)
    }

    /// The walk along the last plan's candidates looks up little. What it returns has to equal the look-ups.
    @Test(arguments: UInt64(1)...6) func candidatesHaveTheRecordsOfTheirTiles(seed: UInt64) throws {
        var random = TileRandom(seed)
        var session = try Session(worldWidth: seed % 2 == 0 ? 4096 : 65_536, wrapsX: seed % 2 == 0)
        // The smallest tables: records of visited tiles are taken by others.
        session.policy = AdaptivePolicy(memory: 190_000)
        var view = Self.view(2000, 30_000)
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
                let slot = policy.seen.find(candidate.key)
                let isNeeded = slot.map { policy.seen.records[$0].neededAt == policy.change } ?? false
                candidates += 1
                seen += slot == nil ? 0 : 1
                if Int(candidate.slot) != slot ?? -1 || isNeeded {
                    Issue.record("\(candidate) has the record \(slot ?? -1), needed: \(isNeeded)")
                    return
                }
            }
        }
        #expect(candidates > 50_000 && seen > 5_000, "\(candidates) candidates, of which \(seen) were visited")
    }

    @Test func movingRightWishesForWhatIsOnTheRight() throws {
        var session = try Session()
        let level = Self.level(session, scale: 1)
        var wishes = Wishes()
        // At the end the next column on the right is 60 pixels away, and the last one on the left 220.
        for step in 0..<20 { wishes = session.show(Self.view(20_147 + 15 * Double(step), 30_000)) }
        let view = Self.view(20_147 + 15 * 19, 30_000).uprightRectangle
        let neighbours = (wishes.urgent + wishes.entries).map(\.key.coordinate).filter { $0.level == level }
        #expect(neighbours.count >= 4)
        for tile in neighbours.prefix(3) {
            #expect(Double(tile.column) * 256 >= view.maxX, "\(tile) is not on the right")
        }
    }

    /// The next level where it will be: about the point, 200 pixels from the centre.
    @Test(arguments: [1.0, -1.0]) func aZoomInProgressWishesForTheLevelThatItReaches(way: Double) throws {
        let pyramid = try Session().pyramid
        func view(octaves: Double) -> TileViewport {
            let scale = 0.125 * PortableMath.exp2(way * octaves)
            return Self.view(30_000 - 200 / scale, 30_000, scale: scale, width: 500, height: 350)
        }
        func wished(_ effects: PolicyEffects) throws -> [TileCoordinate] {
            var session = try Session()
            session.policy = AdaptivePolicy(effects: effects)
            var wishes = Wishes()
            // To a tenth of an octave before the bound, at three octaves a second.
            for frame in 0...9 { wishes = session.show(view(octaves: 0.05 * Double(frame) - 0.55)) }
            return (wishes.urgent + wishes.entries).map(\.key.coordinate)
        }
        let reached = view(octaves: 0.001)
        let level = TileLevelSelection().level(for: reached.scale, in: pyramid)
        let expected = Set(pyramid.neededTiles(under: reached, at: level))
        let missing = expected.subtracting(try wished(.all))
        #expect(missing.isEmpty, "\(missing) of \(expected.count) are missing")
        #expect(try !expected.isSubset(of: wished(.all.subtracting(.zoom))))
    }

    /// After a zoom out by one octave and a rest: tiles that the view shows of its level at the next change, and of the
    /// finer level at once if it turns back. The view rests at the bound of two levels.
    private static func afterZoomOut(
        frames: Int,
        width: Double = 1000,
        height: Double = 700,
        capacity: Int = 200
    ) throws -> (Session, TileViewport) {
        var session = try Session()
        session.capacity = capacity
        var view = view(30_000, 30_000, width: width, height: height)
        for _ in 0..<20 { _ = session.show(view) }
        for frame in 1...frames {
            view.scale = PortableMath.exp2(-Double(frame) / Double(frames))
            _ = session.show(view)
        }
        for _ in 0..<20 { _ = session.show(view) }
        return (session, view)
    }

    /// The tiles of a level that a zoom about the centre shows at a scale, but for those that the view needs.
    private static func shown(at scale: Double, of level: Int, _ session: Session, _ view: TileViewport)
        -> Set<TileKey>
    {
        func tiles(_ scale: Double) -> Set<TileKey> {
            var view = view
            view.scale = scale
            return Set(session.pyramid.neededTiles(under: view, at: level).map { TileKey(layer: 0, $0) })
        }
        let isOwn = level == self.level(session, scale: view.scale)
        return isOwn ? tiles(scale).subtracting(tiles(view.scale)) : tiles(scale)
    }

    @Test func afterAGradualZoomOutTheNextOneIsPreparedWhole() throws {
        for (frames, isGradual) in [(30, true), (1, false)] {
            let (session, view) = try Self.afterZoomOut(frames: frames)
            let level = Self.level(session, scale: view.scale)
            let gains = Dictionary(
                session.policy.candidates.list.map { ($0.key, $0.worth.gain) },
                uniquingKeysWith: { first, _ in first }
            )
            func gain(_ key: TileKey) -> Double { gains[key] ?? -1 }
            let ring = Self.shown(at: view.scale / 2, of: level, session, view)
            #expect(ring.count > 25)
            #expect(ring.allSatisfy { gain($0) > 0 } == isGradual)
            let parents = Self.shown(at: view.scale / 2, of: level - 1, session, view)
            // The next level's tiles stay longer, so they come first.
            let last = try #require(parents.map(gain).min())
            #expect(last > 0 && (!isGradual || last > ring.map(gain).max() ?? 0))
        }
    }

    /// What it has just left it shows whole in the first frame of the way back: those tiles are worth keeping.
    @Test func afterAGradualZoomOutTheWayBackIsKept() throws {
        for (frames, isGradual) in [(30, true), (1, false)] {
            var (session, view) = try Self.afterZoomOut(frames: frames)
            let level = Self.level(session, scale: view.scale)
            let finer = Self.shown(at: view.scale, of: level + 1, session, view)
            session.resident = finer
            view.center.x += 0.001
            let kept = Set(session.show(view).keepValues.map(\.key))
            #expect(finer.isSubset(of: kept) == isGradual)
        }
    }

    /// Of 200 tiles, two thirds are 133.
    @Test(arguments: [(2496.0, true), (2560, false)]) func whatDoesNotFitIsNotPrepared(width: Double, fits: Bool)
        throws
    {
        let (session, view) = try Self.afterZoomOut(frames: 30, width: width)
        let level = Self.level(session, scale: view.scale)
        let ring = Self.shown(at: view.scale / 2, of: level, session, view)
        let prepared = session.policy.candidates.list.filter {
            $0.key.coordinate.level == level && CandidateBin.kind(Int($0.bin)) == .zoom
        }
        #expect(ring.isSubset(of: prepared.map(\.key)) == fits)
    }

    /// What a zoom out of a large view uncovers would leave no candidates for the next coarser level.
    @Test func aLargeViewHasCandidatesOfTheNextCoarserLevel() throws {
        let counts = try [30, 1].map { frames in
            let (session, view) = try Self.afterZoomOut(frames: frames, width: 5120, height: 2880, capacity: 10_000)
            let level = Self.level(session, scale: view.scale)
            return session.policy.candidates.list.count { $0.key.coordinate.level == level - 1 }
        }
        #expect(counts[0] == counts[1] && counts[1] > 80, "\(counts)")
    }

    @Test func zoomingInWishesForChildrenAboutTheCentre() throws {
        var session = try Session()
        var wishes = Wishes()
        for step in 0..<30 {
            let scale = 0.02 * PortableMath.exp2(Double(step) / 12)
            wishes = session.show(Self.view(30_000, 30_000, scale: scale))
        }
        let level = Self.level(session, scale: 0.02 * PortableMath.exp2(29.0 / 12))
        let children = wishes.entries.map(\.key.coordinate).filter { $0.level == level + 1 }
        #expect(children.count >= 8)
        let span = session.pyramid.levels[level + 1].tileSpanX
        let column = Int(30_000 / span)
        #expect(children.contains { abs($0.column - column) <= 1 && abs($0.row - column) <= 1 })
        #expect(children.allSatisfy { abs($0.column - column) <= 8 && abs($0.row - column) <= 8 })
    }

    @Test func withoutEffortNothingIsWishedFor() throws {
        var session = try Session()
        session.effort = 0
        for step in 0..<5 {
            let wishes = session.show(Self.view(20_000 + 40 * Double(step / 3), 30_000))
            #expect(
                wishes.entries.isEmpty && wishes.first.isEmpty && wishes.hopeless.isEmpty && wishes.keepValues.isEmpty
            )
        }
    }

    @Test func atRestMoreEffortWishesForMore() throws {
        func wishes(_ effort: Double) throws -> Int {
            var session = try Session()
            session.effort = effort
            var wishes = Wishes()
            for _ in 0..<10 { wishes = session.show(Self.view(20_000, 30_000)) }
            return wishes.entries.count
        }
        let (little, usual, all) = (try wishes(0.02), try wishes(0.5), try wishes(1))
        #expect(little < usual)
        #expect(usual <= all)
    }

    /// The candidates of a view at rest are kept, but their worths follow the effort.
    @Test func atRestAnotherEffortCounts() throws {
        let view = Self.view(20_000, 30_000)
        func wishes(before: Double, _ effort: Double) throws -> [PlanEntry] {
            var session = try Session()
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
        var first = try Session()
        var random = SplitMix64(seed: 7)
        for step in 0..<200 {
            let x = 20_000 + 3000 * random.nextUnit()
            let view = Self.view(x, 30_000, scale: step % 40 < 20 ? 1 : 0.4)
            if step == 100 {
                // A copy changes independently and ends in the same state.
                var copy = first
                let a = copy.show(view)
                let b = first.show(view)
                #expect(a.entries == b.entries && a.keepValues == b.keepValues && a.recency == b.recency)
            } else {
                _ = first.show(view)
            }
        }
    }

    @Test func aGapIsCoveredByOneLoadBeforeAnythingElse() throws {
        var session = try Session()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        let wishes = session.show(Self.view(32_768, 32_768))
        #expect(wishes.first.count == 1)
        let cover = try #require(wishes.first.first)
        #expect(cover.reason == .fallback)
        // Around the world's middle, only level 0 covers the view with one tile.
        #expect(cover.key.level == 0)
        session.resident.insert(cover.key)
        #expect(session.show(Self.view(32_768, 32_768)).first.isEmpty)
        #expect(session.show(Self.view(32_768, 32_768)).keepValues.contains { $0.key == cover.key && $0.value == 1 })
    }

    /// A tile that has failed for good never comes: a fallback is loaded for it, however few tiles are missing.
    @Test func whatIsLostIsCovered() throws {
        var session = try Session()
        let view = Self.view(2000, 2000)
        let needed = session.pyramid.neededTiles(under: view, at: 8).map { TileKey(layer: 0, $0) }
        session.resident = Set(needed.dropFirst(2))
        #expect(session.show(view).first.isEmpty)
        session.lost = [needed[0]]
        let cover = try #require(session.pyramid.ancestor(of: needed[0].coordinate, at: 3))
        #expect(session.show(view).first.map(\.key) == [TileKey(layer: 0, cover)])
        session.resident.insert(TileKey(layer: 0, cover))
        #expect(session.show(view).first.isEmpty)
    }

    /// Frames draw decoded tiles only: the fallbacks of missing tiles are decompressed before anything is loaded.
    @Test func compressedFallbacksAreDecompressed() throws {
        var random = SplitMix64(seed: 29)
        var counts: Set<Int> = []
        for _ in 0..<100 {
            var session = try Session()
            let view = Self.view(2000 + 60_000 * random.nextUnit(), 2000 + 60_000 * random.nextUnit())
            for level in 0...8 {
                for tile in session.pyramid.neededTiles(under: view, at: level) where random.nextUnit() < 0.3 {
                    let key = TileKey(layer: 0, tile)
                    session.resident.insert(key)
                    if random.nextUnit() < 0.6 { session.compressed.insert(key) }
                }
            }
            var expected: Set<TileKey> = []
            for tile in session.pyramid.neededTiles(under: view, at: 8) {
                guard !session.resident.contains(TileKey(layer: 0, tile)) else { continue }
                let ancestors = (0..<8).reversed().lazy.compactMap { session.pyramid.ancestor(of: tile, at: $0) }
                let nearest = ancestors.map { TileKey(layer: 0, $0) }.first { session.resident.contains($0) }
                if let nearest, session.compressed.contains(nearest) { expected.insert(nearest) }
            }
            let first = session.show(view).first
            let decoded = first.prefix { $0.wantsDecoded }
            #expect(Set(decoded.map(\.key)) == expected && decoded.count == expected.count)
            let loads = first.dropFirst(decoded.count)
            #expect(loads.allSatisfy { !$0.wantsDecoded && !session.resident.contains($0.key) })
            #expect(decoded.allSatisfy { $0.reason == .fallback && $0.value == .infinity })
            counts.insert(expected.count)
        }
        #expect(counts.count > 3)
    }

    /// Four workers load four tiles in a turn. The view needs 5 x 4 tiles of level 8, and four of level 7 cover it.
    @Test func whatTakesTurnsIsPrecededByACoarserLevel() throws {
        var session = try Session()
        session.latency = 100_000_000
        let view = Self.view(32_768, 32_768)
        let coarse = Set(
            [63, 64].flatMap { column in
                [63, 64].map { TileKey(layer: 0, TileCoordinate(level: 7, column: column, row: $0)) }
            }
        )
        let first = session.show(view).first
        #expect(first.count == 5 && first.first?.key.level == 0 && Set(first.dropFirst().map(\.key)) == coarse)
        // What is resident is not loaded again.
        let one = TileKey(layer: 0, TileCoordinate(level: 7, column: 63, row: 64))
        session.resident = [first[0].key, one]
        #expect(Set(session.show(view).first.map(\.key)) == coarse.subtracting([one]))
        session.resident.formUnion(coarse)
        #expect(session.show(view).first.isEmpty)
        // Both sides of two turns.
        for missing in [8, 9] {
            var session = try Session()
            session.latency = 100_000_000
            let needed = session.pyramid.neededTiles(under: view, at: 8).map { TileKey(layer: 0, $0) }
            session.resident = Set(needed.dropFirst(missing))
            let coarser = session.show(view).first.filter { $0.key.level == 7 }
            #expect(coarser.isEmpty == (missing == 8), "\(missing) of \(needed.count) tiles are missing")
        }
    }

    /// Four workers load at most four coarser tiles at once, and two if a load takes less than 0.1 s.
    @Test func shortLoadsHaveFewerCoarserTiles() throws {
        var random = SplitMix64(seed: 11)
        var levels: Set<Int> = []
        for _ in 0..<50 {
            let view = Self.view(2000 + 60_000 * random.nextUnit(), 2000 + 60_000 * random.nextUnit())
            for (latency, most) in [(Int64(99_999_999), 2), (100_000_000, 4)] {
                var session = try Session()
                session.latency = latency
                let covers = (3..<8).reversed().lazy.map { session.pyramid.neededTiles(under: view, at: $0) }
                let expected = covers.first { $0.count <= most } ?? []
                // The first entry is the fallback of the whole gap, which may be one of them.
                let wishes = session.show(view).first.map(\.key.coordinate)
                #expect(Set(wishes.dropFirst()).isSubset(of: expected) && Set(wishes).isSuperset(of: expected))
                levels.formUnion(expected.map { most * 10 + $0.level })
            }
        }
        // The limit decides which level it is.
        #expect(levels.isSuperset(of: [26, 47]))
    }

    /// The coarser level is that of where the view will be, not of what it leaves.
    @Test func aMovingViewGetsTheCoarserLevelOfItsEnd() throws {
        var session = try Session()
        session.resident = Set(
            session.pyramid.neededTiles(under: Self.view(32_768, 32_768), at: 0).map { TileKey(layer: 0, $0) }
        )
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(Self.view(20_000 + 60 * Double(step), 30_000)) }
        let view = Self.view(20_000 + 60 * 19, 30_000).uprightRectangle
        let coarser = wishes.first.map(\.key.coordinate)
        #expect((1...4).contains(coarser.count))
        let spans = coarser.map { tile -> (left: Double, right: Double) in
            let span = session.pyramid.levels[tile.level].tileSpanX
            return (Double(tile.column) * span, Double(tile.column + 1) * span)
        }
        #expect(spans.contains { $0.right > view.maxX + 100 })
        // Nothing of the part that has left when a load that starts now has landed: 2.4 frames.
        #expect(spans.allSatisfy { $0.right > view.minX + 2 * 60 })
    }

    /// At 1,200 pixels a second the view travels 300 pixels more. A tile 60 pixels away comes into view after a load of
    /// 40 ms and a frame, and one 95 pixels away after two loads and a frame.
    @Test func theLastChanceOfATilePrecedesNeededOnes() throws {
        var session = try Session()
        var gaps: [Double] = []
        for step in 0..<60 {
            let view = Self.view(20_000 + 20 * Double(step), 30_000)
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
        var session = try Session()
        var begun: [(key: TileKey, frame: Int)] = []
        var stayed = 0
        for frame in 0..<60 {
            let view = Self.view(20_000 + 150 * Double(frame), 30_000)
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
        var session = try Session()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.deadlines))
        for step in 0..<60 { #expect(session.show(Self.view(20_000 + 20 * Double(step), 30_000)).urgent.isEmpty) }
        session = try Session()
        for _ in 0..<30 { #expect(session.show(Self.view(20_000, 30_000)).urgent.isEmpty) }
    }

    @Test func whatLeavesBeforeItCouldLandIsNotStarted() throws {
        var session = try Session()
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(Self.view(20_000 + 100 * Double(step), 30_000)) }
        let view = Self.view(20_000 + 100 * 19, 30_000).uprightRectangle
        #expect(!wishes.hopeless.isEmpty)
        for key in wishes.hopeless { #expect(Double(key.coordinate.column + 1) * 256 < view.minX + 512) }
        #expect(session.show(Self.view(20_000 + 100 * 19, 30_000)).hopeless.count <= wishes.hopeless.count + 8)
    }

    @Test func aDestinationIsWishedForFirst() throws {
        var session = try Session()
        let there = Self.view(50_000, 50_000, scale: 0.5)
        session.destination = ViewportDestination(viewport: there, time: MonotonicTime(nanoseconds: 2_000_000_000))
        let wishes = session.show(Self.view(10_000, 10_000))
        let wanted = session.pyramid.neededTiles(under: there, at: Self.level(session, scale: 0.5))
        #expect(wishes.entries.prefix(wanted.count).map(\.key.coordinate) == wanted)
    }

    /// A view that has not moved to its destination in time is at rest where it is.
    @Test func aDestinationIsOverAtItsTime() throws {
        var session = try Session()
        let there = Self.view(50_000, 50_000, scale: 0.5)
        session.destination = ViewportDestination(viewport: there, time: MonotonicTime(nanoseconds: 2_000_000_000))
        let wanted = Set(session.pyramid.neededTiles(under: there, at: Self.level(session, scale: 0.5)))
        for _ in 0..<3 {
            let wishes = session.show(Self.view(10_000, 10_000))
            #expect(wishes.entries.contains { wanted.contains($0.key.coordinate) })
        }
        session.frame = 121
        for _ in 0..<3 {
            let wishes = session.show(Self.view(10_000, 10_000))
            #expect(!wishes.entries.contains { wanted.contains($0.key.coordinate) })
        }
    }

    /// Jumps back and forth between two places. The tiles of the other place are kept, not loaded ahead of need.
    @Test func visitedTilesAreNotWishedFor() throws {
        var session = try Session()
        var wishes = Wishes()
        for step in 0..<400 { wishes = session.show(Self.view(step / 10 % 2 == 0 ? 10_000 : 40_000, 30_000)) }
        let other = Set(session.pyramid.neededTiles(under: Self.view(10_000, 30_000), at: session.pyramid.maximumLevel))
        #expect(!wishes.entries.contains { other.contains($0.key.coordinate) })
        #expect(wishes.recency == .standard)
    }

    @Test func theWorthOfKeepingFallsWithAgeAndRisesWithVisits() {
        let worth = RecencyWorth.standard
        #expect(worth.worth(visits: 1, age: 16) == 0.09)
        #expect(worth.worth(visits: 1, age: 17) == 0.06)
        #expect(worth.worth(visits: 2, age: 16) == Float(0.09 * 1.4))
        #expect(worth.worth(visits: 8, age: 1_000_000) == Float(0.09 * 2.2 / 5.5))
        #expect(worth.worth(visits: 0, age: 0) == worth.worth(visits: 1, age: .max))
    }

    @Test func anOverviewWishesForFinerTilesOnly() throws {
        var session = try Session()
        let scale = 1000.0 / 65_536 * 1.5
        let level = Self.level(session, scale: scale)
        #expect(level > 0)
        let levels = session.show(Self.view(32_768, 32_768, scale: scale)).entries.map(\.key.level)
        #expect(levels.contains(level + 1))
        #expect(!levels.contains { $0 < level })
    }

    /// What a view at rest keeps from plan to plan, against a policy that has just considered another destination and
    /// therefore keeps nothing.
    @Test(arguments: UInt64(1)...4) func atRestAPlanEqualsOneMadeAnew(seed: UInt64) throws {
        var random = TileRandom(seed)
        func happens(onceIn frames: Int) -> Bool { Int.random(in: 0..<frames, using: &random) == 0 }
        func place() -> TileViewport {
            let x = Double.random(in: 0...65_536, using: &random)
            return Self.view(x, 30_000, scale: happens(onceIn: 2) ? 1 : 0.5)
        }
        let elsewhere = ViewportDestination(viewport: Self.view(1, 1), time: MonotonicTime(nanoseconds: 1 << 60))
        var session = try Session(wrapsX: seed % 2 == 0)
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
        var session = try Session()
        for step in 0..<40 {
            let wishes = session.show(
                Self.view(20_000 + 60 * Double(step) / scale, 30_000, scale: scale, width: 3840, height: 2160)
            )
            #expect(session.policy.candidates.list.count <= Candidates.maximumCount)
            #expect(wishes.entries.count <= 2 * AdaptivePolicy.maximumWishes + 16)
            #expect(Set(wishes.entries.map(\.key)).count == wishes.entries.count)
        }
    }

    @Test func memoryIsBoundedOverALongSession() throws {
        var session = try Session()
        var random = SplitMix64(seed: 3)
        for _ in 0..<1000 {
            let scale = PortableMath.exp2(-6 * random.nextUnit())
            _ = session.show(Self.view(65_536 * random.nextUnit(), 65_536 * random.nextUnit(), scale: scale))
            #expect(session.policy.seen.records.count <= session.policy.seen.capacity)
            #expect(session.policy.samples.count <= session.policy.samples.capacity)
        }
        #expect(session.policy.seen.records.count == session.policy.seen.capacity)
    }

    /// Exactly the samples of the present candidates have not been left, also if there are more tiles than candidates.
    @Test(arguments: [false, true], [1000.0, 3840]) func samplesAreLeftByTheirTiles(wraps: Bool, width: Double) throws {
        var session = try Session(wrapsX: wraps)
        var random = SplitMix64(seed: 7)
        var (x, y, scale) = (65_000.0, 30_000.0, 0.26)
        for step in 0..<600 {
            switch random.next() % 8 {
            case 0: scale = PortableMath.exp2(-2 - 3 * random.nextUnit())
            case 1: (x, y) = (65_536 * random.nextUnit(), 65_536 * random.nextUnit())
            case 2, 3: break
            default: (x, y) = (x + 90 / scale * random.nextUnit(), y - 40 / scale * random.nextUnit())
            }
            _ = session.show(Self.view(x, y, scale: scale, width: width, height: width / 2))
            let policy = session.policy
            let open = policy.candidates.list.count { policy.samples.isOpen($0.sample, Int($0.bin)) }
            #expect(policy.samples.presentCount == open, "step \(step)")
        }
    }

    @Test func absurdViewportsLeaveFiniteOdds() throws {
        for wraps in [false, true] {
            var session = try Session(wrapsX: wraps)
            for (x, scale, width) in [
                (0.0, 1.0, 1000.0), (1e18, 1, 1000), (-1e18, 1e-9, 1000), (1e300, 1e-5, 1e6), (0, 1e-12, 1),
                (5, 1e300, 1e-300), (30_000, 1e-300, 1e-300), (30_000, 1e12, 4000), (30_000, 1, 1e9),
                (30_000, 1, 0.001), (30_000, 0.001, 1e7),
            ] {
                let viewport = Self.view(x, 30_000, scale: scale, width: width, height: width)
                guard viewport.isDrawable else { continue }
                for _ in 0..<3 {
                    let wishes = session.show(viewport)
                    #expect(wishes.entries.allSatisfy { !$0.value.isNaN })
                    #expect(wishes.keepValues.allSatisfy { $0.value.isFinite })
                    #expect(wishes.recency.worths.allSatisfy { $0.isFinite })
                }
            }
            let wishes = session.show(Self.view(30_000, 30_000))
            #expect(!wishes.entries.isEmpty)
        }
    }

    @Test func aWrappingWorldLooksOverItsEdge() throws {
        var session = try Session(wrapsX: true)
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(Self.view(65_536 - 700 + 15 * Double(step), 30_000)) }
        let tiles = wishes.entries.map(\.key.coordinate).filter { $0.level == session.pyramid.maximumLevel }
        #expect(tiles.prefix(6).contains { $0.column <= 1 })
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
                candidates.append(
                    .init(key: key, bin: Int32(level), slot: -1, worth: .init(gain: 0, loss: 0), sample: -1)
                )
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
}
