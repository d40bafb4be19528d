public import TileCache

/// A tiled TIFF or BigTIFF. It is one file, on a disk or on a web server that answers byte ranges.
///
/// Overviews are further directories (cloud-optimised GeoTIFF), `SubIFDs` (OME-TIFF) or tiled directories in any order
/// (Aperio's SVS). A pixel has any number of samples, chunky or planar, of 1 to 32 or 64 bits, with a sign or a point.
/// Grey, colours, palettes, inks (CMYK), YCbCr and CIELab are drawn, and alpha. ``warning`` states the
/// range of numbers that is drawn from black to white, if it is not that of the format.
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
            var file = try TIFFFile(place, http: http, delivery)
            return (file.reader, try Self.contents(&file))
        }
        try self.init(reader, contents, http: http, options: options, delivery: delivery)
    }

    /// Levels, metadata, and a text on overviews, pages and masks that were left out, and on the range of numbers.
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
        tiles = levels.map { TIFFTile($0, options, delivery.scratch) }
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
        statistics.directoryMemory = .bytes(directoryBytes)
        return statistics
    }

    private var directoryBytes: Int {
        levels.map(\.byteCount).reduce(metadata.byteCount, +) + tiles.map(\.byteCount).reduce(reader.heldBytes, +)
    }

    /// Memory of directories, of a file of at most 64 KiB from a server that sends it as a whole, of encoded tiles of a
    /// file on a disk, and of tiles that libtiff decodes. It counts against the limit of each cache with a layer of this
    /// source.
    public var heldMemory: ByteCount { .bytes(directoryBytes + delivery.scratch.byteCount) }

    /// A warning if the file was found to have changed since it was opened, if the server states neither `ETag` nor
    /// `Last-Modified`, if overviews or pages were left out or a mask is not read, if a range of
    /// numbers is drawn from black to white that is not the format's own, or if no tile comes
    /// (``TileSourceStatistics/silence``). Otherwise `nil`.
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
            return request.fail(delivery.counted(error, of: subject(of: tile)))
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
        var planes: [RangeBytes] = []
        do {
            guard let ranges = try ranges(of: tile) else {
                delivery.counter.countAbsent(subject)
                return .absent
            }
            for range in ranges { planes.append(try reader.bytesNow(range)) }
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
        let level = levels[tile.level]
        try delivery.decode(encoded, level.placement(tile), of: subject(of: tile), into: &pixels)
        level.fill(tile, &pixels)
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
    /// Reads all directories and chooses those of the first image, coarsest first. The text says what was left out.
    private static func levels(
        _ file: inout TIFFFile
    ) throws(TileSourceError) -> ([TIFFLevel], TIFFMetadata, String?) {
        let isLittle = file.format.isLittle
        guard let first = try TIFFPage(file.main, &file.bytes) else {
            let (width, height) = try TIFFLevel.size(file.main, &file.bytes)
            throw TileSourceError(
                file.reader.name,
                "a tiled TIFF was expected, and its \(width) x \(height) pixels are in strips: open it as one large "
                    + "image, by its address or with ImageTileSource, or \(TIFFStrips.hint)"
            )
        }
        // First, since its values may be followed by all others: one read then brings them.
        var world = try TIFFLevel(file.main, isLittle: isLittle, room: TIFFLevel.largestCount, &file.bytes)
        let pages = try TIFFPages(&file, first)
        if pages.isMainLater {
            let main = pages.main.directory
            world = try TIFFLevel(main, isLittle: isLittle, room: TIFFLevel.largestCount, &file.bytes)
        }
        var (levels, room) = ([world], TIFFLevel.largestCount - world.count)
        for found in pages.levels {
            var level = try TIFFLevel(found.page.directory, isLittle: isLittle, room: room, &file.bytes)
            level.setScale(found.scale, of: world, isFilled: found.isFilled)
            room -= level.count
            levels.append(level)
        }
        levels.sort { $0.scale > $1.scale }
        let main = pages.main.directory
        let numbers = try TIFFLevel.setNumbers(&levels, main, &file.bytes)
        let warnings = [pages.warning, numbers].compactMap(\.self)
        return (
            levels, try TIFFMetadata(main, &file.bytes), warnings.isEmpty ? nil : warnings.joined(separator: "; ")
        )
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

    /// Repeats the last column and row of a tile where the level ends a part of a pixel before the world does.
    fileprivate func fill(_ tile: TileCoordinate, _ pixels: inout TilePixels) {
        func ends(_ index: Int, _ tile: Int, _ length: Int, _ drawn: Int) -> (written: Int, drawn: Int) {
            (min(tile, length - index * tile), min(tile, drawn - index * tile))
        }
        let across = ends(tile.column, tileWidth, width, drawnWidth)
        let down = ends(tile.row, tileHeight, height, drawnHeight)
        guard across.drawn > across.written || down.drawn > down.written else { return }
        let (stride, pixel) = (pixels.bytesPerRow, pixels.bytesPerRow / max(pixels.width, 1))
        pixels.withUnsafeMutableBytes { target in
            guard let first = target.baseAddress else { return }
            for y in 0..<down.written {
                let end = first + y * stride + across.written * pixel
                for column in 0..<max(across.drawn - across.written, 0) {
                    (end + column * pixel).copyMemory(from: end - pixel, byteCount: pixel)
                }
            }
            for y in down.written..<max(down.drawn, down.written) {
                (first + y * stride).copyMemory(from: first + (down.written - 1) * stride, byteCount: stride)
            }
        }
    }

    /// Decodes a tile, and keeps what is a file of its own.
    fileprivate func write(
        _ planes: [RangeBytes],
        _ tile: TileCoordinate,
        _ decoder: TIFFTile,
        _ subject: String,
        _ delivery: TileDelivery,
        _ pixels: inout TilePixels
    ) -> TileFailure? {
        let place = placement(tile)
        if isOfImages {
            let failure = file(planes[0]).withBytes {
                delivery.write(UnsafeRawBufferPointer($0), place, of: subject, into: &pixels)
            }
            if failure == nil { fill(tile, &pixels) }
            return failure
        }
        do throws(TileLoadFailure) {
            try decoder.decode(planes, width: place.width, height: place.height, into: &pixels)
            fill(tile, &pixels)
            return nil
        } catch {
            return delivery.counted(error, of: subject)
        }
    }
}
