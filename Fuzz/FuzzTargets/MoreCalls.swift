import CTileCache

/// Rare calls.
func rareCall(_ session: CallSession, _ bytes: inout Bytes) {
    switch bytes.byte() % 8 {
    case 0:
        // Any motion, at any time.
        var options = tilecache_update_options()
        _ = tilecache_update_options_init(&options, MemoryLayout<tilecache_update_options>.size)
        options.time = bytes.integer()
        options.destination_time = bytes.integer()
        var viewport = fuzzedViewport(&bytes)
        var destination = fuzzedViewport(&bytes)
        let hasDestination = bytes.byte() & 1 == 0
        withUnsafePointer(to: &destination) { pointer in
            options.destination = hasDestination ? pointer : nil
            _ = tilecache_view_update(session.view(&bytes), &viewport, &options)
        }
    case 1:
        _ = tilecache_note_memory_pressure(session.cache, Int32(bytes.byte() % 5))
        if bytes.byte() < 8 { _ = tilecache_watch_memory_pressure(session.cache, Int32(bytes.byte() & 1)) }
        let layer = session.layer(&bytes)
        _ = tilecache_unpin(session.cache, layer, bytes.integer(), bytes.integer(), nil)
        let tile = tilecache_coordinate(level: bytes.integer(), column: bytes.integer(), row: bytes.integer())
        let tiles = [tile, tilecache_coordinate()]
        switch bytes.byte() & 7 {
        case 0: _ = tilecache_pin_tiles(session.cache, layer, tiles, 2)
        case 1: _ = tilecache_unpin_tiles(session.cache, layer, tiles, 2)
        case 2: _ = tilecache_prefetch(session.cache, layer, tiles, 2)
        case 3: _ = tilecache_view_set_layers(session.view(&bytes), [layer], Int(bytes.byte() & 1))
        default: break
        }
    case 2: _ = tilecache_view_set_tiles_ready(session.view(&bytes), bytes.byte() & 1 == 0 ? { _ in } : nil, nil, nil)
    case 3:
        let view = session.view(&bytes)
        _ = tilecache_view_set_promotion_budget(view, bytes.integer(), bytes.integer())
        var shortfall: Int64 = 0
        let status = tilecache_view_get_shortfall_bytes(view, &shortfall)
        expect(status != TILECACHE_OK || shortfall >= 0, "\(shortfall) bytes are missing")
    case 4: record(session, &bytes)
    case 5:
        var options = tilecache_view_options()
        _ = tilecache_view_options_init(&options, MemoryLayout<tilecache_view_options>.size)
        options.level_bias = bytes.number()
        options.level_hysteresis = bytes.number()
        options.promotion_tiles = bytes.integer()
        options.promotion_nanoseconds = bytes.integer()
        var layers = [session.layer(&bytes)]
        var view: OpaquePointer?
        if tilecache_view_create(session.cache, &layers, 1, &options, &view) == TILECACHE_OK, let view {
            session.views.append(view)
        }
    case 6: lookCloser(session, &bytes)
    default:
        var limit: Int64 = 0
        if tilecache_get_byte_limit(session.cache, &limit) == TILECACHE_OK { expect(limit > 0, "a limit of \(limit)") }
        expect(tilecache_status_message(Int32(truncatingIfNeeded: bytes.integer())) != nil, "statuses have names")
    }
}

private func record(_ session: CallSession, _ bytes: inout Bytes) {
    var options = tilecache_recorder_options()
    _ = tilecache_recorder_options_init(&options, MemoryLayout<tilecache_recorder_options>.size)
    let draw = bytes.byte()
    if draw & 1 != 0 { (options.viewport_width, options.viewport_height) = (bytes.number(), bytes.number()) }
    if draw & 2 != 0 { (options.world_width, options.world_height) = (bytes.number(), bytes.number()) }
    if draw & 4 != 0 { options.tile_size = bytes.integer() }
    options.wraps_x = Int32(draw >> 3 & 1)
    if draw & 16 != 0 { options.write = { _, text, count in expect(text != nil || count == 0, "text") } }
    // Any bytes, with a terminating zero.
    let name = bytes.take(Int(draw >> 5)).map { CChar(bitPattern: $0) } + [0]
    var recorder: OpaquePointer?
    let status = name.withUnsafeBufferPointer { name in
        options.view_name = draw & 32 == 0 ? nil : name.baseAddress
        return tilecache_recorder_create(&options, &recorder)
    }
    guard status == TILECACHE_OK, let recorder else { return }
    for _ in 0..<bytes.byte() % 4 {
        var viewport = fuzzedViewport(&bytes)
        _ = tilecache_recorder_record(recorder, &viewport, bytes.integer())
    }
    var text = [CChar](repeating: 1, count: 256)
    var length = 0
    let capacity = Int(bytes.byte())
    if tilecache_recorder_get_text(recorder, &text, capacity, &length) == TILECACHE_OK, capacity > 0 {
        expect(text[..<capacity].contains(0), "text is ended")
    }
    var counts = tilecache_recorder_counts()
    counts.struct_size = min(Int(bytes.byte()), MemoryLayout<tilecache_recorder_counts>.size)
    _ = tilecache_recorder_get_counts(recorder, &counts)
    expect(counts.recorded >= 0 && counts.recorded <= 4, "\(counts.recorded) samples")
    _ = tilecache_view_set_recorder(session.view(&bytes), draw & 64 == 0 ? recorder : nil)
    tilecache_recorder_release(recorder)
}

private func lookCloser(_ session: CallSession, _ bytes: inout Bytes) {
    if let frame = session.frame(&bytes) {
        var info = tilecache_frame_info()
        info.struct_size = MemoryLayout<tilecache_frame_info>.size
        _ = tilecache_frame_get_info(frame, &info)
        var identities: UnsafePointer<tilecache_identity>?
        var count = 0
        _ = tilecache_frame_get_appeared(frame, &identities, &count)
        expect(count == info.appeared_count, "\(count) came, \(info.appeared_count) are counted")
        _ = tilecache_frame_get_disappeared(frame, &identities, &count)
        expect(count == info.disappeared_count, "\(count) went, \(info.disappeared_count) are counted")
        var unavailable: UnsafePointer<tilecache_unavailable_tile>?
        let status = tilecache_frame_get_unavailable(
            frame,
            MemoryLayout<tilecache_unavailable_tile>.size,
            &unavailable,
            &count
        )
        expect(status == TILECACHE_OK && count == info.unavailable_count, "\(count) of \(info.unavailable_count)")
    }
    if let lease = session.leases.first {
        var tile = tilecache_tile()
        expect(tilecache_lease_get_tile(lease, &tile) == TILECACHE_OK && tile.pixels != nil, "a lease has pixels")
    }
}
