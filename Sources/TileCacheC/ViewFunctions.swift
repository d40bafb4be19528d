public import CTileCache
internal import Dispatch
internal import TileCache

/// Object behind `tilecache_view`.
final class ViewHandle: Sendable {
    let view: TileView
    let record: CacheRecord

    init(_ view: TileView, of record: CacheRecord) {
        self.view = view
        self.record = record
        // The main queue, which is the default, does not run in a C program.
        view.callbackQueue = DispatchQueue(label: "TileCache.view")
    }
}

func viewHandle(_ handle: OpaquePointer?) throws(Failure) -> ViewHandle {
    try object(handle, as: ViewHandle.self, "view")
}

/// Throws within a trace's write function, which runs under the recorder's lock.
func checkIsNotWritingTrace() throws(Failure) {
    guard ctilecache_is_writing_trace() == 0 else {
        throw .argument("a recorder's write function must not call recorders or update views")
    }
}

extension tilecache_view_options: VersionedStructure {
    package static var defaults: tilecache_view_options {
        let selection = TileLevelSelection()
        let budget = PromotionBudget()
        return tilecache_view_options(
            struct_size: MemoryLayout<tilecache_view_options>.size,
            level_bias: selection.bias,
            level_hysteresis: selection.hysteresis,
            promotion_tiles: Int64(budget.maximumTiles),
            promotion_nanoseconds: budget.maximumTime.nanoseconds
        )
    }
}

extension tilecache_update_options: VersionedStructure {
    package static var defaults: tilecache_update_options {
        var options = tilecache_update_options()
        options.time = .min
        return options
    }
}

private func promotionBudget(tiles: Int64, nanoseconds: Int64) throws(Failure) -> PromotionBudget {
    guard tiles >= 0, nanoseconds >= 0 else {
        throw .argument("promotion_tiles and promotion_nanoseconds must be 0 or more, not \(tiles) and \(nanoseconds)")
    }
    return PromotionBudget(maximumTiles: Int(clamping: tiles), maximumTime: .nanoseconds(min(nanoseconds, 1 << 61)))
}

/// See `tilecache.h`.
@c(tilecache_viewport_init)
public func tileCacheViewportInit(
    _ viewport: UnsafeMutablePointer<tilecache_viewport>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(viewport, size: structSize, "viewport")
}

/// See `tilecache.h`.
@c(tilecache_view_options_init)
public func tileCacheViewOptionsInit(
    _ options: UnsafeMutablePointer<tilecache_view_options>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(options, size: structSize, "options")
}

/// See `tilecache.h`.
@c(tilecache_update_options_init)
public func tileCacheUpdateOptionsInit(
    _ options: UnsafeMutablePointer<tilecache_update_options>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(options, size: structSize, "options")
}

/// See `tilecache.h`.
@c(tilecache_view_create)
public func tileCacheViewCreate(
    _ cache: OpaquePointer?,
    _ layers: UnsafePointer<tilecache_layer>?,
    _ layerCount: Int,
    _ options: UnsafePointer<tilecache_view_options>?,
    _ view: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt(on: try cacheHandle(cache)) { handle throws(Failure) in
        guard layers != nil else { throw .isNull("layers") }
        guard let view else { throw .isNull("view") }
        let fields = try readOrDefaults(options, "options")
        guard fields.level_bias >= -8, fields.level_bias <= 8 else {
            throw .argument("options->level_bias must be -8 to 8, not \(fields.level_bias)")
        }
        guard fields.level_hysteresis >= 0, fields.level_hysteresis <= 1 else {
            throw .argument("options->level_hysteresis must be 0 to 1, not \(fields.level_hysteresis)")
        }
        let budget = try promotionBudget(tiles: fields.promotion_tiles, nanoseconds: fields.promotion_nanoseconds)
        try handle.record.checkIsRunning()
        let shown = try readLayers(layers, layerCount, atLeast: 1, handle.record)
        let selection = TileLevelSelection(bias: fields.level_bias, hysteresis: fields.level_hysteresis)
        let made = handle.cache.makeView(layers: shown, selection: selection)
        made.promotionBudget = budget
        view.pointee = makeHandle(ViewHandle(made, of: handle.record))
    }
}

/// Reads a caller's layers, each once.
func readLayers(
    _ layers: UnsafePointer<tilecache_layer>?,
    _ count: Int,
    atLeast least: Int,
    _ record: CacheRecord
) throws(Failure) -> [TileLayer] {
    guard layers != nil || count == 0 else { throw .isNull("layers") }
    // More layers than the cache has is an error: checked before any of them is read.
    guard count >= least, count <= record.layerCount else {
        throw .argument("\(least) to \(record.layerCount) layers are expected, not \(UInt(bitPattern: count))")
    }
    var read: [TileLayer] = []
    var named: Set<TileLayer> = []
    for number in UnsafeBufferPointer(start: layers, count: count) {
        let layer = try record.layer(number)
        guard named.insert(layer).inserted else { throw .argument("layer \(number) is given twice") }
        read.append(layer)
    }
    return read
}

/// See `tilecache.h`.
@c(tilecache_view_set_layers)
public func tileCacheViewSetLayers(
    _ view: OpaquePointer?,
    _ layers: UnsafePointer<tilecache_layer>?,
    _ layerCount: Int
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        try handle.record.checkIsRunning()
        handle.view.layers = try readLayers(layers, layerCount, atLeast: 0, handle.record)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_destroy)
public func tileCacheViewDestroy(_ view: OpaquePointer?) { _ = giveBack(view, as: ViewHandle.self) }

/// See `tilecache.h`.
@c(tilecache_view_update)
public func tileCacheViewUpdate(
    _ view: OpaquePointer?,
    _ viewport: UnsafePointer<tilecache_viewport>?,
    _ options: UnsafePointer<tilecache_update_options>?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        let place = try readViewport(viewport, "viewport")
        let fields = try readOrDefaults(options, "options")
        var destination: ViewportDestination?
        if fields.destination != nil {
            let arrival = try readViewport(fields.destination, "options->destination")
            try checkIsDrawable(arrival, "options->destination")
            destination = ViewportDestination(viewport: arrival, time: moment(fields.destination_time) ?? .now)
        }
        try checkIsNotWritingTrace()
        try handle.record.checkIsRunning()
        // The view and its recorder count what cannot be drawn.
        handle.view.update(place, at: moment(fields.time), destination: destination)
        try checkIsDrawable(place, "viewport")
    }
}

/// See `tilecache.h`.
@c(tilecache_view_update_needed)
public func tileCacheViewUpdateNeeded(
    _ view: OpaquePointer?,
    _ tiles: UnsafePointer<tilecache_needed_tile>?,
    _ tileCount: Int,
    _ tileSize: Int
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        let list = try readArray(
            tiles,
            count: tileCount,
            elementBytes: tileSize,
            zero: tilecache_needed_tile(),
            "tiles"
        )
        try handle.record.checkIsRunning()
        var needed: [NeededTile] = []
        needed.reserveCapacity(list.count)
        for tile in list {
            guard tile.importance.isFinite else { throw .argument("a tile's importance must be finite") }
            let id = try handle.record.layer(tile.layer).id
            needed.append(NeededTile(layer: id, tile: TileCoordinate(tile.tile), importance: tile.importance))
        }
        handle.view.update(needing: needed)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_set_tiles_ready)
public func tileCacheViewSetTilesReady(
    _ view: OpaquePointer?,
    _ function: tilecache_function?,
    _ context: UnsafeMutableRawPointer?,
    _ destroy: tilecache_function?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle in
        guard let function else {
            handle.view.onTilesReady = nil
            return
        }
        let callback = Callback(function, CallbackContext(context, destroy: destroy))
        handle.view.onTilesReady = { callback.call() }
    }
}

/// See `tilecache.h`.
@c(tilecache_view_set_promotion_budget)
public func tileCacheViewSetPromotionBudget(
    _ view: OpaquePointer?,
    _ promotionTiles: Int64,
    _ promotionNanoseconds: Int64
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        handle.view.promotionBudget = try promotionBudget(tiles: promotionTiles, nanoseconds: promotionNanoseconds)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_set_recorder)
public func tileCacheViewSetRecorder(_ view: OpaquePointer?, _ recorder: OpaquePointer?) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        handle.view.recorder = recorder == nil ? nil : try recorderHandle(recorder).recorder
    }
}

/// See `tilecache.h`.
@c(tilecache_view_set_margin)
public func tileCacheViewSetMargin(_ view: OpaquePointer?, _ rings: Int64) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard (0...8).contains(rings) else { throw .argument("rings must be 0 to 8, not \(rings)") }
        handle.view.margin = Int(rings)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_get_shortfall_bytes)
public func tileCacheViewGetShortfallBytes(
    _ view: OpaquePointer?,
    _ bytes: UnsafeMutablePointer<Int64>?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard let bytes else { throw .isNull("bytes") }
        bytes.pointee = Int64(handle.view.shortfall.bytes)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_set_level_bias)
public func tileCacheViewSetLevelBias(_ view: OpaquePointer?, _ octaves: Double) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard octaves >= 0, octaves <= 8 else { throw .argument("octaves must be 0 to 8, not \(octaves)") }
        handle.view.levelBias = octaves
    }
}

/// See `tilecache.h`.
@c(tilecache_view_get_level_bias)
public func tileCacheViewGetLevelBias(
    _ view: OpaquePointer?,
    _ octaves: UnsafeMutablePointer<Double>?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard let octaves else { throw .isNull("octaves") }
        octaves.pointee = handle.view.levelBias
    }
}

/// See `tilecache.h`.
@c(tilecache_view_set_layer_level_bias)
public func tileCacheViewSetLayerLevelBias(
    _ view: OpaquePointer?,
    _ layer: tilecache_layer,
    _ octaves: Double
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard octaves >= 0, octaves <= 8 else { throw .argument("octaves must be 0 to 8, not \(octaves)") }
        handle.view.setLevelBias(octaves, of: try handle.record.layer(layer).id)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_get_layer_level_bias)
public func tileCacheViewGetLayerLevelBias(
    _ view: OpaquePointer?,
    _ layer: tilecache_layer,
    _ octaves: UnsafeMutablePointer<Double>?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard let octaves else { throw .isNull("octaves") }
        octaves.pointee = handle.view.levelBias(of: try handle.record.layer(layer).id)
    }
}

/// See `tilecache.h`.
@c(tilecache_view_frame)
public func tileCacheViewFrame(
    _ view: OpaquePointer?,
    _ frame: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt(on: try viewHandle(view)) { handle throws(Failure) in
        guard let frame else { throw .isNull("frame") }
        frame.pointee = makeHandle(FrameHandle(handle.view.frame()))
    }
}
