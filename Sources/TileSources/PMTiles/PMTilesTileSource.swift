public import TileCache

/// Raster tiles in a PMTiles archive, version 3. It is one file, on a disk or on a web server that answers byte ranges.
///
/// PNG, JPEG or WebP. Opening takes one request for the header and the root directory and, unless the tile size is set,
/// one for the first tiles and some for what they do not tell; a tile takes one, and one more for the first of a leaf
/// directory. A server needs `Range` and is read as ``HTTPTileOptions`` say. If the file changes, tiles fail with
/// ``TileLoadFailureCause/changed`` and ``warning`` says so; open it again. The file is untrusted.
public final class PMTilesTileSource: TileSource, TileDecoder, MemoryReportingSource, PyramidTileSource {
    /// The file or address.
    public let name: String
    /// One level for each of ``zooms``, of the whole square of the Web Mercator projection.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The header's zooms, and finer ones that the root directory has; `zooms.lowerBound` is level 0.
    public let zooms: ClosedRange<Int>
    /// The header's bounds, in world pixels; the whole world if they are empty or invalid.
    public let contents: PixelRect
    /// The header's centre, in world pixels; the middle of ``contents`` if it is invalid.
    public let center: WorldPoint
    /// The header's zoom for ``center``, clamped to ``zooms``.
    public let centerZoom: Int

    /// Identity of the file. On a disk path, size and modification time; on a server address, size, `ETag` and
    /// `Last-Modified`.
    ///
    /// A tag has the same name whether it is weak or strong. Of a server that states neither header only changes of the
    /// size are noticed; ``warning`` says so, and stores keep no tiles.
    public let dataSet: [String]

    private let tileSize: Int
    private let mislabelled: String?
    private let archive: PMTilesArchive
    private let delivery: TileDelivery

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - place: Path of the file, or its address, `https://server/map.pmtiles`.
    ///   - directoryMemory: Maximum memory of leaf directories, 0 to 1 GiB; the latest one always stays (6 MiB at
    ///     most). Default: 16 MiB. It counts against the cache's limit as far as it is used;
    ///     see ``heldMemory``.
    ///   - http: Options of requests to a server. `largestTile` also limits tiles of files. Those that are about tiles
    ///     with addresses of their own are ignored: `zooms`, `keptAnswers`, `absentStatuses` and `usesStale`.
    ///   - options: Options of the pixels.
    /// - Throws: ``TileSourceError`` if the file is not such an archive, states vector tiles or AVIF images and has no
    ///   others, or the server does not answer byte ranges.
    public init(
        _ place: String,
        directoryMemory: ByteCount = .mebibytes(16),
        http: HTTPTileOptions = HTTPTileOptions(),
        options: TileSourceOptions = TileSourceOptions()
    ) throws(TileSourceError) {
        try options.check(place)
        guard (0...1 << 30).contains(directoryMemory.bytes) else {
            throw TileSourceError(place, "directoryMemory of 0 to 1 GiB was expected, not \(directoryMemory)")
        }
        let delivery = TileDelivery(options)
        self.delivery = delivery
        let (archive, size, mislabelled) = try ByteRangeReader.unchanged {
            () throws(TileSourceError) -> (PMTilesArchive, Int, String?) in
            let archive = try PMTilesArchive(place, http: http, limit: directoryMemory.bytes, delivery)
            do throws(TileSourceError) {
                let label = archive.header.label
                if let size = options.tileSize, label == nil { return (archive, size, nil) }
                let samples = try archive.samples()
                let mislabelled = try samples.mislabelled(label, place)
                if let size = options.tileSize { return (archive, size, mislabelled) }
                return (archive, try samples.size(of: place), mislabelled)
            } catch {
                archive.reader.stop()
                throw error
            }
        }
        (tileSize, self.mislabelled) = (size, mislabelled)
        do throws(TileSourceError) {
            zooms = archive.zooms
            let whole = try MapPyramid.make(zooms, of: place, tileSize: tileSize, wrapsX: options.wrapsX)
            let degrees = archive.header.bounds
            let part = MapPyramid.part(left: degrees[0], bottom: degrees[1], right: degrees[2], top: degrees[3])
            contents = MapPyramid.contents(part, of: whole)
            pyramid = whole.limited(to: contents)
        } catch {
            archive.reader.stop()
            throw error
        }
        let (width, height) = (pyramid.worldWidth, pyramid.worldHeight)
        let (zoom, longitude, latitude) = archive.header.center
        centerZoom = min(max(zoom, zooms.lowerBound), zooms.upperBound)
        center =
            abs(longitude) <= 180 && abs(latitude) <= 90
            ? WorldPoint(x: (longitude + 180) / 360 * width, y: MapPyramid.mercator(latitude) * height)
            : WorldPoint(x: (contents.minX + contents.maxX) / 2, y: (contents.minY + contents.maxY) / 2)
        name = place
        layerOptions = options.layerOptions
        dataSet = DataSetName.pixels("pmtiles", layerOptions, tileSize: tileSize) + archive.reader.dataSet
        self.archive = archive
    }

    deinit { archive.reader.stop() }

    /// Counts of loads and failures so far, and the memory of directories.
    public var statistics: TileSourceStatistics {
        var statistics = delivery.statistics
        statistics.directoryMemory = .bytes(directoryBytes)
        return statistics
    }

    private var directoryBytes: Int { archive.directoryBytes + archive.reader.heldBytes }

    /// Memory of directories, of an archive of at most 16 KiB from a server that sends it as a whole, and of encoded tiles
    /// of an archive on a disk. It counts against the limit of each cache with a layer of this source.
    public var heldMemory: ByteCount { .bytes(directoryBytes + delivery.scratch.byteCount) }

    /// A warning if the file was found to have changed since it was opened, if the server states neither `ETag` nor
    /// `Last-Modified`, if the header states another kind of tiles than images or leaves out zooms of the root
    /// directory, or if no tile comes (``TileSourceStatistics/silence``). Otherwise `nil`.
    public var warning: String? {
        let stated = archive.header.zooms
        let claim = "its header states the zooms \(stated.lowerBound) to \(stated.upperBound)"
        let more = zooms == stated ? nil : "\(claim), and it has \(zooms.upperBound)"
        let warnings = [archive.reader.warning, mislabelled, more].compactMap(\.self)
        let text = warnings.isEmpty ? nil : "\(name): \(warnings.joined(separator: "; "))"
        return delivery.counter.warning(text, of: name)
    }

    /// Reads the archive's metadata, at most 4 MiB. It is a JSON object with name, attribution and more.
    ///
    /// Waits for the file or the server.
    public func readMetadata() throws(TileSourceError) -> String { try archive.metadata() }

    /// Starts to read a tile.
    public func requestTile(_ request: TileRequest) {
        let (delivery, archive, subject) = (delivery, archive, subject(of: request.tile))
        let place = ImagePlacement(tileSize: tileSize)
        let client = RangeClient(request)
        delivery.counter.countLoad()
        let load = PMTilesLoad(archive, id(of: request.tile), of: subject, for: client) { end in
            switch end {
            case .absent:
                delivery.counter.countAbsent(subject)
                request.completeAbsent(freshness: archive.reader.isStorable ? nil : .notStored)
            case .read(.failed(let failure, _)): request.fail(failure)
            case .read(.cancelled):
                delivery.counter.count { $0.cancelled += 1 }
                request.cancel()
            case .read(.bytes(let bytes)):
                // Before the request is completed: what it holds counts until then.
                let image = archive.decompressed(bytes, hold: client.hold)
                guard !image.isNothing else {
                    delivery.counter.countAbsent(subject)
                    return request.completeAbsent(freshness: archive.reader.isStorable ? nil : .notStored)
                }
                request.complete { pixels in
                    if !archive.reader.isStorable { pixels.freshness = .notStored }
                    let failure = delivery.write(image, place, of: subject, into: &pixels)
                    if let failure { throw failure }
                    return .pixels
                }
            }
        }
        request.onCancel { load.cancel() }
        load.begin()
    }

    /// Reads a tile and waits, for tests.
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        delivery.counter.countLoad()
        switch archive.tile(id(of: tile), of: subject(of: tile)) {
        case .absent:
            delivery.counter.countAbsent(subject(of: tile))
            return .absent
        case .read(.failed(let failure, _)): throw failure
        case .read(.cancelled): throw TileFailure.transient(retryAfter: .zero)
        case .read(.bytes(let bytes)):
            let place = ImagePlacement(tileSize: tileSize)
            let image = archive.decompressed(bytes)
            guard !image.isNothing else {
                delivery.counter.countAbsent(subject(of: tile))
                return .absent
            }
            let failure = delivery.write(image, place, of: subject(of: tile), into: &pixels)
            if let failure { throw failure }
            return .pixels
        }
    }

    /// Decodes a tile from the archive's bytes.
    public func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        try delivery.decode(encoded, ImagePlacement(tileSize: tileSize), of: subject(of: tile), into: &pixels)
    }

    private func id(of tile: TileCoordinate) -> UInt64 {
        PMTilesID.number(zoom: zooms.lowerBound + tile.level, column: tile.column, row: tile.row)
    }

    private func subject(of tile: TileCoordinate) -> String {
        "\(name): tile \(zooms.lowerBound + tile.level)/\(tile.column)/\(tile.row)"
    }
}

extension PMTilesArchive {
    /// Bytes read for the size of the tiles, from the first one on; the headers of most images are far shorter.
    private static let sample = 1 << 16
    /// Tiles that are enough for that: if fewer are among those bytes, others are read one by one.
    private static let leastSamples = 3

    /// Maximum bytes of the metadata, before and after decompression.
    private static let largestMetadata = 4 << 20

    /// Gets a tile's bytes and waits.
    fileprivate func tile(_ id: UInt64, of subject: String) -> RangeTileEnd {
        let answer = Awaited<RangeTileEnd>()
        PMTilesLoad(self, id, of: subject, for: .opening) { answer.set($0) }.begin()
        return answer.wait(orInterrupted: .read(.cancelled))
    }

    /// Some tiles: those at the beginning of the section of tiles, and some others if these are few.
    fileprivate func samples() throws(TileSourceError) -> TileSizeSamples {
        let section = header.tiles.offset..<header.tiles.offset + min(header.tiles.length, Self.sample)
        guard !section.isEmpty else { throw TileSourceError(reader.name, "it has no tiles") }
        let beginning = try reader.readNow(section)
        let entries = firstEntries()
        var samples = TileSizeSamples()
        var known: Set<UInt64> = []
        let within = entries.filter { $0.run > 0 && $0.offset < UInt64(beginning.count) }
        for index in TileSizeSamples.spread(TileSizeSamples.enough, over: within.count) {
            let (start, length) = (Int(within[index].offset), Int(within[index].length))
            let end = min(start + length, beginning.count)
            guard case .success(let image) = image(beginning[start..<end]) else { continue }
            // Of the last one there may be a part only.
            if end < start + length, (try? TileSizeSamples.size(of: image, "").get()) == nil { continue }
            known.insert(within[index].offset)
            samples.take(image, of: subject(of: within[index]))
        }
        if within.isEmpty, case .success(let image) = image(beginning[...], mayContinue: true),
            (try? TileSizeSamples.size(of: image, "").get()) != nil
        {
            samples.take(image, of: "\(reader.name): its first tile")
        }
        for (number, index) in TileSizeSamples.spread(TileSizeSamples.enough, over: entries.count).enumerated()
        where !known.contains(entries[index].offset) || entries[index].run == 0 {
            let isEnough = number < Self.leastSamples ? samples.count >= Self.leastSamples : samples.count > 0
            // The first ones of a set that states no images tell whether it has any.
            let hasNone = header.label != nil && samples.count == 0 && samples.tried >= Self.leastSamples
            if isEnough || hasNone { break }
            let subject = subject(of: entries[index])
            switch tile(entries[index].id, of: subject) {
            case .absent, .read(.cancelled): samples.take("it is not there", of: subject)
            case .read(.failed(_, let failure)): samples.take(failure.message, of: subject)
            case .read(.bytes(let bytes)):
                switch decompressed(bytes) {
                case .failure(let failure): samples.take(failure.message, of: subject)
                case .success(let image): samples.take(image.array, of: subject)
                }
            }
        }
        return samples
    }

    private func image(_ bytes: ArraySlice<UInt8>, mayContinue: Bool = false) -> Result<[UInt8], TileLoadFailure> {
        decompressed(.received(Array(bytes)), mayContinue: mayContinue).map(\.array)
    }

    private func subject(of entry: PMTilesDirectory.Entry) -> String { "\(reader.name): its tile number \(entry.id)" }

    /// Entries of the root directory, and of the first leaf directory, which a view needs first.
    private func firstEntries() -> [PMTilesDirectory.Entry] {
        if let first = firstLeaf { return first + root.entries.dropFirst() }
        guard let first = root.entries.first, first.run == 0, let range = header.leaves.range(first) else {
            return root.entries
        }
        let answer = Awaited<Leaf>()
        _ = leaf(range, isDemand: true, isOpening: true) { answer.set($0) }
        let interrupted = Leaf.failure(.end(.cancelled))
        guard case .success(let directory) = answer.wait(orInterrupted: interrupted) else { return root.entries }
        return directory.entries + root.entries.dropFirst()
    }

    fileprivate func metadata() throws(TileSourceError) -> String {
        let section = header.metadata
        guard section.length <= Self.largestMetadata else {
            throw TileSourceError(reader.name, "its metadata of \(section.length) bytes are too large")
        }
        let bytes = try reader.readNow(section.offset..<section.offset + section.length)
        guard header.internalCompression == .gzip else { return String(decoding: bytes, as: UTF8.self) }
        switch Gzip.inflate(bytes, limit: Self.largestMetadata) {
        case .failure(let failure): throw TileSourceError(reader.name, "its metadata: \(failure.message)")
        case .success(let text): return String(decoding: text, as: UTF8.self)
        }
    }
}

extension Result<RangeBytes, TileLoadFailure> {
    /// Whether the tile has no bytes, and so is absent.
    fileprivate var isNothing: Bool { if case .success(let bytes) = self { bytes.count == 0 } else { false } }
}

extension TileDelivery {
    /// Decodes a tile, unless it could not be decompressed.
    fileprivate func write(
        _ image: Result<RangeBytes, TileLoadFailure>,
        _ place: ImagePlacement,
        of subject: String,
        into pixels: inout TilePixels
    ) -> TileFailure? {
        switch image {
        case .failure(let failure): return counted(failure, of: subject)
        case .success(let image):
            return image.withBytes { write(UnsafeRawBufferPointer($0), place, of: subject, into: &pixels) }
        }
    }
}
