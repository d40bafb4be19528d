/// A rate or a figure that may not exist: `null` in JSON, never left out.
@propertyWrapper
package struct Nullable<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    /// The figure, or `nil` where there is nothing to divide by.
    package var wrappedValue: Value?

    /// Wraps a figure.
    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    /// Reads a value or `null`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    /// Writes the value or `null`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

/// What one replay, or several pooled, showed. Field names are a contract: they are added to, never renamed.
///
/// Rates are fractions from 0 to 1, bytes are whole bytes, times are milliseconds.
package struct ReplayReport: Codable, Sendable, Hashable {
    /// Which trace, or which traces together.
    package struct Trace: Codable, Sendable, Hashable {
        /// The file's name without its folder, or `built-in`, or `total`.
        package var name: String
        /// The folder that the file lies in: traces of one source are pooled by it.
        package var source: String
        /// FNV-1a, 64 bits, of the samples as they were read, in hexadecimal; empty for a total.
        package var hash: String
        /// Frames replayed.
        package var frames: Int
        /// Seconds of trace replayed.
        package var seconds: Double
        /// The file as it was named; empty for others. Not part of the JSON report, which is the same wherever files lie.
        package var path = ""

        private enum CodingKeys: String, CodingKey { case name, source, hash, frames, seconds }
    }

    /// Demands of one kind.
    package struct DemandShare: Codable, Sendable, Hashable {
        /// Demands.
        package var total: Int
        /// Of those, resident ones.
        package var hits: Int
        /// Hits over demands.
        @Nullable package var hitRate: Double?
    }

    /// Demands by what became of them.
    package struct Demands: Codable, Sendable, Hashable {
        /// Tiles that a frame needed and the frame before did not; the first frame is left out.
        package var total: Int
        /// Resident, ready to draw.
        package var decodedHits: Int
        /// Resident, compressed.
        package var compressedHits: Int
        /// In flight.
        package var late: Int
        /// Not even started.
        package var missed: Int
        /// Hits of both kinds over all.
        @Nullable package var hitRate: Double?
        /// Demands that the frame could draw at once: all hits, unless decompression costs time.
        package var drawableHits = 0
        /// Those over all.
        @Nullable package var drawableHitRate: Double? = nil
        /// At the level of the frame before.
        package var pan: DemandShare
        /// At another level than the frame before.
        package var zoom: DemandShare
    }

    /// What was drawn over the frames in which the view moved or something was missing.
    package struct CoverageShares: Codable, Sendable, Hashable {
        /// Share of the area drawn with the exact tiles.
        @Nullable package var sharp: Double?
        /// Share drawn with coarser or finer tiles.
        @Nullable package var fallback: Double?
        /// Share not drawn.
        @Nullable package var blank: Double?
        /// Blank screen pixels times the milliseconds that they were blank.
        package var blankPixelMilliseconds: Double
        /// The same for fallback.
        package var fallbackPixelMilliseconds: Double
        /// Frames that counted.
        package var frames: Int
        /// Area that counted, in screen pixels summed over those frames.
        package var pixels: Double
    }

    /// Milliseconds from the frame of a demand that was no hit to the frame that could draw it.
    package struct Percentiles: Codable, Sendable, Hashable {
        /// Half of them took no longer.
        @Nullable package var p50: Double?
        /// 95 % took no longer.
        @Nullable package var p95: Double?
        /// 99 % took no longer.
        @Nullable package var p99: Double?
    }

    /// Loads from the source.
    package struct Loads: Codable, Sendable, Hashable {
        package var started = 0
        /// Ended with pixels.
        package var finished = 0
        /// Ended with the word that the tile does not exist.
        package var absent = 0
        package var failed = 0
        /// Given up because nobody wanted the tile any more.
        package var cancelled = 0
        /// Decoded bytes that landed.
        package var bytes = 0
        /// Loads never drawn as the exact tile.
        package var unseen = 0
        /// Unseen over started.
        @Nullable package var waste: Double? = nil
    }

    /// Loads that began before anybody needed the tile.
    package struct Prefetch: Codable, Sendable, Hashable {
        package var started = 0
        /// Drawn later on.
        package var useful = 0
        /// Demanded while in flight.
        package var late = 0
        /// Never drawn.
        package var wasted = 0
        /// Given up while in flight.
        package var cancelled = 0
    }

    /// Bytes at their largest.
    package struct Memory: Codable, Sendable, Hashable {
        /// The limit, with tables where those were granted on top.
        package var byteLimit = 0
        /// Everything together.
        package var peakBytes = 0
        /// Pixels ready to draw.
        package var peakDecodedBytes = 0
        /// Compressed blocks in their pages.
        package var peakCompressedBytes = 0
        /// Slots that loads were writing into.
        package var peakInFlightBytes = 0
        /// Tables and scratch memory at the end.
        package var bookkeepingBytes = 0
        /// Growth of the process's resident memory; `null` under the virtual clock, which has no pixels.
        @Nullable package var peakResidentGrowth: Int? = nil
        /// Tiles that the fullest frame needed; of several traces, the most.
        package var screenTiles = 0
        /// The bytes of those, decoded, and of the tables: what a limit must hold.
        package var screenBytes = 0
        /// How many of those the limit lacks; of several traces, the most. 0 if it holds them.
        package var shortfallBytes = 0
    }

    /// The compressed tier.
    package struct Compression: Codable, Sendable, Hashable {
        /// Decoded bytes over block bytes of the tiles that were compressed.
        @Nullable package var ratio: Double?
        /// Tiles that would not become smaller.
        package var storedRaw: Int
    }

    /// Milliseconds that some things took.
    package struct Durations: Codable, Sendable, Hashable {
        /// How many.
        package var count: Int
        /// Half of them took no longer.
        @Nullable package var p50: Double?
        /// 95 % took no longer.
        @Nullable package var p95: Double?
        /// 99 % took no longer.
        @Nullable package var p99: Double?
        /// The longest.
        package var maximum: Double
    }

    /// What only the real service takes.
    package struct Service: Codable, Sendable, Hashable {
        /// From when a view needed a tile to the start of its load, in the trace's time.
        package var demandWait: Durations
        /// From the first of the plans in a row that wished for a tile to the start of its load, in the trace's time.
        package var prefetchWait: Durations
        /// `update` and `frame` together on the caller's thread, in real time.
        package var frameCost: Durations
    }

    /// The version of these fields.
    package var schema = 2
    package var trace: Trace
    /// Every option as resolved, with the versions of program and definitions.
    package var configuration: [String: ConfigurationValue]
    package var demands: Demands
    /// Area.
    package var coverage: CoverageShares
    /// Share of the counted frames in which a needed tile was missing.
    @Nullable package var framesWithGap: Double?
    /// Waits.
    package var timeToSharp: Percentiles
    package var loads: Loads
    /// Loads ahead of need.
    package var prefetch: Prefetch
    package var memory: Memory
    /// The compressed tier.
    package var compression: Compression
    /// Tiles that left the pool, by cause.
    package var evictions: [String: Int]
    /// Waits for workers and the cost of frames; `null` under the virtual clock.
    @Nullable package var service: Service? = nil
    /// Where the tiles came from; `null` where it was the built-in world.
    @Nullable package var tileSource: ReplaySourceCounts? = nil
}

package enum ConfigurationValue: Codable, Sendable, Hashable {
    /// A whole number.
    case integer(Int)
    /// A whole number larger than the largest `Int`; seeds may be.
    case unsigned(UInt64)
    case number(Double)
    /// A word.
    case text(String)
    /// A switch.
    case flag(Bool)
    /// Not set.
    case none

    /// Reads whichever it is.
    package init(from decoder: any Decoder) throws {
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
    package func encode(to encoder: any Encoder) throws {
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
