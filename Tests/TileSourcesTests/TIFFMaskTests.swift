import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Internal masks of TIFF, which become alpha.
@Suite struct TIFFMaskTests {
    private let folder = ScratchFolder()

    /// A mask of what is not transparent in an image, of 1 or 8 bits.
    private func mask(_ image: TestImage, bits: Int = 1, kind: UInt64 = 4) -> MadeTIFF.Directory {
        var mask = MadeTIFF.Directory(image)
        (mask.kind, mask.samples, mask.bits) = (kind, 1, bits)
        mask.more = [.shorts(262, 4)]
        mask.encode = { part in
            let alpha = stride(from: 3, to: part.pixels.count, by: 4).map { part.pixels[$0] }
            guard bits == 1 else { return alpha }
            return stride(from: 0, to: alpha.count, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) { $0 << 1 | (alpha[start + $1] >= 128 ? 1 : 0) }
            }
        }
        return mask
    }

    /// The image with the alpha of its mask.
    private func masked(_ image: TestImage, bits: Int) -> TestImage {
        var masked = image
        for index in stride(from: 3, to: image.pixels.count, by: 4) where bits == 1 {
            masked.pixels[index] = image.pixels[index] >= 128 ? 255 : 0
        }
        return masked
    }

    /// Masks of the picture and its overview, with alpha straight and multiplied.
    @Test(arguments: [1, 8]) func masksAreAlpha(bits: Int) throws {
        let images = [(70, 50), (35, 25)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0, hasAlpha: true)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        directories[1].kind = 1
        directories += [mask(images[0], bits: bits), mask(images[1], bits: bits, kind: 5)]
        let path = folder.write(MadeTIFF(directories: directories).bytes(), to: "made.tif")
        for alpha in [TileAlphaMode.straight, .premultiplied] {
            let source = try TIFFTileSource(path, options: TileSourceOptions(alpha: alpha))
            #expect(source.fileLevels.count == 2 && source.warning == nil)
            for (level, image) in [(0, images[1]), (1, images[0])] {
                let own = masked(image, bits: bits)
                try source.expect(level, alpha == .straight ? own : own.premultiplied)
            }
        }
    }

    /// JPEG, whose colours are decoded as without a mask. A tile that shows all keeps its own bytes; the mask's bytes come
    /// with the tile's.
    @Test(arguments: [false, true]) func masksOfJPEG(isOpaque: Bool) throws {
        let image = TestImage(width: 32, height: 32, hasAlpha: !isOpaque)
        var directory = MadeTIFF.Directory(image)
        (directory.compression, directory.encode) = (7, { $0.jpeg() })
        let plain = try TIFFTileSource(folder.write(MadeTIFF(directories: [directory]).bytes(), to: "plain.tif"))
        let bytes = MadeTIFF(directories: [directory, mask(image)]).bytes() + [UInt8](repeating: 0, count: 1 << 17)
        let server = try #require(RangeServer(bytes))
        let source = try TIFFTileSource(server.address)
        var expected = try plain.loaded(0, 0, 0).image
        for (index, alpha) in stride(from: 3, to: image.pixels.count, by: 4).map({ ($0, image.pixels[$0]) })
        where alpha < 128 {
            for channel in 0..<4 { expected.pixels[index - channel] = 0 }
        }
        let before = server.asked.count
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let view = cache.makeView(layers: [try source.addLayer(to: cache)])
        let isDrawn = settled {
            view.update(TileViewport(center: WorldPoint(x: 16, y: 16), width: 32, height: 32))
            return view.frame().contains { $0.tile.withUnsafeBytes { $0.equals(expected.pixels) } }
        }
        #expect(isDrawn && server.asked.count == before + 1 && cache.shutdown())
    }

    /// A tile of a mask that is not in the file marks nothing as data. A mask of other tiles is left out, and one beside
    /// alpha.
    @Test func masksThatLackTilesOrFitNot() throws {
        let image = TestImage(width: 64, height: 32)
        var own = mask(image)
        own.absent = [1]
        let path = folder.write(MadeTIFF(directories: [MadeTIFF.Directory(image), own]).bytes(), to: "made.tif")
        let source = try TIFFTileSource(path)
        #expect(try source.loaded(0, 0, 0).image == image.part(x: 0, y: 0, width: 32, height: 32))
        #expect(try source.loaded(0, 1, 0).image.pixels.allSatisfy { $0 == 0 })
        own.tile = 16
        own.absent = []
        let other = folder.write(MadeTIFF(directories: [MadeTIFF.Directory(image), own]).bytes(), to: "other.tif")
        let said = "its mask of pixels without data is not read: they are drawn as they are"
        #expect(try TIFFTileSource(other).warning == "\(other): \(said)")
        var clear = MadeTIFF.Directory(TestImage(width: 64, height: 32, hasAlpha: true))
        clear.samples = 4
        let both = folder.write(MadeTIFF(directories: [clear, mask(image)]).bytes(), to: "both.tif")
        let drawn = try TIFFTileSource(both, options: TileSourceOptions(alpha: .straight))
        #expect(drawn.warning == nil)
        try drawn.expect(0, clear.image)
        let lone = [MadeTIFF.Directory(image), mask(image), page(32, 16, kind: 1)]
        let part = folder.write(MadeTIFF(directories: lone).bytes(), to: "part.tif")
        #expect(
            try TIFFTileSource(part).warning?.hasSuffix(
                "its overview of 32 x 16 pixels has no mask: those without data "
                    + "are drawn"
            ) == true
        )
    }

    /// Tables of masks count against the tiles whose places are in memory, over all levels.
    @Test func masksCountInMemory() throws {
        // 7 x 5, and 4 x 3 tiles; each with as many of its mask.
        let images = [(200, 130), (100, 65)].enumerated().map {
            TestImage(width: $1.0, height: $1.1, seed: $0, hasAlpha: true)
        }
        var directories = images.map { MadeTIFF.Directory($0) }
        directories[1].kind = 1
        directories += [mask(images[0], bits: 8), mask(images[1], bits: 8, kind: 5)]
        let path = folder.write(MadeTIFF(directories: directories).bytes(), to: "made.tif")
        var options = TIFFTileOptions()
        for held in [94, 93, 82, 50, 35, 10, 0] {
            options.heldTiles = held
            let straight = TileSourceOptions(alpha: .straight)
            let delivery = TileDelivery(straight)
            var file = try TIFFFile(path, http: HTTPTileOptions(), delivery)
            let contents = try TIFFContents(reading: &file, options, HTTPTileOptions(), delivery)
            let count = contents.levels.reduce(0) { $0 + $1.count }
            #expect(count <= held && contents.levels.allSatisfy { !$0.mask.isEmpty }, "\(count) of \(held)")
            let source = try TIFFTileSource(path, tiff: options, options: straight)
            for (level, image) in [(0, images[1]), (1, images[0])] { try source.expect(level, image) }
        }
    }

    private func page(_ width: Int, _ height: Int, kind: UInt64) -> MadeTIFF.Directory {
        var page = MadeTIFF.Directory(TestImage(width: width, height: height))
        page.kind = kind
        return page
    }

    /// Planes of random places come back as they are, read one by one or together.
    @Test func planesComeOutOfTheirParts() {
        var random = SplitMix64(seed: 5)
        let file = (0..<4096).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
        for _ in 0..<300 {
            let planes = (0..<Int(random.next() % 5 + 1)).map { _ -> Range<Int> in
                let start = Int(random.next() % 3000)
                return random.next() % 4 == 0 ? 0..<0 : start..<start + Int(random.next() % 200 + 1)
            }
            for joins in [false, true] {
                let parts = TIFFParts(planes, joins: joins)
                let found = parts.planes(parts.ranges.map { .received(Array(file[$0])) })
                #expect(found.map(\.array) == planes.map { Array(file[$0]) } && parts.ranges.count <= planes.count)
            }
        }
        #expect(TIFFParts([100..<200, 208..<300], joins: true).ranges == [100..<300])
        #expect(TIFFParts([300..<400, 100..<200], joins: true).ranges == [100..<200, 300..<400])
    }
}
