import TileCache

/// Rows of entries: inserted, renewed, and their uses.
extension DiskWriter {
    /// What became of the entries of a batch.
    struct Outcome {
        var written = 0
        var bytes = 0
        var unchanged = 0
        /// Entries of the batch of which only the header was written.
        var headers = 0
        /// Those, and renewals.
        var renewed = 0
    }

    /// An entry that is to be inserted.
    private struct Insertion {
        var id: UInt64
        var number: Int
        var write: PendingWrite
        var uses: Int
    }

    /// A header that replaces one of an entry, and by how many bytes it is longer.
    private struct HeaderChange {
        var id: UInt64
        var header: [UInt8]
        var growth: Int
    }

    /// Writes entries, after making room for them. What was done before a failure is in the outcome.
    func write(_ writes: [PendingWrite], _ outcome: inout Outcome) throws(SQLFailure) {
        var insertions: [Insertion] = []
        var ids: Set<UInt64> = []
        var replaced: [UInt64] = []
        var headers: [HeaderChange] = []
        for write in writes {
            let number = try number(of: write.key.namespace)
            let id = write.key.clusteredHash
            // The limit may have been lowered since the entry was accepted.
            guard write.payload.count <= budget.largestPayload, write.generation >= generations[number] ?? 0,
                ids.insert(id).inserted
            else { continue }
            var uses: Int?
            var isSame = false
            var isSameHeader = false
            var growth = 0
            try connection.run(
                "SELECT namespace, generation, checksum, uses, \(DiskSchema.header) FROM entry WHERE id = ?",
                .bits(id)
            ) { row in
                uses = row.number(3)
                isSame = row.number(0) == number && row.bits(1) == write.generation && row.bits(2) == write.checksum
                guard let header = row.bytes(4) else { return }
                isSameHeader = header.elementsEqual(write.header)
                growth = write.header.count - header.count
            }
            if isSame {
                if isSameHeader {
                    outcome.unchanged += 1
                } else {
                    headers.append(HeaderChange(id: id, header: write.header, growth: growth))
                }
            } else {
                if uses != nil { replaced.append(id) }
                let earlier = min(max(uses ?? 0, 0), EvictionRule.largestUses)
                insertions.append(Insertion(id: id, number: number, write: write, uses: earlier + 1))
            }
        }
        // A batch of very many namespaces may have removed some of its own.
        insertions.removeAll { numbers[$0.write.key.namespace] != $0.number }
        try delete(replaced)
        try replaceHeaders(headers)
        outcome.headers += headers.count
        outcome.renewed += headers.count
        try insertInParts(insertions, &outcome)
    }

    /// Inserts entries, few at a time in a small store: pages are estimated, and those that are kept free are of no use.
    private func insertInParts(_ insertions: [Insertion], _ outcome: inout Outcome) throws(SQLFailure) {
        var rest = insertions[...]
        while !rest.isEmpty {
            let most = try (isDiskFull ? pageCount : budget.maximumPages) / 16
            var estimate = PageEstimate()
            var count = 0
            while count < rest.count {
                var larger = estimate
                larger.add(rest[rest.startIndex + count].write)
                guard count == 0 || larger.pages <= most else { break }
                estimate = larger
                count += 1
            }
            try insert(rest.prefix(count), pages: estimate.pages, &outcome)
            rest = rest.dropFirst(count)
        }
    }

    /// Pages that entries take at most, unless their leaves are less than half full.
    private struct PageEstimate {
        private var chains = 0
        private var leafBytes = 0

        var pages: Int { chains + 2 * leafBytes / DiskBudget.pageBytes + 6 }

        mutating func add(_ write: PendingWrite) {
            let payload = write.payload.count
            chains += payload / (DiskBudget.pageBytes - 4)
            leafBytes += payload % (DiskBudget.pageBytes - 4) + write.header.count + 128
        }
    }

    private func insert(
        _ group: ArraySlice<Insertion>,
        pages estimate: Int,
        _ outcome: inout Outcome
    ) throws(SQLFailure) {
        var (next, done) = (group.startIndex, group.startIndex)
        var pages = estimate
        defer {
            outcome.written += done - group.startIndex
            outcome.bytes += group[..<done].reduce(0) { $0 + $1.write.byteCount }
        }
        while true {
            guard try makeRoom(pages: pages) else { throw SQLFailure.noRoom }
            do {
                try perform {
                    done = next
                } _: { () throws(SQLFailure) in
                    try insert(group[next])
                    next += 1
                    return next < group.endIndex
                }
                break
            } catch {
                // The estimate was too low, or the disk is full; freed pages need none of its room. If so many do not
                // help, the journal lacks room: further evictions, in every batch, would empty the store for nothing.
                guard error.kind == .full, let free = try? freePages, free <= 3 * estimate else { throw error }
                pages = free + estimate
                next = done
                guard try makeFreePages(pages) else { break }
            }
        }
    }

    private func insert(_ insertion: Insertion) throws(SQLFailure) {
        let (id, write) = (insertion.id, insertion.write)
        let priority = rule.priority(uses: insertion.uses, cost: write.cost, byteCount: write.byteCount)
        try connection.run(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            .bits(id),
            .integer(insertion.number),
            .bits(write.generation),
            .bits(write.checksum),
            .integer(write.byteCount),
            .integer(write.cost),
            .integer(insertion.uses),
            .real(priority),
            .copy(write.header)
        )
        if write.payload.count > 0 {
            // A row without an entry can only be damage.
            try connection.run("INSERT OR REPLACE INTO payload VALUES (?, ?)", .bits(id), .bytes(write.payload))
        }
        wrote(write.byteCount)
        changed(.added(id))
    }

    /// Replaces headers, after making room for longer ones: validators have up to 1 KiB.
    private func replaceHeaders(_ headers: [HeaderChange]) throws(SQLFailure) {
        var next = headers.startIndex
        while next < headers.endIndex {
            // Few at a time, as of insertions.
            let end = min(next + 64, headers.endIndex)
            let growth = headers[next..<end].reduce(0) { $0 + max($1.growth, 0) }
            if growth > 0 { _ = try makeRoom(pages: 2 * growth / DiskBudget.pageBytes + 6) }
            try perform { () throws(SQLFailure) in
                let (id, header) = (headers[next].id, headers[next].header)
                try connection.run("UPDATE entry SET header = ? WHERE id = ?", .copy(header), .bits(id))
                wrote(header.count)
                next += 1
                return next < end
            }
        }
    }

    /// Replaces the freshness of entries; returns of how many.
    func renew(_ renewals: [TileStoreKey: TileStoreFreshness]) throws(SQLFailure) -> Int {
        var headers: [HeaderChange] = []
        for (key, freshness) in renewals {
            let id = key.clusteredHash
            try connection.run("SELECT \(DiskSchema.header) FROM entry WHERE id = ?", .bits(id)) { row in
                guard let bytes = row.bytes(0), let read = try? TileStoreEntry.read(header: bytes),
                    read.entry.key == key
                else { return }
                var entry = read.entry
                entry.freshness = freshness
                let header = entry.encodedHeader(
                    payloadByteCount: read.payloadByteCount,
                    checksum: read.payloadChecksum
                )
                if let header, !header.elementsEqual(bytes) {
                    headers.append(HeaderChange(id: id, header: header, growth: header.count - bytes.count))
                }
            }
        }
        try replaceHeaders(headers)
        return headers.count
    }

    /// Stores uses that were counted in memory.
    func store(_ uses: [UInt64: HitLog.Uses]) throws(SQLFailure) {
        // In order, so that rows of a page are changed together.
        var rest = uses.sorted { Int64(bitPattern: $0.key) < Int64(bitPattern: $1.key) }[...]
        guard !rest.isEmpty else { return }
        try perform { () throws(SQLFailure) in
            if let (id, new) = rest.first {
                var entry: EvictionRule.Entry?
                try connection.run("SELECT bytes, cost, uses, priority FROM entry WHERE id = ?", .bits(id)) {
                    entry = EvictionRule.Entry(
                        byteCount: $0.number(0),
                        cost: $0.number(1),
                        uses: $0.number(2),
                        priority: $0.real(3)
                    )
                }
                if let entry {
                    try connection.run(
                        "UPDATE entry SET uses = ?, priority = ? WHERE id = ?",
                        .integer(min(max(entry.uses, 1), EvictionRule.largestUses) + new.count),
                        .real(rule.priority(of: entry, newUses: new.count, at: new.clock)),
                        .bits(id)
                    )
                }
            }
            rest = rest.dropFirst()
            return !rest.isEmpty
        }
    }

    /// The next entries after a number, in order, for the filter.
    func ids(after id: Int64?, limit: Int) throws(SQLFailure) -> [UInt64] {
        var ids: [UInt64] = []
        let text = "SELECT id FROM entry WHERE id \(id == nil ? ">=" : ">") ? LIMIT \(limit)"
        try connection.run(text, .integer(id ?? .min)) { ids.append($0.bits(0)) }
        return ids
    }
}
