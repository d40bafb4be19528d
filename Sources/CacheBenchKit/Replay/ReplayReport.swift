/// A rate or a figure that may not exist: `null` in JSON, never left out.
@propertyWrapper
public struct Nullable<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    /// The figure, or `nil` where there is nothing to divide by.
    public var wrappedValue: Value?

    /// Wraps a figure.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    /// Reads a value or `null`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Writes the value or `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

/// What one replay, or several pooled, showed. Field names are a contract: they are added to, never renamed.
///
/// Rates are fractions from 0 to 1, bytes are whole bytes, times are milliseconds.
public struct ReplayReport: Codable, Sendable, Hashable {
    /// Which trace, or which traces together.
    public struct Trace: Codable, Sendable, Hashable {
        /// The file's name without its folder, or `built-in`, or `total`.
        public var name: String
        /// The folder that the file lies in: traces of one source are pooled by it.
        public var source: String
        /// FNV-1a, 64 bits, of the samples as they were read, in hexadecimal; empty for a total.
        public var hash: String
        /// Frames replayed.
        public var frames: Int
        /// Seconds of trace replayed.
        public var seconds: Double
        /// The file as it was named; empty for others. Not part of the JSON report, which is the same wherever files lie.
        public var path = ""

        private enum CodingKeys: String, CodingKey { case name, source, hash, frames, seconds }
    }

    /// Demands of one kind.
    public struct DemandShare: Codable, Sendable, Hashable {
        /// Demands.
        public var total: Int
        /// Of those, resident ones.
        public var hits: Int
        /// Hits over demands.
        @Nullable public var hitRate: Double?
    }

    /// Demands by what became of them.
    public struct Demands: Codable, Sendable, Hashable {
        /// Tiles that a frame needed and the frame before did not; the first frame is left out.
        public var total: Int
        /// Resident, ready to draw.
        public var decodedHits: Int
        /// Resident, compressed.
        public var compressedHits: Int
        /// In flight.
        public var late: Int
        /// Not even started.
        public var missed: Int
        /// Hits of both kinds over all.
        @Nullable public var hitRate: Double?
        /// Demands that the frame could draw at once: all hits, unless decompression costs time.
        public var drawableHits = 0
        /// Those over all.
        @Nullable public var drawableHitRate: Double? = nil
        /// At the level of the frame before.
        public var pan: DemandShare
        /// At another level than the frame before.
        public var zoom: DemandShare
    }

    /// What was drawn over the frames in which the view moved or something was missing.
    public struct CoverageShares: Codable, Sendable, Hashable {
        /// Share of the area drawn with the exact tiles.
        @Nullable public var sharp: Double?
        /// Share drawn with coarser or finer tiles.
        @Nullable public var fallback: Double?
        /// Share not drawn.
        @Nullable public var blank: Double?
        /// Blank screen pixels times the milliseconds that they were blank.
        public var blankPixelMilliseconds: Double
        /// The same for fallback.
        public var fallbackPixelMilliseconds: Double
        /// Frames that counted.
        public var frames: Int
        /// Area that counted, in screen pixels summed over those frames.
        public var pixels: Double
    }

    /// Milliseconds from the frame of a demand that was no hit to the frame that could draw it.
    public struct Percentiles: Codable, Sendable, Hashable {
        /// Half of them took no longer.
        @Nullable public var p50: Double?
        /// 95 % took no longer.
        @Nullable public var p95: Double?
        /// 99 % took no longer.
        @Nullable public var p99: Double?
    }

    /// Loads from the source.
    public struct Loads: Codable, Sendable, Hashable {
        /// Started.
        public var started: Int
        /// Ended with pixels.
        public var finished: Int
        /// Ended with the word that the tile does not exist.
        public var absent: Int
        /// Failed.
        public var failed: Int
        /// Given up because nobody wanted the tile any more.
        public var cancelled: Int
        /// Decoded bytes that landed.
        public var bytes: Int
        /// Loads never drawn as the exact tile.
        public var unseen: Int
        /// Unseen over started.
        @Nullable public var waste: Double?
    }

    /// Loads that began before anybody needed the tile.
    public struct Prefetch: Codable, Sendable, Hashable {
        /// Started.
        public var started: Int
        /// Drawn later on.
        public var useful: Int
        /// Demanded while in flight.
        public var late: Int
        /// Never drawn.
        public var wasted: Int
        /// Given up while in flight.
        public var cancelled: Int
    }

    /// Bytes at their largest.
    public struct Memory: Codable, Sendable, Hashable {
        /// The limit, with tables where those were granted on top.
        public var byteLimit: Int
        /// Everything together.
        public var peakBytes: Int
        /// Pixels ready to draw.
        public var peakDecodedBytes: Int
        /// Compressed blocks in their pages.
        public var peakCompressedBytes: Int
        /// Slots that loads were writing into.
        public var peakInFlightBytes: Int
        /// Tables and scratch memory at the end.
        public var bookkeepingBytes: Int
        /// Growth of the process's resident memory; `null` under the virtual clock, which has no pixels.
        @Nullable public var peakResidentGrowth: Int?
        /// Tiles that the fullest frame needed; of several traces, the most.
        public var screenTiles = 0
        /// The bytes of those, decoded, and of the tables: what a limit must hold.
        public var screenBytes = 0
        /// How many of those the limit lacks; of several traces, the most. 0 if it holds them.
        public var shortfallBytes = 0
    }

    /// The compressed tier.
    public struct Compression: Codable, Sendable, Hashable {
        /// Decoded bytes over block bytes of the tiles that were compressed.
        @Nullable public var ratio: Double?
        /// Tiles that would not become smaller.
        public var storedRaw: Int
    }

    /// Milliseconds that some things took.
    public struct Durations: Codable, Sendable, Hashable {
        /// How many.
        public var count: Int
        /// Half of them took no longer.
        @Nullable public var p50: Double?
        /// 95 % took no longer.
        @Nullable public var p95: Double?
        /// 99 % took no longer.
        @Nullable public var p99: Double?
        /// The longest.
        public var maximum: Double
    }

    /// What only the real service takes.
    public struct Service: Codable, Sendable, Hashable {
        /// From when a view needed a tile to the start of its load, in the trace's time.
        public var demandWait: Durations
        /// From the first of the plans in a row that wished for a tile to the start of its load, in the trace's time.
        public var prefetchWait: Durations
        /// `update` and `frame` together on the caller's thread, in real time.
        public var frameCost: Durations
    }

    /// The version of these fields.
    public var schema = 2
    /// Which trace.
    public var trace: Trace
    /// Every option as resolved, with the versions of program and definitions.
    public var configuration: [String: ConfigurationValue]
    /// Demands.
    public var demands: Demands
    /// Area.
    public var coverage: CoverageShares
    /// Share of the counted frames in which a needed tile was missing.
    @Nullable public var framesWithGap: Double?
    /// Waits.
    public var timeToSharp: Percentiles
    /// Loads.
    public var loads: Loads
    /// Loads ahead of need.
    public var prefetch: Prefetch
    /// Memory.
    public var memory: Memory
    /// The compressed tier.
    public var compression: Compression
    /// Tiles that left the pool, by cause.
    public var evictions: [String: Int]
    /// Waits for workers and the cost of frames; `null` under the virtual clock.
    @Nullable public var service: Service? = nil
    /// Where the tiles came from; `null` where it was the built-in world.
    @Nullable public var tileSource: ReplaySourceCounts? = nil
}

/// A value of the configuration in a report.
public enum ConfigurationValue: Codable, Sendable, Hashable {
    /// A whole number.
    case integer(Int)
    /// A whole number larger than the largest `Int`; seeds may be.
    case unsigned(UInt64)
    /// A number.
    case number(Double)
    /// A word.
    case text(String)
    /// A switch.
    case flag(Bool)
    /// Not set.
    case none

    /// Reads whichever it is.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes the bare value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .none: try container.encodeNil()
        }
    }
}
