/// Counts of one kind, which only grow: added and subtracted field by field.
protocol CountFields {
    init()
    static var fields: [WritableKeyPath<Self, Int>] { get }
}

extension CountFields {
    func combined(with other: Self, _ combine: (Int, Int) -> Int) -> Self {
        var result = Self()
        for field in Self.fields { result[keyPath: field] = combine(self[keyPath: field], other[keyPath: field]) }
        return result
    }
}

extension TileCacheStatistics {
    /// Demands by their outcome.
    public struct DemandCounts: Hashable, Sendable, CountFields {
        /// Tiles that a frame needed and the previous frame did not. Tiles known to be absent do not count.
        public internal(set) var total = 0
        /// Demands that were resident and decoded.
        public internal(set) var decodedHits = 0
        /// Demands that were resident and compressed.
        public internal(set) var compressedHits = 0
        /// Demands whose load was in flight.
        public internal(set) var late = 0
        /// Demands without a load.
        public internal(set) var missed = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [\.total, \.decodedHits, \.compressedHits, \.late, \.missed]
        }

        /// Demands that were resident, decoded or compressed.
        public var hits: Int { decodedHits + compressedHits }
        /// Hits over all demands, 0...1; `nil` if there are none.
        public var hitRate: Double? { total == 0 ? nil : Double(hits) / Double(total) }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Loads by their outcome.
    public struct LoadCounts: Hashable, Sendable, CountFields {
        /// Loads that started.
        public internal(set) var started = 0
        /// Started loads of tiles that had failed or had been refused memory.
        public internal(set) var retried = 0
        /// Loads that finished with pixels.
        public internal(set) var finished = 0
        /// Loads whose tile does not exist.
        public internal(set) var absent = 0
        /// Loads that failed.
        public internal(set) var failed = 0
        /// Loads that their source put off, ``TileFailure/postponed(retryAfter:)``.
        public internal(set) var postponed = 0
        /// Loads that were cancelled.
        public internal(set) var cancelled = 0
        /// Loads outdated by an invalidation.
        public internal(set) var outdated = 0
        /// Loads that were refused memory, for their pixels or for encoded bytes. Retried after a wait that doubles
        /// each time, and only if memory is available.
        public internal(set) var refused = 0
        /// Finished loads that have been drawn.
        public internal(set) var drawn = 0
        /// Loads that will never be drawn: evicted before, outdated, refused or cancelled.
        public internal(set) var unseen = 0
        /// Requests that their source completed more than once.
        public internal(set) var secondAnswers = 0
        package internal(set) var byteTotal = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [
                \.started, \.retried, \.finished, \.absent, \.failed, \.postponed, \.cancelled, \.outdated, \.refused,
                \.drawn, \.unseen, \.secondAnswers, \.byteTotal,
            ]
        }

        /// Decoded bytes of finished loads.
        public var bytes: ByteCount { .bytes(byteTotal) }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Loads of expired tiles that were needed, by their outcome. ``LoadCounts`` do not contain them.
    public struct RevalidationCounts: Hashable, Sendable, CountFields {
        /// Revalidations that started.
        public internal(set) var started = 0
        /// Tiles that are still valid, by the answer of their source.
        public internal(set) var unchanged = 0
        /// Tiles that have new pixels, or are absent now. Without old pixels such a revalidation counts as a load too.
        public internal(set) var changed = 0
        /// Revalidations that failed, were put off, refused memory, cancelled or outdated by an invalidation.
        public internal(set) var unanswered = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] { [\.started, \.unchanged, \.changed, \.unanswered] }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Prefetches by their outcome: loads that started before a view needed the tile.
    public struct PrefetchCounts: Hashable, Sendable, CountFields {
        /// Prefetches that started.
        public internal(set) var started = 0
        /// Prefetches that were drawn later.
        public internal(set) var useful = 0
        /// Prefetches that were demanded while in flight.
        public internal(set) var late = 0
        /// Prefetches that were evicted without having been drawn.
        public internal(set) var wasted = 0
        /// Prefetches that were cancelled while in flight.
        public internal(set) var cancelled = 0
        /// Prefetches that ended without pixels: absent, failed, put off or refused memory.
        public internal(set) var empty = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [\.started, \.useful, \.late, \.wasted, \.cancelled, \.empty]
        }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Moves between tiers, and removals.
    public struct TierCounts: Hashable, Sendable, CountFields {
        /// Tiles that were compressed.
        public internal(set) var demotions = 0
        /// Tiles that were decompressed.
        public internal(set) var promotions = 0
        /// Tiles that compression would not have made smaller.
        public internal(set) var incompressible = 0
        /// Compressed blocks that failed their checksum; their tiles were loaded again.
        public internal(set) var damagedBlocks = 0
        /// Encoded payloads that sources passed and that were kept with their tiles.
        public internal(set) var encodedPayloads = 0
        /// Payloads that their source could not decode; their tiles were loaded again.
        public internal(set) var undecodablePayloads = 0
        package internal(set) var demotedRawBytes = 0
        package internal(set) var demotedBlockBytes = 0
        // No array: the pool's counts are copied out of the lock, and would share its memory.
        private var removedForRoom = 0
        private var removedIncompressible = 0
        private var removedReplaced = 0
        private var removedInvalidated = 0
        private var removedTrimmed = 0
        private var removedDamaged = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [
                \.demotions, \.promotions, \.incompressible, \.damagedBlocks, \.encodedPayloads, \.undecodablePayloads,
                \.demotedRawBytes, \.demotedBlockBytes,
            ] + RemovalCause.allCases.map { field($0) }
        }
        private static func field(_ cause: RemovalCause) -> WritableKeyPath<Self, Int> {
            switch cause {
            case .capacity: \.removedForRoom
            case .incompressible: \.removedIncompressible
            case .replaced: \.removedReplaced
            case .invalidated: \.removedInvalidated
            case .trimmed: \.removedTrimmed
            case .damaged: \.removedDamaged
            }
        }

        /// Decoded bytes over block bytes of all tiles that were compressed. `nil` if there are none.
        public var compressionRatio: Double? {
            demotedBlockBytes == 0 ? nil : Double(demotedRawBytes) / Double(demotedBlockBytes)
        }
        /// Tiles removed, by cause; each cause has an entry.
        public var removals: [RemovalCause: Int] {
            Dictionary(uniqueKeysWithValues: zip(RemovalCause.allCases, removed))
        }
        /// Tiles removed, by the cause's raw value.
        package var removed: [Int] { RemovalCause.allCases.map { self[keyPath: Self.field($0)] } }
        mutating func countRemoval(_ cause: RemovalCause) { self[keyPath: Self.field(cause)] += 1 }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Tiles of levels that the source does not have; see ``LayerOptions/synthesizedLevels``.
    public struct SynthesisCounts: Hashable, Sendable, CountFields {
        /// Tiles made of finer ones; each counts as a load too.
        public internal(set) var tiles = 0
        /// Further tiles requested from the source to make them.
        public internal(set) var loads = 0
        /// Requests for these tiles that failed permanently and left a hole.
        public internal(set) var holes = 0

        /// All counts are 0.
        package init() {}

        static var fields: [WritableKeyPath<Self, Int>] { [\.tiles, \.loads, \.holes] }

        /// Adds field by field.
        package static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        package static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }
}
