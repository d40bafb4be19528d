import TileCache

/// One resolution of a TIFF: how its tiles are encoded, and where they are. Strips are tiles as wide as the image.
struct TIFFLevel: Sendable {
    /// How samples are encoded.
    struct Layout: Equatable, Sendable {
        var isLittle: Bool
        var bits: Int
        /// 1 for whole numbers, 3 for numbers with a point.
        var sampleFormat: Int
        var samples: Int
        var compression: Int
        var photometric: Int
        var predictor: Int
        var isPlanar: Bool
        /// Of the fourth sample: 0 nothing, 1 multiplied alpha, 2 alpha.
        var extra: Int
        /// Order of the bits in a byte of what is encoded: 1 the highest first, 2 the lowest first.
        var fillOrder: Int

        /// The fourth channel of decoded pixels. If the file has no alpha, all but those of a WebP are opaque already.
        var alpha: DecodedAlpha {
            if samples == 4, extra > 0 { return extra == 1 ? .multiplied : .straight }
            return compression == 50001 ? .unused : .straight
        }
    }

    var width: Int
    var height: Int
    /// World pixels for a pixel.
    private(set) var scale = 1.0
    /// Size with the pixels of which only a part lies in the world: the size may have been rounded down.
    private(set) var drawnWidth: Int
    private(set) var drawnHeight: Int
    var tileWidth: Int
    var tileHeight: Int
    var layout: Layout
    var tables: [UInt8]
    /// By plane, row and column.
    private var offsets: [UInt64]
    private var counts: [UInt32]

    static let tileSides = TileSourceOptions.tileSizes
    /// Maximum number of tiles of all levels; each takes 12 bytes.
    static let largestCount = 1 << 22
    /// Maximum bytes of a decoded tile before it is converted.
    static let largestTile = 64 << 20

    var columns: Int { (width - 1) / tileWidth + 1 }
    var rows: Int { (height - 1) / tileHeight + 1 }

    /// Whether tiles are files of their own, JPEG or WebP.
    var isOfImages: Bool { layout.compression == 7 || layout.compression == 50001 }

    /// The file of such a tile; that of a JPEG gets the directory's tables.
    func file(_ tile: RangeBytes) -> RangeBytes {
        guard layout.compression == 7 else { return tile }
        return .received(tile.withBytes { TIFFTile.joined($0, tables: tables, photometric: layout.photometric) })
    }

    /// Bytes in memory.
    var byteCount: Int { 12 * offsets.count + tables.count }

    /// Whether a directory has tiles.
    static func isTiled(_ directory: TIFFDirectory) -> Bool { directory.has(.tileWidth) && directory.has(.tileOffsets) }

    /// Reads the size of a directory's tiles alone.
    static func tileSize(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> (width: Int, height: Int) {
        let width = try directory.number(.tileWidth, 1...1 << 30, &bytes)
        return (width, try directory.number(.tileLength, 1...1 << 30, &bytes))
    }

    /// Reads a directory's size alone.
    static func size(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> (width: Int, height: Int) {
        let width = try directory.number(.imageWidth, 1...1 << 30, &bytes)
        return (width, try directory.number(.imageLength, 1...1 << 30, &bytes))
    }

    /// Reads and checks a directory with tiles or strips.
    ///
    /// - Parameter room: Tiles that may still be in memory.
    init(
        _ directory: TIFFDirectory,
        isLittle: Bool,
        room: Int,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) {
        let path = bytes.name
        (width, height) = try Self.size(directory, &bytes)
        (drawnWidth, drawnHeight) = (width, height)
        let isTiled = Self.isTiled(directory)
        if isTiled {
            tileWidth = try directory.number(.tileWidth, Self.tileSides, &bytes)
            tileHeight = try directory.number(.tileLength, Self.tileSides, &bytes)
        } else {
            let most = Int(UInt32.max)
            (tileWidth, tileHeight) = (
                width, min(try directory.number(.rowsPerStrip, 1...most, default: most, &bytes), height)
            )
        }
        layout = try Layout(directory, isLittle: isLittle, &bytes)
        tables = try directory.raw(.jpegTables, atMost: 1 << 16, &bytes) ?? []
        let (pixels, isHuge) = tileWidth.multipliedReportingOverflow(
            by: tileHeight * layout.samples * layout.bits / 8
        )
        guard !isHuge, pixels <= Self.largestTile else {
            let hint = isTiled ? "" : ": \(TIFFStrips.hint)"
            let kind = isTiled ? "tiles" : "strips"
            throw TileSourceError(path, "\(kind) of at most \(Self.largestTile) bytes were expected\(hint)")
        }
        let columns = (width - 1) / tileWidth + 1
        let (count, overflow) = (columns * ((height - 1) / tileHeight + 1)).multipliedReportingOverflow(
            by: layout.isPlanar ? layout.samples : 1
        )
        guard !overflow, count <= room else {
            throw TileSourceError(path, "at most \(Self.largestCount) tiles were expected, not \(count) of one level")
        }
        offsets = try directory.numbers(isTiled ? .tileOffsets : .stripOffsets, atMost: count, &bytes) ?? []
        let lengths = try directory.numbers(isTiled ? .tileByteCounts : .stripByteCounts, atMost: count, &bytes) ?? []
        counts = lengths.map { UInt32(clamping: $0) }
        guard offsets.count == count, counts.count == count else {
            throw TileSourceError(
                path,
                "\(count) \(isTiled ? "tiles" : "strips") were expected, not \(offsets.count) offsets and \(counts.count) byte counts"
            )
        }
    }

    /// Makes the level an overview of another.
    ///
    /// - Parameter isFilled: Whether its size is that of its tiles, which the last ones fill up.
    mutating func setScale(_ scale: Double, of world: TIFFLevel, isFilled: Bool) {
        self.scale = scale
        drawnWidth = Int((Double(world.width) / scale - 1e-6).rounded(.up))
        drawnHeight = Int((Double(world.height) / scale - 1e-6).rounded(.up))
        if isFilled { (width, height) = (drawnWidth, drawnHeight) }
    }

    /// Number of tiles, planes counted.
    var count: Int { offsets.count }

    /// Bytes of all tiles, and of the largest one.
    var encodedBytes: (all: Int, largest: Int) {
        (counts.reduce(0) { $0 + Int($1) }, counts.max().map { Int($0) } ?? 0)
    }

    /// Where a tile is, by plane; `nil` if it is absent. The range of a plane that is not in the file is empty.
    ///
    /// - Throws: If it lies beyond the file.
    func ranges(_ column: Int, _ row: Int, size: Int) throws(TileLoadFailure) -> [Range<Int>]? {
        var ranges: [Range<Int>] = []
        for plane in 0..<(layout.isPlanar ? layout.samples : 1) {
            let index = (plane * rows + row) * columns + column
            let (offset, count) = (offsets[index], Int(counts[index]))
            guard count > 0 else {
                ranges.append(0..<0)
                continue
            }
            guard offset <= size, count <= size - Int(offset) else {
                let message = "its \(count) bytes at \(offset) lie beyond the file's end at \(size)"
                throw TileLoadFailure(.undecodable, message)
            }
            ranges.append(Int(offset)..<Int(offset) + count)
        }
        return ranges.allSatisfy(\.isEmpty) ? nil : ranges
    }
}

extension TIFFLevel.Layout {
    static let names: [Int: String] = [
        2: "CCITT", 3: "CCITT fax 3", 4: "CCITT fax 4", 6: "old JPEG", 33003: "JPEG 2000", 33005: "JPEG 2000",
        34712: "JPEG 2000", 34887: "LERC", 34925: "LZMA", 50002: "JPEG XL", 52546: "JPEG XL",
    ]
    /// Colours that are refused, by their photometric interpretation.
    private static let colours: [Int: String] = [3: "a palette", 4: "a mask", 5: "CMYK", 6: "YCbCr", 8: "CIELab"]
    private static let known: Set<Int> = [1, 5, 7, 8, 32773, 32946, 50000, 50001]

    /// Reads how a directory's samples are encoded; refuses what cannot be drawn.
    fileprivate init(
        _ directory: TIFFDirectory,
        isLittle: Bool,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) {
        self.isLittle = isLittle
        (samples, bits, sampleFormat) = try Self.samples(directory, &bytes)
        compression = try Self.compression(directory, &bytes)
        photometric = try directory.number(.photometricInterpretation, 0...65_535, &bytes)
        isPlanar = try directory.number(.planarConfiguration, 1...2, default: 1, &bytes) == 2 && samples > 1
        predictor = try directory.number(.predictor, 1...3, default: 1, &bytes)
        // The last one is the fourth sample's, if there are more of them.
        extra = Int(clamping: try directory.numbers(.extraSamples, atMost: 16, &bytes)?.last ?? 0)
        // JPEG and WebP files are read as they are, whatever the directory says.
        let isImage = compression == 7 || compression == 50001
        fillOrder = try isImage ? 1 : directory.number(.fillOrder, 1...2, default: 1, &bytes)
        try checkColours(bytes.name, isImage: isImage)
    }

    private static func samples(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> (samples: Int, bits: Int, sampleFormat: Int) {
        let samples = try directory.number(.samplesPerPixel, 1...4, default: 1, &bytes)
        let bits = try directory.numbers(.bitsPerSample, atMost: 16, &bytes) ?? [1]
        let formats = try directory.numbers(.sampleFormat, atMost: 16, &bytes) ?? [1]
        guard samples != 2, let depth = bits.first, bits.allSatisfy({ $0 == depth }),
            let sampleFormat = formats.first, formats.allSatisfy({ $0 == sampleFormat }),
            [[8, 1], [16, 1], [32, 3], [64, 3]].contains([depth, sampleFormat == 4 ? 1 : sampleFormat])
        else {
            throw TileSourceError(
                bytes.name,
                "1, 3 or 4 samples of 8 or 16 bits, or of 32 or 64 with a point, were expected, not \(samples) of "
                    + "\(bits) bits in the format \(formats)"
            )
        }
        return (samples, Int(depth), sampleFormat == 3 ? 3 : 1)
    }

    private static func compression(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> Int {
        let compression = try directory.number(.compression, 1...65_535, default: 1, &bytes)
        guard known.contains(compression) else {
            let name = names[compression] ?? "\(compression)"
            throw TileSourceError(
                bytes.name,
                "compression by LZW, Deflate, Zstandard, PackBits, JPEG, WebP or none was expected, not \(name)"
            )
        }
        guard TIFFTile.knows(compression) else {
            throw TileSourceError(bytes.name, "this system's libtiff cannot decode the compression \(compression)")
        }
        return compression
    }

    /// - Parameter isImage: Whether tiles are JPEG or WebP.
    private func checkColours(_ path: String, isImage: Bool) throws(TileSourceError) {
        // What JPEG makes of YCbCr is red, green and blue. Three bands of unknown meaning, which GDAL writes unless they
        // have 8 bits, are drawn as such, too.
        let isColour = samples > 1 && ([1, 2].contains(photometric) || photometric == 6 && compression == 7)
        guard isColour || samples == 1 && (photometric == 1 || photometric == 0 && !isImage) else {
            let name = Self.colours[photometric].map { "\($0), " } ?? ""
            throw TileSourceError(
                path,
                "grey, red, green and blue, or YCbCr as JPEG were expected, not \(name)the photometric interpretation "
                    + "\(photometric) with \(samples) samples"
            )
        }
        guard !isImage || bits == 8 && !isPlanar && (samples < 4 || compression != 7) else {
            throw TileSourceError(
                path,
                "JPEG of 1 or 3 samples, or WebP, was expected, with 8 bits and all samples in one tile, not \(samples) "
                    + "samples of \(bits) bits\(isPlanar ? " in planes" : "")"
            )
        }
    }
}
