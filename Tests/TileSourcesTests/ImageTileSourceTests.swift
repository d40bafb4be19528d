import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Large images, cut into tiles.
@Suite struct ImageTileSourceTests {
    private let folder = ScratchFolder()

    /// Halves the whole image at once, for comparison with each level.
    private func halves(_ image: TestImage, _ count: Int, _ options: TileSourceOptions) throws -> [TestImage] {
        let halver = try #require(ImageHalver(format: options.format, alpha: options.alpha, downsampling: .linear))
        var images = [image]
        while images.count < count {
            let last = images[images.count - 1]
            var half = TestImage(width: (last.width + 1) / 2, height: (last.height + 1) / 2)
            last.pixels.withUnsafeBytes { from in
                half.pixels.withUnsafeMutableBytes { to in
                    halver.halve(from, width: last.width, height: last.height, into: to, isPortable: true)
                }
            }
            images.append(half)
        }
        return images.reversed()
    }

    @Test(arguments: [
        (300, 200, 32), (64, 64, 16), (65, 129, 32), (16, 16, 16), (1, 1, 16), (33, 500, 18), (1000, 3, 64),
    ])
    func everyTileOfEveryLevel(width: Int, height: Int, tileSize: Int) throws {
        let image = TestImage(width: width, height: height, seed: width, hasAlpha: true)
        for (name, bytes) in [("image.png", image.png), ("image.webp", image.webP)] {
            for alpha in [TileAlphaMode.straight, .premultiplied] {
                let options = TileSourceOptions(alpha: alpha, tileSize: tileSize)
                let source = try ImageTileSource(path: folder.write(bytes, to: name), options: options)
                let pyramid = try TilePyramid.powerOfTwo(worldWidth: width, worldHeight: height, tileSize: tileSize)
                #expect(source.pyramid == pyramid)
                let whole = alpha == .straight ? image : image.premultiplied
                let images = try halves(whole, source.pyramid.levels.count, options)
                for (index, level) in source.pyramid.levels.enumerated() {
                    #expect(images[index].width == level.width && images[index].height == level.height)
                    for column in 0..<level.columns {
                        for row in 0..<level.rows {
                            let (x, y) = (column * tileSize, row * tileSize)
                            let part = images[index].part(x: x, y: y, width: tileSize, height: tileSize)
                            #expect(try source.loaded(index, column, row).image == part)
                        }
                    }
                }
            }
        }
    }

    @Test func jpegsAreTheSameInBandsAsInOnePiece() throws {
        let image = TestImage(width: 150, height: 90)
        let whole = TestImage(width: 150, height: 90)
        for bytes in [image.jpeg(), image.jpeg(isProgressive: true)] {
            let source = try ImageTileSource(
                path: folder.write(bytes, to: "image.jpg"),
                options: TileSourceOptions(tileSize: 32)
            )
            var pixels = whole.pixels
            let status = bytes.withUnsafeBytes { encoded -> TileLoadFailure? in
                pixels.withUnsafeMutableBytes { memory in
                    var target = TilePixels(
                        memory: memory,
                        width: 150,
                        height: 90,
                        format: .rgba8,
                        alpha: .premultiplied
                    )
                    let place = ImagePlacement(imageWidth: 150, imageHeight: 90, x: 0, y: 0, width: 150, height: 90)
                    do throws(TileLoadFailure) {
                        try TileImages(TileSourceOptions()).decode(encoded, place, into: &target)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            #expect(status == nil)
            let decoded = TestImage(width: 150, height: 90, pixels: pixels)
            let last = source.pyramid.maximumLevel
            for column in 0..<5 {
                for row in 0..<3 {
                    let part = decoded.part(x: column * 32, y: row * 32, width: 32, height: 32)
                    #expect(try source.loaded(last, column, row).image == part)
                }
            }
        }
    }

    @Test func oneColourTakesNoDisk() throws {
        let gray = TestImage(width: 256, height: 256, pixels: [UInt8](repeating: 255, count: 256 * 256 * 4))
        let source = try ImageTileSource(
            path: folder.write(gray.png, to: "image.png"),
            options: TileSourceOptions(tileSize: 64)
        )
        #expect(source.diskUse.bytes == 0)
        #expect(try source.loaded(2, 3, 3).image == gray.part(x: 0, y: 0, width: 64, height: 64))
    }

    @Test func limitsHoldAndNothingIsLeftBehind() throws {
        let scratch = ScratchFolder()
        let path = folder.write(TestImage(width: 500, height: 400).png, to: "image.png")
        var image = ImageTileOptions(folder: scratch.path)
        var progress: [Double] = []
        let source = try ImageTileSource(path: path, image: image, options: TileSourceOptions(tileSize: 64)) {
            progress.append($0)
            return true
        }
        #expect(progress.count == 7 && progress.last == 1 && progress == progress.sorted())
        #expect(source.diskUse.bytes > 0 && Files.names(in: scratch.path) == [])
        // Two bands of 500 x 64 pixels would be 256,000 bytes.
        #expect(source.cuttingMemory.bytes > 200_000 && source.cuttingMemory.bytes < 400_000)
        image.memoryLimit = .bytes(source.cuttingMemory.bytes - 1)
        let said = message {
            _ = try ImageTileSource(path: path, image: image, options: TileSourceOptions(tileSize: 64))
        }
        #expect(
            said == "\(path): 500 x 400 pixels need \(source.cuttingMemory.bytes) bytes of memory to be cut; "
                + "the image memory limit is \(image.memoryLimit.bytes) bytes"
        )
        image.memoryLimit = source.cuttingMemory
        _ = try ImageTileSource(path: path, image: image, options: TileSourceOptions(tileSize: 64))
        image.diskLimit = .bytes(source.diskUse.bytes - 1)
        #expect(
            message { _ = try ImageTileSource(path: path, image: image, options: TileSourceOptions(tileSize: 64)) }
                .contains("of disk")
        )
        #expect(
            message { _ = try ImageTileSource(path: path, progress: { _ in false }) }.contains(
                "cancelled at row 256 of 400"
            )
        )
        image = ImageTileOptions(folder: "/nowhere")
        #expect(message { _ = try ImageTileSource(path: path, image: image) }.contains("a folder to write to"))
    }

    #if os(Linux)
        /// Programs that are started while the source exists do not get the file of tiles.
        @Test func theFileOfTilesIsNotInherited() throws {
            let path = folder.write(TestImage(width: 64, height: 64).png, to: "image.png")
            let source = try ImageTileSource(path: path, image: ImageTileOptions(folder: folder.path))
            // The folder's name differs from those of all other tests; TMPDIR may be a link.
            let part = "\(folder.path.split(separator: "/").last ?? "")/tilecache-"
            let files = (0..<4096 as Range<Int32>).filter { file in
                var name = [CChar](repeating: 0, count: 4096)
                let count = readlink("/proc/self/fd/\(file)", &name, name.count)
                let bytes = name.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
                return String(decoding: bytes, as: UTF8.self).contains(part)
            }
            let areInherited = files.map { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 }
            #expect(areInherited == [false])
            withExtendedLifetime(source) {}
        }
    #endif

    @Test func whatIsNoImageIsSaid() throws {
        func said(_ bytes: [UInt8], _ options: TileSourceOptions = TileSourceOptions()) -> String {
            let path = folder.write(bytes, to: "file")
            return message { _ = try ImageTileSource(path: path, options: options) }
        }
        #expect(
            message { _ = try ImageTileSource(path: "/nowhere.png") }.contains("/nowhere.png: a PNG, JPEG or WebP file")
        )
        #expect(message { _ = try ImageTileSource(path: folder.path) }.contains("a PNG, JPEG or WebP file"))
        #expect(said([]).hasSuffix("it is empty"))
        #expect(said(Array("GIF89a".utf8)).contains("neither PNG nor JPEG nor WebP"))
        let image = TestImage(width: 300, height: 300)
        #expect(said(Array(image.png.dropLast(100))).hasSuffix("the PNG ends too early"))
        #expect(said(Array(image.jpeg().dropLast(100))).hasSuffix("the JPEG ends too early"))
        #expect(said(Array(image.webP.dropLast(100))).hasSuffix("the WebP ends too early"))
        #expect(said(image.png, TileSourceOptions(tileSize: 33)).contains("an even tile size"))
        // A frame header of 65,280 pixels a side, of a progressive file: refused by its memory estimate, not decoded.
        var jpeg = image.jpeg(isProgressive: true)
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xc2 })
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xff, 0x00, 0xff, 0x00])
        #expect(said(jpeg).contains("65280 x 65280 pixels need 12925444864 bytes of memory"))
    }
}
