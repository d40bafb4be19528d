import CTileKernels

/// What the payload of an entry is.
public enum TileStorePayload: UInt8, Hashable, Sendable, CaseIterable {
    /// The tile does not exist; there are no bytes.
    case absent = 1
    /// Pixels, rows packed.
    case pixels = 2
    /// A block of the library's own compression, with its header.
    case block = 3
    /// Eight bytes whose repetition is the tile.
    case solid = 4
    /// The source's own encoded bytes, which its decoder turns into the pixels.
    case encoded = 5
}

/// Entry of a store: a header that describes it, and a payload.
///
/// The encoded form is the header followed by the payload; stores may keep the two in different places. All numbers are
/// little-endian.
///
/// | bytes | meaning |
/// | --- | --- |
/// | 0 ..< 4 | "TCSE" |
/// | 4 ..< 6 | version, 1 |
/// | 6 | payload: 1 absent, 2 pixels, 3 block, 4 solid, 5 encoded |
/// | 7 | pixel format: 1 rgba8, 2 bgra8, 3 gray8, 4 gray16, 5 rgba16, 6 float32, 7 opaque |
/// | 8 | alpha: 1 straight, 2 premultiplied, 3 ignored |
/// | 9 | level |
/// | 10 ..< 12 | bytes of the ETag, at most 512; 0 if there is none |
/// | 12 ..< 14 | bytes of Last-Modified, at most 512; 0 if there is none |
/// | 14 ..< 16 | 0 |
/// | 16 ..< 20 | width in pixels |
/// | 20 ..< 24 | height in pixels |
/// | 24 ..< 32 | bytes of an opaque tile, else 0 |
/// | 32 ..< 48 | namespace, the high word first |
/// | 48 ..< 56 | column |
/// | 56 ..< 64 | row |
/// | 64 ..< 72 | generation |
/// | 72 ..< 80 | stored, seconds since 1970 |
/// | 80 ..< 88 | expires, seconds since 1970; the largest number if never |
/// | 88 ..< 96 | usable until, seconds since 1970; the largest number if not given |
/// | 96 ..< 104 | bytes of the payload |
/// | 104 ..< 112 | checksum of the payload |
/// | 112 ..< 120 | checksum of bytes 0 ..< 112 and of all after byte 120 of the header |
/// | 120 ... | ETag, then Last-Modified, UTF-8 |
public struct TileStoreEntry {
    /// The version that this library writes, and the latest that it reads.
    package static let version: UInt16 = 1

    static let fixedByteCount = 120
    private static let magic: UInt32 = 0x4553_4354

    /// Name of the entry.
    public var key: TileStoreKey
    /// Format and size of the tile.
    public var shape: TileStoreShape
    /// Generation of the namespace when the tile was requested.
    public var generation: UInt64
    /// When the entry was stored and until when it is valid.
    public var freshness: TileStoreFreshness
    /// What the payload is.
    public var kind: TileStorePayload
    /// The bytes, in memory of another owner.
    public var payload: UnsafeRawBufferPointer

    /// Creates an entry without checking it: ``encoded()`` does.
    public init(
        key: TileStoreKey,
        shape: TileStoreShape,
        generation: UInt64,
        freshness: TileStoreFreshness,
        kind: TileStorePayload,
        payload: UnsafeRawBufferPointer
    ) {
        self.key = key
        self.shape = shape
        self.generation = generation
        self.freshness = freshness
        self.kind = kind
        self.payload = payload
    }

    /// Checksum of the payload, as the header has it.
    package var payloadChecksum: UInt64 { Self.checksum(payload, seed: 0) }

    /// Returns the header; `nil` as for ``encoded()``.
    package func encodedHeader() -> [UInt8]? {
        encodedHeader(payloadByteCount: payload.count, checksum: payloadChecksum)
    }

    /// Returns the header for a payload that is elsewhere.
    package func encodedHeader(payloadByteCount: Int, checksum: UInt64) -> [UInt8]? {
        guard key.isValid, kind.accepts(payloadByteCount, shape) else { return nil }
        let tag = Self.validator(freshness.entityTag)
        let modified = Self.validator(freshness.lastModified)
        var header: [UInt8] = []
        header.reserveCapacity(Self.fixedByteCount + tag.count + modified.count)
        func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.littleEndian) { header += $0 } }
        add(Self.magic)
        add(Self.version)
        add(kind.rawValue)
        add(shape.format.code)
        add(shape.alpha.storeCode)
        add(UInt8(truncatingIfNeeded: key.tile.level))
        add(UInt16(tag.count))
        add(UInt16(modified.count))
        add(UInt16(0))
        add(UInt32(shape.width))
        add(UInt32(shape.height))
        add(Int64(shape.format.opaqueByteCount))
        add(key.namespace.high)
        add(key.namespace.low)
        add(Int64(key.tile.column))
        add(Int64(key.tile.row))
        add(generation)
        add(freshness.stored)
        add(freshness.expires ?? .max)
        // The largest number stands for `nil`, which means `expires`. A time of for ever is written as one less.
        add(freshness.usableUntil.map { min($0, Int64.max - 1) } ?? .max)
        add(Int64(payloadByteCount))
        add(checksum)
        add(UInt64(0))
        header += tag
        header += modified
        let sum = header.withUnsafeBytes { Self.headerChecksum($0) }
        withUnsafeBytes(of: sum.littleEndian) { header.replaceSubrange(112..<120, with: $0) }
        return header
    }

    /// Returns the whole entry, header and payload; `nil` if a field is out of range.
    ///
    /// Checked are the key, the shape and the size of the payload for its kind. Every generation is valid.
    public func encoded() -> [UInt8]? {
        guard var bytes = encodedHeader() else { return nil }
        bytes += payload
        return bytes
    }

    /// Reads an entry from its encoded form, in one piece.
    ///
    /// - Throws: Why the entry cannot be used.
    public init(
        decoding bytes: UnsafeRawBufferPointer,
        key: TileStoreKey,
        shape: TileStoreShape,
        minimumGeneration: UInt64
    ) throws(TileStoreMiss) {
        let header = UnsafeRawBufferPointer(rebasing: bytes[..<min(try Self.headerByteCount(bytes), bytes.count)])
        try self.init(
            header: header,
            payload: UnsafeRawBufferPointer(rebasing: bytes[header.count...]),
            key: key,
            shape: shape,
            minimumGeneration: minimumGeneration
        )
    }

    /// Reads an entry whose header and payload are in different places.
    ///
    /// - Throws: Why the entry cannot be used.
    public init(
        header: UnsafeRawBufferPointer,
        payload: UnsafeRawBufferPointer,
        key: TileStoreKey,
        shape: TileStoreShape,
        minimumGeneration: UInt64
    ) throws(TileStoreMiss) {
        let (entry, byteCount, sum) = try Self.read(header: header)
        guard entry.key == key else { throw .foreignKey }
        guard entry.shape == shape else { throw .wrongShape }
        guard entry.generation >= minimumGeneration else { throw .oldGeneration }
        guard payload.count >= byteCount else { throw .truncated }
        guard payload.count == byteCount, Self.checksum(payload, seed: 0) == sum else { throw .corrupt }
        self = entry
        self.payload = payload
    }

    /// Reads a header alone, and what it states about the payload. The payload of the result is empty.
    package static func read(
        header: UnsafeRawBufferPointer
    ) throws(TileStoreMiss) -> (entry: TileStoreEntry, payloadByteCount: Int, payloadChecksum: UInt64) {
        let byteCount = try headerByteCount(header)
        guard header.count >= byteCount else { throw .truncated }
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type = Number.self) -> Number {
            Number(littleEndian: header.loadUnaligned(fromByteOffset: offset, as: Number.self))
        }
        guard header.count == byteCount, headerChecksum(header) == number(112, UInt64.self) else { throw .corrupt }
        // What follows was written by a library, if a checksum of 64 bits is to be trusted; it is checked all the same.
        guard let kind = TileStorePayload(rawValue: header[6]), let alpha = TileAlphaMode(storeCode: header[8]),
            number(14, UInt16.self) == 0,
            let opaque = Int(exactly: number(24, Int64.self)),
            let format = TilePixelFormat(code: header[7], opaqueByteCount: opaque),
            let column = Int(exactly: number(48, Int64.self)), column >= 0,
            let row = Int(exactly: number(56, Int64.self)), row >= 0,
            let payloadByteCount = Int(exactly: number(96, Int64.self))
        else { throw .corrupt }
        let shape = TileStoreShape(
            format: format,
            alpha: alpha,
            width: Int(number(16, UInt32.self)),
            height: Int(number(20, UInt32.self))
        )
        guard kind.accepts(payloadByteCount, shape) else { throw .corrupt }
        let tagEnd = fixedByteCount + Int(number(10, UInt16.self))
        func time(_ offset: Int) -> Int64? {
            let seconds: Int64 = number(offset)
            return seconds == .max ? nil : seconds
        }
        func text(_ range: Range<Int>) -> String? {
            range.isEmpty ? nil : String(decoding: header[range], as: UTF8.self)
        }
        let entry = TileStoreEntry(
            key: TileStoreKey(
                namespace: TileStoreNamespace(high: number(32), low: number(40)),
                tile: TileCoordinate(level: Int(header[9]), column: column, row: row)
            ),
            shape: shape,
            generation: number(64),
            freshness: TileStoreFreshness(
                stored: number(72),
                expires: time(80),
                usableUntil: time(88),
                entityTag: text(fixedByteCount..<tagEnd),
                lastModified: text(tagEnd..<byteCount)
            ),
            kind: kind,
            payload: UnsafeRawBufferPointer(start: nil, count: 0)
        )
        return (entry, payloadByteCount, number(104))
    }

    /// Bytes of the header at the beginning of some bytes, which may be shorter.
    package static func headerByteCount(_ bytes: UnsafeRawBufferPointer) throws(TileStoreMiss) -> Int {
        guard bytes.count >= fixedByteCount else { throw .truncated }
        func word(_ offset: Int) -> UInt16 {
            UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        }
        guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == magic else { throw .corrupt }
        guard word(4) <= version else { throw .newerVersion }
        let (tag, modified) = (Int(word(10)), Int(word(12)))
        let longest = TileStoreFreshness.longestValidator
        guard word(4) == version, tag <= longest, modified <= longest else { throw .corrupt }
        return fixedByteCount + tag + modified
    }

    private static func validator(_ text: String?) -> [UInt8] {
        guard let text, TileStoreFreshness.isKept(text) else { return [] }
        return Array(text.utf8)
    }

    private static func headerChecksum(_ header: UnsafeRawBufferPointer) -> UInt64 {
        let fixed = checksum(UnsafeRawBufferPointer(rebasing: header[..<112]), seed: 0)
        return checksum(UnsafeRawBufferPointer(rebasing: header[fixedByteCount...]), seed: fixed)
    }

    /// The seed is mixed first: a payload of zeros has a checksum other than 0.
    private static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return tk_checksum(tk_path_automatic, start, bytes.count, seed ^ 0x5443_5345_0000_0001)
    }
}

extension TileStorePayload {
    /// Whether a payload of this kind may have some number of bytes.
    fileprivate func accepts(_ byteCount: Int, _ shape: TileStoreShape) -> Bool {
        guard let pixels = shape.byteCount else { return false }
        return switch self {
        case .absent: byteCount == 0
        case .pixels: byteCount == pixels
        case .solid: byteCount == 8
        case .block, .encoded: byteCount > 0 && byteCount <= shape.largestPayload
        }
    }
}
