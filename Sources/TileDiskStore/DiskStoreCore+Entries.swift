import Dispatch
import TileCache

/// Calls that read entries and take new ones, on the threads of the callers.
extension DiskStoreCore {
    func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        let (pending, generation, isClosed, isLost) = state.withLock {
            ($0.buffer.write(of: key), $0.generations[key.namespace] ?? 0, $0.isClosed, $0.isLost)
        }
        guard !isClosed else { return miss(.closed) }
        if let pending {
            return pending.header.withUnsafeBytes {
                lend(header: $0, payload: pending.payload, key, shape, generation, body)
            }
        }
        guard !isLost else { return miss(.absent) }
        let limit = MonotonicTime.now.advanced(by: options.longestWait)
        let id = key.clusteredHash
        do {
            let end = min(deadline ?? limit, limit)
            guard let bytes = try pool.read(id, atMost: shape.largestPayload, until: end) else { return miss(.absent) }
            defer { withExtendedLifetime(bytes) {} }
            let cause = lend(header: bytes.header, payload: bytes.payload, key, shape, generation, body)
            switch cause {
            case .corrupt?, .truncated?:
                // Later look-ups would fail in the same way, and the space can be used.
                if state.withLock({ $0.isOpenedReadOnly }) { break }
                let header = Array(bytes.header)
                queue.async { self.attempt { writer throws(SQLFailure) in try writer.delete(id, header: header) } }
            case nil:
                let mustSchedule = state.withLock { state in
                    state.hits.add(id, clock: state.clock)
                    // Drains store the uses, also if nothing else is to be written.
                    guard state.hits.isFull, !state.isClosed, !state.isOpenedReadOnly else { return false }
                    return state.claimDrain()
                }
                if mustSchedule { scheduleDrain() }
            default: break
            }
            return cause
        } catch {
            switch error.kind {
            case .damaged: break
            case .busy: return miss(.late)
            case .closed: return miss(.closed)
            default: return miss(.failed)
            }
            verifyLater()
            return miss(.corrupt)
        }
    }

    private func lend(
        header: UnsafeRawBufferPointer,
        payload: UnsafeRawBufferPointer,
        _ key: TileStoreKey,
        _ shape: TileStoreShape,
        _ generation: UInt64,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        let byteCount = header.count + payload.count
        do throws(TileStoreMiss) {
            let entry = try TileStoreEntry(
                header: header,
                payload: payload,
                key: key,
                shape: shape,
                minimumGeneration: generation
            )
            state.withLock { state in
                state.use(key.namespace)
                state.counts.hits += 1
                state.counts.bytesRead += .bytes(byteCount)
                state.lentBytes += byteCount
                state.largestEntry = max(state.largestEntry, byteCount)
            }
            body(entry)
            state.withLock { $0.lentBytes -= byteCount }
            return nil
        } catch {
            return miss(error)
        }
    }

    private func miss(_ cause: TileStoreMiss) -> TileStoreMiss { state.withLock { $0.miss(cause) } }

    func put(_ entry: TileStoreEntry, cost: Duration) -> TileStorePut {
        let now = MonotonicTime.now
        // Before the copy, which is not made for what is refused.
        let early: TileStorePut? = state.withLock { state in
            let largest = min(DiskBudget(limit: state.limit).largestPayload, options.writeBuffer.bytes / 2)
            if state.isClosed || state.isOpenedReadOnly || state.pause.covers(now) || entry.payload.count > largest
                || entry.generation < state.generations[entry.key.namespace] ?? 0
            {
                state.counts.refused += 1
                return .refused
            }
            if !state.buffer.hasRoom(for: entry.payload.count, of: entry.key) {
                state.counts.dropped += 1
                return .dropped
            }
            return nil
        }
        if let early { return early }
        let microseconds = Int(max(cost.nanoseconds / 1000, 0))
        guard let write = PendingWrite(entry, cost: microseconds) else {
            state.withLock { $0.counts.refused += 1 }
            return .refused
        }
        let (result, mustSchedule, mustQueue) = state.withLock { state -> (TileStorePut, Bool, Bool) in
            guard !state.isClosed else {
                state.counts.refused += 1
                return (.refused, false, false)
            }
            guard state.buffer.add(write) else {
                state.counts.dropped += 1
                return (.dropped, false, false)
            }
            state.use(entry.key.namespace)
            state.largestEntry = max(state.largestEntry, write.byteCount)
            // A buffer that memory keeps small does not collect entries for the whole delay.
            let isShort = state.buffer.capacity < options.writeBuffer.bytes && state.buffer.isHalfFull
            return (.accepted, !isShort && state.claimDrain(), isShort && state.claimEarlyDrain())
        }
        if mustQueue { queueDrain() } else if mustSchedule { scheduleDrain() }
        return result
    }

    func remove(
        where isRemoved: (TileStoreKey) -> Bool,
        onDisk: (DiskWriter) throws(SQLFailure) -> Void
    ) -> Bool {
        state.withLock { $0.buffer.remove(where: isRemoved) }
        return queue.sync { attempt(onDisk) }
    }

    /// Checks the files, unless that is under way or they could not be replaced.
    func verifyLater() {
        let mustVerify = state.withLock { state in
            guard !state.isVerifying, !state.isClosed, !state.isOpenedReadOnly else { return false }
            state.isVerifying = true
            return true
        }
        if mustVerify { queue.async { self.verify() } }
    }

    /// Checks the files, and replaces them if they are damaged.
    ///
    /// The store may have been closed, or reset by other work, in the meantime.
    private func verify() {
        attempt(isWriting: false) { writer throws(SQLFailure) in
            let isOpen = state.withLock { state in
                if !state.isClosed { checking = writer.connection }
                return !state.isClosed
            }
            guard isOpen else { return }
            defer { state.withLock { _ in checking = nil } }
            var failure: SQLFailure? = SQLFailure(damage: "the check found damage")
            do throws(SQLFailure) {
                try writer.connection.run("PRAGMA quick_check(1)") { row in
                    if row.bytes(0).map({ $0.elementsEqual("ok".utf8) }) ?? false { failure = nil }
                }
            } catch {
                failure = error
            }
            // A check that close() has ended has no result.
            if let failure, !state.withLock({ $0.isClosed }) { throw failure }
        }
        state.withLock { $0.isVerifying = false }
    }

    /// Upper bound of the memory that is held.
    func memoryBytes(_ state: DiskStoreState) -> Int {
        let connections = state.memory.connectionBytes(largestEntry: state.largestEntry)
        return state.buffer.byteCount + (state.filter?.byteCount ?? state.buildingBytes) + state.hits.byteCount
            + state.lentBytes + DiskMemory.namespaceBytes * state.generations.capacity
            + (state.isClosed ? 0 : connections)
    }
}
