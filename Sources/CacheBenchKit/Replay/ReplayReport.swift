/// An optional figure: `null` in JSON, never left out.
@propertyWrapper
package struct Nullable<Value: Encodable & Sendable & Hashable>: Encodable, Sendable, Hashable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

/// Results of one replay, or of several pooled. Fields are added, never renamed.
///
/// Rates are fractions from 0 to 1, sizes are whole bytes, times are milliseconds.
package struct ReplayReport: Encodable, Sendable, Hashable {
    /// A trace, or the traces of a total.
    package struct Trace: Encodable, Sendable, Hashable {
        /// Name of the file without its folder, or `built-in`, or `total`.
        package var name: String
        /// Folder of the file, by which the traces of a source are pooled: its last name, and those before it that
        /// distinguish folders of the same last name.
        package var source: String
        /// FNV-1a, 64 bits, of the samples, in hexadecimal; empty for a total.
        package var hash: String
        package var frames: Int
        package var seconds: Double
        /// Path as given; empty for others. Not part of the JSON report, which does not depend on it.
        package var path = ""
        /// What the trace was imported from, so that its positions are guessed; `nil` for a recorded one.
        package var imported: String?
        /// Positions of the trace that were read. For the text and the page alone, as are those that follow.
        package var samples = 0
        /// Seconds of gaps between positions in which the view moved (`SampleGaps`).
        package var glidedSeconds = 0.0
        /// The longest of these gaps, in seconds.
        package var longestGlide = 0.0

        private enum CodingKeys: String, CodingKey { case name, source, hash, frames, seconds, imported }
    }

    package struct DemandShare: Encodable, Sendable, Hashable {
        package var total: Int
        package var hits: Int
        /// Hits over demands.
        @Nullable package var hitRate: Double?
    }

    package struct Demands: Encodable, Sendable, Hashable {
        /// Tiles that a frame needed and the previous frame did not. The first frame is left out.
        package var total: Int
        /// Demands that were resident and decoded.
        package var decodedHits: Int
        /// Demands that were resident and compressed.
        package var compressedHits: Int
        /// Demands whose load was in flight.
        package var late: Int
        /// Demands without a load.
        package var missed: Int
        /// Hits of both kinds over all demands.
        @Nullable package var hitRate: Double?
        /// Demands that the frame could draw at once: all hits, unless decompression costs time.
        package var drawableHits = 0
        /// Drawable hits over all demands.
        @Nullable package var drawableHitRate: Double? = nil
        /// Demands at the level of the previous frame.
        package var pan: DemandShare
        /// Demands at another level than the previous frame's.
        package var zoom: DemandShare
    }

    /// Drawn area over the frames in which the view moved or a tile was missing.
    package struct CoverageShares: Encodable, Sendable, Hashable {
        /// Fraction drawn with the exact tiles.
        @Nullable package var sharp: Double?
        /// Fraction drawn with coarser or finer tiles.
        @Nullable package var fallback: Double?
        /// Fraction not drawn.
        @Nullable package var blank: Double?
        /// Blank screen pixels times the milliseconds that they were blank.
        package var blankPixelMilliseconds: Double
        /// The same for fallback.
        package var fallbackPixelMilliseconds: Double
        /// Resolution deficit: mean number of levels by which a pixel was drawn too coarse. Finer tiles count as exact,
        /// a blank pixel as the number of levels of the pyramid.
        @Nullable package var deficit: Double? = nil
        package var frames: Int
        /// Area in screen pixels, summed over these frames.
        package var pixels: Double
    }

    /// Milliseconds from the frame of each missed demand to the frame that could draw it.
    package struct Percentiles: Encodable, Sendable, Hashable {
        @Nullable package var p50: Double?
        @Nullable package var p95: Double?
        @Nullable package var p99: Double?
    }

    package struct Loads: Encodable, Sendable, Hashable {
        package var started = 0
        /// Loads that finished with pixels.
        package var finished = 0
        /// Loads whose tile does not exist.
        package var absent = 0
        package var failed = 0
        /// Loads cancelled because the tile was no longer wanted.
        package var cancelled = 0
        /// Decoded bytes of finished loads.
        package var bytes = 0
        /// Loads never drawn as the exact tile.
        package var unseen = 0
        /// Unseen over started loads.
        @Nullable package var waste: Double? = nil
    }

    /// Loads that started before the tile was needed.
    package struct Prefetch: Encodable, Sendable, Hashable {
        package var started = 0
        /// Prefetches that were drawn later.
        package var useful = 0
        /// Prefetches that were demanded while in flight.
        package var late = 0
        package var wasted = 0
        /// Prefetches cancelled while in flight.
        package var cancelled = 0
        /// Requests of prefetches to the source; those that a tier below memory serves are none.
        package var requests = 0
        /// Decoded bytes of the prefetches that began.
        package var bytes = 0
        /// Decoded bytes of the useful ones.
        package var drawnBytes = 0
        /// Turns of prefetches that a ceiling held back.
        package var heldBack = 0
    }

    /// Peak sizes in bytes.
    package struct Memory: Encodable, Sendable, Hashable {
        /// The limit, with tables if they were added to it.
        package var byteLimit = 0
        package var peakBytes = 0
        package var peakDecodedBytes = 0
        /// Pages of compressed blocks.
        package var peakCompressedBytes = 0
        /// Slots of loads in flight.
        package var peakInFlightBytes = 0
        /// Tables and scratch memory at the end.
        package var bookkeepingBytes = 0
        /// Of those, the bytes of stores at the end; left out if there are none.
        package var storeBytes: Int? = nil
        /// Growth of the process's resident memory; `null` under the virtual clock, which has no pixels.
        @Nullable package var peakResidentGrowth: Int? = nil
        /// Tiles that the fullest frame needed; the maximum if traces are pooled.
        package var screenTiles = 0
        /// Decoded bytes of those and the tables: the minimum for a limit.
        package var screenBytes = 0
        /// Bytes of those beyond the limit. The maximum if traces are pooled. 0 if they fit.
        package var shortfallBytes = 0
    }

    package struct Compression: Encodable, Sendable, Hashable {
        /// Decoded bytes over block bytes of the tiles that were compressed.
        @Nullable package var ratio: Double?
        /// Incompressible tiles.
        package var storedRaw: Int
    }

    /// A summary of durations in milliseconds.
    package struct Durations: Encodable, Sendable, Hashable {
        package var count: Int
        @Nullable package var p50: Double?
        @Nullable package var p95: Double?
        @Nullable package var p99: Double?
        package var maximum: Double
    }

    /// Durations measured in the real service only.
    package struct Service: Encodable, Sendable, Hashable {
        /// Trace time from the first need of a tile to the start of its load.
        package var demandWait: Durations
        /// Trace time from a tile's first plan to the start of its load. Counts consecutive plans only.
        package var prefetchWait: Durations
        /// `update` and `frame` together on the caller's thread, in real time.
        package var frameCost: Durations
    }

    package var schema = 2
    package var trace: Trace
    /// All options as resolved, with the versions of program and definitions.
    package var configuration: [String: ConfigurationValue]
    package var demands: Demands
    package var coverage: CoverageShares
    /// Fraction of the counted frames in which a needed tile was missing.
    @Nullable package var framesWithGap: Double?
    package var timeToSharp: Percentiles
    package var loads: Loads
    package var prefetch: Prefetch
    package var memory: Memory
    package var compression: Compression
    package var evictions: [String: Int]
    /// Waits for workers and the cost of frames; `null` under the virtual clock.
    @Nullable package var service: Service? = nil
    /// Tiers below memory, nearest first; empty if the source alone has tiles.
    package var tiers: [Tier] = []
    /// Milliseconds from the first frame to the first without a missing tile. The mean if traces are pooled.
    @Nullable package var firstCompleteFrame: Double? = nil
    /// Source of the tiles; `null` for the built-in world.
    @Nullable package var tileSource: ReplaySourceCounts? = nil
    /// Texture slots; `null` without any.
    @Nullable package var textures: Textures? = nil
}

package enum ConfigurationValue: Encodable, Sendable, Hashable {
    case integer(Int)
    /// An integer larger than the largest `Int`, as seeds may be.
    case unsigned(UInt64)
    case number(Double)
    case text(String)
    case flag(Bool)
    case none

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
