import CTileSQLite
import Foundation
import Synchronization
import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

/// Recovery of a store after failures, and its limits.
@Suite(.timeLimit(.minutes(45))) struct DiskRecoveryTests {
    static func open(_ folder: ScratchFolder, _ disk: FaultyDisk? = nil) throws -> TileDiskStore {
        try TileDiskStore(path: folder.path, byteLimit: .mebibytes(4), options: .test(disk))
    }

    static func fill(_ store: TileDiskStore, _ numbers: Range<Int> = 0..<40, bytes: Int = 60_000) {
        for number in numbers {
            let key = MadeEntry.key(number)
            store.put(key, MadeEntry.bytes(key, version: 1, count: bytes))
            if number % 8 == 7 { store.flush() }
        }
        store.flush()
    }

    static func sql(_ folder: ScratchFolder, _ text: String) throws -> Int {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        try #require(sqlite3_open(folder.database, &database) == SQLITE_OK)
        // The store may write.
        sqlite3_busy_timeout(database, 60_000)
        try #require(sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK)
        return sqlite3_step(statement) == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : 0
    }

    // MARK: - Resets

    /// A damaged tree may have rows that a scan finds and a deletion does not; here a trigger keeps them. Evicting
    /// ends, and the files are replaced.
    @Test func entriesThatCannotBeDeletedAreDamage() throws {
        let folder = ScratchFolder()
        let trigger = "CREATE TRIGGER keep BEFORE DELETE ON entry BEGIN SELECT RAISE(IGNORE); END"
        do {
            let store = try Self.open(folder)
            Self.fill(store)
            _ = try Self.sql(folder, trigger)
            #expect(store.statistics.resets == 0 && store.bytes(MadeEntry.key(39)) != nil)
            Self.fill(store, 40..<120)
            #expect(store.statistics.resets == 1 && store.statistics.failures == 1)
            #expect(store.bytes(MadeEntry.key(119)) != nil && store.bytes(MadeEntry.key(1)) == nil)
        }
        // While the limit is lowered.
        let large = ScratchFolder()
        let store = try TileDiskStore(path: large.path, byteLimit: .mebibytes(8), options: .test())
        Self.fill(store, 0..<100)
        _ = try Self.sql(large, trigger)
        #expect(try !store.setByteLimit(.mebibytes(4)))
        #expect(store.statistics.resets == 1 && store.statistics.entries == 0)
        Self.fill(store, 0..<8)
        #expect(store.bytes(MadeEntry.key(1)) != nil)
    }

    /// Nothing can be evicted without room for a journal. The store could not be opened, and kept all its bytes.
    @Test func aLowerLimitOnAFullDiskEmptiesTheStore() throws {
        let (folder, disk) = (ScratchFolder(), FaultyDisk())
        do {
            let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(8), options: .test(disk))
            Self.fill(store, 0..<100)
        }
        disk.set(.full(bytes: disk.state.withLock { $0.total }))
        let store = try Self.open(folder, disk)
        #expect(store.statistics.resets == 1 && folder.byteCount <= 4 << 20)
        Self.fill(store, 0..<8)
        #expect(store.bytes(MadeEntry.key(7)) != nil)
    }

    /// Pages that belong to no table and are not free either, after a crash of the system, leave no room for entries.
    @Test func aFileOfLostPagesIsReplaced() throws {
        let folder = ScratchFolder()
        try Self.fill(Self.open(folder), 0..<1, bytes: 1000)
        var database: OpaquePointer?
        #expect(sqlite3_open(folder.database, &database) == SQLITE_OK)
        let statements = """
            CREATE TABLE lost(x); INSERT INTO lost VALUES (zeroblob(2900000));
            PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'lost'
            """
        #expect(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)
        let store = try Self.open(folder)
        #expect(store.statistics.resets == 0 && store.bytes(MadeEntry.key(0)) != nil)
        Self.fill(store, 0..<16)
        #expect(store.statistics.resets == 1 && store.statistics.failures == 1)
        Self.fill(store, 0..<16)
        for number in 0..<16 { #expect(store.bytes(MadeEntry.key(number)) != nil) }
    }

    @Test func aNewFileThatIsDamagedIsNotReplacedAgain() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        Self.fill(store)
        disk.set(.damagedSyncs)
        #expect(!store.raiseGeneration(of: MadeEntry.namespaces[0], to: 1))
        // The first raise, and the one in the new file.
        #expect(store.statistics.resets == 1 && store.statistics.failures == 2)
        disk.set(nil)
        #expect(store.raiseGeneration(of: MadeEntry.namespaces[0], to: 1))
        let key = MadeEntry.key(1)
        #expect(store.put(key, MadeEntry.bytes(key, version: 1, count: 500), generation: 1) == .accepted)
        store.flush()
        #expect(store.bytes(key) != nil && store.presence(of: key) == .present)
        #expect(store.presence(of: MadeEntry.key(2)) == .absent)
    }

    @Test func evictionsAreCountedAcrossAReset() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        Self.fill(store, 0..<120)
        let evictions = store.statistics.evictions
        #expect(evictions > 40)
        disk.set(.damagedReads(isWritable: true))
        for number in 0..<120 where store.cause(MadeEntry.key(number)) == .corrupt { break }
        store.flush()
        disk.set(nil)
        store.flush()
        #expect(store.statistics.resets == 1 && store.statistics.evictions == evictions)
        Self.fill(store, 0..<120)
        #expect(store.statistics.evictions > evictions + 40)
    }

    @Test func filesThatCouldNotBeReplacedAreReplacedLater() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        Self.fill(store)
        let key = MadeEntry.key(1)
        disk.set(.damagedReads(isWritable: false))
        #expect(store.cause(key) == .corrupt)
        store.flush()
        #expect(store.isReadOnly && store.statistics.resets == 0 && store.put(key, [1]) == .refused)
        #expect(store.bytes(key) == nil && !store.remove([key]))
        disk.set(nil)
        store.flush()
        #expect(!store.isReadOnly && store.statistics.resets == 1 && store.statistics.entries == 0)
        Self.fill(store)
        #expect(store.bytes(key) != nil && store.presence(of: key) == .present)
    }

    // MARK: - Writing after a failure

    /// Statements that write nothing give no information about the disk.
    @Test func onlyAWriteEndsThePause() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        Self.fill(store, 0..<8)
        disk.set(.readOnly)
        let key = MadeEntry.key(50)
        #expect(store.put(key, [1, 2, 3]) == .accepted)
        store.flush()
        #expect(store.isReadOnly && store.put(key, [1, 2, 3]) == .refused)
        #expect(store.remove([MadeEntry.key(99)]))
        store.flush()
        #expect(store.isReadOnly && store.put(key, [1, 2, 3]) == .refused)
        disk.set(nil)
        #expect(store.raiseGeneration(of: MadeEntry.namespaces[1], to: 1))
        #expect(!store.isReadOnly && store.put(key, [1, 2, 3]) == .accepted)
    }

    @Test func removalsThatFailAreReported() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        Self.fill(store, 0..<8)
        disk.set(.readOnly)
        #expect(!store.remove([MadeEntry.key(1)]) && !store.remove(MadeEntry.namespaces[0]))
        #expect(store.bytes(MadeEntry.key(1)) != nil)
        disk.set(nil)
        #expect(store.remove([MadeEntry.key(1)]) && store.cause(MadeEntry.key(1)) == .absent)
        #expect(store.remove(MadeEntry.namespaces[0]) && store.statistics.entries == 0)
        #expect(store.remove(MadeEntry.namespaces[2]), "of which there are none")
        store.close()
        #expect(!store.remove(MadeEntry.namespaces[0]))
    }

    // MARK: - Look-ups that must end

    /// Another connection holds the file's lock while the first look-up opens its connection.
    @Test func openingAConnectionHasADeadline() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        Self.fill(store, 0..<8)
        store.completeFilter()
        var other: OpaquePointer?
        #expect(sqlite3_open(folder.database, &other) == SQLITE_OK)
        #expect(sqlite3_exec(other, "BEGIN EXCLUSIVE", nil, nil, nil) == SQLITE_OK)
        let key = MadeEntry.key(1)
        #expect(store.get(key, shape: MadeEntry.shape, deadline: .now) { _ in } == .late)
        #expect(sqlite3_exec(other, "COMMIT", nil, nil, nil) == SQLITE_OK)
        sqlite3_close(other)
        #expect(store.bytes(key) != nil)
    }

    @Test func aClosedPoolOpensNoConnection() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        try Self.fill(Self.open(folder), 0..<8)
        let pool = ReaderPool(path: folder.database, vfs: disk.name, capacity: 2, pages: 24)
        let deadline = MonotonicTime.now.advanced(by: .seconds(600))
        let id = MadeEntry.key(1).clusteredHash
        var found = try pool.read(id, atMost: 99, until: deadline)
        #expect(found != nil)
        pool.whileClosed(forever: false) {}
        found = try pool.read(id, atMost: 99, until: deadline)
        #expect(found != nil, "closed for a while")
        pool.whileClosed(forever: true) {}
        let reads = disk.state.withLock { $0.reads }
        do {
            found = try pool.read(id, atMost: 99, until: deadline)
            Issue.record("read after the pool was closed")
        } catch {
            #expect(error.kind == .closed && disk.state.withLock { $0.reads } == reads)
        }
    }

    /// A flush does not include entries that are put during it.
    @Test func aFlushIsBounded() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        Self.fill(store, 0..<1)
        let isOver = Atomic(false)
        let isPutting = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let key = MadeEntry.key(2)
            var version: UInt64 = 0
            let bytes = MadeEntry.bytes(key, version: 0, count: 1000)
            while !isOver.load(ordering: .relaxed) {
                version += 1
                store.put(MadeEntry.key(Int(version % 300)), bytes)
                if version == 500 { isPutting.signal() }
            }
            ended.signal()
        }
        isPutting.wait()
        for _ in 0..<20 { store.flush() }
        #expect(try store.setByteLimit(.mebibytes(5)))
        isOver.store(true, ordering: .relaxed)
        ended.wait()
    }

    // MARK: - Memory

    @Test func memoryHasTheLargestEntryAndAFilterThatIsBuilt() throws {
        let folder = ScratchFolder()
        var options = TileDiskStoreOptions.test()
        options.readers = 3
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(64), options: options)
        store.completeFilter()
        let empty = store.statistics.memorySize.bytes
        let key = MadeEntry.key(1)
        store.put(key, MadeEntry.bytes(key, version: 1, count: 1_000_000))
        store.flush()
        // Two copies for each reader and for the writer: of the payload and of 120 bytes of header.
        let grown = store.statistics.memorySize.bytes - empty
        #expect(grown >= 8 * 1_000_120 && grown < 8 * 1_000_120 + 1024)
        for number in 2...9000 { store.put(MadeEntry.key(number), [1]) }
        store.flush()
        // So that the next one starts with all entries.
        store.completeFilter()
        let filters = CuckooFilter(expecting: 9000).byteCount - CuckooFilter(expecting: 0).byteCount
        store.core.queue.sync {
            // 9,000 entries take three steps of the queue.
            store.core.buildFilter()
            #expect(store.presence(of: key) == .unknown)
            #expect(store.statistics.memorySize.bytes - empty - grown >= filters)
        }
    }
}
