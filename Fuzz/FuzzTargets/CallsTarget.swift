import CTileCache

/// State after a sequence of calls.
final class CallSession {
    var cache: OpaquePointer?
    var layers: [tilecache_layer] = []
    var views: [OpaquePointer] = []
    var frames: [OpaquePointer] = []
    var leases: [OpaquePointer] = []
    var fetches: [OpaquePointer] = []
    var slots: OpaquePointer?

    func end() {
        for fetch in fetches { tilecache_fetch_release(fetch) }
        tilecache_texture_slots_release(slots)
        for lease in leases { tilecache_lease_release(lease) }
        for frame in frames { tilecache_frame_release(frame) }
        for view in views { tilecache_view_destroy(view) }
        if let cache {
            var figures = tilecache_statistics()
            figures.struct_size = MemoryLayout<tilecache_statistics>.size
            if tilecache_get_statistics(cache, &figures) == TILECACHE_OK {
                expect(figures.used_bytes <= figures.peak_bytes, "the peak is \(figures.peak_bytes)")
            }
            tilecache_destroy(cache)
        }
    }

    func layer(_ bytes: inout Bytes) -> tilecache_layer {
        let draw = bytes.byte()
        guard !layers.isEmpty, draw < 230 else { return tilecache_layer(truncatingIfNeeded: bytes.integer()) }
        return layers[Int(draw) % layers.count]
    }

    func view(_ bytes: inout Bytes) -> OpaquePointer? { views.isEmpty ? nil : views[Int(bytes.byte()) % views.count] }
    func frame(_ bytes: inout Bytes) -> OpaquePointer? {
        frames.isEmpty ? nil : frames[Int(bytes.byte()) % frames.count]
    }
}

/// A sequence of calls with any arguments. Pointers are valid or null, as the header requires.
func fuzzCalls(_ input: UnsafeRawBufferPointer) {
    var bytes = Bytes(input)
    let session = CallSession()
    defer { session.end() }
    create(session, &bytes)
    var calls = 0
    while !bytes.isEmpty, calls < 64 {
        calls += 1
        call(session, &bytes)
    }
}

private let largestLimit: Int64 = 1 << 26

private func create(_ session: CallSession, _ bytes: inout Bytes) {
    var configuration = tilecache_configuration()
    _ = tilecache_configuration_init(&configuration, MemoryLayout<tilecache_configuration>.size)
    configuration.byte_limit = 1 << 20
    configuration.workers = 2
    let draw = bytes.byte()
    if draw & 1 != 0 { configuration.byte_limit = bytes.integer() }
    if draw & 2 != 0 { configuration.maximum_byte_limit = bytes.integer() }
    if draw & 4 != 0 { configuration.workers = Int32(truncatingIfNeeded: bytes.integer()) }
    if draw & 8 != 0 { configuration.compressed_share = bytes.number() }
    if draw & 16 != 0 { configuration.effort = bytes.number() }
    if draw & 32 != 0 { configuration.expected_load_latency = bytes.integer() }
    if draw & 64 != 0 { configuration.retry_delay = bytes.integer() }
    // At most the actual count, as the header requires.
    if draw & 128 != 0 {
        configuration.struct_size = min(Int(bytes.byte()), MemoryLayout<tilecache_configuration>.size)
    }
    let second = bytes.byte()
    if second & 1 != 0 { configuration.stuck_load_time = bytes.integer() }
    if second & 2 != 0 { configuration.slow_callback_time = bytes.integer() }
    if second & 8 != 0 { configuration.uses_compressed_tier = 0 }
    if second & 16 != 0 { configuration.fits_level_to_budget = 0 }
    // Hundreds of threads would only be slow.
    if configuration.workers > 4 { configuration.workers = 4 }
    if tilecache_create(&configuration, &session.cache) == TILECACHE_OK,
        max(
            configuration.byte_limit,
            configuration.maximum_byte_limit
        ) <= largestLimit
    {
        return
    }
    // Allocates one of this size without filling it.
    tilecache_destroy(session.cache)
    session.cache = nil
    (configuration.byte_limit, configuration.maximum_byte_limit) = (1 << 20, 0)
    _ = tilecache_create(&configuration, &session.cache)
}

func fuzzedViewport(_ bytes: inout Bytes) -> tilecache_viewport {
    var viewport = tilecache_viewport()
    _ = tilecache_viewport_init(&viewport, MemoryLayout<tilecache_viewport>.size)
    viewport.center_x = bytes.number()
    viewport.center_y = bytes.number()
    viewport.width = min(bytes.number(), 4096)
    viewport.height = min(bytes.number(), 4096)
    if bytes.byte() & 1 == 0 { viewport.scale = bytes.number() }
    if bytes.byte() & 3 == 0 { viewport.rotation = bytes.number() }
    return viewport
}

private func call(_ session: CallSession, _ bytes: inout Bytes) {
    let cache = session.cache
    switch bytes.byte() % 26 {
    case 0, 1: addLayer(session, &bytes)
    case 2, 3:
        var layers = [session.layer(&bytes), session.layer(&bytes)]
        var view: OpaquePointer?
        if tilecache_view_create(cache, &layers, Int(bytes.byte() % 3), nil, &view) == TILECACHE_OK, let view {
            session.views.append(view)
        }
    case 4, 5, 6, 7:
        var viewport = fuzzedViewport(&bytes)
        _ = tilecache_view_update(session.view(&bytes), &viewport, nil)
    case 8, 9:
        var frame: OpaquePointer?
        if tilecache_view_frame(session.view(&bytes), &frame) == TILECACHE_OK, let frame {
            session.frames.append(frame)
        }
    case 10: look(session, &bytes)
    case 11: if !session.frames.isEmpty { tilecache_frame_release(session.frames.removeFirst()) }
    case 12: if !session.leases.isEmpty { tilecache_lease_release(session.leases.removeFirst()) }
    case 13: changeRegion(session, &bytes)
    case 14: _ = tilecache_set_byte_limit(cache, bytes.integer())
    case 15: _ = tilecache_trim(cache, bytes.integer())
    case 16: need(session, &bytes)
    case 17:
        let tile = tilecache_coordinate(level: bytes.integer(), column: bytes.integer(), row: bytes.integer())
        var isResident: Int32 = 0
        _ = tilecache_is_resident(cache, session.layer(&bytes), tile, &isResident)
        _ = tilecache_read_tile(cache, session.layer(&bytes), tile, { _, _, _ in }, nil)
    case 18:
        var text = [CChar](repeating: 0, count: 64)
        var length = 0
        _ = tilecache_describe_statistics(cache, &text, Int(bytes.byte() % 65), &length)
        var figures = tilecache_statistics()
        figures.struct_size = min(Int(bytes.byte()) * 4, MemoryLayout<tilecache_statistics>.size)
        _ = tilecache_get_statistics(cache, &figures)
    case 20, 21, 22, 23, 24: rareCall(session, &bytes)
    case 25: newerCall(session, &bytes)
    default:
        if bytes.byte() < 8 { _ = tilecache_shutdown(cache, 1_000_000) }
        if !session.views.isEmpty, bytes.byte() < 64 { tilecache_view_destroy(session.views.removeFirst()) }
    }
}

private func changeRegion(_ session: CallSession, _ bytes: inout Bytes) {
    var region = tilecache_rectangle(
        min_x: bytes.number(),
        min_y: bytes.number(),
        max_x: bytes.number(),
        max_y: bytes.number()
    )
    let layer = session.layer(&bytes)
    _ = tilecache_invalidate(session.cache, layer, &region, Int32(bytes.byte() & 1))
    _ = tilecache_pin(session.cache, layer, bytes.integer(), bytes.integer(), &region)
}

private func need(_ session: CallSession, _ bytes: inout Bytes) {
    var needed = (0..<3).map { _ in
        tilecache_needed_tile(
            layer: session.layer(&bytes),
            importance: Float(bytes.number()),
            tile: tilecache_coordinate(level: bytes.integer(), column: bytes.integer(), row: bytes.integer())
        )
    }
    let size = bytes.byte() < 200 ? MemoryLayout<tilecache_needed_tile>.size : Int(bytes.byte())
    let count = size == MemoryLayout<tilecache_needed_tile>.size ? needed.count : 1
    _ = tilecache_view_update_needed(session.view(&bytes), &needed, count, min(size, 32))
    // Inputs of the corpus have a time here.
    _ = bytes.integer()
}

private func look(_ session: CallSession, _ bytes: inout Bytes) {
    guard let frame = session.frame(&bytes) else { return }
    var placements: UnsafePointer<tilecache_placement>?
    var count = 0
    _ = tilecache_frame_get_placements(frame, MemoryLayout<tilecache_placement>.size, &placements, &count)
    for index in 0..<count {
        guard let tile = placements?[index].tile, let pixels = tile.pixels else { continue }
        // Every byte must be readable, to the last.
        let all = UnsafeRawBufferPointer(start: pixels, count: tile.byte_count)
        let sum = [all.prefix(1 << 18), all.suffix(16)].joined().reduce(0) { $0 &+ Int($1) }
        expect(sum >= 0, "pixels are read")
    }
    var lease: OpaquePointer?
    if tilecache_frame_lease(frame, Int(truncatingIfNeeded: bytes.integer()), &lease) == TILECACHE_OK, let lease {
        session.leases.append(lease)
    }
}

private func addLayer(_ session: CallSession, _ bytes: inout Bytes) {
    var source = scriptedSource(bytes.byte())
    var pyramid = tilecache_pyramid()
    _ = tilecache_pyramid_init(&pyramid, MemoryLayout<tilecache_pyramid>.size)
    (pyramid.world_width, pyramid.world_height, pyramid.tile_size) = (2048, 2048, 32)
    let draw = bytes.byte()
    if draw & 1 != 0 { pyramid.world_width = bytes.number() }
    if draw & 2 != 0 { pyramid.tile_size = bytes.integer() }
    if draw & 4 != 0 { pyramid.border = bytes.integer() }
    pyramid.wraps_x = Int32(draw >> 3 & 1)
    let levels = (0..<2).map { _ in
        tilecache_level(
            width: bytes.integer(),
            height: bytes.integer(),
            tile_width: bytes.integer(),
            tile_height: bytes.integer(),
            world_pixels_per_pixel: bytes.number(),
            origin_x: bytes.number(),
            origin_y: bytes.number(),
            border: bytes.integer()
        )
    }
    var options = tilecache_layer_options()
    _ = tilecache_layer_options_init(&options, MemoryLayout<tilecache_layer_options>.size)
    if draw & 16 != 0 { options.format = Int32(bytes.byte() % 9) }
    if draw & 32 != 0 { options.opaque_bytes_per_tile = bytes.integer() }
    let second = bytes.byte()
    if second & 1 != 0 { options.alpha = Int32(bytes.byte() % 5) }
    if second & 2 != 0 { options.is_compressible = Int32(bytes.byte() & 1) }
    if second & 4 != 0 { options.share_maximum = bytes.number() }
    if second & 8 != 0 { options.synthesized_levels = Int32(bytes.byte()) - 4 }
    if second & 16 != 0 { options.downsampling = Int32(bytes.byte() % 5) }
    let usesTable = draw & 64 != 0
    levels.withUnsafeBufferPointer { table in
        if usesTable {
            pyramid.levels = table.baseAddress
            pyramid.level_count = 2
        }
        var layer: tilecache_layer = 0
        if tilecache_add_layer(session.cache, &source, &pyramid, &options, &layer) == TILECACHE_OK {
            session.layers.append(layer)
        }
    }
}
