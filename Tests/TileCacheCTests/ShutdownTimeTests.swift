import CTileCache
import Dispatch
import Testing
import TileCache

@testable import TileCacheC

/// `tilecache_shutdown` with a source that hangs, and what `tilecache_destroy` releases.
@Suite(.timeLimit(.minutes(45))) struct ShutdownTimeTests {
    private static let gate = DispatchSemaphore(value: 0)
    private static let entered = DispatchSemaphore(value: 0)

    private final class Opened: Sendable {}
    private struct Nothing: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome { .absent }
    }

    /// The library's own sources end with their cache, although a view outlives it.
    @Test func sourcesAreReleasedWithTheirCache() throws {
        var cache: OpaquePointer?
        #expect(tilecache_create(nil, &cache) == TILECACHE_OK)
        var layer: tilecache_layer = 0
        weak var opened: Opened?
        do {
            let source = Opened()
            opened = source
            let handle = try cacheHandle(cache)
            layer = try handle.record.addLayer(source: source) { () throws(Failure) in
                try library { () throws(TileCacheError) in
                    try handle.cache.addLayer(Nothing(), pyramid: .powerOfTwo(worldWidth: 256, worldHeight: 256))
                }
            }
        }
        var view: OpaquePointer?
        #expect(tilecache_view_create(cache, &layer, 1, nil, &view) == TILECACHE_OK)
        #expect(opened != nil)
        tilecache_destroy(cache)
        #expect(opened == nil)
        tilecache_view_destroy(view)
    }

    @Test func aSourceThatHangsIsATimeThatRanOut() {
        var configuration = tilecache_configuration()
        _ = tilecache_configuration_init(&configuration, MemoryLayout<tilecache_configuration>.size)
        configuration.workers = 1
        var cache: OpaquePointer?
        #expect(tilecache_create(&configuration, &cache) == TILECACHE_OK)
        defer { tilecache_destroy(cache) }
        var source = tilecache_source()
        _ = tilecache_source_init(&source, MemoryLayout<tilecache_source>.size)
        source.load = { _, _ in
            Self.entered.signal()
            Self.gate.wait()
            return 2
        }
        var pyramid = tilecache_pyramid()
        _ = tilecache_pyramid_init(&pyramid, MemoryLayout<tilecache_pyramid>.size)
        (pyramid.world_width, pyramid.world_height) = (256, 256)
        var layer: tilecache_layer = 0
        #expect(tilecache_add_layer(cache, &source, &pyramid, nil, &layer) == TILECACHE_OK)
        var view: OpaquePointer?
        #expect(tilecache_view_create(cache, &layer, 1, nil, &view) == TILECACHE_OK)
        defer { tilecache_view_destroy(view) }
        var viewport = tilecache_viewport()
        _ = tilecache_viewport_init(&viewport, MemoryLayout<tilecache_viewport>.size)
        (viewport.center_x, viewport.center_y, viewport.width, viewport.height) = (128, 128, 100, 100)
        #expect(tilecache_view_update(view, &viewport, nil) == TILECACHE_OK)
        Self.entered.wait()
        #expect(tilecache_shutdown(cache, 20_000_000) == TILECACHE_ERROR_TIMED_OUT)
        #expect(String(cString: tilecache_last_error()).contains("still under way after 20000000 nanoseconds"))
        Self.gate.signal()
        #expect(tilecache_shutdown(cache, 600_000_000_000) == TILECACHE_OK)
    }
}
