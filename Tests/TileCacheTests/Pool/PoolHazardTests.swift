import Testing

@testable import TileCache

/// Rare orders of events, each of which caused a defect or could.
@Suite struct PoolHazardTests {
    /// A compression that outlives its entry is none of the next entry.
    @Test func anOvertakenCompressionNeverNamesTheNextOne() throws {
        let small = TilePool(tiles: 4) { $0.compressedTier = true }
        small.load(0)
        let old = small.pool.beginDemotion(small.pool.table.find(key(0)))
        small.pool.invalidate(layer: 0, dropsAtOnce: true) { _ in true }
        #expect(small.entry(0) == nil)
        small.load(0)
        let new = small.pool.beginDemotion(small.pool.table.find(key(0)))
        _ = small.pool.finishDemotion(old, .solid(1))
        #expect(small.residency(of: key(0)) == .demoting)
        _ = small.pool.finishDemotion(new, .solid(2))
        #expect(small.entry(0)?.form == .solid(2))
        let isAtRest = small.pool.codecJobs.count == 0 && small.pool.orphans.holds.isEmpty
        #expect(isAtRest)
    }

    /// Pixels of a store that were out of date are evicted before the new ones land.
    @Test func newPixelsHaveAnotherIdentityAfterAnEviction() {
        let small = TilePool(tiles: 4)
        small.load(1)
        let old = small.entry(1)?.generation
        small.expire(1)
        small.pool.trim(toBytes: 0)
        #expect(small.resident.isEmpty)
        small.load(1)
        #expect(small.resident == [1] && small.entry(1)?.generation != old)
    }

    /// Pixels of a store that were out of date land while an invalidation is marking tiles.
    @Test func stalePixelsOutdateNoTileLoadedDuringAnInvalidation() {
        let small = TilePool(tiles: 4)
        small.pool.beginInvalidation(layer: 0) { _ in true }
        small.load(1, 2)
        small.expire(2)
        let pages = small.pool.table.pages
        small.pool.invalidate(onPages: pages, layer: 0, dropsAtOnce: true) { _ in true }
        small.pool.endInvalidation(layer: 0)
        #expect(small.resident == [1, 2] && small.entry(1)?.flags.contains(.stale) == false)
    }

    /// New pixels or an invalidation while a block is being written or read. The worker keeps the block until it is
    /// done; the entry no longer refers to it.
    @Test(arguments: [true, false], [true, false])
    func aBlockThatIsInUseOutlivesItsEntry(isPromoting: Bool, isReplaced: Bool) throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        var needs = ViewNeeds()
        small.load(0)
        let demotion = small.pool.beginDemotion(small.pool.table.find(key(0)))
        let stored = small.pool.finishDemotion(demotion, .block(3000))
        var ticket = try #require(stored)
        if isPromoting {
            small.pool.finishStore(ticket)
            small.need([0], &needs)
            small.install([small.demand(key(0))])
            guard case .promote(let promotion) = small.pool.nextJob(now: 0) else {
                Issue.record("a needed compressed tile is not decompressed")
                return
            }
            ticket = promotion
        }
        small.pool.invalidate(layer: 0, dropsAtOnce: !isReplaced) { _ in true }
        if isReplaced { small.load(0) }
        #expect(small.residency(of: key(0)) == (isReplaced ? .decoded : .none))
        #expect(small.entry(0)?.leaseCount ?? 0 == 0)
        #expect(small.usedPages == 1)
        if isPromoting { small.pool.finishPromotion(ticket) } else { small.pool.finishStore(ticket) }
        #expect(small.usedPages == 0)
        #expect(small.usedSlots == (isReplaced ? 1 : 0))
        #expect(small.residency(of: key(0)) == (isReplaced ? .decoded : .none))
        let codecJobs = small.pool.codecJobs.count
        #expect(codecJobs == 0)
    }

    /// A lowered limit is reached while room is made for a tile that failed before. Its entry must survive that.
    @Test func aFailedTileIsNotForgottenWhileRoomIsMadeForIt() throws {
        let small = TilePool(tiles: 8) { $0.grantsBookkeeping = false }
        small.install([small.demand(key(0))])
        small.end(try #require(small.beginLoad()), .failed(isPermanent: false, retryAfter: nil))
        small.load(1, 2)
        for column in [1, 2] { small.pool.lease(small.pool.table.find(key(column))) }
        small.now += 1_000_000_000_000
        small.install([small.demand(key(0))])
        small.pool.setByteLimit(small.pool.committedBytes - 1, steps: 0)
        #expect(small.beginLoad() == nil)
        #expect(small.entry(0)?.flags.contains(.failed) == true)
        #expect(small.pool.table.find(key(0)) != .none)
    }

    /// Above a lowered limit nothing starts, and each plan entry that would start is counted.
    @Test func aboveTheLimitWishesAreRefused() {
        let small = TilePool(tiles: 8)
        small.load(0, 1, 2, 3, 4, 5)
        for column in 0..<6 { small.pool.lease(small.pool.table.find(key(column))) }
        small.pool.setByteLimit(4 * TilePool.tileBytes)
        for count in 1...3 {
            small.install([small.demand(key(9))])
            #expect(small.beginLoad() == nil && small.counters.refusals == count)
        }
        #expect(small.isOverLimit && small.resident == [0, 1, 2, 3, 4, 5])
    }

    /// Pages being decommitted still count, and their numbers are not free yet.
    @Test func noPageIsTakenBeforeTheSystemHasItBack() {
        let small = TilePool(tiles: 16) {
            $0.compressedTier = true
            $0.compressedShare = 1
        }
        small.compressed = .block(4096)
        for round in 0..<4 {
            for column in 0..<24 { small.load(round * 100 + column) }
            small.pool.trim(toBytes: 0)
            let ranges = small.pool.takePendingDecommits()
            let leaving = ranges.filter { $0.range.slotClass < 0 }
            #expect(!leaving.isEmpty)
            small.pool.finishDecommits(ranges.filter { $0.range.slotClass >= 0 })
            // Before the decommit has finished, other work continues as far as it can.
            for column in 30..<54 { small.load(round * 100 + column) }
            #expect(small.committedBytes <= small.byteLimit)
            small.pool.finishDecommits(leaving)
        }
    }

    /// A world without tiles must not fill the table permanently.
    @Test func absentTilesMakeWayForOthers() {
        let small = TilePool(tiles: 4)
        let room = small.pool.table.maximumCount
        for column in 0..<room + 10 {
            small.install([small.demand(key(column))])
            if let ticket = small.beginLoad() { small.end(ticket, .absent) }
        }
        #expect(small.counters.loads.absent == room + 10)
        small.load(room + 20)
        #expect(small.resident == [room + 20])
    }

    /// If a prefetch evicted records of absent tiles, those would be requested again and again.
    @Test func aPrefetchForgetsNoAbsence() {
        let small = TilePool(tiles: 4)
        let room = small.pool.table.maximumCount
        for column in 0..<room {
            small.install([small.demand(key(column))])
            if let ticket = small.beginLoad() { small.end(ticket, .absent) }
        }
        small.install([small.wish(room, 1)])
        #expect(small.beginLoad() == nil)
        #expect(small.entryCount == room)
    }

    /// Needed tiles are evicted after records of absent ones, however short a trim is.
    @Test(arguments: 1...4) func absencesGoBeforeNeededTiles(steps: Int) throws {
        let small = TilePool(tiles: 16) { $0.grantsBookkeeping = false }
        small.install([small.demand(key(0))])
        small.end(try #require(small.beginLoad()), .absent)
        var needs = ViewNeeds()
        small.need([1, 2], &needs)
        small.load(1, 2)
        var goesOn = true
        while goesOn {
            goesOn = small.pool.trim(toBytes: 0, steps: steps)
            small.pool.finishDecommits(small.pool.takePendingDecommits())
            #expect(small.entry(0) == nil || small.resident == [1, 2])
        }
        #expect(small.resident.isEmpty && small.entry(0) == nil)
    }

    /// Trimmed memory counts until it is decommitted; its bytes are not granted before.
    @Test func leavingMemoryIsNotFreeYet() {
        let small = TilePool(tiles: 8)
        small.load(0, 1, 2, 3, 4, 5, 6, 7)
        small.pool.trim(toBytes: 2 * TilePool.tileBytes)
        let leaving = small.pool.takePendingDecommits()
        #expect(leaving.count == 6)
        #expect(small.committedBytes == 8 * TilePool.tileBytes)
        small.load(8)
        // A tile was evicted for it, though six are being decommitted.
        #expect(small.resident.count == 2 && small.committedBytes == 8 * TilePool.tileBytes)
        small.pool.finishDecommits(leaving)
        #expect(small.committedBytes == 2 * TilePool.tileBytes)
        small.load(9)
        #expect(small.resident.count == 3 && small.committedBytes == 3 * TilePool.tileBytes)
    }

    /// A trim keeps pinned tiles; a lower limit evicts them.
    @Test func pinnedTilesSurviveATrimButNotALowerLimit() {
        let small = TilePool(tiles: 4)
        _ = small.pool.enter(key(1), for: .pin)
        small.load(0, 1, 2)
        small.pool.trim(toBytes: 0)
        #expect(small.resident == [1])
        small.pool.finishDecommits(small.pool.takePendingDecommits())
        small.pool.setByteLimit(0)
        #expect(small.resident.isEmpty)
    }

    /// A lower limit is reached when the memory is decommitted. The decision is not enough.
    @Test func aLowerLimitIsReachedWhenMemoryHasGone() {
        let small = TilePool(tiles: 8)
        small.load(0, 1, 2, 3, 4, 5, 6, 7)
        small.pool.setByteLimit(4 * TilePool.tileBytes)
        let leaving = small.pool.takePendingDecommits()
        #expect(small.isOverLimit && small.committedBytes == 8 * TilePool.tileBytes)
        small.install([small.demand(key(20))])
        let job = small.pool.nextJob(now: small.now)
        #expect(job == nil)
        _ = small.pool.takeSupply()
        small.pool.finishDecommits(leaving)
        let supply = small.pool.takeSupply()
        #expect(supply == .prefetch && !small.isOverLimit && small.committedBytes == 4 * TilePool.tileBytes)
        small.load(20)
        #expect(small.resident.count == 4)
    }

    /// A load is wanted by a view, by a pin or by the newest plan.
    @Test func aLoadIsUnwantedIfNobodyWantsIt() throws {
        for wants in 0..<8 {
            let small = TilePool(tiles: 8)
            small.install([small.demand(key(0))])
            let ticket = try #require(small.beginLoad())
            var needs = ViewNeeds()
            if wants & 1 > 0 { small.need([0], &needs) }
            if wants & 2 > 0 { _ = small.pool.enter(key(0), for: .pin) }
            small.install(wants & 4 > 0 ? [small.demand(key(0))] : [])
            let isUnwanted = small.pool.isUnwanted(load: ticket.load)
            #expect(isUnwanted == (wants == 0), "\(wants)")
            // Remaining pins of a removed layer.
            small.pool.beginRemoval(ofLayer: 0)
            let isRemoved = small.pool.isUnwanted(load: ticket.load)
            #expect(isRemoved, "\(wants)")
            small.end(ticket)
        }
    }

    /// A source that claims to hold impossible bytes does not affect other tiles.
    @Test func whatCannotBeHeldGivesNothingUp() throws {
        let small = TilePool(tiles: 4)
        small.load(0, 1, 2)
        let late = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true)
        small.install([small.demand(key(0, layer: late))])
        let ticket = try #require(small.beginLoad())
        for bytes in [Int.max, small.byteLimit + 1] {
            let held = small.pool.holdEncoded(ticket, bytes: bytes)
            #expect(held == .refused && small.decoded == [0, 1, 2])
        }
        let all = small.pool.holdEncoded(ticket, bytes: small.byteLimit)
        #expect(all == .granted(small.byteLimit) && small.decoded == [])
        small.end(ticket, .cancelled)
        #expect(small.committedBytes == 0)
    }

    /// Reports about an ended load do not affect the load that reuses its number.
    @Test func whatComesLateIsNotTheNextLoads() throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.install([small.demand(key(0))])
        let first = try #require(small.beginLoad())
        small.end(first)
        small.install([small.demand(key(1))])
        let second = try #require(small.beginLoad())
        #expect(first.load == second.load && first != second)
        let held = small.pool.holdEncoded(second, bytes: 700)
        let late = small.pool.holdEncoded(first, bytes: 0)
        #expect(held == .granted(700) && late == .refused)
        let block = small.pool.reserveEncoded(first, bytes: 500, checksum: 1)
        let bytes = small.pool.ledger.heldBytes
        #expect(block == nil && bytes == 700)
        small.end(second)
    }

    /// Above a lowered limit, freed memory is decommitted instead of reused.
    @Test func aLoweredLimitIsReachedAsLoadsEnd() {
        let small = TilePool(tiles: 4)
        small.install((0..<12).map { small.demand(key($0)) })
        let tickets = (0..<4).compactMap { _ in small.beginLoad() }
        #expect(tickets.count == 4)
        small.pool.setByteLimit(2 * TilePool.tileBytes)
        #expect(small.isOverLimit)
        for ticket in tickets {
            small.end(ticket, .failed(isPermanent: true, retryAfter: nil))
            _ = small.beginLoad()
        }
        #expect(small.committedBytes <= small.byteLimit)
        #expect(!small.isOverLimit)
    }

    /// A copy for a decoder, and bytes outside of the pool, go: a lowered limit may be met then, and nothing is refused
    /// from then on.
    @Test func aLoweredLimitIsMetByWhatIsReturned() throws {
        let small = TilePool(tiles: 8) { $0.compressedTier = true }
        small.install([small.demand(key(0))])
        let ticket = try #require(small.beginLoad())
        let block = small.pool.reserveEncoded(ticket, bytes: 500, checksum: 1)
        #expect(block != nil)
        small.end(ticket)
        small.pool.moveToEncoded(small.pool.table.find(key(0)))
        small.install([small.demand(key(0))])
        guard case .promote(let decoding)? = small.pool.nextJob(now: 0) else {
            Issue.record("the payload is not decoded")
            return
        }
        let isCopied = small.pool.reserveForDecode(decoding)
        small.pool.beginDecode()
        // A slot and a page, without the copy.
        small.pool.setByteLimit(2 * TilePool.tileBytes)
        #expect(isCopied && small.isOverLimit)
        small.pool.finishDecode(decoding)
        #expect(!small.isOverLimit)

        let other = TilePool(tiles: 16) { $0.grantsBookkeeping = false }
        let isCharged = other.pool.charge(8 * TilePool.tileBytes, to: .stores)
        other.pool.setByteLimit(6 * TilePool.tileBytes)
        #expect(isCharged && other.isOverLimit)
        other.pool.note(-8 * TilePool.tileBytes, in: .stores)
        let (hasRoom, supply) = (other.pool.charge(100, to: .demand), other.pool.takeSupply())
        #expect(hasRoom && supply == .prefetch && !other.isOverLimit)
    }

    /// Tables that do not fit beside what may not be evicted evict nothing: more than two tiles, and
    /// than all of the table.
    @Test func chargesThatDoNotFitEvictNothing() {
        for fits in [true, false] {
            let small = TilePool(tiles: 16) { $0.grantsBookkeeping = false }
            let kept = (small.byteLimit - small.committedBytes) / TilePool.tileBytes - 6
            var needs = ViewNeeds()
            small.need(Array(0..<kept), &needs)
            for column in 0..<kept { small.load(column) }
            while small.pool.availableBytes >= 4 * TilePool.tileBytes { _ = small.pool.charge(512, to: .demand) }
            small.load(40)
            small.load(41)
            let left = small.pool.availableBytes
            #expect(small.decoded.isSuperset(of: [40, 41]) && left >= 0)
            let bytes = left + 2 * TilePool.tileBytes + (fits ? 0 : small.pool.table.byteCount + 1)
            let isCharged = small.pool.charge(bytes, to: .policies)
            #expect(isCharged == fits && small.decoded.isSuperset(of: 0..<kept), "\(left)")
            #expect(small.decoded.contains(40) != fits && small.decoded.contains(41) != fits)
        }
    }

    @Test func pixelsWithoutAPlaceAreNoPixels() throws {
        let small = TilePool(tiles: 4)
        let late = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true)
        small.install([small.demand(key(0, layer: late))])
        let ticket = try #require(small.beginLoad())
        #expect(ticket.slot == .none)
        small.end(ticket)
        #expect(small.residency(of: key(0, layer: late)) == .none)
        #expect(small.counters.loads.finished == 0 && small.usedSlots == 0)
    }

    @Test func anOutdatedLoadReservesNothing() throws {
        let small = TilePool(tiles: 4)
        let late = small.pool.addLayer(tileBytes: TilePool.tileBytes, reservesLate: true)
        small.install([small.demand(key(0, layer: late))])
        let ticket = try #require(small.beginLoad())
        small.pool.invalidate(layer: late, dropsAtOnce: false) { _ in true }
        let room = small.pool.reserve(ticket.load)
        #expect(room == .refused)
        small.end(ticket, .refused)
        #expect(small.counters.loads.outdated == 1 && small.entryCount == 0)
    }
}
