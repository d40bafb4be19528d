import Testing

@testable import TileCache

/// Payloads of sources, which the pool keeps beside the pixels that they gave.
@Suite struct PoolPayloadTests {
    /// A needed tile takes the room of payloads that only save a compression.
    @Test func payloadsMakeWayForNeededTiles() throws {
        let small = TilePool(tiles: 3) { $0.compressedTier = true }
        var needs = ViewNeeds()
        small.need([0, 1, 2], &needs)
        for column in 0..<2 {
            small.install([small.demand(key(column))])
            let ticket = try #require(small.beginLoad())
            let block = small.pool.reserveEncoded(ticket, bytes: 500, checksum: 1)
            #expect(block != nil)
            small.end(ticket)
        }
        // Two tiles and a page that their payloads share.
        #expect(small.usedSlots == 2 && small.usedPages == 1)
        small.install([small.demand(key(2))])
        small.runPlan()
        #expect(small.decoded == [0, 1, 2] && small.usedPages == 0)
        let limit = small.byteLimit
        #expect(small.committedBytes == limit)
    }

    /// A payload may be twice as large as a usual block of such a tile.
    @Test(arguments: [(1000, true), (1001, false)])
    func payloadsAreComparedWithBlocks(bytes: Int, isKept: Bool) throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.pool.layers.change(0) { $0.meanBlockBytes = 500 }
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        let block = small.pool.reserveEncoded(ticket, bytes: bytes, checksum: 1)
        #expect((block != nil) == isKept)
        small.end(ticket)
    }

    /// A payload replaces its tile without a compression if a usual block is at least twice as large.
    @Test(arguments: [(1000, true), (999, false), (0, false)])
    func smallPayloadsNeedNoComparison(meanBlockBytes: Int, isPreferred: Bool) throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        _ = small.pool.reserveEncoded(ticket, bytes: 500, checksum: 1)
        small.end(ticket)
        small.pool.layers.change(0) { $0.meanBlockBytes = meanBlockBytes }
        let isReplaced = small.pool.demoteToEncoded(small.pool.table.find(key(0)))
        #expect(isReplaced == isPreferred)
        #expect(small.residency(of: key(0)) == (isPreferred ? .compressed : .decoded))
    }

    /// No more payloads are evicted than the needed pages require.
    @Test func onlySoManyPayloadsMakeWay() throws {
        let small = TilePool(tiles: 5) { $0.compressedTier = true }
        var needs = ViewNeeds()
        small.need([0, 1, 2, 3], &needs)
        for column in 0..<2 {
            small.install([small.demand(key(column))])
            let ticket = try #require(small.beginLoad())
            let block = small.pool.reserveEncoded(ticket, bytes: 2600, checksum: 1)
            #expect(block != nil)
            small.end(ticket)
        }
        small.load(2)
        #expect(small.usedSlots == 3 && small.usedPages == 2)
        small.load(3)
        #expect(small.usedSlots == 4 && small.usedPages == 1)
    }

    /// A payload is being decoded during an invalidation, for its tile or a coarser one. It replaced its tile without a
    /// compression.
    @Test(arguments: [true, false])
    func anInvalidationOvertakesTheDecodingOfAPayload(isPromoted: Bool) throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        var needs = ViewNeeds()
        small.need([0], &needs)
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        _ = small.pool.reserveEncoded(ticket, bytes: 500, checksum: 1)
        small.end(ticket)
        small.pool.layers.change(0) { $0.meanBlockBytes = 4096 }
        let number = small.pool.table.find(key(0))
        let isDemoted = small.pool.demoteToEncoded(number)
        #expect(isDemoted)
        var begun: CodecTicket?
        if isPromoted {
            if case .granted(let ticket) = small.pool.beginPromotion(number, worth: .infinity) {
                begun = ticket
            }
        } else {
            begun = small.pool.beginPeek(key(0))
        }
        let decoding = try #require(begun)
        small.pool.invalidate(layer: 0, dropsAtOnce: true) { _ in true }
        if isPromoted { small.pool.finishPromotion(decoding) } else { small.pool.finishPromotion(decoding, .damaged) }
        #expect(small.counters.tiers.damagedBlocks == 0)
        #expect(small.resident == [] && small.usedSlots == 0 && small.usedPages == 0)
    }
}
