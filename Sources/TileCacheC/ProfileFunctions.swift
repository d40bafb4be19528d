public import CTileCache
package import TileCache

/// Object behind `tilecache_profile`.
final class ProfileHandle: Sendable {
    private let value: Lock<PrefetchProfile>

    init(_ profile: PrefetchProfile) { value = Lock(profile) }

    var profile: PrefetchProfile { value.withLock { $0 } }

    func change(_ body: (inout PrefetchProfile) -> Void) { value.withLock { body(&$0) } }
}

extension tilecache_profile_info: VersionedStructure {}

private func profileHandle(_ handle: OpaquePointer?, _ name: String = "profile") throws(Failure) -> ProfileHandle {
    try object(handle, as: ProfileHandle.self, name)
}

/// The profile of a layer's options; `nil` for NULL.
package func optionalProfile(_ handle: OpaquePointer?) throws(Failure) -> PrefetchProfile? {
    handle == nil ? nil : try profileHandle(handle, "options->profile").profile
}

/// See `tilecache.h`.
@c(tilecache_profile_create)
public func tileCacheProfileCreate(
    _ bytes: UnsafeRawPointer?,
    _ byteCount: Int,
    _ profile: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let profile else { throw .isNull("profile") }
        guard byteCount != 0 else { return profile.pointee = makeHandle(ProfileHandle(PrefetchProfile())) }
        guard let bytes else { throw .isNull("bytes") }
        // More than any profile has is an error: checked before any of it is read.
        guard (1...PrefetchProfile.maximumBytes).contains(byteCount) else {
            let most = PrefetchProfile.maximumBytes
            throw .invalidProfile("profile: length: expected at most \(most) bytes, not \(UInt(bitPattern: byteCount))")
        }
        let list = [UInt8](UnsafeRawBufferPointer(start: bytes, count: byteCount))
        let made = try library { () throws(TileCacheError) in try PrefetchProfile(bytes: list) }
        profile.pointee = makeHandle(ProfileHandle(made))
    }
}

/// See `tilecache.h`.
@c(tilecache_profile_release)
public func tileCacheProfileRelease(_ profile: OpaquePointer?) { _ = giveBack(profile, as: ProfileHandle.self) }

/// See `tilecache.h`.
@c(tilecache_profile_get_bytes)
public func tileCacheProfileGetBytes(
    _ profile: OpaquePointer?,
    _ bytes: UnsafeMutableRawPointer?,
    _ capacity: Int,
    _ byteCount: UnsafeMutablePointer<Int>?
) -> tilecache_status {
    attempt(on: try profileHandle(profile).profile.bytes) { found throws(Failure) in
        if capacity != 0 {
            guard let bytes else { throw .isNull("bytes") }
            guard capacity >= found.count else {
                throw .argument("capacity must be 0, or at least \(found.count), not \(UInt(bitPattern: capacity))")
            }
            UnsafeMutableRawBufferPointer(start: bytes, count: found.count).copyBytes(from: found)
        }
        byteCount?.pointee = found.count
    }
}

/// See `tilecache.h`.
@c(tilecache_profile_get_info)
public func tileCacheProfileGetInfo(
    _ profile: OpaquePointer?,
    _ info: UnsafeMutablePointer<tilecache_profile_info>?
) -> tilecache_status {
    attempt(on: try profileHandle(profile).profile) { found throws(Failure) in
        var fields = tilecache_profile_info()
        fields.sessions = Int64(found.sessions)
        fields.has_places = found.hasPlaces ? 1 : 0
        try write(fields, to: info, "info")
    }
}

/// See `tilecache.h`.
@c(tilecache_profile_merge)
public func tileCacheProfileMerge(_ profile: OpaquePointer?, _ other: OpaquePointer?) -> tilecache_status {
    attempt(on: try profileHandle(profile)) { handle throws(Failure) in
        let added = try profileHandle(other, "other").profile
        handle.change { $0.merge(added) }
    }
}

/// See `tilecache.h`.
@c(tilecache_profile_remove_places)
public func tileCacheProfileRemovePlaces(_ profile: OpaquePointer?) -> tilecache_status {
    attempt { () throws(Failure) in try profileHandle(profile).change { $0 = $0.withoutPlaces } }
}

/// See `tilecache.h`.
@c(tilecache_get_learned_profile)
public func tileCacheGetLearnedProfile(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ profile: UnsafeMutablePointer<OpaquePointer?>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        guard let profile else { throw .isNull("profile") }
        profile.pointee = layer.learnedProfile().map { makeHandle(ProfileHandle($0)) }
    }
}
