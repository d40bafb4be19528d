#if canImport(Glibc)
    import Dispatch
    import Glibc
    import Testing

    @testable import TileCache

    @Suite(.timeLimit(.minutes(45))) struct PlanThreadTests {
        /// Threads that have run something, in order.
        private final class Threads: Sendable {
            private let numbers = Lock([UInt64]())
            func note() { numbers.withLock { $0.append(currentThreadNumber()) } }
            var all: [UInt64] { numbers.withLock { $0 } }
        }

        @Test func eachStepRunsOnOneThreadWhoeverAsks() {
            let (thread, queue) = (PlanThread(), DispatchQueue(label: "callers"))
            let (ran, asked) = (Threads(), Threads())
            for number in 0..<100 {
                let caller = number % 3 == 0 ? DispatchQueue(label: "caller \(number)") : queue
                // As the steps of a serial queue: one after the other, on changing threads.
                let isDone = DispatchSemaphore(value: 0)
                caller.async {
                    asked.note()
                    thread.run { ran.note() }
                    #expect(ran.all.count == number + 1)
                    isDone.signal()
                }
                isDone.wait()
            }
            #expect(ran.all.count == 100)
            #expect(Set(ran.all).count == 1)
            #expect(Set(ran.all).isDisjoint(with: asked.all))
        }

        @Test func itHasTheBatchPolicy() {
            let policy = Lock(Int32(-1))
            PlanThread().run { policy.withLock { $0 = sched_getscheduler(0) } }
            #expect(policy.withLock { $0 } == BatchThread.policy)
            #expect(sched_getscheduler(0) == SCHED_OTHER)
        }

        @Test func itEndsWithItsOwnerAndReleasesItsSteps() {
            final class Held: Sendable {
                let isGone: DispatchSemaphore
                init(_ isGone: DispatchSemaphore) { self.isGone = isGone }
                deinit { isGone.signal() }
            }
            let (isGone, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            do {
                let thread = PlanThread()
                do {
                    let held = Held(isGone)
                    thread.run { _ = held }
                }
                // By the end of the step, though the thread goes on.
                #expect(isGone.wait(timeout: .now()) == .success)
                thread.run {
                    // Called when the thread ends.
                    var key = pthread_key_t()
                    pthread_key_create(&key) { held in if let held { Unmanaged<Held>.fromOpaque(held).release() } }
                    pthread_setspecific(key, Unmanaged.passRetained(Held(isOver)).toOpaque())
                }
                #expect(isOver.wait(timeout: .now()) == .timedOut)
            }
            isOver.wait()
        }

        /// The policy of a view is asked for each plan, by the thread that makes it.
        @Test func aCacheMakesItsPlansOnOneThread() throws {
            struct Noting: PrefetchPolicy {
                let threads: Threads
                let asked: DispatchSemaphore
                mutating func observe(_ frame: FrameObservation) {}
                mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
                    threads.note()
                    asked.signal()
                }
            }
            let (threads, asked) = (Threads(), DispatchSemaphore(value: 0))
            let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
            let layer = try cache.addLayer(PlainSource(), pyramid: .powerOfTwo(worldWidth: 8192, worldHeight: 8192))
            let view = cache.makeView(layers: [layer], selection: TileLevelSelection()) {
                Noting(threads: threads, asked: asked)
            }
            for step in 0..<50 {
                view.update(
                    TileViewport(center: WorldPoint(x: 600 + 100 * Double(step), y: 4096), width: 512, height: 512)
                )
                asked.wait()
            }
            cache.shutdown()
            #expect(threads.all.count >= 50)
            #expect(Set(threads.all).count == 1)
        }
    }
#endif
