import Dispatch
import Testing
import TileCache

@testable import TileDiskStore

/// Division of the memory that caches allow, and what a store does with it.
@Suite struct DiskMemoryTests {
    private func memory(_ allowed: Int?, entry: Int = 0, readers: Int = 4) -> DiskMemory {
        var options = TileDiskStoreOptions()
        options.readers = readers
        return DiskMemory(allowed: allowed, options: options, limit: 128 << 20, largestEntry: entry)
    }

    /// The largest size that fits beside half of the buffer's part, both sides of each boundary.
    @Test func theLargestSizeThatFitsIsTaken() {
        #expect(memory(nil).divisor == 1 && memory(nil).bufferBytes == 4 << 20)
        #expect(memory(nil) == memory(.max))
        for (divisor, readers) in [(1, 4), (2, 2), (4, 1)] {
            let full = memory(nil)
            // Of this size, with the buffer's least part.
            let candidates = stride(from: 1 << 20, to: 20 << 20, by: 1024).map { memory($0) }
            guard let first = candidates.firstIndex(where: { $0.divisor == divisor }) else {
                Issue.record("no memory gives a divisor of \(divisor)")
                continue
            }
            let chosen = candidates[first]
            #expect(candidates[..<first].allSatisfy { $0.divisor > divisor })
            #expect(chosen.readers == readers && chosen.writerPages == full.writerPages / divisor)
            #expect(chosen.transactionBytes == full.transactionBytes / divisor)
            #expect(chosen.bufferBytes - (2 << 20) / divisor < 1024 && chosen.bufferBytes >= (2 << 20) / divisor)
            // All of it is within what was allowed.
            let allowed = 1 << 20 + first * 1024
            #expect(chosen.connectionBytes(largestEntry: 256 << 10) + chosen.bufferBytes <= allowed)
        }
        #expect(memory(0).divisor == 8 && memory(0).bufferBytes == 256 << 10 && memory(0).readers == 1)
        #expect(memory(0).connectionBytes(largestEntry: 256 << 10) + memory(0).bufferBytes < 3_500_000)
        // Of one reader an eighth is one.
        #expect(memory(0, readers: 1).readers == 1 && memory(0, readers: 64).readers == 8)
    }

    /// Bytes of connections, part by part.
    @Test func connectionsCountWhatTheyHold() {
        let budget = DiskBudget(limit: 128 << 20)
        func bytes(readers: Int, entry: Int) -> Int {
            memory(nil, readers: readers).connectionBytes(largestEntry: entry)
        }
        // A reading connection has 24 pages, its statements, and two copies of an entry; so has the writing one.
        #expect(bytes(readers: 3, entry: 0) - bytes(readers: 2, entry: 0) == 24 * DiskBudget.pageBytes + 192 << 10)
        for readers in 1...3 {
            #expect(bytes(readers: readers, entry: 1000) - bytes(readers: readers, entry: 0) == 2000 * (readers + 1))
        }
        // The writing one has 64 pages, the journal up to the end of its last operation, two transactions, lists and uses.
        let writer = 64 * DiskBudget.pageBytes + budget.journalBytes + 2 << 20 + 128 << 10 + HitLog.capacity * 112
        let reader = 24 * DiskBudget.pageBytes + 192 << 10
        #expect(bytes(readers: 1, entry: 0) == writer + reader + 192 << 10)
    }

    /// A larger entry needs more: what is divided follows it.
    @Test func largerEntriesLeaveLess() {
        let allowed = 8 << 20
        #expect(memory(allowed).divisor == 2 && memory(allowed, entry: 256 << 10) == memory(allowed))
        #expect(memory(allowed, entry: 1 << 20).divisor > 2)
    }

    /// A store keeps its entries and its bound while caches change what they allow. The least of them counts.
    @Test func aStoreFollowsWhatCachesAllow() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(128), options: .test())
        store.completeFilter()
        let key = MadeEntry.key(1)
        #expect(store.put(key, MadeEntry.bytes(key, version: 1, count: 200_000)) == .accepted)
        store.flush()
        let full = store.statistics.memorySize
        #expect(full > .mebibytes(10))
        func settle() -> ByteCount {
            store.core.queue.sync { store.core.fitMemory() }
            return store.statistics.memorySize
        }
        store.limitMemory(to: .mebibytes(8), for: 1)
        #expect(settle() <= .mebibytes(8))
        store.limitMemory(to: .bytes(0), for: 2)
        let least = settle()
        #expect(least < .mebibytes(3) && store.core.state.withLock { $0.memory.readers } == 1)
        #expect(store.bytes(key) == MadeEntry.bytes(key, version: 1, count: 200_000))
        // A small buffer takes an entry of any size, if it is alone.
        store.core.queue.suspend()
        let answers = (2..<5).map { number in
            store.put(MadeEntry.key(number), MadeEntry.bytes(MadeEntry.key(number), version: 1, count: 200_000))
        }
        #expect(answers == [.accepted, .dropped, .dropped])
        // A newer copy takes the place of the one that waits.
        let newer = MadeEntry.bytes(MadeEntry.key(2), version: 2, count: 200_000)
        #expect(store.put(MadeEntry.key(2), newer) == .accepted)
        #expect(store.core.state.withLock { $0.isDrainQueued })
        store.core.queue.resume()
        store.flush()
        #expect(store.bytes(MadeEntry.key(2)) == newer)
        #expect(store.put(MadeEntry.key(6), MadeEntry.bytes(MadeEntry.key(6), version: 1, count: 1 << 20)) == .accepted)
        store.flush()
        for number in [1, 2, 6] { #expect(store.bytes(MadeEntry.key(number)) != nil, "entry \(number)") }
        store.limitMemory(to: nil, for: 2)
        #expect(settle() > least && store.core.state.withLock { $0.memory.divisor } > 1)
        store.limitMemory(to: nil, for: 1)
        _ = settle()
        #expect(store.core.state.withLock { $0.memory.divisor == 1 && $0.memory.readers == 4 })
        for number in [1, 2, 6] { #expect(store.bytes(MadeEntry.key(number)) != nil, "entry \(number)") }
        #expect(store.statistics.failures == 0)
        store.close()
        store.limitMemory(to: .bytes(0), for: 1)
        #expect(store.statistics.memorySize < .kibibytes(64))
    }

    /// Under a steady flow, a small buffer is written once for what waits, not once for each entry.
    @Test func oneDrainIsQueuedAtATime() throws {
        var state = DiskStoreState(limit: 4 << 20, options: .test())
        var claims = [state.claimEarlyDrain(), state.claimEarlyDrain(), state.claimDrain(), state.claimDrain()]
        state.isDrainQueued = false
        claims += [state.claimEarlyDrain(), state.claimDrain()]
        #expect(claims == [true, false, true, false, true, false])

        func write(_ number: Int) throws -> PendingWrite {
            let bytes = [UInt8](repeating: 1, count: 2000)
            return try bytes.withUnsafeBytes { payload in
                let entry = TileStoreEntry(
                    key: MadeEntry.key(number),
                    shape: MadeEntry.shape,
                    generation: 0,
                    freshness: TileStoreFreshness(stored: 1),
                    kind: .encoded,
                    payload: payload
                )
                return try #require(PendingWrite(entry, cost: 1))
            }
        }
        var buffer = WriteBuffer(capacity: 8000)
        var halfFull: [Bool] = []
        for number in 0..<3 {
            let isAdded = try buffer.add(write(number))
            #expect(isAdded)
            halfFull.append(buffer.isHalfFull)
            // What is being written takes room, but does not wait.
            if number == 1 { _ = buffer.take(bytes: 1 << 20) }
        }
        #expect(halfFull == [false, true, false] && buffer.byteCount > 6000)
        buffer.finish()
        #expect(!buffer.isHalfFull && (2000..<3000).contains(buffer.byteCount))
    }

    /// Uses beyond what a smaller log keeps are stored, not lost.
    @Test func usesAreStoredWhenTheLogShrinks() throws {
        let folder = ScratchFolder()
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(64), options: .test())
        for number in 0..<1200 { store.put(MadeEntry.key(number), [1]) }
        store.flush()
        for number in 0..<1200 { _ = store.bytes(MadeEntry.key(number)) }
        store.limitMemory(to: .bytes(0), for: 1)
        store.core.queue.sync { store.core.fitMemory() }
        let (most, waiting) = store.core.state.withLock { ($0.hits.most, $0.hits.uses.count) }
        #expect(most == 1024 && waiting == 0)
    }
}
