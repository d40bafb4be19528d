#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Elapsed time and CPU time of the calling thread, in nanoseconds.
struct StopWatch {
    private let wall = Self.read(CLOCK_MONOTONIC)
    private let thread = Self.read(CLOCK_THREAD_CPUTIME_ID)

    var elapsed: (wall: Int64, thread: Int64) {
        (Self.read(CLOCK_MONOTONIC) - wall, Self.read(CLOCK_THREAD_CPUTIME_ID) - thread)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
