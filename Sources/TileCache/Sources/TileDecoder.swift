/// A source whose encoded bytes may be a tile's compressed form: JPEG, WebP, others.
///
/// A source that is also a `TileDecoder` passes the bytes with ``TilePixels/keepEncoded(_:)`` as it writes the pixels.
/// They replace the cache's own compression if they are smaller, and are decoded before the tile is next drawn.
public protocol TileDecoder: Sendable {
    /// Decodes the pixels of a tile. Called on worker threads, several at a time, without any lock held.
    ///
    /// - Parameters:
    ///   - encoded: The bytes passed for this tile, verified against damage and valid during the call only.
    ///   - tile: Position of the tile.
    ///   - pixels: The cache's memory, initially undefined.
    /// - Throws: ``TileFailure`` if the bytes cannot be decoded: the tile is evicted, counted
    ///   (``TileCacheStatistics/TierCounts/undecodablePayloads``) and loaded again.
    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure)
}
