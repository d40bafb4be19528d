import Dispatch
import Testing

@testable import TileCache

/// Use of a layer's stores by the service: look-ups, writes, revalidation and invalidation.
@Suite(.timeLimit(.minutes(45))) struct LayerStoreTests {
    @Test(arguments: [true, false]) func tilesOutliveTheCache(isBlocking: Bool) throws {
        let store = MemoryStore()
        let origin = Origin()
        let first = try Run([store], origin, isBlocking: isBlocking)
        first.need(0..<5)
        #expect(origin.loads.count == 5 && store.puts == 5 && store.count == 5 && store.gets == 0)
        #expect(first.counts[0].absences == 5 && first.counts[0].writes == 5)
        let second = try Run([store], origin, isBlocking: isBlocking)
        second.need(0..<6)
        #expect(origin.loads.count == 6 && store.gets == 5 && store.puts == 6 && store.mostPuts == 1)
        #expect(second.counts[0].hits == 5 && second.counts[0].absences == 1)
        // Deadlines use the system's clock, which is not the cache's here.
        #expect(store.late == 0)
        #expect(second.drawn.count == 6 && second.drawn.allSatisfy { $0 == (7, false) })
        // Other data have other names.
        let third = try Run([store], origin, isBlocking: isBlocking, data: "another world")
        third.need(0..<1)
        #expect(origin.loads.count == 7)
        #expect(third.scene.cache.statistics.contradictions.isEmpty)
    }

    @Test func aNearStoreIsFilledFromAFarOne() throws {
        let (near, far) = (MemoryStore(), MemoryStore())
        let origin = Origin()
        try Run([far], origin).need(0..<3)
        let run = try Run([near, far], origin)
        run.need(0..<3)
        #expect(origin.loads.count == 3 && near.count == 3 && far.puts == 3)
        #expect(run.counts.map(\.hits) == [0, 3] && run.counts.map(\.writes) == [3, 0])
        try Run([near, far], origin).need(0..<3)
        #expect(near.gets == 3 && far.gets == 3)
    }

    /// Prefetched tiles are written once they are drawn, unless the store accepts them at once.
    @Test(arguments: [false, true]) func prefetchedTilesAreWrittenOnceDrawn(keepsUndrawn: Bool) throws {
        let store = MemoryStore(keepsUndrawnTiles: keepsUndrawn)
        let origin = Origin()
        let run = try Run([store], origin)
        run.layer.prefetch((0..<3).map { run.scene.tile($0) })
        run.scene.run()
        #expect(origin.loads.count == 3 && store.count == (keepsUndrawn ? 3 : 0))
        run.need(0..<2)
        _ = run.view.frame()
        run.scene.run()
        #expect(origin.loads.count == 3 && store.count == (keepsUndrawn ? 3 : 2) && store.mostPuts == 1)
    }

    @Test func absentTilesAreStored() throws {
        for isBlocking in [true, false] {
            let store = MemoryStore()
            let origin = Origin()
            origin.outcome = .absent
            // Two tiles, and the six ancestors that they have in common.
            let asked = 2 + 6
            try Run([store], origin, isBlocking: isBlocking).need(0..<2)
            #expect(store.puts(of: .absent) == asked)
            let run = try Run([store], origin, isBlocking: isBlocking)
            run.need(0..<2)
            #expect(origin.loads.count == asked && run.scene.cache.statistics.loads.absent == asked)
        }
    }

    /// Answers each request with pixels, and meanwhile that there are none.
    private final class DoubleSource: TileSource {
        func requestTile(_ request: TileRequest) {
            request.complete { pixels in
                request.completeAbsent(freshness: .notStored)
                fill(&pixels, with: 7)
                return .pixels
            }
        }
    }

    /// What the stores keep of a tile is that of its first answer.
    @Test func aSecondAnswerIsNotStored() throws {
        let store = MemoryStore()
        let scene = try StillScene(tiles: 64)
        let options = LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
        let layer = try scene.cache.addLayer(DoubleSource(), pyramid: scene.pyramid, options: options)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        scene.need(0..<3, of: layer, view)
        #expect(scene.cache.statistics.loads.secondAnswers == 3 && view.frame().count == 3)
        #expect(store.count == 3 && store.all.allSatisfy { $0.entry.freshness.expires == nil })
    }

    /// A store keeps the pixels of a source that passes its own bytes and cannot decode them.
    @Test func bytesWithoutADecoderAreNotStored() throws {
        struct Hopeful: BlockingTileSource {
            func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
                fill(&pixels, with: 7)
                _ = [UInt8](repeating: 1, count: 64).withUnsafeBytes { pixels.keepEncoded($0) }
                return .pixels
            }
        }
        let store = MemoryStore()
        let scene = try StillScene(tiles: 64)
        let options = LayerOptions(stores: LayerStores([store], dataSet: ["world"]))
        let layer = try scene.cache.addLayer(Hopeful(), pyramid: scene.pyramid, options: options)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        scene.need(0..<3, of: layer, view)
        #expect(store.count == 3 && store.puts(of: .encoded) == 0)
    }

    /// A tile that must not be stored is never stored. The answer may have bytes or confirm older ones.
    @Test(arguments: [
        .notStored, TileStoreFreshness(stored: 1_000_000, expires: 9_000_000, entityTag: "a", isStorable: false),
    ])
    func whatMustNotBeStoredLeavesNothingInAStore(notStored: TileStoreFreshness) throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = notStored
        try Run([store], origin, clock: clock).need(0..<1)
        #expect(store.count == 0 && store.puts == 0)
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, entityTag: "a")
        try Run([store], origin, clock: clock).need(0..<1)
        #expect(store.count == 1)
        clock.seconds = 1_000_002
        origin.confirms = notStored
        let run = try Run([store], origin, clock: clock)
        run.need(0..<1)
        #expect(run.drawn.map(\.colour) == [7] && store.count == 0 && store.renewals == 0)
        // A store that cannot tell whether it has an entry gets one without bytes, which look-ups ignore.
        store.knowsAbsences = false
        origin.confirms = nil
        origin.freshness = notStored
        try Run([store], origin, clock: clock).need(0..<1)
        #expect(store.puts(of: .absent) == 1 && origin.loads.count == 4)
        try Run([store], origin, clock: clock).need(0..<1)
        #expect(origin.loads.count == 5)
    }

    /// A confirmed tile that must not be stored any more leaves all stores. It stays if it could not be drawn.
    @Test(arguments: [false, true]) func whatMustNotBeStoredAnyMoreLeavesAllStores(isRefused: Bool) throws {
        let (near, far) = (MemoryStore(), MemoryStore())
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, entityTag: "a")
        try Run([near, far], origin, clock: clock).need(0..<1)
        #expect(near.count == 1 && far.count == 1)
        clock.seconds = 1_000_002
        origin.confirms = .notStored
        let run = try Run([near, far], origin, clock: clock)
        // No load of a removed layer gets memory.
        if isRefused { origin.whileLoading = { run.layer.remove() } }
        run.need(0..<1)
        origin.whileLoading = nil
        #expect(run.drawn.map(\.colour) == (isRefused ? [] : [7]) && near.renewals + far.renewals == 0)
        #expect(near.count == (isRefused ? 1 : 0) && far.count == (isRefused ? 1 : 0))
    }

    /// A store that refuses an answer keeps the older entry. It does not if the answer must not be stored.
    @Test(arguments: [TileStorePut.dropped, .refused], [false, true])
    func anOlderEntryStaysIfTheNewOneIsNotTaken(answer: TileStorePut, mustNotBeStored: Bool) throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, entityTag: "a")
        try Run([store], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_002
        store.answer = answer
        if mustNotBeStored { origin.freshness = .notStored }
        let run = try Run([store], origin, clock: clock)
        run.need(0..<1)
        #expect(origin.loads.count == 2 && run.drawn.count == 1 && store.count == (mustNotBeStored ? 0 : 1))
    }

    @Test func damageIsAMissAndIsRemoved() throws {
        let store = MemoryStore()
        let origin = Origin()
        try Run([store], origin).need(0..<1)
        store.damage { $0[$0.count - 1] ^= 1 }
        let run = try Run([store], origin)
        run.need(0..<1)
        #expect(origin.loads.count == 2 && run.counts[0].misses == 1 && run.drawn.map(\.colour) == [7])
    }

    @Test func invalidationOutlivesTheCache() throws {
        let store = MemoryStore()
        let origin = Origin()
        let run = try Run([store], origin)
        run.need(0..<4)
        origin.colour = 8
        // Tiles 1 and 2 of the row.
        run.layer.invalidate(region: PixelRect(minX: 65, minY: 0, maxX: 191, maxY: 64))
        run.scene.run()
        #expect(origin.loads.count == 6 && run.drawn.map(\.colour).sorted() == [7, 7, 8, 8])
        let second = try Run([store], origin)
        second.need(0..<4)
        #expect(origin.loads.count == 6 && second.drawn.map(\.colour).sorted() == [7, 7, 8, 8])
        second.layer.invalidate()
        second.scene.run()
        #expect(origin.loads.count == 10)
        let third = try Run([store], origin)
        third.need(0..<4)
        #expect(origin.loads.count == 10 && third.drawn.allSatisfy { $0.colour == 8 })
    }

    /// An invalidation during a store's look-up, or before its first one.
    @Test func nothingReadBeforeAnInvalidationIsDrawnAfterIt() throws {
        let store = MemoryStore()
        let origin = Origin()
        try Run([store], origin).need(0..<1)
        origin.colour = 8
        let run = try Run([store], origin)
        let layer = run.layer
        store.whileGetting = { [weak store] in
            store?.whileGetting = nil
            layer.invalidate()
        }
        run.need(0..<1)
        #expect(run.drawn.map(\.colour) == [8])
        origin.colour = 9
        let early = try Run([store], origin)
        early.layer.invalidate()
        early.need(0..<1)
        #expect(early.drawn.map(\.colour) == [9] && store.generation(of: store.onlyNamespace) == 2)
    }

    /// A tile of an invalidated region is needed before the stores have lost it. Its entry was read before its removal,
    /// and is lent after it.
    @Test func nothingReadBeforeARemovalIsDrawnAfterIt() throws {
        let store = MemoryStore()
        let origin = Origin()
        try Run([store], origin).need(0..<1)
        origin.colour = 8
        let run = try Run([store], origin)
        let tiers = try #require(run.scene.cache.core.read { $0.record(of: run.layer.id)?.tiers })
        let region = PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64)
        let pyramid = run.scene.pyramid
        let invalidation = tiers.invalidate(
            pyramid.levels.indices.map { pyramid.range(overlapping: region, at: $0) },
            isWhole: false
        )
        tiers.endWrites(before: invalidation)
        let persist = { @Sendable in tiers.persist(invalidation) }
        store.afterReading = persist
        run.need(0..<1)
        #expect(run.drawn.map(\.colour) == [8])
        if store.afterReading != nil {
            // The closure owns the store.
            store.afterReading = nil
            persist()
        }
        // What was loaded since is current, in the store too.
        let last = try Run([store], origin)
        last.need(0..<1)
        #expect(last.drawn.map(\.colour) == [8])
    }

    /// A tile is made of others while an invalidation begins.
    @Test func noTileMadeOfOutdatedOnesStaysInAStore() throws {
        let store = MemoryStore()
        let origin = Origin()
        origin.colour = 0x0707_0707
        let run = try Run([store], origin, made: 6)
        run.need(Run.children)
        #expect(run.lastPixels == [0x0707_0707, 0x0707_0707, 0x0707_0707, 0x0707_0707])
        origin.colour = 0x0808_0808
        run.scene.meanwhile = {
            run.need([Run.parent])
            return run.scene.run()
        }
        run.layer.invalidate(region: PixelRect(minX: 0, minY: 0, maxX: 128, maxY: 128))
        run.scene.run()
        #expect(run.scene.meanwhile == nil && run.lastPixels == [0x0808_0808])
        let second = try Run([store], origin, made: 6)
        second.need([Run.parent])
        #expect(second.lastPixels == [0x0808_0808])
    }

    /// A generation that a store could not keep is raised again with the next reading, a second later.
    @Test func aFailedInvalidationIsRepeated() throws {
        let store = MemoryStore()
        let origin = Origin()
        let run = try Run([store], origin)
        run.need(0..<1)
        store.refuses = { true }
        run.layer.invalidate()
        run.scene.run()
        #expect(store.generation(of: store.onlyNamespace) == 1 && store.storedGeneration == 0)
        store.refuses = nil
        run.need(1..<2)
        #expect(store.storedGeneration == 0)
        run.scene.scheduler.spend(nanoseconds: 1_000_000_000)
        run.need(2..<3)
        #expect(store.storedGeneration == 1)
        // Removals that fail invalidate the whole layer.
        store.refuses = { true }
        run.layer.invalidate(region: PixelRect(minX: 0, minY: 0, maxX: 64, maxY: 64))
        run.scene.run()
        store.refuses = nil
        run.scene.scheduler.spend(nanoseconds: 1_000_000_000)
        run.need(3..<4)
        #expect(store.storedGeneration == 2)
    }

    /// Another run invalidates the data. What this one makes of its older tiles stays out of the store.
    @Test func nothingMadeBeforeAnothersInvalidationIsStored() throws {
        let store = MemoryStore()
        let origin = Origin()
        origin.colour = 0x0707_0707
        let run = try Run([store], origin, made: 6)
        run.need(Run.children)
        origin.colour = 0x0808_0808
        let other = try Run([store], origin, made: 6)
        other.layer.invalidate()
        other.scene.run()
        run.scene.scheduler.spend(nanoseconds: 1_000_000_000)
        run.need([Run.parent])
        #expect(run.lastPixels == [0x0707_0707])
        other.need([Run.parent])
        #expect(other.lastPixels == [0x0808_0808])
        // After an invalidation of its own, it is as good as any.
        run.layer.invalidate()
        run.scene.run()
        #expect(run.lastPixels == [0x0808_0808])
        let puts = store.puts
        run.scene.cache.trim(to: .bytes(0))
        run.need([TileCoordinate(level: 5, column: 1, row: 1)])
        #expect(run.lastPixels == [0x0808_0808] && store.puts == puts + 1)
    }
}
