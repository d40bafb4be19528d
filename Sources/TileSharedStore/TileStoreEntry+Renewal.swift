import TileCache

extension TileStoreEntry {
    /// Encodes an entry with another freshness; `nil` if it is not of the key.
    static func renewed(
        _ bytes: UnsafeRawBufferPointer,
        key: TileStoreKey,
        _ freshness: TileStoreFreshness
    ) -> [UInt8]? {
        guard let headerCount = try? headerByteCount(bytes), headerCount <= bytes.count,
            let shape = try? read(header: UnsafeRawBufferPointer(rebasing: bytes[..<headerCount])).entry.shape,
            var entry = try? TileStoreEntry(decoding: bytes, key: key, shape: shape, minimumGeneration: 0)
        else { return nil }
        entry.freshness = freshness
        return entry.encoded()
    }
}
