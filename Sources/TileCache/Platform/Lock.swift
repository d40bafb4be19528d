#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Synchronization
#endif

/// A value and the lock that guards it; recursive locking traps.
///
/// On Linux a mutex of pthreads. `Synchronization.Mutex` hands the lock to the thread that waits (`FUTEX_LOCK_PI`):
/// once it is contended by more threads than there are processors, each hold of it costs a switch of threads, and a
/// pool of workers becomes up to three times as slow. ThreadSanitizer does not see that hand-over either, and reports
/// false races.
package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    #if canImport(Glibc) || canImport(Musl)
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        package init(_ initial: consuming sending Value) {
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            // An error in place of a deadlock, if a thread takes it twice.
            pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, &attributes)
            pthread_mutexattr_destroy(&attributes)
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }
    #else
        private let mutex: Mutex<Value>

        package init(_ initial: consuming sending Value) { mutex = Mutex(initial) }
    #endif

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Glibc) || canImport(Musl)
            let error = pthread_mutex_lock(mutex)
            precondition(error == 0, "a lock was taken twice by one thread")
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        #else
            return try mutex.withLock(body)
        #endif
    }
}
