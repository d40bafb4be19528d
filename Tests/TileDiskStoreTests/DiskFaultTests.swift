import CTileSQLite
import Foundation
import TestSupport
import Testing
import TileCache

@testable import TileDiskStore

/// Damage and failing disks. Misses and refusals, never wrong bytes, and a store that opens the next time.
@Suite struct DiskFaultTests {
    private static let limit = ByteCount.mebibytes(4)

    private static func open(_ folder: ScratchFolder, _ disk: FaultyDisk? = nil) throws -> TileDiskStore {
        try TileDiskStore(path: folder.path, byteLimit: limit, options: .test(disk))
    }

    /// Puts, removals and invalidations from a seed.
    private static func work(_ store: TileDiskStore, seed: UInt64, steps: Int) {
        var random = SplitMix64(seed: seed)
        for step in 0..<steps {
            let key = MadeEntry.key(random.below(60), namespace: random.below(2))
            switch random.below(20) {
            case 0: store.remove([key])
            case 1: store.flush()
            case 2: store.renew(key, TileStoreFreshness(stored: Int64(step)))
            default:
                let count = 8 + random.below(random.oneIn(4) ? 200_000 : 40_000)
                store.put(key, MadeEntry.bytes(key, version: UInt64(step), count: count))
            }
            if step % 6 == 5 { store.flush() }
        }
    }

    /// Reads all entries; returns how many there are.
    private static func verify(_ store: TileDiskStore, _ comment: String) -> Int {
        var found = 0
        for namespace in 0..<2 {
            for number in 0..<60 {
                let key = MadeEntry.key(number, namespace: namespace)
                guard let bytes = store.bytes(key) else { continue }
                found += 1
                #expect(MadeEntry.isGenuine(bytes, key), "\(comment): \(key)")
            }
        }
        return found
    }

    /// The process ends after each of many writes, in the middle of the next one.
    @Test func powerCuts() throws {
        var (entries, empty) = (0, 0)
        for cut in stride(from: 0, to: 800, by: 20) {
            let folder = ScratchFolder()
            do {
                let store = try Self.open(folder)
                Self.work(store, seed: 1, steps: 12)
            }
            let disk = FaultyDisk()
            disk.set(.powerCut(after: cut))
            if let store = try? Self.open(folder, disk) {
                Self.work(store, seed: UInt64(cut), steps: 80)
                _ = Self.verify(store, "cut \(cut), while it fails")
            }
            #expect(folder.byteCount <= Self.limit.bytes, "cut \(cut)")
            let store = try Self.open(folder)
            let found = Self.verify(store, "cut \(cut)")
            entries += found
            if found == 0 { empty += 1 }
            // An interrupted write is no damage: every committed entry stays.
            #expect(store.statistics.resets == 0, "cut \(cut): \(store.lastFailure ?? "")")
            Self.work(store, seed: 2, steps: 10)
            #expect(store.statistics.failures == 0, "cut \(cut): \(store.lastFailure ?? "")")
        }
        #expect(entries > 300 && empty == 0)
    }

    @Test func bitFlips() throws {
        let seed: UInt64 = 21
        var random = SplitMix64(seed: seed)
        let original = ScratchFolder()
        do {
            let store = try Self.open(original)
            Self.work(store, seed: 3, steps: 60)
        }
        let file = try Data(contentsOf: URL(filePath: original.database))
        var (corrupt, resets, found) = (0, 0, 0)
        // More on request: TILECACHE_STORE_ROUNDS=10000.
        let rounds = ProcessInfo.processInfo.environment["TILECACHE_STORE_ROUNDS"].flatMap(Int.init) ?? 40
        for round in 0..<rounds {
            let folder = ScratchFolder()
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            var damaged = file
            // The first pages matter most; the number of flipped bits goes from one to thousands.
            let flips = 1 << random.below(13)
            for _ in 0..<flips {
                let range = random.oneIn(3) ? 16_384 * 6 : file.count
                damaged[random.below(range)] ^= 1 << UInt8(random.below(8))
            }
            try damaged.write(to: URL(filePath: folder.database))
            do {
                let store = try Self.open(folder)
                found += Self.verify(store, "seed \(seed), round \(round)")
                Self.work(store, seed: UInt64(round), steps: 30)
                found += Self.verify(store, "seed \(seed), round \(round), after writes")
                corrupt += store.statistics.misses[.corrupt] ?? 0
                resets += store.statistics.resets
                #expect(folder.byteCount <= Self.limit.bytes, "seed \(seed), round \(round)")
                // The store works again, whatever it had to drop.
                store.flush()
                let key = MadeEntry.key(1)
                // A damaged generation is an invalidation.
                let generation = store.generation(of: key.namespace)
                store.put(key, MadeEntry.bytes(key, version: 9, count: 500), generation: generation)
                #expect(store.bytes(key) != nil, "seed \(seed), round \(round): \(store.lastFailure ?? "")")
            } catch TileDiskStoreError.newerSchema {
                Issue.record("seed \(seed), round \(round): damage is mistaken for a later version")
            }
        }
        #expect(found > 100 && corrupt > 5 && resets > 5, "\(found) found, \(corrupt) corrupt, \(resets) resets")
    }

    /// The journal of a process that was ended states how long the file was before.
    @Test func aDamagedJournalIsRemoved() throws {
        let (folder, disk) = (ScratchFolder(), FaultyDisk())
        try Self.work(Self.open(folder), seed: 1, steps: 12)
        disk.set(.powerCut(after: 12))
        do {
            let store = try Self.open(folder, disk)
            Self.work(store, seed: 2, steps: 20)
            store.flush()
        }
        let journal = URL(filePath: folder.database + "-journal")
        var bytes = try Data(contentsOf: journal)
        try #require(bytes.count > 512)
        bytes.replaceSubrange(16..<20, with: [127, 255, 255, 255])
        try bytes.write(to: journal)
        let store = try Self.open(folder)
        #expect(store.statistics.resets == 1)
        Self.work(store, seed: 3, steps: 10)
        #expect(Self.verify(store, "after a damaged journal") > 0)
    }

    @Test(arguments: ["", "not a database", String(repeating: "SQLite format 3\0", count: 4096)])
    func filesThatAreNoDatabase(contents: String) throws {
        let folder = ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try contents.write(toFile: folder.database, atomically: false, encoding: .utf8)
        let store = try Self.open(folder)
        Self.work(store, seed: 1, steps: 20)
        #expect(Self.verify(store, contents) > 5)
        #expect(store.statistics.resets == (contents.isEmpty ? 0 : 1) && store.statistics.failures == 0)
    }

    @Test func aNewerSchemaIsRefusedAndKept() throws {
        let folder = ScratchFolder()
        do {
            let store = try Self.open(folder)
            Self.work(store, seed: 1, steps: 10)
        }
        var database: OpaquePointer?
        #expect(sqlite3_open(folder.database, &database) == SQLITE_OK)
        sqlite3_exec(
            database,
            "PRAGMA user_version = 2; UPDATE store SET value = 2 WHERE name = 'version'",
            nil,
            nil,
            nil
        )
        sqlite3_close(database)
        let before = try Data(contentsOf: URL(filePath: folder.database))
        #expect(throws: TileDiskStoreError.newerSchema(path: folder.path, version: 2)) { try Self.open(folder) }
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
    }

    /// Damaged numbers neither trap nor take memory: the store works, empty or not.
    @Test(arguments: [
        "UPDATE store SET value = 9223372036854775807 WHERE name = 'entries'",
        "UPDATE store SET value = 1000000000000 WHERE name = 'entries'",
        "UPDATE store SET value = -5 WHERE name = 'entries'",
        "UPDATE namespace SET number = 9223372036854775807 WHERE number = 1",
        "UPDATE namespace SET number = -1 WHERE number = 1",
        // Entries of the highest generation would outlive every invalidation.
        "UPDATE namespace SET generation = -1",
    ]) func absurdNumbers(statement: String) throws {
        let folder = ScratchFolder()
        try Self.work(Self.open(folder), seed: 1, steps: 10)
        var database: OpaquePointer?
        #expect(sqlite3_open(folder.database, &database) == SQLITE_OK)
        #expect(sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)
        let store = try Self.open(folder)
        store.completeFilter()
        let key = MadeEntry.key(1, namespace: 1)
        store.put(key, MadeEntry.bytes(key, version: 9, count: 500))
        store.flush()
        #expect(store.bytes(key) != nil)
        #expect(store.statistics.memorySize < .mebibytes(64))
    }

    /// Nothing of a file's own runs: a view, a trigger or an expression may take for ever. Nor are all of the namespaces
    /// read that a file may have.
    @Test(arguments: [
        "CREATE VIEW other AS SELECT 1",
        "DROP TABLE payload; CREATE VIEW payload AS SELECT 1 AS id, x'00' AS bytes",
        "DROP TABLE store; CREATE VIEW store AS SELECT 'version' AS name, 1 AS value",
        "CREATE TRIGGER other AFTER INSERT ON entry BEGIN DELETE FROM payload; END",
        "ALTER TABLE entry ADD COLUMN other AS (1)",
        "CREATE INDEX other ON entry(priority)",
        """
        WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n LIMIT \(DiskWriter.mostNamespaces))
        INSERT INTO namespace SELECT i, i, i, 0 FROM n
        """,
    ]) func aFileWithOtherTablesIsReplaced(statement: String) throws {
        let folder = ScratchFolder()
        try Self.work(Self.open(folder), seed: 1, steps: 10)
        var database: OpaquePointer?
        #expect(sqlite3_open(folder.database, &database) == SQLITE_OK)
        #expect(sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)
        let store = try Self.open(folder)
        #expect(store.statistics.resets == 1 && store.statistics.entries == 0)
        Self.work(store, seed: 2, steps: 10)
        #expect(Self.verify(store, statement) > 0)
    }

    @Test func aReadOnlyDisk() throws {
        let folder = ScratchFolder()
        let key = MadeEntry.key(1)
        do {
            let store = try Self.open(folder)
            store.put(key, MadeEntry.bytes(key, version: 1, count: 50_000))
        }
        let disk = FaultyDisk()
        disk.set(.readOnly)
        let store = try Self.open(folder, disk)
        #expect(store.isReadOnly)
        #expect(store.bytes(key) != nil)
        #expect(store.put(MadeEntry.key(2), [1]) == .refused)
        for _ in 0..<2 { #expect(!store.raiseGeneration(of: key.namespace, to: 1)) }
        #expect(store.cause(key) == .oldGeneration, "in memory all the same")
        #expect(try !store.setByteLimit(.mebibytes(8)))
        store.completeFilter()
        #expect(store.presence(of: key) == .present)
    }

    @Test func aDiskThatBecomesReadOnly() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        let (key, other) = (MadeEntry.key(1), MadeEntry.key(2))
        store.put(key, MadeEntry.bytes(key, version: 1, count: 50_000))
        store.flush()
        disk.set(.readOnly)
        #expect(store.put(other, MadeEntry.bytes(other, version: 1, count: 50_000)) == .accepted)
        store.flush()
        #expect(store.statistics.failures == 1 && store.statistics.dropped == 1)
        // Writing is retried only after a pause.
        #expect(store.put(other, [1]) == .refused)
        #expect(store.bytes(key) != nil && store.cause(other) == .absent)
    }

    /// A generation that could not be stored is stored with the first of its entries. In the next run it would be chosen
    /// again, and these would count as newer than its invalidation.
    @Test func aGenerationIsStoredBeforeItsEntries() throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let key = MadeEntry.key(1)
        do {
            let store = try Self.open(folder, disk)
            #expect(store.put(key, MadeEntry.bytes(key, version: 1, count: 5000), generation: 1) == .accepted)
            disk.set(.readOnly)
            #expect(!store.raiseGeneration(of: key.namespace, to: 1))
            disk.set(nil)
            store.flush()
            #expect(store.bytes(key) != nil)
        }
        let store = try Self.open(folder)
        #expect(store.generation(of: key.namespace) == 1 && store.bytes(key) != nil)
    }

    @Test(arguments: [200_000, 1_000_000, 2_000_000])
    func aFullDisk(bytes: Int) throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        let store = try Self.open(folder, disk)
        disk.set(.full(bytes: bytes))
        Self.work(store, seed: 4, steps: 150)
        #expect(disk.state.withLock { $0.peak } <= bytes)
        let found = Self.verify(store, "full")
        #expect(store.statistics.resets == 0, "\(store.lastFailure ?? "")")
        if bytes >= 1_000_000 { #expect(found > 0) }
        disk.set(nil)
        store.close()
        let again = try Self.open(folder)
        Self.work(again, seed: 5, steps: 60)
        #expect(Self.verify(again, "with room again") > 10)
        #expect(again.statistics.failures == 0, "\(again.lastFailure ?? "")")
    }

    /// With some room left on the disk, entries make room for others. The journal of many evictions at once has none.
    @Test func entriesAreReplacedOnAFullDisk() throws {
        let (folder, disk) = (ScratchFolder(), FaultyDisk())
        defer { withExtendedLifetime(folder) {} }
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(64), options: .test(disk))
        func fill(_ numbers: Range<Int>) {
            for number in numbers {
                let key = MadeEntry.key(number)
                store.put(key, MadeEntry.bytes(key, version: 1, count: 30_000))
            }
            store.flush()
        }
        fill(0..<100)
        let room = 400_000
        store.core.queue.sync { store.core.freeBytes = { room } }
        disk.set(.full(bytes: disk.state.withLock { $0.total } + room))
        for number in [100, 125, 150] { fill(number..<number + 25) }
        #expect(store.statistics.failures == 0, "\(store.lastFailure ?? "")")
        #expect((100..<175).allSatisfy { store.bytes(MadeEntry.key($0)) != nil })
    }

    /// Evictions do not help if the disk has no room for the journal. Each batch made further ones: of 1,120 entries 45
    /// were left.
    @Test func entriesAreNotEvictedForAJournalWithoutRoom() throws {
        let (folder, disk) = (ScratchFolder(), FaultyDisk())
        defer { withExtendedLifetime(folder) {} }
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(16), options: .test(disk))
        func fill(_ numbers: Range<Int>) {
            // As if the pause after a failure were over.
            store.core.state.withLock { $0.pause.succeed() }
            for number in numbers {
                let key = MadeEntry.key(number)
                store.put(key, MadeEntry.bytes(key, version: 1, count: 8000))
            }
            store.flush()
        }
        for batch in 0..<10 { fill(batch * 112..<batch * 112 + 112) }
        store.core.queue.sync { store.core.freeBytes = { 0 } }
        disk.set(.full(bytes: disk.state.withLock { $0.total } + 160_000))
        for batch in 0..<200 { fill(11_200 + batch * 112..<11_210 + batch * 112) }
        let entries = try #require(store.statistics.entries)
        #expect(entries > 800 && store.statistics.failures > 0, "\(entries) entries")
    }

    /// An entry is larger than the file, which cannot grow: the others stay.
    @Test func aFullDiskHasNoRoomForAnEntryLargerThanTheFile() throws {
        let (folder, disk) = (ScratchFolder(), FaultyDisk())
        defer { withExtendedLifetime(folder) {} }
        let store = try TileDiskStore(path: folder.path, byteLimit: .mebibytes(64), options: .test(disk))
        func put(_ number: Int, count: Int) -> TileStorePut {
            store.put(MadeEntry.key(number), MadeEntry.bytes(MadeEntry.key(number), version: 1, count: count))
        }
        for number in 0..<10 { #expect(put(number, count: 30_000) == .accepted) }
        store.flush()
        store.core.queue.sync { store.core.freeBytes = { 400_000 } }
        disk.set(.full(bytes: disk.state.withLock { $0.total } + 400_000))
        #expect(put(50, count: 1_500_000) == .accepted)
        store.flush()
        #expect((0..<10).allSatisfy { store.bytes(MadeEntry.key($0)) != nil } && store.statistics.evictions == 0)
    }

    @Test(arguments: [4, 40, 400] as [UInt64])
    func readsAndWritesThatFail(chances: UInt64) throws {
        let folder = ScratchFolder()
        let disk = FaultyDisk()
        do {
            let store = try Self.open(folder, disk)
            Self.work(store, seed: 6, steps: 30)
            disk.set(.errors(oneIn: chances))
            for round in 0..<5 {
                Self.work(store, seed: chances + UInt64(round), steps: 30)
                _ = Self.verify(store, "errors")
            }
            disk.set(nil)
        }
        let store = try Self.open(folder)
        _ = Self.verify(store, "after errors")
        Self.work(store, seed: 7, steps: 30)
        #expect(Self.verify(store, "after errors, and writes") > 5)
        #expect(store.statistics.failures == 0, "\(store.lastFailure ?? "")")
    }
}
