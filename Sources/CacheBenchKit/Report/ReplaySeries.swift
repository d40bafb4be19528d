/// Data of the pictures of one replay, in bounded memory however long the trace is.
package struct ReplaySeries: Encodable, Sendable, Hashable {
    /// An interval of time, with counts as in ``ReplayReport/Demands``.
    package struct Bucket: Encodable, Sendable, Hashable {
        package var decodedHits = 0
        package var compressedHits = 0
        package var late = 0
        package var missed = 0
        /// Bytes of decoded tiles, at the interval's frame that used the most memory. The fields that follow are of the
        /// same frame.
        package var decodedBytes = 0
        package var compressedBytes = 0
        package var inFlightBytes = 0
        package var bookkeepingBytes = 0
        /// Bytes kept for the next tile.
        package var unusedBytes = 0

        /// Screen pixels drawn with exact tiles, summed over the frames of the interval.
        package var sharpPixels = 0.0
        package var coarsePixels = 0.0
        package var blankPixels = 0.0

        /// A part of the area as a fraction of all; 0 without frames.
        func share(_ pixels: Double) -> Double {
            let all = sharpPixels + coarsePixels + blankPixels
            return all > 0 ? pixels / all : 0
        }

        var demands: Int { decodedHits + compressedHits + late + missed }
        var bytes: Int { decodedBytes + compressedBytes + inFlightBytes + bookkeepingBytes + unusedBytes }
    }

    /// Use of a tile over the whole replay.
    package enum Use: String, Encodable, Sendable, Hashable, CaseIterable {
        /// Loaded when it was needed, and drawn.
        case drawn
        /// Prefetched, and drawn.
        case prefetched
        /// Loaded and never drawn.
        case wasted
    }

    package struct Tile: Encodable, Sendable, Hashable {
        package var level: Int
        package var column: Int
        package var row: Int
        package var use: Use
    }

    package struct Wait: Encodable, Sendable, Hashable {
        package var milliseconds: Double
        package var count: Int
    }

    /// Position of the middle of the screen, in world pixels.
    package struct Point: Encodable, Sendable, Hashable {
        package var x: Double
        package var y: Double
    }

    /// Reason why a needed tile was missing.
    package enum Cause: String, Encodable, Sendable, Hashable {
        /// The first frame: nothing is loaded yet.
        case start
        /// The needed tiles exceed the limit.
        case limit
        /// Most of the tiles had been loaded before and were evicted.
        case evicted
        /// The view jumped by more than its own size.
        case jump
        case zoomIn
        case zoomOut
        /// Most of the tiles were being loaded.
        case late
        /// The view moved to tiles that had not been loaded.
        case pan
    }

    /// An interval in which a needed tile was missing, two seconds at most.
    package struct Moment: Encodable, Sendable, Hashable {
        package var seconds: Double
        /// Time until nothing was missing.
        package var duration = 0.0
        /// Middle of the screen at its worst frame, in world pixels, from the left.
        package var x = 0.0
        /// The same from the top.
        package var y = 0.0
        /// Screen pixels per world pixel at its worst frame.
        package var scale = 1.0
        /// Maximum speed without jumps, in screen pixels a second.
        package var speed = 0.0
        /// Maximum change of scale, in octaves a second; negative for zooming out.
        package var zoomSpeed = 0.0
        /// Blank fraction of its worst frame.
        package var blank = -1.0
        /// Fraction of that frame covered by fallbacks.
        package var coarse = -1.0
        /// Blank screen pixels times milliseconds, over all of its frames.
        package var blankPixelMilliseconds = 0.0
        /// The same for fallbacks.
        package var coarsePixelMilliseconds = 0.0
        /// Needed tiles missing in its worst frame.
        package var missingTiles = 0
        package var cause = Cause.pan

        /// Whether it was worse than another: blank area precedes coarse area.
        func isWorse(than other: Moment) -> Bool {
            (blankPixelMilliseconds, coarsePixelMilliseconds, -seconds)
                > (other.blankPixelMilliseconds, other.coarsePixelMilliseconds, -other.seconds)
        }
    }

    package var bucketSeconds: Double
    package var buckets: [Bucket]
    package var waits: [Wait]
    /// Path of the middle of the screen, thinned.
    package var path: [Point]
    /// Loaded tiles, those of level 0 first; empty under the real clock.
    package var tiles: [Tile]
    /// Loads of tiles beyond the bound of memory.
    package var forgottenTiles: Int
    /// World pixels a side of a tile of each level: width, then height.
    package var tileSpans: [Point]
    /// The worst moments, the worst first; ten at most.
    package var moments: [Moment]
    package var world: Point
    /// Whether the world wraps horizontally.
    package var wrapsX: Bool
}
