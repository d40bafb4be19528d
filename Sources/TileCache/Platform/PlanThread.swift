#if canImport(Glibc)
    import Dispatch
    import Glibc
#endif

/// The thread on which a cache makes its plans, one at a time.
///
/// Dispatch runs the steps of a queue on changing threads, and glibc gives each thread an arena, which keeps most of what
/// its largest plan took: with twelve views of tiles of 64 pixels nine arenas kept 3 MiB each, beside a limit of 16 MiB.
/// One thread has one arena. It begins with the first plan, ends with its owner, and has the policy of `BatchThread`.
/// Other allocators keep no memory for each thread: there the calling thread makes the plans.
final class PlanThread: Sendable {
    #if canImport(Glibc)
        private typealias Step = @Sendable () -> Void

        /// What the callers and the thread share; it outlives both.
        private final class Desk: Sendable {
            struct Contents {
                var step: Step?
                var hasThread = false
                var isOver = false
            }

            // A lock besides the semaphores, which ThreadSanitizer does not see.
            let contents = Lock(Contents())
            let isAsked = DispatchSemaphore(value: 0)
            let isDone = DispatchSemaphore(value: 0)

            /// Runs the steps until the thread's owner ends.
            func serve() {
                while true {
                    isAsked.wait()
                    let isOver: Bool
                    var step: Step?
                    (step, isOver) = contents.withLock { ($0.step.take(), $0.isOver) }
                    if isOver { return }
                    step?()
                    // What it holds is the caller's again.
                    step = nil
                    isDone.signal()
                }
            }

            /// Begins the thread; returns whether it is there.
            func begin() -> Bool {
                var attributes = pthread_attr_t()
                guard pthread_attr_init(&attributes) == 0 else { return false }
                defer { pthread_attr_destroy(&attributes) }
                pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
                let desk = Unmanaged.passRetained(self)
                var thread = pthread_t()
                let error = pthread_create(
                    &thread,
                    &attributes,
                    { desk in
                        let desk = desk.map { Unmanaged<Desk>.fromOpaque($0).takeRetainedValue() }
                        BatchThread.run { desk?.serve() }
                        return nil
                    },
                    desk.toOpaque()
                )
                if error != 0 { desk.release() }
                return error == 0
            }
        }

        private let desk = Desk()

        deinit {
            desk.contents.withLock { $0.isOver = true }
            desk.isAsked.signal()
        }

        /// Runs a closure on the thread and waits for its end; on the calling thread if the system has no further one. Not
        /// for two callers at a time.
        func run(_ body: @escaping @Sendable () -> Void) {
            let hasThread = desk.contents.withLock { $0.hasThread } || desk.begin()
            guard hasThread else { return BatchThread.run(body) }
            desk.contents.withLock { contents in
                contents.hasThread = true
                contents.step = body
            }
            desk.isAsked.signal()
            desk.isDone.wait()
        }
    #else
        /// Runs a closure.
        func run(_ body: @escaping @Sendable () -> Void) { BatchThread.run(body) }
    #endif
}
