import CTileJPEG
import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// The decoders, through the simplest source.
@Suite struct TileImageTests {
    private let folder = ScratchFolder()
    private let origin = TileCoordinate(level: 0, column: 0, row: 0)

    private func source(_ image: TestImage, _ options: TileSourceOptions = TileSourceOptions()) throws
        -> FolderTileSource
    {
        folder.write(image.png, to: "0/0/0.png")
        return try FolderTileSource(path: folder.path, options: options)
    }

    @Test func whatLosesNothingComesBackToTheBit() throws {
        let image = TestImage(width: 64, height: 64, hasAlpha: true)
        var options = TileSourceOptions()
        options.alpha = .straight
        let straight = try source(image, options)
        #expect(try straight.loaded(origin).image == image)
        #expect(try straight.decoded(image.webP, of: origin).image == image)
        let premultiplied = try source(image)
        #expect(try premultiplied.loaded(origin).image == image.premultiplied)
        #expect(try premultiplied.decoded(image.webP, of: origin).image == image.premultiplied)
    }

    @Test func otherLayouts() throws {
        let image = TestImage(width: 32, height: 32)
        let blueFirst = try source(image, TileSourceOptions(format: .bgra8)).loaded(origin).image
        let gray = try source(image, TileSourceOptions(format: .gray8)).loaded(origin).image
        for pixel in 0..<32 * 32 {
            let (red, green, blue) = (image.pixels[4 * pixel], image.pixels[4 * pixel + 1], image.pixels[4 * pixel + 2])
            #expect(blueFirst.pixels[4 * pixel] == blue && blueFirst.pixels[4 * pixel + 2] == red)
            let luma = 0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)
            #expect(abs(Double(gray.pixels[pixel]) - luma) < 1.5)
        }
    }

    /// Where all of an image is drawn, it is decoded where its pixels stay: as by rows, of which a part is drawn.
    @Test(arguments: [TilePixelFormat.rgba8, .bgra8], [TileAlphaMode.straight, .premultiplied])
    func wholeImagesAreThoseOfTheirRows(format: TilePixelFormat, alpha: TileAlphaMode) throws {
        let image = TestImage(width: 64, height: 48, hasAlpha: true)
        let images = TileImages(TileSourceOptions(format: format, alpha: alpha))
        func decoded(_ encoded: [UInt8], width: Int, height: Int, _ kind: DecodedAlpha) throws -> TestImage {
            var bytes = [UInt8](repeating: 0xA5, count: 80 * 56 * 4)
            try bytes.withUnsafeMutableBytes { memory in
                var pixels = TilePixels(memory: memory, width: 80, height: 56, format: format, alpha: alpha)
                var place = ImagePlacement(imageWidth: 64, imageHeight: 48, x: 0, y: 0, width: width, height: height)
                place.alpha = kind
                _ = try encoded.withUnsafeBytes { try images.decode($0, place, into: &pixels) }
            }
            return TestImage(width: 80, height: 56, pixels: bytes)
        }
        for encoded in [image.png, image.jpeg(), image.jpeg(isProgressive: true), image.webP, image.lossyWebP()] {
            for kind in [DecodedAlpha.straight, .multiplied, .unused] {
                let whole = try decoded(encoded, width: 64, height: 48, kind)
                let part = try decoded(encoded, width: 63, height: 47, kind)
                #expect(whole.part(x: 0, y: 0, width: 63, height: 47) == part.part(x: 0, y: 0, width: 63, height: 47))
                let right = whole.part(x: 64, y: 0, width: 16, height: 56).pixels
                let below = whole.part(x: 0, y: 48, width: 64, height: 8).pixels
                #expect(right.equals([UInt8](repeating: 0, count: right.count)))
                #expect(below.equals([UInt8](repeating: 0, count: below.count)))
            }
        }
    }

    @Test func whatLosesComesBackAlmost() throws {
        let image = TestImage(width: 64, height: 64)
        let source = try source(image)
        for encoded in [image.jpeg(), image.jpeg(isProgressive: true), image.lossyWebP(quality: 95)] {
            let loaded = try source.decoded(encoded, of: origin).image
            let error = zip(loaded.pixels, image.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(error) / Double(image.pixels.count) < 12)
        }
        #expect(
            try source.decoded(image.jpeg(), of: origin).image
                == source.decoded(image.jpeg(isProgressive: true), of: origin).image
        )
    }

    /// A file cut at any place gives an error, never partly invented pixels.
    @Test func truncatedFilesFail() throws {
        let image = TestImage(width: 64, height: 64)
        let source = try source(image)
        for encoded in [image.png, image.jpeg(), image.jpeg(isProgressive: true), image.webP, image.lossyWebP()] {
            for cut in Array(stride(from: 0, to: encoded.count, by: 97)) + [encoded.count - 1] {
                #expect(throws: TileFailure.permanent) { try source.decoded(Array(encoded.prefix(cut)), of: origin) }
            }
        }
        #expect((source.statistics.failures[.truncated] ?? 0) > 50)
    }

    /// Random changes to bytes never trap, and a PNG's checksums detect them.
    @Test func damagedFilesDoNoHarm() throws {
        let image = TestImage(width: 48, height: 48)
        let source = try source(image)
        var random = SplitMix64(seed: 7)
        for (format, encoded) in [image.png, image.jpeg(), image.jpeg(isProgressive: true), image.webP].enumerated() {
            for _ in 0..<150 {
                var bytes = encoded
                for _ in 0..<4 {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                let decoded = try? source.decoded(bytes, of: origin).image
                if format == 0, let decoded { #expect(decoded == image) }
            }
        }
    }

    @Test func sizesThatHeadersClaimAreNotBelieved() throws {
        let image = TestImage(width: 64, height: 64)
        let source = try source(image)
        // The width and height of IHDR, with its checksum left wrong; a JPEG's frame header; a larger WebP.
        var png = image.png
        png.replaceSubrange(16..<24, with: [0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff])
        var jpeg = image.jpeg()
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xc0 })
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xff, 0x00, 0xff, 0x00])
        for bytes in [png, jpeg, TestImage(width: 65, height: 64).webP, [], [1, 2, 3]] {
            #expect(throws: TileFailure.permanent) { try source.decoded(bytes, of: origin) }
        }
        #expect(source.statistics.failures[.wrongSize] == 2)
        let last = try #require(source.statistics.lastFailure)
        #expect(last.hasSuffix("0/0/0.png: it is neither PNG nor JPEG nor WebP"))
    }
}
