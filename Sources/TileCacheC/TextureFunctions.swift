public import CTileCache
internal import TileCache
internal import TileTextures

/// Object behind `tilecache_texture_slots`.
final class TextureSlotsHandle: Sendable {
    let slots: Lock<TextureSlots>

    init(_ slots: TextureSlots) { self.slots = Lock(slots) }
}

extension tilecache_texture_upload {
    init(_ upload: TextureUpload) {
        self.init(tile: tilecache_tile(upload.tile), slot: Int32(upload.slot), is_ahead: upload.isAhead ? 1 : 0)
    }
}

extension tilecache_texture_placement {
    init(_ placement: TexturePlacement) {
        self.init(
            identity: tilecache_identity(placement.identity),
            world: tilecache_rectangle(placement.worldRectangle),
            part: tilecache_rectangle(placement.slotRectangle),
            slot: Int32(placement.slot),
            is_exact: placement.isExact ? 1 : 0
        )
    }
}

private func slotsHandle(_ handle: OpaquePointer?) throws(Failure) -> TextureSlotsHandle {
    try object(handle, as: TextureSlotsHandle.self, "slots")
}

private func textureFrame(_ handle: OpaquePointer?) throws(Failure) -> FrameHandle<TextureFrame> {
    try object(handle, as: FrameHandle<TextureFrame>.self, "frame")
}

extension tilecache_texture_options: VersionedStructure {
    package static var defaults: tilecache_texture_options {
        let options = TextureSlotOptions()
        var fields = tilecache_texture_options()
        fields.slot_limit = Int32(options.slotLimit)
        fields.format = tilecache_format(options.format)
        (fields.width, fields.height) = (Int32(options.width), Int32(options.height))
        fields.upload_bytes = Int64(options.uploadBytes.bytes)
        fields.upload_nanoseconds = options.uploadTime.nanoseconds
        return fields
    }

    fileprivate func options() throws(Failure) -> TextureSlotOptions {
        var options = TextureSlotOptions()
        options.slotLimit = Int(slot_limit)
        options.format = try pixelFormat(format, opaqueBytes: opaque_bytes_per_tile)
        (options.width, options.height) = (Int(width), Int(height))
        options.uploadBytes = .bytes(Int(clamping: upload_bytes))
        options.uploadTime = .nanoseconds(upload_nanoseconds)
        options.neverShowsHoles = never_shows_holes != 0
        return options
    }
}

extension tilecache_texture_frame_info: VersionedStructure {}

extension tilecache_texture_statistics: VersionedStructure {}

/// See `tilecache.h`.
@c(tilecache_texture_options_init)
public func tileCacheTextureOptionsInit(
    _ options: UnsafeMutablePointer<tilecache_texture_options>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(options, size: structSize, "options")
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_create)
public func tileCacheTextureSlotsCreate(
    _ options: UnsafePointer<tilecache_texture_options>?,
    _ slots: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let options = try readOrDefaults(options, "options").options()
        guard let slots else { throw .isNull("slots") }
        let made = try library { () throws(TileCacheError) in try TextureSlots(options) }
        slots.pointee = makeHandle(TextureSlotsHandle(made))
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_release)
public func tileCacheTextureSlotsRelease(_ slots: OpaquePointer?) { _ = giveBack(slots, as: TextureSlotsHandle.self) }

/// See `tilecache.h`.
@c(tilecache_texture_slots_set_layers)
public func tileCacheTextureSlotsSetLayers(
    _ slots: OpaquePointer?,
    _ cache: OpaquePointer?,
    _ layers: UnsafePointer<tilecache_layer>?,
    _ layerCount: Int
) -> tilecache_status {
    attempt(on: try slotsHandle(slots)) { handle throws(Failure) in
        guard cache != nil else {
            handle.slots.withLock { $0.layers = nil }
            return
        }
        let named = try readLayers(layers, layerCount, atLeast: 0, cacheHandle(cache).record)
        handle.slots.withLock { $0.layers = Set(named.map(\.id)) }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_update)
public func tileCacheTextureSlotsUpdate(
    _ slots: OpaquePointer?,
    _ frame: OpaquePointer?,
    _ view: OpaquePointer?,
    _ result: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt(on: try slotsHandle(slots)) { handle throws(Failure) in
        let frame = try frameHandle(frame).frame
        let view = view == nil ? nil : try viewHandle(view).view
        guard let result else { throw .isNull("result") }
        let made = handle.slots.withLock { $0.update(frame, of: view) }
        result.pointee = makeHandle(FrameHandle(made))
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_note_uploads)
public func tileCacheTextureSlotsNoteUploads(
    _ slots: OpaquePointer?,
    _ bytes: Int64,
    _ nanoseconds: Int64
) -> tilecache_status {
    attempt(on: try slotsHandle(slots)) { handle throws(Failure) in
        guard bytes >= 0, nanoseconds >= 0 else {
            throw .argument("bytes and nanoseconds must be 0 or more, not \(bytes) and \(nanoseconds)")
        }
        handle.slots.withLock { $0.noteUploads(.bytes(Int(clamping: bytes)), took: .nanoseconds(nanoseconds)) }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_set_limit)
public func tileCacheTextureSlotsSetLimit(_ slots: OpaquePointer?, _ slotLimit: Int32) -> tilecache_status {
    attempt(on: try slotsHandle(slots)) { handle throws(Failure) in
        guard (1...65_536).contains(slotLimit) else {
            throw .argument("slot_limit must be 1 to 65536, not \(slotLimit)")
        }
        handle.slots.withLock { $0.slotLimit = Int(slotLimit) }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_set_budget)
public func tileCacheTextureSlotsSetBudget(
    _ slots: OpaquePointer?,
    _ uploadBytes: Int64,
    _ uploadNanoseconds: Int64
) -> tilecache_status {
    attempt(on: try slotsHandle(slots)) { handle in
        handle.slots.withLock {
            $0.uploadBytes = .bytes(Int(clamping: uploadBytes))
            $0.uploadTime = .nanoseconds(uploadNanoseconds)
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_remove)
public func tileCacheTextureSlotsRemove(
    _ slots: OpaquePointer?,
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ area: UnsafePointer<tilecache_rectangle>?
) -> tilecache_status {
    attempt(on: try slotsHandle(slots)) { handle throws(Failure) in
        guard cache != nil else {
            handle.slots.withLock { $0.removeAll() }
            return
        }
        let id = try cacheHandle(cache).record.layer(layer).id
        let rectangle = try region(area)
        handle.slots.withLock { $0.remove(id, region: rectangle) }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_slots_get_statistics)
public func tileCacheTextureSlotsGetStatistics(
    _ slots: OpaquePointer?,
    _ statistics: UnsafeMutablePointer<tilecache_texture_statistics>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let counts = try slotsHandle(slots).slots.withLock { $0.statistics }
        var fields = tilecache_texture_statistics()
        fields.frames = Int64(counts.frames)
        fields.uploads = Int64(counts.uploads)
        fields.uploaded_bytes = Int64(counts.uploadedBytes.bytes)
        fields.peak_uploads = Int64(counts.peakUploads)
        fields.peak_uploaded_bytes = Int64(counts.peakUploadedBytes.bytes)
        fields.ahead_uploads = Int64(counts.aheadUploads)
        fields.ahead_bytes = Int64(counts.aheadBytes.bytes)
        fields.ahead_drawn = Int64(counts.aheadDrawn)
        fields.waiting_frames = Int64(counts.waitingFrames)
        fields.evictions = Int64(counts.evictions)
        fields.bias_changes = Int64(counts.biasChanges)
        fields.used_slots = Int64(counts.usedSlots)
        try write(fields, to: statistics, "statistics")
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_frame_get_info)
public func tileCacheTextureFrameGetInfo(
    _ frame: OpaquePointer?,
    _ info: UnsafeMutablePointer<tilecache_texture_frame_info>?
) -> tilecache_status {
    attempt(on: try textureFrame(frame).frame) { frame throws(Failure) in
        var fields = tilecache_texture_frame_info()
        fields.upload_count = frame.uploads.count
        fields.placement_count = frame.placements.count
        fields.slot_count = Int32(clamping: frame.slotCount)
        fields.needed_slots = Int32(clamping: frame.neededSlots)
        fields.level_bias = frame.levelBias
        fields.waiting_tile_count = Int32(clamping: frame.waitingTileCount)
        fields.hole_count = Int32(clamping: frame.holeCount)
        try write(fields, to: info, "info")
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_frame_get_uploads)
public func tileCacheTextureFrameGetUploads(
    _ frame: OpaquePointer?,
    _ uploadSize: Int,
    _ uploads: UnsafeMutablePointer<UnsafePointer<tilecache_texture_upload>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try textureFrame(frame), to: uploads, "uploads", count) { handle throws(Failure) in
        try checkElementSize(uploadSize, of: tilecache_texture_upload.self, "upload_size must be sizeof an upload")
        return handle.array(.uploads, of: handle.frame.uploads, elementBytes: uploadSize) {
            tilecache_texture_upload($0)
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_frame_get_placements)
public func tileCacheTextureFrameGetPlacements(
    _ frame: OpaquePointer?,
    _ placementSize: Int,
    _ placements: UnsafeMutablePointer<UnsafePointer<tilecache_texture_placement>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try textureFrame(frame), to: placements, "placements", count) { handle throws(Failure) in
        let rule = "placement_size must be sizeof a texture placement"
        try checkElementSize(placementSize, of: tilecache_texture_placement.self, rule)
        return handle.array(.placements, of: handle.frame.placements, elementBytes: placementSize) {
            tilecache_texture_placement($0)
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_frame_lease)
public func tileCacheTextureFrameLease(
    _ frame: OpaquePointer?,
    _ index: Int,
    _ lease: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt(on: try textureFrame(frame).frame.uploads) { uploads throws(Failure) in
        guard let lease else { throw .isNull("lease") }
        guard uploads.indices.contains(index) else {
            throw .argument("index must be below the frame's \(uploads.count) uploads, not \(UInt(bitPattern: index))")
        }
        lease.pointee = makeHandle(LeaseHandle(uploads[index].tile.retained()))
    }
}

/// See `tilecache.h`.
@c(tilecache_texture_frame_release)
public func tileCacheTextureFrameRelease(_ frame: OpaquePointer?) {
    _ = giveBack(frame, as: FrameHandle<TextureFrame>.self)
}
