public import TileCache

/// A tiled TIFF or BigTIFF. It is one file, on a disk or on a web server that answers byte ranges.
///
/// Overviews are further directories (cloud-optimised GeoTIFF), `SubIFDs` (OME-TIFF) or tiled directories in any order
/// (Aperio's SVS). A pixel has any number of samples, chunky or planar, of 1 to 32 or 64 bits, with a sign or a point.
/// Grey, colours, palettes, inks (CMYK), YCbCr and CIELab are drawn, alpha, and masks. ``warning`` states the
/// range of numbers that is drawn from black to white, if it is not that of the format; ``TIFFTileOptions`` gives another
/// one, and chooses pages and bands. Of a picture without overviews the cache makes up to 5 coarser levels.
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

    private let contents: TIFFContents
    /// By level of the file, coarsest first. The pyramid may have ``made`` ones before them.
    private let drawers: [TIFFDrawer]
    private let made: Int
    private let drawing: Lock<Drawing>
    private let reader: ByteRangeReader
    private let delivery: TileDelivery
    private let largestTile: Int

    /// How numbers become shades. It may be changed.
    private struct Drawing {
        var colours: [TIFFColours]
        var range: TIFFRange?
        /// Whether the range is another one than when the file was opened, and stores must not keep what is drawn.
        var isChanged = false
    }

    /// Opens a file and reads its directories.
    ///
    /// - Parameters:
    ///   - place: Path of the file, or its address, `https://server/picture.tif`.
    ///   - http: Options of requests to a server, as for ``PMTilesTileSource``. `largestTile` also limits the encoded
    ///     bytes of tiles of files.
    ///   - tiff: Which picture of the file is drawn, which of its bands, and in which range.
    ///   - options: Options of the pixels; the tile size is the file's.
    /// - Throws: ``TileSourceError`` if the file is not such a TIFF or has not what is chosen, or the server does not
    ///   answer byte ranges. One in strips can be opened as an ``ImageTileSource``, or by ``TileSourceAddress``.
    public convenience init(
        _ place: String,
        http: HTTPTileOptions = HTTPTileOptions(),
        tiff: TIFFTileOptions = TIFFTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(place)
        try tiff.check(place)
        let delivery = TileDelivery(options)
        let contents = try ByteRangeReader.unchanged { () throws(TileSourceError) -> TIFFContents in
            var file = try TIFFFile(place, http: http, tiff: tiff, delivery)
            return try TIFFContents(reading: &file, tiff, http, delivery)
        }
        try self.init(contents, http: http, tiff: tiff, options: options, delivery: delivery)
    }

    /// Takes the contents of a file; ends its readers if they are no pyramid.
    init(
        _ contents: TIFFContents,
        http: HTTPTileOptions,
        tiff: TIFFTileOptions,
        options: TileSourceOptions,
        delivery: TileDelivery
    ) throws(TileSourceError) {
        (self.contents, self.delivery, reader) = (contents, delivery, contents.reader)
        let place = reader.name
        let levels = contents.levels
        metadata = contents.metadata
        let own = levels.map { level in
            PyramidLevel(
                width: level.width,
                height: level.height,
                tileWidth: level.tileWidth,
                tileHeight: level.tileHeight,
                worldPixelsPerPixel: level.scale
            )
        }
        let more = levels.count == 1 ? own[0].halved(tiff.synthesizedLevels) : []
        made = more.count
        do throws(TileSourceError) {
            let (width, height) = (levels[levels.count - 1].width, levels[levels.count - 1].height)
            let all = more + own
            pyramid = try TilePyramid(of: place, width: width, height: height, wrapsX: options.wrapsX, levels: all)
        } catch {
            contents.stop()
            throw error
        }
        drawers = levels.map { TIFFDrawer($0, options, delivery) }
        drawing = Lock(Drawing(colours: TIFFColours.all(levels), range: levels[0].range))
        largestTile = http.largestTile.bytes
        name = place
        var layerOptions = options.layerOptions
        layerOptions.synthesizedLevels = made
        self.layerOptions = layerOptions
        dataSet =
            DataSetName.pixels("tiff", layerOptions, tileSize: levels[levels.count - 1].tileWidth) + tiff.names
            + reader.dataSet + (contents.overviews?.dataSet ?? [])
    }

    deinit { contents.stop() }

    /// The numbers that are drawn as black and white, of pictures all of whose levels have numbers that become
    /// shades. Otherwise `nil`.
    public var range: ClosedRange<Double>? {
        guard contents.levels.allSatisfy(\.layout.hasRange) else { return nil }
        let range = drawing.withLock { $0.range } ?? TIFFRange(of: contents.levels[0].layout)
        return range.black...max(range.black, range.white)
    }

    /// Changes the range, and invalidates layers: their old pixels are drawn until new ones arrive.
    ///
    /// Stores keep no tiles of another range than that with which the file was opened.
    ///
    /// - Parameters:
    ///   - range: The numbers that are drawn as black and white. `nil` for those with which the file was opened.
    ///   - layers: Those that ``addLayer(to:pyramid:options:)`` has added. Others load their next tiles so.
    /// - Throws: ``TileSourceError`` for a range without an extent, and if the samples of a level are no numbers that become
    ///   shades.
    public func setRange(_ range: ClosedRange<Double>?, in layers: [TileLayer]) throws(TileSourceError) {
        let levels = contents.levels
        try TIFFTileOptions(range: range).check(name)
        var own = levels[0].range
        if let range { own = try TIFFLevel.checked(range, levels, name) }
        let colours = TIFFColours.all(levels, range: own)
        drawing.withLock { $0 = Drawing(colours: colours, range: own, isChanged: own != levels[0].range) }
        for layer in layers { layer.invalidate() }
    }

    /// Counts of loads and failures so far, and the memory of directories.
    public var statistics: TileSourceStatistics {
        var statistics = delivery.statistics
        if let overviews = contents.overviews { statistics.addRequests(of: overviews.counter.statistics) }
        statistics.directoryMemory = .bytes(directoryBytes)
        return statistics
    }

    private var directoryBytes: Int {
        let own = contents.levels.map(\.byteCount).reduce(metadata.byteCount, +) + reader.heldBytes
        let tables = drawing.withLock { $0.colours.reduce(0) { $0 + $1.byteCount } }
        return own + tables + (contents.overviews?.heldBytes ?? 0)
    }

    /// Memory of directories, of a file of at most 64 KiB from a server that sends it as a whole, of encoded tiles of a
    /// file on a disk, and of tiles that are decoded. It counts against the limit of each cache with a layer of this
    /// source.
    public var heldMemory: ByteCount { .bytes(directoryBytes + delivery.scratch.byteCount) }

    /// A warning if the file was found to have changed since it was opened, if the server states neither `ETag` nor
    /// `Last-Modified`, if overviews, pages or a mask were left out or a file of overviews cannot be read, if a range of
    /// numbers is drawn from black to white that is neither the format's own nor a given one, or if no tile comes
    /// (``TileSourceStatistics/silence``). Otherwise `nil`.
    public var warning: String? {
        let numbers = drawing.withLock { $0.isChanged } ? nil : contents.numbers
        let warnings = [reader.warning, contents.overviews?.warning, contents.leftOut, numbers].compactMap(\.self)
        let text = warnings.isEmpty ? nil : "\(name): \(warnings.joined(separator: "; "))"
        return delivery.counter.warning(text, of: name)
    }

    /// Starts to read a tile: what lacks of its level's tables first.
    public func requestTile(_ request: TileRequest) {
        let tile = request.tile
        delivery.counter.countLoad()
        guard tile.level >= made else { return request.fail(delivery.counted(notMade, of: subject(of: tile))) }
        let level = drawer(of: tile).level
        let places = level.places(tile.column, tile.row)
        guard !places.lacks.isEmpty else { return requestTile(request, places) }
        read(places.lacks.flatMap(\.ranges), for: request) { [self] tables in
            var places = places
            places.take(tables)
            requestTile(request, places)
        }
    }

    private func requestTile(_ request: TileRequest, _ places: TIFFPlaces) {
        let tile = request.tile
        let parts: TIFFParts
        do throws(TileLoadFailure) {
            guard let found = try self.parts(of: tile, places) else {
                delivery.counter.countAbsent(subject(of: tile))
                request.completeAbsent(freshness: isFileStorable ? nil : .notStored)
                return
            }
            parts = found
        } catch {
            return request.fail(delivery.counted(error, of: subject(of: tile)))
        }
        read(parts.ranges, for: request) { [self] read in
            request.complete { pixels in
                let failure = self.draw(parts.planes(read), tile, &pixels)
                if let failure { throw failure }
                return .pixels
            }
        }
    }

    /// Reads ranges of the file with a request's level. If one of them fails, so does the request.
    private func read(
        _ ranges: [Range<Int>],
        for request: TileRequest,
        then: @escaping @Sendable ([RangeBytes]) -> Void
    ) {
        let counter = delivery.counter
        let planes = TIFFPlanes(count: ranges.count) { end in
            switch end {
            case .failure(.failed(let failure, _)): request.fail(failure)
            case .failure:
                counter.count { $0.cancelled += 1 }
                request.cancel()
            case .success(let read): then(read)
            }
        }
        request.onCancel { planes.cancel() }
        let reader = contents.reader(of: drawer(of: request.tile).level)
        for (part, range) in ranges.enumerated() {
            var client = RangeClient(request)
            client.hold = { planes.hold($0, part) { request.holdsEncoded(.bytes($0)) } }
            planes.add(reader.read(range, for: client) { planes.set($0, part) }.cancel)
        }
    }

    /// Reads a tile and waits, for tests.
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        delivery.counter.countLoad()
        var read: [RangeBytes] = []
        let parts: TIFFParts
        do {
            guard tile.level >= made else { throw notMade }
            let level = drawer(of: tile).level
            let reader = contents.reader(of: level)
            var places = level.places(tile.column, tile.row)
            places.take(try places.lacks.flatMap(\.ranges).map { try reader.bytesNow($0) })
            guard let found = try self.parts(of: tile, places) else {
                delivery.counter.countAbsent(subject(of: tile))
                return .absent
            }
            parts = found
            for range in parts.ranges { read.append(try reader.bytesNow(range)) }
        } catch {
            if let failure = error as? TileLoadFailure { delivery.counter.count(failure, of: subject(of: tile)) }
            throw TileFailure.permanent
        }
        if let failure = draw(parts.planes(read), tile, &pixels) { throw failure }
        return .pixels
    }

    /// Decodes a tile from its JPEG or WebP file.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        guard tile.level >= made else { throw .permanent }
        let level = drawer(of: tile).level
        try delivery.decode(encoded, level.placement(tile), of: subject(of: tile), into: &pixels)
        level.fill(tile, &pixels)
    }

    private var isFileStorable: Bool { reader.isStorable && contents.overviews?.isStorable ?? true }

    private func drawer(of tile: TileCoordinate) -> TIFFDrawer { drawers[tile.level - made] }

    private func draw(_ planes: [RangeBytes], _ tile: TileCoordinate, _ pixels: inout TilePixels) -> TileFailure? {
        // Together: a tile of a changed range is never stored.
        let (colours, isChanged) = drawing.withLock { ($0.colours[tile.level - made], $0.isChanged) }
        if isChanged || !isFileStorable { pixels.freshness = .notStored }
        return drawer(of: tile).write(planes, colours, tile, subject(of: tile), &pixels)
    }

    private var notMade: TileLoadFailure {
        TileLoadFailure(.undecodable, "its level is made by the cache: synthesizedLevels must be \(made)")
    }

    /// What is read for a tile; `nil` if it is absent.
    private func parts(of tile: TileCoordinate, _ places: TIFFPlaces) throws(TileLoadFailure) -> TIFFParts? {
        let level = drawer(of: tile).level
        let reader = contents.reader(of: level)
        guard let ranges = try level.ranges(tile.column, tile.row, places, size: reader.size) else { return nil }
        let parts = TIFFParts(ranges, joins: reader.isRemote)
        let count = ranges.map(\.count).reduce(0, +)
        guard count <= largestTile else {
            throw TileLoadFailure(.tooLarge, "at most \(largestTile) bytes were expected, not \(count)")
        }
        return parts
    }

    private func subject(of tile: TileCoordinate) -> String { "\(name): tile \(tile)" }
}

extension PyramidLevel {
    /// Coarser levels that a cache makes of this one, coarsest first: until one tile shows all of it, or as many as are
    /// given. No more than its tiles can be halved.
    fileprivate func halved(_ given: Int?) -> [PyramidLevel] {
        let most = min(tileWidth.trailingZeroBitCount, tileHeight.trailingZeroBitCount)
        var found = [self]
        while found.count <= min(given ?? TIFFTileOptions.usualLevels, most), found[0].columns * found[0].rows > 1 {
            let level = PyramidLevel(
                width: (found[0].width - 1) / 2 + 1,
                height: (found[0].height - 1) / 2 + 1,
                tileWidth: tileWidth,
                tileHeight: tileHeight,
                worldPixelsPerPixel: 2 * found[0].worldPixelsPerPixel
            )
            found.insert(level, at: 0)
        }
        return found.dropLast()
    }
}
