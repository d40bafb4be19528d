import TileCache

/// Limits on the cost of an untrusted database.
struct DatabaseLimits: Sendable {
    /// Nanoseconds to open a set: its schema, metadata, zooms and some tiles.
    var opening: Int64 = 10_000_000_000
    /// Nanoseconds beside that for what opening can do without: the extent of the tiles, and an index if there is none.
    var survey: Int64 = 5_000_000_000
    /// Nanoseconds for one tile.
    var tile: Int64 = 5_000_000_000
    /// Steps of SQLite's virtual machine for one query; a tile takes a few dozen.
    var steps = 50_000_000
    /// Bytes by which SQLite's heap may grow during one query. Not counted: ``valuesInHeap`` values of the largest
    /// size.
    var heap = 64 << 20
    var valuesInHeap = 16
    /// Words of a query, with its views expanded.
    var expansion = 10_000
    /// Rows read of the metadata or of the schema.
    var rows = 1000
    /// Bytes read of the metadata or of the schema, for one value and in total.
    var text = 1 << 20
    /// A monotonic clock, in nanoseconds.
    var now: @Sendable () -> Int64 = { MonotonicTime.now.nanoseconds }
}

/// Remaining budget of a query, a pure function of its arguments.
struct QueryBudget {
    /// A limit that a query has exceeded.
    enum Excess: String {
        case steps = "the database's own views take too long: more steps than a tile set needs"
        case time = "the database took too long to answer"
        case heap = "the database's own views take too much memory"

        /// Steps are the file's fault; time and memory may be another program's.
        var cause: TileLoadFailureCause {
            switch self {
            case .steps: .undecodable
            case .time: .timeOut
            case .heap: .unreadable
            }
        }
    }

    private var steps: Int
    private let deadline: Int64
    private let heap: Int
    /// Steps so far.
    private(set) var taken = 0
    /// The limit that ended the query.
    private(set) var excess: Excess?

    /// Begins a budget.
    ///
    /// - Parameters:
    ///   - deadline: the latest time, in nanoseconds.
    ///   - heap: the largest size of SQLite's heap, in bytes.
    init(steps: Int, deadline: Int64, heap: Int) {
        (self.steps, self.deadline, self.heap) = (steps, deadline, heap)
    }

    /// Subtracts steps; returns whether the query may continue.
    mutating func take(_ count: Int, now: Int64, heap used: Int) -> Bool {
        steps -= count
        taken += count
        if steps < 0 { excess = .steps }
        if used > heap { excess = .heap }
        if now > deadline { excess = .time }
        return excess == nil
    }
}
