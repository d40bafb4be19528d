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
    /// Without contention it takes one atomic exchange and a store. `Synchronization.Mutex` hands the lock to the
    /// thread that waits (`FUTEX_LOCK_PI`), and ThreadSanitizer does not see that. A mutex of pthreads takes two
    /// exchanges and two calls, and one thread that takes it again and again keeps the others out. See `WaitingLine`
    /// for who gets this one.
    ///
    /// A release looks for threads in line before other processors see that the lock is free: to wait for them would
    /// take a second exchange. So it may miss one that lines up at that moment. Therefore a thread in line looks again,
    /// at once and then from time to time.
    package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private struct Waiter {
            let thread: UInt
            let semaphore = DispatchSemaphore(value: 0)
        }

        /// The thread that has the lock; 0 for none.
        private let holder = Atomic<UInt>(0)
        /// Whether threads wait in line. Changed under `mutex`.
        private let hasLine = Atomic<Bool>(false)
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        // Read as `let line = line`: ThreadSanitizer takes a change through a property for one of the property itself,
        // and loops read properties before they take the lock. Apart, since it takes parts of one variable for one.
        /// Guarded by `mutex`.
        private let line: UnsafeMutablePointer<WaitingLine<Waiter>>
        private let value: UnsafeMutablePointer<Value>

        package init(_ initial: consuming sending Value) {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            line = .allocate(capacity: 1)
            line.initialize(to: WaitingLine())
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            line.deinitialize(count: 1)
            line.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Whether threads wait in line.
        var isAwaited: Bool { hasLine.load(ordering: .relaxed) }

        @inline(__always)
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            let thread = UInt(currentThreadNumber())
            if !holder.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged {
                wait(as: thread)
            }
            defer { if hasLine.load(ordering: .relaxed) { wakeNext() } else { holder.store(0, ordering: .releasing) } }
            let value = value
            return try body(&value.pointee)
        }

        @inline(never)
        private borrowing func wait(as thread: UInt) {
            precondition(holder.load(ordering: .relaxed) != thread, "a lock was taken twice by one thread")
            let waiter = Waiter(thread: thread)
            let since = MonotonicTime.now.nanoseconds
            while !take(as: waiter, since: since) {
                if isFreeSoon() { continue }
                let waited = MonotonicTime.now.nanoseconds - since
                let time = Int(WaitingLine<Waiter>.timeToLookAgain(after: waited))
                _ = waiter.semaphore.wait(timeout: .now() + .nanoseconds(time))
            }
        }

        /// Takes the lock if it is free or was handed over; otherwise lines up, or keeps its place. Returns whether the
        /// thread has the lock.
        private borrowing func take(as waiter: Waiter, since: Int64) -> Bool {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            let line = line
            line.pointee.remove { $0.thread == waiter.thread }
            let found = holder.compareExchange(expected: 0, desired: waiter.thread, ordering: .acquiring).original
            let hasLock = found == 0 || found == waiter.thread
            if !hasLock { line.pointee.add(waiter, since: since) }
            hasLine.store(!line.pointee.isEmpty, ordering: .relaxed)
            return hasLock
        }

        /// Whether the lock becomes free within a fraction of a microsecond, as by a release that missed this thread.
        private borrowing func isFreeSoon() -> Bool {
            for _ in 0..<200 where holder.load(ordering: .relaxed) == 0 { return true }
            return false
        }

        /// Releases the lock, or hands it over, and wakes the first of the line.
        @inline(never)
        private borrowing func wakeNext() {
            pthread_mutex_lock(mutex)
            let line = line
            let (waiter, getsLock) = line.pointee.next(now: MonotonicTime.now.nanoseconds)
            hasLine.store(!line.pointee.isEmpty, ordering: .relaxed)
            holder.store(getsLock ? waiter.thread : 0, ordering: .releasing)
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
