import COpenSlide
import Foundation
import OpenSlideTiles
import Testing
import TileCache
import TileSources

/// Tiles of slides that libvips writes are what OpenSlide reads in one piece.
@Suite(.timeLimit(.minutes(20))) struct OpenSlideTileSourceTests {
    private static let hasVips = run("command -v vips")
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("openslide-\(UUID().uuidString)")

    private static func run(_ command: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\(command) >/dev/null 2>&1"]
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// A part of a level as OpenSlide reads it: blue, green, red and alpha.
    private func region(_ slide: OpaquePointer, _ level: Int32, x: Int, y: Int, _ width: Int, _ height: Int) -> [UInt8]
    {
        var pixels = [UInt32](repeating: 0, count: width * height)
        openslide_read_region(slide, &pixels, Int64(x), Int64(y), level, Int64(width), Int64(height))
        #expect(openslide_get_error(slide) == nil)
        return pixels.withUnsafeBytes(Array.init)
    }

    /// Draws each level and compares each pixel of each tile with OpenSlide's; outside of the slide there is nothing.
    ///
    /// Levels of whole scales are read at once. OpenSlide moves those of others by parts of a pixel, from region to region.
    @Test(
        .enabled(if: hasVips, "libvips-tools is not installed"),
        arguments: [
            (512, 512, "deflate", 128, TilePixelFormat.bgra8), (512, 512, "jpeg", 256, .rgba8),
            (512, 512, "none", 48, .bgra8), (701, 497, "deflate", 100, .rgba8),
        ]
    )
    func tilesAreWhatOpenSlideReads(
        width: Int,
        height: Int,
        compression: String,
        side: Int,
        format: TilePixelFormat
    ) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("slide.tif").path
        let picture = folder.appendingPathComponent("picture.png").path
        #expect(Self.run("vips gaussnoise '\(picture).v' \(width) \(height) --sigma 60 --mean 128 --seed 7"))
        #expect(Self.run("vips bandjoin '\(picture).v \(picture).v \(picture).v' '\(picture)[bitdepth=8]'"))
        let tiles = "--tile --pyramid --tile-width 128 --tile-height 128 --compression \(compression)"
        #expect(Self.run("vips tiffsave '\(picture)' '\(path)' \(tiles)"))
        let own = side == 128 ? nil : side
        let source = try OpenSlideTileSource(path: path, options: TileSourceOptions(format: format, tileSize: own))
        #expect(source.properties["openslide.vendor"] == "generic-tiff" && source.pyramid.worldWidth == Double(width))
        #expect(source.pyramid.levels.allSatisfy { $0.tileWidth == side && $0.tileHeight == side })
        // Levels that are smaller than a tile are left out: 175 x 124 and 87 x 62.
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == (width == 512 ? [4, 2, 1] : [2, 1]))
        let slide = try #require(openslide_open(path))
        defer { openslide_close(slide) }
        let isWhole = width == 512
        let cache = try TileCache(byteLimit: .mebibytes(64), workers: 4)
        let layer = try source.addLayer(to: cache)
        var compared = 0
        for (index, level) in source.pyramid.levels.enumerated() {
            let number = Int32(source.pyramid.maximumLevel - index)
            let (wide, high) = (level.width, level.height)
            let all = isWhole ? region(slide, number, x: 0, y: 0, wide, high) : []
            for (tile, bytes) in drawn(layer, of: cache, source.pyramid, level: index) {
                compared += 1
                // Columns and rows of the tile in what was read, and its width.
                var (expected, left, top, span) = (all, tile.column * side, tile.row * side, wide)
                if !isWhole {
                    let scale = openslide_get_level_downsample(slide, number)
                    let (x, y) = ((Double(left) * scale).rounded(), (Double(top) * scale).rounded())
                    expected = region(slide, number, x: Int(x), y: Int(y), side, side)
                    (left, top, span) = (0, 0, side)
                }
                var differs = 0
                for y in 0..<side {
                    for x in 0..<side {
                        let isIn = left + x < span && (top + y) * span < expected.count / 4
                        for channel in 0..<4 {
                            let from = format == .rgba8 && channel % 2 == 0 ? 2 - channel : channel
                            let pixel = isIn ? expected[((top + y) * span + left + x) * 4 + from] : 0
                            if bytes[(y * side + x) * 4 + channel] != pixel { differs += 1 }
                        }
                    }
                }
                #expect(differs == 0, "tile \(tile)")
            }
        }
        let all = source.pyramid.levels.reduce(0) { $0 + $1.columns * $1.rows }
        #expect(compared == all && source.statistics.failureCount == 0, "\(compared) of \(all)")
        #expect(cache.shutdown())
    }

    /// The tiles of a level that a view of all of it draws, and their bytes.
    private func drawn(
        _ layer: TileLayer,
        of cache: TileCache,
        _ pyramid: TilePyramid,
        level index: Int
    ) -> [(TileCoordinate, [UInt8])] {
        let view = cache.makeView(layers: [layer])
        let scale = 1 / pyramid.levels[index].worldPixelsPerPixel
        let viewport = TileViewport(
            center: WorldPoint(x: pyramid.worldWidth / 2, y: pyramid.worldHeight / 2),
            width: pyramid.worldWidth * scale,
            height: pyramid.worldHeight * scale,
            scale: scale
        )
        view.update(viewport)
        while view.frame().missingTileCount > 0 {
            usleep(1000)
            view.update(viewport)
        }
        return view.frame().filter { $0.tile.identity.tile.level == index }.map { placement in
            (placement.tile.identity.tile, placement.tile.withUnsafeBytes { Array($0) })
        }
    }

    @Test func whatIsNoSlideIsNamed() throws {
        func said(_ path: String, _ options: TileSourceOptions = TileSourceOptions()) -> String {
            do {
                _ = try OpenSlideTileSource(path: path, options: options)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(said("/nowhere.svs").hasPrefix("/nowhere.svs: a slide that OpenSlide "))
        #expect(said("/nowhere.svs", TileSourceOptions(format: .gray8)).contains("rgba8 or bgra8, premultiplied"))
        #expect(said("/nowhere.svs", TileSourceOptions(tileSize: 8)).contains("not 8"))
    }
}
