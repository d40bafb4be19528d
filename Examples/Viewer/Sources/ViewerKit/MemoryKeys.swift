public import TileCache

/// What the keys for the memory limit do.
public enum MemoryKeys {
    /// The least that keys lower the limit to: a handful of tiles.
    public static let least = 4 << 20
    /// The most that they raise it to.
    public static let most = 4 << 30

    /// The limit after a key: half of it, or twice as much.
    ///
    /// - Parameter octaves: -1 or 1.
    public static func limit(_ limit: ByteCount, octaves: Int) -> ByteCount {
        if octaves < 0 { return .bytes(max(limit.bytes / 2, min(least, limit.bytes))) }
        return .bytes(limit.bytes >= most / 2 ? max(most, limit.bytes) : limit.bytes * 2)
    }

    /// How many of the coarsest levels are worth pinning, so that there is always something to draw: those that take an
    /// eighth of the limit at most; 0 where not even one does.
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
