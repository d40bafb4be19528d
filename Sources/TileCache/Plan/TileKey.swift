/// Layer and coordinate of a tile, packed into two words for fast hashing and comparison.
///
/// 16 bits of layer, 8 of level, 40 of column; 64 of row. ``TilePyramid/maximumGridSide`` keeps columns within 40 bits.
package struct TileKey: Hashable, Sendable {
    /// Maximum number of layers.
    static let layerLimit = 1 << 16

    var high: UInt64
    var low: UInt64

    package init(layer: Int, _ tile: TileCoordinate) {
        high =
            UInt64(truncatingIfNeeded: layer) << 48 | UInt64(truncatingIfNeeded: tile.level & 0xFF) << 40
            | UInt64(truncatingIfNeeded: tile.column) & 0xFF_FFFF_FFFF
        low = UInt64(truncatingIfNeeded: tile.row)
    }

    /// Checks untrusted numbers; `nil` if they do not fit a key, which no tile has.
    init?(exactly layer: Int, _ tile: TileCoordinate) {
        guard layer >> 16 == 0, tile.level >> 8 == 0, tile.column >> 40 == 0, tile.row >= 0 else { return nil }
        self.init(layer: layer, tile)
    }

    package var layer: Int { Int(high >> 48) }
    var level: Int { Int(high >> 40 & 0xFF) }

    package var coordinate: TileCoordinate {
        TileCoordinate(level: level, column: Int(high & 0xFF_FFFF_FFFF), row: Int(truncatingIfNeeded: low))
    }

    /// 64-bit hash of both words, with the finalizer of MurmurHash3.
    var hash: UInt64 {
        var x = high &* 0x9E37_79B9_7F4A_7C15 ^ low &* 0xC2B2_AE3D_27D4_EB4F
        x ^= x >> 33
        x = x &* 0xFF51_AFD7_ED55_8CCD
        x ^= x >> 33
        return x
    }
}
