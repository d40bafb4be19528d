import Dispatch
import TileCache

/// State, connections and queue of a store.
///
/// Apart from the object that users hold, so that work on the queue does not keep the store open.
final class DiskStoreCore: @unchecked Sendable {
    let options: TileDiskStoreOptions
    let folder: DiskFolder
    let pool: ReaderPool
    let state: Lock<DiskStoreState>
    /// All writing happens here.
    let queue = DispatchQueue(label: "TileDiskStore")
    /// Used on the queue only. `nil` if the store is closed, or damaged files could not be replaced.
    var writer: DiskWriter?
    /// A filter that is being built, and the last entry that it has. Used on the queue only.
    var building: (filter: CuckooFilter, last: Int64?)?
    /// Before a step of it that failed is tried again. Used on the queue only.
    var filterPause = RetryPause()
    /// Evictions of writers before the present one. Used on the queue only.
    private var earlierEvictions = 0
    /// Whether the files are replaced once there is a writer again; otherwise they are kept, as another store's. Used on
    /// the queue only.
    private var replacesFiles = true
    /// Whether all pages were checked since the last write that succeeded. Used on the queue only.
    private var isVerified = false
    /// The connection, while it checks the files. Guarded by the lock of the state.
    var checking: SQLConnection?
    /// Free bytes of the file system; tests replace it. Used on the queue only.
    var freeBytes: () -> Int

    private static let batchBytes = 1 << 20

    init(path: String, limit: Int, options: TileDiskStoreOptions) throws(TileDiskStoreError) {
        try options.check(limit: limit)
        self.options = options
        let folder = try DiskFolder(path: path)
        self.folder = folder
        freeBytes = { folder.freeBytes }
        let state = DiskStoreState(limit: limit, options: options)
        let memory = state.memory
        pool = ReaderPool(
            path: folder.database,
            vfs: options.vfs,
            capacity: memory.readers,
            pages: memory.readerPages
        )
        self.state = Lock(state)
        let writer: DiskWriter
        do {
            do {
                writer = try Self.open(folder, limit: limit, options: options, memory)
            } catch let error as SQLFailure
                where !folder.isReadOnly
                && (error.kind == .damaged || error.kind == .full && folder.byteCount > limit
                    || error.kind == .io && folder.hasJournal)
            {
                // On a full disk there is no room for a journal, so that nothing can be evicted: a limit that was
                // lowered for that reason is met without the entries. A damaged journal may state a size that no file
                // can have; it would fail each time.
                try Self.removeFiles(folder, options)
                self.state.withLock { $0.counts.resets += 1 }
                writer = try Self.open(folder, limit: limit, options: options, memory)
            }
        } catch let error as TileDiskStoreError {
            throw error
        } catch let error as SQLFailure {
            throw .inaccessible(path: path, reason: error.message)
        } catch {
            throw .inaccessible(path: path, reason: "\(error)")
        }
        install(writer)
        queue.async { self.buildFilter() }
    }

    private func install(_ writer: DiskWriter) {
        self.writer = writer
        writer.committed = { [unowned self] in apply($0) }
        writer.newUses = { [unowned self] id in state.withLock { $0.hits.uses[id] } }
        writer.lastUse = { [unowned self] name in state.withLock { $0.namespaceUses[name] ?? 0 } }
        writer.forgotten = { [unowned self] name in state.withLock { $0.forget(name) } }
        state.withLock { state in
            state.isOpenedReadOnly = writer.connection.isReadOnly
            state.isReadOnly = state.isOpenedReadOnly
            state.clock = writer.rule.clock
            state.counts.entries = writer.entries
            for (name, number) in writer.numbers {
                let generation = writer.generations[number] ?? 0
                state.generations[name] = max(state.generations[name] ?? 0, generation)
            }
        }
    }

    // MARK: Writing, on the queue

    /// Writes the next batch once entries have been collected for a while.
    func scheduleDrain() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(min(options.writeDelay.nanoseconds, 1 << 50)))) {
            [weak self] in
            self?.state.withLock { $0.isDrainScheduled = false }
            self?.drain()
        }
    }

    /// Writes the next batch as soon as other work on the queue permits.
    func queueDrain() {
        queue.async { [weak self] in
            self?.state.withLock { $0.isDrainQueued = false }
            self?.drain()
        }
    }

    /// Writes one batch. Other work runs before the next.
    private func drain() {
        writeBatch()
        // A larger entry may have come.
        fitMemory()
        let (mustQueue, mustSchedule) = state.withLock { state in
            let isFull = state.buffer.byteCount >= Self.batchBytes
            return (isFull && state.claimEarlyDrain(), !isFull && !state.buffer.isEmpty && state.claimDrain())
        }
        if mustQueue { queueDrain() } else if mustSchedule { scheduleDrain() }
    }

    /// Writes what is buffered now. Other work runs between the batches.
    func flush() {
        let last = state.withLock { $0.buffer.lastPlace }
        var isDone = false
        while !isDone {
            queue.sync {
                writeBatch()
                isDone = state.withLock { $0.buffer.takenPlaces >= last }
            }
        }
    }

    private func writeBatch() {
        // Damaged files could not be replaced before, or another store had the folder.
        if writer == nil, !state.withLock({ $0.isClosed }) { reset(replacing: replacesFiles) }
        let (writes, renewals) = state.withLock { $0.buffer.take(bytes: Self.batchBytes) }
        let generations = state.withLock { $0.generations }
        if !writes.isEmpty || !renewals.isEmpty {
            var outcome = DiskWriter.Outcome()
            attempt { writer throws(SQLFailure) in
                // A generation that could not be stored must not be chosen again while its entries are there.
                for name in Set(writes.map(\.key.namespace)) {
                    if let generation = generations[name], generation > 0 { try writer.raise(name, to: generation) }
                }
                try writer.write(writes, &outcome)
                outcome.renewed += try writer.renew(renewals)
            }
            let done = outcome
            state.withLock { state in
                state.counts.writes += done.written
                state.counts.bytesWritten += .bytes(done.bytes)
                state.counts.unchanged += done.unchanged
                state.counts.renewals += done.renewed
                // What a failure has left undone, too.
                state.counts.dropped += max(writes.count - done.written - done.unchanged - done.headers, 0)
                state.buffer.finish()
            }
        }
        if state.withLock({ $0.hits.isFull }) { storeUses() }
    }

    func storeUses() {
        let uses = state.withLock { $0.hits.take() }
        attempt { writer throws(SQLFailure) in try writer.store(uses) }
    }

    /// Runs work on the database, and counts its failure. Returns whether it succeeded.
    ///
    /// `false` without a try if the database could not be opened again: the next batch of entries tries that.
    ///
    /// - Parameters:
    ///   - isWriting: Whether new entries are refused for a while after a failure.
    ///   - replacesDamage: Whether damaged files are replaced.
    ///   - work: Called if the database is open.
    @discardableResult
    func attempt(
        isWriting: Bool = true,
        replacesDamage: Bool = true,
        _ work: (DiskWriter) throws(SQLFailure) -> Void
    ) -> Bool {
        guard let writer else { return false }
        // The lock's file may have been deleted. Another store may have the folder since.
        if isWriting, !folder.isReadOnly {
            do { try folder.keepLock() } catch {
                state.withLock { $0.fail("\(error)") }
                reset(replacing: false)
                return false
            }
        }
        writer.note(freeBytes: freeBytes())
        let commits = writer.commits
        do {
            defer {
                state.withLock { state in
                    state.clock = writer.rule.clock
                    state.counts.evictions = earlierEvictions + writer.evictions
                }
            }
            try work(writer)
            // Reading does not show that the file can be written.
            if writer.commits > commits {
                state.withLock { state in
                    state.pause.succeed()
                    state.isReadOnly = false
                }
                isVerified = false
            }
            return true
        } catch {
            let now = MonotonicTime.now
            state.withLock { state in
                state.fail(error.message)
                guard isWriting else { return }
                if error.kind == .readOnly { state.isReadOnly = true }
                state.pause.fail(at: now)
            }
            if error.kind == .moved || error.kind == .damaged, replacesDamage {
                reset(replacing: error.kind == .damaged)
            }
            // A damaged page number beyond the maximum of pages is the same error as a full disk. A disk with less room
            // than a transaction may need is full, and a check of all pages would find nothing.
            writer.note(freeBytes: freeBytes())
            if error.kind == .full, isWriting, !isVerified, !writer.isDiskFull {
                isVerified = true
                verifyLater()
            }
            return false
        }
    }

    /// Opens the database anew; damaged or deleted files are replaced by empty ones. Generations are kept.
    ///
    /// A store's database that has been put in their place is used as it is. That of another program or a later version,
    /// and another store's, is kept: the store has no entries then, and tries again with the next writes.
    private func reset(replacing: Bool) {
        guard !folder.isReadOnly else { return }
        let (limit, memory) = state.withLock { ($0.limit, $0.memory) }
        var isEmpty = true
        pool.whileClosed(forever: false) {
            if let writer {
                earlierEvictions += writer.evictions
                writer.connection.close()
            }
            writer = nil
            building = nil
            var fresh: DiskWriter?
            var failure: String?
            replacesFiles = false
            do {
                // After the lock was deleted, too, another store may have the folder.
                try folder.keepLock()
                replacesFiles = replacing
                if replacing { try Self.removeFiles(folder, options) }
                isEmpty = !folder.hasDatabase
                fresh = try Self.open(folder, limit: limit, options: options, memory)
            } catch {
                failure = (error as? SQLFailure)?.message ?? "\(error)"
                if (error as? SQLFailure)?.kind == .damaged { replacesFiles = true }
            }
            let now = MonotonicTime.now
            state.withLock { [isEmpty] state in
                if fresh != nil, isEmpty { state.counts.resets += 1 }
                if let failure { state.lastFailure = failure }
                state.isLost = fresh == nil
                state.counts.entries = 0
                state.hits = HitLog(most: state.hits.most)
                // An empty store has an empty filter, and may be written at once.
                state.filter = fresh == nil || isEmpty ? CuckooFilter(expecting: 0) : nil
                if fresh == nil { state.pause.fail(at: now) } else { state.pause.succeed() }
                state.isReadOnly = fresh == nil
            }
            if let fresh { install(fresh) }
        }
        if writer != nil, !isEmpty { queue.async { self.buildFilter() } }
        let generations = state.withLock { $0.generations }
        for (name, generation) in generations where generation > 0 {
            // Damage of a new file: another one would be no better.
            attempt(replacesDamage: false) { writer throws(SQLFailure) in try writer.raise(name, to: generation) }
        }
    }

    /// Writes what is buffered and closes all connections. Does nothing the second time.
    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            // It may take minutes; the next damaged read begins another one.
            checking?.interrupt()
            return state.isClosed
        }
        guard !wasClosed else { return }
        queue.sync {
            while !state.withLock({ $0.buffer.isEmpty }) { writeBatch() }
            if writer?.connection.isReadOnly == false { storeUses() }
            pool.whileClosed(forever: true) {
                writer?.connection.close()
                writer = nil
            }
            building = nil
            folder.unlock()
            state.withLock { state in
                state.filter = nil
                state.buildingBytes = 0
                state.hits = HitLog(most: state.hits.most)
            }
        }
    }
}

extension MonotonicTime {
    func advanced(by duration: Duration) -> MonotonicTime {
        let sum = nanoseconds.addingReportingOverflow(max(duration.nanoseconds, 0))
        return MonotonicTime(nanoseconds: sum.overflow ? .max : sum.partialValue)
    }
}
