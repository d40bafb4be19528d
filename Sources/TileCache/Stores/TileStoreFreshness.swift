/// Times and validators of an entry, as HTTP caches use them.
///
/// They say when the entry was stored, until when it may be drawn, and how its server can renew it. Times are whole
/// seconds since 1970, UTC. A store keeps these fields and does not interpret them.
public struct TileStoreFreshness: Hashable, Sendable {
    /// Whether an entry may be drawn, and whether it must be revalidated.
    public enum State: Hashable, Sendable {
        /// May be drawn as it is.
        case fresh
        /// May be drawn while it is revalidated.
        case stale
        /// Must be revalidated before it is drawn.
        case expired
    }

    /// Largest number of UTF-8 bytes of a validator that is kept. A longer one is dropped, and so is an empty one.
    package static let longestValidator = 512

    /// Freshness of a tile that must not be stored, and of whose validity nothing is known. Stored entries are removed,
    /// and in memory the tile is valid for ever.
    public static let notStored = TileStoreFreshness(stored: 0, expires: 0, usableUntil: 0, isStorable: false)

    /// Seconds by which a stored time may be ahead of the clock. A clock that is further behind has jumped.
    package static let clockTolerance: Int64 = 60

    /// When the entry was stored or last renewed.
    public var stored: Int64
    /// When the entry stops being fresh; `nil` if never, as for tiles of a file.
    public var expires: Int64?
    /// When the entry must not be drawn any more without revalidation. Used if ``expires`` is set; `nil` stands for
    /// ``expires``.
    public var usableUntil: Int64?
    /// Validator of HTTP: `ETag`.
    public var entityTag: String?
    /// Validator of HTTP: `Last-Modified`, as the server sent it.
    public var lastModified: String?
    /// Whether stores may keep the tile. If they may not, as after `no-store` of HTTP, stored entries are removed, and the
    /// other fields say until when the tile is valid in memory. No entry of a store has this field.
    public var isStorable: Bool

    /// Creates a freshness.
    ///
    /// - Parameters:
    ///   - stored: Seconds since 1970.
    ///   - expires: Seconds since 1970. Default: never.
    ///   - usableUntil: Seconds since 1970. Default: `expires`.
    ///   - entityTag: `ETag`. Default: none.
    ///   - lastModified: `Last-Modified`. Default: none.
    ///   - isStorable: Whether stores may keep the tile. Default: true.
    public init(
        stored: Int64,
        expires: Int64? = nil,
        usableUntil: Int64? = nil,
        entityTag: String? = nil,
        lastModified: String? = nil,
        isStorable: Bool = true
    ) {
        self.stored = stored
        self.expires = expires
        self.usableUntil = usableUntil
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.isStorable = isStorable
    }

    /// Whether stores may keep the tile for ever.
    var isLasting: Bool { expires == nil && isStorable }

    /// Whether no look-up at or after a time can use an entry.
    func isUseless(at now: Int64) -> Bool { !hasValidator && state(at: now) == .expired }

    /// Whether the entry has a validator for a conditional request. A validator that is dropped does not count.
    package var hasValidator: Bool { Self.isKept(entityTag) || Self.isKept(lastModified) }

    /// Whether stores keep a validator: a part of one that is too long would not match.
    static func isKept(_ validator: String?) -> Bool {
        validator.map { 1...longestValidator ~= $0.utf8.count } ?? false
    }

    /// State at a time, in seconds since 1970.
    ///
    /// If the stored time is in the future, the clock has jumped and the lifetime is unknown: an entry that expires is
    /// then stale, never fresh, and expired if it is never stale. An entry without ``expires`` is always fresh.
    public func state(at now: Int64) -> State {
        guard let expires else { return .fresh }
        let (latest, overflow) = now.addingReportingOverflow(Self.clockTolerance)
        let hasJumped = !overflow && stored > latest
        // A lifetime of 0 has no fresh second, also if the clock goes back by one.
        if !hasJumped, now < expires, stored < expires { return .fresh }
        guard let usableUntil, usableUntil > expires else { return .expired }
        return hasJumped || now < usableUntil ? .stale : .expired
    }
}
