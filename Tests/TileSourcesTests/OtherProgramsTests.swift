import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Every tile of sets that GDAL and libvips have written equals those programs' decoding.
@Suite(.serialized, .timeLimit(.minutes(45))) struct OtherProgramsTests {
    private let folder = ScratchFolder()

    private func picture(hasAlpha: Bool = false) -> String {
        folder.write(TestImage(width: 700, height: 500, hasAlpha: hasAlpha).png, to: "picture.png")
    }

    /// Straight alpha, so that the programs' output can be compared to the bit.
    private let straight = TileSourceOptions(alpha: .straight)

    /// Reads Deep Zoom sets of libvips, with overlap and without, of each format.
    @Test(
        .enabled(if: OtherPrograms.vips, "libvips-tools is not installed"),
        arguments: [
            (".jpg", 1, 254, ""), (".png", 0, 128, ""), (".webp", 3, 100, ""), (".png", 2, 120, "--depth onetile"),
        ]
    )
    func deepZoomOfVips(suffix: String, overlap: Int, size: Int, more: String) throws {
        let flags = "--suffix \(suffix) --overlap \(overlap) --tile-size \(size) \(more)"
        #expect(OtherPrograms.run("vips dzsave '\(picture())' '\(folder.path)/set' \(flags)"))
        let source = try DeepZoomTileSource(path: "\(folder.path)/set.dzi", options: straight)
        #expect(source.overlap == overlap && source.pyramid.worldWidth == 700 && source.pyramid.worldHeight == 500)
        // Numbers of the levels in the set.
        let names = try #require(Files.names(in: "\(folder.path)/set_files")).compactMap { Int($0) }.sorted()
        let last = try #require(names.last)
        let levels = source.pyramid.levels
        let tiles = levels.indices.flatMap { index in
            (0..<levels[index].columns).flatMap { column in
                (0..<levels[index].rows).map { TileCoordinate(level: index, column: column, row: $0) }
            }
        }
        /// First column and row of a tile's file, and the ones after its last.
        func extent(_ tile: TileCoordinate) -> (x: Int, y: Int, right: Int, bottom: Int) {
            let level = levels[tile.level]
            return (
                max(tile.column * size - overlap, 0), max(tile.row * size - overlap, 0),
                min((tile.column + 1) * size + overlap, level.width), min((tile.row + 1) * size + overlap, level.height)
            )
        }
        let paths = tiles.map { tile in
            let number = last - source.pyramid.maximumLevel + tile.level
            return "\(folder.path)/set_files/\(number)/\(tile.column)_\(tile.row)\(suffix)"
        }
        let width = tiles.map { extent($0).right - extent($0).x }.max() ?? 0
        let height = tiles.map { extent($0).bottom - extent($0).y }.max() ?? 0
        let decoded = try #require(OtherPrograms.decodedByVips(paths, in: folder, largest: (width, height)))
        for (index, tile) in tiles.enumerated() {
            let own = extent(tile)
            let (column, row) = (tile.column * size, tile.row * size)
            let expected = decoded.part(
                x: column - own.x,
                y: index * height + row - own.y,
                width: min(size, levels[tile.level].width - column),
                height: min(size, levels[tile.level].height - row)
            )
            let loaded = try source.loaded(tile.level, tile.column, tile.row)
            #expect(loaded.image == expected.part(x: 0, y: 0, width: size, height: size), "tile \(tile)")
        }
        #expect(tiles.count >= 9 && source.statistics.failureCount == 0)
    }

    /// Reads images of libvips that can only be decoded whole, and ordinary ones. Each tile is the image's own part.
    @Test(
        .enabled(if: OtherPrograms.vips, "libvips-tools is not installed"),
        arguments: [
            "a.png[interlace]", "b.png[bitdepth=8]", "c.jpg[Q=90]", "d.jpg[interlace,no-subsample]", "e.webp[lossless]",
            "f.webp",
        ]
    )
    func imagesOfVips(target: String) throws {
        #expect(OtherPrograms.run("vips copy '\(picture())' '\(folder.path)/\(target)'"))
        let path = "\(folder.path)/\(target.prefix { $0 != "[" })"
        let source = try ImageTileSource(path: path, options: straight)
        let decoded = OtherPrograms.decodedByVips(path, in: folder, width: 700, height: 500)
        let whole = try #require(decoded)
        for column in 0..<3 {
            for row in 0..<2 {
                let part = whole.part(x: column * 256, y: row * 256, width: 256, height: 256)
                #expect(try source.loaded(source.pyramid.maximumLevel, column, row).image == part)
            }
        }
    }

    /// Reads the `google` layout, whose rows are folders. The image is at the top left of the world.
    @Test(.enabled(if: OtherPrograms.vips, "libvips-tools is not installed"), arguments: [false, true])
    func foldersOfVips(isDoubled: Bool) throws {
        let (tiles, suffix) = ("\(folder.path)/tiles", isDoubled ? "@2x.png" : ".png")
        let side = isDoubled ? 512 : 256
        let command = "vips dzsave '\(picture())' '\(tiles)' --layout google --tile-size \(side) --suffix \(suffix)"
        #expect(OtherPrograms.run(command))
        let layout = TileFolderLayout(.zyx, isDoubled: isDoubled)
        let source = try FolderTileSource(path: tiles, layout: layout, options: straight)
        #expect(source.pyramid.worldWidth == 1024)
        let level = source.pyramid.maximumLevel
        for column in 0..<1024 / side {
            for row in 0..<(500 - 1) / side + 1 where column * side < 700 {
                let path = "\(tiles)/\(level)/\(row)/\(column)\(suffix)"
                let decoded = OtherPrograms.decodedByVips(path, in: folder, width: side, height: side)
                #expect(try source.loaded(level, column, row).image == #require(decoded))
            }
        }
    }

    /// Compares MBTiles of GDAL with GDAL's own reading, zoom by zoom. Each format has its overviews.
    @Test(
        .enabled(if: OtherReaders.gdal != nil, "gdal-bin and python3-gdal are not installed"),
        arguments: ["PNG", "PNG8", "JPEG", "WEBP"]
    )
    func mbTilesOfGDAL(format: String) throws {
        let place = "-a_srs EPSG:3857 -a_ullr 200000 700000 900000 200000"
        let path = "\(folder.path)/map.mbtiles"
        #expect(
            OtherPrograms.run(
                "gdal_translate -q \(place) '\(picture(hasAlpha: format == "PNG"))' '\(folder.path)/geo.tif'"
            )
        )
        #expect(
            OtherPrograms.run(
                "gdal_translate -q -of MBTILES -co TILE_FORMAT=\(format) '\(folder.path)/geo.tif' '\(path)'"
            )
        )
        #expect(OtherPrograms.run("gdaladdo -q -r average '\(path)' 2"))
        let source = try MBTilesTileSource(path: path, options: straight)
        #expect(source.zooms.count == 2)
        #expect(source.contents.width > 0 && source.contents.width < source.pyramid.worldWidth / 10)
        var (tiles, rasters) = ([TileCoordinate](), [OtherPrograms.Raster]())
        for (index, level) in source.pyramid.levels.enumerated() {
            let zoom = source.zooms.lowerBound + index
            // In metres, from the projection's middle.
            let side = 2 * 20_037_508.342789244 / Double(level.columns)
            let reach = 20_037_508.342789244
            let columns = Int((reach + 200_000) / side)...Int((reach + 900_000) / side)
            let rows = Int((reach - 700_000) / side)...Int((reach - 200_000) / side)
            for column in columns {
                for row in rows {
                    let (left, top) = (Double(column) * side - reach, reach - Double(row) * side)
                    tiles.append(TileCoordinate(level: index, column: column, row: row))
                    rasters.append(
                        OtherPrograms.Raster(
                            path: path,
                            options: "ZOOM_LEVEL=\(zoom) BAND_COUNT=4 CLIP=NO",
                            window: "\(left) \(top) \(left + side) \(top - side)"
                        )
                    )
                }
            }
        }
        let python = try #require(OtherReaders.gdal)
        let images = OtherPrograms.decodedByGDAL(rasters, by: python, in: folder, width: 256, height: 256)
        var compared = 0
        for (tile, decoded) in zip(tiles, images) {
            let loaded = try source.loaded(tile.level, tile.column, tile.row)
            guard let decoded else { continue }
            if loaded.outcome == .absent {
                #expect(decoded.pixels.allSatisfy { $0 == 0 })
            } else {
                // GDAL makes the outside of the map in a JPEG transparent.
                let isSame = OtherPrograms.showTheSame(loaded.image, decoded, knowsAlpha: format != "JPEG")
                #expect(isSame, "tile \(tile)")
            }
            compared += 1
        }
        #expect(compared >= 4 && source.statistics.failureCount == 0)
    }

    /// Reads tiles of `gdal2tiles`, with rows from the top and from the bottom.
    @Test(.enabled(if: OtherPrograms.gdalTiles, "gdal2tiles is not installed"), arguments: [true, false])
    func foldersOfGDAL(fromTop: Bool) throws {
        let place = "-a_srs EPSG:3857 -a_ullr 200000 700000 900000 200000"
        let tiles = "\(folder.path)/tiles"
        #expect(OtherPrograms.run("gdal_translate -q \(place) '\(picture())' '\(folder.path)/geo.tif'"))
        #expect(
            OtherPrograms.run("gdal2tiles.py -q \(fromTop ? "--xyz" : "") -z 6-8 '\(folder.path)/geo.tif' '\(tiles)'")
        )
        let source = try FolderTileSource(
            path: tiles,
            layout: TileFolderLayout(fromTop ? .xyz : .tms),
            options: straight
        )
        #expect(source.zooms == 6...8)
        var (placed, rasters) = ([TileCoordinate](), [OtherPrograms.Raster]())
        for zoom in 6...8 {
            for column in try #require(Files.names(in: "\(tiles)/\(zoom)")).compactMap({ Int($0) }) {
                for file in try #require(Files.names(in: "\(tiles)/\(zoom)/\(column)")) where file.hasSuffix(".png") {
                    let number = try #require(Int(file.dropLast(4)))
                    let row = fromTop ? number : (1 << zoom) - 1 - number
                    placed.append(TileCoordinate(level: zoom - 6, column: column, row: row))
                    rasters.append(OtherPrograms.Raster(path: "\(tiles)/\(zoom)/\(column)/\(file)"))
                }
            }
            // North of the image there is nothing.
            #expect(try source.loaded(zoom - 6, 1 << (zoom - 1), 0).outcome == .absent)
        }
        let python = try #require(OtherReaders.gdal)
        let images = OtherPrograms.decodedByGDAL(rasters, by: python, in: folder, width: 256, height: 256)
        for (tile, decoded) in zip(placed, images) {
            #expect(try source.loaded(tile.level, tile.column, tile.row).image == #require(decoded))
        }
        #expect(placed.count >= 10 && images.count == placed.count)
    }

    /// Reads what PyPI's pmtiles makes of an MBTiles file. The first archive has leaf directories.
    @Test(.enabled(if: OtherPrograms.pmtiles, "PyPI's pmtiles is not installed"), arguments: [7, 4])
    func archivesOfPMTiles(zoom: Int) throws {
        let path = "\(folder.path)/map"
        let made = MadeMBTiles("\(path).mbtiles")
        made.run("CREATE UNIQUE INDEX place ON tiles (zoom_level, tile_column, tile_row); BEGIN")
        for (name, value) in ["minzoom": "\(zoom - 1)", "maxzoom": "\(zoom)", "format": "png", "bounds": "-90,0,90,80"]
        {
            made.set(name, value)
        }
        // A third of the tiles is missing, and many are the same.
        let images = (0..<300).map { TestImage(width: 16, height: 16, seed: $0).png }
        var random = SplitMix64(seed: 1)
        for zoom in zoom - 1...zoom {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom where (column * 7 + row * 3) % 10 < 7 {
                    made.add(zoom, column, rowFromBottom: row, images[Int(random.next() % 300)])
                }
            }
        }
        made.run("COMMIT")
        made.close()
        let call = "mbtiles_to_pmtiles('\(path).mbtiles', '\(path).pmtiles', None)"
        #expect(OtherPrograms.run("python3 -c \"from pmtiles.convert import *; \(call)\""))
        let (old, new) = (try MBTilesTileSource(path: "\(path).mbtiles"), try PMTilesTileSource("\(path).pmtiles"))
        let bytes = try #require(OtherPrograms.bytes("\(path).pmtiles"))
        let header = try PMTilesHeader(bytes, size: bytes.count, path: path)
        #expect((header.leaves.length > 0) == (zoom == 7))
        #expect(new.zooms == old.zooms && new.pyramid == old.pyramid)
        #expect(abs(new.contents.minY - old.contents.minY) < 0.01 && new.contents.minX == old.contents.minX)
        for (level, extent) in new.pyramid.levels.enumerated() {
            for column in 0..<extent.columns {
                for row in 0..<extent.rows {
                    let (expected, found) = (try old.loaded(level, column, row), try new.loaded(level, column, row))
                    let isSame = found.outcome == expected.outcome && found.image == expected.image
                    if !isSame { Issue.record("tile \(level)/\(column)/\(row) is another one") }
                }
            }
        }
        #expect(new.statistics.failureCount == 0 && new.statistics.absent > 10)
        #expect(try new.readMetadata().contains("\"format\": \"png\""))
    }

    /// Reads what libtiff's own program makes of a picture. It has each compression without loss, both orders of bytes
    /// and of bits, and BigTIFF.
    @Test(
        .enabled(if: OtherPrograms.tiffcp, "libtiff-tools is not installed"),
        arguments: [
            "-c none", "-c packbits", "-c lzw", "-c lzw:2", "-c zip:2", "-c zstd", "-c zstd:2",
            "-c lzw -8", "-c zip -B", "-c zip -L -8", "-c none -f lsb2msb", "-c zip -f lsb2msb", "-c lzw -f lsb2msb",
        ]
    )
    func tilesOfTIFF(flags: String) throws {
        for bits in [8, 16] {
            let image = TestImage(width: 300, height: 170)
            var directory = MadeTIFF.Directory(image)
            (directory.tile, directory.bits) = (0, bits)
            let made = folder.write(MadeTIFF(directories: [directory]).bytes(), to: "made.tif")
            let path = "\(folder.path)/copy.tif"
            #expect(OtherPrograms.run("tiffcp \(flags) -t -w 64 -l 48 '\(made)' '\(path)'"))
            let source = try TIFFTileSource(path, options: straight)
            #expect(source.pyramid.levels[0].tileWidth == 64 && source.pyramid.levels[0].tileHeight == 48)
            for column in 0..<5 {
                for row in 0..<4 {
                    let part = image.part(x: column * 64, y: row * 48, width: 64, height: 48)
                    #expect(try source.loaded(0, column, row).image == part)
                }
            }
        }
    }

    /// Compares pyramids of libvips with its own decoding of each level.
    @Test(
        .enabled(if: OtherPrograms.vips, "libvips-tools is not installed"),
        arguments: [
            "--compression jpeg", "--compression jpeg --subifd", "--compression deflate --bigtiff",
            "--compression webp --lossless", "--compression zstd --predictor horizontal", "--compression lzw",
            "--compression jp2k", "--compression jp2k --lossless",
        ]
    )
    func pyramidsOfVips(flags: String) throws {
        let path = "\(folder.path)/pyramid.tif"
        let command = "vips tiffsave '\(picture())' '\(path)' --tile --pyramid --tile-width 128 --tile-height 128"
        #expect(OtherPrograms.run("\(command) \(flags)"))
        let source = try TIFFTileSource(path, options: straight)
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == [8, 4, 2, 1] && source.pyramid.worldWidth == 700)
        for (level, extent) in source.pyramid.levels.enumerated() {
            let number = source.pyramid.maximumLevel - level
            let page = !flags.contains("subifd") ? "[page=\(number)]" : number == 0 ? "" : "[subifd=\(number - 1)]"
            let stated = try #require(
                OtherPrograms.decodedByVips("\(path)\(page)", in: folder, width: extent.width, height: extent.height)
            )
            let decoded = source.drawn(stated, level)
            for column in 0..<extent.columns {
                for row in 0..<extent.rows {
                    let part = decoded.part(x: column * 128, y: row * 128, width: 128, height: 128)
                    let pixels = try source.loaded(level, column, row).image.pixels
                    let most = pixels.greatestDifference(from: part.pixels)
                    #expect(most <= (flags.contains("jpeg") ? 1 : 0), "tile \(level)/\(column)/\(row)")
                }
            }
        }
        #expect(source.statistics.failureCount == 0)
    }
}
