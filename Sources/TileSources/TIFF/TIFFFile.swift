import TileCache

/// An open TIFF file whose directories are being read.
struct TIFFFile {
    let reader: ByteRangeReader
    var bytes: TIFFBytes
    let format: TIFFFormat
    /// The first directory, thumbnails left out.
    private(set) var main: TIFFDirectory
    /// Whether it is a page after the first one: only what follows it directly belongs to it.
    private(set) var isFurther = false
    /// Whether it was chosen by its number, and is drawn even if it is a smaller version of another one.
    private(set) var isPage = false
    private var seen: Set<UInt64> = []

    /// Directories of a file that are read, sub-directories included. Files of many planes have more; levels are among
    /// the first.
    static let mostDirectories = 256
    /// Directories among which a page is chosen.
    private static let mostPages = 4096

    /// Whether bytes begin as those of a TIFF file do.
    static func isBeginning(_ bytes: [UInt8]) -> Bool {
        [[0x49, 0x49, 42, 0], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 42], [0x4D, 0x4D, 0, 43]].contains(bytes)
    }

    /// Opens a file and reads its first directory.
    ///
    /// - Parameters:
    ///   - tiff: The picture that is wanted.
    ///   - first: Bytes to read at first, 16 or more: no file of one tile is shorter.
    ///   - counter: Of its failures. Default: the source's.
    init(
        _ place: String,
        http: HTTPTileOptions,
        tiff: TIFFTileOptions = TIFFTileOptions(),
        first: Int = 1 << 16,
        counter: SourceCounter? = nil,
        _ delivery: TileDelivery
    ) throws(TileSourceError) {
        let (reader, beginning) = try ByteRangeReader.open(
            place,
            expecting: "a TIFF file",
            first: first,
            least: 16,
            http: http,
            counter: counter ?? delivery.counter,
            scratch: delivery.scratch
        )
        self.reader = reader
        bytes = TIFFBytes(reader, beginning: beginning)
        do throws(TileSourceError) {
            let (format, first) = try TIFFFormat.read(beginning, path: place)
            guard first != 0 else { throw TileSourceError(place, "it has no directory") }
            self.format = format
            main = try TIFFDirectory(&bytes, at: first, format: format)
            seen = [first]
            if try !choose(tiff) { try skipThumbnails() }
            try bytes.expect(main)
        } catch {
            reader.stop()
            throw error
        }
    }

    /// Begins at the first tiled directory if it is larger than those in strips before it: some scanners write a label
    /// and a thumbnail first.
    private mutating func skipThumbnails() throws(TileSourceError) {
        guard !TIFFLevel.isTiled(main) else { return }
        let first = try TIFFLevel.size(main, &bytes)
        var offset = main.next
        for _ in 0..<4 where offset != 0 {
            // The first one can be read even if others are damaged.
            guard let directory = try? TIFFDirectory(&bytes, at: offset, format: format) else { return }
            if TIFFLevel.isTiled(directory) {
                guard let size = try? TIFFLevel.size(directory, &bytes), size.width > first.width,
                    size.height > first.height
                else { return }
                (main, seen) = (directory, [offset])
                return
            }
            offset = directory.next
        }
    }

    /// Goes on to the picture that is chosen, and no further; returns whether one is.
    private mutating func choose(_ tiff: TIFFTileOptions) throws(TileSourceError) -> Bool {
        guard let number = tiff.page ?? tiff.series else { return false }
        isPage = tiff.page != nil
        let series = isPage ? .all : try TIFFSeries(of: main, number, &bytes)
        let first = seen
        bytes.isWalking = true
        defer { bytes.isWalking = false }
        var (directory, offset, place) = (main, seen.first ?? 0, 0)
        var starts: [TIFFDirectory] = []
        var end: String?
        while true {
            if try series.hasStart(directory, at: place, &bytes) { starts.append(directory) }
            if starts.count == series.wanted(number) {
                (main, seen, isFurther) = (directory, [offset], place > 0)
                return true
            }
            guard directory.next != 0 else { break }
            offset = directory.next
            guard place + 1 < Self.mostPages, seen.insert(offset).inserted else {
                let isCut = place + 1 >= Self.mostPages
                end =
                    isCut
                    ? "only \(Self.mostPages) directories are searched" : "its directories refer to an earlier one"
                break
            }
            // Those before a damaged one can be read.
            do throws(TileSourceError) { directory = try TIFFDirectory(&bytes, at: offset, format: format) } catch {
                if error.isOfReading { throw error }
                end = "what follows is not read: \(error.message)"
                break
            }
            place += 1
        }
        // Where all are marked as smaller versions, the first is a picture, too.
        if starts.isEmpty, number == 1, !series.isPlaced {
            seen = first
            return true
        }
        // Without any other picture the first directory is one.
        if starts.isEmpty, !series.isPlaced { starts = [main] }
        throw TileSourceError(bytes.name, missing(number, series, starts, end))
    }

    /// Says that there is no such page or series.
    private mutating func missing(
        _ number: Int,
        _ series: TIFFSeries,
        _ starts: [TIFFDirectory],
        _ end: String?
    ) -> String {
        let end = end.map { "; \($0)" } ?? ""
        guard !series.isPlaced else { return "series \(number) is not in this file\(end)" }
        let kind = isPage ? "page" : "series"
        let found = starts.count == 1 ? "\(kind) 1 was" : "\(isPage ? "pages" : kind) 1 to \(starts.count) were"
        return "\(found) expected, not \(number); it has \(Self.list(starts, &bytes))\(end)"
    }

    /// Sizes of pictures, for a message.
    private static func list(_ directories: [TIFFDirectory], _ bytes: inout TIFFBytes) -> String {
        var words: [String] = []
        for (index, directory) in directories.prefix(8).enumerated() {
            let size = try? TIFFLevel.size(directory, &bytes)
            words.append("\(index + 1) of \(size.map { "\($0.width) x \($0.height)" } ?? "unknown") pixels")
        }
        if directories.count > 8 { words.append("...") }
        return words.joined(separator: ", ")
    }

    /// Reads the directory at an offset; `nil` if there is none, or enough have been read.
    mutating func next(_ offset: UInt64) throws(TileSourceError) -> TIFFDirectory? {
        guard offset != 0, seen.count < Self.mostDirectories else { return nil }
        guard seen.insert(offset).inserted else {
            throw TileSourceError(bytes.name, "its directory at \(offset) is referred to twice")
        }
        return try TIFFDirectory(&bytes, at: offset, format: format)
    }
}

extension TIFFFile {
    /// Opens a file as what it is: tiled, or as one large image.
    static func open(
        _ place: String,
        http: HTTPTileOptions,
        image: ImageTileOptions,
        tiff: TIFFTileOptions,
        options: TileSourceOptions,
        progress: (Double) -> Bool
    ) throws(TileSourceError) -> any PyramidTileSource {
        try options.check(place)
        try tiff.check(place)
        let delivery = TileDelivery(options)
        return try ByteRangeReader.unchanged { () throws(TileSourceError) -> any PyramidTileSource in
            var file = try TIFFFile(place, http: http, tiff: tiff, delivery)
            if TIFFLevel.isTiled(file.main) {
                let contents = try TIFFContents(reading: &file, tiff, http, delivery)
                return try TIFFTileSource(contents, http: http, tiff: tiff, options: options, delivery: delivery)
            }
            defer { file.reader.stop() }
            let strips = try TIFFStrips(&file, limit: image.memoryLimit.bytes, tiff)
            return try ImageTileSource(
                strips,
                name: place,
                own: file.reader.dataSet + tiff.names,
                image: image,
                options: options,
                progress: progress
            )
        }
    }
}
