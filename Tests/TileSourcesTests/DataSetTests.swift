import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Identity of a source's data in stores.
@Suite struct DataSetTests {
    private let folder = ScratchFolder()
    private let image = TestImage(width: 64, height: 64, seed: 1)

    /// All ways to open some containers that draw different pixels or read different tiles.
    private func open() throws -> [any PyramidTileSource] {
        let path = folder.path
        let plain = TileSourceOptions(tileSize: 64)
        let pixels = [
            plain, TileSourceOptions(format: .bgra8, tileSize: 64), TileSourceOptions(format: .gray8, tileSize: 64),
            TileSourceOptions(alpha: .straight, tileSize: 64), TileSourceOptions(alpha: .ignored, tileSize: 64),
            TileSourceOptions(tileSize: 32),
        ]
        var sources: [any PyramidTileSource] = []
        for options in pixels {
            sources.append(try FolderTileSource(path: "\(path)/tiles", options: options))
            sources.append(try MBTilesTileSource(path: "\(path)/map.mbtiles", options: options))
            sources.append(try PMTilesTileSource("\(path)/map.pmtiles", options: options))
            sources.append(try ImageTileSource(path: "\(path)/picture.png", options: options))
            sources.append(try HTTPTileSource(template: "http://h/{z}/{x}/{y}", options: options))
        }
        for layout in [TileFolderLayout(.tms), TileFolderLayout(.zyx), TileFolderLayout(.xyz, isDoubled: true)] {
            sources.append(try FolderTileSource(path: "\(path)/tiles", layout: layout, options: plain))
        }
        sources.append(try MBTilesTileSource(path: "\(path)/map.mbtiles", rows: .fromTop, options: plain))
        var averaged = ImageTileOptions()
        averaged.downsampling = .sRGB
        sources.append(try ImageTileSource(path: "\(path)/picture.png", image: averaged, options: plain))
        sources.append(try HTTPTileSource(template: "http://h/{z}/{x}/{-y}", options: plain))
        sources.append(try HTTPTileSource(template: "http://h/{z}/{x}/{y}?key=1", options: plain))
        for zooms in [0...8, 1...9, 1...10] {
            sources.append(
                try HTTPTileSource(
                    template: "http://h/{z}/{x}/{y}",
                    http: HTTPTileOptions(zooms: zooms),
                    options: plain
                )
            )
        }
        for format in [TilePixelFormat.rgba8, .gray8] {
            sources.append(try TIFFTileSource("\(path)/made.tif", options: TileSourceOptions(format: format)))
            sources.append(try DeepZoomTileSource(path: "\(path)/set.dzi", options: TileSourceOptions(format: format)))
        }
        return sources
    }

    @Test func differentPixelsHaveDifferentNames() throws {
        for layout in ["0/0/0.png", "0/0/0@2x.png"] { folder.write(image.png, to: "tiles/\(layout)") }
        folder.write(image.png, to: "picture.png")
        let map = MadeMBTiles("\(folder.path)/map.mbtiles")
        map.add(0, 0, rowFromBottom: 0, image.png)
        map.close()
        let tiff = MadeTIFF(directories: [MadeTIFF.Directory(image)])
        folder.write(tiff.bytes(), to: "made.tif")
        var archive = MadePMTiles()
        archive.add(0, image.png)
        folder.write(archive.bytes(), to: "map.pmtiles")
        let descriptor =
            "<Image TileSize=\"64\" Overlap=\"0\" Format=\"png\"><Size Width=\"64\" Height=\"64\"/></Image>"
        folder.write(Array(descriptor.utf8), to: "set.dzi")
        folder.write(image.png, to: "set_files/6/0_0.png")
        let first = try open()
        let names = first.map(\.dataSet)
        for (index, name) in names.enumerated() {
            #expect(!name.isEmpty && names.firstIndex(of: name) == index, "\(first[index].name): \(name)")
        }
        // The same again, by another path, has the same names.
        #expect(try open().map(\.dataSet) == names)
        symlink(folder.path, "\(folder.path)/link")
        let linked = try ImageTileSource(
            path: "\(folder.path)/link/picture.png",
            options: TileSourceOptions(tileSize: 64)
        )
        #expect(names.contains(linked.dataSet))
        // Headers and settings that do not affect pixels are not included.
        let keyed = try HTTPTileSource(
            template: "http://h/{z}/{x}/{y}",
            http: HTTPTileOptions(connections: 2, headers: ["X-Key: secret"]),
            options: TileSourceOptions(keepsEncoded: false, tileSize: 64, wrapsX: true)
        )
        #expect(names.contains(keyed.dataSet) && !keyed.dataSet.joined().contains("secret"))

        // A nanosecond more, at the same size.
        for file in ["tiles", "picture.png", "map.mbtiles", "map.pmtiles", "made.tif", "set.dzi"] {
            var status = stat()
            #expect(stat("\(folder.path)/\(file)", &status) == 0)
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            let later = timespec(tv_sec: time.tv_sec, tv_nsec: (time.tv_nsec + 1) % 1_000_000_000)
            #expect(utimensat(AT_FDCWD, "\(folder.path)/\(file)", [later, later], 0) == 0)
        }
        for (source, name) in zip(try open(), names) {
            #expect((source.dataSet == name) == (source is HTTPTileSource), "\(source.name)")
        }
    }

    /// The name of a file changes with its size, even at the same time. A missing file has a name too.
    @Test func sizesAndLogsCount() throws {
        let path = folder.write([1, 2], to: "file")
        let first = DataSetName.file(path)
        var status = stat()
        stat(path, &status)
        folder.write([1, 2, 3], to: "file")
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        utimensat(AT_FDCWD, path, [time, time], 0)
        let second = DataSetName.file(path)
        #expect(first != second && first[0] == second[0] && first[2] == second[2] && second[1] == "3 bytes")
        #expect(DataSetName.file(path + "x") == [path + "x", "missing"])
    }
}
