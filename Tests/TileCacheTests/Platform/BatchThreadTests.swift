#if canImport(Glibc)
    import Dispatch
    import Foundation
    import Glibc
    import Testing

    @testable import TileCache

    @Suite struct BatchThreadTests {
        /// Runs a closure on a new thread with a scheduling policy.
        private func onThread(under policy: Int32, _ body: @escaping @Sendable () -> Void) {
            let isOver = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var parameters = sched_param()
                #expect(sched_setscheduler(0, policy, &parameters) == 0)
                body()
                isOver.signal()
            }
            isOver.wait()
        }

        @Test(arguments: [SCHED_OTHER, BatchThread.policy]) func aThreadHasTheNormalPolicyAfterwards(policy: Int32) {
            onThread(under: policy) {
                BatchThread.run {
                    #expect(sched_getscheduler(0) == BatchThread.policy)
                    BatchThread.pause { #expect(sched_getscheduler(0) == SCHED_OTHER) }
                    #expect(sched_getscheduler(0) == BatchThread.policy)
                }
                #expect(sched_getscheduler(0) == SCHED_OTHER)
                BatchThread.pause { #expect(sched_getscheduler(0) == SCHED_OTHER) }
                #expect(sched_getscheduler(0) == SCHED_OTHER)
            }
        }

        /// `SCHED_IDLE`, which needs no privilege.
        @Test func anotherPolicyStays() {
            let idle: Int32 = 5
            onThread(under: idle) {
                BatchThread.run { #expect(sched_getscheduler(0) == idle) }
                BatchThread.pause { #expect(sched_getscheduler(0) == idle) }
                #expect(sched_getscheduler(0) == idle)
            }
            onThread(under: SCHED_OTHER) {
                BatchThread.run {
                    var parameters = sched_param()
                    #expect(sched_setscheduler(0, idle, &parameters) == 0)
                }
                #expect(sched_getscheduler(0) == idle)
            }
        }

        @Test func sourcesAreCalledUnderThePolicyAndHandlersAreNot() throws {
            let policies = Lock([Int32]())
            let isLoading = DispatchSemaphore(value: 0)
            let handlers = Lock([Int32]())
            let isReady = DispatchSemaphore(value: 0)
            let source = PlainSource(absent: { _ in
                policies.withLock { $0.append(sched_getscheduler(0)) }
                isLoading.signal()
                return false
            })
            let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
            let layer = try cache.addLayer(source, pyramid: .powerOfTwo(worldWidth: 1024, worldHeight: 1024))
            let view = cache.makeView(layers: [layer])
            view.callbackQueue = DispatchQueue(label: "handlers")
            view.onTilesReady = {
                handlers.withLock { $0.append(sched_getscheduler(0)) }
                isReady.signal()
            }
            view.update(TileViewport(center: WorldPoint(x: 512, y: 512), width: 512, height: 512))
            isLoading.wait()
            isReady.wait()
            cache.shutdown()
            #expect(policies.withLock { $0.allSatisfy { $0 == BatchThread.policy } })
            #expect(handlers.withLock { $0.allSatisfy { $0 == SCHED_OTHER } })
        }
    }
#endif
