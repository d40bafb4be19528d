#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Runs work on the calling thread without preempting threads that draw.
///
/// On Linux the quality of service of a queue orders nothing, and a worker that wakes preempts the thread that woke it.
/// A thread under `SCHED_BATCH` preempts none when it wakes; its share of processor time stays the same. The thread is
/// Dispatch's and gets its policy back. Elsewhere the work just runs.
enum BatchThread {
    #if os(Linux)
        /// `SCHED_BATCH`, which the system's header declares for GNU programs only.
        static let policy: Int32 = 3
    #endif

    static func run(_ body: () -> Void) {
        #if os(Linux)
            // Any other policy was chosen for the program, and stays.
            let isNormal = sched_getscheduler(0) == SCHED_OTHER
            var parameters = sched_param()
            if isNormal {
                sched_setscheduler(0, policy, &parameters)
                // Dispatch woke this thread under the normal policy: it may have preempted one already.
                sched_yield()
            }
            defer { if isNormal { sched_setscheduler(0, SCHED_OTHER, &parameters) } }
        #endif
        body()
    }
}
