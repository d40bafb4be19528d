public import TileCache

/// Functions of the keys for the memory limit.
public enum MemoryKeys {
    /// Minimum limit that keys can set: a few tiles.
    public static let least = 4 << 20
    /// Maximum limit that keys can set.
    public static let most = 4 << 30

    /// Returns the limit after a key: halved or doubled.
    ///
    /// - Parameter octaves: -1 or 1.
    public static func limit(_ limit: ByteCount, octaves: Int) -> ByteCount {
        if octaves < 0 { return .bytes(max(limit.bytes / 2, min(least, limit.bytes))) }
        return .bytes(limit.bytes >= most / 2 ? max(most, limit.bytes) : limit.bytes * 2)
    }

    /// Number of the coarsest levels to pin, so that a fallback always exists. They take at most an eighth of the
    /// limit; 0 if no level fits that.
    public static func pinnedLevels(of pyramid: TilePyramid, options: LayerOptions, limit: ByteCount) -> Int {
        var bytes = 0
        for (number, level) in pyramid.levels.enumerated() {
            guard
                let tile = options.format.byteCount(width: level.pixelWidth, height: level.pixelHeight),
                level.columns <= 64, level.rows <= 64
            else { return number }
            bytes += tile * level.columns * level.rows
            if bytes > limit.bytes / 8 { return number }
        }
        return pyramid.levels.count
    }
}
