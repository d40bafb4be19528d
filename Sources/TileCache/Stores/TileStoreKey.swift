/// Format and size of a tile's pixels.
///
/// An entry of a store is used only if it has the shape of the look-up.
public struct TileStoreShape: Hashable, Sendable {
    /// Pixel format.
    public var format: TilePixelFormat
    /// Meaning of alpha.
    public var alpha: TileAlphaMode
    /// Pixels a row, border included, 1 or more.
    public var width: Int
    /// Rows, border included, 1 or more.
    public var height: Int

    /// Creates a shape without checking it.
    public init(format: TilePixelFormat, alpha: TileAlphaMode, width: Int, height: Int) {
        self.format = format
        self.alpha = alpha
        self.width = width
        self.height = height
    }

    /// Bytes of the decoded pixels; `nil` if a side is out of range.
    ///
    /// A side has 1 to 2^32 - 1 pixels, and the bytes must fit an `Int`.
    package var byteCount: Int? {
        guard width <= UInt32.max, height <= UInt32.max else { return nil }
        return format.byteCount(width: width, height: height)
    }

    /// Bytes of a payload at most: 64 MiB, or twice those of the pixels if that is more. A forged entry may be larger.
    package var largestPayload: Int { max(64 << 20, (byteCount ?? 0).multipliedReportingOverflow(by: 2).partialValue) }
}

/// Fingerprint of a data set and of the settings that affect its pixels.
///
/// Two layers with equal namespaces may use each other's entries. The fingerprint is SipHash-2-4 with 128 bits and a
/// fixed key, over all strings with their lengths; equal fingerprints of different data sets are not expected.
public struct TileStoreNamespace: Hashable, Sendable, CustomStringConvertible {
    /// The first 64 bits of the fingerprint.
    public let high: UInt64
    /// The last 64 bits of the fingerprint.
    public let low: UInt64

    /// Takes a fingerprint made before.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes the fingerprint of a data set.
    ///
    /// - Parameters:
    ///   - dataSet: What identifies the data: path, size and modification time of a file, or a server's URL template.
    ///     The order counts.
    ///   - shape: Format, alpha and size of the tiles.
    ///   - settings: Further settings that affect pixels: border, downsampling, a style. The order counts.
    ///     Default: none.
    public init(dataSet: [String], shape: TileStoreShape, settings: [String] = []) {
        var bytes: [UInt8] = []
        func add(_ number: UInt64) {
            for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
        }
        func add(_ strings: [String]) {
            add(UInt64(strings.count))
            for string in strings {
                add(UInt64(string.utf8.count))
                bytes.append(contentsOf: string.utf8)
            }
        }
        add(dataSet)
        add(UInt64(shape.format.code))
        add(UInt64(shape.alpha.storeCode))
        add(UInt64(bitPattern: Int64(shape.format.opaqueByteCount)))
        add(UInt64(bitPattern: Int64(shape.width)))
        add(UInt64(bitPattern: Int64(shape.height)))
        add(settings)
        (high, low) = SipHash128.hash(bytes)
    }

    /// 32 hexadecimal digits.
    public var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Name of an entry in a store: a namespace and a tile.
public struct TileStoreKey: Hashable, Sendable {
    /// The data set and its settings.
    public var namespace: TileStoreNamespace
    /// The tile. Levels are 0 ... 255, columns and rows 0 or more; no store has entries of other tiles.
    public var tile: TileCoordinate

    /// Creates a key without checking it.
    public init(namespace: TileStoreNamespace, tile: TileCoordinate) {
        self.namespace = namespace
        self.tile = tile
    }

    package var isValid: Bool { tile.level >> 8 == 0 && tile.column >= 0 && tile.row >= 0 }

    /// A number of 64 bits by which stores look entries up.
    ///
    /// Tiles of a block of 8 x 8 have adjacent numbers, so that tiles that are loaded together are stored together.
    /// Different keys may have equal numbers; an entry has the whole key.
    package var clusteredHash: UInt64 {
        let place = UInt64(truncatingIfNeeded: tile.row & 7) << 3 | UInt64(truncatingIfNeeded: tile.column & 7)
        var hash = SipHash128()
        hash.add(namespace.high)
        hash.add(namespace.low)
        hash.add(UInt64(truncatingIfNeeded: tile.level))
        hash.add(UInt64(truncatingIfNeeded: tile.column >> 3))
        hash.add(UInt64(truncatingIfNeeded: tile.row >> 3))
        hash.add(40 << 56)
        return hash.finish().0 & ~63 | place
    }
}

extension TileAlphaMode {
    /// Number of the mode in entries and fingerprints; never changed.
    var storeCode: UInt8 {
        switch self {
        case .straight: 1
        case .premultiplied: 2
        case .ignored: 3
        }
    }

    init?(storeCode: UInt8) {
        switch storeCode {
        case 1: self = .straight
        case 2: self = .premultiplied
        case 3: self = .ignored
        default: return nil
        }
    }
}
