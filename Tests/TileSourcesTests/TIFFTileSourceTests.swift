import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Tiled TIFF files, on a disk and on servers of this process.
@Suite(.timeLimit(.minutes(45))) struct TIFFTileSourceTests {
    private let folder = ScratchFolder()
    private let straight = TileSourceOptions(alpha: .straight)

    private func write(_ made: MadeTIFF) -> String { folder.write(made.bytes(), to: "made.tif") }

    private static func grey(_ image: TestImage) -> TestImage {
        var grey = image
        for pixel in stride(from: 0, to: image.pixels.count, by: 4) {
            for channel in 1...2 { grey.pixels[pixel + channel] = image.pixels[pixel] }
            grey.pixels[pixel + 3] = 255
        }
        return grey
    }

    @Test(arguments: [8, 16, 32, 64], [1, 3, 4])
    func samplesAreRead(bits: Int, samples: Int) throws {
        for variant in 0..<8 {
            let image = TestImage(width: 70, height: 45, seed: variant, hasAlpha: samples == 4)
            var directory = MadeTIFF.Directory(image)
            (directory.bits, directory.samples) = (bits, samples)
            directory.isPlanar = variant & 1 != 0
            directory.compression = variant & 2 != 0 ? 8 : 1
            let made = MadeTIFF(directories: [directory], isLittle: variant & 4 == 0, isBig: variant % 3 == 0)
            let source = try TIFFTileSource(write(made), options: straight)
            try source.expect(0, samples == 1 ? Self.grey(image) : image)
            #expect(source.statistics.failureCount == 0)
        }
    }

    /// Bands that are not said to be colours are read as red, green and blue. The fourth is alpha if it is said to be.
    @Test(arguments: [[0, 0], [0, 0, 2], [0, 0, 0]] as [[UInt64]]) func bandsAreColours(extra: [UInt64]) throws {
        var image = TestImage(width: 70, height: 45, hasAlpha: true)
        var directory = MadeTIFF.Directory(image)
        directory.samples = extra.count + 1
        directory.more = [.init(tag: 262, type: 3, values: [1]), .init(tag: 338, type: 3, values: extra)]
        if extra.last == 0 {
            for pixel in stride(from: 3, to: image.pixels.count, by: 4) { image.pixels[pixel] = 255 }
        }
        try TIFFTileSource(write(MadeTIFF(directories: [directory])), options: straight).expect(0, image)
    }

    @Test func jpegTilesAreKeptAsTheyAre() throws {
        let image = TestImage(width: 100, height: 60)
        var directory = MadeTIFF.Directory(image)
        directory.compression = 7
        directory.more = [.init(tag: 262, type: 3, values: [6])]
        // Tables of their own, as scanners write them.
        let whole = image.part(x: 0, y: 0, width: 32, height: 32).jpeg()
        var tables: [UInt8] = [0xFF, 0xD8]
        func segments(_ bytes: [UInt8]) -> (tables: [UInt8], rest: [UInt8]) {
            var (tables, rest, position) = ([UInt8](), Array(bytes[..<2]), 2)
            while bytes[position + 1] != 0xDA {
                let end = position + 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
                let isTable = bytes[position + 1] == 0xDB || bytes[position + 1] == 0xC4
                if isTable {
                    tables += bytes[position..<end]
                } else if bytes[position + 1] != 0xE0 {
                    rest += bytes[position..<end]
                }
                position = end
            }
            return (tables, rest + bytes[position...])
        }
        tables += segments(whole).tables + [0xFF, 0xD9]
        directory.more.append(.init(tag: 347, type: 7, values: tables.map { UInt64($0) }))
        directory.encode = { segments($0.jpeg()).rest }
        let source = try TIFFTileSource(write(MadeTIFF(directories: [directory])))
        for (column, row) in [(0, 0), (3, 1), (1, 0)] {
            let part = image.part(x: column * 32, y: row * 32, width: 32, height: 32)
            let decoded = try source.decoded(part.jpeg(), of: source.place(0, column, row))
            #expect(try source.loaded(0, column, row).image == decoded.image)
        }
        #expect(source.statistics.failureCount == 0)
    }

    /// Markers of colours in a tile do not count. The directory states the colours, as libtiff reads it.
    @Test func markersOfColoursAreLeftOut() {
        let file = TestImage(width: 16, height: 16).jpeg()
        // libjpeg's own marker, JFIF, is 18 bytes after the first two.
        let plain = Array(file[..<2] + file[20...])
        #expect(file[2..<4].elementsEqual([0xFF, 0xE0]))
        let adobe: [UInt8] = [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        func join(_ tile: [UInt8], tables: [UInt8], photometric: Int) -> [UInt8] {
            tile.withUnsafeBufferPointer { TIFFTile.joined($0, tables: tables, photometric: photometric) }
        }
        for photometric in [2, 6] {
            let joined = join(plain, tables: [], photometric: photometric)
            #expect(joined.count == plain.count + 16)
            for added in [adobe, adobe + adobe] as [[UInt8]] {
                for base in [file, plain] {
                    let tile: [UInt8] = base[..<2] + added + base[2...]
                    #expect(join(tile, tables: [], photometric: photometric) == joined)
                }
            }
            // Nor do those in the directory's tables.
            let table: [UInt8] = [0xFF, 0xDB, 0, 4, 1, 2]
            let tables: [UInt8] = file[..<20] + adobe + table + [0xFF, 0xD9]
            let both: [UInt8] = joined[..<18] + table + joined[18...]
            #expect(join(file, tables: tables, photometric: photometric) == both)
        }
        // What is damaged stays as it is after the added marker.
        for count in 0..<file.count {
            let part = Array(file[..<count])
            let joined = join(part, tables: [], photometric: 2)
            #expect(count < 2 ? joined == part : joined.count <= count + 16 && joined.count >= count - 2)
        }
        for length in [0, 1, 255] as [UInt8] {
            let damaged: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, length, 7]
            #expect(join(damaged, tables: [], photometric: 2).suffix(5) == damaged.suffix(5))
        }
    }

    @Test func webPTilesAreRead() throws {
        let image = TestImage(width: 64, height: 64)
        var directory = MadeTIFF.Directory(image)
        (directory.compression, directory.encode) = (50001, { $0.webP })
        try TIFFTileSource(write(MadeTIFF(directories: [directory]))).expect(0, image)
    }

    /// Some writers cut the JPEGs of tiles at the edges to the image: to its width and height, or to its height alone.
    @Test(arguments: [7, 50001] as [UInt64], [false, true]) func tilesMayEndWithTheImage(
        compression: UInt64,
        isWide: Bool
    ) throws {
        var directory = MadeTIFF.Directory(TestImage(width: 50, height: 40))
        directory.compression = compression
        if compression == 7 { directory.more = [.init(tag: 262, type: 3, values: [6])] }
        var files: [[UInt8]] = []
        directory.encode = { part in
            let isRight = files.count % 2 == 1
            let cut = part.part(x: 0, y: 0, width: isRight && !isWide ? 18 : 32, height: files.count > 1 ? 8 : 32)
            files.append(compression == 7 ? cut.jpeg() : cut.webP)
            return files[files.count - 1]
        }
        let source = try TIFFTileSource(write(MadeTIFF(directories: [directory])), options: straight)
        #expect(files.count == 4)
        for (number, file) in files.enumerated() {
            let (column, row) = (number % 2, number / 2)
            let options = TileSourceOptions(alpha: .straight, tileSize: 32)
            let alone = try ImageTileSource(path: folder.write(file, to: "tile"), options: options)
            let (width, height) = (column == 1 ? 18 : 32, row == 1 ? 8 : 32)
            let part = try alone.loaded(0, 0, 0).image.part(x: 0, y: 0, width: width, height: height)
            let expected = part.part(x: 0, y: 0, width: 32, height: 32)
            #expect(try source.loaded(0, column, row).image == expected, "tile \(column), \(row)")
        }
        // Other sizes are none of the tile.
        directory.encode = { $0.part(x: 0, y: 0, width: 18, height: 9).webP }
        let other = try TIFFTileSource(write(MadeTIFF(directories: [directory])), options: straight)
        #expect(throws: TileFailure.self) { try other.loaded(0, 1, 1) }
    }

    /// The directory states what the fourth sample of WebP tiles is: nothing, multiplied alpha, alpha. As with Deflate.
    @Test(arguments: [0, 1, 2] as [UInt64]) func webPTilesHaveTheDirectorysAlpha(extra: UInt64) throws {
        let image = TestImage(width: 64, height: 64, hasAlpha: true)
        var directory = MadeTIFF.Directory(extra == 1 ? image.premultiplied : image)
        directory.samples = 4
        directory.more = [.init(tag: 338, type: 3, values: [extra])]
        var opaque = image
        for pixel in stride(from: 3, to: image.pixels.count, by: 4) { opaque.pixels[pixel] = 255 }
        for options in [TileSourceOptions(), straight] {
            (directory.compression, directory.encode) = (8, nil)
            let plain = MadeTIFF(directories: [directory]).bytes()
            let deflated = try TIFFTileSource(folder.write(plain, to: "plain.tif"), options: options)
            (directory.compression, directory.encode) = (50001, { $0.webP })
            let source = try TIFFTileSource(write(MadeTIFF(directories: [directory])), options: options)
            if options.alpha == .premultiplied { try source.expect(0, extra == 0 ? opaque : image.premultiplied) }
            for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let tile = try source.loaded(0, column, row).image
                #expect(try tile == deflated.loaded(0, column, row).image)
                // From the compressed form, too.
                let part = directory.image.part(x: column * 32, y: row * 32, width: 32, height: 32)
                let place = source.place(0, column, row)
                #expect(try tile == source.decoded(part.webP, of: place).image)
            }
        }
    }

    /// A WebP may have a fourth channel that the directory does not state.
    @Test func webPTilesOfThreeSamplesAreOpaque() throws {
        let image = TestImage(width: 64, height: 64, hasAlpha: true)
        var directory = MadeTIFF.Directory(image)
        (directory.compression, directory.encode) = (50001, { $0.webP })
        var opaque = image
        for pixel in stride(from: 3, to: image.pixels.count, by: 4) { opaque.pixels[pixel] = 255 }
        try TIFFTileSource(write(MadeTIFF(directories: [directory]))).expect(0, opaque)
    }

    /// Bits of bytes in the other order are turned before they are decompressed.
    @Test(arguments: [8, 16], [1, 8] as [UInt64]) func bitsInTheOtherOrder(bits: Int, compression: UInt64) throws {
        let image = TestImage(width: 70, height: 45)
        var directory = MadeTIFF.Directory(image)
        (directory.bits, directory.compression, directory.reversesBits) = (bits, compression, true)
        try TIFFTileSource(write(MadeTIFF(directories: [directory])), options: straight).expect(0, image)
        // A WebP is read as it is, whatever the field says.
        (directory.bits, directory.compression, directory.encode) = (8, 50001, { $0.webP })
        try TIFFTileSource(write(MadeTIFF(directories: [directory])), options: straight).expect(0, image)
    }

    @Test func absentTilesAndMetadata() throws {
        var directory = MadeTIFF.Directory(TestImage(width: 64, height: 64))
        directory.absent = [1]
        directory.more = [
            .init(tag: 42113, type: 2, values: Array("-9999\0".utf8).map { UInt64($0) }),
            .init(tag: 33550, type: 12, values: [0.5, 0.25, 0].map { $0.bitPattern }),
            .init(tag: 34735, type: 3, values: [1, 1, 0, 0]),
            .init(tag: 270, type: 2, values: Array("Aperio\0".utf8).map { UInt64($0) }),
        ]
        let source = try TIFFTileSource(write(MadeTIFF(directories: [directory])))
        #expect(try source.loaded(0, 1, 0).outcome == .absent && source.loaded(0, 0, 1).outcome == .pixels)
        let metadata = source.metadata
        #expect(
            metadata.noData == "-9999" && metadata.description == "Aperio" && metadata.pixelScale == [0.5, 0.25, 0]
        )
        #expect(metadata.geoKeys == [1, 1, 0, 0] && metadata.tiePoints.isEmpty && metadata.geoText == nil)
        // Four tiles, two texts, three and four numbers.
        #expect(source.statistics.directoryMemory == .bytes(4 * 12 + 6 + 5 + 7 * 8))
    }

    /// Writers leave out planes of zeros, as GDAL does with `SPARSE_OK`.
    @Test func planesThatAreNotInTheFileAreZeros() throws {
        var image = TestImage(width: 32, height: 32)
        var directory = MadeTIFF.Directory(image)
        directory.isPlanar = true
        directory.more = [.init(tag: 325, type: 4, values: [1024, 0, 1024])]
        let bytes = MadeTIFF(directories: [directory]).bytes()
        for index in stride(from: 1, to: image.pixels.count, by: 4) { image.pixels[index] = 0 }
        let server = try #require(RangeServer(bytes))
        for place in [folder.write(bytes, to: "made.tif"), server.address] {
            try TIFFTileSource(place, options: straight).expect(0, image)
        }
    }

    /// Stores keep tiles and absences as the server allows.
    @Test func storesKeepWhatTheServerAllows() throws {
        var directory = MadeTIFF.Directory(TestImage(width: 64, height: 64))
        directory.absent = [1]
        let bytes = MadeTIFF(directories: [directory]).bytes()
        let strict = try #require(RangeServer(bytes) { $0.change = { $2.headers.append("Cache-Control: no-store") } })
        let free = try #require(RangeServer(bytes))
        #expect(try writes(of: TIFFTileSource(strict.address), expecting: 0) == 0)
        #expect(try writes(of: TIFFTileSource(free.address), expecting: 4) == 4)
    }

    /// The cache counts the bytes of all planes, whatever happens to one.
    @Test func planesAreCountedTogether() {
        let ends = Record<Int>()
        let planes = TIFFPlanes(count: 3) { end in if case .failure(.failed) = end { ends.add(0) } else { ends.add(1) }
        }
        let held = Record<Int>()
        func hold(_ bytes: Int, _ plane: Int, room: Int = 1000) -> Bool {
            planes.hold(bytes, plane) {
                held.add($0)
                return $0 <= room
            }
        }
        #expect(hold(100, 0) && hold(20, 1) && hold(0, 0) && hold(100, 0) && !hold(3, 2, room: 122) && hold(0, 1))
        #expect(held.all == [100, 120, 20, 120, 123, 100])
        // One that fails ends the others, before and after they begin; each is told once.
        let cancelled = Record<Int>()
        planes.add { cancelled.add(0) }
        planes.add { cancelled.add(1) }
        planes.set(.failed(.permanent, TileLoadFailure(.truncated, "")), 1)
        planes.add { cancelled.add(2) }
        planes.set(.cancelled, 0)
        #expect(cancelled.all == [0, 1, 2] && ends.count == 0)
        planes.set(.bytes(.received([1])), 2)
        #expect(ends.all == [0])
    }

    @Test func whatCannotBeReadIsSaid() throws {
        func refusal(_ change: (inout MadeTIFF.Directory) -> Void) -> String {
            var directory = MadeTIFF.Directory(TestImage(width: 64, height: 64))
            change(&directory)
            let path = write(MadeTIFF(directories: [directory]))
            let text = message { _ = try TIFFTileSource(path) }
            #expect(text.hasPrefix("\(path): "))
            return text
        }
        func refusal(_ tag: UInt64, _ values: UInt64..., type: UInt64 = 3) -> String {
            refusal { $0.more = [.init(tag: tag, type: type, values: values)] }
        }
        #expect(refusal { $0.tile = 0 }.contains("its 64 x 64 pixels are in strips: open it as one large image"))
        #expect(refusal(259, 6).contains("not old JPEG") && refusal(259, 52546).contains("not JPEG XL"))
        #expect(refusal(259, 4711).contains("not 4711"))
        #expect(refusal(262, 5).contains("not the photometric interpretation 5 with 3 samples"))
        #expect(refusal(262, 9).contains("not ICCLab, the photometric interpretation 9 with 3 samples"))
        #expect(refusal(262, 3).contains("ColorMap: 768 numbers were expected for codes of 8 bits, not 0"))
        let twelve = refusal { ($0.bits, $0.compression) = (16, 7) }
        #expect(twelve.contains("JPEG, or WebP of 3 or 4") && twelve.hasSuffix("not 3 samples of 16 bits"))
        let webP = refusal { ($0.isPlanar, $0.compression) = (true, 50001) }
        #expect(webP.hasSuffix("not 3 samples of 8 bits in planes"))
        let planes = refusal {
            $0.isPlanar = true
            $0.more = [.init(tag: 262, type: 3, values: [6])]
        }
        #expect(planes.contains("YCbCr or CIELab of 3 samples of 8 bits in one tile was expected, not 3 samples of 8"))
        #expect(refusal(258, 33, 33, 33).contains("not 3 of [33, 33, 33] bits in the format [1, 1, 1]"))
        #expect(refusal(339, 6, 6, 6).contains("not 3 of [8, 8, 8] bits in the format [6, 6, 6]"))
        #expect(refusal(266, 3).contains("FillOrder of 1 to 2 was expected, not 3"))
        #expect(refusal(258, 8, 8, 16).contains("bits"))
        #expect(refusal(277, 4097).contains("SamplesPerPixel of 1 to 4096 was expected, not 4097"))
        #expect(refusal(277, 2).contains("interpretation 2 with 2 samples"))
        #expect(refusal(322, 5000).contains("TileWidth of 16 to 4096 was expected, not 5000"))
        #expect(refusal(256, 0).contains("ImageWidth of 1 to 1073741824"))
        #expect(refusal(256, 1 << 30, type: 4).contains("of 67108864 whole numbers in the file were expected"))
        #expect(refusal(324, 8, 8, 8, type: 4).contains("4 tiles were expected, not 3 offsets and 4 byte counts"))
        #expect(refusal(324, 8, 8, 8, 8, 8, type: 4).contains("TileOffsets: at most 4 numbers were expected, not 5"))
        #expect(refusal(324, 8, 8, 8, 8, type: 12).contains("TileOffsets: whole numbers were expected"))
        let text = folder.write(Array("no picture".utf8), to: "text")
        #expect(message { _ = try TIFFTileSource(text) }.contains("begins with \"II\" or \"MM\""))
    }

    /// By hand: tables come before the tile's own segments, both without markers of JFIF and Adobe.
    @Test func tablesOfJPEGAreJoined() {
        func segment(_ marker: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [0xFF, marker, 0, UInt8(bytes.count + 2)] + bytes
        }
        let (start, end) = ([0xFF, 0xD8] as [UInt8], [0xFF, 0xD9] as [UInt8])
        let (jfif, adobe) = (segment(0xE0, [1]), segment(0xEE, [2, 3]))
        let (table, own, scan) = (segment(0xC4, [9, 8]), segment(0xDB, []), segment(0xDA, [7]) + [1, 2, 0xFF, 0xE0])
        let tile = start + jfif + own + adobe + scan
        func joined(_ tables: [UInt8], to tile: [UInt8] = tile, photometric: Int = 6) -> [UInt8] {
            tile.withUnsafeBufferPointer { TIFFTile.joined($0, tables: tables, photometric: photometric) }
        }
        for (photometric, transform) in [(6, 1), (2, 0)] as [(Int, UInt8)] {
            let colours = segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, transform])
            let all = joined(start + jfif + table + adobe + end, photometric: photometric)
            #expect(all == start + colours + table + own + scan)
            // No tables, none within, or what is no JPEG.
            let alone = start + colours + own + scan
            let others = [[], start + end, start, end, start + table, table + end, [1, 2] + table + end]
            for tables in others {
                #expect(joined(tables, photometric: photometric) == alone, "\(tables)")
            }
        }
        #expect(joined(start + table + end, to: [0xFF] + tile) == [0xFF] + tile)
    }
}
