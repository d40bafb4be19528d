import CTileCache

/// A source of the C interface. Tile and seed choose valid and invalid answers.
func scriptedSource(_ seed: UInt8) -> tilecache_source {
    var source = tilecache_source()
    _ = tilecache_source_init(&source, MemoryLayout<tilecache_source>.size)
    source.context = UnsafeMutableRawPointer(bitPattern: Int(seed) + 1)
    if seed & 1 == 0 { source.load = { loadTile($0, $1) } } else { source.request = { answer($0, $1) } }
    if seed & 2 != 0 {
        source.decode = { _, encoded, count, pixels in
            guard let encoded, let pixels, count > 0 else { return 3 }
            // Every byte must be readable.
            let bytes = UnsafeRawBufferPointer(start: encoded, count: count)
            let sum = bytes.reduce(0) { $0 &+ $1 }
            _ = fill(pixels, sum)
            return Int32(sum & 3)
        }
    }
    return source
}

/// A number from tile and context.
private func dice(_ context: UnsafeMutableRawPointer?, _ tile: tilecache_coordinate) -> UInt8 {
    let place = UInt64(bitPattern: tile.level &* 31 &+ tile.column &* 7 &+ tile.row &* 13)
    let mixed = place &+ UInt64(UInt(bitPattern: context))
    return UInt8(truncatingIfNeeded: mixed &* 0x9E37_79B9_7F4A_7C15 >> 56)
}

/// Writes all of a tile, or a part of a large one.
private func fill(_ pixels: UnsafeMutablePointer<tilecache_pixels>, _ first: UInt8) -> Int32 {
    let target = UnsafeMutableRawBufferPointer(start: pixels.pointee.memory, count: pixels.pointee.byte_count)
    for index in target.indices.prefix(1 << 18) { target[index] = first &+ UInt8(truncatingIfNeeded: index) }
    return Int32(TILECACHE_OUTCOME_PIXELS)
}

private func loadTile(
    _ context: UnsafeMutableRawPointer?,
    _ pixels: UnsafeMutablePointer<tilecache_pixels>?
) -> Int32 {
    guard let pixels else { return 2 }
    let draw = dice(context, pixels.pointee.tile)
    _ = fill(pixels, draw)
    pixels.pointee.retry_after = draw & 16 == 0 ? Int64(draw) : .min
    if draw & 32 != 0 {
        let encoded = [UInt8](repeating: draw, count: Int(draw) * 4)
        var isKept: Int32 = 0
        _ = tilecache_pixels_keep_encoded(pixels, encoded, encoded.count, &isKept)
        expect(isKept == 0 || !encoded.isEmpty, "nothing is not kept")
    }
    // Also undefined outcomes.
    return draw < 128 ? 0 : Int32(draw & 7)
}

private func answer(_ context: UnsafeMutableRawPointer?, _ request: OpaquePointer?) {
    guard let request else { return }
    var info = tilecache_request_info()
    info.struct_size = MemoryLayout<tilecache_request_info>.size
    _ = tilecache_request_get_info(request, &info)
    let draw = dice(context, info.tile)
    if draw & 64 != 0 {
        _ = tilecache_request_on_cancel(request, { _ in }, nil, { _ in })
        _ = tilecache_request_holds_encoded(request, Int64(draw) << Int64(draw & 63))
    }
    _ = tilecache_request_is_wanted(request)
    // Some answer twice, some never.
    for turn in 0..<(draw & 15 == 15 ? 2 : draw & 15 == 14 ? 0 : 1) {
        switch Int(draw >> 1 & 7) + turn {
        case 0, 1, 2, 3: _ = tilecache_request_complete(request, { loadTile($0, $1) }, context)
        case 4:
            let pixels = [UInt8](repeating: draw, count: Int(draw) * 64)
            _ = tilecache_request_complete_copying(request, pixels, pixels.count, Int(draw) * 4)
        case 5: _ = tilecache_request_complete_absent(request)
        case 6: _ = tilecache_request_fail(request, Int32(draw & 1), draw & 16 == 0 ? 1 : .max)
        default: _ = tilecache_request_cancel(request)
        }
    }
    tilecache_request_release(request)
}
