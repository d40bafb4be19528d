/// Numbers of the slots of one size, or of pages; some are committed.
///
/// A released slot stays committed and is reused first: touching fresh memory costs twelve times the copy that fills
/// it. Low numbers are taken first and high ones decommitted first, so that neighbours go together and the tables
/// shrink.
struct SlotAllocator {
    /// Bytes of a slot, a multiple of the system's page.
    let slotBytes: Int
    /// Maximum slots of the address range.
    let capacity: Int
    /// Free committed slots.
    private var unused = NumberSet()
    /// Free decommitted slots below `highWater`.
    private var decommitted = NumberSet()
    var decommittedCount: Int { decommitted.count }
    /// Upper bound of the slots ever committed.
    private(set) var highWater: Int32 = 0
    /// Slots that hold pixels or are being written.
    private(set) var usedCount = 0
    /// Number of layers with tiles of this size.
    fileprivate(set) var layers = 0
    /// Whether no layer has this size and no slot is committed or being decommitted.
    var isFree: Bool { layers == 0 && highWater == 0 }
    /// Whether no layer has the size, and unused slots can be decommitted or the tables shortened.
    var hasRemains: Bool { layers == 0 && (unusedCount > 0 || (highWater > 0 && decommitted.contains(highWater - 1))) }

    init(slotBytes: Int, capacity: Int) {
        self.slotBytes = slotBytes
        self.capacity = capacity
    }

    var unusedCount: Int { unused.count }
    /// Decommitted slots that may be taken; those still being decommitted are not included.
    var freshCount: Int { capacity - Int(highWater) + decommitted.count }
    func isDecommitted(_ slot: Int32) -> Bool { decommitted.contains(slot) }
    func isUnused(_ slot: Int32) -> Bool { unused.contains(slot) }
    var bookkeepingBytes: Int { NumberSet.bytesOfTwo(below: Int(highWater)) }
    /// Committed bytes, used or not.
    var committedBytes: Int { (usedCount + unused.count) * slotBytes }

    /// Takes a free committed slot; `nil` if there is none.
    mutating func takeCommitted() -> Int32? {
        let slot = unused.popFirst()
        if slot != nil { usedCount += 1 }
        return slot
    }

    /// Growth of the tables, in bytes, if this many fresh slots are taken.
    func growth(takingFresh count: Int = 1) -> Int {
        NumberSet.bytesOfTwo(below: Int(highWater) + max(count - decommitted.count, 0)) - bookkeepingBytes
    }

    /// Takes a decommitted slot; `nil` if the address range is used up.
    mutating func takeFresh() -> Int32? {
        if let slot = decommitted.popFirst() {
            usedCount += 1
            return slot
        }
        guard Int(highWater) < capacity else { return nil }
        defer { highWater += 1 }
        usedCount += 1
        return highWater
    }

    /// Releases a slot; it stays committed.
    mutating func release(_ slot: Int32) {
        usedCount -= 1
        unused.insert(slot)
    }

    /// Begins to decommit a free slot; `nil` if there is none. It cannot be taken until `finishDecommit`.
    mutating func beginDecommit() -> Int32? { unused.popLast() }

    /// Ends a decommit; the slot may be taken again as a fresh one.
    mutating func finishDecommit(_ slot: Int32) {
        decommitted.insert(slot)
        shrink(steps: Self.shrinkSteps)
    }

    /// Maximum entries removed per decommit: bounds how long the lock is held.
    static let shrinkSteps = 64

    /// Removes the highest slots from the tables if they are decommitted; returns how many.
    @discardableResult
    mutating func shrink(steps: Int) -> Int {
        var count = 0
        while count < steps, highWater > 0, decommitted.contains(highWater - 1) {
            highWater -= 1
            decommitted.remove(highWater)
            count += 1
        }
        // Without slots, the words that the sets keep are not counted.
        if count > 0, highWater == 0 { (unused, decommitted) = (NumberSet(), NumberSet()) }
        return count
    }
}

/// Allocators of slots, one for each size.
struct SlotClasses: RandomAccessCollection {
    /// Each of another size.
    private var allocators: [SlotAllocator] = []

    var startIndex: Int { 0 }
    var endIndex: Int { allocators.count }
    subscript(slotClass: Int) -> SlotAllocator {
        @inline(__always) _read { yield allocators[slotClass] }
        @inline(__always) _modify { yield &allocators[slotClass] }
    }

    func has(slotBytes: Int) -> Bool { allocators.contains { $0.slotBytes == slotBytes } }

    /// Adds a layer to the class of its slots, which is made if necessary. Returns the class.
    mutating func addLayer(slotBytes: Int, capacity: Int) -> Int {
        let known = allocators.firstIndex { $0.slotBytes == slotBytes }
        // Reuses the index of a size without layers and memory.
        let slotClass = known ?? allocators.firstIndex { $0.isFree } ?? allocators.count
        if known == nil { allocators.put(SlotAllocator(slotBytes: slotBytes, capacity: capacity), at: slotClass) }
        allocators[slotClass].layers += 1
        return slotClass
    }

    mutating func removeLayer(from slotClass: Int) { allocators[slotClass].layers -= 1 }

    /// Whether sizes without layers have unused slots to decommit or tables to shorten, or the last size can be removed.
    var haveRemains: Bool { allocators.contains { $0.hasRemains } || allocators.last?.isFree == true }

    /// Removes the last sizes that no layer has and no slot is committed of.
    mutating func removeFree() {
        while allocators.last?.isFree == true { allocators.removeLast() }
    }

    /// Shrinks the tables; returns the number of slots removed.
    mutating func shrink(steps: Int) -> Int {
        allocators.indices.reduce(0) { $0 + allocators[$1].shrink(steps: steps - $0) }
    }

    /// Bytes of committed slots.
    var committedBytes: Int { allocators.reduce(0) { $0 + $1.committedBytes } }
    /// Bytes in slots that hold pixels or are being written.
    var usedBytes: Int { allocators.reduce(0) { $0 + $1.usedCount * $1.slotBytes } }
    var bookkeepingBytes: Int { allocators.reduce(0) { $0 + $1.bookkeepingBytes } }
}
