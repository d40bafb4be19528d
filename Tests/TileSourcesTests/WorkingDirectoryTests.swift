import Dispatch
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Relative paths, in a program that changes its working directory.
@Suite struct WorkingDirectoryTests {
    @Test func sourcesKeepToTheirFilesInAnotherProcess() async {
        await #expect(processExitsWith: .success) {
            let folder = ScratchFolder()
            let image = TestImage(width: 32, height: 32)
            folder.write(image.png, to: "tiles/0/0/0.png")
            let xml = #"<Image TileSize="32" Overlap="0" Format="png"><Size Width="32" Height="32"/></Image>"#
            folder.write(Array(xml.utf8), to: "image.dzi")
            folder.write(image.png, to: "image_files/5/0_0.png")
            let made = MadeMBTiles("\(folder.path)/map.mbtiles")
            made.add(0, 0, rowFromBottom: 0, image.png)
            made.close()
            precondition(chdir(folder.path) == 0)
            let tiles = try FolderTileSource(path: "tiles")
            let deep = try DeepZoomTileSource(path: "image.dzi")
            let map = try MBTilesTileSource(path: "map.mbtiles")
            precondition(chdir("/") == 0)
            let loaded = [try tiles.loaded(0, 0, 0), try deep.loaded(0, 0, 0)]
            precondition(loaded.allSatisfy { $0.image == image })
            // Several at a time need further connections.
            DispatchQueue.concurrentPerform(iterations: 1000) { _ in _ = try? map.loaded(0, 0, 0) }
            precondition(map.statistics.loads == 1000 && map.statistics.failures.isEmpty)
            precondition(tiles.name == "tiles" && map.name == "map.mbtiles" && !folder.path.isEmpty)
        }
    }
}
