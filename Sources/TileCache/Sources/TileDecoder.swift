/// A source whose own encoded bytes (JPEG, WebP, anything) may stand for a tile while it is cold.
///
/// A ``TileSource`` or ``BlockingTileSource`` that is a `TileDecoder`, too, hands the bytes over with
/// ``TilePixels/keepEncoded(_:)`` as it writes the pixels. They are kept where they are smaller than what the cache's own
/// compression makes of the tile, take its place, and are decoded again before the tile is next drawn.
public protocol TileDecoder: Sendable {
    /// Writes the pixels of a tile anew. Called on worker threads, several at a time, without any lock held.
    ///
    /// - Parameters:
    ///   - encoded: what was handed over for this tile, checked against damage; good within the call only.
    ///   - tile: which one.
    ///   - pixels: the cache's own memory; contents are undefined before.
    /// - Throws: ``TileFailure`` where the bytes cannot be decoded: the tile leaves the cache, is counted
    ///   (``TileCacheStatistics/TierCounts/undecodablePayloads``) and loaded again.
    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure)
}
