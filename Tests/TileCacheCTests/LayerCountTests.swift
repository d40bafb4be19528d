import Dispatch
import Synchronization
import Testing
import TileCache

@testable import TileCacheC

/// Maximum number of layers in the C interface.
@Suite struct LayerCountTests {
    private struct Nothing: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome { .absent }
    }

    /// Added by many threads at once: one for each number. A failed attempt takes none.
    @Test func noMoreThanThereAreNumbers() throws {
        let cache = try TileCache(byteLimit: .mebibytes(1))
        let layer = try cache.addLayer(Nothing(), pyramid: .powerOfTwo(worldWidth: 256, worldHeight: 256))
        let record = CacheRecord()
        let added = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 80_000) { index in
            do throws(Failure) {
                _ = try record.addLayer { () throws(Failure) in
                    if index % 8 == 0 { throw .isNull("source") }
                    added.add(1, ordering: .relaxed)
                    return layer
                }
            } catch {}
        }
        var refusal: String?
        for _ in 0...CacheRecord.maximumLayerCount where refusal == nil {
            do throws(Failure) {
                _ = try record.addLayer { () throws(Failure) in layer }
                added.add(1, ordering: .relaxed)
            } catch { refusal = error.message }
        }
        #expect(refusal == "a cache has at most 65536 layers")
        #expect(added.load(ordering: .relaxed) == CacheRecord.maximumLayerCount)
    }
}
