#if canImport(Glibc) || canImport(Musl)
    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif
    import Dispatch
    import Synchronization

    /// A value and the lock that guards it; recursive locking traps.
    ///
    /// Without contention it takes two atomic operations. `Synchronization.Mutex` hands the lock to the thread that waits
    /// (`FUTEX_LOCK_PI`), and ThreadSanitizer does not see that. A mutex of pthreads takes twice the time, and one thread
    /// that takes it again and again keeps the others out. See `WaitingLine` for who gets this one.
    package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        /// A thread that waits.
        private final class Waiter: Sendable {
            let thread: UInt
            let semaphore = DispatchSemaphore(value: 0)
            let hasLock = Atomic<Bool>(false)

            init(_ thread: UInt) { self.thread = thread }
        }

        /// The thread that has the lock; 0 for none. With `isAwaitedBit` while threads wait in line.
        private let word = Atomic<UInt>(0)
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        /// Guarded by `mutex`. Apart from the value: to ThreadSanitizer parts of one variable are one.
        private let waiters: UnsafeMutablePointer<WaitingLine<Waiter>>
        private let value: UnsafeMutablePointer<Value>

        private static var isAwaitedBit: UInt { 1 }

        package init(_ initial: consuming sending Value) {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            waiters = .allocate(capacity: 1)
            waiters.initialize(to: WaitingLine())
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
        }

        deinit {
            waiters.deinitialize(count: 1)
            waiters.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Whether threads wait in line.
        var isAwaited: Bool { word.load(ordering: .relaxed) & Self.isAwaitedBit != 0 }

        @inline(__always)
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            let thread = UInt(currentThreadNumber())
            if !word.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged {
                wait(as: thread)
            }
            defer {
                if !word.compareExchange(expected: thread, desired: 0, ordering: .releasing).exchanged { wakeNext() }
            }
            return try body(&value.pointee)
        }

        @inline(never)
        private borrowing func wait(as thread: UInt) {
            let waiter = Waiter(thread)
            let since = MonotonicTime.now.nanoseconds
            while true {
                let seen = word.load(ordering: .relaxed)
                let holder = seen & ~Self.isAwaitedBit
                precondition(holder != thread, "a lock was taken twice by one thread")
                if holder == 0 {
                    if word.compareExchange(expected: seen, desired: seen | thread, ordering: .acquiring).exchanged {
                        return
                    }
                } else if line(up: waiter, since: since) {
                    waiter.semaphore.wait()
                    if waiter.hasLock.load(ordering: .acquiring) { return }
                }
            }
        }

        /// Adds a thread to the line, unless the lock is free.
        private borrowing func line(up waiter: Waiter, since: Int64) -> Bool {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            // Its holder finds the bit, and then the waiter, or has released it before.
            var seen = word.load(ordering: .relaxed)
            while seen & ~Self.isAwaitedBit != 0 {
                let marked = seen | Self.isAwaitedBit
                let (isMarked, present) = word.compareExchange(expected: seen, desired: marked, ordering: .relaxed)
                if isMarked {
                    waiters.pointee.add(waiter, since: since)
                    return true
                }
                seen = present
            }
            return false
        }

        /// Releases the lock, and wakes the first of the line.
        @inline(never)
        private borrowing func wakeNext() {
            pthread_mutex_lock(mutex)
            let (waiter, getsLock) = waiters.pointee.next(now: MonotonicTime.now.nanoseconds)
            let rest = waiters.pointee.isEmpty ? 0 : Self.isAwaitedBit
            if getsLock { waiter.hasLock.store(true, ordering: .releasing) }
            word.store(getsLock ? waiter.thread | rest : rest, ordering: .releasing)
            pthread_mutex_unlock(mutex)
            waiter.semaphore.signal()
        }
    }
#else
    import Synchronization

    /// A value and the lock that guards it; recursive locking traps.
    package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private let mutex: Mutex<Value>

        package init(_ initial: consuming sending Value) { mutex = Mutex(initial) }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    }
#endif
