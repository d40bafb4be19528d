public import TileCache

/// A tiled TIFF or BigTIFF. It is one file, on a disk or on a web server that answers byte ranges.
///
/// Overviews are further directories (cloud-optimised GeoTIFF), `SubIFDs` (OME-TIFF) or tiled directories in any order
/// (Aperio's SVS). A pixel has 1, 3 or 4 samples, chunky or planar, of 8 or 16 bits, or floating point from 0 to 1.
/// Directories are read when the file is opened. If the file changes, tiles fail with ``TileLoadFailureCause/changed``
/// and ``warning`` says so; open it again. The file is untrusted.
public final class TIFFTileSource: TileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The file or address.
    public let name: String
    /// The levels, of any ratio; the largest image is the world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// Fields of the largest image.
    public let metadata: TIFFMetadata
    /// Identity of the file. On a disk path, size and modification time; on a server address, size, `ETag` and
    /// `Last-Modified`, as for ``PMTilesTileSource/dataSet``.
    public let dataSet: [String]

    /// Coarsest first.
    private let levels: [TIFFLevel]
    private let tiles: [TIFFTile]
    private let reader: ByteRangeReader
    private let delivery: TileDelivery
    private let largestTile: Int
    private let leftOut: String?

    /// Opens a file and reads its directories.
    ///
    /// - Parameters:
    ///   - place: Path of the file, or its address, `https://server/picture.tif`.
    ///   - http: Options of requests to a server, as for ``PMTilesTileSource``. `largestTile` also limits the encoded
    ///     bytes of tiles of files.
    ///   - options: Options of the pixels; the tile size is the file's.
    /// - Throws: ``TileSourceError`` if the file is not such a TIFF, or the server does not answer byte ranges. One in
    ///   strips can be opened as an ``ImageTileSource``, or by ``TileSourceAddress``.
    public convenience init(
        _ place: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(place)
        let delivery = TileDelivery(options)
        let (reader, contents) = try ByteRangeReader.unchanged {
            () throws(TileSourceError) -> (ByteRangeReader, Contents) in
            var file = try TIFFFile(place, http: http, counter: delivery.counter)
            return (file.reader, try Self.contents(&file))
        }
        try self.init(reader, contents, http: http, options: options, delivery: delivery)
    }

    /// Levels, metadata, and a text that describes an overview that was left out.
    typealias Contents = ([TIFFLevel], TIFFMetadata, String?)

    /// Reads the directories of a file; ends its reader if they are wrong.
    static func contents(_ file: inout TIFFFile) throws(TileSourceError) -> Contents {
        do throws(TileSourceError) {
            return try levels(&file)
        } catch {
            file.reader.stop()
            throw error
        }
    }

    /// Takes the contents of a file; ends its reader if they are no pyramid.
    init(
        _ reader: ByteRangeReader,
        _ contents: Contents,
        http: HTTPTileOptions,
        options: TileSourceOptions,
        delivery: TileDelivery
    ) throws(TileSourceError) {
        self.delivery = delivery
        self.reader = reader
        let place = reader.name
        let levels = contents.0
        (self.levels, metadata, leftOut) = contents
        do throws(TileSourceError) {
            let (width, height) = (levels[levels.count - 1].width, levels[levels.count - 1].height)
            let own = levels.map { level in
                PyramidLevel(
                    width: level.width,
                    height: level.height,
                    tileWidth: level.tileWidth,
                    tileHeight: level.tileHeight,
                    worldPixelsPerPixel: level.scale
                )
            }
            pyramid = try TilePyramid(of: place, width: width, height: height, wrapsX: options.wrapsX, levels: own)
        } catch {
            reader.stop()
            throw error
        }
        tiles = levels.map { TIFFTile($0, options) }
        largestTile = http.largestTile.bytes
        name = place
        layerOptions = options.layerOptions
        dataSet =
            DataSetName.pixels("tiff", layerOptions, tileSize: levels[levels.count - 1].tileWidth) + reader.dataSet
    }

    deinit { reader.stop() }

    /// Counts of loads and failures so far, and the memory of directories.
    public var statistics: TileSourceStatistics {
        var statistics = delivery.statistics
        statistics.directoryMemory = heldMemory
        return statistics
    }

    /// Memory of directories, and of a file of at most 64 KiB from a server that sends it as a whole. It counts against
    /// the limit of each cache with a layer of this source.
    public var heldMemory: ByteCount {
        .bytes(levels.map(\.byteCount).reduce(metadata.byteCount, +) + reader.heldBytes)
    }

    /// A warning if the file was found to have changed since it was opened, if the server states neither `ETag` nor
    /// `Last-Modified`, if an overview was left out, or if no tile comes (``TileSourceStatistics/silence``). Otherwise
    /// `nil`.
    public var warning: String? {
        let warnings = [reader.warning, leftOut].compactMap(\.self)
        let text = warnings.isEmpty ? nil : "\(name): \(warnings.joined(separator: "; "))"
        return delivery.counter.warning(text, of: name)
    }

    /// Starts to read a tile.
    public func requestTile(_ request: TileRequest) {
        let tile = request.tile
        delivery.counter.countLoad()
        let ranges: [Range<Int>]
        do throws(TileLoadFailure) {
            guard let found = try self.ranges(of: tile) else {
                delivery.counter.countAbsent(subject(of: tile))
                request.completeAbsent(freshness: reader.isStorable ? nil : .notStored)
                return
            }
            ranges = found
        } catch {
            delivery.counter.count(error, of: subject(of: tile))
            return request.fail(.permanent)
        }
        let (level, decoder, delivery) = (levels[tile.level], tiles[tile.level], delivery)
        let (subject, isStorable) = (subject(of: tile), reader.isStorable)
        let planes = TIFFPlanes(count: ranges.count) { end in
            switch end {
            case .failure(.failed(let failure, _)): request.fail(failure)
            case .failure:
                delivery.counter.count { $0.cancelled += 1 }
                request.cancel()
            case .success(let planes):
                request.complete { pixels in
                    if !isStorable { pixels.freshness = .notStored }
                    let failure = level.write(planes, tile, decoder, subject, delivery, &pixels)
                    if let failure { throw failure }
                    return .pixels
                }
            }
        }
        request.onCancel { planes.cancel() }
        for (plane, range) in ranges.enumerated() {
            var client = RangeClient(request)
            client.hold = { planes.hold($0, plane) { request.holdsEncoded(.bytes($0)) } }
            planes.add(reader.read(range, for: client) { planes.set($0, plane) }.cancel)
        }
    }

    /// Reads a tile and waits, for tests.
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        delivery.counter.countLoad()
        let (level, subject) = (levels[tile.level], subject(of: tile))
        var planes: [[UInt8]] = []
        do {
            guard let ranges = try ranges(of: tile) else {
                delivery.counter.countAbsent(subject)
                return .absent
            }
            for range in ranges { planes.append(try reader.readNow(range)) }
        } catch {
            if let failure = error as? TileLoadFailure { delivery.counter.count(failure, of: subject) }
            throw TileFailure.permanent
        }
        let failure = level.write(planes, tile, tiles[tile.level], subject, delivery, &pixels)
        if let failure { throw failure }
        return .pixels
    }

    /// Decodes a tile from its JPEG or WebP file.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, levels[tile.level].placement(tile), of: subject(of: tile), into: &pixels)
    }

    private func ranges(of tile: TileCoordinate) throws(TileLoadFailure) -> [Range<Int>]? {
        let ranges = try levels[tile.level].ranges(tile.column, tile.row, size: reader.size)
        let count = ranges?.map(\.count).reduce(0, +) ?? 0
        guard count <= largestTile else {
            throw TileLoadFailure(.tooLarge, "at most \(largestTile) bytes were expected, not \(count)")
        }
        return ranges
    }

    private func subject(of tile: TileCoordinate) -> String { "\(name): tile \(tile)" }
}

extension TIFFTileSource {
    /// Of an overview. What is nearly as large as the first image is a plane or page besides it.
    private static let leastScale = 1.1

    /// Reads all directories and chooses those of the first image.
    private static func levels(_ file: inout TIFFFile) throws(TileSourceError) -> Contents {
        let (format, name) = (file.format, file.reader.name)
        var main = file.main
        guard TIFFLevel.isTiled(main) else {
            let (width, height) = try TIFFLevel.size(main, &file.bytes)
            throw TileSourceError(
                name,
                "a tiled TIFF was expected, and its \(width) x \(height) pixels are in strips: open it as one large "
                    + "image, by its address or with ImageTileSource, or \(TIFFStrips.hint)"
            )
        }
        // First, since its values may be followed by all others: one read then brings them.
        var room = TIFFLevel.largestCount
        var levels = [try TIFFLevel(main, isLittle: format.isLittle, room: room, &file.bytes)]
        room -= levels[0].count
        var others = try subdirectories(of: main, &file)
        var offset = main.next
        while let directory = try file.next(offset) {
            others.append(directory)
            offset = directory.next
        }
        if let place = try placeOfImage(among: others, reducedTo: levels[0], &file) {
            swap(&main, &others[place])
            others += try subdirectories(of: main, &file)
            levels = [try TIFFLevel(main, isLittle: format.isLittle, room: room, &file.bytes)]
            room -= levels[0].count
        }
        var isPhilips: Bool?
        var leftOut: String?
        for directory in others where TIFFLevel.isTiled(directory) {
            let (width, height) = try TIFFLevel.size(directory, &file.bytes)
            let world = (width: levels[0].width, height: levels[0].height)
            if isPhilips == nil {
                isPhilips = try main.text(.software, &file.bytes)?.hasPrefix("Philips") == true
            }
            let filled =
                isPhilips == true
                ? try filledScale(directory, width: width, height: height, of: levels, &file.bytes) : nil
            guard try isPicture(directory, &file.bytes),
                let scale = filled ?? Overview.scale(width: width, height: height, of: world, within: 2),
                scale >= leastScale, !levels.contains(where: { $0.scale == scale })
            else { continue }
            let tile = try TIFFLevel.tileSize(directory, &file.bytes)
            guard TIFFLevel.tileSides.contains(tile.width), TIFFLevel.tileSides.contains(tile.height) else {
                leftOut =
                    "its overview of \(width) x \(height) pixels is left out: tiles of 16 to 4096 pixels a side were "
                    + "expected, not \(tile.width) x \(tile.height)"
                continue
            }
            var level = try TIFFLevel(directory, isLittle: format.isLittle, room: room, &file.bytes)
            level.scale = scale
            if filled != nil {
                level.width = (world.width - 1) / Int(scale) + 1
                level.height = (world.height - 1) / Int(scale) + 1
            }
            room -= level.count
            levels.append(level)
        }
        levels.sort { $0.scale > $1.scale }
        var metadata = TIFFMetadata()
        metadata.description = try main.text(.imageDescription, &file.bytes)
        metadata.noData = try main.text(.gdalNoData, &file.bytes)
        metadata.pixelScale = try main.reals(.modelPixelScale, &file.bytes) ?? []
        metadata.tiePoints = try main.reals(.modelTiepoint, &file.bytes) ?? []
        metadata.transformation = try main.reals(.modelTransformation, &file.bytes) ?? []
        metadata.geoKeys = (try main.numbers(.geoKeyDirectory, atMost: 4096, &file.bytes) ?? []).map {
            Int(clamping: $0)
        }
        metadata.geoNumbers = try main.reals(.geoDoubleParams, &file.bytes) ?? []
        metadata.geoText = try main.text(.geoAsciiParams, &file.bytes)
        let mask = try maskWarning(among: others, &file.bytes)
        let warnings = [leftOut, mask].compactMap(\.self)
        return (levels, metadata, warnings.isEmpty ? nil : warnings.joined(separator: "; "))
    }

    /// A clause on directories that say which pixels have data; `nil` if there are none. GDAL and rio-cogeo write them
    /// beside JPEG, which has no alpha.
    private static func maskWarning(
        among others: [TIFFDirectory],
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> String? {
        for directory in others {
            let kind = try directory.number(.newSubfileType, 0...Int(UInt32.max), default: 0, &bytes)
            if kind & 4 != 0 { return "its mask of pixels without data is not read: they are drawn as they are" }
        }
        return nil
    }

    private static func subdirectories(
        of directory: TIFFDirectory,
        _ file: inout TIFFFile
    ) throws(TileSourceError) -> [TIFFDirectory] {
        var found: [TIFFDirectory] = []
        for offset in try directory.numbers(.subIFDs, atMost: TIFFFile.mostDirectories, &file.bytes) ?? [] {
            if let directory = try file.next(offset) { found.append(directory) }
        }
        return found
    }

    /// Whether a directory shows what the main one shows. Masks are no pixels, and pages are other pictures. ImageMagick
    /// states the same page for all levels.
    private static func isPicture(
        _ directory: TIFFDirectory,
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> Bool {
        let kind = try directory.number(.newSubfileType, 0...Int(UInt32.max), default: 0, &bytes)
        let page = kind & 2 == 0 ? 0 : try directory.numbers(.pageNumber, atMost: 16, &bytes)?.first ?? 0
        return kind & 4 == 0 && page == 0
    }

    /// Place of the largest image if the first directory is an overview of it: half as large, or less.
    private static func placeOfImage(
        among others: [TIFFDirectory],
        reducedTo first: TIFFLevel,
        _ file: inout TIFFFile
    ) throws(TileSourceError) -> Int? {
        var (found, largest): (Int?, Double) = (nil, 1.9)
        for (place, directory) in others.enumerated() where TIFFLevel.isTiled(directory) {
            let world = try TIFFLevel.size(directory, &file.bytes)
            guard let scale = Overview.scale(width: first.width, height: first.height, of: world, within: 2),
                scale > largest, try isPicture(directory, &file.bytes)
            else { continue }
            (found, largest) = (place, scale)
        }
        return found
    }

    /// Scale of an overview of Philips's scanners, whose size is that of its tiles: the last ones are filled up.
    ///
    /// Each level halves the one before, which tells the scale of those that fit in one tile.
    private static func filledScale(
        _ directory: TIFFDirectory,
        width: Int,
        height: Int,
        of levels: [TIFFLevel],
        _ bytes: inout TIFFBytes
    ) throws(TileSourceError) -> Double? {
        let tile = try TIFFLevel.tileSize(directory, &bytes)
        func isFilled(_ side: Int, _ tile: Int, _ whole: Int, _ scale: Int) -> Bool {
            side == ((whole - 1) / scale / tile + 1) * tile
        }
        let world = levels[0]
        return (1...20).map { 1 << $0 }.first { scale in
            isFilled(width, tile.width, world.width, scale) && isFilled(height, tile.height, world.height, scale)
                && !levels.contains { $0.scale == Double(scale) }
        }.map { Double($0) }
    }
}

extension TIFFLevel {
    /// Part of the tile's image that lies within the level, and what its fourth channel is.
    fileprivate func placement(_ tile: TileCoordinate) -> ImagePlacement {
        var place = ImagePlacement(
            imageWidth: tileWidth,
            imageHeight: tileHeight,
            x: 0,
            y: 0,
            width: min(tileWidth, width - tile.column * tileWidth),
            height: min(tileHeight, height - tile.row * tileHeight)
        )
        // Some writers cut JPEGs at the image's edges instead of filling the tile; libtiff reads them, too.
        place.mayEndEarly = true
        place.alpha = layout.alpha
        return place
    }

    /// Decodes a tile, and keeps what is a file of its own.
    fileprivate func write(
        _ planes: [[UInt8]],
        _ tile: TileCoordinate,
        _ decoder: TIFFTile,
        _ subject: String,
        _ delivery: TileDelivery,
        _ pixels: inout TilePixels
    ) -> TileFailure? {
        let place = placement(tile)
        if isOfImages {
            return file(planes[0]).withUnsafeBytes { delivery.write($0, place, of: subject, into: &pixels) }
        }
        do throws(TileLoadFailure) {
            try decoder.decode(planes, width: place.width, height: place.height, into: &pixels)
            delivery.counter.countDecoded(scaledFrom: nil)
            return nil
        } catch {
            delivery.counter.count(error, of: subject)
            return .permanent
        }
    }
}
