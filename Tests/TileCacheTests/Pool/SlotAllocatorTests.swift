import TestSupport
import Testing

@testable import TileCache

@Suite struct SlotAllocatorTests {
    /// Low slots are freed last: the tables of the high ones shrink in steps.
    @Test func tablesShrinkInSteps() {
        var slots = SlotAllocator(slotBytes: 4096, capacity: 1000)
        for slot in (0..<1000).compactMap({ _ in slots.takeFresh() }) { slots.release(slot) }
        let most = slots.bookkeepingBytes
        var leaving: [Int32] = []
        while let slot = slots.beginDecommit() { leaving.append(slot) }
        for slot in leaving.reversed() { slots.finishDecommit(slot) }
        #expect(slots.bookkeepingBytes < most)
        var steps: [Int] = []
        while case let step = slots.shrink(steps: 100), step > 0 { steps.append(step) }
        #expect(steps.allSatisfy { $0 <= 100 } && steps.count > 5 && slots.bookkeepingBytes == 0)
    }

    @Test func neverGivesOneSlotToTwo() {
        var random = SplitMix64(seed: 5)
        var slots = SlotAllocator(slotBytes: 8192, capacity: 20)
        var used: Set<Int32> = []
        /// Committed slots without an owner, and slots being decommitted.
        var unused: Set<Int32> = []
        var leaving: Set<Int32> = []
        for _ in 0..<5000 {
            switch random.below(5) {
            case 0:
                let slot = slots.takeCommitted()
                #expect((slot != nil) == !unused.isEmpty)
                if let slot {
                    #expect(unused.remove(slot) != nil)
                    used.insert(slot)
                }
            case 1:
                if let slot = slots.takeFresh() {
                    #expect(!used.contains(slot) && !unused.contains(slot) && !leaving.contains(slot))
                    #expect((0..<20).contains(slot))
                    used.insert(slot)
                } else {
                    #expect(used.count + unused.count + leaving.count == 20)
                }
            case 2:
                if let slot = used.min() {
                    slots.release(slot)
                    used.remove(slot)
                    unused.insert(slot)
                }
            case 3:
                let slot = slots.beginDecommit()
                #expect((slot != nil) == !unused.isEmpty)
                if let slot {
                    #expect(unused.remove(slot) != nil)
                    leaving.insert(slot)
                }
            default:
                if let slot = leaving.max() {
                    slots.finishDecommit(slot)
                    leaving.remove(slot)
                }
            }
            #expect(slots.usedCount == used.count)
            #expect(slots.unusedCount == unused.count)
            #expect(slots.committedBytes == (used.count + unused.count) * 8192)
        }
    }

    /// The warmest slot is assigned first. Fresh memory costs many times the copy that fills it.
    @Test func theSlotGivenBackLastIsTakenFirst() {
        var slots = SlotAllocator(slotBytes: 4096, capacity: 3)
        let taken = (0..<3).compactMap { _ in slots.takeFresh() }
        #expect(slots.takeFresh() == nil)
        slots.release(taken[2])
        slots.release(taken[0])
        #expect(slots.takeCommitted() == taken[0])
        #expect(slots.takeCommitted() == taken[2])
        #expect(slots.takeCommitted() == nil)
    }
}
