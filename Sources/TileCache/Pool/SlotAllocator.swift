/// Numbers of the slots of one size, and which of them have memory behind them.
///
/// A slot that is given back keeps its memory and is taken again first: touching fresh memory costs twelve times the
/// copy that fills it. Only `beginDecommit` (for another use of the same bytes) lets memory go.
struct SlotAllocator {
    /// Bytes of a slot, a multiple of the system's page.
    let slotBytes: Int
    /// The most slots that the address range holds.
    let capacity: Int
    /// Free slots with memory behind them, the last given back on top.
    private var unused: [Int32] = []
    /// Slots whose memory was let go.
    private var decommitted: [Int32] = []
    private var highWater: Int32 = 0
    private var reserved = 0
    /// Slots that hold pixels or are being written.
    private(set) var usedCount = 0

    init(slotBytes: Int, capacity: Int) {
        self.slotBytes = slotBytes
        self.capacity = capacity
    }

    /// Takes the tables' memory for so many slots at once.
    mutating func reserve(_ count: Int) {
        reserved = max(reserved, min(count, capacity))
        unused.reserveCapacity(reserved)
        decommitted.reserveCapacity(reserved)
    }

    var unusedCount: Int { unused.count }
    /// Bytes of the tables themselves. Not by their arrays' capacity: that is what the allocator happened to give, and
    /// the same operations must always fit the same limit.
    var bookkeepingBytes: Int { max(reserved, Int(highWater)) * 2 * MemoryLayout<Int32>.stride }
    /// Bytes with memory behind them, used or not.
    var committedBytes: Int { (usedCount + unused.count) * slotBytes }

    /// A free slot that has memory already, or -1.
    mutating func takeCommitted() -> Int32 {
        guard let slot = unused.popLast() else { return -1 }
        usedCount += 1
        return slot
    }

    /// A slot whose memory is yet to be touched, or -1 where the address range is used up.
    mutating func takeFresh() -> Int32 {
        if let slot = decommitted.popLast() {
            usedCount += 1
            return slot
        }
        guard Int(highWater) < capacity else { return -1 }
        defer { highWater += 1 }
        usedCount += 1
        return highWater
    }

    /// Gives a slot back, its memory kept.
    mutating func giveBack(_ slot: Int32) {
        usedCount -= 1
        unused.append(slot)
    }

    /// Takes one unused slot out so that its memory can be let go; -1 where there is none. Until `finishDecommit` says
    /// that the system has the memory back, nobody can be given the slot.
    mutating func beginDecommit() -> Int32 { unused.popLast() ?? -1 }

    /// The slot's memory is gone; the slot may be taken again as a fresh one.
    mutating func finishDecommit(_ slot: Int32) { decommitted.append(slot) }
}
