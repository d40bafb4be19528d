import CTileImages
import Foundation
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Images that are turned as EXIF says.
@Suite(.timeLimit(.minutes(45))) struct ImageOrientationTests {
    private let folder = ScratchFolder()

    /// EXIF with an orientation behind another entry, with either order of bytes.
    private static func exif(_ value: Int, isLittle: Bool = false) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        func entry(_ tag: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + [0, 0]
        }
        return Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(2, 2) + entry(0x100, 7)
            + entry(0x112, value) + number(0, 4)
    }

    /// A JPEG with markers of XMP and of EXIF before its own.
    private static func jpeg(_ image: TestImage, _ exif: [UInt8]) -> [UInt8] {
        func marker(_ data: [UInt8]) -> [UInt8] {
            [0xff, 0xe1, UInt8((data.count + 2) >> 8), UInt8((data.count + 2) & 255)] + data
        }
        let bytes = image.jpeg()
        let xmp = Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8)
        return bytes[..<2] + marker(xmp) + [0xff] + marker(Array("Exif\0\0".utf8) + exif) + bytes[2...]
    }

    /// Where the pixels of a stored image are shown, as the standard's table says.
    private static func turned(_ image: TestImage, _ value: Int) -> TestImage {
        let (w, h) = (image.width, image.height)
        let isTransposed = value >= 5
        var shown = TestImage(width: isTransposed ? h : w, height: isTransposed ? w : h)
        for y in 0..<h {
            for x in 0..<w {
                let places = [
                    (x, y), (w - 1 - x, y), (w - 1 - x, h - 1 - y), (x, h - 1 - y), (y, x), (h - 1 - y, x),
                    (h - 1 - y, w - 1 - x), (y, w - 1 - x),
                ]
                let place = places[value - 1]
                for channel in 0..<4 {
                    shown.pixels[(place.1 * shown.width + place.0) * 4 + channel] =
                        image.pixels[(y * w + x) * 4 + channel]
                }
            }
        }
        return shown
    }

    /// All tiles of the finest level put together; outside of the world there is nothing.
    private func assembled(_ source: ImageTileSource) throws -> TestImage {
        let (width, height) = (Int(source.pyramid.worldWidth), Int(source.pyramid.worldHeight))
        let last = source.pyramid.maximumLevel
        let level = source.pyramid.levels[last]
        let side = level.tileWidth
        var whole = TestImage(width: width, height: height, pixels: [UInt8](repeating: 9, count: width * height * 4))
        for column in 0..<level.columns {
            for row in 0..<level.rows {
                let tile = try source.loaded(last, column, row).image
                for y in 0..<side {
                    for x in 0..<side {
                        let at = (Int(level.origin.x) + column * side + x, Int(level.origin.y) + row * side + y)
                        let pixel = tile.pixels[(y * side + x) * 4..<(y * side + x) * 4 + 4]
                        if (0..<width).contains(at.0), (0..<height).contains(at.1) {
                            whole.pixels.replaceSubrange(
                                (at.1 * width + at.0) * 4..<(at.1 * width + at.0) * 4 + 4,
                                with: pixel
                            )
                        } else if pixel.contains(where: { $0 != 0 }) {
                            Issue.record("a pixel outside of the world at \(at)")
                        }
                    }
                }
            }
        }
        return whole
    }

    /// Each value, of sides that are no multiples of a tile's, in each format of pixels.
    @Test(arguments: 1...8) func everyValueOfAJPEG(value: Int) throws {
        let image = TestImage(width: 75, height: 50)
        let options = TileSourceOptions(tileSize: 16)
        let plain = try ImageTileSource(path: folder.write(image.jpeg(), to: "plain.jpg"), options: options)
        let bytes = Self.jpeg(image, Self.exif(value, isLittle: value % 2 == 0))
        let source = try ImageTileSource(path: folder.write(bytes, to: "turned.jpg"), options: options)
        let expected = Self.turned(try assembled(plain), value)
        #expect(try assembled(source) == expected)
        #expect(source.pyramid.levels.count == plain.pyramid.levels.count)
        #expect(source.dataSet.last == (value == 1 ? "downsampling linear" : "orientation \(value)"))
        // Grey tiles have a byte a pixel.
        let grey = TileSourceOptions(format: .gray8, tileSize: 16)
        let tile = try ImageTileSource(path: "\(folder.path)/turned.jpg", options: grey)
        let level = tile.pyramid.levels[tile.pyramid.maximumLevel]
        let own = try tile.loaded(tile.pyramid.maximumLevel, level.columns - 1, 0).image
        let colour = try source.loaded(tile.pyramid.maximumLevel, level.columns - 1, 0).image
        for pixel in 0..<256 {
            let (r, g, b) = (colour.pixels[4 * pixel], colour.pixels[4 * pixel + 1], colour.pixels[4 * pixel + 2])
            let luma = (77 * Int(r) + 150 * Int(g) + 29 * Int(b) + 128) >> 8
            #expect(Int(own.pixels[pixel]) == luma)
        }
    }

    /// A view draws all of the world, once, at each level.
    @Test(arguments: [3, 6]) func aCacheShowsAllOfIt(value: Int) throws {
        let bytes = Self.jpeg(TestImage(width: 75, height: 50), Self.exif(value))
        let source = try ImageTileSource(
            path: folder.write(bytes, to: "turned.jpg"),
            options: TileSourceOptions(tileSize: 16)
        )
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let layer = try source.addLayer(to: cache)
        let world = source.pyramid
        for scale in [1, 0.5, 0.25] {
            let view = cache.makeView(layers: [layer])
            let viewport = TileViewport(
                center: WorldPoint(x: world.worldWidth / 2, y: world.worldHeight / 2),
                width: world.worldWidth * scale,
                height: world.worldHeight * scale,
                scale: scale
            )
            #expect(
                settled {
                    view.update(viewport)
                    return view.frame().missingTileCount == 0
                }
            )
            var area = 0.0
            for placement in view.frame() {
                #expect(placement.isExact)
                let part = placement.worldRectangle
                let (wide, high) = (
                    min(part.maxX, world.worldWidth) - max(part.minX, 0),
                    min(part.maxY, world.worldHeight) - max(part.minY, 0)
                )
                area += wide * high
            }
            #expect(abs(area - world.worldWidth * world.worldHeight) < 1e-6, "\(area)")
        }
        #expect(cache.shutdown())
    }

    /// Fill bytes between markers are passed over, up to a limit. A file of no known format has no orientation.
    @Test func fillBytesAreBounded() throws {
        let bytes = Self.jpeg(TestImage(width: 16, height: 16), Self.exif(6))
        func orientation(_ bytes: [UInt8], _ format: ti_format) throws -> UInt8 {
            let file = try #require(fopen(folder.write(bytes, to: "made.jpg"), "rb"))
            defer { fclose(file) }
            return ti_file_orientation(file, format)
        }
        func filled(_ count: Int) -> [UInt8] { bytes[..<2] + [UInt8](repeating: 0xff, count: count) + bytes[2...] }
        // Before the first marker with data: that of the start, the fill, and its own name.
        for (count, value) in [(0, 6), (1000, 6), (1022, 6), (1023, 1), (5000, 1)] {
            #expect(try orientation(filled(count), ti_jpeg) == value, "\(count)")
        }
        let chunk = Array("EXIF".utf8) + [UInt8(Self.exif(6).count), 0, 0, 0] + Self.exif(6)
        #expect(try orientation(chunk, ti_unknown) == 1)
        #expect(try orientation([UInt8](repeating: 0, count: 12) + chunk, ti_webp) == 6)
    }

    /// What is damaged, ends early or is no orientation turns nothing.
    @Test func whatIsNoOrientationTurnsNothing() {
        func orientation(_ bytes: [UInt8]) -> Int { Int(ti_exif_orientation(bytes, bytes.count)) }
        let good = Self.exif(6)
        #expect(orientation(good) == 6 && orientation(Array("Exif\0\0".utf8) + good) == 6)
        #expect(orientation(Self.exif(8, isLittle: true)) == 8)
        for value in [0, 9, 256] { #expect(orientation(Self.exif(value)) == 1) }
        // The entry ends with the byte 34.
        for count in 0..<34 { #expect(orientation(Array(good.prefix(count))) == 1) }
        #expect(orientation(Array(good.prefix(34))) == 6)
        var bytes = good
        bytes[4] = 0xff
        #expect(orientation(bytes) == 1)
        bytes = good
        bytes[25] = 4
        #expect(orientation(bytes) == 1)
    }

    /// What Pillow writes in each format, as its `ImageOps.exif_transpose` shows it.
    @Test(
        .enabled(if: hasPillow, "Pillow is not installed for the python3 of the path"),
        arguments: ["jpg", "png", "webp"]
    )
    func imagesOfPillow(ending: String) throws {
        let script = """
            from PIL import Image, ImageOps
            import sys
            folder, ending = sys.argv[1:]
            image = Image.new('RGB', (75, 50))
            image.putdata([((x * 5 + y) % 256, (y * 4) % 256, x * 3 % 256) for y in range(50) for x in range(75)])
            for value in range(1, 9):
                exif = Image.Exif()
                exif[0x112] = value
                path = f'{folder}/{value}.{ending}'
                image.save(path, exif=exif, **({'lossless': True} if ending == 'webp' else {}))
                shown = ImageOps.exif_transpose(Image.open(path)).convert('RGBA')
                open(f'{folder}/{value}.raw', 'wb').write(shown.tobytes())
            """
        let path = folder.write(Array(script.utf8), to: "write.py")
        #expect(OtherPrograms.run("python3 '\(path)' '\(folder.path)' \(ending)"))
        for value in 1...8 {
            let source = try ImageTileSource(
                path: "\(folder.path)/\(value).\(ending)",
                options: TileSourceOptions(tileSize: 16)
            )
            let (wide, high) = value < 5 ? (75, 50) : (50, 75)
            #expect(source.pyramid.worldWidth == Double(wide) && source.pyramid.worldHeight == Double(high))
            let expected = TestImage(
                width: wide,
                height: high,
                pixels: OtherPrograms.bytes("\(folder.path)/\(value).raw") ?? []
            )
            // Pillow has a libjpeg of its own.
            let most = try assembled(source).pixels.greatestDifference(from: expected.pixels)
            #expect(most <= (ending == "jpg" ? 1 : 0), "value \(value): \(most)")
        }
    }

    private static let hasPillow = OtherPrograms.run("python3 -c 'import PIL.ImageOps'")
}
