public import CTileCache
internal import TileCache

extension tilecache_pyramid: VersionedStructure {
    package static var defaults: tilecache_pyramid {
        var pyramid = tilecache_pyramid()
        pyramid.tile_size = 256
        pyramid.level_size = MemoryLayout<tilecache_level>.size
        return pyramid
    }

    func pyramid() throws(Failure) -> TilePyramid {
        let whole = try wholePyramid()
        let sides = [contents.min_x, contents.min_y, contents.max_x, contents.max_y]
        guard sides.contains(where: { $0 != 0 }) else { return whole }
        let part = PixelRect(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
        guard sides.allSatisfy(\.isFinite), !part.intersection(whole.contents).isEmpty else {
            throw .pyramid("pyramid->contents: a part of the world is expected, or all 0, not \(part)")
        }
        return whole.limited(to: part)
    }

    private func wholePyramid() throws(Failure) -> TilePyramid {
        guard levels != nil else { return try powerOfTwo() }
        let most = TilePyramid.maximumLevelCount
        guard (1...most).contains(level_count) else {
            throw .pyramid("1 to \(most) levels are expected, not \(UInt(bitPattern: level_count))")
        }
        let table = try readArray(
            levels,
            count: level_count,
            elementBytes: level_size,
            zero: tilecache_level(),
            "pyramid->levels"
        )
        let isOpen = table.contains { $0.world_pixels_per_pixel == 0 }
        let sizes = table.map { (width: Int(clamping: $0.width), height: Int(clamping: $0.height)) }
        let scales = isOpen ? TilePyramid.scales(ofLevels: sizes) : []
        var made: [PyramidLevel] = []
        for (index, level) in table.enumerated() {
            let sides = [level.width, level.height, level.tile_width, level.tile_height]
            // Below these bounds nothing that the library computes overflows.
            guard sides.allSatisfy({ (1...1 << 60).contains($0) }), level.tile_width <= 1 << 30,
                level.tile_height <= 1 << 30, (0...1 << 20).contains(level.border)
            else {
                throw .pyramid("level \(index) is empty, or its tiles or its border are too large")
            }
            made.append(
                PyramidLevel(
                    width: Int(clamping: level.width),
                    height: Int(clamping: level.height),
                    tileWidth: Int(clamping: level.tile_width),
                    tileHeight: Int(clamping: level.tile_height),
                    worldPixelsPerPixel: isOpen && level.world_pixels_per_pixel == 0
                        ? scales[index] : level.world_pixels_per_pixel,
                    origin: WorldPoint(x: level.origin_x, y: level.origin_y),
                    border: Int(clamping: level.border)
                )
            )
        }
        let levels = made
        return try library { () throws(TileCacheError) in
            try TilePyramid(worldWidth: world_width, worldHeight: world_height, wrapsX: wraps_x != 0, levels: levels)
        }
    }

    private func powerOfTwo() throws(Failure) -> TilePyramid {
        guard level_count == 0 else { throw .isNull("pyramid->levels") }
        guard let width = Int(exactly: world_width), let height = Int(exactly: world_height) else {
            throw .pyramid("a world of whole pixels is expected, not \(world_width) x \(world_height)")
        }
        return try library { () throws(TileCacheError) in
            try .powerOfTwo(
                worldWidth: width,
                worldHeight: height,
                tileSize: Int(clamping: tile_size),
                wrapsX: wraps_x != 0,
                border: Int(clamping: border)
            )
        }
    }
}

extension Failure {
    fileprivate static func pyramid(_ message: String) -> Failure { Failure(.invalidPyramid(message)) }
}

extension tilecache_layer_options: VersionedStructure {
    package static var defaults: tilecache_layer_options {
        let defaults = LayerOptions()
        var options = tilecache_layer_options()
        options.format = tilecache_format(defaults.format)
        options.alpha = tilecache_alpha(defaults.alpha)
        options.is_compressible = defaults.isCompressible ? 1 : 0
        options.share_maximum = defaults.maximumShare
        options.synthesized_levels = Int32(defaults.synthesizedLevels)
        options.downsampling = tilecache_downsampling(TILECACHE_DOWNSAMPLING_LINEAR)
        return options
    }
}

/// See `tilecache.h`.
@c(tilecache_pyramid_init)
public func tileCachePyramidInit(
    _ pyramid: UnsafeMutablePointer<tilecache_pyramid>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(pyramid, size: structSize, "pyramid")
}

/// See `tilecache.h`.
@c(tilecache_layer_options_init)
public func tileCacheLayerOptionsInit(
    _ options: UnsafeMutablePointer<tilecache_layer_options>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(options, size: structSize, "options")
}

/// See `tilecache.h`.
@c(tilecache_add_layer)
public func tileCacheAddLayer(
    _ cache: OpaquePointer?,
    _ source: UnsafePointer<tilecache_source>?,
    _ pyramid: UnsafePointer<tilecache_pyramid>?,
    _ options: UnsafePointer<tilecache_layer_options>?,
    _ layer: UnsafeMutablePointer<tilecache_layer>?
) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard let layer else { throw .isNull("layer") }
        let callbacks = try read(source, "source")
        let levels = try read(pyramid, "pyramid").pyramid()
        let fields = try readOrDefaults(options, "options")
        let layerOptions = LayerOptions(
            format: try pixelFormat(fields.format, opaqueBytes: fields.opaque_bytes_per_tile),
            alpha: try alphaMode(fields.alpha),
            isCompressible: fields.is_compressible != 0,
            maximumShare: fields.share_maximum,
            synthesizedLevels: Int(fields.synthesized_levels),
            downsampling: try downsampling(fields.downsampling),
            profile: try optionalProfile(fields.profile),
            stores: try fields.layerStores()
        )
        try handle.record.checkIsRunning()
        let context = CallbackContext(callbacks.context, destroy: callbacks.destroy)
        do throws(Failure) {
            layer.pointee = try handle.record.addLayer { () throws(Failure) in
                try add(callbacks, context, to: handle.cache, levels, layerOptions)
            }
        } catch {
            context.disarm()
            throw error
        }
    }
}

private func add(
    _ callbacks: tilecache_source,
    _ context: CallbackContext,
    to cache: TileCache,
    _ pyramid: TilePyramid,
    _ options: LayerOptions
) throws(Failure) -> TileLayer {
    let number = LayerNumber()
    let payloads = callbacks.decode.map { PayloadDecoder(decoder: $0, context: context, layer: number) }
    let layer: TileLayer
    switch (callbacks.load, callbacks.request) {
    case (let load?, nil):
        let plain = BlockingSource(load: load, context: context, layer: number)
        let source: any BlockingTileSource =
            payloads.map { DecodingBlockingSource(source: plain, payloads: $0) } ?? plain
        layer = try library { () throws(TileCacheError) in
            try cache.addLayer(source, pyramid: pyramid, options: options)
        }
    case (nil, let request?):
        let loads = callbacks.requests == 0 ? LoadsInFlight.standard : .fixed(Int(callbacks.requests))
        let plain = RequestSource(request: request, context: context, loadsInFlight: loads)
        let source: any TileSource =
            payloads.map { DecodingRequestSource(source: plain, payloads: $0) } ?? plain
        layer = try library { () throws(TileCacheError) in
            try cache.addLayer(source, pyramid: pyramid, options: options)
        }
    default: throw .argument("source must have either load or request")
    }
    number.set(layer.id)
    return layer
}

/// See `tilecache.h`.
@c(tilecache_invalidate)
public func tileCacheInvalidate(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ region: UnsafePointer<tilecache_rectangle>?,
    _ keepsStale: Int32
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        layer.invalidate(region: try TileCacheC.region(region), keepsStale: keepsStale != 0)
    }
}

/// See `tilecache.h`.
@c(tilecache_remove_layer)
public func tileCacheRemoveLayer(_ cache: OpaquePointer?, _ layer: tilecache_layer) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        try handle.record.removeLayer(layer).remove()
    }
}

/// See `tilecache.h`.
@c(tilecache_pin)
public func tileCachePin(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ firstLevel: Int64,
    _ lastLevel: Int64,
    _ region: UnsafePointer<tilecache_rectangle>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        let part = try TileCacheC.region(region)
        let levels = try levels(firstLevel, lastLevel)
        try library { () throws(TileCacheError) in try layer.pin(levels: levels, region: part) }
    }
}

/// See `tilecache.h`.
@c(tilecache_unpin)
public func tileCacheUnpin(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ firstLevel: Int64,
    _ lastLevel: Int64,
    _ region: UnsafePointer<tilecache_rectangle>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        let part = try TileCacheC.region(region)
        layer.unpin(levels: try levels(firstLevel, lastLevel), region: part)
    }
}

private func levels(_ first: Int64, _ last: Int64) throws(Failure) -> ClosedRange<Int> {
    guard first >= 0, first <= last else {
        throw .argument("first_level must be 0 or more and not above last_level: \(first), \(last)")
    }
    return Int(clamping: first)...Int(clamping: last)
}

/// See `tilecache.h`.
@c(tilecache_pin_tiles)
public func tileCachePinTiles(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tiles: UnsafePointer<tilecache_coordinate>?,
    _ tileCount: Int
) -> tilecache_status {
    withTiles(cache, layer, tiles, tileCount) { (layer, tiles) throws(Failure) in
        try library { () throws(TileCacheError) in try layer.pin(tiles) }
    }
}

/// See `tilecache.h`.
@c(tilecache_unpin_tiles)
public func tileCacheUnpinTiles(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tiles: UnsafePointer<tilecache_coordinate>?,
    _ tileCount: Int
) -> tilecache_status {
    withTiles(cache, layer, tiles, tileCount) { layer, tiles in layer.unpin(tiles) }
}

/// See `tilecache.h`.
@c(tilecache_prefetch)
public func tileCachePrefetch(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tiles: UnsafePointer<tilecache_coordinate>?,
    _ tileCount: Int
) -> tilecache_status {
    withTiles(cache, layer, tiles, tileCount) { layer, tiles in layer.prefetch(tiles) }
}

private func withTiles(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tiles: UnsafePointer<tilecache_coordinate>?,
    _ count: Int,
    _ body: (TileLayer, [TileCoordinate]) throws(Failure) -> Void
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        guard count != 0 else { return }
        guard let tiles else { throw .isNull("tiles") }
        // More tiles than the highest limit can hold is an error: checked before any of them is read.
        guard count > 0, count <= 1 << 34 else {
            throw .argument("tile_count must be 0 to \(1 << 34), not \(UInt(bitPattern: count))")
        }
        try body(layer, UnsafeBufferPointer(start: tiles, count: count).map { TileCoordinate($0) })
    }
}

/// See `tilecache.h`.
@c(tilecache_is_resident)
public func tileCacheIsResident(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tile: tilecache_coordinate,
    _ isResident: UnsafeMutablePointer<Int32>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        guard let isResident else { throw .isNull("is_resident") }
        isResident.pointee = layer.isResident(TileCoordinate(tile)) ? 1 : 0
    }
}

/// See `tilecache.h`.
@c(tilecache_read_tile)
public func tileCacheReadTile(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ tile: tilecache_coordinate,
    _ read: tilecache_read_function?,
    _ context: UnsafeMutableRawPointer?
) -> tilecache_status {
    withLayer(layer, of: cache) { (own) throws(Failure) in
        guard let read else { throw .isNull("read") }
        let coordinate = TileCoordinate(tile)
        let found: Void? = own.withTile(coordinate) { read(context, $0.baseAddress, $0.count) }
        guard found != nil else { throw .notResident("tile \(coordinate) of layer \(layer) is not decoded now") }
    }
}
