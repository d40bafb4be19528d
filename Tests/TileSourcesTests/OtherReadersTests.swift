import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Compares windows of large TIFFs with what other programs read. Other programs write the files. The windows are 200
/// random ones, all corners and edges.
@Suite(.serialized, .timeLimit(.minutes(45))) struct OtherReadersTests {
    private let folder = ScratchFolder()
    private static let image = TestImage(width: 1100, height: 900, hasAlpha: true)

    private var madePath: String { "\(folder.path)/made.tif" }
    private var windowsPath: String { "\(folder.path)/windows" }

    /// Lets a program write the test's image; returns the path.
    ///
    /// - Parameter reader: Reads windows of it in the same process, which takes a while to start.
    private func made(_ kind: String, by python: String, readBy reader: String? = nil) throws -> String {
        let raw = folder.write(Self.image.pixels, to: "picture.raw")
        var command = "make \(kind) '\(raw)' \(Self.image.width) \(Self.image.height) '\(madePath)'"
        if let reader { command += " then \(reading(madePath, by: reader))" }
        try #require(OtherReaders.run(python, command), "\(kind) was made")
        return madePath
    }

    private func reading(_ path: String, by reader: String) -> String { "read \(reader) '\(path)' 1 '\(windowsPath)'" }

    /// Lets a program write the test's image, and compares its windows with another reader's in the same Python.
    private func compare(
        kind: String,
        with reader: String,
        by python: String,
        within limit: Int,
        levels: Int
    ) throws {
        try compareWindows(of: made(kind, by: python, readBy: reader), within: limit, levels: levels)
    }

    /// Compares a file's windows with another reader's. `levels` is the number of levels.
    private func compare(
        _ path: String,
        with reader: String,
        by python: String,
        within limit: Int,
        levels: Int
    ) throws {
        try #require(OtherReaders.run(python, reading(path, by: reader)), "\(reader) reads")
        try compareWindows(of: path, within: limit, levels: levels)
    }

    private func compareWindows(of path: String, within limit: Int, levels: Int) throws {
        let source = try TIFFTileSource(path, options: TileSourceOptions(alpha: .straight))
        try #require(source.fileLevels.count == levels)
        var tiles: [TileCoordinate: TestImage] = [:]
        var (count, seen) = (0, Set<Int>())
        for window in try OtherReaders.windows(windowsPath) {
            let level = levels - 1 - window.level
            let extent = source.fileLevels[level]
            var found = TestImage(width: window.image.width, height: window.image.height, pixels: window.image.pixels)
            for column in window.x / extent.tileWidth...(window.x + found.width - 1) / extent.tileWidth {
                for row in window.y / extent.tileHeight...(window.y + found.height - 1) / extent.tileHeight {
                    let tile = TileCoordinate(level: level, column: column, row: row)
                    let pixels = try tiles[tile] ?? source.loaded(level, column, row).image
                    tiles[tile] = pixels
                    found.paste(
                        pixels,
                        x: column * extent.tileWidth - window.x,
                        y: row * extent.tileHeight - window.y
                    )
                }
            }
            count += 1
            seen.insert(level)
            guard found != window.image else { continue }
            let most = found.pixels.greatestDifference(from: window.image.pixels)
            #expect(most <= limit, "level \(level), \(window.x), \(window.y): \(found.width) x \(found.height)")
        }
        #expect(count == 200 + 9 * levels && seen.count == levels && source.statistics.failureCount == 0)
    }

    /// Cloud-optimised GeoTIFF of GDAL, as GDAL reads it.
    @Test(
        .enabled(if: OtherReaders.gdal != nil, "gdal-bin and python3-gdal are not installed"),
        arguments: [
            "NONE:NO:rgb", "LZW:NO:rgba", "LZW:STANDARD:sixteen", "DEFLATE:STANDARD:rgb",
            "DEFLATE:FLOATING_POINT:float", "ZSTD:STANDARD:grey", "ZSTD:NO:float", "JPEG:NO:rgb", "JPEG:NO:grey",
            "WEBP:NO:rgb", "WEBP:NO:rgba",
        ]
    )
    func pyramidsOfGDAL(kind: String) throws {
        let python = try #require(OtherReaders.gdal)
        let limit = kind.hasPrefix("JPEG") ? 1 : 0
        try compare(kind: "cog:\(kind)", with: "gdal", by: python, within: limit, levels: 5)
    }

    /// Samples, colours and compressions that only libtiff decodes, as GDAL reads them.
    @Test(
        .enabled(if: OtherReaders.gdal != nil, "gdal-bin and python3-gdal are not installed"),
        arguments: [
            "bits1:COMPRESS=CCITTFAX4", "bits1:COMPRESS=CCITTFAX3", "bits1:COMPRESS=CCITTRLE",
            "bits1:COMPRESS=PACKBITS",
            "bits1:PHOTOMETRIC=MINISWHITE,COMPRESS=CCITTFAX4", "bits1:ENDIANNESS=BIG", "bits2:COMPRESS=LZW",
            "bits4:COMPRESS=DEFLATE", "bits4:PHOTOMETRIC=MINISWHITE", "bits11:", "bits12:ENDIANNESS=BIG,COMPRESS=LZW",
            "two:COMPRESS=LZW", "two:INTERLEAVE=BAND", "five:COMPRESS=ZSTD", "five:INTERLEAVE=BAND", "palette:",
            "palette:COMPRESS=LZW,ENDIANNESS=BIG", "cmyk:COMPRESS=DEFLATE,BIGTIFF=YES", "cmyk:INTERLEAVE=BAND",
            "grey:PHOTOMETRIC=MINISWHITE", "rgb:COMPRESS=LERC", "rgba:COMPRESS=LERC_ZSTD,INTERLEAVE=BAND",
            "rgb:COMPRESS=JPEG,INTERLEAVE=BAND", "rgba:COMPRESS=JPEG", "two:COMPRESS=JPEG", "cmyk:COMPRESS=JPEG",
            "int16:COMPRESS=LZW,PREDICTOR=2", "int16:ENDIANNESS=BIG,INTERLEAVE=BAND", "int32:COMPRESS=LERC",
            "uint32:COMPRESS=DEFLATE", "uint32:ENDIANNESS=BIG", "float16:COMPRESS=ZSTD",
            "float32:COMPRESS=DEFLATE,PREDICTOR=3", "float64:COMPRESS=LERC_DEFLATE", "dem:COMPRESS=ZSTD,PREDICTOR=2",
        ]
    )
    func otherSamplesOfGDAL(kind: String) throws {
        let python = try #require(OtherReaders.gdal)
        // GDAL reads CMYK as libtiff converts it, rounded down.
        let limit = kind.contains("JPEG") || kind.hasPrefix("cmyk") ? 1 : 0
        let isFlat = kind.hasPrefix("cmyk") || kind.contains("MINISWHITE") && !kind.hasPrefix("bits1:")
        try compare(kind: "gtiff:\(kind)", with: "gdal", by: python, within: limit, levels: isFlat ? 1 : 3)
    }

    /// Internal masks of GDAL's cloud-optimised files, beside JPEG and without loss, and overviews in a file beside.
    @Test(
        .enabled(if: OtherReaders.gdal != nil, "gdal-bin and python3-gdal are not installed"),
        arguments: [("masked:JPEG", 5), ("masked:DEFLATE", 5), ("beside:LZW", 3), ("beside:JPEG", 3)]
    )
    func masksAndFilesBesideOfGDAL(kind: String, levels: Int) throws {
        let python = try #require(OtherReaders.gdal)
        try compare(kind: kind, with: "gdal", by: python, within: kind.hasSuffix("JPEG") ? 1 : 0, levels: levels)
        guard kind.hasPrefix("masked") else { return }
        // Each tile comes with its mask.
        let bytes = try #require(OtherPrograms.bytes(madePath))
        let server = try #require(RangeServer(bytes))
        let source = try TIFFTileSource(server.address)
        let before = server.asked.count
        for column in 0..<8 { _ = try source.loaded(levels - 1, column, 3) }
        #expect(server.asked.count == before + 8 && source.statistics.failureCount == 0)
    }

    /// What is not decoded is refused by its name.
    @Test(
        .enabled(if: OtherReaders.gdal != nil, "gdal-bin and python3-gdal are not installed"),
        arguments: ["LZMA"]
    )
    func otherCompressionsOfGDALAreRefused(name: String) throws {
        let path = try made("cog:\(name):NO:rgb", by: try #require(OtherReaders.gdal))
        #expect(message { _ = try TIFFTileSource(path) }.contains("or none was expected, not \(name)"))
    }

    /// Cloud-optimised GeoTIFF of rio-cogeo, as rasterio reads it.
    ///
    /// JPEG as GDAL reads it, if that is there: it has the system's decoder, and rasterio brings another one, which
    /// interpolates colours in another way.
    @Test(
        .enabled(if: OtherReaders.rioCOGeo != nil, "PyPI's rio-cogeo is not installed"),
        arguments: ["jpeg", "webp", "zstd", "lzw", "deflate", "packbits", "raw"]
    )
    func pyramidsOfRioCOGeo(profile: String) throws {
        let python = try #require(OtherReaders.rioCOGeo)
        guard profile == "jpeg" else {
            // WebP with loss, too: both decode with libwebp.
            return try compare(kind: "rio:\(profile)", with: "rasterio", by: python, within: 0, levels: 4)
        }
        let path = try made("rio:\(profile)", by: python)
        if let gdal = OtherReaders.gdal { try compare(path, with: "gdal", by: gdal, within: 1, levels: 4) }
    }

    /// OME-TIFF of tifffile with sub-directories, as it reads it itself. Without PyPI's imagecodecs it writes Deflate.
    @Test(
        .enabled(if: OtherReaders.tifffile != nil, "python3-tifffile is not installed"),
        arguments: [
            "none:rgb:contig:small", "zlib:rgb:separate:big", "zlib:sixteen:contig:big", "none:grey:contig:small",
            "zlib:float:separate:small",
        ]
    )
    func pyramidsOfTifffile(kind: String) throws {
        let python = try #require(OtherReaders.tifffile)
        try compare(kind: "ome:\(kind)", with: "tifffile", by: python, within: 0, levels: 3)
    }

    @Test(
        .enabled(if: OtherReaders.imagecodecs != nil, "PyPI's tifffile and imagecodecs are not installed"),
        arguments: [
            "jpeg:rgb:contig:small", "lzw:sixteen:contig:small", "zstd:rgb:separate:big", "webp:rgb:contig:small",
            "jpeg2000:rgb:contig:small", "jpeg2000:sixteen:contig:small", "jpeg2000:grey:contig:big",
            "aperio_jp2000_rgb:rgb:contig:small",
        ]
    )
    func compressedPyramidsOfTifffile(kind: String) throws {
        let python = try #require(OtherReaders.imagecodecs)
        let limit = kind.hasPrefix("jpeg") ? 1 : 0
        try compare(kind: "ome:\(kind)", with: "tifffile", by: python, within: limit, levels: 3)
    }

    /// A scanned slide in Aperio's layout, written here. openslide knows it by its description.
    @Test(.enabled(if: OtherReaders.openslide != nil, "python3-openslide is not installed"))
    func slidesAsOpenSlideReadsThem() throws {
        let python = try #require(OtherReaders.openslide)
        let images = [(1024, 768), (256, 192), (64, 48)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0)
        }
        var directories = images.map { image in
            var directory = MadeTIFF.Directory(image)
            (directory.tile, directory.compression, directory.encode) = (64, 7, { $0.jpeg() })
            directory.more = [.init(tag: 262, type: 3, values: [6])]
            return directory
        }
        let about = "Aperio Image Library v11.2.1\n1024x768 (64x64) JPEG/RGB Q=90|AppMag = 20|MPP = 0.499\0"
        directories[0].more.append(.init(tag: 270, type: 2, values: about.utf8.map { UInt64($0) }))
        var thumbnail = MadeTIFF.Directory(TestImage(width: 32, height: 24))
        (thumbnail.tile, thumbnail.compression, thumbnail.encode) = (0, 7, { $0.jpeg() })
        thumbnail.more = [.init(tag: 262, type: 3, values: [6])]
        var label = thumbnail
        label.kind = 1
        directories = [directories[0], thumbnail, directories[1], directories[2], label]
        let path = folder.write(MadeTIFF(directories: directories).bytes(), to: "slide.svs")
        try compare(path, with: "openslide", by: python, within: 1, levels: 3)
    }

    /// A slide that libtiff writes, as Aperio's scanners do. Tables are apart from tiles of 240 pixels. Levels are a
    /// quarter and a sixteenth, with a thumbnail in strips between them.
    @Test(
        .enabled(
            if: OtherReaders.openslide != nil && OtherReaders.tiffcp != nil,
            "python3-openslide, tifffile or libtiff-tools is missing"
        ),
        arguments: ["ycbcr", "rgb"]
    )
    func slidesThatLibtiffWrites(colours: String) throws {
        let path = try made("svs:\(colours)", by: try #require(OtherReaders.tiffcp))
        try compare(path, with: "openslide", by: try #require(OtherReaders.openslide), within: 1, levels: 3)
    }

    /// A slide of JPEG 2000 that tifffile writes, as openslide reads it: red, green and blue, and what it takes for YCbCr.
    @Test(
        .enabled(
            if: OtherReaders.openslide != nil && OtherReaders.imagecodecs != nil,
            "python3-openslide, or PyPI's tifffile and imagecodecs are not installed"
        ),
        arguments: ["aperio_jp2000_rgb", "aperio_jp2000_ycbc"]
    )
    func slidesOfJPEG2000(compression: String) throws {
        let path = try made("slide:\(compression)", by: try #require(OtherReaders.imagecodecs))
        try compare(path, with: "openslide", by: try #require(OtherReaders.openslide), within: 1, levels: 2)
    }

    /// A slide from outside, as openslide reads it. Its levels have to be whole fractions of the first one, and not
    /// smaller than a tile unless they are JPEG. Other places are not whole pixels for openslide; see also
    /// ``pyramidsOfVipsAsOpenSlideReadsThem``.
    @Test(.enabled(if: OtherReaders.slide != nil, "TILECACHE_SLIDE names no slide")) func aRealSlide() throws {
        let path = try #require(OtherReaders.slide)
        let levels = try TIFFTileSource(path).fileLevels.count
        try compare(path, with: "openslide", by: try #require(OtherReaders.openslide), within: 1, levels: levels)
    }

    /// A generic tiled TIFF of libvips, as openslide reads it.
    ///
    /// No level is smaller than a tile: openslide 3.4.1 shows such levels as blanks or as noise, except JPEG.
    @Test(
        .enabled(if: OtherReaders.openslide != nil && OtherPrograms.vips, "python3-openslide or vips is missing"),
        arguments: ["jpeg", "deflate"]
    )
    func pyramidsOfVipsAsOpenSlideReadsThem(compression: String) throws {
        let python = try #require(OtherReaders.openslide)
        let picture = folder.write(TestImage(width: 1024, height: 1024).png, to: "picture.png")
        let path = "\(folder.path)/pyramid.tif"
        let flags = "--tile --pyramid --tile-width 128 --tile-height 128 --compression \(compression)"
        #expect(OtherPrograms.run("vips tiffsave '\(picture)' '\(path)' \(flags)"))
        try compare(path, with: "openslide", by: python, within: compression == "jpeg" ? 1 : 0, levels: 4)
    }
}

/// Python programs that read TIFF files.
enum OtherReaders {
    struct Window {
        /// Number of the level, counted from the finest.
        var level: Int
        var x: Int
        var y: Int
        var image: TestImage
    }

    /// The first Python that has what is needed. `TILECACHE_PYTHON` may name one with packages of PyPI.
    static let gdal = OtherPrograms.gdal ? python("numpy osgeo.gdal_array") : nil
    static let rioCOGeo = python("numpy rio_cogeo")
    static let tifffile = python("numpy tifffile")
    static let imagecodecs = python("numpy tifffile imagecodecs")
    static let openslide = python("numpy openslide")
    static let tiffcp = OtherPrograms.tiffcp ? tifffile : nil
    /// A slide that openslide reads, if it is there.
    static let slide = openslide.flatMap { _ in getenv("TILECACHE_SLIDE").map { String(cString: $0) } }

    private static func python(_ modules: String) -> String? {
        let candidates = ["\"$TILECACHE_PYTHON\"", "/usr/bin/python3", "python3"]
        return candidates.first { run($0, "modules \(modules)") }
    }

    /// Runs the script beside this file.
    static func run(_ python: String, _ arguments: String) -> Bool {
        let folder = #filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)
        return OtherPrograms.run("\(python) '\(folder)/Support/other_readers.py' \(arguments)")
    }

    static func windows(_ path: String) throws -> [Window] {
        let bytes = try #require(OtherPrograms.bytes(path))
        var (windows, place) = ([Window](), 0)
        func number(_ index: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(bytes[place + 4 * index + $1]) << (8 * $1) }
        }
        while place + 20 <= bytes.count {
            let (width, height) = (number(3), number(4))
            let end = place + 20 + 4 * width * height
            try #require(end <= bytes.count)
            let image = TestImage(width: width, height: height, pixels: Array(bytes[place + 20..<end]))
            windows.append(Window(level: number(0), x: number(1), y: number(2), image: image))
            place = end
        }
        return windows
    }
}

extension TestImage {
    /// Replaces what an image at a place covers.
    fileprivate mutating func paste(_ image: TestImage, x: Int, y: Int) {
        let columns = max(x, 0)..<min(x + image.width, width)
        for row in max(y, 0)..<min(y + image.height, height) where !columns.isEmpty {
            let from = ((row - y) * image.width + columns.lowerBound - x) * 4
            let to = (row * width + columns.lowerBound) * 4
            pixels.replaceSubrange(
                to..<to + 4 * columns.count,
                with: image.pixels[from..<from + 4 * columns.count]
            )
        }
    }
}
