import Testing

@testable import TileCache

/// A table that grows only by what the system was asked for.
@Suite struct PoolGrantTests {
    @Test func aTableGrowsByWhatWasGrantedAndNoMore() {
        let small = TilePool(tiles: 4096)
        var wants = small.pool.wantsTableGrant
        #expect(!wants, "nobody asks for a pool without an owner")
        small.pool.tableGrant = TableGrant()
        wants = small.pool.wantsTableGrant
        #expect(wants)
        var needs = ViewNeeds()
        small.need(Array(0..<300), &needs)
        #expect(needs.entries.allSatisfy { $0 < 0 })
        let next = small.pool.tableGrantSizes[1]
        // A block of entries, and a byte too little for another.
        small.pool.tableGrant = TableGrant(bytes: 2 * next - 1, isScarce: true)
        small.pool.enterMissing(of: &needs)
        #expect(needs.entries.count { $0 >= 0 } == 256)
        #expect(small.entry(255)?.needCount == 1 && small.entry(256) == nil)
        #expect(small.pool.tableGrant?.wasShort == true && small.pool.tableGrant?.bytes == next - 1)
        small.pool.tableGrant = TableGrant(bytes: small.pool.tableGrantSizes[1], isScarce: true)
        small.pool.enterMissing(of: &needs)
        #expect(needs.entries.allSatisfy { $0 >= 0 } && small.entryCount == 300)
        wants = small.pool.wantsTableGrant
        #expect(!wants, "what is scarce is asked for only when it is due")
        small.need([], &needs)
        #expect(small.entryCount == 0)
    }
}
