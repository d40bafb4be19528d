import CTileCache

/// Calls for texture slots, fetches, allowances and profiles.
func newerCall(_ session: CallSession, _ bytes: inout Bytes) {
    switch bytes.byte() % 8 {
    case 0: makeSlots(session, &bytes)
    case 1, 2: drawFromSlots(session, &bytes)
    case 3: changeSlots(session, &bytes)
    case 4: fetch(session, &bytes)
    case 5: endFetch(session, &bytes)
    case 6: allow(session, &bytes)
    default:
        let view = session.view(&bytes)
        _ = tilecache_view_set_margin(view, bytes.integer())
        _ = tilecache_view_set_level_bias(view, bytes.number())
        var octaves = 0.0
        if tilecache_view_get_level_bias(view, &octaves) == TILECACHE_OK {
            expect(octaves >= 0 && octaves <= 8, "a bias of \(octaves)")
        }
        var late: UnsafePointer<tilecache_late_tile>?
        var count = 0
        _ = tilecache_frame_get_late(session.frame(&bytes), MemoryLayout<tilecache_late_tile>.size, &late, &count)
        _ = tilecache_view_set_layer_level_bias(view, session.layer(&bytes), bytes.number())
    }
}

private func makeSlots(_ session: CallSession, _ bytes: inout Bytes) {
    var options = tilecache_texture_options()
    _ = tilecache_texture_options_init(&options, MemoryLayout<tilecache_texture_options>.size)
    (options.width, options.height, options.slot_limit) = (32, 32, Int32(bytes.byte() % 16))
    let draw = bytes.byte()
    if draw & 1 != 0 { options.width = Int32(truncatingIfNeeded: bytes.integer()) }
    if draw & 2 != 0 { options.slot_limit = Int32(truncatingIfNeeded: bytes.integer()) }
    if draw & 4 != 0 { options.format = Int32(bytes.byte() % 9) }
    if draw & 8 != 0 { options.opaque_bytes_per_tile = bytes.integer() }
    if draw & 16 != 0 { options.upload_bytes = bytes.integer() }
    if draw & 32 != 0 { options.upload_nanoseconds = bytes.integer() }
    options.never_shows_holes = Int32(draw >> 6 & 1)
    var slots: OpaquePointer?
    guard tilecache_texture_slots_create(&options, &slots) == TILECACHE_OK else { return }
    tilecache_texture_slots_release(session.slots)
    session.slots = slots
}

/// Slots exist, uploads have pixels, and parts lie in a slot.
private func drawFromSlots(_ session: CallSession, _ bytes: inout Bytes) {
    let view = bytes.byte() < 128 ? session.view(&bytes) : nil
    var frame: OpaquePointer?
    let status = tilecache_texture_slots_update(session.slots, session.frame(&bytes), view, &frame)
    guard status == TILECACHE_OK else { return }
    defer { tilecache_texture_frame_release(frame) }
    var info = tilecache_texture_frame_info()
    info.struct_size = MemoryLayout<tilecache_texture_frame_info>.size
    _ = tilecache_texture_frame_get_info(frame, &info)
    var uploads: UnsafePointer<tilecache_texture_upload>?
    var count = 0
    _ = tilecache_texture_frame_get_uploads(frame, MemoryLayout<tilecache_texture_upload>.size, &uploads, &count)
    expect(count == info.upload_count, "\(count) uploads, \(info.upload_count) are counted")
    for upload in UnsafeBufferPointer(start: uploads, count: count) {
        expect((0..<info.slot_count).contains(upload.slot), "slot \(upload.slot) of \(info.slot_count)")
        let pixels = UnsafeRawBufferPointer(start: upload.tile.pixels, count: upload.tile.byte_count)
        expect(pixels.suffix(16).reduce(0) { $0 &+ Int($1) } >= 0, "pixels are read")
    }
    var placements: UnsafePointer<tilecache_texture_placement>?
    let size = MemoryLayout<tilecache_texture_placement>.size
    _ = tilecache_texture_frame_get_placements(frame, size, &placements, &count)
    expect(count == info.placement_count, "\(count) placements, \(info.placement_count) are counted")
    for placement in UnsafeBufferPointer(start: placements, count: count) {
        expect((0..<info.slot_count).contains(placement.slot), "slot \(placement.slot) of \(info.slot_count)")
        expect(placement.part.min_x >= 0 && placement.part.min_y >= 0, "the part is \(placement.part)")
    }
    _ = tilecache_view_set_level_bias(view, info.level_bias)
    var lease: OpaquePointer?
    if tilecache_texture_frame_lease(frame, Int(bytes.byte() % 4), &lease) == TILECACHE_OK, let lease {
        session.leases.append(lease)
        var memory = tilecache_tile_memory()
        memory.struct_size = MemoryLayout<tilecache_tile_memory>.size
        _ = tilecache_lease_get_memory(lease, &memory)
        expect((memory.slot_index + 1) * memory.slot_stride <= memory.range_byte_count, "the tile is in the range")
    }
}

private func changeSlots(_ session: CallSession, _ bytes: inout Bytes) {
    switch bytes.byte() % 4 {
    case 0: _ = tilecache_texture_slots_set_limit(session.slots, Int32(truncatingIfNeeded: bytes.integer()))
    case 1: _ = tilecache_texture_slots_set_budget(session.slots, bytes.integer(), bytes.integer())
    case 2: _ = tilecache_texture_slots_note_uploads(session.slots, bytes.integer(), bytes.integer())
    default:
        var region = tilecache_rectangle(
            min_x: bytes.number(),
            min_y: bytes.number(),
            max_x: bytes.number(),
            max_y: bytes.number()
        )
        let cache = bytes.byte() < 200 ? session.cache : nil
        _ = tilecache_texture_slots_remove(session.slots, cache, session.layer(&bytes), &region)
    }
    var figures = tilecache_texture_statistics()
    figures.struct_size = MemoryLayout<tilecache_texture_statistics>.size
    _ = tilecache_texture_slots_get_statistics(session.slots, &figures)
    expect(figures.ahead_drawn <= figures.ahead_uploads, "\(figures.ahead_drawn) of \(figures.ahead_uploads)")
    guard bytes.byte() % 8 == 1 else { return }
    var layer = session.layer(&bytes)
    _ = tilecache_texture_slots_set_layers(session.slots, session.cache, &layer, Int(bytes.byte() % 2))
}

/// A tile that may not exist.
private func anyTile(_ bytes: inout Bytes) -> tilecache_coordinate {
    tilecache_coordinate(level: bytes.integer(), column: bytes.integer(), row: bytes.integer())
}

private func fetch(_ session: CallSession, _ bytes: inout Bytes) {
    var state: tilecache_fetch_state = -1
    var (lease, fetch): (OpaquePointer?, OpaquePointer?)
    let status = tilecache_fetch_tile(
        session.cache,
        session.layer(&bytes),
        anyTile(&bytes),
        Int32(bytes.byte() % 3),
        { _, state, lease in
            expect((lease != nil) == (state == TILECACHE_FETCH_READY), "state \(state)")
            tilecache_lease_release(lease)
        },
        nil,
        nil,
        &state,
        &lease,
        &fetch
    )
    guard status == TILECACHE_OK else { return }
    expect((lease != nil) == (state == TILECACHE_FETCH_READY), "state \(state)")
    expect((fetch != nil) == (state == TILECACHE_FETCH_LATE), "state \(state)")
    if let lease { session.leases.append(lease) }
    if let fetch { session.fetches.append(fetch) }
}

private func endFetch(_ session: CallSession, _ bytes: inout Bytes) {
    var placement = tilecache_placement()
    var lease: OpaquePointer?
    let size = MemoryLayout<tilecache_placement>.size
    let layer = session.layer(&bytes)
    if tilecache_get_placement(session.cache, layer, anyTile(&bytes), size, &placement, &lease) == TILECACHE_OK {
        expect(placement.tile.pixels != nil, "a placement has pixels")
        tilecache_lease_release(lease)
    }
    guard let fetch = session.fetches.first else { return }
    var info = tilecache_fetch_info()
    info.struct_size = MemoryLayout<tilecache_fetch_info>.size
    _ = tilecache_fetch_get_info(fetch, &info)
    var isCancelled: Int32 = 0
    if bytes.byte() < 128 { _ = tilecache_fetch_cancel(fetch, &isCancelled) }
    tilecache_fetch_release(session.fetches.removeFirst())
}

private func allow(_ session: CallSession, _ bytes: inout Bytes) {
    let layer = session.layer(&bytes)
    var allowance = tilecache_prefetch_allowance()
    _ = tilecache_prefetch_allowance_init(&allowance, MemoryLayout<tilecache_prefetch_allowance>.size)
    let draw = bytes.byte()
    if draw & 1 != 0 { allowance.kind = Int32(bytes.byte() % 5) }
    if draw & 2 != 0 { allowance.price = bytes.number() }
    if draw & 4 != 0 { allowance.effort = bytes.number() }
    if draw & 8 != 0 { allowance.requests_per_minute = bytes.integer() }
    if draw & 16 != 0 { allowance.bytes_per_minute = bytes.integer() }
    _ = tilecache_set_prefetch_allowance(session.cache, layer, &allowance)
    var counts = tilecache_prefetch_counts()
    counts.struct_size = MemoryLayout<tilecache_prefetch_counts>.size
    if tilecache_get_prefetch_counts(session.cache, layer, &counts) == TILECACHE_OK {
        expect(counts.drawn <= counts.started, "\(counts.drawn) of \(counts.started) are drawn")
    }
    guard draw & 32 != 0 else { return }
    var profile: OpaquePointer?
    _ = tilecache_get_learned_profile(session.cache, layer, &profile)
    var count = 0
    var text = [UInt8](repeating: 0, count: 300_000)
    if tilecache_profile_get_bytes(profile, &text, text.count, &count) == TILECACHE_OK {
        var copy: OpaquePointer?
        expect(tilecache_profile_create(text, count, &copy) == TILECACHE_OK, "a profile can be read")
        _ = tilecache_profile_merge(copy, profile)
        tilecache_profile_release(copy)
    }
    tilecache_profile_release(profile)
    if draw & 64 != 0 { _ = tilecache_remove_layer(session.cache, layer) }
}
