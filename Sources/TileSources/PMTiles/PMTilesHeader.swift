/// Header of a PMTiles archive, version 3: 127 bytes, numbers from the lowest byte.
struct PMTilesHeader: Sendable {
    /// A part of the file.
    struct Section: Equatable, Sendable {
        var offset: Int
        var length: Int

        /// Bytes of the file that an entry names; `nil` if they are not within the section.
        func range(_ entry: PMTilesDirectory.Entry) -> Range<Int>? {
            let start = Int(clamping: entry.offset)
            guard entry.length > 0, start <= length, Int(entry.length) <= length - start else { return nil }
            return offset + start..<offset + start + Int(entry.length)
        }
    }

    /// Whether bytes are compressed; others are refused.
    enum Compression: UInt8, Sendable {
        /// What some writers state for images.
        case unknown = 0
        case none = 1
        case gzip = 2
    }

    static let byteCount = 127

    var root: Section
    var metadata: Section
    var leaves: Section
    var tiles: Section
    var internalCompression: Compression
    var tileCompression: Compression
    /// The kind of tiles that is stated, if it is not of images; some writers state it of images.
    var label: String?
    var zooms: ClosedRange<Int>
    /// Left, bottom, right and top, in degrees.
    var bounds: [Double]
    /// Zoom, longitude and latitude, in degrees.
    var center: (zoom: Int, longitude: Double, latitude: Double)

    /// Parses a header.
    ///
    /// - Parameter size: Bytes of the file.
    init(_ bytes: [UInt8], size: Int, path: String) throws(TileSourceError) {
        guard bytes.count >= 8, bytes[..<7].elementsEqual("PMTiles".utf8) else {
            throw TileSourceError(path, "a PMTiles archive was expected, which begins with \"PMTiles\"")
        }
        guard bytes[7] == 3 else { throw TileSourceError(path, "version 3 was expected, not \(bytes[7])") }
        guard bytes.count >= Self.byteCount else {
            throw TileSourceError(path, "a header of \(Self.byteCount) bytes was expected, not \(bytes.count)")
        }
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        func section(_ name: String, _ position: Int) throws(TileSourceError) -> Section {
            let (offset, length) = (number(position, 8), number(position + 8, 8))
            guard offset <= size, length <= UInt64(size) - offset else {
                throw TileSourceError(
                    path,
                    "its \(name) of \(length) bytes at \(offset) lie beyond the file's end at \(size)"
                )
            }
            return Section(offset: Int(offset), length: Int(length))
        }
        root = try section("root directory", 8)
        metadata = try section("metadata", 24)
        leaves = try section("leaf directories", 40)
        tiles = try section("tiles", 56)
        func compression(_ name: String, _ value: UInt8) throws(TileSourceError) -> Compression {
            if let known = Compression(rawValue: value) { return known }
            let names: [UInt8: String] = [3: "Brotli", 4: "Zstandard"]
            let found = names[value] ?? "\(value)"
            throw TileSourceError(path, "\(name) with gzip or without compression were expected, not \(found)")
        }
        internalCompression = try compression("directories", bytes[97])
        tileCompression = try compression("tiles", bytes[98])
        label = [1: "vector tiles (MVT)", 5: "AVIF images", 6: "vector tiles (MLT)"][bytes[99]]
        guard bytes[99] <= 4 || label != nil else {
            throw TileSourceError(path, "tiles of PNG, JPEG or WebP were expected, not the type \(bytes[99])")
        }
        let (first, last) = (Int(bytes[100]), Int(bytes[101]))
        guard first <= last, MapPyramid.zooms.contains(last) else {
            let most = MapPyramid.zooms.upperBound
            throw TileSourceError(path, "zooms of 0 to \(most) were expected, not \(first) to \(last)")
        }
        zooms = first...last
        func degrees(_ offset: Int) -> Double { Double(Int32(truncatingIfNeeded: number(offset, 4))) / 10_000_000 }
        bounds = [102, 106, 110, 114].map(degrees)
        center = (Int(bytes[118]), degrees(119), degrees(123))
    }
}
