import Foundation
import PanTraces
import TileCache

/// Hits on tiles of the built-in session, against an `NSCache` of the same limit.
///
/// Nothing is prefetched and loads are instant, so that only retention differs. A demand is a tile that a frame needs
/// and the previous frame did not, without the first frame. Each cache receives every needed tile of every frame, and
/// all tiles have the same cost.
///
/// On Linux an `NSCache` evicts the entry of least cost and, at equal cost, the newest one: once it is full it accepts
/// no other tile, and hits only if a session returns to its start. Apple's implementation is better.
package struct TraceHits: Encodable, Sendable, Hashable {
    package var demands: Int
    /// Limit of each cache, in bytes: for the `NSCache` the sum of the tiles' bytes.
    package var byteLimit: Int
    package var compressionRatio: Double
    /// Demands whose tile was decoded or compressed.
    package var hits: Int
    /// Hits over demands; `null` if there are none.
    @Nullable package var hitRate: Double?
    package var decodedOnlyHits: Int
    /// Hits without the compressed tier over demands.
    @Nullable package var decodedOnlyHitRate: Double?
    package var nsCacheHits: Int
    /// Hits of the `NSCache` over demands.
    @Nullable package var nsCacheHitRate: Double?

    /// Replays the session with all three; measure the compression ratio on tiles like the renderer's.
    package static func measure(
        byteLimit: Int = 32 << 20,
        compressionRatio: Double,
        duration: Int64? = nil
    ) throws -> TraceHits {
        var options = ReplayOptions()
        options.memoryLimit = .bytes(byteLimit)
        options.prefetch = .none
        options.loadLatency = 0
        options.duration = duration
        options.compressionRatio = min(max(compressionRatio, 1), 1000)
        let both = try replayedHits(options)
        options.compressedTier = false
        let decodedOnly = try replayedHits(options)
        let accesses = try self.accesses(duration: duration)
        let nsCacheHits = self.nsCacheHits(on: accesses, byteLimit: byteLimit)
        let counted = accesses.count { $0.isDemand }
        func rate(_ hits: Int) -> Double? { counted == 0 ? nil : Double(hits) / Double(counted) }
        return TraceHits(
            demands: counted,
            byteLimit: byteLimit,
            compressionRatio: options.compressionRatio,
            hits: both,
            hitRate: rate(both),
            decodedOnlyHits: decodedOnly,
            decodedOnlyHitRate: rate(decodedOnly),
            nsCacheHits: nsCacheHits,
            nsCacheHitRate: rate(nsCacheHits)
        )
    }

    private static func replayedHits(_ options: ReplayOptions) throws -> Int {
        let demands = try Replay(options).run(ReplayInput(builtIn: options)).total.demands
        return demands.decodedHits + demands.compressedHits
    }

    struct Access {
        var tile: TileCoordinate
        /// Whether the previous frame existed and did not need it.
        var isDemand: Bool
    }

    /// Every needed tile of every frame, row by row. A renderer looks all of them up in each frame, and recency depends
    /// on it.
    static func accesses(duration: Int64? = nil) throws -> [Access] {
        var options = ReplayOptions()
        options.duration = duration
        var needed = try NeededTiles(ReplayInput(builtIn: options), options: options)
        var accesses: [Access] = []
        var before: Set<TileCoordinate>?
        while try needed.advance() {
            accesses += needed.tiles.map { Access(tile: $0, isDemand: !(before?.contains($0) ?? true)) }
            before = Set(needed.tiles)
        }
        return accesses
    }

    private static func nsCacheHits(on accesses: [Access], byteLimit: Int) -> Int {
        final class Key: NSObject {
            let tile: TileCoordinate
            init(_ tile: TileCoordinate) { self.tile = tile }
            override var hash: Int { tile.hashValue }
            override func isEqual(_ object: Any?) -> Bool { (object as? Key)?.tile == tile }
        }
        let cache = NSCache<Key, NSNumber>()
        cache.totalCostLimit = byteLimit
        // On Linux the entries retain each other; only emptying the cache releases them.
        defer { cache.removeAllObjects() }
        var hits = 0
        for access in accesses {
            let key = Key(access.tile)
            if cache.object(forKey: key) != nil {
                if access.isDemand { hits += 1 }
            } else {
                cache.setObject(1, forKey: key, cost: tileBytes)
            }
        }
        return hits
    }

    static let tileBytes = 256 * 256 * 4
}
