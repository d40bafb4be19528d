import TileCache

/// Pixels of a stress tile. Every word has its identity and version, so that no wrong word is missed.
///
/// A third of a world's tiles has one colour, a third compresses well and a third hardly, which covers all paths
/// through the tiers.
struct StressTile: Hashable, Sendable {
    var layer: Int
    var tile: TileCoordinate
    /// Number of changes of the layer when the source read it, from 1.
    var version: UInt32

    enum Style: Sendable {
        case solid
        case plain
        case noisy
    }

    enum Found: Hashable, Sendable {
        /// Exactly what the source writes for the tile at this version.
        case version(UInt32)
        /// Other contents, in words.
        case wrong(String)
    }

    private static let magic: UInt64 = 0x5354 << 48
    private static let step: UInt32 = 0x9E37_79B1
    /// `step * inverse == 1`.
    private static let inverse: UInt32 = {
        var inverse: UInt32 = step
        for _ in 0..<5 { inverse = inverse &* (2 &- step &* inverse) }
        return inverse
    }()
    /// Maximum version; a larger one is poison or another tile's.
    static let maximumVersion: UInt32 = 1 << 24

    /// The same for every version of a tile.
    private static func name(_ layer: Int, _ tile: TileCoordinate) -> UInt64 {
        let place = UInt64(truncatingIfNeeded: tile.column) << 24 ^ UInt64(truncatingIfNeeded: tile.row)
        return SplitMix64.mixed(UInt64(truncatingIfNeeded: layer) << 56 ^ UInt64(tile.level) << 48 ^ place)
    }

    static func style(layer: Int, _ tile: TileCoordinate) -> Style {
        switch name(layer, tile) % 3 {
        case 0: .solid
        case 1: .plain
        default: .noisy
        }
    }

    var colour: UInt32 { UInt32(truncatingIfNeeded: Self.name(layer, tile)) ^ version &* Self.step }

    /// Version of a colour; `nil` if it is not a colour of this tile.
    static func version(ofColour colour: UInt32, layer: Int, _ tile: TileCoordinate) -> UInt32? {
        let version = (colour ^ UInt32(truncatingIfNeeded: name(layer, tile))) &* inverse
        return version > 0 && version <= maximumVersion ? version : nil
    }

    /// Writes the pixels; `bytes` is a multiple of 8 and at least 24.
    func write(_ bytes: UnsafeMutableRawBufferPointer, style: Style) {
        if style == .solid {
            for offset in stride(from: 0, to: bytes.count - 3, by: 4) {
                bytes.storeBytes(of: colour, toByteOffset: offset, as: UInt32.self)
            }
            return
        }
        for index in 0..<bytes.count / 8 {
            bytes.storeBytes(of: word(index, style: style), toByteOffset: index * 8, as: UInt64.self)
        }
    }

    private func word(_ index: Int, style: Style) -> UInt64 {
        switch index {
        case 0: return Self.magic | UInt64(layer & 0xFF) << 8 | UInt64(tile.level & 0xFF)
        case 1: return UInt64(truncatingIfNeeded: tile.column) << 32 | UInt64(truncatingIfNeeded: tile.row)
        case 2: return UInt64(version)
        default:
            let isNoise = style == .noisy || index >> 7 & 7 == 3
            let place = UInt64(isNoise ? index : index & 7)
            return SplitMix64.mixed(Self.name(layer, tile) &+ UInt64(version) << 32 &+ place)
        }
    }

    static func read(
        _ bytes: UnsafeRawBufferPointer,
        layer: Int,
        _ tile: TileCoordinate,
        style: Style
    ) -> Found {
        guard bytes.count >= 24 else { return .wrong("\(bytes.count) bytes are no tile") }
        if style == .solid { return readSolid(bytes, layer: layer, tile) }
        let expected = StressTile(layer: layer, tile: tile, version: 0)
        let head = bytes.loadUnaligned(as: UInt64.self)
        let place = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        guard head == expected.word(0, style: style), place == expected.word(1, style: style) else {
            guard head & 0xFFFF << 48 == magic else {
                return .wrong("the first bytes are \(String(head, radix: 16)), which no source wrote there")
            }
            return .wrong(
                "the pixels are those of tile \(head & 0xFF)/\(place >> 32)/\(place & 0xFFFF_FFFF) "
                    + "of layer \(head >> 8 & 0xFF)"
            )
        }
        let version = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        guard version > 0, version <= maximumVersion else { return .wrong("the version is \(version): poison") }
        let written = StressTile(layer: layer, tile: tile, version: UInt32(version))
        for index in 3..<bytes.count / 8 {
            let word = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
            if word != written.word(index, style: style) {
                return .wrong(
                    "from byte \(index * 8) on the pixels are not what the source wrote as version \(version)"
                )
            }
        }
        return .version(written.version)
    }

    private static func readSolid(_ bytes: UnsafeRawBufferPointer, layer: Int, _ tile: TileCoordinate) -> Found {
        let colour = bytes.loadUnaligned(as: UInt32.self)
        guard let version = version(ofColour: colour, layer: layer, tile) else {
            return .wrong("the colour \(String(colour, radix: 16)) is none of this tile's")
        }
        for offset in stride(from: 4, to: bytes.count - 3, by: 4)
        where bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) != colour {
            return .wrong("from byte \(offset) on the colour is not that of version \(version)")
        }
        return .version(version)
    }

    /// Digest of the bytes, which changes almost certainly if any byte does.
    static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var digest: UInt64 = UInt64(bytes.count)
        for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
            digest = (digest ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            digest ^= digest >> 29
        }
        return digest
    }
}
