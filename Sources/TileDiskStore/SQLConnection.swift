import CTileSQLite
import TileCache

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Failure of an SQLite call.
struct SQLFailure: Error {
    /// What a failure means for the store.
    enum Kind {
        /// The files are damaged, or no store.
        case damaged
        /// The file has been deleted, or another one is in its place.
        case moved
        /// Nothing can be written any more.
        case readOnly
        /// There is no room, in the file or on the disk.
        case full
        /// The lock was not obtained in time.
        case busy
        /// The store is closed.
        case closed
        /// A file cannot be read or written.
        case io
        /// Everything else: no memory, no file descriptors.
        case failed
    }

    var kind: Kind
    var message: String

    private init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

    init(_ code: Int32, _ message: String) {
        self.message = message
        kind =
            switch code & 0xFF {
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_CONSTRAINT,
                SQLITE_MISMATCH, SQLITE_INTERNAL, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_EMPTY:
                .damaged
            // SQLITE_READONLY_DBMOVED.
            case SQLITE_READONLY: code == SQLITE_READONLY | 4 << 8 ? .moved : .readOnly
            case SQLITE_FULL: .full
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            // SQLITE_IOERR_NOMEM says nothing about the file.
            case SQLITE_IOERR: code == SQLITE_IOERR | 12 << 8 ? .failed : .io
            default: .failed
            }
    }
}

extension SQLFailure {
    init(damage message: String) { self.init(SQLITE_CORRUPT, message) }

    static let noMemory = SQLFailure(SQLITE_NOMEM, "there is no memory")
    static let closed = SQLFailure(.closed, "the store is closed")
    static let late = SQLFailure(SQLITE_BUSY, "no connection is free")
    /// Entries take no room, and yet there is none: the tables are damaged.
    static let noRoom = SQLFailure(SQLITE_CORRUPT, "there is no room, and nothing to evict")
    /// Entries that were just read are not found by their numbers.
    static let noProgress = SQLFailure(damage: "entries cannot be deleted")
}

/// A connection, used by one thread at a time; another one may interrupt it.
final class SQLConnection {
    private let handle: OpaquePointer
    private var isClosed = false
    private var statements: [String: SQLStatement] = [:]
    /// When to stop waiting for a lock.
    private var deadline = MonotonicTime(nanoseconds: .max)

    /// Opens a database. Creates it if it may be written.
    init(path: String, isReadOnly: Bool, vfs: String?) throws(SQLFailure) {
        var opened: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX, vfs)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "there is no memory"
            sqlite3_close_v2(opened)
            throw SQLFailure(code == SQLITE_OK ? SQLITE_NOMEM : code, message)
        }
        handle = opened
        sqlite3_busy_handler(
            handle,
            { context, _ in
                guard let context else { return 0 }
                return Unmanaged<SQLConnection>.fromOpaque(context).takeUnretainedValue().wait() ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    deinit { close() }

    /// Closes the connection while references to it remain. They must not be used.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Ends the statement that runs, from any thread. The connection must be open.
    func interrupt() { sqlite3_interrupt(handle) }

    /// Limits the time for locks.
    func waitForLocks(until time: MonotonicTime) { deadline = time }

    private func wait() -> Bool {
        guard MonotonicTime.now < deadline else { return false }
        usleep(200)
        return true
    }

    /// Whether the file cannot be written.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") != 0 }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Rows changed since the connection was opened.
    var allChanges: Int { Int(sqlite3_total_changes(handle)) }

    /// Most statements that are kept for further runs. There are fewer whose text never changes.
    static let mostStatements = 64
    var statementCount: Int { statements.count }

    /// Present size of the rollback journal.
    var journalBytes: Int {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return 0 }
        var size: Int64 = 0
        guard methods.pointee.xFileSize(file, &size) == SQLITE_OK else { return .max / 2 }
        return Int(size)
    }

    /// Runs a statement to its end. Rows are passed to the closure.
    func run(
        _ text: String,
        _ values: SQLValue...,
        row: (SQLStatement) -> Void = { _ in }
    ) throws(SQLFailure) {
        let statement = try statement(text)
        defer { statement.reset() }
        for (index, value) in values.enumerated() { try check(statement.bind(value, at: Int32(index + 1))) }
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW: row(statement)
            case SQLITE_DONE: return
            default: throw failure()
            }
        }
    }

    /// The first column of the only row; `nil` if there is none.
    func number(_ text: String) throws(SQLFailure) -> Int? {
        var number: Int?
        try run(text) { number = $0.number(0) }
        return number
    }

    private func statement(_ text: String) throws(SQLFailure) -> SQLStatement {
        if let statement = statements[text] { return statement }
        // Each limit has a text of its own.
        if statements.count >= Self.mostStatements { statements = [:] }
        var prepared: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw SQLFailure(SQLITE_INTERNAL, "an empty statement") }
        let statement = SQLStatement(prepared)
        statements[text] = statement
        return statement
    }

    private func check(_ code: Int32) throws(SQLFailure) { if code != SQLITE_OK { throw failure() } }

    private func failure() -> SQLFailure {
        SQLFailure(sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)))
    }
}

/// A value that is bound to a statement. Bytes must be valid until the statement has run.
enum SQLValue {
    case integer(Int64)
    case real(Double)
    case bytes(UnsafeRawBufferPointer)
    /// Bytes that SQLite copies.
    case copy([UInt8])

    static func integer(_ value: Int) -> SQLValue { .integer(Int64(value)) }
    static func bits(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
}

/// A prepared statement, used while its connection exists.
final class SQLStatement {
    fileprivate let handle: OpaquePointer

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    fileprivate func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .real(let number): return sqlite3_bind_double(handle, index, number)
        case .bytes(let bytes):
            guard let start = bytes.baseAddress, bytes.count > 0 else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil)
        case .copy(let bytes):
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            return sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), transient)
        }
    }

    fileprivate func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    func number(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
    func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: sqlite3_column_int64(handle, column)) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// Bytes of a column; `nil` if there is no memory for them. Valid within the closure of the row.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        if start == nil, count > 0 || sqlite3_errcode(sqlite3_db_handle(handle)) == SQLITE_NOMEM { return nil }
        return UnsafeRawBufferPointer(start: start, count: count)
    }
}
