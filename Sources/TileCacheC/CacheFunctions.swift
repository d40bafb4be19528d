public import CTileCache
internal import Dispatch
package import TileCache

/// State shared by the handles of one cache. Layers by number, and whether it was shut down.
package final class CacheRecord: Sendable {
    private struct State {
        var layers: [tilecache_layer: TileLayer] = [:]
        var sources: [tilecache_layer: any Sendable] = [:]
        /// Layers, and those being added.
        var reservedLayers = 0
        var isShutDown = false
        /// What ends work that a shutdown must not wait for, by its own numbers.
        var endings: [Int: @Sendable () -> Void] = [:]
        var nextEnding = 0
    }

    private let state = Lock(State())

    /// Maximum number of layers of a cache. A tile's key has 16 bits for its layer.
    package static let maximumLayerCount = 65_536

    /// Adds a layer and stores it by its number.
    ///
    /// - Parameters:
    ///   - source: The library's own source of the layer, for functions that query it. Default: nil.
    ///   - add: Adds the layer to the cache. Not called if the cache has ``maximumLayerCount`` layers.
    /// - Returns: The number.
    package func addLayer(
        source: (any Sendable)? = nil,
        _ add: () throws(Failure) -> TileLayer
    ) throws(Failure) -> tilecache_layer {
        let isFree = state.withLock { state in
            guard state.reservedLayers < Self.maximumLayerCount else { return false }
            state.reservedLayers += 1
            return true
        }
        guard isFree else { throw .argument("a cache has at most \(Self.maximumLayerCount) layers") }
        do throws(Failure) {
            let layer = try add()
            let number = tilecache_layer(layer.id)
            state.withLock {
                $0.layers[number] = layer
                // Opened meanwhile: `releaseSources` may be over.
                $0.sources[number] = $0.isShutDown ? nil : source
            }
            return number
        } catch {
            state.withLock { $0.reservedLayers -= 1 }
            throw error
        }
    }

    /// The source stored with a layer.
    package func source(of layer: tilecache_layer) -> (any Sendable)? { state.withLock { $0.sources[layer] } }

    package func layer(_ number: tilecache_layer) throws(Failure) -> TileLayer {
        let (layer, count) = state.withLock { ($0.layers[number], $0.layers.count) }
        guard let layer else { throw .argument("layer \(number) is not one of the cache's \(count) layers") }
        return layer
    }

    /// Forgets a layer and its source; returns it.
    func removeLayer(_ number: tilecache_layer) throws(Failure) -> TileLayer {
        let layer = try layer(number)
        // Released outside of the lock: its deinit calls the caller's code.
        let source = state.withLock { state -> (any Sendable)? in
            guard state.layers.removeValue(forKey: number) != nil else { return nil }
            state.reservedLayers -= 1
            return state.sources.removeValue(forKey: number)
        }
        withExtendedLifetime(source) {}
        return layer
    }

    var layerCount: Int { state.withLock { $0.layers.count } }

    /// Releases the sources: views keep the record beyond its cache.
    func releaseSources() {
        // Released outside of the lock, as in `removeLayer`.
        let sources = state.withLock { state in
            defer { state.sources = [:] }
            return state.sources
        }
        withExtendedLifetime(sources) {}
    }

    func noteShutdown() {
        let endings = state.withLock { state in
            state.isShutDown = true
            return state.endings.values
        }
        for end in endings { end() }
    }

    /// Calls a function when the cache is shut down, perhaps at once. Returns a number for ``forgetEnding(_:)``.
    package func atShutdown(_ end: @escaping @Sendable () -> Void) -> Int {
        let (number, isShutDown) = state.withLock { state in
            defer { state.nextEnding += 1 }
            state.endings[state.nextEnding] = end
            return (state.nextEnding, state.isShutDown)
        }
        if isShutDown { end() }
        return number
    }

    package func forgetEnding(_ number: Int) { _ = state.withLock { $0.endings.removeValue(forKey: number) } }

    package func checkIsRunning() throws(Failure) {
        if state.withLock({ $0.isShutDown }) { throw Failure(.isShutDown) }
    }
}

/// Object behind `tilecache_cache`.
package final class CacheHandle: Sendable {
    package let cache: TileCache
    package let record = CacheRecord()
    /// Queue of the fetches' functions.
    let fetchQueue = DispatchQueue(label: "TileCache.fetches")
    private let pressure = Lock<MemoryPressureMonitor?>(nil)

    init(_ cache: TileCache) { self.cache = cache }

    /// Starts or stops watching memory pressure.
    func watchPressure(_ watches: Bool) {
        // The old monitor is released outside of the lock: its end notifies the cache.
        let old = pressure.withLock { current -> MemoryPressureMonitor? in
            guard watches != (current != nil) else { return nil }
            defer { current = watches ? MemoryPressureMonitor(of: cache) : nil }
            return current
        }
        withExtendedLifetime(old) {}
    }
}

package func cacheHandle(_ handle: OpaquePointer?, _ name: String = "cache") throws(Failure) -> CacheHandle {
    try object(handle, as: CacheHandle.self, name)
}

/// Runs the body of a call on a layer of a cache.
func withLayer(
    _ layer: tilecache_layer,
    of cache: OpaquePointer?,
    _ body: (TileLayer) throws(Failure) -> Void
) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        try body(try handle.record.layer(layer))
    }
}

extension tilecache_configuration: VersionedStructure {
    package static var defaults: tilecache_configuration {
        let defaults = TileCache.Configuration(byteLimit: .mebibytes(64))
        return tilecache_configuration(
            struct_size: MemoryLayout<tilecache_configuration>.size,
            byte_limit: Int64(defaults.byteLimit.bytes),
            maximum_byte_limit: 0,
            workers: Int32(defaults.workers),
            reserved: 0,
            uses_compressed_tier: defaults.usesCompressedTier ? 1 : 0,
            fits_level_to_budget: defaults.fitsLevelToBudget ? 1 : 0,
            compressed_share: -1,
            effort: defaults.effort,
            expected_load_latency: defaults.expectedLoadLatency.nanoseconds,
            retry_delay: defaults.retryDelay.nanoseconds,
            stuck_load_time: defaults.stuckLoadTime.nanoseconds,
            slow_callback_time: defaults.slowCallbackTime.nanoseconds
        )
    }

    /// The library checks the rest.
    func configuration() throws(Failure) -> TileCache.Configuration {
        guard byte_limit > 0 else { throw .configuration("byte_limit must be 1 or more, not \(byte_limit)") }
        guard maximum_byte_limit >= 0 else {
            throw .configuration("maximum_byte_limit must be 0 or more, not \(maximum_byte_limit)")
        }
        guard compressed_share == -1 || (compressed_share >= 0 && compressed_share <= 1) else {
            throw .configuration("compressed_share must be -1, or 0 to 1, not \(compressed_share)")
        }
        var result = TileCache.Configuration(byteLimit: .bytes(Int(clamping: byte_limit)), workers: Int(workers))
        if maximum_byte_limit > 0 { result.maximumByteLimit = .bytes(Int(clamping: maximum_byte_limit)) }
        result.usesCompressedTier = uses_compressed_tier != 0
        result.fitsLevelToBudget = fits_level_to_budget != 0
        result.compressedShare = compressed_share == -1 ? nil : compressed_share
        result.effort = effort
        result.expectedLoadLatency = .nanoseconds(expected_load_latency)
        result.retryDelay = .nanoseconds(retry_delay)
        result.stuckLoadTime = .nanoseconds(stuck_load_time)
        result.slowCallbackTime = .nanoseconds(slow_callback_time)
        return result
    }
}

extension Failure {
    fileprivate static func configuration(_ message: String) -> Failure { Failure(.invalidConfiguration(message)) }
}

/// See `tilecache.h`.
@c(tilecache_configuration_init)
public func tileCacheConfigurationInit(
    _ configuration: UnsafeMutablePointer<tilecache_configuration>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(configuration, size: structSize, "configuration")
}

/// See `tilecache.h`.
@c(tilecache_create)
public func tileCacheCreate(
    _ configuration: UnsafePointer<tilecache_configuration>?,
    _ cache: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let cache else { throw .isNull("cache") }
        let settings = try readOrDefaults(configuration, "configuration").configuration()
        cache.pointee = makeHandle(CacheHandle(try library { () throws(TileCacheError) in try TileCache(settings) }))
    }
}

/// See `tilecache.h`.
@c(tilecache_destroy)
public func tileCacheDestroy(_ cache: OpaquePointer?) {
    guard let handle = giveBack(cache, as: CacheHandle.self) else { return }
    handle.record.noteShutdown()
    handle.cache.shutdown(timeout: .zero)
    handle.record.releaseSources()
}

/// See `tilecache.h`.
@c(tilecache_shutdown)
public func tileCacheShutdown(_ cache: OpaquePointer?, _ timeout: Int64) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard timeout >= 0 else { throw .argument("timeout must be 0 or more nanoseconds, not \(timeout)") }
        handle.record.noteShutdown()
        guard handle.cache.shutdown(timeout: .nanoseconds(timeout)) else {
            throw .timedOut("loads or callbacks were still under way after \(timeout) nanoseconds")
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_set_byte_limit)
public func tileCacheSetByteLimit(_ cache: OpaquePointer?, _ bytes: Int64) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard bytes > 0 else { throw .argument("bytes must be 1 or more, not \(bytes)") }
        try handle.record.checkIsRunning()
        handle.cache.byteLimit = .bytes(Int(clamping: bytes))
        // Not the limit that is in force: another thread may have lowered it meanwhile.
        let most = handle.cache.maximumByteLimit.bytes
        if bytes > most { throw .clamped("the limit is now \(most) bytes; \(bytes) is more than it may be") }
    }
}

/// See `tilecache.h`.
@c(tilecache_get_byte_limit)
public func tileCacheGetByteLimit(_ cache: OpaquePointer?, _ bytes: UnsafeMutablePointer<Int64>?) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard let bytes else { throw .isNull("bytes") }
        bytes.pointee = Int64(handle.cache.byteLimit.bytes)
    }
}

/// See `tilecache.h`.
@c(tilecache_trim)
public func tileCacheTrim(_ cache: OpaquePointer?, _ bytes: Int64) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard bytes >= 0 else { throw .argument("bytes must be 0 or more, not \(bytes)") }
        handle.cache.trim(to: .bytes(Int(clamping: bytes)))
    }
}

/// See `tilecache.h`.
@c(tilecache_automatic_byte_limit)
public func tileCacheAutomaticByteLimit() -> Int64 { Int64(ByteCount.automatic.bytes) }

/// See `tilecache.h`.
@c(tilecache_watch_memory_pressure)
public func tileCacheWatchMemoryPressure(_ cache: OpaquePointer?, _ watches: Int32) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        if watches != 0 { try handle.record.checkIsRunning() }
        handle.watchPressure(watches != 0)
    }
}

/// See `tilecache.h`.
@c(tilecache_note_memory_pressure)
public func tileCacheNoteMemoryPressure(_ cache: OpaquePointer?, _ pressure: tilecache_pressure) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard let level = MemoryPressureLevel(rawValue: Int(pressure)) else {
            throw .argument("pressure must be a TILECACHE_PRESSURE, not \(pressure)")
        }
        handle.cache.noteMemoryPressure(level)
    }
}

/// See `tilecache.h`.
@c(tilecache_now)
public func tileCacheNow() -> Int64 { MonotonicTime.now.nanoseconds }
