#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#else
    #error("MonotonicTime needs clock_gettime")
#endif

/// A moment on a clock that never runs backwards, in nanoseconds since some start.
///
/// The cache never looks at a clock where a caller can name the time, so that replays and tests decide what time it is.
public struct MonotonicTime: Hashable, Sendable, Comparable {
    /// Nanoseconds since the clock's start.
    public var nanoseconds: Int64

    /// Names a moment.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The system's monotonic clock.
    public static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time that the calling thread has computed for: what benchmarks of one thread go by on a shared machine.
    package static var ofThread: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// A time whose differences to others cannot overflow: within 73 years of the clock's start.
    package static func bounded(_ nanoseconds: Int64) -> Int64 { min(max(nanoseconds, -(1 << 61)), 1 << 61) }

    /// Orders by time.
    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }
}
