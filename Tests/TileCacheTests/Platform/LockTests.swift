import Dispatch
import Foundation
import Synchronization
import Testing

@testable import TileCache

struct LockTests {
    @Test func oneThreadAtATimeHasTheValue() {
        let lock = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<5000 { lock.withLock { $0 += 1 } }
        }
        #expect(lock.withLock { $0 } == 20_000)
    }

    #if os(Linux)
        /// A thread that takes the lock again as soon as it has released it.
        @Test func aThreadThatHasWaitedGetsTheLockNext() {
            let lock = Lock([String]())
            let group = DispatchGroup()
            for _ in 0..<20 {
                lock.withLock { order in
                    order.removeAll()
                    DispatchQueue.global().async(group: group) { lock.withLock { $0.append("the other thread") } }
                    while !lock.isAwaited { usleep(100) }
                    usleep(UInt32(WaitingLine<Int>.patience / 1000) * 2)
                }
                lock.withLock { $0.append("this thread") }
                group.wait()
                #expect(lock.withLock { $0 } == ["the other thread", "this thread"])
            }
        }
    #endif
}

/// Times in nanoseconds.
struct WaitingLineTests {
    private let patience = WaitingLine<Int>.patience

    @Test func aThreadWokenInVainComesBeforeLaterOnes() {
        var line = WaitingLine<Int>()
        line.add(1, since: 10)
        line.add(2, since: 20)
        #expect(line.next(now: 30) == (1, false))
        line.add(3, since: 25)
        line.add(1, since: 10)
        #expect((0..<3).map { _ in line.next(now: 30).waiter } == [1, 2, 3])
        #expect(line.isEmpty)
    }

    @Test func aThreadThatTookTheLockItselfLeavesTheLine() {
        var line = WaitingLine<Int>()
        for thread in 1...3 { line.add(thread, since: Int64(thread)) }
        line.remove { $0 == 2 }
        line.remove { $0 == 2 }
        #expect((0..<2).map { _ in line.next(now: 30).waiter } == [1, 3])
        #expect(line.isEmpty)
    }

    /// A release may miss a thread that lines up at that moment.
    @Test func aThreadThatNobodyWakesLooksAgainInTheTimeThatItHasWaited() {
        #expect(WaitingLine<Int>.timeToLookAgain(after: 0) == patience)
        #expect(WaitingLine<Int>.timeToLookAgain(after: 5 * patience) == 5 * patience)
    }

    @Test func theFirstGetsTheLockOnceItHasWaited() {
        var line = WaitingLine<Int>()
        line.add(1, since: 1000)
        #expect(line.next(now: 999 + patience) == (1, false))
        line.add(1, since: 1000)
        #expect(line.next(now: 1000 + patience) == (1, true))
    }

    /// Otherwise each hold of many waiting threads would cost a switch of threads.
    @Test func theLockIsNotHandedOverAgainAtOnce() {
        var line = WaitingLine<Int>()
        for thread in 1...4 { line.add(thread, since: 0) }
        #expect(line.next(now: patience) == (1, true))
        #expect(line.next(now: patience + 1) == (2, false))
        #expect(line.next(now: 2 * patience - 1) == (3, false))
        #expect(line.next(now: 2 * patience) == (4, true))
    }
}
