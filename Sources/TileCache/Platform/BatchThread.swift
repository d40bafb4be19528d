#if canImport(Glibc)
    import Glibc
#endif

/// Runs work on the calling thread so that it seldom preempts threads that draw.
///
/// On Linux the quality of service of a queue orders nothing, and a worker that wakes preempts the thread that woke it.
/// A thread under `SCHED_BATCH` preempts none when it wakes; its share of processor time stays the same. The thread is
/// Dispatch's and gets its policy back. Without glibc the work just runs: musl does not implement the calls.
enum BatchThread {
    #if canImport(Glibc)
        /// `SCHED_BATCH`, which the system's header declares for GNU programs only.
        static let policy: Int32 = 3
        /// Whether the program runs under the normal policy. Any other policy was chosen for the program, and stays.
        private static let isUsed = sched_getscheduler(getpid()) == SCHED_OTHER

        private static func set(_ policy: Int32) {
            var parameters = sched_param()
            sched_setscheduler(0, policy, &parameters)
        }
    #endif

    static func run(_ body: () -> Void) {
        #if canImport(Glibc)
            let present = sched_getscheduler(0)
            // A thread that a source started on a worker has inherited the policy. It has the normal one afterwards.
            guard isUsed, present == SCHED_OTHER || present == policy else { return body() }
            if present == SCHED_OTHER {
                set(policy)
                // Dispatch woke this thread under the normal policy: it may have preempted a thread that draws already.
                sched_yield()
            }
            defer { if sched_getscheduler(0) == policy { set(SCHED_OTHER) } }
        #endif
        body()
    }

    /// Runs a closure that may start threads, which would inherit the policy.
    static func pause(_ body: () -> Void) {
        #if canImport(Glibc)
            guard isUsed, sched_getscheduler(0) == policy else { return body() }
            set(SCHED_OTHER)
            defer { set(policy) }
        #endif
        body()
    }
}
