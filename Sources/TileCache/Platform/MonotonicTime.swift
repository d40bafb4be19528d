#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#else
    #error("MonotonicTime needs clock_gettime")
#endif

/// A time on a clock that never goes back, in nanoseconds since some start.
///
/// The cache reads no clock where a caller can pass the time, so that replays and tests control it.
public struct MonotonicTime: Hashable, Sendable, Comparable {
    /// Nanoseconds since the clock's start.
    public var nanoseconds: Int64

    /// Creates a time.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Present time of the system's monotonic clock.
    public static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// CPU time of the calling thread, for single-threaded benchmarks on a shared machine.
    package static var ofThread: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Clamps a time to 73 years of the clock's start, so that differences cannot overflow.
    package static func bounded(_ nanoseconds: Int64) -> Int64 { min(max(nanoseconds, -(1 << 61)), 1 << 61) }

    /// Orders by time.
    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }
}

/// Seconds since 1970, UTC.
package let wallClockSeconds: @Sendable () -> Int64 = { Int64(time(nil)) }
