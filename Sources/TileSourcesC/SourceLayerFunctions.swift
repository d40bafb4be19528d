public import CTileCache
public import CTileSources
internal import TileCache
internal import TileCacheC
internal import TileSources

extension tilecache_source_layer_options: VersionedStructure {
    package static var defaults: tilecache_source_layer_options {
        let (pixels, http) = (TileSourceOptions(), HTTPTileOptions())
        var options = tilecache_source_layer_options()
        options.format = tilecache_format(TILECACHE_FORMAT_RGBA8)
        options.alpha = tilecache_alpha(TILECACHE_ALPHA_PREMULTIPLIED)
        options.keeps_encoded = pixels.keepsEncoded ? 1 : 0
        options.wraps_x = pixels.wrapsX ? 1 : 0
        options.minimum_zoom = Int32(http.zooms.lowerBound)
        options.maximum_zoom = Int32(http.zooms.upperBound)
        return options
    }

    fileprivate func pixels() throws(Failure) -> TileSourceOptions {
        guard Int(format) != Int(TILECACHE_FORMAT_OPAQUE) else {
            throw .invalidSource("options->format must be TILECACHE_FORMAT_RGBA8, _BGRA8 or _GRAY8")
        }
        return TileSourceOptions(
            format: try pixelFormat(format, opaqueBytes: 0),
            alpha: try alphaMode(alpha),
            keepsEncoded: keeps_encoded != 0,
            tileSize: tile_size == 0 ? nil : Int(clamping: tile_size),
            wrapsX: wraps_x != 0
        )
    }

    /// Options of requests. The zooms of other sources than servers of single tiles are their own.
    fileprivate func http(for place: TileSourceAddress) throws(Failure) -> HTTPTileOptions {
        var http = HTTPTileOptions()
        if case .http = place {
            guard minimum_zoom <= maximum_zoom else {
                throw .invalidSource(
                    "options->minimum_zoom must not be above maximum_zoom, not \(minimum_zoom) and \(maximum_zoom)"
                )
            }
            http.zooms = Int(minimum_zoom)...Int(maximum_zoom)
            if [west, south, east, north].contains(where: { $0 != 0 }) {
                http.bounds = MapBounds(west: west, south: south, east: east, north: north)
            }
        }
        if let headers {
            // A repaired key would be another key.
            guard let lines = String(validatingCString: headers) else {
                throw .argument("options->headers must be UTF-8")
            }
            http.headers = lines.split(separator: "\n").map(String.init)
        }
        return http
    }
}

extension tilecache_source_layer_info: VersionedStructure {
    package static var defaults: tilecache_source_layer_info { tilecache_source_layer_info() }
}

private func source(
    of layer: tilecache_layer,
    in cache: OpaquePointer?,
    _ name: String = "cache"
) throws(Failure) -> any PyramidTileSource {
    let record = try cacheHandle(cache, name).record
    _ = try record.layer(layer)
    guard let source = record.source(of: layer) as? any PyramidTileSource else {
        throw .argument("layer \(layer) was not added by tilecache_add_source_layer()")
    }
    return source
}

/// See `tilecache_sources.h`.
@c(tilecache_source_layer_options_init)
public func tileCacheSourceLayerOptionsInit(
    _ options: UnsafeMutablePointer<tilecache_source_layer_options>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(options, size: structSize, "options")
}

/// What a program asks for with an address, checked before anything is opened.
struct NewSourceLayer: Sendable {
    let place: TileSourceAddress
    let pixels: TileSourceOptions
    let http: HTTPTileOptions
    private let stores: [any TileStore]
    private let profile: PrefetchProfile?

    init(
        _ address: UnsafePointer<CChar>?,
        _ options: UnsafePointer<tilecache_source_layer_options>?
    ) throws(Failure) {
        guard let address else { throw .isNull("address") }
        let fields = try readOrDefaults(options, "options")
        pixels = try fields.pixels()
        // A repaired path would be that of another file.
        guard let text = String(validatingCString: address) else { throw .invalidSource("address must be UTF-8") }
        guard let place = TileSourceAddress(text) else {
            throw .invalidSource("address must be \(TileSourceAddress.forms), not '\(text.withoutPasswords)'")
        }
        self.place = place
        http = try fields.http(for: place)
        stores = try storeList(fields.stores, count: fields.store_count)
        profile = try optionalProfile(fields.profile)
    }

    func open(_ progress: (Double) -> Bool = { _ in true }) throws(TileSourceError) -> any PyramidTileSource {
        try place.open(pixels, http: http, progress: progress)
    }

    func add(_ source: any PyramidTileSource, to handle: CacheHandle) throws(Failure) -> tilecache_layer {
        try handle.record.addLayer(source: source) { () throws(Failure) in
            try library { () throws(TileCacheError) in
                try source.addLayer(to: handle.cache, stores: stores, profile: profile)
            }
        }
    }
}

/// Opens a source and translates its error to this interface.
func opened(
    _ open: () throws(TileSourceError) -> any PyramidTileSource
) throws(Failure) -> any PyramidTileSource {
    do throws(TileSourceError) { return try open() } catch { throw .invalidSource(error.description) }
}

/// See `tilecache_sources.h`.
@c(tilecache_add_source_layer)
public func tileCacheAddSourceLayer(
    _ cache: OpaquePointer?,
    _ address: UnsafePointer<CChar>?,
    _ options: UnsafePointer<tilecache_source_layer_options>?,
    _ layer: UnsafeMutablePointer<tilecache_layer>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let handle = try cacheHandle(cache)
        let new = try NewSourceLayer(address, options)
        guard let layer else { throw .isNull("layer") }
        try handle.record.checkIsRunning()
        layer.pointee = try new.add(opened { () throws(TileSourceError) in try new.open() }, to: handle)
    }
}

/// See `tilecache_sources.h`.
@c(tilecache_share_source_layer)
public func tileCacheShareSourceLayer(
    _ cache: OpaquePointer?,
    _ owner: OpaquePointer?,
    _ shared: tilecache_layer,
    _ options: UnsafePointer<tilecache_source_layer_options>?,
    _ layer: UnsafeMutablePointer<tilecache_layer>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let handle = try cacheHandle(cache)
        let source = try source(of: shared, in: owner, "owner")
        guard let layer else { throw .isNull("layer") }
        let fields = try readOrDefaults(options, "options")
        let stores = try storeList(fields.stores, count: fields.store_count)
        let profile = try optionalProfile(fields.profile)
        try handle.record.checkIsRunning()
        layer.pointee = try handle.record.addLayer(source: source) { () throws(Failure) in
            try library { () throws(TileCacheError) in
                try source.addLayer(to: handle.cache, stores: stores, profile: profile)
            }
        }
    }
}

/// See `tilecache_sources.h`.
@c(tilecache_source_layer_get_info)
public func tileCacheSourceLayerGetInfo(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ info: UnsafeMutablePointer<tilecache_source_layer_info>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let source = try source(of: layer, in: cache)
        let statistics = source.statistics
        var known = tilecache_source_layer_info()
        known.world_width = source.pyramid.worldWidth
        known.world_height = source.pyramid.worldHeight
        known.contents = tilecache_rectangle(source.contents)
        known.level_count = Int64(source.pyramid.levels.count)
        known.loads = Int64(statistics.loads)
        known.absent = Int64(statistics.absent)
        known.failures = Int64(statistics.failureCount)
        try write(known, to: info, "info")
    }
}

/// See `tilecache_sources.h`.
@c(tilecache_source_layer_describe_failure)
public func tileCacheSourceLayerDescribeFailure(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ text: UnsafeMutablePointer<CChar>?,
    _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let failure = try source(of: layer, in: cache).statistics.lastFailure ?? ""
        try write(failure, to: text, capacity: capacity, length: length)
    }
}

/// See `tilecache_sources.h`.
@c(tilecache_source_layer_describe_warning)
public func tileCacheSourceLayerDescribeWarning(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ text: UnsafeMutablePointer<CChar>?,
    _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let warning = try source(of: layer, in: cache).warning?.withoutPasswords ?? ""
        try write(warning, to: text, capacity: capacity, length: length)
    }
}
