import CTileCache
import Dispatch
import Foundation
import Testing
import TileCache
import TileSources

@testable import TileCacheC
@testable import TileSourcesC

/// What `tilecache_shutdown` does to openings, at moments that a C program cannot choose.
@Suite(.timeLimit(.minutes(45))) struct OpeningTests {
    private final class End: Sendable {
        let calls = Lock<[(status: tilecache_status, layer: tilecache_layer)]>([])
        let isOver = DispatchSemaphore(value: 0)
        let bands = Lock(0)

        func note(_ status: tilecache_status, _ layer: tilecache_layer) {
            calls.withLock { $0.append((status, layer)) }
            isOver.signal()
        }
    }

    /// A TIFF of 64 x 2,048 grey pixels in one strip, which is cut when it is opened.
    private static func writeImage(to path: String) throws {
        var bytes = Array("II*".utf8) + [0, 8, 0, 0, 0, 9, 0]
        let fields = [
            (256, 64), (257, 2048), (258, 8), (259, 1), (262, 1), (273, 122), (277, 1), (278, 2048), (279, 64 * 2048),
        ]
        for (tag, value) in fields {
            bytes += [UInt8(tag & 255), UInt8(tag >> 8), 4, 0, 1, 0, 0, 0]
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        bytes += [0, 0, 0, 0] + [UInt8](repeating: 7, count: 64 * 2048)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private static func withCache(_ body: (OpaquePointer, CacheHandle, TileSourceAddress) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).tif").path
        try writeImage(to: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var cache: OpaquePointer?
        #expect(tilecache_create(nil, &cache) == TILECACHE_OK)
        defer { tilecache_destroy(cache) }
        try body(try #require(cache), try cacheHandle(cache), try #require(TileSourceAddress("tiff:\(path)")))
    }

    private static func add(
        _ source: any PyramidTileSource,
        to handle: CacheHandle
    ) throws(Failure) -> tilecache_layer {
        try handle.record.addLayer(source: source) { () throws(Failure) in
            try library { () throws(TileCacheError) in try source.addLayer(to: handle.cache) }
        }
    }

    @Test func aShutdownEndsTheCuttingOfAnImage() throws {
        try Self.withCache { cache, handle, place in
            let end = End()
            let (hasBegun, isShutDown) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            begin(
                TileSourceOpening(),
                for: handle.record,
                add: { source throws(Failure) in try Self.add(source, to: handle) },
                then: end.note
            ) { isWanted throws(TileSourceError) in
                try place.open(TileSourceOptions(tileSize: 64)) { _ in
                    // The first of 32 bands has been cut.
                    end.bands.withLock { $0 += 1 }
                    hasBegun.signal()
                    isShutDown.wait()
                    return isWanted()
                }
            }
            hasBegun.wait()
            #expect(tilecache_shutdown(cache, 0) == TILECACHE_OK)
            for _ in 0..<100 { isShutDown.signal() }
            end.isOver.wait()
            let calls = end.calls.withLock { $0 }
            #expect(calls.count == 1 && calls[0].status == TILECACHE_ERROR_SHUT_DOWN && calls[0].layer == -1)
            #expect(end.bands.withLock { $0 } == 1)
        }
    }

    /// The source is open, and the cache was still running when the opening looked.
    @Test func aShutdownJustBeforeTheLayerIsAdded() throws {
        try Self.withCache { cache, handle, place in
            let end = End()
            let address = UInt(bitPattern: cache)
            begin(
                TileSourceOpening(),
                for: handle.record,
                add: { source throws(Failure) in
                    #expect(tilecache_shutdown(OpaquePointer(bitPattern: address), 0) == TILECACHE_OK)
                    return try Self.add(source, to: handle)
                },
                then: end.note
            ) { _ throws(TileSourceError) in try place.open(TileSourceOptions(tileSize: 64)) }
            end.isOver.wait()
            let calls = end.calls.withLock { $0 }
            #expect(calls.count == 1 && calls[0].status == TILECACHE_ERROR_SHUT_DOWN && calls[0].layer == -1)
            #expect(handle.record.layerCount == 0)
        }
    }

    @Test func aLayerIsAddedOfWhatIsOpen() throws {
        try Self.withCache { _, handle, place in
            let end = End()
            begin(
                TileSourceOpening(),
                for: handle.record,
                add: { source throws(Failure) in try Self.add(source, to: handle) },
                then: end.note
            ) { _ throws(TileSourceError) in try place.open(TileSourceOptions(tileSize: 64)) }
            end.isOver.wait()
            let calls = end.calls.withLock { $0 }
            #expect(calls.count == 1 && calls[0].status == TILECACHE_OK && calls[0].layer >= 0)
            #expect(handle.record.layerCount == 1)
        }
    }
}
