/// What the pictures of one replay are drawn of, in bounded memory however long the trace is.
package struct ReplaySeries: Codable, Sendable, Hashable {
    /// A stretch of time.
    package struct Bucket: Codable, Sendable, Hashable {
        /// Demands that were resident, ready to draw.
        package var decodedHits = 0
        /// Demands that were resident, compressed.
        package var compressedHits = 0
        /// Demands that were in flight.
        package var late = 0
        /// Demands that were not even started.
        package var missed = 0
        /// Bytes ready to draw, at the frame of the stretch that used the most, as all that follow.
        package var decodedBytes = 0
        package var compressedBytes = 0
        /// Bytes that loads were writing into.
        package var inFlightBytes = 0
        /// Bytes of tables.
        package var bookkeepingBytes = 0
        /// Bytes kept for the next tile.
        package var unusedBytes = 0

        /// Screen pixels drawn with exact tiles, summed over the frames of the stretch.
        package var sharpPixels = 0.0
        /// The same drawn with coarser or finer tiles.
        package var coarsePixels = 0.0
        /// The same not drawn.
        package var blankPixels = 0.0

        /// A part of the area as a share of all; 0 without frames.
        func share(_ pixels: Double) -> Double {
            let all = sharpPixels + coarsePixels + blankPixels
            return all > 0 ? pixels / all : 0
        }

        var demands: Int { decodedHits + compressedHits + late + missed }
        var bytes: Int { decodedBytes + compressedBytes + inFlightBytes + bookkeepingBytes + unusedBytes }
    }

    /// What became of a tile over the whole replay.
    package enum Use: String, Codable, Sendable, Hashable, CaseIterable {
        /// Loaded when it was needed, and drawn.
        case drawn
        /// Loaded ahead of need, and drawn.
        case prefetched
        /// Loaded and never drawn.
        case wasted
    }

    /// A tile and its use.
    package struct Tile: Codable, Sendable, Hashable {
        /// The level, 0 the coarsest.
        package var level: Int
        /// The column, from the left.
        package var column: Int
        /// The row, from the top.
        package var row: Int
        package var use: Use
    }

    /// How often tiles waited so long to be drawn.
    package struct Wait: Codable, Sendable, Hashable {
        /// The wait in milliseconds.
        package var milliseconds: Double
        /// How many waited so long.
        package var count: Int
    }

    /// Where the middle of the screen was, in world pixels.
    package struct Point: Codable, Sendable, Hashable {
        /// From the left.
        package var x: Double
        /// From the top.
        package var y: Double
    }

    /// Why something needed was missing.
    package enum Cause: String, Codable, Sendable, Hashable {
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
        case zoomOut
        /// Most of the tiles were being loaded already.
        case late
        /// The view moved to where nothing had been loaded.
        case pan
    }

    /// A time in which something needed was missing, two seconds at most.
    package struct Moment: Codable, Sendable, Hashable {
        /// When it began, and how long it lasted.
        package var seconds: Double
        /// Until nothing was missing any more.
        package var duration: Double
        /// The middle of the screen at its worst frame, in world pixels.
        package var x: Double
        /// From the top.
        package var y: Double
        /// Screen pixels for a world pixel, at its worst frame.
        package var scale: Double
        /// The fastest movement, jumps left out, in screen pixels a second.
        package var speed: Double
        /// The fastest change of scale, in octaves a second; negative if the view zoomed out.
        package var zoomSpeed: Double
        /// The blank share of its worst frame.
        package var blank: Double
        /// The share of that frame that coarser or finer tiles stood in for.
        package var coarse: Double
        /// Blank screen pixels times milliseconds, over all of its frames.
        package var blankPixelMilliseconds: Double
        /// The same for coarser and finer tiles.
        package var coarsePixelMilliseconds: Double
        /// Needed tiles missing in its worst frame.
        package var missingTiles: Int
        /// Why.
        package var cause: Cause

        /// Whether it was worse than another: blank area counts before coarse area.
        func isWorse(than other: Moment) -> Bool {
            (blankPixelMilliseconds, coarsePixelMilliseconds, -seconds)
                > (other.blankPixelMilliseconds, other.coarsePixelMilliseconds, -other.seconds)
        }
    }

    /// Seconds of a stretch.
    package var bucketSeconds: Double
    /// Stretches from the beginning.
    package var buckets: [Bucket]
    /// Waits, shortest first.
    package var waits: [Wait]
    /// The way of the middle of the screen, thinned.
    package var path: [Point]
    /// Tiles that were loaded, those of level 0 first; the real clock does not tell.
    package var tiles: [Tile]
    /// Loads of tiles that no room was left to remember.
    package var forgottenTiles: Int
    /// World pixels a side of a tile of each level: width, then height.
    package var tileSpans: [Point]
    /// The worst moments, the worst first; ten at most.
    package var moments: [Moment]
    /// The world's size in world pixels.
    package var world: Point
}
