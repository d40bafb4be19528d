import Testing

@testable import TileCache

/// Zooms in the default policy: what a zoom in progress reaches, and what the next one shows.
@Suite struct ZoomPolicyTests {
    /// The next level where it will be: about the point, 200 pixels from the centre.
    @Test(arguments: [1.0, -1.0]) func aZoomInProgressWishesForTheLevelThatItReaches(way: Double) throws {
        let pyramid = try PolicySession().pyramid
        func view(octaves: Double) -> TileViewport {
            let scale = 0.125 * PortableMath.exp2(way * octaves)
            return .at(30_000 - 200 / scale, 30_000, scale: scale, width: 500, height: 350)
        }
        func wished(_ effects: PolicyEffects) throws -> [TileCoordinate] {
            var session = try PolicySession()
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
        y: Double = 30_000,
        width: Double = 1000,
        height: Double = 700,
        capacity: Int = 200
    ) throws -> (PolicySession, TileViewport) {
        var session = try PolicySession()
        session.capacity = capacity
        var view = TileViewport.at(30_000, y, width: width, height: height)
        for _ in 0..<20 { _ = session.show(view) }
        for frame in 1...frames {
            view.scale = PortableMath.exp2(-Double(frame) / Double(frames))
            _ = session.show(view)
        }
        for _ in 0..<20 { _ = session.show(view) }
        return (session, view)
    }

    /// The tiles of a level that a zoom about the centre shows at a scale, but for those that the view needs.
    private static func shown(at scale: Double, of level: Int, _ session: PolicySession, _ view: TileViewport)
        -> Set<TileKey>
    {
        func tiles(_ scale: Double) -> Set<TileKey> {
            var view = view
            view.scale = scale
            return Set(session.pyramid.neededTiles(under: view, at: level).map { TileKey(layer: 0, $0) })
        }
        let isOwn = level == session.level(scale: view.scale)
        return isOwn ? tiles(scale).subtracting(tiles(view.scale)) : tiles(scale)
    }

    @Test func afterAGradualZoomOutTheNextOneIsPreparedWhole() throws {
        for (frames, isGradual) in [(30, true), (1, false)] {
            let (session, view) = try Self.afterZoomOut(frames: frames)
            let level = session.level(scale: view.scale)
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
            let level = session.level(scale: view.scale)
            let finer = Self.shown(at: view.scale, of: level + 1, session, view)
            session.resident = finer
            view.center.x += 0.001
            let kept = Set(session.show(view).keepValues.map(\.key))
            #expect(finer.isSubset(of: kept) == isGradual)
        }
    }

    /// Whether what the next zoom out shows of the view's level is prepared.
    private static func isRingPrepared(_ session: PolicySession, _ view: TileViewport) -> Bool {
        let level = session.level(scale: view.scale)
        let prepared = session.policy.candidates.list.filter {
            $0.key.coordinate.level == level && CandidateBin.kind(Int($0.bin)) == .zoom
        }
        return shown(at: view.scale / 2, of: level, session, view).isSubset(of: prepared.map(\.key))
    }

    /// Of 200 tiles, two thirds are 133. Half of a view at the world's edge takes none.
    @Test(arguments: [(2496.0, 30_000.0, true), (2560, 30_000, false), (2560, 0, true)])
    func whatDoesNotFitIsNotPrepared(width: Double, y: Double, fits: Bool) throws {
        let (session, view) = try Self.afterZoomOut(frames: 30, y: y, width: width)
        #expect(Self.isRingPrepared(session, view) == fits)
    }

    /// The limit is raised while the view rests.
    @Test func whatFitsAnotherLimitIsPreparedAtRest() throws {
        var (session, view) = try Self.afterZoomOut(frames: 30, width: 2560)
        for capacity in [400, 200] {
            session.capacity = capacity
            _ = session.show(view)
            #expect(Self.isRingPrepared(session, view) == (capacity == 400))
        }
    }

    /// What a zoom out of a large view uncovers would leave no candidates for the next coarser level.
    @Test func aLargeViewHasCandidatesOfTheNextCoarserLevel() throws {
        let counts = try [30, 1].map { frames in
            let (session, view) = try Self.afterZoomOut(frames: frames, width: 5120, height: 2880, capacity: 10_000)
            let level = session.level(scale: view.scale)
            return session.policy.candidates.list.count { $0.key.coordinate.level == level - 1 }
        }
        #expect(counts[0] == counts[1] && counts[1] > 80, "\(counts)")
    }

    @Test func zoomingInWishesForChildrenAboutTheCentre() throws {
        var session = try PolicySession()
        var wishes = Wishes()
        for step in 0..<30 {
            let scale = 0.02 * PortableMath.exp2(Double(step) / 12)
            wishes = session.show(.at(30_000, 30_000, scale: scale))
        }
        let level = session.level(scale: 0.02 * PortableMath.exp2(29.0 / 12))
        let children = wishes.entries.map(\.key.coordinate).filter { $0.level == level + 1 }
        #expect(children.count >= 8)
        let span = session.pyramid.levels[level + 1].tileSpanX
        let column = Int(30_000 / span)
        #expect(children.contains { abs($0.column - column) <= 1 && abs($0.row - column) <= 1 })
        #expect(children.allSatisfy { abs($0.column - column) <= 8 && abs($0.row - column) <= 8 })
    }

    @Test func anOverviewWishesForFinerTilesOnly() throws {
        var session = try PolicySession()
        let scale = 1000.0 / 65_536 * 1.5
        let level = session.level(scale: scale)
        #expect(level > 0)
        let levels = session.show(.at(32_768, 32_768, scale: scale)).entries.map(\.key.level)
        #expect(levels.contains(level + 1))
        #expect(!levels.contains { $0 < level })
    }
}
