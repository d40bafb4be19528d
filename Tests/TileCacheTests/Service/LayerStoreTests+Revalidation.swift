import Dispatch
import Testing

@testable import TileCache

/// Entries that are out of date, and what their source says of them.
extension LayerStoreTests {
    @Test func aStaleTileIsDrawnWhileItIsRevalidated() throws {
        for isBlocking in [true, false] {
            let store = MemoryStore()
            let (origin, clock) = (Origin(), Clock())
            let tag = "\"a\""
            origin.freshness = TileStoreFreshness(
                stored: 1_000_000,
                expires: 1_000_100,
                usableUntil: 1_000_900,
                entityTag: tag
            )
            try Run([store], origin, clock: clock, isBlocking: isBlocking).need(0..<1)
            // Fresh: the source is not asked.
            clock.seconds = 1_000_099
            try Run([store], origin, clock: clock, isBlocking: isBlocking).need(0..<1)
            #expect(origin.loads.count == 1)
            // Stale: drawn, requested with its validator, confirmed.
            clock.seconds = 1_000_100
            origin.confirms = TileStoreFreshness(stored: 1_000_100, expires: 1_000_200)
            let run = try Run([store], origin, clock: clock, isBlocking: isBlocking)
            run.need(0..<1)
            #expect(origin.loads.count == 2 && origin.validators.last??.entityTag == tag && store.renewals == 1)
            #expect(run.counts[0].staleHits == 1 && run.drawn.map(\.isStale) == [false])
            // The same pixels: a renderer does not upload them again.
            #expect(run.view.frame().map(\.tile.identity.generation) == [1])
            // The renewed entry keeps the validator that the answer omitted.
            clock.seconds = 1_000_199
            try Run([store], origin, clock: clock, isBlocking: isBlocking).need(0..<1)
            #expect(origin.loads.count == 2)
            // Expired: not drawn before the source has answered.
            clock.seconds = 1_000_200
            origin.confirms = nil
            origin.colour = 9
            let late = try Run([store], origin, clock: clock, isBlocking: isBlocking)
            late.need(0..<1)
            #expect(origin.loads.count == 3 && origin.validators.last??.entityTag == tag)
            #expect(late.counts[0].staleHits == 0 && late.drawn.map(\.colour) == [9])
        }
    }

    /// The layer has no decoder for the entry, which its source confirms. It is loaded anew.
    @Test(arguments: [true, false]) func aConfirmedEntryOfNoUseIsRemoved(isBlocking: Bool) throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, entityTag: "a")
        try Run([store], origin, clock: clock, isBlocking: isBlocking).need(0..<1)
        var entry = try #require(store.all.first).entry
        entry.kind = .encoded
        let payload: [UInt8] = [1, 2, 3]
        payload.withUnsafeBytes { bytes in
            entry.payload = bytes
            #expect(store.put(entry, cost: .zero) == .accepted)
        }
        clock.seconds = 1_000_002
        origin.confirms = TileStoreFreshness(stored: 1_000_002, expires: 1_000_900)
        let run = try Run([store], origin, clock: clock, isBlocking: isBlocking)
        run.need(0..<1)
        #expect(origin.validators.last??.entityTag == "a" && run.drawn.isEmpty && store.count == 0)
        let next = try Run([store], origin, clock: clock, isBlocking: isBlocking)
        next.need(0..<1)
        #expect(next.drawn.map(\.colour) == [7] && origin.loads.count == 3)
    }

    /// Requests end with current pixels; those that are out of date can be drawn meanwhile.
    @Test func aRequestWaitsUntilAStaleTileIsRevalidated() throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_100, usableUntil: 1_000_900)
        try Run([store], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_100
        origin.colour = 9
        let run = try Run([store], origin, clock: clock)
        var meanwhile: [Bool] = []
        let tile = run.scene.tile(0)
        origin.whileLoading = {
            guard let placement = run.layer.placement(of: tile) else { return }
            meanwhile.append(placement.tile.isStale && holds(placement.tile, 7))
        }
        let ends = Lock([String]())
        let fetch = run.layer.fetch(tile, on: DispatchQueue(label: "requests")) { outcome in
            guard case .pixels(let tile) = outcome else { return ends.withLock { $0.append("\(outcome)") } }
            ends.withLock { $0.append("\(tile.isStale) \(holds(tile, 9))") }
        }
        run.scene.run()
        origin.whileLoading = nil
        #expect(fetch.outcome == nil && meanwhile == [true])
        #expect(ends.withLock { $0 } == ["false true"])
    }

    @Test func aStaleTileStaysIfItsSourceFails() throws {
        let store = MemoryStore()
        let (origin, clock) = (Origin(), Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001, usableUntil: 1_000_900)
        try Run([store], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_002
        // Confirmed without a stored tile: a transient failure.
        origin.outcome = .unchanged
        let run = try Run([store], origin, clock: clock)
        run.need(0..<1)
        #expect(run.drawn.map(\.isStale) == [true] && run.scene.cache.statistics.revalidations.unanswered == 1)
    }
}
