import PanTraces
import Testing
import TileCache

/// A header chooses a bounded number of tiles on the screen; flags may ask for more.
@Suite struct PanTraceSceneBoundTests {
    private func error(
        _ side: Double,
        tileSize: Int,
        _ overrides: PanTraceOverrides = PanTraceOverrides()
    ) -> PanTraceError? {
        let world = PanTraceHeader.Size(width: 65_536, height: 65_536)
        var header = PanTraceHeader(viewport: PanTraceHeader.Size(width: side, height: 8192), world: world)
        header.tileSize = tileSize
        do throws(PanTraceError) {
            _ = try PanTraceScene(header, overrides: overrides, name: "trace.csv")
            return nil
        } catch {
            return error
        }
    }

    @Test func headersAreBounded() {
        // 128 x 128 tiles, and a column more.
        #expect(PanTraceScene.mostTiles == 128 * 128)
        #expect(error(8192, tileSize: 64) == nil)
        let refused = error(8193, tileSize: 64)
        #expect(refused?.kind == .badHeader && refused?.file == "trace.csv")
        #expect(refused?.found?.contains("64 pixels in a viewport of 8193x8192") == true)
        #expect(error(8192, tileSize: 1) != nil && error(1, tileSize: 1) == nil)
    }

    @Test func flagsAreNot() {
        let view = PanTraceHeader.Size(width: 8193, height: 8192)
        #expect(error(8192, tileSize: 256, PanTraceOverrides(viewport: view, tileSize: 64)) == nil)
        // One of them is still the header's.
        #expect(error(8193, tileSize: 256, PanTraceOverrides(tileSize: 64)) != nil)
        #expect(error(100, tileSize: 64, PanTraceOverrides(viewport: view)) != nil)
    }
}
