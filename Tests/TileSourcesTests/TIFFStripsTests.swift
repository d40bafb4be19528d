import Testing

@testable import TileCache
@testable import TileSources

/// TIFF files in strips, which are read as large images.
@Suite(.timeLimit(.minutes(45))) struct TIFFStripsTests {
    private let folder = ScratchFolder()
    private let straight = TileSourceOptions(alpha: .straight, tileSize: 32)

    private func write(_ directory: MadeTIFF.Directory, isLittle: Bool = true, isBig: Bool = false) -> String {
        let made = MadeTIFF(directories: [directory], isLittle: isLittle, isBig: isBig)
        return folder.write(made.bytes(), to: "made.tif")
    }

    private func strips(_ image: TestImage, rows: Int) -> MadeTIFF.Directory {
        var directory = MadeTIFF.Directory(image)
        (directory.tile, directory.stripRows) = (0, rows)
        return directory
    }

    private func expect(_ source: any PyramidTileSource, _ image: TestImage) throws {
        let source = try #require(source as? ImageTileSource)
        let level = source.pyramid.maximumLevel
        #expect(source.pyramid.worldWidth == Double(image.width) && source.pyramid.worldHeight == Double(image.height))
        for column in 0...(image.width - 1) / 32 {
            for row in 0...(image.height - 1) / 32 {
                let part = image.part(x: column * 32, y: row * 32, width: 32, height: 32)
                #expect(try source.loaded(level, column, row).image == part, "tile \(column), \(row)")
            }
        }
    }

    @Test(arguments: [8, 16, 32], [1, 3, 4])
    func samplesAreRead(bits: Int, samples: Int) throws {
        for variant in 0..<8 {
            var image = TestImage(width: 70, height: 45, seed: variant, hasAlpha: samples == 4)
            // One row, some that do not divide the height, all.
            var directory = strips(image, rows: [1, 7, 0][variant % 3])
            (directory.bits, directory.samples) = (bits, samples)
            directory.isPlanar = variant & 1 != 0
            directory.compression = variant & 2 != 0 ? 8 : 1
            let path = write(directory, isLittle: variant & 4 == 0, isBig: variant % 3 == 0)
            if samples == 1 {
                for pixel in stride(from: 0, to: image.pixels.count, by: 4) {
                    for channel in 1...2 { image.pixels[pixel + channel] = image.pixels[pixel] }
                }
            }
            try expect(ImageTileSource(path: path, options: straight), image)
        }
    }

    /// The addresses `tiff:` and `image:` open it, from a disk and from a server.
    @Test func addressesOpenIt() throws {
        let image = TestImage(width: 100, height: 60)
        let path = write(strips(image, rows: 16))
        let server = try #require(RangeServer(MadeTIFF(directories: [strips(image, rows: 16)]).bytes()))
        for text in ["tiff:\(path)", "image:\(path)", "tiff:\(server.address)"] {
            var reached = 0.0
            let source = try #require(TileSourceAddress(text)).open(straight) {
                reached = $0
                return true
            }
            try expect(source, image)
            #expect(reached == 1 && source.dataSet.contains { $0.contains("bytes") })
        }
        // One in tiles stays what it is.
        let tiled = write(MadeTIFF.Directory(image))
        #expect(try #require(TileSourceAddress("tiff:\(tiled)")).open() is TIFFTileSource)
        let said = message { _ = try ImageTileSource(path: tiled) }
        #expect(said == "\(tiled): it is tiled: open it as it is, by tiff: or with TIFFTileSource")
    }

    @Test func jpegAndWebPStripsAreRead() throws {
        let image = TestImage(width: 90, height: 50)
        var directory = strips(image, rows: 20)
        (directory.compression, directory.encode) = (50001, { $0.webP })
        try expect(ImageTileSource(path: write(directory), options: straight), image)
        (directory.compression, directory.stripRows, directory.encode) = (7, 0, { $0.jpeg() })
        directory.more = [.init(tag: 262, type: 3, values: [6])]
        let alone = try ImageTileSource(path: folder.write(image.jpeg(), to: "whole.jpg"), options: straight)
        let whole = try ImageTileSource(path: write(directory), options: straight)
        for (column, row) in [(0, 0), (2, 1), (1, 0)] {
            #expect(try whole.loaded(2, column, row).image == alone.loaded(2, column, row).image)
        }
        // A strip of another size.
        directory.encode = { $0.part(x: 0, y: 0, width: 90, height: 49).jpeg() }
        let path = write(directory)
        #expect(
            message { _ = try ImageTileSource(path: path) }
                == "\(path): strip 0: an image of 90 x 50 pixels was expected, not 90 x 49"
        )
    }

    /// Some writers make the JPEG of the last strip as high as the others. Rows below the image are left out.
    @Test func theLastJPEGMayBeTooHigh() throws {
        let image = TestImage(width: 90, height: 60)
        func source(height: Int) throws -> ImageTileSource {
            var directory = strips(image.part(x: 0, y: 0, width: 90, height: height), rows: 20)
            directory.compression = 7
            directory.more = [.init(tag: 262, type: 3, values: [6])]
            directory.encode = { part in
                let isWhole = part.height == 20
                return (isWhole ? part : image.part(x: 0, y: 40, width: 90, height: 20)).jpeg()
            }
            return try ImageTileSource(path: write(directory), options: straight)
        }
        let (whole, cut) = (try source(height: 60), try source(height: 50))
        #expect(cut.pyramid.worldHeight == 50)
        for column in 0..<3 {
            for row in 0..<2 {
                let part = try whole.loaded(2, column, row).image.part(x: 0, y: 0, width: 32, height: 50 - 32 * row)
                let expected = part.part(x: 0, y: 0, width: 32, height: 32)
                #expect(try cut.loaded(2, column, row).image == expected, "tile \(column), \(row)")
            }
        }
    }

    /// The directory states what the fourth sample of WebP strips is: nothing, multiplied alpha, alpha.
    @Test(arguments: [0, 1, 2] as [UInt64]) func webPStripsHaveTheDirectorysAlpha(extra: UInt64) throws {
        let image = TestImage(width: 90, height: 50, hasAlpha: true)
        var directory = strips(extra == 1 ? image.premultiplied : image, rows: 20)
        directory.samples = 4
        (directory.compression, directory.encode) = (50001, { $0.webP })
        directory.more = [.init(tag: 338, type: 3, values: [extra])]
        var expected = image.premultiplied
        if extra == 0 {
            expected = image
            for pixel in stride(from: 3, to: image.pixels.count, by: 4) { expected.pixels[pixel] = 255 }
        }
        try expect(ImageTileSource(path: write(directory), options: TileSourceOptions(tileSize: 32)), expected)
    }

    @Test(arguments: [1, 8] as [UInt64]) func bitsInTheOtherOrder(compression: UInt64) throws {
        let image = TestImage(width: 70, height: 45)
        var directory = strips(image, rows: 7)
        (directory.compression, directory.reversesBits) = (compression, true)
        try expect(ImageTileSource(path: write(directory), options: straight), image)
    }

    @Test func absentStripsAreEmpty() throws {
        var image = TestImage(width: 40, height: 40)
        var directory = strips(image, rows: 10)
        directory.absent = [1]
        for index in 10 * 160..<20 * 160 { image.pixels[index] = 0 }
        try expect(ImageTileSource(path: write(directory), options: straight), image)
    }

    /// Images that are too large are refused with a hint, before they are read.
    @Test func largeOnesAreRefused() throws {
        let directory = strips(TestImage(width: 100, height: 60), rows: 16)
        let path = write(directory)
        let server = try #require(RangeServer(MadeTIFF(directories: [directory]).bytes()))
        var few = ImageTileOptions()
        few.memoryLimit = .bytes(10_000)
        let hint = TIFFStrips.hint
        #expect(hint.contains("gdal_translate -of COG"))
        let local = message { _ = try ImageTileSource(path: path, image: few) }
        #expect(local.contains("100 x 60 pixels need") && local.hasSuffix("limit is 10000 bytes: \(hint)"))
        let remote = message { _ = try TileSourceAddress.tiff(server.address).open(image: few) }
        #expect(remote.contains("its 18000 bytes are in strips, all of which would be fetched"))
        #expect(remote.hasSuffix(hint))
        #expect(server.asked.count == 1)
        // As many bytes as the limit may be fetched.
        for (limit, part) in [(17_999, "its 18000 bytes are in strips"), (18_000, "100 x 60 pixels need")] {
            few.memoryLimit = .bytes(limit)
            #expect(message { _ = try TileSourceAddress.tiff(server.address).open(image: few) }.contains(part))
        }
        func refusal(_ more: [MadeTIFF.Field]) -> String {
            var directory = directory
            directory.more = more
            let path = write(directory)
            let said = message { _ = try TileSourceAddress.tiff(path).open() }
            #expect(said.hasPrefix("\(path): "))
            return said
        }
        // A strip of 64 MiB and of 2^60 bytes.
        let huge = [MadeTIFF.Field(tag: 257, type: 4, values: [1 << 20]), .init(tag: 278, type: 4, values: [1 << 20])]
        #expect(refusal(huge).contains("strips of at most 67108864 bytes were expected: \(hint)"))
        #expect(refusal(huge + [.init(tag: 256, type: 4, values: [1 << 30])]).contains("strips of at most"))
        #expect(refusal([.init(tag: 278, type: 4, values: [0])]).contains("RowsPerStrip of 1 to 4294967295"))
        #expect(refusal([.init(tag: 273, type: 4, values: [8])]).contains("4 strips were expected, not 1 offsets"))
        #expect(refusal([.init(tag: 273, type: 4, values: [8, 8, 8, 1 << 30])]).contains("strip 3: its 3600 bytes at"))
    }

    /// What decoders of whole images need counts against the limit, and so does a WebP file, which is read as a whole.
    @Test func memoryOfDecodersCounts() throws {
        let pixels = 128 * 128
        let image = TestImage(width: 128, height: 128, pixels: [UInt8](repeating: 255, count: 4 * pixels))
        func memory(_ path: String) throws -> ByteCount {
            try ImageTileSource(path: path, options: straight).cuttingMemory
        }
        let bands = try memory(folder.write(image.png, to: "image.png")).bytes
        let file = folder.write(image.webP, to: "image.webp")
        #expect(try memory(file).bytes == bands + 8 * pixels + image.webP.count)
        let enough = ImageTileOptions(memoryLimit: try memory(file))
        _ = try ImageTileSource(path: file, image: enough, options: straight)
        var directory = strips(image, rows: 0)
        // As they are in the file, and decoded. Those with their bits turned are copied.
        #expect(try memory(write(directory)).bytes == bands + 2 * 3 * pixels)
        directory.reversesBits = true
        #expect(try memory(write(directory)).bytes == bands + 3 * 3 * pixels)
        directory.reversesBits = false
        (directory.compression, directory.encode) = (50001, { $0.webP })
        #expect(try memory(write(directory)).bytes >= bands + 8 * pixels)
        // Three colours in a strip of one sample.
        (directory.compression, directory.samples) = (7, 1)
        directory.encode = { $0.jpeg(isProgressive: true) }
        let path = write(directory)
        let few = ImageTileOptions(memoryLimit: try memory(path))
        let said = message { _ = try ImageTileSource(path: path, image: few, options: straight) }
        #expect(said.contains("strip 0: 128 x 128 pixels that can only be decoded as a whole need"))
    }

    /// Changes each byte of the beginning, and truncates files. The result is the image, another one, or an error that
    /// names the file.
    @Test(arguments: [1, 8] as [UInt64]) func damagedFiles(compression: UInt64) throws {
        var directory = strips(TestImage(width: 40, height: 30), rows: 4)
        directory.compression = compression
        let bytes = MadeTIFF(directories: [directory]).bytes()
        var image = ImageTileOptions()
        (image.memoryLimit, image.diskLimit) = (.mebibytes(8), .mebibytes(8))
        func look(_ bytes: [UInt8]) -> Bool {
            let path = folder.write(bytes, to: "made.tif")
            do {
                let source = try TileSourceAddress.tiff(path).open(image: image)
                #expect(source is ImageTileSource)
                return true
            } catch {
                #expect("\(error)".hasPrefix(path))
                return false
            }
        }
        var (opened, random) = (0, SplitMix64(seed: compression))
        for position in 0..<min(4096, bytes.count) {
            var damaged = bytes
            damaged[position] ^= UInt8(random.next() % 255 + 1)
            if look(damaged) { opened += 1 }
        }
        #expect(opened > 100 && opened < bytes.count)
        for number in 0..<200 { #expect(!look(Array(bytes[..<(bytes.count * number / 200)]))) }
    }
}
