import Dispatch
import TileCache

/// The queue that writes: entries that wait to be sent, and work that callers wait for.
extension TileSharedStore {
    func enqueue(_ write: SharedStoreState.Write) -> TileStorePut {
        let (isTaken, isIdle) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed, state.enqueue(write, limit: bufferBytes(state)) else {
                if !write.isRelease { state.statistics.dropped += 1 }
                return (false, false)
            }
            defer { state.isWriting = true }
            return (true, !state.isWriting)
        }
        if isIdle { writer.queue.async { [self] in sendAll() } }
        return isTaken ? .accepted : .dropped
    }

    /// Sends what is buffered. Other work of the queue runs in between: while tiles are put all the time, this has no end.
    private func sendAll() {
        if sendSome(until: .max) { writer.queue.async { [self] in sendAll() } }
    }

    /// Sends some of what is buffered, or drops it after a time; `false` if there is nothing.
    func sendSome(until end: Int64) -> Bool {
        let writes = state.withLock { $0.takeWrites() }
        for write in writes {
            let isStored = MonotonicTime.now.nanoseconds < end && send(write)
            state.withLock { state in
                state.finish(write)
                if write.isRelease { return }
                guard isStored else {
                    state.statistics.dropped += 1
                    return
                }
                state.statistics.writes += 1
                state.statistics.bytesWritten += .bytes(write.byteCount)
            }
        }
        return !writes.isEmpty
    }

    private func send(_ write: SharedStoreState.Write) -> Bool {
        switch write {
        case .entry(let key, let bytes, let expires):
            let answer = bytes.withUnsafeBytes { bytes in
                perform(SharedName.entry(key), writer) { $1.set($0, bytes, expires: expires) }
            }
            _ = perform(SharedName.lock(key), writer) { $1.remove($0) }
            return answer == .done
        case .release(let key):
            return perform(SharedName.lock(key), writer) { $1.remove($0) } == .done
        case .renewal(let key, let freshness):
            // Another process may meanwhile store a newer entry, or remove it since it must not be stored any more.
            return perform(SharedName.entry(key), writer) { name, connection in
                connection.change(name) { bytes in
                    bytes.flatMap { TileStoreEntry.renewed($0, key: key, freshness) }
                        .map { (bytes: $0, expires: Self.expiry(freshness)) }
                }
            } == .done
        }
    }

    /// Expiry of an entry in memcached's form: seconds since 1970, 0 for never.
    ///
    /// An entry with a validator never expires on the server: the source may confirm it at any time.
    static func expiry(_ freshness: TileStoreFreshness) -> Int {
        guard !freshness.hasValidator, let expires = freshness.expires else { return 0 }
        let end = max(expires, freshness.usableUntil ?? expires)
        // Values of up to 30 days would count from now. Servers refuse those of over 31 bits; the entry has its own.
        return end > Int32.max ? 0 : Int(max(end, 60 * 60 * 24 * 30 + 1))
    }

    /// Runs work on the writer's queue; `nil` if it takes too long, and runs later. Until then nothing waits for the queue.
    ///
    /// libmemcached has no limit for the look-up of a server's address, nor for an answer in tiny parts.
    ///
    /// - Parameters:
    ///   - operations: Operations of the work, beside those for a generation. Default: 0.
    ///   - work: Called once.
    @discardableResult
    func onWriter<Value: Sendable>(operations: Int = 0, _ work: @escaping @Sendable () -> Value) -> Value? {
        let isLate = state.withLock { $0.isWriterLate }
        let result = SharedResult<Value>()
        writer.queue.async { [self] in
            result.set(work())
            state.withLock { $0.isWriterLate = false }
        }
        guard !isLate else { return nil }
        let longest = options.answerTime * (10 + operations) + options.connectTime * 10
        if let value = result.wait(nanoseconds: longest.nanoseconds) { return value }
        state.withLock { $0.isWriterLate = true }
        // It may have ended just before.
        guard let value = result.wait(nanoseconds: 0) else { return nil }
        state.withLock { $0.isWriterLate = false }
        return value
    }
}
