/// Numbers of the slots of one size, or of pages, and which of them have memory behind them.
///
/// A released slot keeps its memory and is taken again first: touching fresh memory costs twelve times the copy that
/// fills it. Only `beginDecommit` (for another use of the same bytes) decommits. Low numbers are taken first and high
/// ones decommitted first, so that neighbours go together and the tables shrink with the slots.
struct SlotAllocator {
    /// Bytes of a slot, a multiple of the system's page.
    let slotBytes: Int
    /// The most slots that the address range holds.
    let capacity: Int
    /// Free slots with memory behind them.
    private var unused = NumberSet()
    /// Slots below `highWater` without memory that may be taken.
    private var decommitted = NumberSet()
    var decommittedCount: Int { decommitted.count }
    /// Slots below it have memory, or had it.
    private(set) var highWater: Int32 = 0
    /// Slots that hold pixels or are being written.
    private(set) var usedCount = 0
    /// Layers with tiles of this size.
    var layers = 0
    /// Whether no layer has this size, and no slot has memory or is about to lose it.
    var isFree: Bool { layers == 0 && highWater == 0 }

    init(slotBytes: Int, capacity: Int) {
        self.slotBytes = slotBytes
        self.capacity = capacity
    }

    var unusedCount: Int { unused.count }
    /// Slots without memory that may be taken; those on their way to the system are not among them.
    var freshCount: Int { capacity - Int(highWater) + decommitted.count }
    func isDecommitted(_ slot: Int32) -> Bool { decommitted.contains(slot) }
    /// Bytes of the tables.
    var bookkeepingBytes: Int { NumberSet.bytesOfTwo(below: Int(highWater)) }
    /// Bytes with memory behind them, used or not.
    var committedBytes: Int { (usedCount + unused.count) * slotBytes }

    /// A free slot that has memory already, or -1.
    mutating func takeCommitted() -> Int32 {
        let slot = unused.popFirst()
        if slot >= 0 { usedCount += 1 }
        return slot
    }

    /// Bytes that the tables grow by if so many fresh slots are taken.
    func growth(takingFresh count: Int = 1) -> Int {
        NumberSet.bytesOfTwo(below: Int(highWater) + max(count - decommitted.count, 0)) - bookkeepingBytes
    }

    /// A slot whose memory is yet to be touched, or -1 if the address range is used up.
    mutating func takeFresh() -> Int32 {
        let slot = decommitted.popFirst()
        if slot >= 0 {
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
        unused.insert(slot)
    }

    /// Takes one unused slot out so that its memory can be decommitted; -1 if there is none. Until `finishDecommit`
    /// the slot cannot be taken.
    mutating func beginDecommit() -> Int32 { unused.popLast() }

    /// The slot's memory is gone; the slot may be taken again as a fresh one.
    mutating func finishDecommit(_ slot: Int32) {
        decommitted.insert(slot)
        shrink(steps: Self.shrinkSteps)
    }

    /// The tables of very many slots are not shrunk at once: the lock must not be held for long.
    static let shrinkSteps = 64

    /// Forgets the highest slots if they have no memory.
    ///
    /// - Returns: how many, at most `steps`.
    @discardableResult
    mutating func shrink(steps: Int) -> Int {
        var count = 0
        while count < steps, highWater > 0, decommitted.contains(highWater - 1) {
            highWater -= 1
            decommitted.remove(highWater)
            count += 1
        }
        return count
    }
}
