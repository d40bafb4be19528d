import CGDAL
import Foundation
import GDALTiles
import Testing
import TileCache
import TileSources

/// Tiles of rasters that GDAL writes are what GDAL reads in one piece.
@Suite(.serialized, .timeLimit(.minutes(20))) struct GDALTileSourceTests {
    private static let hasGDAL = run("command -v gdal_translate && command -v gdaladdo")
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "gdal-\(UUID().uuidString)"
    ).path

    private static func run(_ command: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\(command) >/dev/null 2>&1"]
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// Writes a raster of raw numbers with a header of ENVI's, and returns its path.
    ///
    /// - Parameters:
    ///   - type: ENVI's number of the type: 1 for bytes, 2 for signed numbers of 16 bits.
    private func raster(bands: Int, type: Int, width: Int = 301, height: Int = 203) throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var bytes = Data()
        for band in 0..<bands {
            for y in 0..<height {
                for x in 0..<width {
                    let value = (x * (3 + band) + y * 7 + (x * y) % 13 * band) % (type == 1 ? 256 : 4000)
                    bytes.append(UInt8(value & 255))
                    if type == 2 { bytes.append(UInt8(value >> 8)) }
                }
            }
        }
        let header = """
            ENVI
            samples = \(width)
            lines = \(height)
            bands = \(bands)
            header offset = 0
            data type = \(type)
            interleave = bsq
            byte order = 0
            """
        let path = "\(folder)/given.img"
        try bytes.write(to: URL(fileURLWithPath: path))
        try Data(header.utf8).write(to: URL(fileURLWithPath: "\(folder)/given.hdr"))
        return path
    }

    /// A level of a band as GDAL reads it at once.
    private func whole(_ path: String, band number: Int32, level: Int, of count: Int) throws
        -> [Float]
    {
        let dataset = try #require(tile_gdal_open(path))
        defer { GDALClose(dataset) }
        var band = GDALGetRasterBand(dataset, number)
        // Overviews are listed finest first.
        if level < count - 1 { band = GDALGetOverview(band, Int32(count - 2 - level)) }
        let (width, height) = (GDALGetRasterBandXSize(band), GDALGetRasterBandYSize(band))
        var numbers = [Float](repeating: 0, count: Int(width * height))
        #expect(tile_gdal_read(band, 0, 0, width, height, &numbers, GDT_Float32, 4, 4 * width) != 0)
        return numbers
    }

    /// Draws each level and calls a function with each pixel of the tiles that lies in the level.
    private func draw(_ source: GDALTileSource, _ body: (Int, Int, Int, ArraySlice<UInt8>) -> Void)
        throws
    {
        let cache = try TileCache(byteLimit: .mebibytes(64), workers: 4)
        let layer = try source.addLayer(to: cache)
        var drawn = 0
        for (index, level) in source.pyramid.levels.enumerated() {
            let view = cache.makeView(layers: [layer])
            let scale = 1 / level.worldPixelsPerPixel
            let viewport = TileViewport(
                center: WorldPoint(x: source.pyramid.worldWidth / 2, y: source.pyramid.worldHeight / 2),
                width: source.pyramid.worldWidth * scale,
                height: source.pyramid.worldHeight * scale,
                scale: scale
            )
            view.update(viewport)
            while view.frame().missingTileCount > 0 {
                usleep(1000)
                view.update(viewport)
            }
            for placement in view.frame() where placement.tile.identity.tile.level == index {
                let tile = placement.tile.identity.tile
                let bytes = placement.tile.withUnsafeBytes { Array($0) }
                drawn += 1
                for y in 0..<min(level.tileHeight, level.height - tile.row * level.tileHeight) {
                    for x in 0..<min(level.tileWidth, level.width - tile.column * level.tileWidth) {
                        let at = (y * level.tileWidth + x) * 4
                        body(
                            index,
                            tile.column * level.tileWidth + x,
                            tile.row * level.tileHeight + y,
                            bytes[at..<at + 4]
                        )
                    }
                }
            }
        }
        #expect(drawn == source.pyramid.levels.reduce(0) { $0 + $1.columns * $1.rows })
        #expect(source.statistics.failureCount == 0, "\(source.statistics)")
        #expect(cache.shutdown())
    }

    /// Colours, in formats that no other source reads, with overviews and without.
    @Test(
        .enabled(if: hasGDAL, "gdal-bin is not installed"),
        arguments: [
            (
                "-of JP2OpenJPEG -co REVERSIBLE=YES -co QUALITY=100", "jp2", "JP2OpenJPEG",
                TilePixelFormat.rgba8
            ),
            ("-of VRT", "vrt", "VRT", .bgra8), ("-of HFA", "img", "HFA", .rgba8),
            ("-of ENVI", "bin", "ENVI", .rgba8),
        ]
    )
    func coloursAreWhatGDALReads(
        options: String,
        ending: String,
        driver: String,
        format: TilePixelFormat
    ) throws {
        let given = try raster(bands: 3, type: 1)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/made.\(ending)"
        let colours = "-colorinterp red,green,blue"
        #expect(Self.run("gdal_translate -q \(options) \(colours) '\(given)' '\(path)'"))
        if driver != "JP2OpenJPEG" { #expect(Self.run("gdaladdo -q -r average '\(path)' 2 4")) }
        let source = try GDALTileSource(
            path: path,
            options: TileSourceOptions(format: format, tileSize: 64)
        )
        #expect(source.driver == driver && source.warning == nil && source.pyramid.worldWidth == 301)
        let count = source.pyramid.levels.count
        #expect(count == 3 || driver == "JP2OpenJPEG")
        var expected: [[[Float]]] = []
        for level in 0..<count {
            expected.append(try (1...3).map { try whole(path, band: $0, level: level, of: count) })
        }
        var wrong = 0
        try draw(source) { level, x, y, pixel in
            let place = y * source.pyramid.levels[level].width + x
            let own = Array(pixel)
            for band in 0..<3
            where Float(own[format == .bgra8 ? 2 - band : band]) != expected[level][band][place] {
                wrong += 1
            }
            if own[3] != 255 { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    /// Numbers of 16 bits are drawn from the least to the largest; those without data are transparent.
    @Test(.enabled(if: hasGDAL, "gdal-bin is not installed")) func numbersAreScaled() throws {
        let given = try raster(bands: 1, type: 2)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/made.vrt"
        #expect(
            Self.run(
                "gdal_translate -q -of VRT -a_nodata 7 '\(given)' '\(path)' && gdalinfo -stats '\(path)'"
            )
        )
        let source = try GDALTileSource(path: path)
        let numbers = try whole(path, band: 1, level: 0, of: 1)
        let valid = numbers.filter { $0 != 7 }
        let (black, white) = (try #require(valid.min()), try #require(valid.max()))
        #expect(
            source.warning?.hasSuffix("its numbers from \(Double(black)) to \(Double(white)) are drawn")
                == true
        )
        var (wrong, holes) = (0, 0)
        try draw(source) { _, x, y, pixel in
            let own = Array(pixel)
            let number = numbers[y * 301 + x]
            guard number != 7 else {
                holes += 1
                if own != [0, 0, 0, 0] { wrong += 1 }
                return
            }
            let value = UInt8((Double(number - black) * 255 / Double(white - black)).rounded())
            if own != [value, value, value, 255] { wrong += 1 }
        }
        #expect(wrong == 0 && holes > 0 && holes == numbers.count { $0 == 7 })
    }

    @Test func whatIsNoRasterIsNamed() throws {
        func said(_ path: String, _ options: TileSourceOptions = TileSourceOptions()) -> String {
            do {
                _ = try GDALTileSource(path: path, options: options)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(said("/nowhere.jp2").hasPrefix("/nowhere.jp2: a raster that GDAL "))
        #expect(said("/nowhere.jp2", TileSourceOptions(format: .gray8)).contains("rgba8 or bgra8"))
        #expect(said("/nowhere.jp2", TileSourceOptions(tileSize: 8)).contains("not 8"))
    }
}
