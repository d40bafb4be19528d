public import CTileCache
internal import TileCache

extension tilecache_freshness: VersionedStructure {
    package static var defaults: tilecache_freshness {
        var freshness = tilecache_freshness()
        freshness.stored = TileCache.Configuration(byteLimit: .mebibytes(64)).wallClock()
        freshness.expires = .max
        return freshness
    }

    init(_ freshness: TileStoreFreshness) {
        self.init()
        stored = freshness.stored
        expires = freshness.expires ?? .max
        usable_until = freshness.usableUntil ?? 0
        Self.write(freshness.entityTag, to: &entity_tag)
        Self.write(freshness.lastModified, to: &last_modified)
    }

    func freshness() throws(Failure) -> TileStoreFreshness {
        // The other fields have no meaning then.
        guard expires != .min else { return .notStored }
        return TileStoreFreshness(
            stored: stored,
            expires: expires == .max ? nil : expires,
            usableUntil: usable_until == 0 ? nil : usable_until,
            entityTag: try Self.text(entity_tag, "entity_tag"),
            lastModified: try Self.text(last_modified, "last_modified")
        )
    }

    /// Reads a validator; `nil` if it is empty.
    private static func text<Characters>(_ characters: Characters, _ name: String) throws(Failure) -> String? {
        let bytes = withUnsafeBytes(of: characters) { Array($0.prefix { $0 != 0 }) }
        let longest = TileStoreFreshness.longestValidator
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
            throw .argument("freshness->\(name) must be UTF-8, at most \(longest) bytes and a NUL")
        }
        return text.isEmpty ? nil : text
    }

    /// Writes a validator that fits.
    ///
    /// None is written if it is too long or contains a NUL, which would change it.
    private static func write<Characters>(_ text: String?, to characters: inout Characters) {
        guard let text, text.utf8.count < MemoryLayout<Characters>.size, !text.utf8.contains(0) else { return }
        withUnsafeMutableBytes(of: &characters) { $0.copyBytes(from: text.utf8) }
    }
}

/// Writes the freshness of a stored tile, if there is one.
private func write(
    _ stored: TileStoreFreshness?,
    to cached: UnsafeMutablePointer<tilecache_freshness>?,
    _ isCached: UnsafeMutablePointer<Int32>?
) throws(Failure) {
    guard let isCached else { throw .isNull("is_cached") }
    guard let cached else { throw .isNull("cached") }
    // Also if nothing is written, or a wrong size would be an error of some tiles only.
    try checkSize(cached.pointee.struct_size, of: "cached")
    if let stored { try write(tilecache_freshness(stored), to: cached, "cached") }
    isCached.pointee = stored == nil ? 0 : 1
}

/// See `tilecache.h`.
@c(tilecache_freshness_init)
public func tileCacheFreshnessInit(
    _ freshness: UnsafeMutablePointer<tilecache_freshness>?,
    _ structSize: Int
) -> tilecache_status {
    initialize(freshness, size: structSize, "freshness")
}

/// See `tilecache.h`.
@c(tilecache_pixels_get_cached)
public func tileCachePixelsGetCached(
    _ pixels: UnsafePointer<tilecache_pixels>?,
    _ cached: UnsafeMutablePointer<tilecache_freshness>?,
    _ isCached: UnsafeMutablePointer<Int32>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let target = pixels?.pointee.internal else { throw .isNull("pixels") }
        try write(target.assumingMemoryBound(to: TilePixels.self).pointee.cached, to: cached, isCached)
    }
}

/// See `tilecache.h`.
@c(tilecache_pixels_set_freshness)
public func tileCachePixelsSetFreshness(
    _ pixels: UnsafeMutablePointer<tilecache_pixels>?,
    _ freshness: UnsafePointer<tilecache_freshness>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        guard let target = pixels?.pointee.internal else { throw .isNull("pixels") }
        let value = try read(freshness, "freshness").freshness()
        target.assumingMemoryBound(to: TilePixels.self).pointee.freshness = value
    }
}

/// See `tilecache.h`.
@c(tilecache_request_get_cached)
public func tileCacheRequestGetCached(
    _ request: OpaquePointer?,
    _ cached: UnsafeMutablePointer<tilecache_freshness>?,
    _ isCached: UnsafeMutablePointer<Int32>?
) -> tilecache_status {
    attempt { () throws(Failure) in
        try write(try requestHandle(request).request.cached, to: cached, isCached)
    }
}

/// See `tilecache.h`.
@c(tilecache_request_set_freshness)
public func tileCacheRequestSetFreshness(
    _ request: OpaquePointer?,
    _ freshness: UnsafePointer<tilecache_freshness>?
) -> tilecache_status {
    attempt(on: try requestHandle(request)) { handle throws(Failure) in
        let value = try read(freshness, "freshness").freshness()
        guard !handle.isOver else { throw .alreadyCompleted }
        handle.freshness = value
    }
}
