import Dispatch
import Synchronization
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
    private var writer: DiskWriter?
    /// A filter that is being built, and the last entry that it has. Used on the queue only.
    private var building: (filter: CuckooFilter, last: Int64?)?

    private static let batchBytes = 1 << 20
    /// Entries that are added to the filter in one step; writes run between the steps.
    private static let buildStep = 4096

    init(path: String, limit: Int, options: TileDiskStoreOptions) throws(TileDiskStoreError) {
        try options.check(limit: limit)
        self.options = options
        folder = try DiskFolder(path: path)
        pool = ReaderPool(path: folder.database, vfs: options.vfs, capacity: options.readers)
        state = Lock(DiskStoreState(limit: limit, options: options))
        let writer: DiskWriter
        do {
            do {
                writer = try Self.open(folder, limit: limit, options: options)
            } catch let error as SQLFailure where error.kind == .damaged && !folder.isReadOnly {
                folder.removeFiles()
                state.withLock { $0.counts.resets += 1 }
                writer = try Self.open(folder, limit: limit, options: options)
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

    /// Opens the database and evicts until it is within the limit.
    private static func open(_ folder: DiskFolder, limit: Int, options: TileDiskStoreOptions) throws -> DiskWriter {
        let connection = try SQLConnection(path: folder.database, isReadOnly: folder.isReadOnly, vfs: options.vfs)
        connection.waitForLocks(until: .now.advanced(by: .seconds(5)))
        var state = try DiskSchema.state(connection)
        if case .newer(let version) = state {
            throw TileDiskStoreError.newerSchema(path: folder.path, version: version)
        }
        if !connection.isReadOnly { try DiskSchema.configure(connection) }
        if case .empty = state, !connection.isReadOnly {
            try DiskSchema.create(connection)
            state = .current
        }
        guard case .current = state else { throw SQLFailure.notAStore }
        let writer = try DiskWriter(connection, limit: limit)
        if !connection.isReadOnly { try writer.setLimit(limit) }
        return writer
    }

    private func install(_ writer: DiskWriter) {
        self.writer = writer
        writer.committed = { [unowned self] in apply($0) }
        writer.newUses = { [unowned self] id in state.withLock { $0.hits.uses[id] } }
        state.withLock { state in
            state.isReadOnly = writer.connection.isReadOnly
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

    /// Writes all that is buffered.
    func drain() {
        while true {
            let (writes, renewals) = state.withLock { $0.buffer.take(bytes: Self.batchBytes) }
            if writes.isEmpty, renewals.isEmpty { break }
            var outcome = DiskWriter.Outcome()
            attempt { writer throws(SQLFailure) in
                try writer.write(writes, &outcome)
                outcome.renewed += try writer.renew(renewals)
            }
            let done = outcome
            state.withLock { state in
                state.counts.writes += done.written
                state.counts.bytesWritten += done.bytes
                state.counts.unchanged += done.unchanged
                state.counts.renewals += done.renewed
                // What a failure has left undone, too.
                state.counts.dropped += max(writes.count - done.written - done.unchanged - done.headers, 0)
                state.buffer.finish()
            }
        }
        if state.withLock({ $0.hits.isFull }) { storeUses() }
    }

    private func storeUses() {
        let uses = state.withLock { $0.hits.take() }
        attempt { writer throws(SQLFailure) in try writer.store(uses) }
    }

    /// Runs work that writes, and counts its failure. Returns whether it succeeded.
    @discardableResult
    func attempt(_ work: (DiskWriter) throws(SQLFailure) -> Void) -> Bool {
        guard let writer else { return false }
        writer.connection.waitForLocks(until: .now.advanced(by: .seconds(5)))
        do {
            try work(writer)
            state.withLock { state in
                state.pause.succeed()
                state.clock = writer.rule.clock
                state.counts.evictions = writer.evictions
            }
            return true
        } catch {
            let now = MonotonicTime.now
            state.withLock { state in
                state.counts.failures += 1
                state.lastFailure = error.message
                if error.kind == .readOnly { state.isReadOnly = true }
                state.pause.fail(at: now)
            }
            if error.kind == .damaged { reset() }
            return false
        }
    }

    /// Replaces damaged files by empty ones. Generations are kept.
    func reset() {
        guard writer != nil, !folder.isReadOnly else { return }
        let limit = state.withLock { $0.limit }
        pool.whileClosed {
            writer?.connection.close()
            writer = nil
            building = nil
            folder.removeFiles()
            let fresh = try? Self.open(folder, limit: limit, options: options)
            state.withLock { state in
                state.counts.resets += 1
                state.filter = nil
                state.hits = HitLog()
                // An empty store may be written at once.
                if fresh == nil { state.isReadOnly = true } else { state.pause.succeed() }
            }
            if let fresh { install(fresh) }
        }
        let generations = state.withLock { $0.generations }
        for (name, generation) in generations where generation > 0 {
            attempt { writer throws(SQLFailure) in try writer.raise(name, to: generation) }
        }
        buildFilter()
    }

    private func apply(_ changes: [DiskChange]) {
        var isFull = false
        func change(_ filter: inout CuckooFilter, _ change: DiskChange) {
            switch change {
            case .added(let id): if !filter.insert(id) { isFull = true }
            case .removed(let id): filter.remove(id)
            }
        }
        if let (begun, last) = building {
            var filter = begun
            building = nil
            // What is further on in the table is found there.
            for item in changes where last.map({ item.place <= $0 }) ?? false { change(&filter, item) }
            building = isFull ? nil : (filter, last)
            if isFull { queue.async { self.buildFilter() } }
        }
        let entries = writer?.entries
        let mustBuild = state.withLock { state in
            state.counts.entries = entries
            for case .removed(let id) in changes { state.hits.remove(id) }
            guard state.filter != nil else { return false }
            for item in changes { change(&state.filter!, item) }
            guard isFull || state.filter!.isSparse else { return false }
            state.filter = nil
            return true
        }
        if mustBuild { queue.async { self.buildFilter() } }
    }

    /// Begins a new filter. It is built in steps of a few thousand entries, between which writes run.
    private func buildFilter() {
        guard let writer, building == nil else { return }
        state.withLock { $0.filter = nil }
        building = (CuckooFilter(expecting: writer.entries), nil)
        continueFilter()
    }

    private func continueFilter() {
        guard var (filter, last) = building else { return }
        building = nil
        var ids: [UInt64] = []
        guard attemptRead({ writer throws(SQLFailure) in ids = try writer.ids(after: last, limit: Self.buildStep) })
        else {
            return
        }
        var hasRoom = true
        for id in ids where hasRoom { hasRoom = filter.insert(id) }
        guard hasRoom else {
            // More entries than the counter states, which is damaged: without a filter the answer is "unknown".
            return
        }
        guard ids.count == Self.buildStep else {
            let complete = filter
            return state.withLock { $0.filter = complete }
        }
        last = ids.last.map { Int64(bitPattern: $0) }
        building = (filter, last)
        queue.async { self.continueFilter() }
    }

    private func attemptRead(_ work: (DiskWriter) throws(SQLFailure) -> Void) -> Bool {
        guard let writer else { return false }
        writer.connection.waitForLocks(until: .now.advanced(by: .seconds(5)))
        do {
            try work(writer)
            return true
        } catch {
            state.withLock { state in
                state.counts.failures += 1
                state.lastFailure = error.message
            }
            if error.kind == .damaged { reset() }
            return false
        }
    }

    /// Writes what is buffered and closes all connections. Does nothing the second time.
    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        queue.sync {
            drain()
            if writer?.connection.isReadOnly == false { storeUses() }
            pool.whileClosed {
                writer?.connection.close()
                writer = nil
            }
            building = nil
            folder.unlock()
            state.withLock { state in
                state.filter = nil
                state.hits = HitLog()
            }
        }
    }
}

extension DiskChange {
    fileprivate var place: Int64 {
        switch self {
        case .added(let id), .removed(let id): Int64(bitPattern: id)
        }
    }
}

extension SQLFailure {
    fileprivate static let notAStore = SQLFailure(damage: "its tables are not those of a disk store")
}

extension MonotonicTime {
    func advanced(by duration: Duration) -> MonotonicTime {
        let sum = nanoseconds.addingReportingOverflow(max(duration.nanoseconds, 0))
        return MonotonicTime(nanoseconds: sum.overflow ? .max : sum.partialValue)
    }
}
