/// What the pictures of one replay are drawn of, in bounded memory however long the trace is.
public struct ReplaySeries: Codable, Sendable, Hashable {
    /// A stretch of time.
    public struct Bucket: Codable, Sendable, Hashable {
        /// Demands that were resident, ready to draw.
        public var decodedHits = 0
        /// Demands that were resident, compressed.
        public var compressedHits = 0
        /// Demands that were in flight.
        public var late = 0
        /// Demands that were not even started.
        public var missed = 0
        /// Bytes ready to draw, at the frame of the stretch that used the most, as all that follow.
        public var decodedBytes = 0
        /// Bytes of compressed blocks.
        public var compressedBytes = 0
        /// Bytes that loads were writing into.
        public var inFlightBytes = 0
        /// Bytes of tables.
        public var bookkeepingBytes = 0
        /// Bytes kept for the next tile.
        public var unusedBytes = 0

        /// All demands.
        var demands: Int { decodedHits + compressedHits + late + missed }
        /// All bytes.
        var bytes: Int { decodedBytes + compressedBytes + inFlightBytes + bookkeepingBytes + unusedBytes }
    }

    /// What became of a tile over the whole replay.
    public enum Use: String, Codable, Sendable, Hashable, CaseIterable {
        /// Loaded when it was needed, and drawn.
        case drawn
        /// Loaded ahead of need, and drawn.
        case prefetched
        /// Loaded and never drawn.
        case wasted
    }

    /// A tile and its use.
    public struct Tile: Codable, Sendable, Hashable {
        /// The level, 0 the coarsest.
        public var level: Int
        /// The column, from the left.
        public var column: Int
        /// The row, from the top.
        public var row: Int
        /// Its use.
        public var use: Use
    }

    /// How often tiles waited so long to be drawn.
    public struct Wait: Codable, Sendable, Hashable {
        /// The wait in milliseconds.
        public var milliseconds: Double
        /// How many waited so long.
        public var count: Int
    }

    /// Where the middle of the screen was, in world pixels.
    public struct Point: Codable, Sendable, Hashable {
        /// From the left.
        public var x: Double
        /// From the top.
        public var y: Double
    }

    /// Seconds of a stretch.
    public var bucketSeconds: Double
    /// Stretches from the beginning.
    public var buckets: [Bucket]
    /// Waits, shortest first.
    public var waits: [Wait]
    /// The way of the middle of the screen, thinned.
    public var path: [Point]
    /// Tiles that were loaded, those of level 0 first; the real clock does not tell.
    public var tiles: [Tile]
    /// Loads of tiles that no room was left to remember.
    public var forgottenTiles: Int
    /// World pixels a side of a tile of each level: width, then height.
    public var tileSpans: [Point]
    /// The world's size in world pixels.
    public var world: Point
}
