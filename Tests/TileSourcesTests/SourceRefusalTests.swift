import Testing
import TileCache

@testable import TileSources

/// Rare errors in containers, each with its own message.
@Suite struct SourceRefusalTests {
    private let folder = ScratchFolder()
    private let image = TestImage(width: 32, height: 32)

    @Test func aTileThatIsTextIsNoSample() {
        let made = MadeMBTiles("\(folder.path)/text.mbtiles")
        made.run("INSERT INTO tiles VALUES (0, 0, 0, 'no picture')")
        made.close()
        #expect(
            message { _ = try MBTilesTileSource(path: made.path) }.contains(
                "a blob was expected for tile_data, not text"
            )
        )
    }

    /// Bytes that the cache has kept are decoded without the container. They are not trusted either.
    @Test func keptBytesAreDecodedAnew() throws {
        let made = MadeMBTiles("\(folder.path)/map.mbtiles")
        made.add(0, 0, rowFromBottom: 0, image.png)
        made.close()
        let map = try MBTilesTileSource(path: made.path)
        let tile = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(try map.decoded(image.png, of: tile).image == image)
        #expect(throws: TileFailure.permanent) { try map.decoded([1, 2, 3], of: tile) }
        #expect(map.statistics.failures == [.undecodable: 1])
        #expect(map.statistics.lastFailure?.contains("tile 0/0/0") == true)

        let xml = #"<Image TileSize="32" Overlap="0" Format="png"><Size Width="32" Height="32"/></Image>"#
        let path = folder.write(Array(xml.utf8), to: "image.dzi")
        folder.write(image.png, to: "image_files/5/0_0.png")
        let deep = try DeepZoomTileSource(path: path)
        #expect(try deep.decoded(image.png, of: tile).image == image)
        // For example the image of another tile.
        let other = TestImage(width: 30, height: 32)
        #expect(throws: TileFailure.permanent) { try deep.decoded(other.png, of: tile) }
        #expect(deep.statistics.failures == [.wrongSize: 1])
    }

    @Test func descriptorsThatLackSomethingSayWhat() {
        func refusal(_ text: String) -> String {
            let path = folder.write(Array(text.utf8), to: "bad.dzi")
            return message { _ = try DeepZoomTileSource(path: path) }
        }
        let size = #"<Size Width="32" Height="32"/>"#
        #expect(refusal(#"<Image TileSize="32" Format="png">\#(size)</Image>"#).contains("no attribute Overlap"))
        #expect(refusal(#"<Image TileSize="32" Overlap="0" Format="png"><Size Width="3"/></Image>"#).contains("Height"))
        #expect(refusal(String(repeating: " ", count: 1 << 20) + "<Image/>").contains("at most 1048576 were expected"))
    }

    @Test func aLargeImageCountsItsLoads() throws {
        let source = try ImageTileSource(path: folder.write(image.png, to: "image.png"))
        #expect(try source.loaded(0, 0, 0).outcome == .pixels)
        #expect(source.statistics.loads == 1 && source.statistics.failures.isEmpty)
    }
}
