import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Tells a child of `fork()`: it has its parent's caches and none of their threads, and its Dispatch cannot start any.
enum ProcessFork {
    private static let forks = Atomic<Int>(0)
    private static let isWatching =
        pthread_atfork(nil, nil) { ProcessFork.forks.wrappingAdd(1, ordering: .relaxed) } == 0

    /// Begins to count; forks before do no harm.
    static func watch() { _ = isWatching }

    /// Forks between the first cache of this process or its parents and now.
    static var count: Int { forks.load(ordering: .relaxed) }
}
