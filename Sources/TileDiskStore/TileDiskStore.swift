import Dispatch
public import TileCache

/// Tiles in an SQLite database with a hard byte limit.
///
/// The files of a store never exceed its limit, at any moment: the database has a maximum of pages, and transactions
/// end before the rollback journal exceeds its part. Entries are evicted by the cost to obtain them, their uses and
/// their size (GreedyDual-Size-Frequency). Entries are written in batches on a queue of the store's own; uses
/// are collected in memory.
///
/// A store is the only user of its folder; a second one is refused, in another process too. It survives the end of its
/// process at any instant. After a crash of the operating system the files may be damaged: damaged entries are misses,
/// and damaged files are replaced by empty ones. If the folder cannot be written, entries are read, and new ones
/// refused; several stores that only read may have it, while none writes to it.
///
/// All methods may be called on any thread.
public final class TileDiskStore: TileStore {
    let core: DiskStoreCore

    /// Opens a store, or creates it.
    ///
    /// The files are within the limit when this returns. The further they exceed it before, the longer it takes.
    ///
    /// - Parameters:
    ///   - path: A folder of the store's own. It is created if it does not exist; the folder above it must exist.
    ///   - byteLimit: Maximum size of all files, 4 MiB ... 32 TiB.
    ///   - options: Further settings.
    /// - Throws: ``TileDiskStoreError``. Damaged files are replaced and are no error; so are files above the limit if the
    ///   disk is too full to evict their entries.
    public init(path: String, byteLimit: ByteCount, options: TileDiskStoreOptions = TileDiskStoreOptions())
        throws(TileDiskStoreError)
    {
        core = try DiskStoreCore(path: path, limit: byteLimit.bytes, options: options)
    }

    deinit { core.close() }

    /// "disk".
    public var label: String { "disk" }
    /// Maximum size of all files together.
    public var byteLimit: ByteCount { .bytes(core.state.withLock { $0.limit }) }

    /// Changes the limit. Returns once the files are within it; until then the larger of both limits holds.
    ///
    /// - Parameter limit: 4 MiB ... 32 TiB.
    /// - Returns: Whether the limit was changed. It is not if the store cannot be written or is closed.
    /// - Throws: ``TileDiskStoreError/invalidConfiguration(_:)`` if the limit is out of range.
    public func setByteLimit(_ limit: ByteCount) throws(TileDiskStoreError) -> Bool {
        let bytes = limit.bytes
        try core.options.check(limit: bytes)
        return core.queue.sync {
            guard !core.state.withLock({ $0.isOpenedReadOnly }) else { return false }
            let isChanged = core.attempt { writer throws(SQLFailure) in try writer.setLimit(bytes) }
            if isChanged { core.state.withLock { $0.limit = bytes } }
            return isChanged
        }
    }

    /// Whether the files cannot be written: entries are only read.
    ///
    /// If they could be written when the store was opened, writes are attempted again after a pause. The first that
    /// succeeds clears it.
    public var isReadOnly: Bool { core.state.withLock { $0.isReadOnly } }

    /// SQLite's message of the last operation that failed; `nil` if none has. For logs.
    public var lastFailure: String? { core.state.withLock { $0.lastFailure } }

    /// Counts since the store was opened, and its present sizes.
    public var statistics: TileStoreStatistics {
        let diskSize = ByteCount.bytes(core.folder.byteCount)
        return core.state.withLock { state in
            var counts = state.counts
            counts.diskSize = diskSize
            counts.memorySize = .bytes(core.memoryBytes(state))
            return counts
        }
    }

    /// Returns whether there is an entry, without I/O.
    ///
    /// Unknown until the filter has been built after opening. The filter takes less than 2 bytes an entry. About one of
    /// 500 absent tiles is reported as present.
    public func presence(of key: TileStoreKey) -> TileStorePresence {
        let id = key.clusteredHash
        return core.state.withLock { state in
            if state.isClosed { return .absent }
            if state.buffer.write(of: key) != nil { return .present }
            return state.filter.map { $0.contains(id) ? .present : .absent } ?? .unknown
        }
    }

    /// Looks an entry up and lends it to a closure. The closure delays neither other look-ups nor writes.
    public func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss? {
        core.get(key, shape: shape, deadline: deadline, body)
    }

    /// Copies an entry into the write buffer.
    public func put(_ entry: TileStoreEntry, cost: Duration) -> TileStorePut { core.put(entry, cost: cost) }

    /// Replaces the freshness of an entry with the next batch. Dropped if more than 1024 wait.
    public func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness) {
        let mustSchedule = core.state.withLock { state in
            guard !state.isClosed, !state.isOpenedReadOnly else { return false }
            state.buffer.renew(key, freshness)
            return state.claimDrain()
        }
        if mustSchedule { core.scheduleDrain() }
    }

    /// Removes entries. Returns once they are removed from the disk, or that has failed.
    @discardableResult
    public func remove(_ keys: [TileStoreKey]) -> Bool {
        let set = Set(keys)
        return core.remove {
            set.contains($0)
        } onDisk: { writer throws(SQLFailure) in
            try writer.delete(keys.map(\.clusteredHash))
        }
    }

    /// Removes all entries of a namespace. Returns once they are removed from the disk, or that has failed.
    @discardableResult
    public func remove(_ namespace: TileStoreNamespace) -> Bool {
        core.remove {
            $0.namespace == namespace
        } onDisk: { writer throws(SQLFailure) in
            try writer.remove(namespace)
        }
    }

    /// Returns the generation of a namespace, 0 before the first invalidation.
    public func generation(of namespace: TileStoreNamespace) -> UInt64 {
        core.state.withLock { $0.generations[namespace] ?? 0 }
    }

    /// Raises the generation of a namespace. Older entries are misses at once, and are evicted first.
    ///
    /// - Parameter generation: At most 2^62: higher ones are damaged, since nothing raises them that often.
    public func raiseGeneration(of namespace: TileStoreNamespace, to generation: UInt64) -> Bool {
        guard generation > 0 else { return true }
        guard generation <= DiskWriter.highestGeneration else { return false }
        core.state.withLock { state in
            state.generations[namespace] = max(state.generations[namespace] ?? 0, generation)
        }
        // Also if it is known already: an earlier call may have failed to store it.
        return core.queue.sync {
            core.attempt { writer throws(SQLFailure) in try writer.raise(namespace, to: generation) }
        }
    }

    /// Sets the memory that a cache allows. If several caches use the store, the least that one of them allows counts.
    ///
    /// With 11 MiB and the write buffer, the store has all that its options say (tiles of 256 KiB). With less, it has fewer
    /// readers, smaller page caches and transactions, and a smaller buffer: down to 3.3 MiB, which it always takes.
    public func limitMemory(to bytes: ByteCount?, for user: Int) { core.allow(bytes?.bytes, to: user) }

    /// Writes what is buffered when it is called, and returns once that is done.
    public func flush() { core.flush() }

    /// Writes what is buffered and closes the store.
    public func close() { core.close() }
}
