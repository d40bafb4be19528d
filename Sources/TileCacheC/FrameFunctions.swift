public import CTileCache
internal import Synchronization
internal import TileCache

extension tilecache_frame_info: VersionedStructure {
    package static var defaults: tilecache_frame_info { tilecache_frame_info() }
}

/// What `tilecache_frame` stands for: a frame, and the arrays that were asked of it.
final class FrameHandle: Sendable {
    let frame: TileFrame
    /// Made when they are asked for; several where programs of several versions ask.
    private let arrays = Lock<[Array: UInt]>([:])

    /// Which array, and how long its elements are.
    private struct Array: Hashable {
        var content: Content
        var elementBytes: Int
    }

    private enum Content { case placements, appeared, disappeared }

    init(_ frame: TileFrame) { self.frame = frame }

    deinit {
        for address in arrays.withLock({ $0.values }) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    func placements(elementBytes: Int) -> UnsafeRawPointer? {
        array(Array(content: .placements, elementBytes: elementBytes), count: frame.count) { index in
            let placement = frame[index]
            return tilecache_placement(
                tile: tilecache_tile(placement.tile),
                world: tilecache_rectangle(placement.worldRectangle),
                part: tilecache_rectangle(placement.tileRectangle),
                is_exact: placement.isExact ? 1 : 0,
                reserved: 0
            )
        }
    }

    func appeared() -> UnsafeRawPointer? { identities(.appeared, frame.appeared) }
    func disappeared() -> UnsafeRawPointer? { identities(.disappeared, frame.disappeared) }

    private func identities(_ content: Content, _ list: [TileIdentity]) -> UnsafeRawPointer? {
        array(Array(content: content, elementBytes: MemoryLayout<tilecache_identity>.size), count: list.count) {
            tilecache_identity(list[$0])
        }
    }

    private func array<Element>(_ array: Array, count: Int, element: (Int) -> Element) -> UnsafeRawPointer? {
        guard count > 0 else { return nil }
        let address = arrays.withLock { arrays -> UInt in
            if let address = arrays[array] { return address }
            let bytes = array.elementBytes
            let memory = UnsafeMutableRawPointer.allocate(byteCount: count * bytes, alignment: 16)
            for index in 0..<count { writeElement(element(index), to: memory + index * bytes, byteCount: bytes) }
            arrays[array] = UInt(bitPattern: memory)
            return UInt(bitPattern: memory)
        }
        return UnsafeRawPointer(bitPattern: address)
    }
}

/// What `tilecache_lease` stands for.
final class LeaseHandle: Sendable {
    let tile: LeasedTile

    init(_ tile: LeasedTile) { self.tile = tile }
}

private func frameHandle(_ handle: OpaquePointer?) throws(Failure) -> FrameHandle {
    try object(handle, as: FrameHandle.self, "frame")
}

/// See `tilecache.h`.
@c(tilecache_frame_release)
public func tileCacheFrameRelease(_ frame: OpaquePointer?) { _ = giveBack(frame, as: FrameHandle.self) }

/// See `tilecache.h`.
@c(tilecache_frame_get_info)
public func tileCacheFrameGetInfo(
    _ frame: OpaquePointer?,
    _ info: UnsafeMutablePointer<tilecache_frame_info>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let frame = try frameHandle(frame).frame
        var fields = tilecache_frame_info()
        fields.placement_count = frame.count
        fields.appeared_count = frame.appeared.count
        fields.disappeared_count = frame.disappeared.count
        fields.missing_tile_count = frame.missingTileCount
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
    attempt { () throws(Failure) in
        let handle = try frameHandle(frame)
        guard let placements else { throw .isNull("placements") }
        guard let count else { throw .isNull("count") }
        // Elements hold pointers and doubles: each must begin where those may lie.
        guard (MemoryLayout<tilecache_placement>.size...4096).contains(placementSize), placementSize % 8 == 0 else {
            throw .argument("placement_size must be sizeof a placement, not \(UInt(bitPattern: placementSize))")
        }
        placements.pointee = handle.placements(elementBytes: placementSize)?
            .assumingMemoryBound(to: tilecache_placement.self)
        count.pointee = handle.frame.count
    }
}

private func hand(
    _ list: (FrameHandle) -> (UnsafeRawPointer?, Int),
    of frame: OpaquePointer?,
    to identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let handle = try frameHandle(frame)
        guard let identities else { throw .isNull("identities") }
        guard let count else { throw .isNull("count") }
        let (array, number) = list(handle)
        identities.pointee = array?.assumingMemoryBound(to: tilecache_identity.self)
        count.pointee = number
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_appeared)
public func tileCacheFrameGetAppeared(
    _ frame: OpaquePointer?,
    _ identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand({ ($0.appeared(), $0.frame.appeared.count) }, of: frame, to: identities, count)
}

/// See `tilecache.h`.
@c(tilecache_frame_get_disappeared)
public func tileCacheFrameGetDisappeared(
    _ frame: OpaquePointer?,
    _ identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand({ ($0.disappeared(), $0.frame.disappeared.count) }, of: frame, to: identities, count)
}

/// See `tilecache.h`.
@c(tilecache_frame_lease)
public func tileCacheFrameLease(
    _ frame: OpaquePointer?,
    _ index: Int,
    _ lease: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let frame = try frameHandle(frame).frame
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
    attempt { () throws(Failure) in
        let handle = try object(lease, as: LeaseHandle.self, "lease")
        guard let tile else { throw .isNull("tile") }
        tile.pointee = tilecache_tile(handle.tile)
    }
}

/// See `tilecache.h`.
@c(tilecache_lease_release)
public func tileCacheLeaseRelease(_ lease: OpaquePointer?) { _ = giveBack(lease, as: LeaseHandle.self) }
