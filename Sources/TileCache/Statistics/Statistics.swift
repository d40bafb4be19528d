/// What a cache has done so far: counters that only grow, sizes as they are, rates derived from them.
///
/// A frame that goes on looking at the same tiles is no lookup: only tiles that a frame needs and the frame before did
/// not are counted. Each view's first frame is a cold start and is left out. A rate over nothing is `nil`.
public struct Statistics: Sendable, Hashable, CustomStringConvertible {
    /// Demands at the level of the frame before.
    public internal(set) var pan = DemandCounts()
    /// Demands at another level than the frame before.
    public internal(set) var zoom = DemandCounts()

    /// Loads that began.
    public internal(set) var loadsStarted = 0
    /// Of those, loads of tiles that had failed or had been refused memory before.
    public internal(set) var loadsRetried = 0
    /// Loads that ended with pixels that landed.
    public internal(set) var loadsFinished = 0
    /// Loads that said that there is no such tile.
    public internal(set) var loadsAbsent = 0
    /// Loads that failed.
    public internal(set) var loadsFailed = 0
    /// Loads that were cancelled.
    public internal(set) var loadsCancelled = 0
    /// Loads that an invalidation had overtaken.
    public internal(set) var loadsOutdated = 0
    /// Loads that were refused memory, for their pixels or for encoded bytes. Their tiles are tried again after a wait that
    /// doubles each time, and only if the memory can be had.
    public internal(set) var loadsRefused = 0
    /// Decoded bytes that landed.
    public internal(set) var loadedBytes = 0
    /// Loads that landed and have been drawn.
    public internal(set) var loadsDrawn = 0
    /// Loads that never will be drawn: their pixels left before, or were outdated, refused or cancelled.
    public internal(set) var loadsUnseen = 0
    /// Requests that their source completed more than once.
    public internal(set) var secondAnswers = 0

    /// Tiles of levels that the source does not have, made of finer ones; each counts as a load too.
    public internal(set) var synthesizedTiles = 0
    /// Tiles that the source was asked for to make them, beside all other loads.
    public internal(set) var synthesisLoads = 0
    /// Of those, the ones that failed for good and left a hole.
    public internal(set) var synthesisHoles = 0

    /// Loads that began before anybody needed the tile.
    public internal(set) var prefetchStarted = 0
    /// Of those, drawn later on.
    public internal(set) var prefetchUseful = 0
    /// Of those, demanded while in flight.
    public internal(set) var prefetchLate = 0
    /// Of those, gone without having been drawn.
    public internal(set) var prefetchWasted = 0
    /// Of those, cancelled while in flight.
    public internal(set) var prefetchCancelled = 0
    /// Of those, ended without pixels: absent, failed, or without room.
    public internal(set) var prefetchEmpty = 0
    /// Of those, in flight and not demanded yet.
    public internal(set) var prefetchesInFlight = 0

    /// Tiles that were compressed.
    public internal(set) var demotions = 0
    /// Tiles that were decompressed.
    public internal(set) var promotions = 0
    /// Tiles that compression would not have made smaller.
    public internal(set) var incompressible = 0
    /// Compressed blocks that did not pass their checksum; their tiles were loaded again.
    public internal(set) var damagedBlocks = 0
    /// Encoded payloads that sources handed over and that landed with their tiles.
    public internal(set) var encodedPayloads = 0
    /// Payloads that their source could not decode; their tiles were loaded again.
    public internal(set) var undecodablePayloads = 0
    /// Decoded bytes over block bytes of all tiles compressed; `nil` where there was none.
    public internal(set) var compressionRatio: Double?
    /// Tiles that left, by cause.
    public internal(set) var removals: [RemovalCause: Int] = [:]

    /// The limit in force, in bytes: the cache's own, or a part of it while the system is short of memory.
    public internal(set) var byteLimit = 0
    /// The largest ``TileView/shortfallBytes`` of all views: the bytes of one screen's tiles if the limit is too small for
    /// them, else 0.
    public internal(set) var shortfallBytes = 0
    /// Bytes with memory behind them: slots, pages, tables, scratch.
    public internal(set) var usedBytes = 0
    /// The largest that `usedBytes` has been.
    public internal(set) var peakBytes = 0
    /// Bytes of decoded tiles, loads in flight included.
    public internal(set) var decodedBytes = 0
    /// Bytes of pages that hold compressed tiles.
    public internal(set) var compressedBytes = 0
    /// Bytes that loads in flight have reserved, and encoded bytes that sources say they hold.
    public internal(set) var inFlightBytes = 0
    /// Bytes of tables and scratch memory.
    public internal(set) var bookkeepingBytes = 0
    /// The largest that decoded tiles have been.
    public internal(set) var peakDecodedBytes = 0
    /// The largest that compressed tiles have been.
    public internal(set) var peakCompressedBytes = 0
    /// The largest that reservations have been.
    public internal(set) var peakInFlightBytes = 0
    /// Decoded tiles now.
    public internal(set) var decodedTiles = 0
    /// Compressed tiles now.
    public internal(set) var compressedTiles = 0
    /// Finished loads that are resident and have not been drawn.
    public internal(set) var unseenTiles = 0
    /// Of those, the prefetched ones.
    public internal(set) var unseenPrefetchedTiles = 0
    /// Loads in flight now.
    public internal(set) var loadsInFlight = 0
    /// How long a load takes, an exponential mean, in nanoseconds.
    public internal(set) var meanLoadNanoseconds: Int64 = 0

    /// How long loads of needed tiles waited for a worker, from when a view first needed the tile. Retries are left out.
    public internal(set) var demandWaits = DurationSummary()
    /// How long prefetches waited for a worker, from the first of the plans in a row that wished for the tile.
    public internal(set) var prefetchWaits = DurationSummary()
    /// Loads in flight for longer than ``TileCache/Configuration/stuckLoadTime``: their source does not answer.
    public internal(set) var stuckLoads = 0
    /// Workers that are within a source's code for longer than that.
    public internal(set) var blockedWorkers = 0
    /// How long the oldest load in flight has taken so far, in nanoseconds; 0 where there is none.
    public internal(set) var oldestLoadNanoseconds: Int64 = 0
    /// Calls of ``TileView/onTilesReady`` that took longer than ``TileCache/Configuration/slowCallbackTime``, running
    /// ones included.
    public internal(set) var slowCallbacks = 0
    /// The longest that one has taken, in nanoseconds.
    public internal(set) var longestCallbackNanoseconds: Int64 = 0
    /// Viewports that could not be drawn (``Viewport/isDrawable``) and were ignored.
    public internal(set) var refusedViewports = 0
    /// Pinned tiles that are decoded now.
    public internal(set) var floorTiles = 0
    /// Bytes of pinned tiles that are decoded now.
    public internal(set) var floorBytes = 0

    /// Pan and zoom demands together.
    public var demands: DemandCounts { pan + zoom }
    /// Hits over demands, 0 to 1; `nil` where there was none.
    public var hitRate: Double? { demands.hitRate }
    /// Loads never drawn, those on their way and those still unseen included, over loads; `nil` where there was none.
    public var waste: Double? {
        loadsStarted == 0 ? nil : Double(loadsUnseen + unseenTiles + loadsInFlight) / Double(loadsStarted)
    }

    /// One line for a log: first what the limit is short of, then what failed, then rates.
    public var description: String {
        func percent(_ rate: Double?) -> String {
            guard let rate else { return "none" }
            let tenths = Int((rate * 1000).rounded())
            return "\(tenths / 10).\(tenths % 10) %"
        }
        let troubles = [
            (loadsFailed, "failed"), (loadsAbsent, "absent"), (loadsRefused, "refused memory"),
            (loadsRetried, "retried"),
        ]
        let loads = troubles.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return shortfall + (loads.isEmpty ? "" : "loads: \(loads); ")
            + "hit rate \(percent(hitRate)) (pan \(percent(pan.hitRate)), zoom \(percent(zoom.hitRate))), "
            + "\(ByteCount.bytes(usedBytes)) of \(ByteCount.bytes(byteLimit)), waste \(percent(waste))"
    }

    private var shortfall: String {
        guard shortfallBytes > 0 else { return "" }
        let missing = shortfallBytes + bookkeepingBytes - byteLimit
        return "limit too small: one screen needs \(ByteCount.bytes(shortfallBytes)) of tiles"
            + (missing > 0 ? ", \(ByteCount.bytes(missing)) more than there is" : "") + "; "
    }
}
