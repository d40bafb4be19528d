import TileCache

/// An open TIFF file whose directories are being read.
struct TIFFFile {
    let reader: ByteRangeReader
    var bytes: TIFFBytes
    let format: TIFFFormat
    /// The first directory, thumbnails left out.
    private(set) var main: TIFFDirectory
    private var seen: Set<UInt64> = []

    /// Directories of a file that are read, sub-directories included. Files of many planes have more; levels are among
    /// the first.
    static let mostDirectories = 256

    /// Whether bytes begin as those of a TIFF file do.
    static func isBeginning(_ bytes: [UInt8]) -> Bool {
        [[0x49, 0x49, 42, 0], [0x49, 0x49, 43, 0], [0x4D, 0x4D, 0, 42], [0x4D, 0x4D, 0, 43]].contains(bytes)
    }

    /// Opens a file and reads its first directory.
    init(_ place: String, http: HTTPTileOptions, _ delivery: TileDelivery) throws(TileSourceError) {
        let (reader, beginning) = try ByteRangeReader.open(
            place,
            expecting: "a TIFF file",
            first: 1 << 16,
            least: 8,
            http: http,
            counter: delivery.counter,
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
            try skipThumbnails()
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
        options: TileSourceOptions,
        progress: (Double) -> Bool
    ) throws(TileSourceError) -> any PyramidTileSource {
        try options.check(place)
        let delivery = TileDelivery(options)
        return try ByteRangeReader.unchanged { () throws(TileSourceError) -> any PyramidTileSource in
            var file = try TIFFFile(place, http: http, delivery)
            if TIFFLevel.isTiled(file.main) {
                let contents = try TIFFTileSource.contents(&file)
                return try TIFFTileSource(file.reader, contents, http: http, options: options, delivery: delivery)
            }
            defer { file.reader.stop() }
            let strips = try TIFFStrips(&file, limit: image.memoryLimit.bytes)
            return try ImageTileSource(
                strips,
                name: place,
                own: file.reader.dataSet,
                image: image,
                options: options,
                progress: progress
            )
        }
    }
}
