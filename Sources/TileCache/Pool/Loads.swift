/// Identifies a load in flight; reused after its end.
struct LoadID: Hashable, Comparable, Sendable {
    let number: Int32
    static var none: LoadID { LoadID(number: -1) }

    static func < (a: LoadID, b: LoadID) -> Bool { a.number < b.number }
}

/// A load in flight.
struct Load: Sendable {
    var entry: EntryID
    var generation: UInt32
    /// Slot that it writes into; none until one is reserved.
    var slot: SlotID
    /// Unique, unlike its number.
    fileprivate(set) var serial: UInt32 = 0
    var started: Int64
    /// Why it began.
    let reason: Rank
    /// Whether it began because a tier on this machine was known to have the tile.
    var isNear = false
    /// Epoch of the last plan that contained the tile; older loads may be cancelled.
    var wantedEpoch: UInt32
    /// Worth of the tile when the load began.
    let value: Float
    /// Whether a counted demand met the load in flight.
    var wasLate = false
    /// Encoded bytes that the source reports to hold.
    var heldBytes = 0
    /// Payload that the source has handed over.
    var encoded = ColdForm.none
    /// Whether it counts as hanging, or its worker was lent. Its worker, if it has one, was replaced.
    fileprivate(set) var isWrittenOff = false
    /// Whether its worker was lent to another layer: the load does not count as stuck.
    var isLent = false
    /// Whether it was cancelled, hanging, so that a needed tile loads in its place.
    var isSuperseded = false
    /// Pages refused in addition to its slot.
    var refusedPages: UInt16?

    /// Whether its tile has expired: its source is asked whether it is still valid.
    var isRevalidation = false

    /// Whether it is no prefetch.
    var isDemand: Bool { !reason.isPrefetch }

    /// Whether a worker is occupied by it.
    fileprivate(set) var hasWorker = true
    /// Its place in its layer's window; `nil` if the layer has none.
    var flight: LoadWindow.Flight?

    /// Whether an invalidation has overtaken it: it does not land.
    var isOutdated: Bool { generation == 0 }
}

/// Loads in flight by number.
struct Loads {
    private var records: [Load?] = []
    private var free: [LoadID] = []
    private var lastSerial: UInt32 = 0
    private(set) var count = 0
    /// Revalidations in flight.
    private(set) var revalidationCount = 0
    /// Loads in flight that were written off, and those of them that occupy a worker, which was replaced.
    private(set) var writtenOffCount = 0
    private(set) var replacedCount = 0
    /// Loads in flight that have not been written off.
    var busyCount: Int { count - writtenOffCount }
    /// Those of them that occupy a worker.
    private(set) var workerCount = 0

    init(capacity: Int) { records.reserveCapacity(capacity) }

    subscript(id: LoadID) -> Load? { records.indices.contains(Int(id.number)) ? records[Int(id.number)] : nil }

    /// The load of a ticket; `nil` if it has ended or is outdated.
    subscript(ticket: LoadTicket) -> Load? {
        self[ticket.load].flatMap { $0.isOutdated || $0.serial != ticket.serial ? nil : $0 }
    }

    /// All loads in flight, by number.
    var all: some Sequence<(id: LoadID, load: Load)> {
        records.indices.lazy.compactMap { index in records[index].map { (LoadID(number: Int32(index)), $0) } }
    }

    /// Those that occupy a worker and have not been written off.
    var calls: some Sequence<(id: LoadID, load: Load)> {
        all.lazy.filter { !$0.load.isWrittenOff && $0.load.hasWorker }
    }

    mutating func begin(_ load: Load, of key: TileKey) -> LoadTicket {
        lastSerial &+= 1
        var load = load
        load.serial = lastSerial
        let id = free.popLast() ?? LoadID(number: Int32(records.count))
        records.put(load, at: Int(id.number))
        count += 1
        workerCount += 1
        if load.isRevalidation { revalidationCount += 1 }
        return LoadTicket(load: id, serial: lastSerial, key: key, slot: load.slot, isDemand: load.isDemand)
    }

    mutating func change(_ id: LoadID, _ body: (inout Load) -> Void) {
        if self[id] != nil { body(&records[Int(id.number)]!) }
    }

    /// Removes a load that has ended.
    mutating func end(_ id: LoadID) -> Load? {
        guard let load = self[id] else { return nil }
        records[Int(id.number)] = nil
        free.append(id)
        count -= 1
        if load.isRevalidation { revalidationCount -= 1 }
        if load.isWrittenOff { writtenOffCount -= 1 }
        if load.hasWorker { noteReleased(load) }
        return load
    }

    /// Releases the worker of a load, which its source goes on with; returns whether that worker was replaced.
    mutating func releaseWorker(of ticket: LoadTicket) -> Bool {
        guard let load = self[ticket.load], load.serial == ticket.serial, load.hasWorker else { return false }
        records[Int(ticket.load.number)]!.hasWorker = false
        noteReleased(load)
        return load.isWrittenOff
    }

    private mutating func noteReleased(_ load: Load) {
        if load.isWrittenOff { replacedCount -= 1 } else { workerCount -= 1 }
    }

    /// Marks a load as written off: the worker that it occupies, if any, is replaced.
    mutating func writeOff(_ id: LoadID) {
        guard let load = self[id] else { return }
        if load.hasWorker { (workerCount, replacedCount) = (workerCount - 1, replacedCount + 1) }
        records[Int(id.number)]!.isWrittenOff = true
        records[Int(id.number)]!.flight = nil
        writtenOffCount += 1
    }

    /// Whether some occupy no worker, and have not been written off.
    var haveFlights: Bool { busyCount > workerCount }
    /// Start of the oldest load that was not written off, and of the oldest one of them that occupies a worker.
    var oldestStart: Int64? { all.lazy.filter { !$0.load.isWrittenOff }.map(\.load.started).min() }
    var oldestCall: Int64? { calls.map(\.load.started).min() }
}
