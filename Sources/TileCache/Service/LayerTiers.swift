/// The stores of a layer: look-ups, validity of their entries, counts.
///
/// Its locks are never held during I/O.
final class LayerTiers: Sendable {
    /// Moment between two invalidations of the layer.
    struct Epoch: Hashable, Sendable {
        var number = 0
        /// Generation of entries written in this epoch.
        var generation: UInt64 = 0
        /// Whether the stores had this generation before work of the epoch began. If not, another layer may take the
        /// same one, and what is loaded meanwhile would count as loaded after its invalidation.
        var isRaised = false
        /// Stores, by index, that could not keep the generation. Another process may take the same one.
        fileprivate var failed: UInt32 = 0
    }

    /// An invalidation that has begun.
    struct Invalidation {
        fileprivate let number: Int
        /// Tiles to remove, by level; `nil` if the whole layer is invalid.
        fileprivate let ranges: [TileRange]?
    }

    private struct State {
        var epoch = Epoch()
        /// Whether invalidations of an earlier layer of the same data have to end first.
        var isWaiting = false
        var isPrepared = false
        /// The last invalidation whose generation has not been compared with those of the stores.
        var unread: (number: Int, isWhole: Bool)?
        /// The last invalidation of which a store has not answered whether others have chosen its generation.
        var unanswered: Int?
        /// Readings of generations that are under way.
        var readings = 0
        /// When other processes' generations were last read.
        var readAt: Int64?
        /// The generation that the stores have been told last.
        var raised: UInt64 = 0
        /// Areas that are being removed from the stores.
        var removals: [Invalidation] = []
        var counts: [TileCacheStatistics.StoreCounts]
        /// Mean times of look-ups, in nanoseconds; 0 until one has ended.
        var times: [Int64]
        /// Look-ups of a slow store since the last one that measured it.
        var unmeasured: [Int]
        var sourceTime: Int64
        var hasExpiry = false
        /// Generations that a store could not keep, by its index.
        var failedRaises: [Int: UInt64] = [:]
        /// Whether another process, or another layer, has invalidated the data, and this layer has not since.
        var isBehind = false

        /// Whether the generation is newer than all that others may have used.
        var isSettled: Bool { isPrepared && !isWaiting && unread == nil }

        /// The epoch in which work that begins now begins.
        var present: Epoch {
            var present = epoch
            present.isRaised = isSettled && raised == epoch.generation
            present.failed = failedRaises.keys.reduce(0) { $0 | 1 << UInt32($1) }
            return present
        }

        func mayRead(_ tile: TileCoordinate) -> Bool {
            isSettled && !removals.contains { $0.ranges?[tile.level].contains(tile) ?? false }
        }
    }

    let stores: [any TileStore]
    let namespace: TileStoreNamespace
    private let shapes: [TileStoreShape]
    /// Whether each store gets tiles that were not drawn. Asked once: a store is foreign code, which no lock may call.
    private let keepsUndrawn: [Bool]
    private let state: Lock<State>
    /// Number of the epoch in which entries are given to stores. Held while they are, for at most a copy.
    private let writing = Lock(0)

    /// Maximum tiles of a region that are removed one by one. Of larger ones the whole layer is invalidated.
    static let largestRegion = 65_536.0
    /// Time that a look-up may always take, in nanoseconds.
    private static let slack: Int64 = 5_000_000
    /// Interval at which generations of other processes are read, in nanoseconds.
    private static let generationInterval: Int64 = 1_000_000_000
    /// Maximum regions that are removed at a time. Further invalidations are of the whole layer.
    static let mostRemovals = 256

    init(_ stores: LayerStores, pyramid: TilePyramid, options: LayerOptions, expectedTime: Int64) {
        self.stores = stores.stores
        keepsUndrawn = stores.stores.map(\.keepsUndrawnTiles)
        shapes = pyramid.levels.map {
            TileStoreShape(format: options.format, alpha: options.alpha, width: $0.pixelWidth, height: $0.pixelHeight)
        }
        var settings = ["synthesized \(options.synthesizedLevels) \(options.downsampling)"]
        for level in pyramid.levels {
            settings.append("\(level.width)x\(level.height) \(level.tileWidth)x\(level.tileHeight) \(level.border)")
        }
        namespace = TileStoreNamespace(dataSet: stores.dataSet, shape: shapes[shapes.count - 1], settings: settings)
        let counts = [TileCacheStatistics.StoreCounts](repeating: .init(), count: stores.stores.count)
        let times = [Int64](repeating: 0, count: stores.stores.count)
        let unmeasured = times.map { _ in 0 }
        state = Lock(State(counts: counts, times: times, unmeasured: unmeasured, sourceTime: expectedTime))
    }

    /// Leaves the stores alone until `open()`: an invalidation of the same data has not ended.
    func wait() { state.withLock { $0.isWaiting = true } }

    /// Ends `wait()`.
    func open() { state.withLock { $0.isWaiting = false } }

    func key(of tile: TileCoordinate) -> TileStoreKey { TileStoreKey(namespace: namespace, tile: tile) }

    func shape(of tile: TileCoordinate) -> TileStoreShape { shapes[tile.level] }

    var counts: [TileCacheStatistics.StoreCounts] { state.withLock { $0.counts } }

    /// Bytes of this object's tables.
    static func byteCount(of pyramid: TilePyramid) -> Int {
        512 + pyramid.levels.count * MemoryLayout<TileStoreShape>.stride
    }

    // MARK: - Generations

    /// Reads the generations of the stores, which may block, and raises those that are behind.
    ///
    /// - Returns: The epoch in which the caller's work begins.
    func prepare(now: Int64) -> Epoch {
        let known = state.withLock { state -> Epoch? in
            if state.isWaiting { return state.present }
            let isDue = state.readAt.map { now - $0 >= Self.generationInterval } ?? true
            guard isDue || !state.isSettled else { return state.present }
            // After the first answer, a store that does not answer holds up one worker, not one more with each
            // interval.
            if state.isPrepared, state.readings > 0 { return state.present }
            state.readAt = now
            return nil
        }
        return known ?? readGenerations()
    }

    private func readGenerations() -> Epoch {
        let begun = state.withLock { state in
            state.readings += 1
            return state.epoch.number
        }
        let answers = stores.map { store in
            (store as? any DistantStore)?.readGeneration(of: namespace)
                ?? (generation: store.generation(of: namespace), isAnswer: true)
        }
        let (found, isAnswered) = (answers.map { $0.generation }, answers.allSatisfy { $0.isAnswer })
        let (epoch, failed) = state.withLock { state in
            let (newest, own) = (found.max() ?? 0, state.epoch.generation)
            let isLate = state.unanswered.map { isAnswered && $0 <= begun } ?? false
            if !state.isPrepared {
                // Invalidations before the first reading come on top of it.
                state.epoch.generation = newest.addingClamped(own)
            } else if let unread = state.unread, newest >= own {
                // Entries of this generation may be older than the invalidation: another layer raised it.
                state.epoch.generation = newest.addingClamped(1)
                if !unread.isWhole { state.isBehind = true }
            } else if isLate, newest >= own {
                // The same holds for an answer that is late. The own generation may be among them, and rises once more.
                state.epoch.generation = newest.addingClamped(1)
                state.isBehind = true
            } else if newest > own {
                state.epoch.generation = newest
                state.isBehind = true
            }
            state.isPrepared = true
            if isLate { state.unanswered = nil }
            if let unread = state.unread, unread.number <= begun {
                state.unread = nil
                if !isAnswered { state.unanswered = unread.number }
            }
            return (state.epoch, state.failedRaises)
        }
        for (index, store) in stores.enumerated() where found[index] < epoch.generation || failed[index] != nil {
            let isStored = store.raiseGeneration(of: namespace, to: epoch.generation)
            // Until it is stored, older entries would return with the next run: the next reading tries again.
            state.withLock { state in
                let newest = max(state.failedRaises[index] ?? 0, epoch.generation)
                state.failedRaises[index] = isStored && newest == epoch.generation ? nil : newest
            }
        }
        return state.withLock { state in
            state.readings -= 1
            state.raised = max(state.raised, epoch.generation)
            return state.present
        }
    }

    /// The tiles to remove one by one; `nil` if the whole layer has to be invalidated.
    ///
    /// - Parameter ranges: Tiles by level; `nil` for all.
    func removable(_ ranges: [TileRange]?) -> [TileRange]? {
        guard let ranges else { return nil }
        // Another process may put an old tile of the region while it is removed.
        return ranges.tileCount > Self.largestRegion || keepsUndrawn.contains(true) ? nil : ranges
    }

    /// Makes entries invalid from now on. `endWrites(before:)` and `persist(_:)` follow.
    ///
    /// For an invalidation of the pool, called together with it, under its lock. A load that begins in between would
    /// make new entries of old tiles.
    ///
    /// - Parameters:
    ///   - ranges: Tiles to remove, by level; `nil` makes all entries invalid.
    ///   - isWhole: Whether the pool's tiles of the whole layer are invalid too.
    func invalidate(_ ranges: [TileRange]?, isWhole: Bool) -> Invalidation {
        state.withLock { state in
            state.epoch.number += 1
            // Each look-up compares its tile with all of them.
            let ranges = state.removals.count < Self.mostRemovals ? ranges : nil
            let invalidation = Invalidation(number: state.epoch.number, ranges: ranges)
            if ranges == nil {
                state.epoch.generation = state.epoch.generation.addingClamped(1)
                state.unread = (state.epoch.number, isWhole)
            } else {
                state.removals.append(invalidation)
            }
            if isWhole { state.isBehind = false }
            return invalidation
        }
    }

    /// Refuses entries of earlier loads. Waits for one that is being copied, so that `persist` removes it.
    func endWrites(before invalidation: Invalidation) {
        writing.withLock { $0 = max($0, invalidation.number) }
    }

    /// Makes an invalidation last. May block.
    func persist(_ invalidation: Invalidation) {
        _ = readGenerations()
        guard let ranges = invalidation.ranges else { return }
        var isComplete = true
        ranges.joined().forEachPart(of: 1024) { tiles in
            let keys = tiles.map { key(of: $0) }
            for store in stores where !store.remove(keys) { isComplete = false }
        }
        // What could not be removed is older than a new generation.
        let rest = isComplete ? nil : invalidate(nil, isWhole: false)
        if let rest { endWrites(before: rest) }
        state.withLock { $0.removals.removeAll { $0.number == invalidation.number } }
        if rest != nil { _ = readGenerations() }
    }

    /// Whether entries of a tile may be valid.
    ///
    /// They are if the generation is known and the tile is not being removed. To be asked before a look-up too: it may
    /// read an entry that has been removed by the time that it lends it.
    func mayRead(_ tile: TileCoordinate) -> Bool { state.withLock { $0.mayRead(tile) } }

    /// Whether an entry is of the present generation and not being removed.
    func accepts(_ entry: TileStoreEntry, of tile: TileCoordinate) -> Bool {
        state.withLock { entry.generation >= $0.epoch.generation && $0.mayRead(tile) }
    }

    // MARK: - Look-ups and writes

    /// Whether to look a tile up. A store that is far slower than the source is asked only if it certainly has the
    /// tile, and now and then to measure it.
    func isWorthAsking(_ index: Int, _ presence: TileStorePresence) -> Bool {
        state.withLock { state in
            if presence == .absent { state.counts[index].absences += 1 }
            // A store that waits while another process loads the tile takes about as long as the source.
            let longest = 2 * state.sourceTime + Self.slack
            guard presence == .unknown, state.times[index] > longest else { return presence != .absent }
            state.unmeasured[index] += 1
            if state.unmeasured[index] == 64 {
                state.unmeasured[index] = 0
                return true
            }
            state.counts[index].skipped += 1
            return false
        }
    }

    /// When to stop waiting for stores, by the system's clock. In twice the time of a load, because another process may
    /// be loading the tile.
    var limit: MonotonicTime {
        let patience = min(max(2 * state.withLock { $0.sourceTime }, 20_000_000), 2_000_000_000)
        return MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds + patience)
    }

    /// Whether a tile made of others may be stored: none of them expires, and none is older than what the stores have.
    var keepsMadeTiles: Bool { state.withLock { !$0.hasExpiry && !$0.isBehind } }

    func noteExpiry() { state.withLock { $0.hasExpiry = true } }

    /// Ends what look-ups of a tile began in some stores, by default in all: these do not get it.
    func giveUp(_ tile: TileCoordinate, in some: UInt32 = .max) {
        for (index, store) in stores.enumerated() where some & 1 << UInt32(index) != 0 { store.giveUp(key(of: tile)) }
    }

    /// First store that is known to have a tile, without I/O.
    func nearest(_ tile: TileCoordinate) -> Int? {
        let key = key(of: tile)
        return stores.firstIndex { $0.presence(of: key) == .present }
    }

    /// Time of a load relative to the source's, 0 to 1. Less than 1 if a store is known to have the tile.
    func nearness(_ tile: TileCoordinate) -> Double {
        guard let index = nearest(tile) else { return 1 }
        let (time, source) = state.withLock { ($0.times[index], $0.sourceTime) }
        guard source > 0 else { return 1 }
        return time == 0 ? Self.usualNearness : min(Double(time) / Double(source), 1)
    }

    /// Nearness of a store until it has been measured.
    private static let usualNearness = 0.1

    func noteStale(_ index: Int) { state.withLock { $0.counts[index].staleHits += 1 } }

    func note(_ index: Int, hit: Bool, took: Int64) {
        state.withLock { state in
            if hit { state.counts[index].hits += 1 } else { state.counts[index].misses += 1 }
            state.counts[index].waitNanoseconds += Int(took.boundedTime)
            state.times[index] = Self.mean(state.times[index], took)
        }
    }

    func noteSource(took: Int64) { state.withLock { $0.sourceTime = Self.mean($0.sourceTime, took) } }

    /// The first time, then an exponential mean.
    private static func mean(_ mean: Int64, _ time: Int64) -> Int64 {
        mean == 0 ? time.boundedTime : mean + (time.boundedTime - mean) / 8
    }

    /// Stores that get a tile from beyond store `end`, at once and when it is drawn.
    ///
    /// - Parameters:
    ///   - end: Index of the store that had the tile; their number if the source made it.
    ///   - isWanted: Whether a view needs the tile.
    ///   - cost: Time that the tile took, in nanoseconds.
    func takers(before end: Int, isWanted: Bool, cost: Int64) -> (now: UInt32, drawn: UInt32) {
        let all = end >= 32 ? UInt32.max : (1 << UInt32(end)) - 1
        if isWanted || cost >= SaveQueue.expensive { return (all, 0) }
        var now: UInt32 = 0
        for index in 0..<min(end, stores.count) where keepsUndrawn[index] { now |= 1 << UInt32(index) }
        return (now, all & ~now)
    }

    /// Gives an entry to some stores.
    ///
    /// None gets it if the layer was invalidated since `epoch`, or just before it. A store of several processes does not
    /// if it had not kept the generation by then: the tile would count as loaded after the next invalidation of another.
    ///
    /// - Parameter replacesOnly: Whether stores that are known not to have the tile do not get it.
    func put(_ entry: TileStoreEntry, to takers: UInt32, cost: Int64, epoch: Epoch, replacesOnly: Bool = false) {
        for (index, store) in stores.enumerated() where takers & 1 << UInt32(index) != 0 {
            if replacesOnly, store.presence(of: entry.key) == .absent {
                store.giveUp(entry.key)
                continue
            }
            let isWithheld = epoch.failed & 1 << UInt32(index) != 0 && store is any DistantStore
            // An invalidation waits for this copy, so that it removes the entry.
            let answer = writing.withLock { number -> TileStorePut? in
                guard number == epoch.number, epoch.isRaised, !isWithheld else { return nil }
                return store.put(entry, cost: .nanoseconds(cost))
            }
            if answer == nil { store.giveUp(entry.key) }
            // The older entry must not stay.
            if replacesOnly, answer != .accepted { store.remove([entry.key]) }
            state.withLock { state in
                switch answer {
                case .accepted?: state.counts[index].writes += 1
                case .refused?: state.counts[index].refused += 1
                case .dropped?, nil: state.counts[index].dropped += 1
                }
            }
        }
    }

    /// Counts a tile that was not given to the stores because too many were waiting.
    func noteDropped(_ takers: UInt32) {
        state.withLock { state in
            for index in stores.indices where takers & 1 << UInt32(index) != 0 { state.counts[index].dropped += 1 }
        }
    }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
