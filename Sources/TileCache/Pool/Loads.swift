/// Names a load in flight. Once it has ended, another may have its name.
struct LoadID: Hashable, Comparable, Sendable {
    let number: Int32
    static var none: LoadID { LoadID(number: -1) }

    static func < (a: LoadID, b: LoadID) -> Bool { a.number < b.number }
}

/// A load that has started and not ended.
struct Load: Sendable {
    var entry: EntryID
    var generation: UInt32
    /// The slot that it writes into; none while nothing is reserved.
    var slot: SlotID
    /// Its number may be another load's later; this is not.
    fileprivate(set) var serial: UInt32 = 0
    var started: Int64
    let isDemand: Bool
    /// The plan that last asked for the tile; loads that no plan wants any more may be cancelled.
    var wantedEpoch: UInt32
    /// What the tile was worth when the load began.
    let value: Float
    /// A counted demand met the load while it was in flight.
    var wasLate = false
    /// Encoded bytes that the source holds in its own memory and has told of.
    var heldBytes = 0
    /// What the source has handed over as the tile's compressed form.
    var encoded = ColdForm.none
    /// It has taken so long that another may take its worker's place.
    fileprivate(set) var isWrittenOff = false
    /// Pages of memory that were refused to it beside its slot. Small, so that the record does not grow.
    var refusedPages: UInt16?

    /// An invalidation has overtaken it: it does not land.
    var isOutdated: Bool { generation == 0 }
}

/// Loads in flight by number; a freed number is used again.
struct Loads {
    private var records: [Load?] = []
    private var free: [LoadID] = []
    private var lastSerial: UInt32 = 0
    private(set) var count = 0
    /// Prefetches in flight, those that were written off not counted.
    private(set) var prefetchCount = 0
    /// Loads in flight that no worker waits for any more.
    private(set) var writtenOffCount = 0
    /// Loads that workers are at.
    var busyCount: Int { count - writtenOffCount }

    init(capacity: Int) { records.reserveCapacity(capacity) }

    /// The load of a number; `nil` if it has ended.
    subscript(id: LoadID) -> Load? { records.indices.contains(Int(id.number)) ? records[Int(id.number)] : nil }

    /// The load of a ticket, unless it has ended or an invalidation has overtaken it.
    subscript(ticket: LoadTicket) -> Load? {
        self[ticket.load].flatMap { $0.isOutdated || $0.serial != ticket.serial ? nil : $0 }
    }

    /// All loads in flight, by number.
    var all: some Sequence<(id: LoadID, load: Load)> {
        records.indices.lazy.compactMap { index in records[index].map { (LoadID(number: Int32(index)), $0) } }
    }

    mutating func begin(_ load: Load) -> (id: LoadID, serial: UInt32) {
        lastSerial &+= 1
        var load = load
        load.serial = lastSerial
        let id = free.popLast() ?? LoadID(number: Int32(records.count))
        records.put(load, at: Int(id.number))
        count += 1
        if !load.isDemand { prefetchCount += 1 }
        return (id, lastSerial)
    }

    mutating func change(_ id: LoadID, _ body: (inout Load) -> Void) {
        if self[id] != nil { body(&records[Int(id.number)]!) }
    }

    /// Takes out a load that has ended.
    mutating func end(_ id: LoadID) -> Load? {
        guard let load = self[id] else { return nil }
        records[Int(id.number)] = nil
        free.append(id)
        count -= 1
        if load.isWrittenOff { writtenOffCount -= 1 } else if !load.isDemand { prefetchCount -= 1 }
        return load
    }

    /// Gives a load's worker to another.
    mutating func writeOff(_ id: LoadID) {
        change(id) { $0.isWrittenOff = true }
        writtenOffCount += 1
        if self[id]?.isDemand == false { prefetchCount -= 1 }
    }

    /// When the oldest load began that was not written off; `nil` if there is none.
    var oldestStart: Int64? { all.lazy.filter { !$0.load.isWrittenOff }.map(\.load.started).min() }
}
