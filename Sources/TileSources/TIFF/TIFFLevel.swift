import TileCache

/// One resolution of a TIFF: how its tiles are encoded, and where they are. Strips are tiles as wide as the image.
struct TIFFLevel: Sendable {
    var width: Int
    var height: Int
    /// World pixels for a pixel.
    private(set) var scale = 1.0
    /// Size with the pixels of which only a part lies in the world: the size may have been rounded down.
    private(set) var drawnWidth: Int
    private(set) var drawnHeight: Int
    var tileWidth: Int
    var tileHeight: Int
    /// Whether it has tiles, and no strips.
    let isTiled: Bool
    var layout: TIFFLayout
    var tables: [UInt8]
    /// Colours of the codes of a palette: all reds, greens and blues. Otherwise empty.
    let palette: [UInt8]
    /// The numbers that are black and white, if they are not the format's own.
    var range: TIFFRange?
    /// The number of samples without data.
    var noData: Double?
    /// The level whose tiles mark the pixels of this one's, of the same size; empty if there is none.
    private(set) var mask: [TIFFLevel] = []
    /// Whether its tiles are in a file of overviews beside the picture's.
    var isBeside = false
    /// By plane, row and column.
    private var offsets: [UInt64] = []
    private var counts: [UInt32] = []
    /// The tables of those that are too many to be in memory.
    private var far: TIFFFarTables?

    static let tileSides = TileSourceOptions.tileSizes
    /// Maximum number of tiles of all levels whose places are in memory; each takes 12 bytes.
    static let largestCount = 1 << 22
    /// Maximum bytes of a decoded tile before it is converted.
    static let largestTile = 64 << 20

    var columns: Int { (width - 1) / tileWidth + 1 }
    var rows: Int { (height - 1) / tileHeight + 1 }

    /// Whether tiles are files of their own, JPEG or WebP.
    var isOfImages: Bool { layout.isOfImages }

    /// The file of such a tile; that of a JPEG gets the directory's tables.
    func file(_ tile: RangeBytes) -> RangeBytes {
        guard layout.compression == 7 else { return tile }
        return .received(tile.withBytes { TIFFTile.joined($0, tables: tables, photometric: layout.photometric) })
    }

    /// Bytes in memory.
    var byteCount: Int {
        let own = layout.own.reduce(12 * offsets.count + tables.count + palette.count) { $0 + $1.data.count }
        return mask.reduce(own + (far?.byteCount ?? 0)) { $0 + $1.byteCount }
    }

    /// Whether a directory has tiles. Some writers state their places as those of strips.
    static func isTiled(_ directory: TIFFDirectory) -> Bool {
        directory.has(.tileWidth) && (directory.has(.tileOffsets) || directory.has(.stripOffsets))
    }

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
    /// - Parameters:
    ///   - bands: Numbers of the samples that are drawn; empty for those that the directory states.
    ///   - isMask: Whether it marks the pixels of another picture.
    ///   - room: Tiles whose places may still be in memory. Those of more are read with the tiles.
    init(
        _ directory: TIFFDirectory,
        _ format: TIFFFormat,
        bands: [Int] = [],
        isMask: Bool = false,
        room: Int = largestCount,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) {
        let path = bytes.name
        (width, height) = try Self.size(directory, &bytes)
        (drawnWidth, drawnHeight) = (width, height)
        isTiled = Self.isTiled(directory)
        if isTiled {
            tileWidth = try directory.number(.tileWidth, Self.tileSides, &bytes)
            tileHeight = try directory.number(.tileLength, Self.tileSides, &bytes)
        } else {
            let most = Int(UInt32.max)
            (tileWidth, tileHeight) = (
                width, min(try directory.number(.rowsPerStrip, 1...most, default: most, &bytes), height)
            )
        }
        layout = try TIFFLayout(directory, isLittle: format.isLittle, bands: bands, isMask: isMask, &bytes)
        tables = try directory.raw(.jpegTables, atMost: 1 << 16, &bytes) ?? []
        palette = try layout.palette(directory, &bytes)
        let (pixels, isHuge) = tileHeight.multipliedReportingOverflow(
            by: max(layout.rowBytes(tileWidth, samples: layout.samples), layout.isConverted ? 4 * tileWidth : 0)
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
        guard !overflow, isTiled || count <= room else {
            throw TileSourceError(path, "at most \(Self.largestCount) strips were expected, not \(count)")
        }
        try readTables(directory, format, count, isFar: count > room, &bytes)
    }

    /// Reads where tiles or strips are, or where the tables are that say so.
    private mutating func readTables(
        _ directory: TIFFDirectory,
        _ format: TIFFFormat,
        _ count: Int,
        isFar: Bool,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) {
        let places = directory.has(.tileOffsets) && isTiled ? TIFFTag.tileOffsets : .stripOffsets
        let sizes = directory.has(.tileByteCounts) && isTiled ? TIFFTag.tileByteCounts : .stripByteCounts
        if isFar {
            guard let offsets = directory.far(places, count: count, bytes),
                let counts = directory.far(sizes, count: count, bytes)
            else {
                let text = "\(places.name) and \(sizes.name) of \(count) whole numbers in the file were expected"
                throw TileSourceError(bytes.name, text)
            }
            far = TIFFFarTables(offsets: offsets, counts: counts, count: count, format)
            return
        }
        offsets = try directory.numbers(places, atMost: count, &bytes) ?? []
        counts = (try directory.numbers(sizes, atMost: count, &bytes) ?? []).map { UInt32(clamping: $0) }
        guard offsets.count == count, counts.count == count else {
            throw TileSourceError(
                bytes.name,
                "\(count) \(isTiled ? "tiles" : "strips") were expected, not \(offsets.count) offsets and \(counts.count) "
                    + "byte counts"
            )
        }
    }

    /// Takes what a picture's directory says of its numbers, for its levels from the coarsest.
    ///
    /// - Parameter range: The numbers that are black and white, if they are given.
    /// - Returns: A sentence on their range, unless it is given.
    static func setNumbers(
        _ levels: inout [TIFFLevel],
        _ directory: TIFFDirectory,
        range: ClosedRange<Double>? = nil,
        reader: ByteRangeReader? = nil,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> String? {
        let isThere = directory.isInFile(.gdalNoData, bytes)
        let text = isThere ? try directory.text(.gdalNoData, &bytes)?.filter { $0 != " " } : nil
        let layout = levels[0].layout
        let noData = text.flatMap { Double($0) }.map { layout.sampleFormat == 3 ? nearest($0, bits: layout.bits) : $0 }
        for index in levels.indices { levels[index].noData = noData }
        if let range {
            let own = try checked(range, levels, bytes.name)
            for index in levels.indices { levels[index].range = own }
            return nil
        }
        let place = reader ?? bytes.reader
        guard let (range, sentence) = try TIFFRange.find(directory, coarsest: levels[0], in: place, &bytes) else {
            return nil
        }
        for index in levels.indices { levels[index].range = range }
        return sentence
    }

    /// A range that is given, if the numbers of all levels become shades.
    static func checked(
        _ range: ClosedRange<Double>,
        _ levels: [TIFFLevel],
        _ path: String
    ) throws(TileSourceError) -> TIFFRange {
        if let other = levels.first(where: { !$0.layout.hasRange }) {
            let name = levels.count > 1 ? "its level of \(other.width) x \(other.height) pixels: " : ""
            throw TileSourceError(
                path,
                "\(name)a range is of grey or of red, green and blue, and not of a palette, CMYK, YCbCr, CIELab or of tiles that "
                    + "are JPEG or WebP files"
            )
        }
        return TIFFRange(black: range.lowerBound, white: range.upperBound)
    }

    /// The nearest number with a point of some bits: it is meant.
    private static func nearest(_ number: Double, bits: Int) -> Double {
        if bits == 32 { return Double(Float(number)) }
        guard bits == 16, number.isNormal else { return number }
        // Half floats have 11 digits, and exponents from -14.
        let unit = Double(sign: .plus, exponent: max(Int(number.exponent), -14) - 10, significand: 1)
        return (number / unit).rounded(.toNearestOrEven) * unit
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

    /// Takes the level that marks its pixels. Returns whether its tiles are of the same size.
    mutating func setMask(_ mask: TIFFLevel) -> Bool {
        guard mask.isTiled, (mask.width, mask.height) == (width, height), mask.layout.samples == 1,
            (mask.tileWidth, mask.tileHeight) == (tileWidth, tileHeight), mask.layout.photometric < 2,
            mask.layout.bits <= 8, mask.layout.sampleFormat == 1, !mask.isOfImages, layout.alphaSample == nil
        else { return false }
        self.mask = [mask]
        return true
    }

    /// Number of tiles whose places are in memory, planes and those of a mask counted.
    var count: Int { mask.reduce(offsets.count) { $0 + $1.count } }

    /// Bytes of all tiles, and of the largest one.
    var encodedBytes: (all: Int, largest: Int) {
        (counts.reduce(0) { $0 + Int($1) }, counts.max().map { Int($0) } ?? 0)
    }

    /// Numbers of a tile's planes in the tables.
    private func indices(_ column: Int, _ row: Int) -> [Int] {
        layout.planes.map { ($0 * rows + row) * columns + column }
    }

    /// Parts of tables that say where a tile and its mask are, as far as they are not in memory all the time.
    func places(_ column: Int, _ row: Int) -> TIFFPlaces {
        var places = TIFFPlaces()
        for (level, isMask) in [(self, false)] + mask.map({ ($0, true) }) {
            guard let far = level.far else { continue }
            for index in level.indices(column, row) { places.find(index, in: far, isMask: isMask) }
        }
        return places
    }

    /// Where a tile is, by plane of ``TIFFLayout/planes``, and its mask's, if there is one, at the end; `nil` if it is
    /// absent. The range of a plane that is not in the file is empty.
    ///
    /// - Parameter places: Those of the tile, complete.
    /// - Throws: If it lies beyond the file.
    func ranges(
        _ column: Int,
        _ row: Int,
        _ places: TIFFPlaces = TIFFPlaces(),
        isMask: Bool = false,
        size: Int
    ) throws(TileLoadFailure) -> [Range<Int>]? {
        var ranges: [Range<Int>] = []
        for index in indices(column, row) {
            let place = far == nil ? (offsets[index], counts[index]) : places.place(of: index, isMask: isMask)
            guard let (offset, count) = place else {
                throw TileLoadFailure(.undecodable, "the tables of its tiles have no number \(index)")
            }
            guard count > 0 else {
                ranges.append(0..<0)
                continue
            }
            guard offset <= size, count <= size - Int(offset) else {
                let message = "its \(count) bytes at \(offset) lie beyond the file's end at \(size)"
                throw TileLoadFailure(.undecodable, message)
            }
            ranges.append(Int(offset)..<Int(offset) + Int(count))
        }
        guard !ranges.allSatisfy(\.isEmpty) else { return nil }
        for mask in mask { ranges += try mask.ranges(column, row, places, isMask: true, size: size) ?? [0..<0] }
        return ranges
    }
}
