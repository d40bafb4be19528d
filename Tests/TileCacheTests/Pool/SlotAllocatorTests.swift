import TestSupport
import Testing

@testable import TileCache

@Suite struct SlotAllocatorTests {
    /// Low slots are freed last: the tables of the high ones shrink in steps.
    @Test func tablesShrinkInSteps() {
        var slots = SlotAllocator(slotBytes: 4096, capacity: 1000)
        for _ in 0..<1000 { slots.release(slots.takeFresh()) }
        let most = slots.bookkeepingBytes
        var leaving: [Int32] = []
        while case let slot = slots.beginDecommit(), slot >= 0 { leaving.append(slot) }
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
                #expect((slot >= 0) == !unused.isEmpty)
                if slot >= 0 {
                    #expect(unused.remove(slot) != nil)
                    used.insert(slot)
                }
            case 1:
                let slot = slots.takeFresh()
                if slot >= 0 {
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
                #expect((slot >= 0) == !unused.isEmpty)
                if slot >= 0 {
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

    /// Fresh memory costs many times the copy that fills it, so the warmest slot is assigned first.
    @Test func theSlotGivenBackLastIsTakenFirst() {
        var slots = SlotAllocator(slotBytes: 4096, capacity: 3)
        let taken = (0..<3).map { _ in slots.takeFresh() }
        #expect(slots.takeFresh() == -1)
        slots.release(taken[2])
        slots.release(taken[0])
        #expect(slots.takeCommitted() == taken[0])
        #expect(slots.takeCommitted() == taken[2])
        #expect(slots.takeCommitted() == -1)
    }
}
