import CTileSQLite
import Synchronization
import TileCache

/// What a row of a query holds in one column.
enum SQLValue {
    case null
    case integer(Int)
    case text(String)
    case blob(Int)
    case real(Double)

    /// The type's name, for messages.
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

/// One connection to an SQLite file that anybody may have made: read only, and nothing in it can run away.
final class Database {
    private let handle: OpaquePointer
    /// Steps of SQLite's machine that a query may take, in thousands: seconds, where a tile takes a few dozen steps.
    private var budget = 0

    private static let stepsPerCall: Int32 = 1000
    private static let largestBudget = 50_000

    /// Opens a file; it has to exist.
    init(path: String) throws(TileSourceError) {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard status == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "there is no memory"
            sqlite3_close_v2(opened)
            throw TileSourceError(path, "an SQLite database was expected: \(message)")
        }
        handle = opened
        tile_sqlite_harden(handle, Int32(Files.largestTile))
        sqlite3_busy_timeout(handle, 2000)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle,
            Self.stepsPerCall,
            { context in
                guard let context else { return 1 }
                let database = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
                database.budget -= 1
                return database.budget < 0 ? 1 : 0
            },
            context
        )
    }

    deinit { sqlite3_close_v2(handle) }

    /// Prepares a query; `nil` where it does not fit the schema.
    func query(_ text: String) -> Query? {
        refill()
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { return nil }
        return Query(statement: statement, database: self)
    }

    /// What SQLite said last.
    var message: String { String(cString: sqlite3_errmsg(handle)) }

    fileprivate func refill() { budget = Self.largestBudget }
}

/// A prepared statement.
final class Query {
    /// What a step came to.
    enum Step {
        case row
        case done
        case failed(TileLoadFailure)
    }

    private let statement: OpaquePointer
    /// Has to live as long as its statements.
    private let database: Database

    fileprivate init(statement: OpaquePointer, database: Database) {
        self.statement = statement
        self.database = database
    }

    deinit { sqlite3_finalize(statement) }

    /// Begins anew with these values.
    func bind(_ values: Int...) {
        sqlite3_reset(statement)
        database.refill()
        for (index, value) in values.enumerated() { sqlite3_bind_int64(statement, Int32(index + 1), Int64(value)) }
    }

    func step() -> Step {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: .row
        case SQLITE_DONE: .done
        case SQLITE_TOOBIG: .failed(TileLoadFailure(.tooLarge, database.message))
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR, SQLITE_NOMEM:
            .failed(TileLoadFailure(.unreadable, database.message))
        case SQLITE_INTERRUPT: .failed(TileLoadFailure(.undecodable, "the database's own views take too long"))
        default: .failed(TileLoadFailure(.undecodable, database.message))
        }
    }

    /// Lets go of what the last row held.
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

    /// The bytes of a blob, good until the next step or ``reset()``.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(
            start: start,
            count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
        )
    }
}
