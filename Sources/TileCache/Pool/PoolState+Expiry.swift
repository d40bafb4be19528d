/// Tiles that are valid until a time, and are revalidated if they are needed after it.
///
/// An expired tile that is needed is marked as stale: it is drawn, and the plan loads it. One that is not needed keeps its
/// time, or stays stale, and is not prefetched.
extension PoolState {
    /// Until when an answer is valid.
    struct Validity: Hashable, Sendable {
        /// Time in nanoseconds; `nil` if it does not expire.
        var expiresAt: Int64?
        /// Validators for the next request; `nil` if there are none.
        var validators: TileStoreFreshness?

        static let lasting = Validity()
    }

    /// Sets until when a tile's pixels, or its absence, are valid.
    mutating func set(_ validity: Validity, of number: EntryID) {
        guard let time = validity.expiresAt else { return }
        hasExpiries = true
        table.note(number) {
            $0.flags.insert(.expires)
            $0.retryAt = time
        }
        noteExpiry(of: number)
        guard let validators = validity.validators, validators.hasValidator, table[number].residency.isResident else {
            return
        }
        keep(validators, of: number)
    }

    /// Marks needed tiles as stale that have expired. Returns when the next one expires; `.max` if none does.
    mutating func expire(_ entries: [EntryID], now: Int64) -> Int64 {
        guard hasExpiries else { return .max }
        var next = Int64.max
        var raised: Int?
        for number in entries where number != .none {
            let entry = table[number]
            guard entry.flags.contains(.expires), entry.hasAnswer else { continue }
            guard entry.retryAt <= now else {
                next = min(next, entry.retryAt)
                continue
            }
            // New pixels have another identity, even if the old ones are evicted before.
            if raised != entry.key.layer { layers.change(entry.key.layer) { $0.raiseGeneration() } }
            raised = entry.key.layer
            markExpired(number)
        }
        return next
    }

    /// Marks a tile as stale if it has expired, since a host or a view needs it. Returns whether it has.
    @discardableResult
    mutating func expire(_ key: TileKey, now: Int64) -> Bool {
        let number = table.find(key)
        guard number != .none, table[number].flags.contains(.expires), table[number].hasAnswer,
            table[number].retryAt <= now
        else { return false }
        layers.change(key.layer) { $0.raiseGeneration() }
        markExpired(number)
        return true
    }

    /// Marks a tile as stale if it has expired, and a view or a host needs it.
    mutating func expireIfNeeded(_ key: TileKey, now: Int64) { if isNeeded(key) { expire(key, now: now) } }

    private mutating func markExpired(_ number: EntryID) {
        change(number) {
            $0.flags.remove(.expires)
            $0.flags.formUnion([.stale, .expired])
        }
        noteDrawing()
    }

    /// Declares when a tile expires, or may be revalidated, if a view shows it or the plan has it in place of another.
    mutating func noteExpiry(of number: EntryID) {
        let entry = table[number]
        // The plan is searched only for tiles that expire at all.
        guard !entry.flags.isDisjoint(with: .ofExpiry), entry.viewCount > 0 || isPlanned(entry.key, for: .ancestor)
        else { return }
        effects.replanAt = min(effects.replanAt, entry.retryAt)
    }

    /// Makes a tile current whose source has confirmed it.
    mutating func renew(_ number: EntryID) {
        change(number) {
            $0.flags.subtract(EntryFlags.ofExpiry.union([.stale, .failed, .refused]))
            $0.attempts = 0
        }
        noteDrawing()
    }

    mutating func count(revalidation result: LoadResult, isOutdated: Bool) {
        switch result {
        case .unchanged where !isOutdated: counters.revalidations.unchanged += 1
        case .pixels where !isOutdated, .absent where !isOutdated: counters.revalidations.changed += 1
        default: counters.revalidations.unanswered += 1
        }
    }

    // MARK: - Validators

    /// Validators of the pixels that a load revalidates; `nil` if there are none.
    func validators(of ticket: LoadTicket) -> TileStoreFreshness? {
        guard let load = loads[ticket], load.isRevalidation else { return nil }
        return validators[load.entry]
    }

    /// Gives back what the validators of removed tiles took; returns whether it was anything.
    @discardableResult
    mutating func shrinkValidators() -> Bool {
        let bytes = validators.shrink()
        if bytes > 0 { note(-bytes, in: .validators) }
        return bytes > 0
    }

    /// Keeps validators, if the limit has room for them.
    private mutating func keep(_ freshness: TileStoreFreshness, of number: EntryID) {
        let key = table[number].key
        let growth = validators.growth(with: freshness)
        guard growth == 0 || charge(growth, to: .validators) else { return }
        validators.noteCharge(growth)
        // Making room may have evicted the tile.
        guard table[key]?.residency.isResident == true, table.find(key) == number else { return }
        validators.set(freshness, of: number)
    }
}

/// Validators of tiles in memory, of those that expire and have some.
struct Validators {
    private var records: [EntryID: TileStoreFreshness] = [:]
    private var bytes = 0
    /// Bytes charged to the ledger: a multiple of `step`.
    private(set) var charged = 0
    private static let step = 16_384

    var isEmpty: Bool { records.isEmpty }

    subscript(number: EntryID) -> TileStoreFreshness? { records[number] }

    /// Bytes of a record: twice its place in a table that grows by doubling, and its texts.
    private static func size(_ freshness: TileStoreFreshness) -> Int {
        2 * (MemoryLayout<EntryID>.stride + MemoryLayout<TileStoreFreshness>.stride)
            + 2 * 32 + (freshness.entityTag?.utf8.count ?? 0) + (freshness.lastModified?.utf8.count ?? 0)
    }

    private static func inSteps(_ bytes: Int) -> Int { (bytes + step - 1) / step * step }

    /// Bytes to charge before a record is added.
    func growth(with freshness: TileStoreFreshness) -> Int {
        max(Self.inSteps(bytes + Self.size(freshness)) - charged, 0)
    }

    /// Maximum number of records that are moved at once.
    private static let mostMoved = 4096

    /// Shrinks a table of which hardly anything is left; returns the bytes that need not be charged any more.
    mutating func shrink() -> Int {
        guard bytes < charged / 4, records.count <= Self.mostMoved else { return 0 }
        let former = charged
        charged = Self.inSteps(bytes)
        // A dictionary keeps its capacity.
        if charged < former { records = Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.value) }) }
        return former - charged
    }

    mutating func noteCharge(_ growth: Int) { charged += growth }

    mutating func set(_ freshness: TileStoreFreshness, of number: EntryID) {
        remove(number)
        records[number] = freshness
        bytes += Self.size(freshness)
    }

    mutating func remove(_ number: EntryID) {
        if let old = records.removeValue(forKey: number) { bytes -= Self.size(old) }
    }
}
