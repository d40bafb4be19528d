import CTileCache
import Testing

@testable import TileCache
@testable import TileCacheC

/// `tilecache_set_byte_limit` while another thread sets another limit.
@Suite struct ByteLimitTests {
    /// A limit was clamped only if it is above the maximum, whatever the limit is by the time the call returns.
    @Test func aLimitThatIsLoweredMeanwhileWasNotClamped() throws {
        let lowered = Lock<TileCache?>(nil)
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(64))
        let holds = Lock(0)
        configuration.executor.interleave = {
            // As another thread could: once the limit is set, and before the call returns.
            let isSet = holds.withLock { count in
                count += 1
                return count > 1
            }
            if isSet { lowered.withLock { $0.take() }?.byteLimit = .mebibytes(20) }
        }
        let handle = CacheHandle(try TileCache(configuration))
        let cache = makeHandle(handle)
        defer { tilecache_destroy(cache) }
        holds.withLock { $0 = 0 }
        lowered.withLock { $0 = handle.cache }
        #expect(tilecache_set_byte_limit(cache, 200 << 20) == TILECACHE_OK)
        #expect(handle.cache.byteLimit == .mebibytes(20))
        #expect(tilecache_set_byte_limit(cache, 257 << 20) == TILECACHE_ERROR_LIMIT_CLAMPED)
        #expect(handle.cache.byteLimit == .mebibytes(256))
    }
}
