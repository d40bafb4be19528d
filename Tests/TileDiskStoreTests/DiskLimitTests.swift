import Foundation
import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

/// Random calls, against a dictionary, with the sizes of all files summed at each write.
@Suite struct DiskLimitTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func randomCalls(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        var limit = 4 << 20
        var store: TileDiskStore? = try TileDiskStore(path: folder.path, byteLimit: .bytes(limit), options: .test(disk))
        // Expected entry, if the store has one.
        var newest: [TileStoreKey: (bytes: [UInt8], generation: UInt64, freshness: TileStoreFreshness)] = [:]
        var generations: [TileStoreNamespace: UInt64] = [:]
        var version: UInt64 = 0
        var found = 0

        func check(_ step: Int) {
            let peak = disk.state.withLock { state in
                defer { state.peak = 0 }
                return state.peak
            }
            #expect(peak <= limit, "seed \(seed), step \(step): \(peak) bytes after a write")
            #expect(folder.byteCount <= limit, "seed \(seed), step \(step)")
        }

        for step in 0..<600 {
            let key = MadeEntry.key(random.below(40), namespace: random.below(3))
            let generation = generations[key.namespace] ?? 0
            switch random.below(100) {
            case 0..<45:
                version += 1
                let count = 8 + (random.oneIn(8) ? random.below(500_000) : random.below(60_000))
                let bytes = MadeEntry.bytes(key, version: version, count: count)
                let freshness = TileStoreFreshness(stored: Int64(step))
                let cost = Duration.milliseconds(1 + random.below(100))
                let put = store!.put(key, bytes, generation: generation, cost: cost, freshness: freshness)
                if put == .accepted { newest[key] = (bytes, generation, freshness) }
            case 45..<80:
                switch store!.find(key) {
                case .success(let (bytes, freshness)):
                    found += 1
                    let expected = newest[key]
                    #expect(bytes == expected?.bytes && freshness == expected?.freshness, "seed \(seed), step \(step)")
                    #expect(generation == expected?.generation, "seed \(seed), step \(step)")
                    #expect(store!.presence(of: key) != .absent, "seed \(seed), step \(step)")
                case .failure(let cause):
                    #expect(cause == .absent || cause == .oldGeneration, "seed \(seed), step \(step): \(cause)")
                }
            case 80..<84:
                let freshness = TileStoreFreshness(stored: Int64(step), expires: 7, entityTag: "\(step)")
                store!.renew(key, freshness)
                store!.flush()
                newest[key]?.freshness = freshness
            case 84..<88:
                store!.remove([key])
                newest[key] = nil
                #expect(store!.cause(key) == .absent, "seed \(seed), step \(step)")
            case 88:
                store!.remove(key.namespace)
                newest = newest.filter { $0.key.namespace != key.namespace }
            case 89:
                #expect(store!.raiseGeneration(of: key.namespace, to: generation + 1), "seed \(seed), step \(step)")
                generations[key.namespace] = generation + 1
            case 90..<95:
                let next = 4 << 20 + random.below(12 << 20)
                #expect(try store!.setByteLimit(.bytes(next)), "seed \(seed), step \(step)")
                // Until it returns, the larger one holds.
                limit = max(limit, next)
                check(step)
                limit = next
            case 95..<98:
                store = nil
                if random.oneIn(2) { limit = 4 << 20 + random.below(12 << 20) }
                let size = folder.byteCount
                store = try TileDiskStore(path: folder.path, byteLimit: .bytes(limit), options: .test(disk))
                // A limit lower than the last one is met when the store is open.
                disk.state.withLock { state in
                    #expect(state.peak <= max(limit, size + DiskBudget(pages: size / 16_384).journalBytes))
                    state.peak = 0
                }
            default: store!.flush()
            }
            if step % 4 == 0 { store!.flush() }
            check(step)
        }
        let counts = store!.statistics
        #expect(found > 20)
        #expect(counts.failures == 0 && counts.resets == 0, "seed \(seed): \(store!.lastFailure ?? "")")
        #expect(counts.memorySize < .mebibytes(16))
    }

    /// Longer headers take pages. A full store makes room for them; it did not, and the writes failed.
    @Test func headersGrowInAFullStore() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(4), options: .test())
        let keys = (0..<1500).map { MadeEntry.key($0) }
        for (number, key) in keys.enumerated() {
            store.put(key, MadeEntry.bytes(key, version: 1, count: 3000))
            if number % 500 == 499 { store.flush() }
        }
        let kept = keys.filter { store.bytes($0) != nil }
        #expect(store.statistics.evictions > 500 && kept.count > 400)
        let validator = String(repeating: "x", count: TileStoreFreshness.longestValidator)
        let freshness = TileStoreFreshness(stored: 2, entityTag: validator, lastModified: validator)
        for key in kept { store.renew(key, freshness) }
        store.flush()
        #expect(store.statistics.renewals == kept.count && store.statistics.failures == 0)
        let renewed = kept.count { (try? store.find($0).get().freshness) == freshness }
        #expect(renewed > kept.count / 2, "\(renewed) of \(kept.count)")
        #expect(folder.byteCount <= 4 << 20)
    }

    /// What an invalidation has made useless makes room first, whatever it cost and however often it was used; in a small
    /// store, of which all entries are compared, nothing else does.
    @Test func invalidatedEntriesMakeRoomFirst() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(4), options: .test())
        func put(_ numbers: Range<Int>, namespace: Int, cost: Duration) {
            for number in numbers {
                let key = MadeEntry.key(number, namespace: namespace)
                store.put(key, MadeEntry.bytes(key, version: 1, count: 50_000), cost: cost)
            }
            store.flush()
        }
        put(0..<24, namespace: 0, cost: .seconds(100))
        for _ in 0..<3 { for number in 0..<24 { #expect(store.bytes(MadeEntry.key(number)) != nil) } }
        put(0..<24, namespace: 1, cost: .milliseconds(1))
        #expect(store.statistics.evictions == 0)
        #expect(store.raiseGeneration(of: MadeEntry.namespaces[0], to: 1))
        // Some of the invalidated ones have to go.
        put(24..<40, namespace: 1, cost: .milliseconds(1))
        #expect((1..<24).contains(store.statistics.evictions))
        for number in 0..<40 { #expect(store.bytes(MadeEntry.key(number, namespace: 1)) != nil, "\(number)") }
    }

    /// SQLite frees a page once most of its rows are gone. If evictions of tiny entries were spread over all pages, a third
    /// of the entries went before there was room for a batch: of 14,700 that fit, 10,200 were left.
    @Test func tinyEntriesAreNotEvictedByThousands() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(4), options: .test())
        var numbers = Array(0..<48_000)
        var random = SplitMix64(seed: 8)
        for index in numbers.indices.reversed() { numbers.swapAt(index, random.below(index + 1)) }
        var (most, least) = (0, Int.max)
        for (index, number) in numbers.prefix(25_050).enumerated() {
            store.put(MadeEntry.key(number), [1])
            guard index % 150 == 149 else { continue }
            store.flush()
            let counts = store.statistics
            let entries = counts.entries ?? 0
            most = max(most, entries)
            if counts.evictions > 0 { least = min(least, entries) }
        }
        #expect(most > 13_000 && least > most / 20 * 17, "\(least) ... \(most) entries")
        #expect(store.statistics.failures == 0 && folder.byteCount <= 4 << 20)
    }

    /// A lower limit evicts tiny entries in runs. It took a transaction for every four, minutes for a million.
    @Test func aLowerLimitEvictsTinyEntriesInRuns() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(8), options: .test())
        for number in 0..<24_000 {
            store.put(MadeEntry.key(number), [1])
            if number % 4000 == 3999 { store.flush() }
        }
        #expect(store.statistics.entries == 24_000)
        var commits = 0
        store.core.queue.sync {
            _ = store.core.attempt { writer throws(SQLFailure) in
                let before = writer.commits
                try writer.setLimit(4 << 20)
                commits = writer.commits - before
            }
        }
        let counts = store.statistics
        #expect(counts.failures == 0 && folder.byteCount <= 4 << 20)
        #expect(counts.evictions > 10 * commits && commits > 0, "\(counts.evictions) in \(commits)")
    }

    /// Nothing is evicted for an entry that has become too large while it waited.
    @Test func aLoweredLimitHoldsForWaitingEntries() throws {
        let folder = ScratchFolder()
        let options = TileDiskStoreOptions.test(buffer: .mebibytes(16))
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(64), options: options)
        let (small, large) = (MadeEntry.key(1), MadeEntry.key(2))
        store.put(small, MadeEntry.bytes(small, version: 1, count: 50_000))
        store.flush()
        #expect(store.put(large, [UInt8](repeating: 1, count: 4 << 20)) == .accepted)
        #expect(try store.setByteLimit(.mebibytes(4)))
        store.flush()
        #expect(store.bytes(small) != nil && store.cause(large) == .absent)
        #expect(store.statistics.dropped == 1 && store.statistics.evictions == 0)
        #expect(folder.byteCount <= 4 << 20)
    }

    /// As of a program that changes the limit with the free space of its disk.
    @Test func statementsOfEarlierLimitsAreNotKept() throws {
        let connection = try SQLConnection(path: ":memory:", isReadOnly: false, vfs: nil)
        for pages in 1000..<2000 { try connection.run("PRAGMA max_page_count = \(pages)") }
        #expect(connection.statementCount <= SQLConnection.mostStatements)
        let pages = try connection.number("PRAGMA max_page_count")
        #expect(pages == 1999)
    }

    /// A connection that is closed or released keeps no lock, whatever statements it has prepared.
    @Test func closedConnectionsKeepNoLock() throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        func open() throws -> SQLConnection {
            let connection = try SQLConnection(path: folder.database, isReadOnly: false, vfs: nil)
            connection.waitForLocks(until: MonotonicTime(nanoseconds: 0))
            return connection
        }
        let other = try open()
        for isReleased in [false, true] {
            var first: SQLConnection? = try open()
            try first?.run("BEGIN IMMEDIATE")
            let failure = #expect(throws: SQLFailure.self) { try other.run("BEGIN IMMEDIATE") }
            #expect(failure?.kind == .busy)
            if isReleased { first = nil } else { first?.close() }
            try other.run("BEGIN IMMEDIATE")
            try other.run("ROLLBACK")
            first?.close()
        }
    }

    /// Statistics count each accepted entry once.
    @Test func everyEntryIsCounted() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(4), options: .test())
        var random = SplitMix64(seed: 5)
        var results: [TileStorePut: Int] = [:]
        for number in 0..<500 {
            let key = MadeEntry.key(number)
            results[store.put(key, MadeEntry.bytes(key, version: 1, count: 8 + random.below(60_000))), default: 0] += 1
            if number % 50 == 49 { store.flush() }
        }
        let counts = store.statistics
        #expect(counts.refused == results[.refused, default: 0])
        #expect(counts.writes + counts.unchanged + counts.dropped == 500)
        #expect(counts.entries == counts.writes - counts.evictions)
        #expect(counts.diskSize == .bytes(folder.byteCount))
    }
}
