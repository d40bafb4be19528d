import TestSupport
import Testing

@testable import TileCache

/// Compares popular tiles of a level with a search of the whole level. Tests when a policy considers them.
@Suite struct PopularTilesTests {
    private static func key(_ level: Int, _ column: Int, _ row: Int) -> TileKey {
        TileKey(layer: 0, TileCoordinate(level: level, column: column, row: row))
    }

    /// A sketch of sessions that view the keys they are given.
    private static func sketch(_ sessions: [[TileKey]]) -> PlaceSketch {
        var sketch = PlaceSketch(sessions: 0, counters: [UInt16](repeating: 0, count: 2 * PlaceSketch.width))
        for session in sessions {
            var viewed = ViewedPlaces()
            for key in session { viewed.note(key) }
            sketch.add(viewed.sketch)
        }
        return sketch
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func theyAreTheMostPopularInOrder(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let pyramid = try TilePyramid.powerOfTwo(
            worldWidth: 256 * (1 + dice.below(60)),
            worldHeight: 256 * (1 + dice.below(60))
        )
        let level = pyramid.maximumLevel - dice.below(2)
        let grid = pyramid.levels[level]
        let all = (0..<grid.rows).flatMap { row in (0..<grid.columns).map { Self.key(level, $0, row) } }
        let steepness = dice.next(from: 1, to: 4)
        let places = Self.sketch(
            (0..<20).map { _ in
                (0..<400).map { _ in all[Int(Double(all.count) * PortableMath.pow(dice.nextUnit(), steepness))] }
            }
        )
        let expected = all.enumerated().filter { (places.popularity(of: $1) ?? 0) >= 2 }
            .sorted { ($1.element.share(places), $0.offset) < ($0.element.share(places), $1.offset) }
            .prefix(512).map(\.element)
        var popular = PopularTiles(places)
        #expect(!expected.isEmpty, "seed \(seed)")
        #expect(popular.tiles(of: level, in: pyramid, layer: 0) == expected, "seed \(seed)")
        #expect(popular.tiles(of: level, in: pyramid, layer: 0) == expected, "seed \(seed)")
        #expect(popular.byteCount == expected.count * MemoryLayout<TileKey>.stride)
    }

    /// Levels of up to 65,536 tiles are searched.
    @Test(arguments: [
        (256, 256, true), (65_536, 1, true), (65_537, 1, false), (257, 256, false), (1 << 30, 1 << 30, false),
    ])
    func levelsThatAreTooLargeHaveNone(columns: Int, rows: Int, isSearched: Bool) throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 256 * columns, worldHeight: 256 * rows)
        let level = pyramid.maximumLevel
        let sketch = Self.sketch([[Self.key(level, 0, 0)], [Self.key(level, 0, 0)], [Self.key(level, 0, 0)]])
        var popular = PopularTiles(sketch)
        #expect(popular.tiles(of: level, in: pyramid, layer: 0) == (isSearched ? [Self.key(level, 0, 0)] : []))
    }

    @Test func memoryIsBounded() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 30, worldHeight: 1 << 30, tileSize: 16)
        let counters = [UInt16](repeating: 0, count: 2 * PlaceSketch.width).indices.map { UInt16($0 % 2) * 8 }
        var popular = PopularTiles(PlaceSketch(sessions: 8, counters: counters))
        var most = 0
        for level in 0...pyramid.maximumLevel {
            _ = popular.tiles(of: level, in: pyramid, layer: 0)
            most = max(most, popular.byteCount)
        }
        // Three levels have as many popular ones as there may be.
        #expect(most > 3 * 512 * MemoryLayout<TileKey>.stride && most <= 16 * 512 * MemoryLayout<TileKey>.stride)
    }

    // MARK: - In a policy

    /// As many popular tiles are considered as fit beside three screens, the most popular first. They are loaded at rest,
    /// once sessions showed their worth, and kept in motion, too.
    @Test(arguments: [true, false], 0...2) func aPolicyLoadsThemAtRestWithRoom(isAtRest: Bool, room: Int) throws {
        var session = try PolicySession(worldWidth: 16_384)
        let level = session.pyramid.maximumLevel
        let (kept, far) = (Self.key(level, 50, 60), Self.key(level, 60, 60))
        session.policy = AdaptivePolicy(profile: Self.profile(of: [kept, far]))
        session.resident = [kept]
        var wishes = Wishes()
        for frame in 0..<20 {
            let viewport = TileViewport.at(2000 + (isAtRest ? 0 : 40 * Double(frame)), 2000)
            session.capacity = Int(3 * Self.screenTiles(viewport)) + room
            wishes = session.show(viewport)
        }
        #expect(wishes.entries.contains { $0.key == far } == (isAtRest && room == 2))
        #expect(wishes.keepValues.contains { $0.key == kept && $0.value > 0.9 } == (room >= 1))
    }

    /// What is learned of popular tiles does not depend on how many have room: none fits beside three screens into 60.
    /// Near ones are learned by their distance.
    @Test(arguments: [60, 1000]) func allAreSampledButNearOnes(capacity: Int) throws {
        var session = try PolicySession(worldWidth: 16_384)
        let level = session.pyramid.maximumLevel
        let far = (0..<3).map { Self.key(level, 40 + $0, 60) }
        session.policy = AdaptivePolicy(profile: Self.profile(of: far + [Self.key(level, 5, 0)]))
        session.capacity = capacity
        let bin = CandidateBin.popular(isSeen: false)
        for step in 0...8 {
            // 16 new tiles each.
            let viewport = TileViewport.at(512, 512 + 1024 * Double(step), height: 900)
            #expect(3 * Self.screenTiles(viewport) > 60)
            _ = session.show(viewport)
            let counts = try #require(session.policy.learned).bins
            // Sampled after 16 demands, for 120 more.
            for bin in [bin, CandidateBin.placed(bin, 3)] {
                #expect(counts.events[bin] == (step < 8 ? 0 : 0.75) && counts.needed[bin] == 0, "step \(step)")
            }
        }
    }

    /// A profile with popular tiles. It says that they are needed.
    private static func profile(of tiles: [TileKey]) -> PrefetchProfile {
        var bins = BinCounts(count: CandidateBin.placedCount)
        let bin = CandidateBin.popular(isSeen: false)
        for place in [bin, CandidateBin.placed(bin, 3)] {
            (bins.events[place], bins.needed[place], bins.soon[place]) = (1000, 900, 900)
        }
        return PrefetchProfile(sessions: 9, bins: bins, places: sketch([[TileKey]](repeating: tiles, count: 9)))
    }

    /// Tiles of 256 pixels that a view shows, on average over its positions.
    private static func screenTiles(_ viewport: TileViewport) -> Double {
        (viewport.width / 256 + 1) * (viewport.height / 256 + 1)
    }
}

extension TileKey {
    fileprivate func share(_ places: PlaceSketch) -> Double { places.share(of: self) }
}
