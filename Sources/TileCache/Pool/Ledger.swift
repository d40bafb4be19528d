/// A slot, a page of compressed blocks or a page of the table.
struct MemoryRange: Hashable, Sendable {
    /// The class of slots, or one of the names below.
    var slotClass: Int32
    var number: Int32

    static let pages: Int32 = -1
    static let entryPages: Int32 = -2
    static let chainPages: Int32 = -3
    /// The lowest of them.
    static let firstKind = chainPages
}

/// Memory to decommit before the holder of the lock writes to what it was granted.
struct LeavingMemory: Hashable, Sendable {
    var range: MemoryRange
    /// Bytes that still count until the memory is gone: in the place of the others something has been taken already.
    var countedBytes: Int
}

/// Bytes that count against a pool's limit. Those of slots, pages and the table are added in the extension below.
struct Ledger {
    /// What takes memory outside of the pool.
    enum Account: Int, CaseIterable {
        /// The plan, as large as the largest so far.
        case plan
        /// What views need and remember.
        case views
        /// What policies have learned.
        case policies
        /// The tables of layers.
        case layers
        /// Scratch memory of codecs.
        case codecs
    }

    private(set) var limit: Int
    /// More is in use than a lowered limit allows: tiles that were held or pinned stood in the way.
    private(set) var isOverLimit = false
    private var accounts = [Int](repeating: 0, count: Account.allCases.count)
    /// Bytes of all accounts.
    private(set) var accountBytes = 0
    /// Encoded bytes that sources hold in their own memory, and copies for their decoders.
    private(set) var heldBytes = 0
    /// Of the slots' bytes, those that loads write into.
    private(set) var inFlightBytes = 0
    /// What this hold of the lock decommits, until `takePendingDecommits`.
    private(set) var pendingDecommits: [LeavingMemory] = []
    /// Bytes on their way to the system in whose place nothing has been taken yet.
    private(set) var leavingBytes = 0
    /// Of those, the ones that this hold of the lock decommits: it may take as much, since it decommits before it writes.
    private(set) var credit = 0
    /// What this hold of the lock has taken in the place of what it decommits.
    private var pledgedBytes = 0

    init(limit: Int) { self.limit = limit }

    subscript(account: Account) -> Int { accounts[account.rawValue] }

    mutating func add(_ bytes: Int, to account: Account) {
        accounts[account.rawValue] += bytes
        accountBytes += bytes
    }

    mutating func noteHeld(_ bytes: Int) { heldBytes += bytes }

    mutating func noteInFlight(_ bytes: Int) { inFlightBytes += bytes }

    mutating func setLimit(_ bytes: Int, committed: Int) {
        limit = bytes
        noteLimit(committed: committed)
    }

    /// Notes whether the limit is kept.
    mutating func noteLimit(committed: Int) { isOverLimit = committed > limit }

    // MARK: - Memory that leaves

    mutating func beginDecommit(_ range: MemoryRange, bytes: Int) {
        pendingDecommits.append(LeavingMemory(range: range, countedBytes: bytes))
        leavingBytes += bytes
        credit += bytes
    }

    /// Notes that something was taken. What goes beyond the limit stands in the place of what this hold of the lock
    /// decommits, and is counted once.
    mutating func coverTaken(committed: Int) {
        let pledge = min(committed - limit, credit)
        guard pledge > 0 else { return }
        leavingBytes -= pledge
        credit -= pledge
        pledgedBytes += pledge
    }

    /// Takes the memory to decommit. From here on nothing may take its place until it is gone.
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
        return leaving
    }

    mutating func finishDecommit(_ memory: LeavingMemory) { leavingBytes -= memory.countedBytes }
}

extension PoolState {
    /// Bytes of decoded tiles, of slots being written and of slots kept for the next tile.
    var slotCommittedBytes: Int { slots.reduce(0) { $0 + $1.committedBytes } }
    /// Bytes in slots that hold pixels or are being written.
    var slotUsedBytes: Int { slots.reduce(0) { $0 + $1.usedCount * $1.slotBytes } }
    /// Bytes of tables and scratch memory.
    var bookkeepingBytes: Int {
        table.byteCount + pages.bookkeepingBytes + slots.reduce(0) { $0 + $1.bookkeepingBytes }
            + (configuration.workers + loads.writtenOffCount) * MemoryLayout<Load?>.stride + ledger.accountBytes
    }
    /// Everything with memory behind it, what is on its way to the system included: what must never exceed the limit.
    var committedBytes: Int {
        slotCommittedBytes + pages.committedBytes + ledger.leavingBytes + ledger.heldBytes + countedBookkeepingBytes
    }
    /// Bytes of tables and scratch memory that count against the limit.
    var countedBookkeepingBytes: Int { configuration.grantsBookkeeping ? 0 : bookkeepingBytes }
    /// Bytes that this hold of the lock may still commit.
    var availableBytes: Int { ledger.limit - committedBytes + ledger.credit }
    var isOverLimit: Bool { ledger.isOverLimit }

    /// Notes that something was taken.
    mutating func noteTaken() {
        ledger.coverTaken(committed: committedBytes)
        notePeaks()
    }

    mutating func notePeaks() {
        let committed = committedBytes
        if !isOverLimit, committed > ledger.limit {
            assertionFailure("the pool has more than it was given")
            counters.limitBreaches += 1
        }
        counters.peakBytes = max(counters.peakBytes, committed)
        counters.peakDecodedBytes = max(counters.peakDecodedBytes, slotUsedBytes - ledger.inFlightBytes)
        counters.peakCompressedBytes = max(counters.peakCompressedBytes, pages.usedBytes)
        counters.peakInFlightBytes = max(counters.peakInFlightBytes, ledger.inFlightBytes)
    }

    /// Counts what something holds outside of the pool. Returns whether there was room for its growth.
    mutating func charge(_ growth: Int, to account: Ledger.Account) -> Bool {
        guard growth <= 0 || configuration.grantsBookkeeping || (!isOverLimit && makeBytes(growth)) else {
            return false
        }
        note(growth, in: account)
        return true
    }

    /// Counts what something holds outside of the pool. The caller has made room with `makeBytes`.
    mutating func note(_ growth: Int, in account: Ledger.Account) {
        ledger.add(growth, to: account)
        noteTaken()
    }

    /// Bytes of pixels ready to draw and of compressed blocks before rounding to pages: what the limit is for.
    var payloadBytes: Int {
        var bytes = 0
        table.forEach { number in
            let entry = table[number]
            bytes += (entry.residency.isDecoded ? tileBytes(of: entry.key) : 0) + entry.form.byteCount
        }
        return bytes
    }
}
