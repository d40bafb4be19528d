import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Detects a child of `fork()`. It has its parent's caches but no threads, and its Dispatch cannot start any.
enum ProcessFork {
    private static let forks = Atomic<Int>(0)
    private static let isWatching =
        pthread_atfork(nil, nil) { ProcessFork.forks.wrappingAdd(1, ordering: .relaxed) } == 0

    /// Starts to count; earlier forks do not matter.
    static func watch() { _ = isWatching }

    /// Number of forks between the first cache of this process or its parents and now.
    static var count: Int { forks.load(ordering: .relaxed) }
}

/// Identifies the calling thread among the living ones.
func currentThreadNumber() -> UInt64 {
    #if canImport(Darwin)
        UInt64(UInt(bitPattern: pthread_self()))
    #else
        UInt64(pthread_self())
    #endif
}
