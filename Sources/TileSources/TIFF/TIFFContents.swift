import TileCache

/// What a file has of a tiled picture, read when it is opened.
struct TIFFContents {
    /// Coarsest first.
    private(set) var levels: [TIFFLevel]
    private(set) var metadata: TIFFMetadata
    /// Sentences on overviews, pages and masks that were left out, and on the range of numbers.
    private(set) var leftOut: String?
    private(set) var numbers: String?
    let reader: ByteRangeReader
    /// The file of overviews beside the picture's.
    private(set) var overviews: ByteRangeReader?

    /// The file with a level's tiles.
    func reader(of level: TIFFLevel) -> ByteRangeReader { level.isBeside ? overviews ?? reader : reader }

    /// Ends all reads.
    func stop() {
        reader.stop()
        overviews?.stop()
    }

    /// Reads the directories of a file; ends its reader if they are wrong.
    init(
        reading file: inout TIFFFile,
        _ tiff: TIFFTileOptions,
        _ http: HTTPTileOptions,
        _ delivery: TileDelivery
    ) throws(TileSourceError) {
        do throws(TileSourceError) {
            try self.init(&file, tiff, http, delivery)
        } catch {
            file.reader.stop()
            throw error
        }
    }

    private init(
        _ file: inout TIFFFile,
        _ tiff: TIFFTileOptions,
        _ http: HTTPTileOptions,
        _ delivery: TileDelivery
    ) throws(TileSourceError) {
        guard let first = try TIFFPage(file.main, &file.bytes) else {
            let (width, height) = try TIFFLevel.size(file.main, &file.bytes)
            throw TileSourceError(
                file.reader.name,
                "a tiled TIFF was expected, and its \(width) x \(height) pixels are in strips: open it as one large "
                    + "image, by its address or with ImageTileSource, or \(TIFFStrips.hint)"
            )
        }
        // First, since its values may be followed by all others: one read then brings them.
        var world = try TIFFLevel(file.main, file.format, bands: tiff.bands, room: tiff.heldTiles, &file.bytes)
        let pages = try TIFFPages(&file, first)
        let main = pages.main.directory
        if pages.isMainLater {
            world = try TIFFLevel(main, file.format, bands: tiff.bands, room: tiff.heldTiles, &file.bytes)
        }
        reader = file.reader
        metadata = try TIFFMetadata(main, &file.bytes)
        levels = [world]
        var warnings = [pages.warning]
        let room = room(tiff)
        warnings.append(try Self.addMask(pages.mask(of: pages.main), to: &levels[0], room: room, &file))
        warnings += try add(pages, world, tiff, &file)
        if levels.count == 1, let more = try addFile(of: pages.main, tiff, http, &file, delivery) { warnings += more }
        levels.sort { $0.scale > $1.scale }
        let coarsest = levels[0].isBeside ? overviews : nil
        numbers = try TIFFLevel.setNumbers(&levels, main, range: tiff.range, reader: coarsest, &file.bytes)
        let texts = warnings.compactMap(\.self)
        leftOut = texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// Adds the levels that belong to the picture. Returns what was left out.
    private mutating func add(
        _ pages: TIFFPages,
        _ world: TIFFLevel,
        _ tiff: TIFFTileOptions,
        isBeside: Bool = false,
        _ file: inout TIFFFile
    ) throws(TileSourceError) -> [String?] {
        var warnings: [String?] = []
        for found in pages.levels {
            var level: TIFFLevel
            do throws(TileSourceError) {
                let directory = found.page.directory
                level = try TIFFLevel(directory, file.format, bands: tiff.bands, room: room(tiff), &file.bytes)
            } catch {
                throw error.of("its level of \(found.page.width) x \(found.page.height) pixels")
            }
            level.setScale(found.scale, of: world, isFilled: found.isFilled)
            level.isBeside = isBeside
            let mask = pages.mask(of: found.page)
            if mask == nil, !levels[0].mask.isEmpty {
                warnings.append(
                    "its overview of \(level.width) x \(level.height) pixels has no mask: those without data are drawn"
                )
            }
            warnings.append(try Self.addMask(mask, to: &level, room: room(tiff) - level.count, &file))
            levels.append(level)
        }
        return warnings
    }

    /// Tiles whose places may still be in memory.
    private func room(_ tiff: TIFFTileOptions) -> Int { tiff.heldTiles - levels.reduce(0) { $0 + $1.count } }

    /// - Parameter room: Tiles of the mask whose places may be in memory.
    private static func addMask(
        _ page: TIFFPage?,
        to level: inout TIFFLevel,
        room: Int,
        _ file: inout TIFFFile
    ) throws(TileSourceError) -> String? {
        guard let page else { return nil }
        // A picture can be drawn without its mask.
        if let mask = try? TIFFLevel(page.directory, file.format, isMask: true, room: room, &file.bytes),
            level.setMask(mask)
        {
            return nil
        }
        return level.layout.alphaSample == nil
            ? "its mask of pixels without data is not read: they are drawn as they are" : nil
    }

    /// Adds the levels of the file of overviews beside the picture's, as GDAL writes it, if there is one.
    ///
    /// A server is asked once, if its picture has more than one tile, and what it answers instead of a file is no failure.
    private mutating func addFile(
        of main: TIFFPage,
        _ tiff: TIFFTileOptions,
        _ http: HTTPTileOptions,
        _ file: inout TIFFFile,
        _ delivery: TileDelivery
    ) throws(TileSourceError) -> [String?]? {
        guard levels[0].columns * levels[0].rows > 1, tiff.page == nil, tiff.series == nil,
            !reader.isRemote || !reader.name.contains(where: { $0 == "?" || $0 == "#" })
        else { return nil }
        let counter = SourceCounter()
        let place = reader.name + ".ovr"
        // A server that has less is asked again for what all have: one that has nothing is not. A BigTIFF begins with 16.
        let first = reader.isRemote ? 16 : 1 << 16
        var beside: TIFFFile
        do throws(TileSourceError) {
            beside = try TIFFFile(place, http: http, first: first, counter: counter, delivery)
        } catch {
            if error.reason == .cancelled { throw error }
            // What a server answers instead of a file is no failure, unless it may pass.
            let isNone = error.reason == .missing || reader.isRemote && error.reason != .mayPass
            return isNone ? nil : ["its overviews are not read: \(error)"]
        }
        do throws(TileSourceError) {
            let samples = try main.samples(&file.bytes)
            let pages = try TIFFPages(&beside, beside: main, samples)
            let warnings = try add(pages, levels[0], tiff, isBeside: true, &beside)
            guard levels.count > 1 else {
                beside.reader.stop()
                return nil
            }
            overviews = beside.reader
            return [pages.warning] + warnings
        } catch {
            beside.reader.stop()
            if error.reason == .cancelled { throw error }
            // Levels are of use without those that are damaged.
            levels.removeLast(levels.count - 1)
            return ["its overviews are not read: \(error)"]
        }
    }
}
