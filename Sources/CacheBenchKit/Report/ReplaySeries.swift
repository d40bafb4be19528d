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

        /// Screen pixels drawn with exact tiles, summed over the frames of the stretch.
        public var sharpPixels = 0.0
        /// The same drawn with coarser or finer tiles.
        public var coarsePixels = 0.0
        /// The same not drawn.
        public var blankPixels = 0.0

        /// A part of the area as a share of all; 0 without frames.
        func share(_ pixels: Double) -> Double {
            let all = sharpPixels + coarsePixels + blankPixels
            return all > 0 ? pixels / all : 0
        }

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

    /// Why something needed was missing.
    public enum Cause: String, Codable, Sendable, Hashable {
        /// The first frame: nothing is loaded yet.
        case start
        /// The limit does not hold what the frame needs.
        case limit
        /// Most of the tiles had been loaded before and were evicted.
        case evicted
        /// The view jumped by more than its own size.
        case jump
        /// The view zoomed in.
        case zoomIn
        /// The view zoomed out.
        case zoomOut
        /// Most of the tiles were being loaded already.
        case late
        /// The view moved to where nothing had been loaded.
        case pan
    }

    /// A time in which something needed was missing, two seconds at most.
    public struct Moment: Codable, Sendable, Hashable {
        /// When it began, and how long it lasted.
        public var seconds: Double
        /// Until nothing was missing any more.
        public var duration: Double
        /// The middle of the screen at its worst frame, in world pixels.
        public var x: Double
        /// From the top.
        public var y: Double
        /// Screen pixels for a world pixel, at its worst frame.
        public var scale: Double
        /// The fastest movement, jumps left out, in screen pixels a second.
        public var speed: Double
        /// The fastest change of scale, in octaves a second; negative if the view zoomed out.
        public var zoomSpeed: Double
        /// The blank share of its worst frame.
        public var blank: Double
        /// The share of that frame that coarser or finer tiles stood in for.
        public var coarse: Double
        /// Blank screen pixels times milliseconds, over all of its frames.
        public var blankPixelMilliseconds: Double
        /// The same for coarser and finer tiles.
        public var coarsePixelMilliseconds: Double
        /// Needed tiles missing in its worst frame.
        public var missingTiles: Int
        /// Why.
        public var cause: Cause

        /// Whether it was worse than another: blank area counts before coarse area.
        func isWorse(than other: Moment) -> Bool {
            (blankPixelMilliseconds, coarsePixelMilliseconds, -seconds)
                > (other.blankPixelMilliseconds, other.coarsePixelMilliseconds, -other.seconds)
        }
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
    /// The worst moments, the worst first; ten at most.
    public var moments: [Moment]
    /// The world's size in world pixels.
    public var world: Point
}
