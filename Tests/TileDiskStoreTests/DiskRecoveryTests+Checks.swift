import Foundation
import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

/// Checks of the files after reads that found damage.
extension DiskRecoveryTests {
    /// A store with entries and its filter, and the number of its pages.
    private static func filled() throws -> (ScratchFolder, FaultyDisk, TileDiskStore, pages: Int) {
        let (folder, disk) = (ScratchFolder(), FaultyDisk())
        let store = try open(folder, disk)
        fill(store)
        store.completeFilter()
        return (folder, disk, store, try sql(folder, "PRAGMA page_count"))
    }

    @Test func damagedReadsCauseOneCheck() throws {
        let (folder, disk, store, pages) = try Self.filled()
        defer { withExtendedLifetime(folder) {} }
        store.core.queue.suspend()
        disk.set(.damagedReads(isWritable: true))
        for number in 0..<20 { #expect(store.cause(MadeEntry.key(number)) == .corrupt) }
        disk.set(nil)
        let before = disk.state.withLock { $0.reads }
        store.core.queue.resume()
        store.flush()
        let reads = disk.state.withLock { $0.reads } - before
        #expect(reads > pages / 2 && reads < 2 * pages, "\(reads) reads of \(pages) pages")
        #expect(store.statistics.resets == 0 && store.bytes(MadeEntry.key(1)) != nil)
        // A later one is checked again.
        disk.set(.damagedReads(isWritable: true))
        #expect(store.cause(MadeEntry.key(30)) == .corrupt)
        store.flush()
        #expect(store.statistics.resets == 1)
    }

    /// A check of many pages does not hold up the end of a program.
    @Test func closingEndsACheck() throws {
        let (folder, disk, store, pages) = try Self.filled()
        store.core.queue.suspend()
        disk.set(.damagedReads(isWritable: true))
        #expect(store.cause(MadeEntry.key(1)) == .corrupt)
        disk.set(nil)
        let ended = DispatchSemaphore(value: 0)
        let before = disk.state.withLock { state in
            // The first read of the check.
            state.onRead = {
                Thread.detachNewThread {
                    store.close()
                    ended.signal()
                }
                while !store.core.state.withLock({ $0.isClosed }) { sched_yield() }
            }
            return state.reads
        }
        store.core.queue.resume()
        ended.wait()
        let reads = disk.state.withLock { $0.reads } - before
        #expect(reads < pages / 4, "\(reads) reads of \(pages) pages")
        #expect(store.statistics.failures == 0 && store.statistics.resets == 0)
        #expect(try Self.open(folder).bytes(MadeEntry.key(1)) != nil)
    }

    @Test func nothingIsCheckedThatCannotBeReplaced() throws {
        let folder = ScratchFolder()
        try Self.fill(Self.open(folder))
        let disk = FaultyDisk()
        disk.set(.readOnly)
        let store = try Self.open(folder, disk)
        store.completeFilter()
        disk.set(.damagedReads(isWritable: true))
        for number in 0..<3 { #expect(store.cause(MadeEntry.key(number)) == .corrupt) }
        store.flush()
        #expect(store.statistics.failures == 0 && store.statistics.resets == 0)
    }

    /// No tile needs it, and each look-up would copy it twice.
    @Test func aForgedEntryIsNotCopied() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        Self.fill(store, 0..<3)
        let (key, most) = (MadeEntry.key(1), MadeEntry.shape.largestPayload)
        func read(_ most: Int) throws -> Int? {
            let end = MonotonicTime.now.advanced(by: .seconds(600))
            return try store.core.pool.read(key.clusteredHash, atMost: most, until: end)?.payload.count
        }
        let count = try #require(store.bytes(key)?.count)
        #expect(try [read(count - 1), read(count)] == [0, count])
        let other = Int64(bitPattern: MadeEntry.key(2).clusteredHash)
        _ = try Self.sql(folder, "UPDATE entry SET header = zeroblob(\(most + 1)) WHERE id = \(other)")
        #expect(store.cause(MadeEntry.key(2)) == .truncated)
        // The store has deleted it: it would hold a lock during the next statement.
        store.flush()
        #expect(try Self.sql(folder, "SELECT count(*) FROM entry WHERE id = \(other)") == 0)
        _ = try Self.sql(folder, "UPDATE payload SET bytes = CAST(zeroblob(200) AS TEXT)")
        #expect(try read(most) == 0 && store.cause(MadeEntry.key(0)) == .truncated)
        // The store has deleted the other one.
        store.flush()
        _ = try Self.sql(folder, "UPDATE payload SET bytes = zeroblob(\(most + 1))")
        #expect(store.cause(key) == .truncated)
    }

    /// Nor is an entry deleted that cannot be.
    @Test func aDamagedEntryOfAReadOnlyStoreStays() throws {
        let folder = ScratchFolder()
        try Self.fill(Self.open(folder), 0..<8)
        _ = try Self.sql(folder, "UPDATE payload SET bytes = zeroblob(length(bytes))")
        let disk = FaultyDisk()
        disk.set(.readOnly)
        let store = try Self.open(folder, disk)
        for _ in 0..<2 { #expect(store.cause(MadeEntry.key(1)) == .corrupt) }
        store.flush()
        #expect(store.statistics.failures == 0 && store.lastFailure == nil)
    }

    /// It is deleted later than it is read. What was written in between stays.
    @Test func theSuccessorOfADamagedEntryStays() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        let key = MadeEntry.key(1)
        func write(version: UInt64) throws -> [UInt8] {
            store.put(key, MadeEntry.bytes(key, version: version, count: 100))
            store.flush()
            let end = MonotonicTime.now.advanced(by: .seconds(600))
            let entry = try #require(try store.core.pool.read(key.clusteredHash, atMost: 1000, until: end))
            return withExtendedLifetime(entry) { Array(entry.header) }
        }
        func delete(_ header: [UInt8]) {
            store.core.queue.sync {
                _ = store.core.attempt { writer throws(SQLFailure) in
                    try writer.delete(key.clusteredHash, header: header)
                }
            }
        }
        let (old, new) = (try write(version: 1), try write(version: 2))
        delete(old)
        #expect(store.bytes(key).map(MadeEntry.version(of:)) == 2 && store.statistics.entries == 1)
        delete(new)
        #expect(store.cause(key) == .absent && store.statistics.entries == 0)
    }

    /// A full disk is no sign of damage. With room on the disk, the same error is.
    @Test(arguments: [false, true]) func onlyAFullFileIsChecked(hasRoom: Bool) throws {
        let (folder, disk, store, pages) = try Self.filled()
        defer { withExtendedLifetime(folder) {} }
        store.core.queue.sync { store.core.freeBytes = { hasRoom ? .max : 0 } }
        disk.set(.full(bytes: disk.state.withLock { $0.total }))
        let before = disk.state.withLock { $0.reads }
        let key = MadeEntry.key(50)
        #expect(store.put(key, MadeEntry.bytes(key, version: 1, count: 60_000)) == .accepted)
        // The second one runs after a check.
        for _ in 0..<2 { store.flush() }
        let reads = disk.state.withLock { $0.reads } - before
        #expect((reads > pages / 2) == hasRoom, "\(reads) reads of \(pages) pages")
        #expect(store.statistics.failures == 1 && store.statistics.resets == 0)
    }

    /// A check that had to wait for room on the disk comes with the next failure, and then not again.
    @Test func aFullFileIsCheckedOnceThereIsRoom() throws {
        let (folder, disk, store, pages) = try Self.filled()
        defer { withExtendedLifetime(folder) {} }
        func reads(room: Int) -> Int {
            let before = disk.state.withLock { $0.reads }
            store.core.queue.sync {
                store.core.freeBytes = { room }
                // SQLITE_FULL.
                store.core.attempt { _ throws(SQLFailure) in throw SQLFailure(13, "full") }
            }
            store.core.queue.sync {}
            return disk.state.withLock { $0.reads } - before
        }
        #expect(reads(room: 0) == 0)
        #expect(reads(room: .max) > pages / 2)
        #expect(reads(room: .max) == 0)
    }

    @Test func aFilterIsCompletedAfterAFailedRead() throws {
        let (folder, disk, store, _) = try Self.filled()
        defer { withExtendedLifetime(folder) {} }
        let (key, other) = (MadeEntry.key(1), MadeEntry.key(50))
        store.core.queue.sync {
            disk.set(.errors(oneIn: 1))
            store.core.buildFilter()
            disk.set(nil)
            #expect(store.presence(of: key) == .unknown && store.presence(of: other) == .unknown)
            // Stands for the end of the pause.
            store.core.continueFilter()
        }
        #expect(store.presence(of: key) == .present && store.presence(of: other) == .absent)
        #expect(store.statistics.failures == 1 && store.statistics.resets == 0)
    }
}
