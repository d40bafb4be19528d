/// Reason why a store has no usable entry for a tile.
public enum TileStoreMiss: String, Error, Hashable, Sendable, CaseIterable {
    /// There is no entry.
    case absent
    /// The bytes are not those that were stored, or were never an entry.
    case corrupt
    /// The entry is shorter than it states.
    case truncated
    /// The entry is that of another tile or data set.
    case foreignKey
    /// The entry is older than the last invalidation.
    case oldGeneration
    /// The entry has a format of a later version of the library.
    case newerVersion
    /// The entry has another pixel format or size.
    case wrongShape
    /// The store did not answer before the deadline.
    case late
    /// The store could not be read.
    case failed
    /// The store has been closed.
    case closed
}

/// Whether a store has a tile, as far as is known without I/O.
public enum TileStorePresence: Hashable, Sendable {
    /// There is an entry, with a small probability of error. It may still prove to be unusable.
    case present
    /// There is no entry.
    case absent
    /// Only a look-up can tell.
    case unknown
}

/// What a store did with an entry that it was given.
public enum TileStorePut: Hashable, Sendable {
    /// The entry was copied and will be written soon, unless the write fails.
    case accepted
    /// The entry was dropped because the store is behind with its writing.
    case dropped
    /// It was refused.
    ///
    /// It is too large or of an old generation, or the store is read-only, failing or closed.
    case refused
}

/// A tier below memory that keeps tiles beyond the life of a cache.
///
/// Calls that do I/O are made on workers, on the cache's own queues, or on the thread of an asynchronous source, several
/// at a time and never under the lock of the cache. ``put(_:cost:)`` is called while invalidations of the layer wait: it
/// must not call the cache. A store that fails has no entries: errors are counted in ``statistics`` and never thrown.
public protocol TileStore: AnyObject, Sendable {
    /// Word for the store in reports. Default: "store".
    var label: String { get }

    /// Whether the cache gives the store prefetched tiles before they are drawn. Default: `false`, which saves writes.
    /// `true` is for a store that processes share: others wait for its tiles.
    var keepsUndrawnTiles: Bool { get }

    /// Counts since the store was opened.
    var statistics: TileStoreStatistics { get }

    /// Returns whether there is an entry, without I/O.
    ///
    /// Also called while a plan is made, under the lock of the plans: it must not call the cache.
    func presence(of key: TileStoreKey) -> TileStorePresence

    /// Looks an entry up and lends it to a closure.
    ///
    /// - Parameters:
    ///   - key: Name of the entry.
    ///   - shape: Format and size that it must have.
    ///   - deadline: When to stop waiting; `nil` if the store's own limits are enough.
    ///   - body: Called at most once, with an entry that has proved to be valid. Its payload is valid within the
    ///     closure only. Its freshness is for the closure to judge.
    /// - Returns: `nil` if the closure was called, else why it was not.
    func get(
        _ key: TileStoreKey,
        shape: TileStoreShape,
        deadline: MonotonicTime?,
        _ body: (TileStoreEntry) -> Void
    ) -> TileStoreMiss?

    /// Copies an entry into a bounded buffer, or drops it. Does no I/O; it is written later.
    ///
    /// - Parameters:
    ///   - entry: The entry; its payload is not used after the call.
    ///   - cost: Time that obtaining the tile took. It decides what is evicted first.
    func put(_ entry: TileStoreEntry, cost: Duration) -> TileStorePut

    /// Reports that a tile whose look-up was a miss will not be put. Ends what the look-up began, such as a lock.
    ///
    /// Does no I/O. Default: does nothing.
    func giveUp(_ key: TileStoreKey)

    /// Replaces the freshness of an entry without its payload. Does no I/O.
    ///
    /// For entries that their server has confirmed.
    func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness)

    /// Removes entries. No later ``get(_:shape:deadline:_:)`` finds them.
    ///
    /// - Returns: Whether the entries are removed. If not, later look-ups may find some of them.
    @discardableResult
    func remove(_ keys: [TileStoreKey]) -> Bool

    /// Removes all entries of a namespace.
    ///
    /// - Returns: Whether the entries are removed. If not, later look-ups may find some of them.
    @discardableResult
    func remove(_ namespace: TileStoreNamespace) -> Bool

    /// Returns the generation of a namespace, 0 before the first invalidation.
    func generation(of namespace: TileStoreNamespace) -> UInt64

    /// Raises the generation of a namespace, so that older entries are misses.
    ///
    /// Older entries stay misses after a restart. Does nothing if the generation is not above the present one.
    ///
    /// - Returns: Whether the generation is stored. If not, older entries are misses until the store is closed.
    func raiseGeneration(of namespace: TileStoreNamespace, to generation: UInt64) -> Bool

    /// Limits the store's memory, as far as the store can. Default: does nothing.
    ///
    /// A cache calls it when a layer names the store and whenever the limit in force changes. All stores of a cache
    /// together are allowed an eighth of that limit, in equal parts; what a store holds beyond counts all the same. May
    /// wait for look-ups in progress, not for a server or for minutes.
    ///
    /// - Parameters:
    ///   - bytes: What a cache allows; `nil` once no layer of it names the store.
    ///   - user: Number of the cache in the process. A store of several caches keeps to the least.
    func limitMemory(to bytes: ByteCount?, for user: Int)

    /// Writes what is buffered and closes the store. Calls after that are misses or do nothing.
    func close()
}

extension TileStore {
    /// "store".
    public var label: String { "store" }
    /// Does nothing.
    public func giveUp(_ key: TileStoreKey) {}
    /// Does nothing.
    public func limitMemory(to bytes: ByteCount?, for user: Int) {}
    /// `false`.
    public var keepsUndrawnTiles: Bool { false }
}

/// A store that may be asked for a generation while it does not know the present one.
package protocol DistantStore: TileStore {
    /// Returns the last known generation of a namespace, and whether the store has answered.
    func readGeneration(of namespace: TileStoreNamespace) -> (generation: UInt64, isAnswer: Bool)
}

extension [any TileStore] {
    /// Upper bound of the stores' memory at present.
    package var memorySize: ByteCount { reduce(.bytes(0)) { $0 + $1.statistics.memorySize } }
}
