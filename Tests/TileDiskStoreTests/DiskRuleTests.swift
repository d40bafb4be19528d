import Testing
import TileCache

@testable import TileDiskStore

/// The pure parts: figures by hand.
@Suite struct DiskRuleTests {
    @Test func priorities() {
        var rule = EvictionRule()
        #expect(rule.priority(uses: 1, cost: 1000, byteCount: 500) == 2)
        #expect(rule.priority(uses: 3, cost: 1000, byteCount: 500) == 6)
        #expect(rule.priority(uses: 0, cost: 0, byteCount: 0) == 1)
        #expect(rule.priority(uses: 300, cost: 1, byteCount: 1) == 255)
        rule.advance(to: 10)
        rule.advance(to: 5)
        #expect(rule.clock == 10)
        #expect(rule.priority(uses: 1, cost: 1000, byteCount: 500) == 12)
        let entry = EvictionRule.Entry(byteCount: 500, cost: 1000, uses: 1, priority: 4)
        #expect(rule.priority(of: entry) == 4)
        #expect(rule.priority(of: entry, newUses: 2, at: 8) == 14)
    }

    /// A damaged number neither keeps an entry for ever nor stops the clock.
    @Test(arguments: [.infinity, -.infinity, .nan, 1e300, -1])
    func damagedPriorities(value: Double) {
        var rule = EvictionRule(clock: value)
        #expect(rule.clock == 0)
        rule.advance(to: value)
        #expect(rule.clock == 0)
        let entry = EvictionRule.Entry(byteCount: 100, cost: 200, uses: 1, priority: value)
        #expect((0...2).contains(rule.priority(of: entry)))
        let other = EvictionRule.Entry(byteCount: -5, cost: .max, uses: .max, priority: value)
        #expect(rule.priority(of: other) <= 255 * 3.6e9)
    }

    @Test(arguments: [4 << 20, 5_000_000, 16 << 20, 100 << 20, 1 << 30, 100 << 30, 1 << 45])
    func aBudgetIsTheLimit(limit: Int) {
        let budget = DiskBudget(limit: limit)
        let used = budget.maximumPages * 16_384 + budget.journalBytes
        #expect(used <= limit - 16_384 && used > limit - 2 * 16_384)
        #expect(budget.operationBytes <= budget.journalBytes)
        // Few bytes of a large limit are reserved for the journal.
        #expect(budget.maximumPages * 16_384 > limit / 2)
        #expect(DiskBudget(pages: budget.maximumPages).maximumPages >= budget.maximumPages)
    }

    @Test func pausesDouble() {
        let start = MonotonicTime(nanoseconds: 0)
        func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }
        var pause = RetryPause()
        #expect(!pause.covers(start))
        pause.fail(at: start)
        #expect(pause.covers(at(999)) && !pause.covers(at(1000)))
        pause.fail(at: start)
        #expect(pause.covers(at(1999)) && !pause.covers(at(2000)))
        for _ in 0..<10 { pause.fail(at: start) }
        #expect(pause.covers(at(59_999)) && !pause.covers(at(60_000)))
        pause.succeed()
        #expect(!pause.covers(start))
    }

    private func write(_ number: Int, _ count: Int) throws -> PendingWrite {
        let key = MadeEntry.key(number)
        let write = MadeEntry.bytes(key, version: 1, count: count).withUnsafeBytes { payload in
            PendingWrite(
                TileStoreEntry(
                    key: key,
                    shape: MadeEntry.shape,
                    generation: 0,
                    freshness: TileStoreFreshness(stored: 1),
                    kind: .encoded,
                    payload: payload
                ),
                cost: 1
            )
        }
        return try #require(write)
    }

    @Test func bufferIsBounded() throws {
        var buffer = WriteBuffer(capacity: 10_000)
        // 120 bytes of header and 256 of the tables.
        func add(_ write: PendingWrite) -> Bool { buffer.add(write) }
        for number in 0..<3 { #expect(add(try write(number, 2624))) }
        #expect(buffer.byteCount == 9000)
        #expect(!add(try write(3, 625)))
        #expect(add(try write(2, 3624)))
        #expect(buffer.byteCount == 10_000)
        let taken = buffer.take(bytes: 5000)
        #expect(taken.writes.map(\.key) == [MadeEntry.key(0), MadeEntry.key(1)])
        // Bytes being written still count, and look-ups find them.
        #expect(buffer.byteCount == 10_000 && buffer.write(of: MadeEntry.key(0)) != nil)
        buffer.finish()
        #expect(buffer.byteCount == 4000 && buffer.write(of: MadeEntry.key(0)) == nil)
        buffer.remove { $0 == MadeEntry.key(2) }
        #expect(buffer.byteCount == 0 && buffer.isEmpty)
        let rest = buffer.take(bytes: 5000)
        #expect(rest.writes.isEmpty)
    }
    /// The renewal of an entry that waits comes with it or later: until then there may be nothing to renew.
    @Test func renewalsWaitForTheirEntries() throws {
        var buffer = WriteBuffer(capacity: 10_000)
        for number in 0..<2 {
            let isAdded = buffer.add(try write(number, 2000))
            buffer.renew(MadeEntry.key(number), TileStoreFreshness(stored: Int64(2 + number)))
            #expect(isAdded)
        }
        let (first, second) = (buffer.take(bytes: 1), buffer.take(bytes: 1))
        #expect(first.renewals == [MadeEntry.key(0): TileStoreFreshness(stored: 2)])
        #expect(second.renewals == [MadeEntry.key(1): TileStoreFreshness(stored: 3)])
        #expect(first.writes.count == 1 && second.writes.count == 1 && buffer.isEmpty)
    }

    @Test func renewalsAreBounded() {
        var buffer = WriteBuffer(capacity: 10_000)
        for number in 0..<1025 { buffer.renew(MadeEntry.key(number), TileStoreFreshness(stored: 1)) }
        // One that waits is replaced.
        buffer.renew(MadeEntry.key(1023), TileStoreFreshness(stored: 2))
        buffer.remove { $0 == MadeEntry.key(5) }
        let renewals = buffer.take(bytes: 1).renewals
        #expect(renewals.count == 1023 && renewals[MadeEntry.key(1023)] == TileStoreFreshness(stored: 2))
        #expect(renewals[MadeEntry.key(5)] == nil && renewals[MadeEntry.key(1024)] == nil)
    }

    @Test func usesHaveTheClockOfTheLast() {
        var log = HitLog()
        for clock in [2.0, 5] { log.add(7, clock: clock) }
        #expect(log.uses == [7: HitLog.Uses(count: 2, clock: 5)])
        for _ in 0..<300 { log.add(7, clock: 5) }
        #expect(log.uses[7]?.count == EvictionRule.largestUses)
        for id in 1..<UInt64(HitLog.capacity - 1) { log.add(1000 + id, clock: 1) }
        #expect(!log.isFull)
        log.add(1000, clock: 1)
        #expect(log.isFull)
        log.add(8, clock: 9)
        log.add(1000, clock: 9)
        let uses = log.take()
        #expect(uses.count == HitLog.capacity && uses[8] == nil && uses[1000] == HitLog.Uses(count: 2, clock: 9))
        #expect(log.uses.isEmpty)
    }
}
