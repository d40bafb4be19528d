/// Tables of a store, and how a connection for writing is opened.
enum DiskSchema {
    /// Version of the tables; part of the table `store` for ever, under the name `version`.
    static let version = 1
    /// The same in all versions.
    private static let store = "CREATE TABLE store(name TEXT PRIMARY KEY, value) WITHOUT ROWID"
    /// All statements, as SQLite keeps them.
    private static let tables = [
        store,
        "CREATE TABLE namespace(number INTEGER PRIMARY KEY, high INTEGER, low INTEGER, generation INTEGER)",
        // Small rows, apart from the payloads: the filter and evictions read only these.
        """
        CREATE TABLE entry(id INTEGER PRIMARY KEY, namespace INTEGER, generation INTEGER, checksum INTEGER,
        bytes INTEGER, cost INTEGER, uses INTEGER, priority REAL, header BLOB)
        """,
        "CREATE TABLE payload(id INTEGER PRIMARY KEY, bytes BLOB)",
    ]
    /// The header of an entry; empty if it is longer than any can be, which is forged. The type and the length of a blob
    /// are known without its bytes.
    static let header = "CASE WHEN typeof(header) = 'blob' AND length(header) <= 4096 THEN header END"
    /// "TCST", in the header of the file.
    private static let application = 0x5443_5354

    /// What a store has when it is opened.
    enum State {
        case empty
        case current
        case newer(Int)
        /// An intact database of another program.
        case foreign
        /// Damaged.
        case unusable
    }

    /// Journal and memory of the connection that writes.
    ///
    /// Without syncs: an operating system that crashes may leave a damaged file, which is replaced. Pages of a
    /// transaction stay in memory until it ends, so that each is written once. Statement journals are in memory.
    static func configure(_ connection: SQLConnection) throws(SQLFailure) {
        for setting in [
            "synchronous = OFF", "journal_mode = TRUNCATE", "mmap_size = 0", "temp_store = MEMORY",
            "cache_spill = OFF", "secure_delete = OFF", "cell_size_check = ON",
        ] { try connection.run("PRAGMA \(setting)") }
    }

    /// Reads which tables there are. Rolls back what a killed process has left.
    static func state(_ connection: SQLConnection) throws(SQLFailure) -> State {
        var found: [String] = []
        // A file may have a view of the name sqlite_schema.
        try connection.run("SELECT sql FROM sqlite_master") { row in
            found.append(String(decoding: row.bytes(0) ?? UnsafeRawBufferPointer(start: nil, count: 0), as: UTF8.self))
        }
        guard !found.isEmpty else { return .empty }
        guard try connection.number("PRAGMA application_id") == application else {
            // A damaged number of a store: its tables are there.
            let tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('store', 'namespace', 'entry', 'payload')"
            return try connection.number(tables) == 4 ? .unusable : .foreign
        }
        // A view, a trigger or a generated column is the file's own program, which may never end.
        guard let header = try connection.number("PRAGMA user_version"), found.contains(store),
            let stored = try connection.number("SELECT value FROM store WHERE name = 'version'"),
            try connection.number("PRAGMA page_size") == DiskBudget.pageBytes
        else { return .unusable }
        // Twice, so that a damaged number is not mistaken for a later version.
        guard header == stored, header > 0 else { return .unusable }
        if header > version { return .newer(header) }
        return header == version && found.sorted() == tables.sorted() ? .current : .unusable
    }

    /// Creates the tables in an empty file.
    static func create(_ connection: SQLConnection) throws(SQLFailure) {
        // For empty files only: the second one writes.
        try connection.run("PRAGMA page_size = \(DiskBudget.pageBytes)")
        try connection.run("PRAGMA auto_vacuum = INCREMENTAL")
        try connection.run("BEGIN IMMEDIATE")
        try connection.run("PRAGMA application_id = \(application)")
        try connection.run("PRAGMA user_version = \(version)")
        for table in tables { try connection.run(table) }
        try connection.run("INSERT INTO store VALUES ('version', \(version)), ('entries', 0), ('clock', 0.0)")
        try connection.run("COMMIT")
    }
}
