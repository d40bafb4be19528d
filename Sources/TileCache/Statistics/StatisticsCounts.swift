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
        /// Tiles that a frame needed and the frame before did not; tiles known to be absent are left out.
        public internal(set) var total = 0
        /// Resident and ready to draw.
        public internal(set) var decodedHits = 0
        /// Resident in compressed form.
        public internal(set) var compressedHits = 0
        /// The load was in flight.
        public internal(set) var late = 0
        /// Not even started.
        public internal(set) var missed = 0

        /// All counts are 0.
        public init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [\.total, \.decodedHits, \.compressedHits, \.late, \.missed]
        }

        /// Demands that were resident in either form.
        public var hits: Int { decodedHits + compressedHits }
        /// Hits over all demands, 0...1; `nil` if there was none.
        public var hitRate: Double? { total == 0 ? nil : Double(hits) / Double(total) }

        /// Adds field by field.
        public static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        public static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Loads by their outcome.
    public struct LoadCounts: Hashable, Sendable, CountFields {
        /// Loads that began.
        public internal(set) var started = 0
        /// Of those, loads of tiles that had failed or had been refused memory before.
        public internal(set) var retried = 0
        /// Loads whose pixels landed.
        public internal(set) var finished = 0
        /// Loads whose source said that there is no such tile.
        public internal(set) var absent = 0
        /// Loads that failed.
        public internal(set) var failed = 0
        /// Loads that were cancelled.
        public internal(set) var cancelled = 0
        /// Loads that an invalidation overtook.
        public internal(set) var outdated = 0
        /// Loads that were refused memory, for their pixels or for encoded bytes. Each is retried after a wait that doubles
        /// each time, and only if the memory can be had.
        public internal(set) var refused = 0
        /// Loads that landed and have been drawn.
        public internal(set) var drawn = 0
        /// Loads that will never be drawn: evicted before, outdated, refused or cancelled.
        public internal(set) var unseen = 0
        /// Requests that their source completed more than once.
        public internal(set) var secondAnswers = 0
        package internal(set) var byteTotal = 0

        /// All counts are 0.
        public init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [
                \.started, \.retried, \.finished, \.absent, \.failed, \.cancelled, \.outdated, \.refused, \.drawn,
                \.unseen, \.secondAnswers, \.byteTotal,
            ]
        }

        /// Decoded bytes that landed.
        public var bytes: ByteCount { .bytes(byteTotal) }

        /// Adds field by field.
        public static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        public static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Prefetches by their outcome: loads that began before a view needed the tile.
    public struct PrefetchCounts: Hashable, Sendable, CountFields {
        /// Prefetches that began.
        public internal(set) var started = 0
        /// Of those, drawn later on.
        public internal(set) var useful = 0
        /// Of those, demanded while in flight.
        public internal(set) var late = 0
        /// Of those, evicted without having been drawn.
        public internal(set) var wasted = 0
        /// Of those, cancelled while in flight.
        public internal(set) var cancelled = 0
        /// Of those, ended without pixels: absent, failed or refused memory.
        public internal(set) var empty = 0

        /// All counts are 0.
        public init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [\.started, \.useful, \.late, \.wasted, \.cancelled, \.empty]
        }

        /// Adds field by field.
        public static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        public static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Moves between tiers, and out of the cache.
    public struct TierCounts: Hashable, Sendable, CountFields {
        /// Tiles that were compressed.
        public internal(set) var demotions = 0
        /// Tiles that were decompressed.
        public internal(set) var promotions = 0
        /// Tiles that compression would not have made smaller.
        public internal(set) var incompressible = 0
        /// Compressed blocks that failed their checksum; their tiles were loaded again.
        public internal(set) var damagedBlocks = 0
        /// Encoded payloads that sources handed over and that landed with their tiles.
        public internal(set) var encodedPayloads = 0
        /// Payloads that their source could not decode; their tiles were loaded again.
        public internal(set) var undecodablePayloads = 0
        package internal(set) var demotedRawBytes = 0
        package internal(set) var demotedBlockBytes = 0
        /// Tiles that left the cache, by the cause's raw value.
        package private(set) var removed = [Int](repeating: 0, count: RemovalCause.allCases.count)

        /// All counts are 0.
        public init() {}

        static var fields: [WritableKeyPath<Self, Int>] {
            [
                \.demotions, \.promotions, \.incompressible, \.damagedBlocks, \.encodedPayloads, \.undecodablePayloads,
                \.demotedRawBytes, \.demotedBlockBytes,
            ] + RemovalCause.allCases.map { \.removed[$0.rawValue] }
        }

        /// Decoded bytes over block bytes of all tiles that were compressed; `nil` if there was none.
        public var compressionRatio: Double? {
            demotedBlockBytes == 0 ? nil : Double(demotedRawBytes) / Double(demotedBlockBytes)
        }
        /// Tiles that left the cache, by cause; each cause has an entry.
        public var removals: [RemovalCause: Int] {
            Dictionary(uniqueKeysWithValues: RemovalCause.allCases.map { ($0, removed[$0.rawValue]) })
        }
        mutating func countRemoval(_ cause: RemovalCause) { removed[cause.rawValue] += 1 }

        /// Adds field by field.
        public static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        public static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }

    /// Tiles of levels that the source does not have; see ``LayerOptions/synthesizedLevels``.
    public struct SynthesisCounts: Hashable, Sendable, CountFields {
        /// Tiles that were made of finer ones; each counts as a load too.
        public internal(set) var tiles = 0
        /// Tiles that the source was asked for to make them, beside all other loads.
        public internal(set) var loads = 0
        /// Of those, the ones that failed for good and left a hole.
        public internal(set) var holes = 0

        /// All counts are 0.
        public init() {}

        static var fields: [WritableKeyPath<Self, Int>] { [\.tiles, \.loads, \.holes] }

        /// Adds field by field.
        public static func + (a: Self, b: Self) -> Self { a.combined(with: b, +) }
        /// Subtracts field by field.
        public static func - (a: Self, b: Self) -> Self { a.combined(with: b, -) }
    }
}
