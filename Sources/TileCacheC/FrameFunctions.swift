public import CTileCache
internal import Synchronization
internal import TileCache

extension tilecache_frame_info: VersionedStructure {}

/// Object behind `tilecache_frame`: a frame and the arrays read from it.
final class FrameHandle: Sendable {
    let frame: TileFrame
    private let arrays = ElementArrays<Content>()

    private enum Content { case placements, appeared, disappeared, unavailable, late }

    init(_ frame: TileFrame) { self.frame = frame }

    func placements(elementBytes: Int) -> UnsafeRawPointer? {
        arrays.array(.placements, elementBytes, count: frame.count) { tilecache_placement(frame[$0]) }
    }

    func appeared() -> UnsafeRawPointer? { identities(.appeared, frame.appeared) }
    func disappeared() -> UnsafeRawPointer? { identities(.disappeared, frame.disappeared) }

    func unavailable(elementBytes: Int) -> UnsafeRawPointer? {
        let list = frame.unavailable
        return arrays.array(.unavailable, elementBytes, count: list.count) { index in
            tilecache_unavailable_tile(
                layer: tilecache_layer(truncatingIfNeeded: list[index].layer.serial),
                cause: tilecache_cause(list[index].cause),
                tile: tilecache_coordinate(list[index].tile),
                world: tilecache_rectangle(list[index].worldRectangle)
            )
        }
    }

    func late(elementBytes: Int) -> UnsafeRawPointer? {
        let list = frame.late
        return arrays.array(.late, elementBytes, count: list.count) { index in
            tilecache_late_tile(
                layer: tilecache_layer(truncatingIfNeeded: list[index].layer.serial),
                is_loading: list[index].isLoading ? 1 : 0,
                tile: tilecache_coordinate(list[index].tile),
                world: tilecache_rectangle(list[index].worldRectangle),
                since: list[index].since.nanoseconds
            )
        }
    }

    private func identities(_ content: Content, _ list: [TileIdentity]) -> UnsafeRawPointer? {
        arrays.array(content, MemoryLayout<tilecache_identity>.size, count: list.count) {
            tilecache_identity(list[$0])
        }
    }
}

/// Arrays that a program reads from an object, allocated as long as it exists.
///
/// Created on demand; several if programs of several versions read the object.
final class ElementArrays<Content: Hashable & Sendable>: Sendable {
    private let arrays = Lock<[Array: UInt]>([:])

    /// An array and the size of its elements.
    private struct Array: Hashable {
        var content: Content
        var elementBytes: Int
    }

    deinit {
        for address in arrays.withLock({ $0.values }) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    func array<Element>(
        _ content: Content,
        _ bytes: Int,
        count: Int,
        element: (Int) -> Element
    ) -> UnsafeRawPointer? {
        guard count > 0 else { return nil }
        let array = Array(content: content, elementBytes: bytes)
        let address = arrays.withLock { arrays -> UInt in
            if let address = arrays[array] { return address }
            let memory = UnsafeMutableRawPointer.allocate(byteCount: count * bytes, alignment: 16)
            for index in 0..<count { writeElement(element(index), to: memory + index * bytes, byteCount: bytes) }
            arrays[array] = UInt(bitPattern: memory)
            return UInt(bitPattern: memory)
        }
        return UnsafeRawPointer(bitPattern: address)
    }
}

extension tilecache_placement {
    init(_ placement: TilePlacement) {
        self.init(
            tile: tilecache_tile(placement.tile),
            world: tilecache_rectangle(placement.worldRectangle),
            part: tilecache_rectangle(placement.tileRectangle),
            is_exact: placement.isExact ? 1 : 0,
            reserved: 0
        )
    }
}

/// Object behind `tilecache_lease`.
final class LeaseHandle: Sendable {
    let tile: LeasedTile

    init(_ tile: LeasedTile) { self.tile = tile }
}

/// Checks the size of elements, which keeps their pointers and doubles aligned.
func checkElementSize<Element>(_ bytes: Int, of _: Element.Type, _ rule: String) throws(Failure) {
    guard (MemoryLayout<Element>.size...4096).contains(bytes), bytes % 8 == 0 else {
        throw .argument("\(rule), not \(UInt(bitPattern: bytes))")
    }
}

func frameHandle(_ handle: OpaquePointer?) throws(Failure) -> FrameHandle {
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
        fields.unavailable_count = frame.unavailable.count
        fields.late_count = frame.late.count
        try write(fields, to: info, "info")
    }
}

/// Returns an array of an object and its length.
func hand<Handle, Element>(
    _ handle: @autoclosure () throws(Failure) -> Handle,
    to array: UnsafeMutablePointer<UnsafePointer<Element>?>?,
    _ name: String,
    _ count: UnsafeMutablePointer<Int>?,
    _ list: (Handle) throws(Failure) -> (UnsafeRawPointer?, Int)
) -> tilecache_status {
    attempt { () throws(Failure) in
        let handle = try handle()
        guard let array else { throw .isNull(name) }
        guard let count else { throw .isNull("count") }
        let (elements, number) = try list(handle)
        array.pointee = elements?.assumingMemoryBound(to: Element.self)
        count.pointee = number
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
        return (handle.placements(elementBytes: placementSize), handle.frame.count)
    }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_appeared)
public func tileCacheFrameGetAppeared(
    _ frame: OpaquePointer?,
    _ identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: identities, "identities", count) { ($0.appeared(), $0.frame.appeared.count) }
}

/// See `tilecache.h`.
@c(tilecache_frame_get_disappeared)
public func tileCacheFrameGetDisappeared(
    _ frame: OpaquePointer?,
    _ identities: UnsafeMutablePointer<UnsafePointer<tilecache_identity>?>?,
    _ count: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    hand(try frameHandle(frame), to: identities, "identities", count) { ($0.disappeared(), $0.frame.disappeared.count) }
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
        return (handle.unavailable(elementBytes: tileSize), handle.frame.unavailable.count)
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
        return (handle.late(elementBytes: tileSize), handle.frame.late.count)
    }
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

extension tilecache_tile_memory: VersionedStructure {}

/// See `tilecache.h`.
@c(tilecache_lease_get_memory)
public func tileCacheLeaseGetMemory(
    _ lease: OpaquePointer?,
    _ memory: UnsafeMutablePointer<tilecache_tile_memory>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        let place = try object(lease, as: LeaseHandle.self, "lease").tile.memory
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
