import CTileSQLite
import Testing
import TileCache

@testable import TileDiskStore

/// Namespaces that make room for others.
extension DiskRecoveryTests {
    private static func key(_ namespace: Int) -> TileStoreKey {
        TileStoreKey(
            namespace: TileStoreNamespace(high: UInt64(namespace), low: 1),
            tile: TileCoordinate(level: 0, column: 0, row: 0)
        )
    }

    private static let orphans = """
        SELECT count(*) FROM entry WHERE namespace NOT IN (SELECT number FROM namespace)
        """

    @Test func theLeastRecentlyUsedNamespaceMakesRoom() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        let most = DiskWriter.mostNamespaces
        for number in 0..<most {
            store.put(Self.key(number), [1, 2, 3])
            if number % 1000 == 999 { store.flush() }
        }
        store.flush()
        #expect(store.statistics.entries == most)
        for number in [0, 1, 3] { #expect(store.bytes(Self.key(number)) != nil) }
        store.put(Self.key(2), [4])
        for number in most..<most + 2 {
            store.put(Self.key(number), [1, 2, 3])
            store.flush()
        }
        let absent = (0..<most + 2).filter { store.bytes(Self.key($0)) == nil }
        #expect(absent == [4, 5])
        #expect(store.statistics.entries == most && store.statistics.evictions == 2)
    }

    /// One batch has more namespaces than a store: no entry is left without its namespace.
    @Test func aBatchOfTooManyNamespaces() throws {
        let folder = ScratchFolder()
        let store = try Self.open(folder)
        let most = DiskWriter.mostNamespaces
        for number in 0..<most + 100 { store.put(Self.key(number), [1]) }
        store.flush()
        #expect(try Self.sql(folder, Self.orphans) == 0)
        #expect(try Self.sql(folder, "SELECT count(*) FROM namespace") == most)
        let counts = store.statistics
        #expect(counts.entries == most && counts.writes + counts.dropped == most + 100)
        let found = (0..<most + 100).count { store.bytes(Self.key($0)) != nil }
        #expect(found == most)
    }

    /// The row of a new namespace needs a page, and the file has none.
    @Test func aNamespaceMakesRoomForItsRow() throws {
        let folder = ScratchFolder()
        try Self.fill(Self.open(folder))
        var database: OpaquePointer?
        try #require(sqlite3_open(folder.database, &database) == SQLITE_OK)
        let pages = DiskBudget(limit: 4 << 20).maximumPages
        let settings = "PRAGMA synchronous = OFF; PRAGMA max_page_count = \(pages)"
        #expect(sqlite3_exec(database, settings, nil, nil, nil) == SQLITE_OK)
        func rows(_ text: (Int) -> String) -> Int {
            (1...2000).first { sqlite3_exec(database, text($0), nil, nil, nil) != SQLITE_OK } ?? 0
        }
        // Payloads without an entry take the rest of the file, and namespaces that of their page.
        #expect(rows { "INSERT INTO payload VALUES (\($0), zeroblob(16000))" } > 1)
        #expect(sqlite3_errcode(database) == SQLITE_FULL)
        #expect(rows { "INSERT INTO namespace VALUES (\(1000 + $0), -1, \(1 << 60 + $0), 1)" } > 100)
        #expect(sqlite3_errcode(database) == SQLITE_FULL)
        sqlite3_close(database)
        let store = try Self.open(folder)
        #expect(store.raiseGeneration(of: MadeEntry.namespaces[2], to: 1), "\(store.lastFailure ?? "")")
        let key = MadeEntry.key(1, namespace: 1)
        store.put(key, MadeEntry.bytes(key, version: 1, count: 500))
        store.flush()
        #expect(store.bytes(key) != nil && store.statistics.failures == 0)
        #expect(store.statistics.evictions > 0 && store.statistics.resets == 0)
        #expect(folder.byteCount <= 4 << 20)
    }
}
