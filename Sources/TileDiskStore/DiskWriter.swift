import CTileSQLite
import TileCache

/// What a transaction changed, applied to memory once it is committed.
enum DiskChange: Equatable {
    case added(UInt64)
    case removed(UInt64)
}

/// The connection that writes, confined to the queue of its store.
///
/// Entries that free pages are deleted in other transactions than those that use them again: pages that are free when a
/// transaction begins are not copied to the journal.
final class DiskWriter {
    let connection: SQLConnection
    private(set) var budget: DiskBudget
    /// Size of transactions, and of the connection's cache.
    private(set) var memory: DiskMemory
    private(set) var rule: EvictionRule
    /// Entries in the tables.
    private(set) var entries: Int
    /// Generations by number of the namespace, and numbers by name.
    private(set) var generations: [Int: UInt64] = [:]
    private(set) var numbers: [TileStoreNamespace: Int] = [:]
    /// Called with the changes of each transaction that was committed.
    var committed: ([DiskChange]) -> Void = { _ in }
    /// Uses that are not stored yet.
    var newUses: (UInt64) -> HitLog.Uses? = { _ in nil }
    /// Entries evicted since the store was opened.
    private(set) var evictions = 0
    /// Transactions that changed something.
    private(set) var commits = 0
    /// Whether the disk has less room than a transaction may need.
    private(set) var isDiskFull = false
    /// Sequence number of a namespace's last use; 0 if unused since the opening.
    var lastUse: (TileStoreNamespace) -> UInt64 = { _ in 0 }
    /// Called with a namespace that was removed to make room for another.
    var forgotten: (TileStoreNamespace) -> Void = { _ in }

    private var random = SplitMix64(seed: 1)
    private var changes: [DiskChange] = []
    private var writtenBytes = 0

    /// Takes over an opened database that has tables.
    init(_ connection: SQLConnection, limit: Int, memory: DiskMemory) throws(SQLFailure) {
        self.connection = connection
        self.memory = memory
        entries = max(try connection.number("SELECT value FROM store WHERE name = 'entries'") ?? 0, 0)
        var clock = 0.0
        try connection.run("SELECT value FROM store WHERE name = 'clock'") { clock = $0.real(0) }
        rule = EvictionRule(clock: clock)
        let pages = try connection.number("PRAGMA page_count") ?? 0
        budget = DiskBudget(limit: limit)
        // A row takes more: a larger number is damage.
        entries = min(entries, pages * (DiskBudget.pageBytes / 128))
        if pages > budget.maximumPages { budget = DiskBudget(pages: pages) }
        var generations: [Int: UInt64] = [:]
        var numbers: [TileStoreNamespace: Int] = [:]
        try connection.run("SELECT number, high, low, generation FROM namespace LIMIT \(Self.mostNamespaces + 1)") {
            numbers[TileStoreNamespace(high: $0.bits(1), low: $0.bits(2))] = $0.number(0)
            generations[$0.number(0)] = $0.bits(3)
        }
        guard generations.count <= Self.mostNamespaces else {
            throw SQLFailure(damage: "there are too many namespaces")
        }
        guard generations.keys.allSatisfy({ (1...Int(Int32.max)).contains($0) }) else {
            throw SQLFailure(SQLITE_CORRUPT, "the number of a namespace is out of range")
        }
        guard generations.values.allSatisfy({ $0 <= Self.highestGeneration }) else {
            throw SQLFailure(damage: "a generation is out of range")
        }
        (self.generations, self.numbers) = (generations, numbers)
        if !connection.isReadOnly { try setMaximum(budget) }
        try setMemory(memory)
    }

    /// Changes the size of later transactions, and of the connection's cache.
    func setMemory(_ memory: DiskMemory) throws(SQLFailure) {
        try connection.run("PRAGMA cache_size = \(memory.writerPages)")
        self.memory = memory
    }

    // MARK: Transactions

    /// Notes the free bytes of the disk. If it is full, the file does not grow, and transactions have few pages: the
    /// journal needs the rest.
    func note(freeBytes: Int) { isDiskFull = freeBytes < budget.journalBytes + 2 * memory.transactionBytes }

    /// Size of the journal from which a transaction is ended. The limit may have changed since memory was divided.
    private var longestJournal: Int { min(memory.longestJournal, budget.journalBytes - budget.operationBytes) }

    /// Runs operations in as few transactions as the bounds of journal and memory permit.
    ///
    /// - Parameters:
    ///   - onCommit: Called after each transaction.
    ///   - operation: Runs one operation, and returns `false` if there is none left.
    func perform(
        onCommit: () -> Void = {},
        _ operation: () throws(SQLFailure) -> Bool
    ) throws(SQLFailure) {
        var isLast = false
        let longest = isDiskFull ? 4 * DiskBudget.pageBytes : longestJournal
        while !isLast {
            do {
                connection.waitForLocks(until: .now.advanced(by: .seconds(5)))
                let before = connection.allChanges
                try connection.run("BEGIN IMMEDIATE")
                repeat {
                    isLast = try !operation()
                } while !isLast && writtenBytes < memory.transactionBytes && connection.journalBytes <= longest
                if !changes.isEmpty { try storeCounters() }
                try connection.run("COMMIT")
                if connection.allChanges != before { commits += 1 }
            } catch {
                if connection.isInTransaction { try? connection.run("ROLLBACK") }
                let undone = changes
                (changes, writtenBytes) = ([], 0)
                entries += undone.reduce(0) { $0 + ($1.isAddition ? -1 : 1) }
                throw error
            }
            let done = changes
            (changes, writtenBytes) = ([], 0)
            committed(done)
            onCommit()
        }
    }

    private func storeCounters() throws(SQLFailure) {
        try connection.run("UPDATE store SET value = ? WHERE name = 'entries'", .integer(entries))
        try connection.run("UPDATE store SET value = ? WHERE name = 'clock'", .real(rule.clock))
    }

    /// Notes a change of the transaction.
    func changed(_ change: DiskChange) {
        entries += change.isAddition ? 1 : -1
        changes.append(change)
    }

    /// Notes bytes that the transaction has written.
    func wrote(_ byteCount: Int) { writtenBytes += byteCount }

    private func delete(_ id: UInt64) throws(SQLFailure) {
        try connection.run("DELETE FROM entry WHERE id = ?", .bits(id))
        let wasThere = connection.changes > 0
        try connection.run("DELETE FROM payload WHERE id = ?", .bits(id))
        if wasThere { changed(.removed(id)) }
    }

    /// Deletes entries, if they exist.
    func delete(_ ids: [UInt64]) throws(SQLFailure) {
        guard !ids.isEmpty else { return }
        var rest = ids[...]
        try perform { () throws(SQLFailure) in
            if let id = rest.first { try delete(id) }
            rest = rest.dropFirst()
            return !rest.isEmpty
        }
    }

    /// Deletes an entry, unless another one was written since its header was read.
    func delete(_ id: UInt64, header: [UInt8]) throws(SQLFailure) {
        var isThere = false
        try connection.run("SELECT \(DiskSchema.header) FROM entry WHERE id = ?", .bits(id)) { row in
            isThere = row.bytes(0)?.elementsEqual(header) ?? false
        }
        if isThere { try delete([id]) }
    }

    // MARK: Room

    var pageCount: Int { get throws(SQLFailure) { try connection.number("PRAGMA page_count") ?? 0 } }
    var freePages: Int { get throws(SQLFailure) { try connection.number("PRAGMA freelist_count") ?? 0 } }

    private func setMaximum(_ budget: DiskBudget) throws(SQLFailure) {
        try connection.run("PRAGMA max_page_count = \(budget.maximumPages)")
    }

    /// Evicts until some pages can be written; `false` if no entries are left.
    func makeRoom(pages: Int) throws(SQLFailure) -> Bool {
        if isDiskFull, try makeFreePages(pages) { return true }
        return try evict { () throws(SQLFailure) in try pages - freePages - max(budget.maximumPages - pageCount, 0) }
    }

    /// Evicts until some pages of the file are free; `false` if it has not so many, or no entries are left.
    func makeFreePages(_ pages: Int) throws(SQLFailure) -> Bool {
        // All entries would go for nothing.
        guard try pages < pageCount else { return false }
        return try evict { () throws(SQLFailure) in try pages - freePages }
    }

    /// Changes the limit. Returns once the files are within the new one; until then the old one holds.
    func setLimit(_ limit: Int) throws(SQLFailure) {
        let target = DiskBudget(limit: limit)
        var (first, evicted) = (0, 0)
        while true {
            let count = try pageCount
            guard count > target.maximumPages else { break }
            let used = try count - freePages
            if used > target.maximumPages {
                first = max(first, used)
                let before = entries
                // More than a page has: one by one, tiny entries would take a transaction for every four.
                let isRun = evicted > Self.runEntries * (first - used + 16)
                guard try evict(pages: used - target.maximumPages, isRun: isRun) else { throw SQLFailure.noRoom }
                evicted += before - entries
                continue
            }
            var excess = count - target.maximumPages
            try perform { () throws(SQLFailure) in
                try connection.run("PRAGMA incremental_vacuum(1)")
                excess -= 1
                return excess > 0
            }
            guard try pageCount < count else { throw SQLFailure.noRoom }
        }
        try setMaximum(target)
        budget = target
    }

    /// Entries of a run; a page has more only if they are tiny.
    private static let runEntries = 64

    /// Evicts until no pages are missing; `false` if no entries are left.
    private func evict(until missingPages: () throws(SQLFailure) -> Int) throws(SQLFailure) -> Bool {
        var (first, evicted) = (0, 0)
        while true {
            let missing = try missingPages()
            guard missing > 0 else { return true }
            first = max(first, missing)
            let before = entries
            guard try evict(pages: missing, isRun: evicted > Self.runEntries * first) else { return false }
            evicted += before - entries
        }
    }

    /// Evicts entries of low priority; `false` if there are none.
    ///
    /// Those of least priority in a sample, until about as many pages are free.
    /// The sample is all entries if there are few, else those of 16 random places. An index of all entries by priority
    /// would cost a write for each use.
    ///
    /// - Parameters:
    ///   - pages: The number of pages.
    ///   - isRun: Evicts the lowest of the sample and those that follow it in the table, but for those above the middle
    ///     of the sample. SQLite frees a page once most of its rows are gone: tiny entries at random places leave all
    ///     pages partly filled, and a third of them would go before many pages are free.
    private func evict(pages: Int, isRun: Bool = false) throws(SQLFailure) -> Bool {
        var sample: [UInt64: (priority: Double, pages: Int)] = [:]
        func add(_ row: SQLStatement) {
            let id = row.bits(0)
            let entry = EvictionRule.Entry(
                byteCount: row.number(3),
                cost: row.number(4),
                uses: row.number(5),
                priority: row.real(6)
            )
            let uses = newUses(id)
            // What an invalidation has made useless is evicted first.
            let isOld = generations[row.number(1)].map { row.bits(2) < $0 } ?? true
            let priority = isOld ? -1 : rule.priority(of: entry, newUses: uses?.count ?? 0, at: uses?.clock ?? 0)
            sample[id] = (priority, max(entry.byteCount, 0) / DiskBudget.pageBytes + 1)
        }
        let columns = "SELECT id, namespace, generation, bytes, cost, uses, priority FROM entry"
        let isSmall = entries <= 256
        if isSmall {
            try connection.run("\(columns) LIMIT 512", row: add)
        } else {
            // Tiles of a block have adjacent numbers, and a random number lies between two blocks: without an offset,
            // only the first tiles of blocks would be found.
            let text = "\(columns) WHERE id >= ? LIMIT 4 OFFSET ?"
            for _ in 0..<16 {
                try connection.run(text, .bits(random.next()), .bits(random.next() & 63), row: add)
            }
            if sample.isEmpty { try connection.run("\(columns) LIMIT 4", row: add) }
        }
        guard !sample.isEmpty else { return false }
        let order = sample.sorted { ($0.value.priority, $0.key) < ($1.value.priority, $1.key) }
        var freed = 0
        var victims: [UInt64] = []
        for (id, value) in order.prefix(isSmall ? sample.count : max(sample.count / 16, 1)) where freed < pages {
            victims.append(id)
            freed += value.pages
            rule.advance(to: value.priority)
        }
        if isRun, !isSmall {
            let middle = order[order.count / 2].value.priority
            var run: [UInt64] = []
            try connection.run("\(columns) WHERE id >= ? LIMIT \(Self.runEntries)", .bits(order[0].key)) { row in
                add(row)
                run.append(row.bits(0))
            }
            victims = run.filter { sample[$0].map { $0.priority <= middle } ?? false }
        }
        let before = entries
        try delete(victims)
        // A damaged tree may have rows that a scan finds and a deletion does not: callers would evict for ever.
        guard entries < before else { throw SQLFailure.noProgress }
        evictions += before - entries
        return true
    }

    // MARK: Namespaces

    /// The number of a namespace, which is stored if it is new.
    func number(of namespace: TileStoreNamespace) throws(SQLFailure) -> Int {
        if let number = numbers[namespace] { return number }
        // Data sets that are changed often leave namespaces behind. The least recently used makes room.
        let uses = numbers.count < Self.mostNamespaces ? [] : numbers.map { (name: $0, number: $1, use: lastUse($0)) }
        if let oldest = uses.min(by: { ($0.use, $0.number) < ($1.use, $1.number) }) {
            let before = entries
            try remove(oldest.name)
            evictions += before - entries
            try perform { () throws(SQLFailure) in
                try connection.run("DELETE FROM namespace WHERE number = ?", .integer(oldest.number))
                return false
            }
            (numbers[oldest.name], generations[oldest.number]) = (nil, nil)
            forgotten(oldest.name)
        }
        let number = (numbers.values.max() ?? 0) + 1
        try setNamespace(number, namespace, 0)
        return number
    }

    static let mostNamespaces = 4096
    /// Higher ones are damage, as in shared stores: no invalidation could be newer than the highest of all.
    static let highestGeneration: UInt64 = 1 << 62

    private func setNamespace(_ number: Int, _ name: TileStoreNamespace, _ generation: UInt64) throws(SQLFailure) {
        func store() throws(SQLFailure) {
            try perform { () throws(SQLFailure) in
                try connection.run(
                    "INSERT OR REPLACE INTO namespace VALUES (?, ?, ?, ?)",
                    .integer(number),
                    .bits(name.high),
                    .bits(name.low),
                    .bits(generation)
                )
                return false
            }
        }
        do {
            try store()
        } catch {
            // A row takes two pages at most, and hardly ever one: room is made only if there is none.
            guard error.kind == .full, try makeFreePages(4) else { throw error }
            try store()
        }
        (numbers[name], generations[number]) = (number, generation)
    }

    /// Stores a generation, unless it is not above the present one. It survives a crash of the system, too.
    func raise(_ namespace: TileStoreNamespace, to generation: UInt64) throws(SQLFailure) {
        let number = try number(of: namespace)
        guard generation > generations[number] ?? 0 else { return }
        try connection.run("PRAGMA synchronous = FULL")
        defer { try? connection.run("PRAGMA synchronous = OFF") }
        try setNamespace(number, namespace, generation)
    }

    /// Deletes all entries of a namespace.
    func remove(_ namespace: TileStoreNamespace) throws(SQLFailure) {
        guard let number = numbers[namespace] else { return }
        var last: Int64?
        while true {
            var ids: [UInt64] = []
            let text = "SELECT id FROM entry WHERE id \(last == nil ? ">=" : ">") ? AND namespace = ? LIMIT 256"
            try connection.run(text, .integer(last ?? .min), .integer(number)) { ids.append($0.bits(0)) }
            guard let end = ids.last else { return }
            last = Int64(bitPattern: end)
            try delete(ids)
        }
    }
}

extension DiskChange {
    fileprivate var isAddition: Bool { if case .added = self { true } else { false } }
}
