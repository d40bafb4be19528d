#if os(Linux)
    import Dispatch
    import Synchronization
    import Testing

    @testable import TileCache

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    @Suite struct BatchThreadTests {
        private func policy() -> Int32 { sched_getscheduler(0) }

        @Test func aThreadGetsItsPolicyBack() {
            #expect(policy() == SCHED_OTHER)
            BatchThread.run { #expect(policy() == BatchThread.policy) }
            #expect(policy() == SCHED_OTHER)
        }

        @Test func anotherPolicyStays() {
            var parameters = sched_param()
            #expect(sched_setscheduler(0, BatchThread.policy, &parameters) == 0)
            BatchThread.run { #expect(policy() == BatchThread.policy) }
            #expect(policy() == BatchThread.policy)
            #expect(sched_setscheduler(0, SCHED_OTHER, &parameters) == 0)
        }

        @Test func sourcesAreCalledOnThreadsThatPreemptNone() throws {
            let policies = Lock([Int32]())
            let isLoading = DispatchSemaphore(value: 0)
            let source = PlainSource(absent: { _ in
                policies.withLock { $0.append(sched_getscheduler(0)) }
                isLoading.signal()
                return true
            })
            let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
            let layer = try cache.addLayer(source, pyramid: .powerOfTwo(worldWidth: 1024, worldHeight: 1024))
            let view = cache.makeView(layers: [layer])
            view.update(TileViewport(center: WorldPoint(x: 512, y: 512), width: 512, height: 512))
            isLoading.wait()
            cache.shutdown()
            #expect(policies.withLock { $0.allSatisfy { $0 == BatchThread.policy } })
        }
    }
#endif
