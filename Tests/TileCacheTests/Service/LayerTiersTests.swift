import Testing

@testable import TileCache

/// Whether a layer's stores are worth asking, by their times and the source's: 10 ms here.
@Suite struct LayerTiersTests {
    private let tile = TileCoordinate(level: 6, column: 1, row: 2)

    private func tiers(_ store: MemoryStore = MemoryStore()) throws -> LayerTiers {
        LayerTiers(
            LayerStores([store], dataSet: ["a world"]),
            pyramid: try ServiceSetup.pyramid(),
            options: LayerOptions(),
            expectedTime: 10_000_000
        )
    }

    /// Slow is above twice the source's time and 5 ms. One of 64 look-ups measures the store again.
    @Test func aSlowStoreIsAskedForWhatItHas() throws {
        func asked(took: Int64) throws -> [Int] {
            let tiers = try tiers()
            tiers.note(0, hit: true, took: took)
            #expect(tiers.isWorthAsking(0, .present) && !tiers.isWorthAsking(0, .absent))
            let asked = (1...128).filter { _ in tiers.isWorthAsking(0, .unknown) }
            #expect(tiers.counts[0].skipped == 128 - asked.count)
            return asked
        }
        #expect(try asked(took: 25_000_000) == Array(1...128))
        #expect(try asked(took: 25_000_001) == [64, 128])
    }

    /// Times of look-ups are means, and so are the source's. A store that was not measured counts as near.
    @Test func aStoreIsAsNearAsItIsFast() throws {
        let store = MemoryStore()
        let tiers = try tiers(store)
        #expect(tiers.nearness(tile) == 1)
        let entry = TileStoreEntry(
            key: tiers.key(of: tile),
            shape: tiers.shape(of: tile),
            generation: 0,
            freshness: TileStoreFreshness(stored: 1),
            kind: .absent,
            payload: UnsafeRawBufferPointer(start: nil, count: 0)
        )
        #expect(store.put(entry, cost: .zero) == .accepted)
        #expect(tiers.nearness(tile) == 0.1)
        tiers.note(0, hit: true, took: 5_000_000)
        #expect(tiers.nearness(tile) == 0.5)
        // Means of 6 and 12 ms.
        tiers.note(0, hit: false, took: 13_000_000)
        tiers.noteSource(took: 26_000_000)
        #expect(tiers.nearness(tile) == 0.5)
        tiers.note(0, hit: true, took: 1_000_000_000)
        #expect(tiers.nearness(tile) == 1)
    }

    /// Another process may invalidate the data after such a load, and would take the same generation.
    @Test func whatIsLoadedBeforeASharedStoreHasTheGenerationIsNotStored() throws {
        let store = MemoryStore()
        let tiers = try tiers(store)
        _ = tiers.prepare(now: 0)
        store.refuses = { true }
        let invalidation = tiers.invalidate(nil, isWhole: true)
        tiers.endWrites(before: invalidation)
        tiers.persist(invalidation)
        store.refuses = nil
        func put(_ epoch: LayerTiers.Epoch) -> Int {
            let entry = TileStoreEntry(
                key: tiers.key(of: tile),
                shape: tiers.shape(of: tile),
                generation: epoch.generation,
                freshness: TileStoreFreshness(stored: 1),
                kind: .absent,
                payload: UnsafeRawBufferPointer(start: nil, count: 0)
            )
            tiers.put(entry, to: 1, cost: 0, epoch: epoch)
            return store.count
        }
        let early = tiers.prepare(now: 0)
        #expect(early.generation == 1 && store.storedGeneration == 0 && put(early) == 0)
        let later = tiers.prepare(now: 1_000_000_000)
        #expect(store.storedGeneration == 1 && put(early) == 0 && store.givenUp.count == 2)
        #expect(put(later) == 1)
    }

    /// A clock that jumps far ahead, or goes back, counts as an hour, or as no time.
    @Test func aLookUpTakesAnHourAtMost() throws {
        let tiers = try tiers()
        for took in [Int64.max, .max, .min] { tiers.note(0, hit: true, took: took) }
        #expect(tiers.counts[0].waits == .seconds(2 * 3600))
    }

    /// An undrawn tile is stored once it is drawn, unless it took 20 ms or the store takes it at once.
    @Test(arguments: [(false, Int64(19_999_999), UInt32(0)), (true, 19_999_999, 1), (false, 20_000_000, 1)])
    func whatIsExpensiveIsStoredUndrawn(keepsUndrawn: Bool, cost: Int64, now: UInt32) throws {
        let tiers = try tiers(MemoryStore(keepsUndrawnTiles: keepsUndrawn))
        let takers = tiers.takers(before: 1, isWanted: false, cost: cost)
        #expect(takers == (now, 1 - now))
        #expect(tiers.takers(before: 1, isWanted: true, cost: 0) == (1, 0))
        #expect(tiers.takers(before: 0, isWanted: true, cost: 0) == (0, 0))
    }
}
