public import CTileCache
internal import TileCache

extension tilecache_frame_info: VersionedStructure {}

extension tilecache_placement {
    init(_ placement: TilePlacement) {
        self.init(
            tile: tilecache_tile(placement.tile),
            world: tilecache_rectangle(placement.worldRectangle),
            part: tilecache_rectangle(placement.tileRectangle),
            is_exact: placement.isExact ? 1 : 0,
            is_coarsened: placement.isCoarsened ? 1 : 0
        )
    }
}

extension tilecache_unavailable_tile {
    init(_ tile: UnavailableTile) {
        self.init(
            layer: tilecache_layer(tile.layer),
            cause: tilecache_cause(tile.cause),
            tile: tilecache_coordinate(tile.tile),
            world: tilecache_rectangle(tile.worldRectangle)
        )
    }
}

extension tilecache_late_tile {
    init(_ tile: LateTile) {
        self.init(
            layer: tilecache_layer(tile.layer),
            is_loading: tile.isLoading ? 1 : 0,
            tile: tilecache_coordinate(tile.tile),
            world: tilecache_rectangle(tile.worldRectangle),
            since: tile.since.nanoseconds
        )
    }
}

/// Object behind `tilecache_lease`.
final class LeaseHandle: Sendable {
    let tile: LeasedTile

    init(_ tile: LeasedTile) { self.tile = tile }
}

func frameHandle(_ handle: OpaquePointer?) throws(Failure) -> FrameHandle<TileFrame> {
    try object(handle, as: FrameHandle<TileFrame>.self, "frame")
}

/// See `tilecache.h`.
@c(tilecache_frame_release)
public func tileCacheFrameRelease(_ frame: OpaquePointer?) { _ = giveBack(frame, as: FrameHandle<TileFrame>.self) }

/// See `tilecache.h`.
@c(tilecache_frame_get_info)
public func tileCacheFrameGetInfo(
    _ frame: OpaquePointer?,
    _ info: UnsafeMutablePointer<tilecache_frame_info>?
) -> tilecache_status {
    attempt(on: try frameHandle(frame).frame) { frame throws(Failure) in
        var fields = tilecache_frame_info()
        fields.placement_count = frame.count
        fields.appeared_count = frame.appeared.count
        fields.disappeared_count = frame.disappeared.count
        fields.missing_tile_count = frame.missingTileCount
        fields.unavailable_count = frame.unavailable.count
        fields.late_count = frame.late.count
        fields.coarsened_layer_count = frame.coarsened.count
        fields.left_out_tile_count = frame.leftOutTileCount
        let shares = frame.shares
        (fields.sharp, fields.fallback) = (shares?.sharp ?? .nan, shares?.fallback ?? .nan)
        (fields.blank, fields.deficit) = (shares?.blank ?? .nan, shares?.deficit ?? .nan)
        try write(fields, to: info, "info")
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_placements)
public func tileCacheFrameGetPlacements(
    _ frame: OpaquePointer?,
    _ placementSize: Int,
    _ placements: UnsafeMutablePointer<UnsafePointer<tilecache_placement>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: placements, "placements", count) { handle throws(Failure) in
        try checkElementSize(placementSize, of: tilecache_placement.self, "placement_size must be sizeof a placement")
        return handle.array(.placements, of: handle.frame, elementBytes: placementSize) { tilecache_placement($0) }
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_appeared)
public func tileCacheFrameGetAppeared(
    _ frame: OpaquePointer?,
    _ identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: identities, "identities", count) { handle in
        handle.array(.appeared, of: handle.frame.appeared) { tilecache_identity($0) }
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_disappeared)
public func tileCacheFrameGetDisappeared(
    _ frame: OpaquePointer?,
    _ identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: identities, "identities", count) { handle in
        handle.array(.disappeared, of: handle.frame.disappeared) { tilecache_identity($0) }
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_unavailable)
public func tileCacheFrameGetUnavailable(
    _ frame: OpaquePointer?,
    _ tileSize: Int,
    _ tiles: UnsafeMutablePointer<UnsafePointer<tilecache_unavailable_tile>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: tiles, "tiles", count) { handle throws(Failure) in
        let rule = "tile_size must be sizeof an unavailable tile"
        try checkElementSize(tileSize, of: tilecache_unavailable_tile.self, rule)
        return handle.array(.unavailable, of: handle.frame.unavailable, elementBytes: tileSize) {
            tilecache_unavailable_tile($0)
        }
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_late)
public func tileCacheFrameGetLate(
    _ frame: OpaquePointer?,
    _ tileSize: Int,
    _ tiles: UnsafeMutablePointer<UnsafePointer<tilecache_late_tile>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: tiles, "tiles", count) { handle throws(Failure) in
        try checkElementSize(tileSize, of: tilecache_late_tile.self, "tile_size must be sizeof a late tile")
        return handle.array(.late, of: handle.frame.late, elementBytes: tileSize) { tilecache_late_tile($0) }
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_lease)
public func tileCacheFrameLease(
    _ frame: OpaquePointer?,
    _ index: Int,
    _ lease: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt(on: try frameHandle(frame).frame) { frame throws(Failure) in
        guard let lease else { throw .isNull("lease") }
        guard frame.indices.contains(index) else {
            throw .argument("index must be below the frame's \(frame.count) placements, not \(UInt(bitPattern: index))")
        }
        lease.pointee = makeHandle(LeaseHandle(frame[index].tile.retained()))
    }
}

/// See `tilecache.h`.
@c(tilecache_lease_get_tile)
public func tileCacheLeaseGetTile(
    _ lease: OpaquePointer?,
    _ tile: UnsafeMutablePointer<tilecache_tile>?
) -> tilecache_status {
    attempt(on: try object(lease, as: LeaseHandle.self, "lease")) { handle throws(Failure) in
        guard let tile else { throw .isNull("tile") }
        tile.pointee = tilecache_tile(handle.tile)
    }
}

extension tilecache_tile_memory: VersionedStructure {}

/// See `tilecache.h`.
@c(tilecache_lease_get_memory)
public func tileCacheLeaseGetMemory(
    _ lease: OpaquePointer?,
    _ memory: UnsafeMutablePointer<tilecache_tile_memory>?
) -> tilecache_status {
    attempt(on: try object(lease, as: LeaseHandle.self, "lease").tile.memory) { place throws(Failure) in
        var fields = tilecache_tile_memory()
        fields.range = place.rangeAddress
        fields.range_byte_count = place.rangeByteCount
        fields.slot_stride = place.slotStride
        fields.slot_index = place.slotIndex
        try write(fields, to: memory, "memory")
    }
}

/// See `tilecache.h`.
@c(tilecache_lease_release)
public func tileCacheLeaseRelease(_ lease: OpaquePointer?) { _ = giveBack(lease, as: LeaseHandle.self) }
