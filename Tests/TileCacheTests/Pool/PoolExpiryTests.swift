import Testing

@testable import TileCache

/// Tiles of a pool that are valid for a time.
@Suite struct PoolExpiryTests {
    private func set(_ small: TilePool, _ column: Int, expiresAt time: Int64, tag: String? = nil) {
        let freshness = TileStoreFreshness(stored: 0, expires: 1, entityTag: tag)
        let validity = PoolState.Validity(expiresAt: time, validators: freshness)
        small.pool.set(validity, of: small.pool.table.find(key(column)))
    }

    /// A view may begin to need an expired tile while a worker compresses it.
    @Test func aTileExpiresWhileItIsCompressed() {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.load(0)
        set(small, 0, expiresAt: 10)
        let ticket = small.pool.beginDemotion(small.pool.table.find(key(0)))
        var needs = ViewNeeds()
        small.need([0], &needs)
        let next = small.pool.expire(needs.entries, now: 10)
        #expect(next == .max && small.isStale(key(0)))
        small.demote(ticket)
        #expect(small.residency(of: key(0)) == .decoded && small.isStale(key(0)))
    }

    /// An expired tile is loaded for a need, not for a guess.
    @Test func anExpiredTileIsNotPrefetched() {
        let small = TilePool(tiles: 8)
        small.load(0)
        small.expire(0)
        small.install([small.wish(0, 1)])
        #expect(small.beginLoad() == nil)
        small.install([small.demand(key(0))])
        #expect(small.beginLoad()?.key == key(0) && small.counters.revalidations.started == 1)
    }

    /// The wait of a revalidation holds if the pixels are removed meanwhile.
    @Test func aWaitOutlivesThePixels() throws {
        let small = TilePool(tiles: 8)
        var needs = ViewNeeds()
        small.load(0)
        small.need([0], &needs)
        small.expire(0)
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        small.pool.trim(toBytes: 0)
        #expect(small.resident == [])
        small.end(ticket, .postponed(wait: 10_000_000_000))
        small.install([small.demand(key(0))])
        #expect(small.beginLoad() == nil)
        small.now += 10_000_000_000
        small.install([small.demand(key(0))])
        #expect(small.beginLoad()?.key == key(0))
    }

    /// What validators took is given back once their tiles have gone.
    @Test func validatorsAreGivenBack() {
        let small = TilePool(tiles: 2048) { $0.grantsBookkeeping = false }
        for column in 0..<512 {
            small.load(column)
            set(small, column, expiresAt: 1 << 60, tag: "\(column)")
        }
        let before = small.pool.ledger[.validators]
        small.pool.trim(toBytes: 0)
        let after = small.pool.ledger[.validators]
        #expect(small.resident == [] && before > 512 * 100 && after == 0)
    }
}
