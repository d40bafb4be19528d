/// A slot, a page of compressed blocks or a page of the table.
struct MemoryRange: Hashable, Sendable {
    /// Class of slots, or one of the kinds below.
    var slotClass: Int32
    var number: Int32

    static let pages: Int32 = -1
    static let entryPages: Int32 = -2
    static let chainPages: Int32 = -3
    static let firstKind = chainPages
}

/// Memory to decommit before the caller writes to granted memory.
struct LeavingMemory: Hashable, Sendable {
    var range: MemoryRange
    /// Bytes that count until the decommit ends; granted memory has replaced the rest.
    var countedBytes: Int
}

/// Bytes that count against a pool's limit. The extension below adds slots, pages and the table.
struct Ledger {
    /// Owner of memory outside of the pool.
    enum Account: Int, CaseIterable {
        case plan
        /// Needs of views, and interests in single tiles.
        case demand
        /// Learned tables of policies.
        case policies
        /// Tables of layers.
        case layers
        /// Scratch memory of codecs.
        case codecs
        /// Buffers and filters of stores, and tiles that wait to be given to them.
        case stores
        /// Copies of encoded tiles, until stores have them.
        case copies
        /// Validators of tiles that expire.
        case validators
        /// Memory that sources report, such as directories.
        case sources

        /// Whether what it takes stays whatever is drawn, so that views may have to become coarser.
        fileprivate var isLasting: Bool {
            switch self {
            case .layers, .codecs, .stores, .sources: true
            case .plan, .demand, .policies, .copies, .validators: false
            }
        }
    }

    private(set) var limit: Int
    /// Whether a lowered limit is exceeded, because of leased or pinned tiles.
    private(set) var isOverLimit = false
    /// Number of times that memory was given back, or taken for long: what is left for tiles has changed.
    private(set) var changes: UInt64 = 0
    private var accounts = [Int](repeating: 0, count: Account.allCases.count)
    /// Sum of `accounts`.
    private(set) var accountBytes = 0
    /// Encoded bytes held by sources, and copies for their decoders.
    private(set) var heldBytes = 0
    /// Bytes of slots that loads write into.
    private(set) var inFlightBytes = 0
    /// Memory queued for decommit, until `takePendingDecommits`.
    private(set) var pendingDecommits: [LeavingMemory] = []
    private static let usualDecommits = 64
    /// Bytes being decommitted, without those already replaced by granted memory.
    private(set) var leavingBytes = 0
    /// Bytes queued for decommit while this lock is held. The holder may reuse them at once, since it decommits first.
    private(set) var credit = 0
    /// Bytes granted in this hold of the lock in exchange for queued ones.
    private var pledgedBytes = 0
    /// Number of decommits under way, outside of the lock.
    private var leavingCount = 0
    /// Whether a request has lacked memory meanwhile.
    private var isAwaited = false

    init(limit: Int) { self.limit = limit }

    subscript(account: Account) -> Int { accounts[account.rawValue] }

    mutating func add(_ bytes: Int, to account: Account) {
        accounts[account.rawValue] += bytes
        accountBytes += bytes
        if bytes < 0 || (bytes > 0 && account.isLasting) { changes &+= 1 }
    }

    mutating func noteHeld(_ bytes: Int) {
        heldBytes += bytes
        if bytes < 0 { changes &+= 1 }
    }

    mutating func noteInFlight(_ bytes: Int) { inFlightBytes += bytes }

    mutating func setLimit(_ bytes: Int, committed: Int) {
        if bytes > limit { changes &+= 1 }
        limit = bytes
        noteLimit(committed: committed)
    }

    /// Updates `isOverLimit`.
    mutating func noteLimit(committed: Int) {
        let isOver = committed > limit
        if isOverLimit, !isOver { changes &+= 1 }
        isOverLimit = isOver
    }

    // MARK: - Decommits

    mutating func beginDecommit(_ range: MemoryRange, bytes: Int) {
        // Room for one slot takes many pages of compressed tiles.
        if pendingDecommits.isEmpty { pendingDecommits.reserveCapacity(Self.usualDecommits) }
        pendingDecommits.append(LeavingMemory(range: range, countedBytes: bytes))
        leavingBytes += bytes
        credit += bytes
    }

    /// Counts granted bytes beyond the limit once: they replace bytes queued for decommit.
    mutating func replaceQueued(committed: Int) {
        let pledge = min(committed - limit, credit)
        guard pledge > 0 else { return }
        leavingBytes -= pledge
        credit -= pledge
        pledgedBytes += pledge
    }

    /// Drains the memory to decommit. It stays counted until `finishDecommit`.
    mutating func takePendingDecommits() -> [LeavingMemory] {
        guard !pendingDecommits.isEmpty else { return [] }
        var leaving = pendingDecommits
        for index in leaving.indices where pledgedBytes > 0 {
            let pledged = min(leaving[index].countedBytes, pledgedBytes)
            leaving[index].countedBytes -= pledged
            pledgedBytes -= pledged
        }
        pendingDecommits.removeAll()
        credit = 0
        leavingCount += leaving.count
        return leaving
    }

    /// Notes that a request was refused memory. What its own hold of the lock has queued it could have used. Only
    /// decommits under way may return more: otherwise each refused request would cause the plan that repeats it.
    ///
    /// - Parameter ofNumber: Whether it lacked a slot's or an entry's number. What its own hold has queued returns them
    ///   later. Default: false, it lacked bytes.
    mutating func noteRefusal(ofNumber: Bool = false) {
        isAwaited = isAwaited || leavingCount > 0 || (ofNumber && !pendingDecommits.isEmpty)
    }

    mutating func finishDecommit(_ memory: LeavingMemory) {
        leavingBytes -= memory.countedBytes
        leavingCount -= 1
        if isAwaited { changes &+= 1 }
        if leavingCount == 0 { isAwaited = false }
    }

    /// Notes that memory of a lowered limit, or of removed layers, has gone in a step. A plan takes the next one.
    mutating func noteStep() { changes &+= 1 }
}

extension PoolState {
    /// Bytes of tables and scratch memory.
    var bookkeepingBytes: Int {
        table.byteCount + pages.bookkeepingBytes + slots.bookkeepingBytes
            + (configuration.workers + loads.replacedCount) * MemoryLayout<Load?>.stride + ledger.accountBytes
    }
    /// The same without copies for stores, which are soon gone. What has no room beside these alone may have it then.
    var lastingBookkeepingBytes: Int { bookkeepingBytes - ledger[.copies] }
    /// All committed bytes, those being decommitted included: must never exceed the limit.
    var committedBytes: Int {
        slots.committedBytes + pages.committedBytes + ledger.leavingBytes + ledger.heldBytes + countedBookkeepingBytes
    }
    /// Bytes of tables and scratch memory, if they count against the limit.
    var countedBookkeepingBytes: Int { configuration.grantsBookkeeping ? 0 : bookkeepingBytes }
    /// Bytes that may still be committed in this hold of the lock.
    var availableBytes: Int { ledger.limit - committedBytes + ledger.credit }
    var isOverLimit: Bool { ledger.isOverLimit }

    /// Updates ledger and peaks after memory was taken.
    mutating func noteTaken() {
        ledger.replaceQueued(committed: committedBytes)
        notePeaks()
    }

    /// Ends a lowered limit that is met, now that memory has gone. Needed tiles may have been evicted for it.
    mutating func noteReturned() {
        guard isOverLimit else { return }
        ledger.noteLimit(committed: committedBytes)
    }

    mutating func notePeaks() {
        let committed = committedBytes
        if !isOverLimit, committed > ledger.limit {
            assertionFailure("the pool has more than it was given")
            counters.limitBreaches += 1
        }
        counters.peakBytes = max(counters.peakBytes, committed)
        counters.peakDecodedBytes = max(counters.peakDecodedBytes, slots.usedBytes - ledger.inFlightBytes)
        counters.peakCompressedBytes = max(counters.peakCompressedBytes, pages.usedBytes)
        counters.peakInFlightBytes = max(counters.peakInFlightBytes, ledger.inFlightBytes)
    }

    /// Charges memory outside of the pool; returns whether there was room for its growth.
    ///
    /// - Parameter inSteps: Whether the request may be interrupted (`hold.isInterrupted`); the caller asks again, or does
    ///   without. Default: false, the growth is small or linear in the caller's own request.
    mutating func charge(_ growth: Int, to account: Ledger.Account, inSteps: Bool = false) -> Bool {
        guard
            growth <= 0 || configuration.grantsBookkeeping
                || (fits(growth) && makeBytes(growth, inSteps: inSteps))
        else { return false }
        note(growth, in: account)
        return true
    }

    /// Sets what an account is charged; without room it stays as it is. Returns whether there was room.
    mutating func setCharge(_ bytes: Int, of account: Ledger.Account, inSteps: Bool = false) -> Bool {
        charge(bytes - ledger[account], to: account, inSteps: inSteps)
    }

    /// Makes room for a later charge in steps; returns whether more steps would help.
    mutating func prepareCharge(of growth: Int) -> Bool {
        guard growth > 0, !configuration.grantsBookkeeping, fits(growth) else { return false }
        return !makeBytes(growth) && hold.isInterrupted
    }

    /// Whether a growth fits beside the other accounts. What would not evicts nothing.
    private func fits(_ growth: Int) -> Bool {
        !isOverLimit && growth <= ledger.limit - ledger.accountBytes - ledger.heldBytes - ledger.inFlightBytes
    }

    /// Charges memory outside of the pool. The caller has made room with `makeBytes`.
    mutating func note(_ growth: Int, in account: Ledger.Account) {
        ledger.add(growth, to: account)
        noteTaken()
        if growth < 0 { noteReturned() }
    }
}
