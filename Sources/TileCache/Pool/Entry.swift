/// Flags of a tile.
struct EntryFlags: OptionSet {
    let rawValue: UInt16
    /// Outdated by an invalidation; drawn until new pixels land.
    static let stale = EntryFlags(rawValue: 1)
    /// Drawn exactly at least once since its load.
    static let seen = EntryFlags(rawValue: 2)
    /// Loaded before it was needed.
    static let prefetched = EntryFlags(rawValue: 4)
    static let pinned = EntryFlags(rawValue: 8)
    /// The source reported that the tile does not exist.
    static let absent = EntryFlags(rawValue: 16)
    /// The last load failed; not retried before `retryAt`.
    static let failed = EntryFlags(rawValue: 32)
    /// The source's payload is smaller than the compressed block.
    static let encodedIsSmaller = EntryFlags(rawValue: 64)
    /// The last load was refused memory; not retried before `retryAt`, nor without that memory.
    static let refused = EntryFlags(rawValue: 128)
    /// Waits to be given to stores until it is drawn.
    static let unsaved = EntryFlags(rawValue: 256)
    /// Made of other tiles, of which some failed for good. What is made of it counts as such too.
    static let holes = EntryFlags(rawValue: 512)
    /// Expires at `retryAt`. Not needed, it may have expired already.
    static let expires = EntryFlags(rawValue: 1024)
    /// Stale since it has expired while it was needed. Its load is a revalidation.
    static let expired = EntryFlags(rawValue: 2048)
    /// Was awaited (`Entry.isAwaited`) when the entry was last listed. Kept by the table.
    static let awaited = EntryFlags(rawValue: 4096)
    /// Was being loaded for a view, a request or a pin when the entry was last listed. Kept by the table.
    static let loadAwaited = EntryFlags(rawValue: 8192)

    /// Flags kept without pixels.
    static let remembered: EntryFlags = [.absent, .failed, .refused]
    /// Flags removed together with the pixels.
    static let ofPixels: EntryFlags = [
        .seen, .prefetched, .stale, .encodedIsSmaller, .unsaved, .holes, .expires, .expired,
    ]
    /// Flags about what plans have to do for the tile.
    static let ofDemand: EntryFlags = [.awaited, .loadAwaited]
    /// Flags about the time until which a tile is valid.
    static let ofExpiry: EntryFlags = [.expires, .expired]
}

/// List of an entry; each entry is on exactly one.
enum EntryList: UInt8, CaseIterable {
    /// Not in use.
    case free
    /// On no list: not resident, and no pin waits for it.
    case idle
    /// Evictable.
    case decoded
    /// Evictable; takes pages.
    case compressed
    /// Evictable, of a single colour. It takes only an entry, so its eviction frees nothing else.
    case solid
    /// Resident and needed by a view, leased or not.
    case needed
    /// Resident and pinned, leased or not.
    case pinned
    /// Leased but neither needed nor pinned, or being moved between the tiers.
    case held
    /// Pinned, and missing or outdated.
    case missingPin
    case stalePin
    /// Known to be absent, failed or refused, and not needed: may be forgotten.
    case remembered

    var isEvictable: Bool { self == .decoded || self == .compressed || self == .solid }
}

/// Identifies an entry of the table.
struct EntryID: Hashable, Sendable {
    let number: Int32
    static var none: EntryID { EntryID(number: -1) }
}

/// Identifies a slot among those of its size.
struct SlotID: Hashable, Sendable {
    let number: Int32
    static var none: SlotID { SlotID(number: -1) }
}

/// State of one tile in the pool.
struct Entry {
    // First, and in 64 bytes, what searches and plans read of many tiles.
    var key: TileKey
    /// Next entry of the same index chain, or next free one of the page.
    var chained = EntryID.none
    /// Slot with the decoded pixels.
    var slot = SlotID.none
    var residency: Residency = .none
    var list: EntryList = .idle
    var flags: EntryFlags = []
    var leaseCount: Int32 = 0
    /// Number of views and requests that need the tile.
    var needCount: Int32 = 0
    /// Load in flight.
    var load = LoadID.none
    /// Links of its list, most recently used first.
    var previous = EntryID.none
    var next = EntryID.none
    /// Epoch of the plan that set `value`; values of other plans do not count.
    var planEpoch: UInt32 = 0
    /// Worth of keeping the tile, according to the plan.
    var value: Float = 0
    /// Value of `demandClock` when it was last needed.
    var lastDemand: UInt32 = 0
    /// Known number of visits; 0 if it was never needed.
    var visits: UInt8 = 0
    var attempts: UInt8 = 0
    /// Pages refused to the last load in addition to its slot.
    var refusedPages: UInt16 = 0

    /// Generation of the pixels.
    var generation: UInt32 = 0
    /// Index among the needs of the last view that needed the tile. It may be out of date: see `index(of:in:)`.
    var needIndex: Int32 = -1
    /// Order of uses; larger is later.
    var stamp: UInt64 = 0
    /// Compressed form.
    var form = ColdForm.none
    /// Identifies the compression or decompression under way; 0 for none.
    var work: UInt32 = 0
    /// Number of views that need the tile.
    var viewCount: Int32 = 0
    /// Earliest retry of a failed or refused tile, or the time when a current one expires, in nanoseconds.
    var retryAt: Int64 = 0
    /// Time when it was last drawn or landed, in nanoseconds.
    var lastUse: Int64 = 0

    init(key: TileKey) { self.key = key }

    /// Whether its pixels are not evictable.
    var isInUse: Bool { isKept || leaseCount > 0 }
    /// Whether its pixels are not evictable, leased or not.
    var isKept: Bool { needCount > 0 || flags.contains(.pinned) }
    /// Whether it takes room for a view, or will. What a pinned tile has does not count.
    var takesRoomForViews: Bool {
        viewCount > 0 && !isUnavailable && !(flags.contains(.pinned) && residency.isDecoded)
    }
    /// Whether it failed for good.
    var isLost: Bool { flags.contains(.failed) && retryAt == .max }
    /// Whether it can be drawn or is known to be absent, and is therefore valid until a time.
    var hasAnswer: Bool { residency.isDecoded || (residency == .none && flags.contains(.absent)) }
    /// Whether it has no pixels, and no load will bring any.
    var isUnavailable: Bool { !residency.isResident && (isLost || flags.contains(.absent)) }
    /// Whether a view, a request or a pin waits for its pixels and nothing is under way: the next plan has to see to it.
    /// What has failed or was refused has a time of its own.
    var isAwaited: Bool {
        guard isKept, load == .none else { return false }
        if residency == .compressed, needCount > 0 { return true }
        guard flags.isDisjoint(with: [.failed, .refused]) else { return false }
        return flags.contains(.stale) || (residency == .none && !flags.contains(.absent))
    }
    /// What plans have to do for it, as flags.
    var demand: EntryFlags { isAwaited ? .awaited : isKept && load != .none ? .loadAwaited : [] }
    /// What policies see of it.
    var state: TileResidency {
        TileResidency(
            residency: residency,
            isKnown: true,
            isLoading: load != .none,
            isUnavailable: isUnavailable
        )
    }
    /// Whether removing the entry would lose no state.
    var isForgettable: Bool {
        residency == .none && load == .none && !isInUse
    }

    var wantedList: EntryList {
        guard residency != .none else {
            if isForgettable { return flags.isDisjoint(with: .remembered) ? .idle : .remembered }
            let isWanted = flags.contains(.pinned) && load == .none && !flags.contains(.absent)
            return isWanted && !isLost ? .missingPin : .idle
        }
        if residency != .decoded, residency != .compressed { return .held }
        if flags.contains(.pinned) {
            return flags.contains(.stale) && load == .none && !isLost ? .stalePin : .pinned
        }
        if needCount > 0 { return .needed }
        if leaseCount > 0 { return .held }
        return residency == .decoded ? .decoded : form.isSolid ? .solid : .compressed
    }
}
