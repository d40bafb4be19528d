import TileCache

/// How a store divides the memory that it is allowed: connections, a transaction, lists, and the buffer of writes.
///
/// Connections, transactions and lists have their full size, a half, a quarter or an eighth of it: the largest that fits
/// beside half of the buffer's part. An eighth is the least.
struct DiskMemory: Equatable {
    /// Statements, schema and small allocations of a connection, measured.
    static let connectionBytes = 192 << 10
    /// Number, generation and last use of a namespace in the tables of store and writer.
    static let namespaceBytes = 192
    /// Of a use while it is stored, and of lists of other work.
    private static let useBytes = 112
    private static let listBytes = 128 << 10
    /// Entries are planned for with this size until one of them is larger.
    private static let usualEntry = 256 << 10

    /// 1, 2, 4 or 8.
    let divisor: Int
    /// Look-ups that read at the same time.
    let readers: Int
    /// Bytes of entries that wait to be written.
    let bufferBytes: Int
    /// Size of the journal from which a transaction is ended.
    let longestJournal: Int
    /// Bytes by which the last operation of a transaction may extend the journal.
    private let operationBytes: Int

    /// Clean pages that the writing connection keeps.
    var writerPages: Int { 64 / divisor }
    /// Pages that a reading connection keeps.
    var readerPages: Int { 24 / divisor }
    /// Bytes that a transaction writes before it is ended. They are in memory until then.
    var transactionBytes: Int { (1 << 20) / divisor }
    /// Entries whose uses are kept until they are stored.
    var uses: Int { HitLog.capacity / divisor }

    private init(_ divisor: Int, buffer: Int, _ options: TileDiskStoreOptions, _ budget: DiskBudget) {
        self.divisor = divisor
        readers = max(options.readers / divisor, 1)
        bufferBytes = buffer
        longestJournal = (budget.journalBytes - budget.operationBytes) / divisor
        operationBytes = budget.operationBytes
    }

    /// Divides memory.
    ///
    /// - Parameters:
    ///   - allowed: Bytes that the store may hold; `nil` if all that its options say.
    ///   - options: The store's options.
    ///   - limit: The limit of its files.
    ///   - largestEntry: Bytes of the largest entry so far.
    init(allowed: Int?, options: TileDiskStoreOptions, limit: Int, largestEntry: Int) {
        let budget = DiskBudget(limit: limit)
        let buffer = options.writeBuffer.bytes
        self.init(1, buffer: buffer, options, budget)
        guard let allowed else { return }
        let entry = max(largestEntry, Self.usualEntry)
        for divisor in [1, 2, 4, 8] {
            self.init(divisor, buffer: buffer, options, budget)
            let rest = allowed - connectionBytes(largestEntry: entry)
            let least = buffer / (2 * divisor)
            guard rest >= least || divisor == 8 else { continue }
            self.init(divisor, buffer: min(max(rest, least), buffer), options, budget)
            return
        }
    }

    /// Bytes of connections, the transaction that is written, and lists.
    func connectionBytes(largestEntry: Int) -> Int {
        // Pages of a transaction are in memory until it ends: those that it changes and those that it adds. Its last entry
        // may exceed what it should add, and SQLite makes one copy of an entry in a row.
        let writer =
            writerPages * DiskBudget.pageBytes + longestJournal + operationBytes + 2 * transactionBytes
            + 2 * largestEntry + Self.listBytes + uses * Self.useBytes
        // Of an entry that is read there are SQLite's copy and the one that is lent.
        let reader = readerPages * DiskBudget.pageBytes + Self.connectionBytes + 2 * largestEntry
        return writer + readers * reader + Self.connectionBytes
    }
}
