import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// Sets that libvips, GDAL, MapProxy and MapCache have written, as those programs decode them.
@Suite(.serialized, .timeLimit(.minutes(45))) struct OtherSetsTests {
    private let folder = ScratchFolder()
    private let straight = TileSourceOptions(alpha: .straight)

    private func picture(width: Int = 701, height: Int = 497) -> (TestImage, path: String) {
        let image = TestImage(width: width, height: height)
        return (image, folder.write(image.png, to: "picture.png"))
    }

    /// All tiles of a set are what libvips decodes of the files that one may expect.
    private func compare(
        _ source: some PyramidTileSource & BlockingTileSource,
        _ side: Int,
        _ path: (TileCoordinate) -> String
    ) throws -> Int {
        let tiles = source.pyramid.levels.enumerated().flatMap { index, level in
            (0..<level.columns).flatMap { column in
                (0..<level.rows).map { TileCoordinate(level: index, column: column, row: $0) }
            }
        }
        let decoded = OtherPrograms.decodedByVips(tiles.map(path), in: folder, largest: (side, side))
        let all = try #require(decoded)
        for (index, tile) in tiles.enumerated() {
            let level = source.pyramid.levels[tile.level]
            let (wide, high) = (
                min(side, level.width - tile.column * side), min(side, level.height - tile.row * side)
            )
            let expected = all.part(x: 0, y: index * side, width: wide, height: high)
            let loaded = try source.loaded(tile)
            #expect(loaded.image == expected.part(x: 0, y: 0, width: side, height: side), "tile \(tile)")
        }
        #expect(source.statistics.failureCount == 0 && source.statistics.absent == 0)
        return tiles.count
    }

    /// More than 256 tiles: the second group begins within a level.
    @Test(.enabled(if: OtherPrograms.vips, "libvips-tools is not installed"), arguments: [(".jpg", 32), (".png", 256)])
    func zoomifyOfVips(suffix: String, side: Int) throws {
        let set = "\(folder.path)/set"
        let flags = "--layout zoomify --suffix \(suffix) --tile-size \(side)"
        #expect(OtherPrograms.run("vips dzsave '\(picture().path)' '\(set)' \(flags)"))
        let address = try #require(TileSourceAddress("zoomify:\(set)"))
        let source = try #require(try address.open(straight) as? PictureFolderTileSource)
        var first: [Int] = []
        for level in source.pyramid.levels { first.append((first.last ?? 0) + level.columns * level.rows) }
        let count = try compare(source, side) { tile in
            let number =
                (tile.level > 0 ? first[tile.level - 1] : 0) + tile.row * source.pyramid.levels[tile.level].columns
                + tile.column
            return "\(set)/TileGroup\(number / 256)/\(tile.level)-\(tile.column)-\(tile.row)\(suffix)"
        }
        #expect(count > (side == 32 ? 256 : 5))
        // From a server, where tiles are JPEG.
        guard suffix == ".jpg" else { return }
        let server = try #require(DescribedServer(missing: 404))
        for (number, end) in ["", "TileGroup0", "TileGroup1"].enumerated() {
            for file in Files.names(in: "\(set)/\(end)") ?? [] where number > 0 || file.hasSuffix("Properties.xml") {
                guard let bytes = OtherPrograms.bytes("\(set)/\(end)/\(file)") else { continue }
                server.add(bytes, at: "/a/\(end)\(end.isEmpty ? "" : "/")\(file)?k=1")
            }
        }
        let served = try #require(TileSourceAddress("zoomify:\(server.root)/a/?k=1")).open(straight)
        #expect(served.pyramid == source.pyramid && served is HTTPTileSource)
        for level in 0..<source.pyramid.levels.count {
            let extent = source.pyramid.levels[level]
            var pixels = TestImage(width: extent.columns * side, height: extent.rows * side).pixels
            for column in 0..<extent.columns {
                for row in 0..<extent.rows {
                    let tile = try source.loaded(level, column, row).image
                    for y in 0..<side {
                        let at = ((row * side + y) * extent.columns + column) * side * 4
                        pixels.replaceSubrange(at..<at + side * 4, with: tile.pixels[y * side * 4..<(y + 1) * side * 4])
                    }
                }
            }
            let image = TestImage(width: extent.columns * side, height: extent.rows * side, pixels: pixels)
            _ = try TileSourcesTests.compare(served, level: level, with: image)
        }
        #expect(server.refused.isEmpty, "\(server.refused.prefix(3))")
    }

    /// Its `id` is a placeholder, its tiles are PNG or JPEG, and the one that shows all has a form of its own.
    @Test(
        .enabled(if: OtherPrograms.vips, "libvips-tools is not installed"),
        arguments: [("iiif", ".jpg"), ("iiif", ".png"), ("iiif3", ".webp"), ("iiif3", ".jpg")]
    )
    func iiifOfVips(layout: String, suffix: String) throws {
        let (set, side) = ("\(folder.path)/set", 128)
        let flags =
            "--layout \(layout) --suffix '\(suffix == ".webp" ? ".webp[lossless]" : suffix)' --tile-size \(side)"
        #expect(OtherPrograms.run("vips dzsave '\(picture().path)' '\(set)' \(flags)"))
        let address = try #require(TileSourceAddress("iiif:\(set)"))
        let source = try #require(try address.open(straight) as? PictureFolderTileSource)
        #expect(source.pyramid.worldWidth == 701 && source.warning == nil)
        #expect(try PictureFolderTileSource(iiif: "\(set)/info.json").pyramid == source.pyramid)
        let count = try compare(source, side) { tile in
            let span = Int(source.pyramid.levels[tile.level].worldPixelsPerPixel) * side
            let (x, y) = (tile.column * span, tile.row * span)
            let (wide, high) = (min(span, 701 - x), min(span, 497 - y))
            let region = "\(set)/\(x),\(y),\(wide),\(high)"
            // libvips rounds sizes in its own way.
            let size = Files.names(in: region)?.first ?? "none"
            return "\(region)/\(size)/0/default\(suffix)"
        }
        #expect(count > 30)
    }

    /// Its matrices have pixels that are not square, and its finest one is larger than the picture.
    @Test(
        .enabled(if: OtherReaders.gdal != nil, "gdal-bin and python3-gdal are not installed"),
        arguments: ["PNG", "JPEG", "WEBP", "PNG_JPEG -co TILING_SCHEME=GoogleMapsCompatible"]
    )
    func geoPackagesOfGDAL(format: String) throws {
        let (image, path) = picture()
        let place = "-a_srs EPSG:3857 -a_ullr 200000 700000 900000 200000"
        let package = "\(folder.path)/map.gpkg"
        #expect(OtherPrograms.run("gdal_translate -q \(place) '\(path)' '\(folder.path)/geo.tif'"))
        let options = "-co TILE_FORMAT=\(format) -co RASTER_TABLE='some map'"
        #expect(OtherPrograms.run("gdal_translate -q -of GPKG \(options) '\(folder.path)/geo.tif' '\(package)'"))
        #expect(OtherPrograms.run("gdaladdo -q -r average '\(package)' 2 4"))
        let address = try #require(TileSourceAddress("gpkg:\(package)#table=some map"))
        let source = try #require(try address.open(straight) as? GeoPackageTileSource)
        #expect(source.pyramid.levels.map(\.worldPixelsPerPixel) == [4, 2, 1] && source.warning == nil)
        #expect(try GeoPackageTileSource(path: package).pyramid == source.pyramid)
        let part = source.contents
        #expect(part.area < source.pyramid.worldWidth * source.pyramid.worldHeight)
        var (tiles, rasters) = ([TileCoordinate](), [OtherPrograms.Raster]())
        let isOwn = !format.contains("Google")
        // Metres a pixel of the world.
        let reach = 20_037_508.342789244
        let (left, top) = isOwn ? (200_000, 700_000) : (-reach, reach)
        let pixel =
            isOwn
            ? (700_000 / 701.0, 500_000 / 497.0)
            : (2 * reach / source.pyramid.worldWidth, 2 * reach / source.pyramid.worldHeight)
        if isOwn {
            #expect(abs(part.maxX - 701) < 1e-3 && abs(part.maxY - 497) < 1e-3 && part.minX == 0 && part.minY == 0)
        }
        for (index, level) in source.pyramid.levels.enumerated() {
            let range = source.pyramid.range(overlapping: part, at: index)
            for column in range.columns {
                for row in range.rows {
                    tiles.append(TileCoordinate(level: index, column: column, row: row))
                    let (wide, high) = (
                        256 * level.worldPixelsPerPixel * pixel.0, 256 * level.worldPixelsPerPixel * pixel.1
                    )
                    let (x, y) = (left + Double(column) * wide, top - Double(row) * high)
                    let zoom = isOwn ? index : source.pyramid.levels[index].columns.trailingZeroBitCount
                    rasters.append(
                        OtherPrograms.Raster(
                            path: package,
                            options: "ZOOM_LEVEL=\(zoom) BAND_COUNT=4 TABLE=some\u{a0}map",
                            window: "\(x) \(y) \(x + wide) \(y - high)"
                        )
                    )
                }
            }
        }
        var exact = 0
        for tile in tiles {
            let loaded = try source.loaded(tile)
            guard isOwn, tile.level == 2, format == "PNG" else { continue }
            // What GDAL was given, to the bit.
            let expected = image.part(x: tile.column * 256, y: tile.row * 256, width: 256, height: 256)
            #expect(loaded.outcome == .pixels && loaded.image == expected, "tile \(tile)")
            exact += 1
        }
        #expect(exact == (format == "PNG" ? 6 : 0) && source.statistics.failureCount == 0)
        let python = try #require(OtherReaders.gdal)
        let named = rasters.map { raster in
            var raster = raster
            raster.options = raster.options.replacing(" TABLE=some\u{a0}map", with: "")
            return raster
        }
        let images = OtherPrograms.decodedByGDAL(named, by: python, in: folder, width: 256, height: 256)
        var compared = 0
        for (tile, decoded) in zip(tiles, images) {
            let loaded = try source.loaded(tile)
            guard let decoded, loaded.outcome == .pixels else { continue }
            let isSame = OtherPrograms.showTheSame(loaded.image, decoded, knowsAlpha: !format.contains("JPEG"))
            #expect(isSame, "tile \(tile)")
            compared += 1
        }
        #expect(compared >= 4, "\(compared) of \(tiles.count)")
    }

    /// Degrees: two tiles at zoom 0, or one whose lower half is the world.
    @Test(
        .enabled(if: OtherPrograms.gdalTiles, "gdal2tiles is not installed"),
        arguments: [("--tmscompatible", "tms"), ("--tmscompatible --xyz", "xyz"), ("", "tms")]
    )
    func geodeticFoldersOfGDAL(flags: String, layout: String) throws {
        let place = "-a_srs EPSG:4326 -a_ullr -180 90 180 -90"
        let (image, path) = picture(width: 512, height: 256)
        let tiles = "\(folder.path)/tiles"
        #expect(OtherPrograms.run("gdal_translate -q \(place) '\(path)' '\(folder.path)/geo.tif'"))
        let last = flags.isEmpty ? 1 : 0
        let command = "gdal2tiles.py -q --profile=geodetic \(flags) -z 0-\(last) '\(folder.path)/geo.tif' '\(tiles)'"
        #expect(OtherPrograms.run(command))
        let address = try #require(TileSourceAddress("\(layout):\(tiles)"))
        let source = try #require(try address.open(straight) as? FolderTileSource)
        #expect(source.world == (flags.isEmpty ? .square : .geodetic) && source.zooms == 0...last)
        #expect(source.pyramid.worldWidth == 512 && source.pyramid.worldHeight == (flags.isEmpty ? 512 : 256))
        // At the last zoom a pixel of the map is one of the picture.
        for column in 0...1 {
            let part = image.part(x: column * 256, y: 0, width: 256, height: 256)
            #expect(try source.loaded(last, column, flags.isEmpty ? 1 : 0).image == part, "column \(column)")
        }
    }

    /// The trees of MapProxy's layouts, filled from a server of known tiles.
    @Test(
        .enabled(if: OtherPrograms.mapProxy, "PyPI's MapProxy is not installed"),
        arguments: [
            ("tc", "nw", "tc:DIR#rows=top"), ("tc", "sw", "tc:DIR"), ("mp", "nw", "mp:DIR"),
            ("mp", "sw", "mp:DIR#rows=bottom"), ("tms", "nw", "xyz:DIR"), ("tms", "sw", "tms:DIR"),
            ("reverse_tms", "nw", "file:DIR/{y}/{x}/{z}.png"), ("quadkey", "nw", "quadkey:DIR"),
            ("arcgis", "nw", "arcgis:DIR"),
        ]
    )
    func treesOfMapProxy(layout: String, origin: String, text: String) throws {
        let server = try #require(DescribedServer(missing: 404))
        for zoom in 0...2 {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    server.add(Self.tile(zoom, column, row).png, at: "/\(zoom)/\(column)/\(row).png")
                }
            }
        }
        let tree = "\(folder.path)/tree"
        let lines = """
            globals: {image: {paletted: false}, cache: {base_dir: \(folder.path), lock_dir: \(folder.path)/locks}}
            grids:
              top: {base: GLOBAL_WEBMERCATOR, tile_size: [64, 64]}
              own: {base: GLOBAL_WEBMERCATOR, tile_size: [64, 64], origin: \(origin)}
            sources:
              given: {type: tile, grid: top, url: "\(server.root)/%(z)s/%(x)s/%(y)s.png"}
            caches:
              kept: {grids: [own], sources: [given], format: image/png, meta_size: [1, 1],
                     cache: {type: file, directory: \(tree), directory_layout: \(layout)}}
            layers: [{name: a, title: a, sources: [kept]}]
            services: {tms: }
            """
        let map = folder.write(Array(lines.utf8), to: "map.yaml")
        let seed = folder.write(Array("seeds: {all: {caches: [kept], levels: {to: 2}}}".utf8), to: "seed.yaml")
        let call = "from mapproxy.seed.script import main; main()"
        #expect(OtherPrograms.run("python3 -c '\(call)' -f '\(map)' -s '\(seed)' -c 1"))
        try expectTiles(text.replacing("DIR", with: tree), zooms: 0...2)
    }

    /// The trees of MapCache's layouts, filled from a server of maps.
    @Test(
        .enabled(if: OtherPrograms.mapCache, "mapcache-tools is not installed"),
        arguments: [
            ("tilecache", "tc:DIR/a/GoogleMapsCompatible"), ("arcgis", "arcgis:DIR/a/GoogleMapsCompatible#rows=bottom"),
            ("worldwind", "file:DIR/{z}/{y:04}/{y:04}_{x:04}.png#rows=bottom"),
        ]
    )
    func treesOfMapCache(layout: String, text: String) throws {
        let made = ModelServer { request in
            guard let image = Self.answer(request.path) else { return ModelServer.Answer(status: 400) }
            return ModelServer.Answer(headers: ["Content-Type: image/png"], body: image.png)
        }
        let server = try #require(made)
        let tree = "\(folder.path)/tree"
        let lines = """
            <?xml version="1.0" encoding="UTF-8"?><mapcache>
            <cache name="c" type="disk" layout="\(layout)"><base>\(tree)</base></cache>
            <source name="s" type="wms"><http><url>http://127.0.0.1:\(server.port)/</url></http>
            <getmap><params><FORMAT>image/png</FORMAT><LAYERS>a</LAYERS></params></getmap></source>
            <tileset name="a"><source>s</source><cache>c</cache><grid>GoogleMapsCompatible</grid>
            <metatile>1 1</metatile></tileset>
            <service type="tms" enabled="true"/><lock_dir>\(folder.path)</lock_dir></mapcache>
            """
        let map = folder.write(Array(lines.utf8), to: "map.xml")
        #expect(OtherPrograms.run("mapcache_seed -q -c '\(map)' -t a -z 0,2 -n 1"))
        try expectTiles(text.replacing("DIR", with: tree), zooms: 0...2)
    }

    /// The tile of a request for a map.
    private static func answer(_ path: String) -> TestImage? {
        let query = path.lowercased().replacing("%2c", with: ",")
        guard let text = query.split(separator: "bbox=").last?.prefix(while: { $0 != "&" }) else { return nil }
        let box = text.split(separator: ",").compactMap { Double($0) }
        guard box.count == 4 else { return nil }
        let (reach, side) = (20_037_508.342789244, box[2] - box[0])
        let zoom = Int((2 * reach / side).rounded()).trailingZeroBitCount
        return tile(zoom, Int(((box[0] + reach) / side).rounded()), Int(((reach - box[3]) / side).rounded()))
    }

    private static func tile(_ zoom: Int, _ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 64, height: 64, seed: zoom * 100 + column * 10 + row)
    }

    /// Every tile of a tree is the one that was given for its place.
    private func expectTiles(_ text: String, zooms: ClosedRange<Int>) throws {
        let address = try #require(TileSourceAddress(text))
        let source = try #require(try address.open(straight) as? FolderTileSource)
        #expect(source.zooms == zooms && source.warning == nil, "\(source.warning ?? "")")
        for zoom in zooms {
            for column in 0..<1 << zoom {
                for row in 0..<1 << zoom {
                    let loaded = try source.loaded(zoom - zooms.lowerBound, column, row)
                    #expect(loaded.image == Self.tile(zoom, column, row), "tile \(zoom)/\(column)/\(row)")
                }
            }
        }
    }
}
