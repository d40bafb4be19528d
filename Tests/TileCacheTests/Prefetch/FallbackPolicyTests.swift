import Testing

@testable import TileCache

/// What the default policy loads before needed tiles: fallbacks, and a coarser level.
@Suite struct FallbackPolicyTests {
    @Test func aGapIsCoveredByOneLoadBeforeAnythingElse() throws {
        var session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        let wishes = session.show(.at(32_768, 32_768))
        #expect(wishes.first.count == 1)
        let cover = try #require(wishes.first.first)
        #expect(cover.reason == .fallback)
        // Around the world's middle, only level 0 covers the view with one tile.
        #expect(cover.key.level == 0)
        session.resident.insert(cover.key)
        #expect(session.show(.at(32_768, 32_768)).first.isEmpty)
        #expect(session.show(.at(32_768, 32_768)).keepValues.contains { $0.key == cover.key && $0.value == 1 })
    }

    /// The view is at level 8, and shows hardly more than a colour of a tile above level 3.
    @Test func aMuchCoarserFallbackIsReplaced() throws {
        for (x, covers) in [(2000.0, 3), (8192.0, 2)] {
            let view = TileViewport.at(x, 2000)
            for level in 0...covers {
                var session = try PolicySession()
                session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
                session.resident = [TileKey(layer: 0, TileCoordinate(level: level, column: 0, row: 0))]
                let cover = TileKey(layer: 0, TileCoordinate(level: covers, column: 0, row: 0))
                #expect(session.show(view).first.map(\.key) == (level < covers ? [cover] : []))
            }
        }
        // No coarser one is loaded: one tile covers the middle of the world, and four of level 1 are there.
        var session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        session.resident = Set(
            session.pyramid.neededTiles(under: .at(32_768, 32_768), at: 1).map { TileKey(layer: 0, $0) }
        )
        #expect(session.resident.count == 4 && session.show(.at(32_768, 32_768)).first.isEmpty)
    }

    /// Four tiles of level 0 cover the world. The one of the first corner was taken for the fallback of all.
    @Test func eachTileOfLevel0IsAFallback() throws {
        var session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        let pyramid = session.pyramid
        session.pyramid = pyramid.keepingFinestLevels(pyramid.levels.count - 1)
        let roots = session.pyramid.neededTiles(under: .at(32_768, 32_768), at: 0).map { TileKey(layer: 0, $0) }
        #expect(roots.count == 4)
        for present in [[], [roots[0]], [roots[0], roots[3]], Array(roots.dropLast()), Array(roots.dropFirst())] {
            session.resident = Set(present)
            let first = session.show(.at(32_768, 32_768)).first.map(\.key.coordinate)
            let root = first.first.flatMap { session.pyramid.ancestor(of: $0, at: 0) ?? $0 }
            let missing = roots.filter { !present.contains($0) }.map(\.coordinate)
            #expect(first.count == 1 && root.map(missing.contains) == true)
            // Under the only missing root, a finer tile covers what is in view.
            #expect(((first.first?.level ?? 0) > 0) == (missing.count == 1))
        }
        session.resident = Set(roots)
        #expect(session.show(.at(32_768, 32_768)).first.isEmpty)
    }

    /// A tile of level 0 that does not come left all other parts of the view without a fallback, and one of a finer level
    /// the whole view.
    @Test(arguments: [false, true]) func aFallbackThatDoesNotComeIsReplaced(isAbsent: Bool) throws {
        var session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        func fail(_ key: TileKey) { if isAbsent { session.absent.insert(key) } else { session.lost.insert(key) } }
        let whole = session.pyramid
        for level in [3, 2, 1, 0] {
            let next = session.show(.at(2000, 2000)).first.map(\.key)
            #expect(next == [TileKey(layer: 0, TileCoordinate(level: level, column: 0, row: 0))])
            fail(next[0])
        }
        #expect(session.show(.at(2000, 2000)).first.isEmpty)
        // Four tiles of level 0 cover the world.
        session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        session.pyramid = whole.keepingFinestLevels(whole.levels.count - 1)
        let roots = session.pyramid.neededTiles(under: .at(32_768, 32_768), at: 0).map { TileKey(layer: 0, $0) }
        for root in roots.dropLast() {
            #expect(session.show(.at(32_768, 32_768)).first.map(\.key) == [root])
            fail(root)
        }
        #expect(session.show(.at(32_768, 32_768)).first.map(\.key) == [roots[3]])
        session.resident = [roots[3]]
        // No tile covers the rest, and the present one is much too coarse.
        let finer = TileKey(layer: 0, TileCoordinate(level: 2, column: 4, row: 4))
        #expect(session.show(.at(32_768, 32_768)).first.map(\.key) == [finer])
        // The left half of the view has a fallback of level 1, which is much too coarse. Nothing covers the right half.
        session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        session.resident = [TileKey(layer: 0, TileCoordinate(level: 1, column: 0, row: 0))]
        for (level, column) in [(3, 4), (2, 2), (1, 1), (0, 0)] {
            fail(TileKey(layer: 0, TileCoordinate(level: level, column: column, row: 0)))
        }
        let left = TileKey(layer: 0, TileCoordinate(level: 3, column: 3, row: 0))
        #expect(session.show(.at(32_768, 2000)).first.map(\.key) == [left])
    }

    /// The last tile of level 1 reaches beyond the world, which goes on with the first one there.
    @Test func theWayOverTheEdgeOfAWrappingWorldHasAFallback() throws {
        var session = try PolicySession(worldWidth: 16_000, worldHeight: 16_000, wrapsX: true)
        var wishes = Wishes()
        for step in 0..<40 {
            let view = TileViewport.at(14_600 + 20 * Double(step), 4000)
            session.resident = Set(session.pyramid.neededTiles(under: view, at: 6).map { TileKey(layer: 0, $0) })
            wishes = session.show(view)
        }
        let ahead = wishes.entries.filter { $0.value == Fallbacks.worth }
        #expect(ahead.map(\.key) == [TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))])
    }

    /// The left half of the view has a fallback of level 1, which is much too coarse, the right half has none.
    @Test func theFallbackOfAGapIsAsFineAsItCanBe() throws {
        var session = try PolicySession()
        session.policy = AdaptivePolicy(effects: .all.subtracting(.coarser))
        session.resident = [TileKey(layer: 0, TileCoordinate(level: 1, column: 0, row: 0))]
        let cover = TileKey(layer: 0, TileCoordinate(level: 3, column: 4, row: 0))
        #expect(session.show(.at(32_768, 2000)).first.map(\.key) == [cover])
        session.resident.insert(cover)
        let left = TileKey(layer: 0, TileCoordinate(level: 3, column: 3, row: 0))
        #expect(session.show(.at(32_768, 2000)).first.map(\.key) == [left])
    }

    /// A tile of a level that the source does not have takes the loads of all tiles under it. The view is at level 8.
    @Test(arguments: 0...8) func noFallbackIsMadeOfFinerTiles(levels: Int) throws {
        var session = try PolicySession()
        session.synthesizedLevels = levels
        session.latency = 100_000_000
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(.at(20_000 + 60 * Double(step), 30_000)) }
        let ahead = wishes.entries.filter { $0.value == Fallbacks.worth }
        #expect(wishes.first.isEmpty == (levels == 8))
        #expect((wishes.first + ahead).allSatisfy { levels < 8 && $0.key.level >= levels })
        // What there is stays.
        let root = TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))
        session.resident = [root]
        session.compressed = [root]
        wishes = session.show(.at(20_000 + 60 * 20, 30_000))
        #expect(wishes.first.first?.key == root && wishes.keepValues.contains { $0.key == root })
    }

    /// A fallback that is loading stays in the plan while a tile under it is missing, or its load would be cancelled.
    @Test func whatIsLoadingIsNotLeft() throws {
        var session = try PolicySession()
        let view = TileViewport.at(2000, 2000)
        let needed = session.pyramid.neededTiles(under: view, at: 8).map { TileKey(layer: 0, $0) }
        let cover = try #require(session.show(view).first.first?.key)
        let other = TileKey(layer: 0, TileCoordinate(level: cover.level, column: 7, row: 7))
        session.loading = [cover, other]
        session.resident = Set(needed.dropFirst())
        #expect(session.show(view).first.map(\.key) == [cover])
        // Not what a finer fallback makes useless.
        let finer = try #require(session.pyramid.ancestor(of: needed[0].coordinate, at: cover.level + 1))
        session.resident.insert(TileKey(layer: 0, finer))
        #expect(session.show(view).first.isEmpty)
        session.resident = Set(needed)
        #expect(session.show(view).first.isEmpty)
    }

    /// One fallback for each 50 tiles of memory that a policy has, at most eight, and always those of the view.
    @Test(arguments: [(49, 1, 1), (99, 1, 1), (100, 1, 2), (199, 2, 1), (200, 2, 2), (449, 1, 8), (10_000, 1, 8)])
    func theLastFallbacksAreKept(capacity: Int, policies: Int, count: Int) throws {
        var session = try PolicySession()
        session.capacity = capacity
        session.policies = policies
        let places =
            (0..<8).map { TileKey(layer: 0, TileCoordinate(level: 3, column: $0, row: 1)) }
            + (0..<2).map { TileKey(layer: 0, TileCoordinate(level: 3, column: $0, row: 3)) }
        session.resident = Set(places)
        func kept(_ wishes: Wishes) -> [TileKey] {
            wishes.keepValues.filter { $0.value == 1 && $0.key.level <= 3 }.map(\.key)
        }
        var wishes = Wishes()
        for place in places {
            let middle = (Double(place.coordinate.column) + 0.5, Double(place.coordinate.row) + 0.5)
            wishes = session.show(.at(middle.0 * 8192, middle.1 * 8192))
        }
        #expect(kept(wishes) == places.suffix(count).reversed())
        // A view that jumps back makes its fallback the last one.
        wishes = session.show(.at(4096, 1.5 * 8192))
        #expect(kept(wishes) == [places[0]] + places.suffix(count - 1).reversed())
        #expect(session.policy.judgement.byteCount == 8 * MemoryLayout<TileKey>.stride)
    }

    /// A tile that has failed for good, or does not exist, never comes: a fallback is loaded for it, however few tiles are
    /// missing.
    @Test(arguments: [false, true], [false, true]) func whatDoesNotComeIsCovered(isAbsent: Bool, isLast: Bool) throws {
        var session = try PolicySession()
        let view = TileViewport.at(2000, 2000)
        let needed = session.pyramid.neededTiles(under: view, at: 8).map { TileKey(layer: 0, $0) }
        session.resident = Set(isLast ? needed.dropLast(2) : needed.dropFirst(2))
        #expect(session.show(view).first.isEmpty)
        let missing = isLast ? needed[needed.count - 1] : needed[0]
        if isAbsent { session.absent = [missing] } else { session.lost = [missing] }
        let cover = try #require(session.pyramid.ancestor(of: missing.coordinate, at: 3))
        #expect(session.show(view).first.map(\.key) == [TileKey(layer: 0, cover)])
        session.resident.insert(TileKey(layer: 0, cover))
        #expect(session.show(view).first.isEmpty)
    }

    /// Frames draw decoded tiles only: the fallbacks of missing tiles are decompressed before anything is loaded.
    @Test func compressedFallbacksAreDecompressed() throws {
        var random = SplitMix64(seed: 29)
        var counts: Set<Int> = []
        for _ in 0..<100 {
            var session = try PolicySession()
            let view = TileViewport.at(2000 + 60_000 * random.nextUnit(), 2000 + 60_000 * random.nextUnit())
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
        var session = try PolicySession()
        session.latency = 100_000_000
        let view = TileViewport.at(32_768, 32_768)
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
            var session = try PolicySession()
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
            let view = TileViewport.at(2000 + 60_000 * random.nextUnit(), 2000 + 60_000 * random.nextUnit())
            for (latency, most) in [(Int64(99_999_999), 2), (100_000_000, 4)] {
                var session = try PolicySession()
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

    /// During a load of 20 s a view may pass a million tiles. A plan looks at no more of them than for short loads.
    @Test(arguments: [1_000, 20_000]) func aPlanDoesNotWalkAllTilesOfTheWay(milliseconds: Int) throws {
        var session = try PolicySession(worldWidth: 1 << 24, worldHeight: 1 << 24)
        session.latency = Int64(milliseconds) * 1_000_000
        var most = 0
        for frame in 0..<30 {
            let place = 4_000_000 + 100 * Double(frame)
            _ = session.show(.at(place, place))
            most = max(most, session.lookUps)
        }
        // Of each of five levels, one more than the workers load at once; and the fallbacks ahead.
        #expect(most > 0 && most <= 5 * 5 + 8, "\(most) tiles")
    }

    /// The coarser level is that of where the view will be, not of what it leaves.
    @Test func aMovingViewGetsTheCoarserLevelOfItsEnd() throws {
        var session = try PolicySession()
        session.resident = Set(
            session.pyramid.neededTiles(under: .at(32_768, 32_768), at: 0).map { TileKey(layer: 0, $0) }
        )
        var wishes = Wishes()
        for step in 0..<20 { wishes = session.show(.at(20_000 + 60 * Double(step), 30_000)) }
        let view = TileViewport.at(20_000 + 60 * 19, 30_000).uprightRectangle
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
}
