import CTileSQLite
import TileCache

/// Value of one column of a row.
enum SQLValue {
    case null
    case integer(Int)
    case text(String)
    case blob(Int)
    case real(Double)

    /// Name of the type, for messages.
    var typeName: String {
        switch self {
        case .null: "NULL"
        case .integer: "an integer"
        case .text: "text"
        case .blob: "a blob"
        case .real: "a number"
        }
    }
}

/// A read-only connection to an untrusted SQLite file, with limits on time and memory.
final class Database {
    private let handle: OpaquePointer
    let limits: DatabaseLimits
    private var deadline: Int64
    private var budget: QueryBudget
    private var refused: String?
    /// Whether a setting or a view of the connection's own is made: no other is allowed.
    private var isConfiguring = false

    private static let stepsPerCall: Int32 = 100
    /// Maximum size of a value, that of the file; short computed values may be larger.
    private let largestValue: Int

    /// Latest time of queries in ``survey(_:)``.
    private var surveyEnd: Int64?
    /// Whether the file is read as one that no program changes.
    let isImmutable: Bool
    private let path: String
    /// Of a file that is read so, when it was opened.
    private let state: [String]

    /// Opens an existing file.
    ///
    /// - Parameter isImmutable: Whether to read it without a log and without locks, since they cannot be made here.
    init(
        path: String,
        limits: DatabaseLimits = DatabaseLimits(),
        isImmutable: Bool = false
    ) throws(TileSourceError) {
        guard !Files.isOther(path) else {
            throw TileSourceError(path, "an SQLite database was expected, and this is no file")
        }
        var opened: OpaquePointer?
        self.isImmutable = isImmutable
        self.path = path
        state = isImmutable ? Self.state(of: path) : []
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
        let status =
            isImmutable
            ? sqlite3_open_v2(Self.immutable(path), &opened, flags | SQLITE_OPEN_URI, nil)
            : sqlite3_open_v2(path, &opened, flags, nil)
        guard status == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "there is no memory"
            sqlite3_close_v2(opened)
            guard Files.exists(path) else {
                throw TileSourceError(path, "there is no such file; an MBTiles file was expected")
            }
            // SQLite has a limit of its own, and does not name it.
            let length = Files.fromRoot(path).utf8.count
            let hint = length > 500 ? "; its path of \(length) bytes may be too long for SQLite" : ""
            throw TileSourceError(path, "an SQLite database was expected: \(message)\(hint)")
        }
        handle = opened
        self.limits = limits
        largestValue = min(max(Files.size(path) + Files.size(path + "-wal"), limits.text), Files.largestTile)
        deadline = limits.now() + limits.opening
        budget = QueryBudget(steps: limits.steps, deadline: deadline, heap: .max)
        tile_sqlite_harden(handle, Int32(largestValue))
        sqlite3_busy_timeout(handle, 2000)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle,
            Self.stepsPerCall,
            { context in
                guard let context else { return 1 }
                return Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().mayContinue() ? 0 : 1
            },
            context
        )
        sqlite3_set_authorizer(
            handle,
            { context, action, _, name, _, _ in
                guard let context else { return SQLITE_DENY }
                let database = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
                return database.allows(action, name) ? SQLITE_OK : SQLITE_DENY
            },
            context
        )
        refill()
    }

    deinit { sqlite3_close_v2(handle) }

    /// Opens an existing file. Where there is no log and none can be made here, it does without.
    ///
    /// A database in WAL mode takes a log and an index of it beside it, even to be read; on a read-only medium, and
    /// without rights, they cannot be made. As long as there is no log, the file itself has everything. A program with
    /// other rights may begin to write: ``isStale``.
    static func readable(path: String, limits: DatabaseLimits) throws(TileSourceError) -> Database {
        let database = try Database(path: path, limits: limits)
        guard database.query("SELECT 1 FROM sqlite_master LIMIT 1") == nil, database.lacksLog,
            Files.beginning(path, 20).suffix(2).elementsEqual([2, 2]), Files.size(path + "-wal") == 0
        else { return database }
        return try Database(path: path, limits: limits, isImmutable: true)
    }

    /// Whether the file is read without locks, and has been written to since it was opened.
    var isStale: Bool { isImmutable && Self.state(of: path) != state }

    private static func state(of path: String) -> [String] { DataSetName.file(path) + ["\(Files.size(path + "-wal"))"] }

    /// Whether the last query failed since the log or its index cannot be opened.
    private var lacksLog: Bool { [SQLITE_CANTOPEN, SQLITE_READONLY].contains(sqlite3_errcode(handle)) }

    /// Address of a file that no program changes.
    private static func immutable(_ path: String) -> String {
        let plain = Set("/-._~".utf8)
        let name = Files.fromRoot(path).utf8.map { byte -> String in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(UnicodeScalar(byte))
            default:
                plain.contains(byte)
                    ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "file:\(name.joined())?immutable=1"
    }

    /// Runs queries that opening a set can do without. They share a time limit of their own.
    func survey<Result>(_ body: () -> Result) -> Result {
        let (begin, usual) = (limits.now(), deadline)
        let end = surveyEnd ?? begin + limits.survey
        (surveyEnd, deadline) = (end, end)
        defer { deadline = usual + (limits.now() - begin) }
        return body()
    }

    /// Steps of the last query so far, in hundreds.
    var stepsTaken: Int { budget.taken }

    /// Prepares a query. `nil` if it does not fit the schema, or if ``refusal`` says why it is not run.
    ///
    /// - Parameter steps: Maximum steps of each run. Default: those of the limits.
    func query(_ text: String, steps: Int? = nil) -> Query? {
        refill()
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { return nil }
        return Query(statement: statement, database: self, steps: steps ?? limits.steps)
    }

    /// Bytes of pages that a connection keeps. SQLite's own default is 2 MiB; the system has the file's pages anyway.
    static let cacheBytes = 256 << 10
    /// Memory of a connection at most: these, a page of overflow, the schema and a statement.
    static let connectionBytes = cacheBytes + 128 << 10

    /// Bounds the pages that the connection keeps. Reads the schema, as queries do.
    func boundCache() {
        refill()
        isConfiguring = true
        defer { isConfiguring = false }
        sqlite3_exec(handle, "PRAGMA cache_size = \(-Self.cacheBytes / 1024)", nil, nil, nil)
    }

    /// Makes a view of our own, of this connection alone, which goes before a table of its name. Returns whether it could.
    ///
    /// - Parameter query: Not the file's, but for the quoted name of a table.
    func makeView(_ name: String, of query: String) -> Bool {
        refill()
        isConfiguring = true
        defer { isConfiguring = false }
        return sqlite3_exec(handle, "CREATE TEMP VIEW \(name) AS \(query)", nil, nil, nil) == SQLITE_OK
    }

    /// Bytes of pages that the connection keeps now.
    var cachedBytes: Int {
        var (bytes, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &bytes, &highest, 0)
        return Int(bytes)
    }

    /// Starts the time limit of one tile, after that of opening.
    func beginTile() { deadline = limits.now() + limits.tile }

    /// Reads two columns within the limits of short text.
    ///
    /// - Returns: whether all rows were read; `nil` if the query does not fit the schema.
    func readPairs(_ text: String, _ row: (SQLValue, SQLValue) -> Void) -> Bool? {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(limits.text))
        defer { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(largestValue)) }
        guard let query = query(text) else { return nil }
        query.bind()
        var bytes = 0
        // One step more than the limit: with exactly as many rows, all are read.
        for number in 0...limits.rows {
            guard case .row = query.step() else { return query.isDone }
            bytes += query.byteCount(0) + query.byteCount(1)
            guard number < limits.rows, bytes <= limits.text else { return false }
            row(query[0], query[1])
        }
        return false
    }

    /// SQLite's last error, or the limit that was exceeded.
    var message: String {
        if let refusal { return refusal }
        // A reader may not undo or complete what a writer that has crashed began; SQLite calls that an attempt to write.
        guard sqlite3_errcode(handle) != SQLITE_READONLY else {
            return "a program has not finished writing to it; a program that may write has to open it once"
        }
        return String(cString: sqlite3_errmsg(handle))
    }

    /// The refused operation, which a tile set does not need. Or the limit that ended the last query.
    var refusal: String? { refused ?? budget.excess?.rawValue }

    fileprivate var excess: QueryBudget.Excess? { budget.excess }

    fileprivate func refill(_ steps: Int? = nil) {
        let heap = Int(sqlite3_memory_used()) + limits.heap + limits.valuesInHeap * largestValue
        budget = QueryBudget(steps: steps ?? limits.steps, deadline: deadline, heap: heap)
        refused = nil
    }

    private func mayContinue() -> Bool {
        budget.take(Int(Self.stepsPerCall), now: limits.now(), heap: Int(sqlite3_memory_used()))
    }

    /// Functions whose cost and result are no larger than their arguments.
    private static let functions: Set<String> = [
        "abs", "coalesce", "count", "ifnull", "iif", "length", "lower", "max", "min", "nullif", "round", "substr",
        "substring", "typeof", "upper",
    ]

    private func allows(_ action: Int32, _ name: UnsafePointer<CChar>?) -> Bool {
        if isConfiguring { return true }
        switch action {
        case SQLITE_SELECT, SQLITE_READ: return true
        case SQLITE_FUNCTION:
            let function = name.map { String(cString: $0).lowercased() } ?? ""
            if Self.functions.contains(function) { return true }
            refused = "it calls the function \(function.prefix(40)), which tile sets do not need"
        case SQLITE_RECURSIVE: refused = "it uses a recursive query, which tile sets do not need"
        default: refused = "it asks for more than reading its tables"
        }
        return false
    }
}

/// A prepared statement.
final class Query {
    /// Result of a step.
    enum Step {
        case row
        case done
        case failed(TileLoadFailure)
    }

    private let statement: OpaquePointer
    /// Must outlive its statements.
    private let database: Database
    private let steps: Int

    fileprivate init(statement: OpaquePointer, database: Database, steps: Int) {
        self.statement = statement
        self.database = database
        self.steps = steps
    }

    deinit { sqlite3_finalize(statement) }

    /// Resets the statement and binds these values.
    func bind(_ values: Int...) { bind(values) }

    /// Resets the statement and binds these values.
    func bind(_ values: [Int]) {
        sqlite3_reset(statement)
        database.refill(steps)
        for (index, value) in values.enumerated() { sqlite3_bind_int64(statement, Int32(index + 1), Int64(value)) }
    }

    func step() -> Step {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: .row
        case SQLITE_DONE: .done
        case SQLITE_TOOBIG: .failed(TileLoadFailure(.tooLarge, database.message))
        // SQLITE_CANTOPEN: a file beside the database, perhaps for lack of file descriptors. SQLITE_READONLY: the
        // journal of a writer that has crashed, until the next one opens the database. SQLITE_PROTOCOL: a race for its log.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PROTOCOL:
            .failed(TileLoadFailure(.unreadable, database.message))
        case SQLITE_INTERRUPT: .failed(TileLoadFailure(database.excess?.cause ?? .unreadable, database.message))
        default: .failed(TileLoadFailure(.undecodable, database.message))
        }
    }

    /// Whether the last step found no further row.
    var isDone: Bool { sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_DONE }

    /// Bytes of a column as it is stored, for text and blobs.
    func byteCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }

    /// Releases the last row's values.
    func reset() { sqlite3_reset(statement) }

    subscript(column: Int32) -> SQLValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(Int(sqlite3_column_int64(statement, column)))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
        case SQLITE_BLOB: .blob(Int(sqlite3_column_bytes(statement, column)))
        case SQLITE_TEXT: .text(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "")
        default: .null
        }
    }

    /// The bytes of a blob, valid until the next step or ``reset()``.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(
            start: start,
            count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
        )
    }
}
