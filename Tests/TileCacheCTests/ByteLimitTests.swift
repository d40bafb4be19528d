import CTileCache
import Dispatch
import Testing
import TileCache

@testable import TileCacheC

/// `tilecache_set_byte_limit` while another thread sets another limit.
@Suite struct ByteLimitTests {
    /// A limit was clamped only if it is above the maximum, whatever the limit is by the time the call returns.
    @Test func aLimitThatIsLoweredMeanwhileWasNotClamped() throws {
        let lowered = Lock<TileCache?>(nil)
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(64))
        configuration.executor.run = { queue, step in
            // As another thread could, before the call returns.
            lowered.withLock { $0.take() }?.byteLimit = .mebibytes(20)
            queue.async(execute: step)
        }
        let handle = CacheHandle(try TileCache(configuration))
        let cache = makeHandle(handle)
        defer { tilecache_destroy(cache) }
        lowered.withLock { $0 = handle.cache }
        #expect(tilecache_set_byte_limit(cache, 200 << 20) == TILECACHE_OK)
        #expect(handle.cache.byteLimit == .mebibytes(20))
        #expect(tilecache_set_byte_limit(cache, 257 << 20) == TILECACHE_ERROR_LIMIT_CLAMPED)
        #expect(handle.cache.byteLimit == .mebibytes(256))
    }
}
