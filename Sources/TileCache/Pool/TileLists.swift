/// Lists of the pool's entries.
///
/// Eviction walks only evictable tiles, so its cost does not depend on how many are needed, leased or pinned.
struct TileLists {
    /// Lists by group, then by name. Group 0 has all lists that are not evictable, and the tiles of all layers without
    /// a share; each other group has the evictable tiles of one layer with a share.
    private(set) var groups = [empty]
    private static let empty = [RecencyList](repeating: RecencyList(), count: EntryList.allCases.count)
    private var freeGroups: [Int] = []

    /// Takes a group for a new layer.
    mutating func group(forShare maximum: Double) -> Int {
        guard maximum < 1 else { return 0 }
        let group = freeGroups.popLast() ?? groups.count
        groups.put(Self.empty, at: group)
        return group
    }

    /// Frees the group of a removed layer.
    mutating func remove(group: Int) {
        if group > 0 { freeGroups.append(group) }
    }

    /// Entry that has been on a list the longest, or none.
    func tail(of name: EntryList, inGroup group: Int = 0) -> EntryID { groups[group][Int(name.rawValue)].tail }
    func count(of name: EntryList) -> Int { groups[0][Int(name.rawValue)].count }

    /// Changes the list that an entry is on, if it is on one.
    @inline(__always)
    mutating func change(
        _ number: EntryID,
        in table: borrowing EntryTable,
        _ layers: borrowing PoolLayers,
        _ body: (inout RecencyList, borrowing EntryTable) -> Void
    ) {
        let entry = table.pointer(number)
        let list = entry.pointee.list
        guard list != .idle, list != .free else { return }
        body(&groups[list.isEvictable ? layers[entry.pointee.key.layer].group : 0][Int(list.rawValue)], table)
    }
}

/// Numbers of resident tiles by state, updated with each change.
struct TileCounts: Sendable, Hashable {
    var decoded = 0
    var compressed = 0
    /// Compressed tiles of a single colour.
    var solid = 0
    /// Resident tiles that were never drawn.
    var unseen = 0
    var unseenPrefetched = 0
    /// Decoded tiles that are pinned, and the bytes of their slots.
    var pinned = 0
    var pinnedBytes = 0
    /// Bytes of the blocks of compressed tiles that are pinned.
    var pinnedBlockBytes = 0
    /// Tiles that take room for views, resident or not, and the bytes of their slots. The number is for assertions, which
    /// do not know the bytes.
    var needed = 0
    var neededBytes = 0
    /// Bytes of both, which are not evictable.
    var allPinnedBytes: Int { pinnedBytes + pinnedBlockBytes }

    init() {}

    /// Counts one tile, without the bytes of its slot.
    init(of entry: Entry) { count(entry, slotBytes: 0, by: 1) }

    /// Counts a tile in (1) or out (-1).
    mutating func count(_ entry: Entry, slotBytes: Int, by sign: Int) {
        if entry.takesRoomForViews {
            needed += sign
            neededBytes += sign * slotBytes
        }
        if entry.residency.isDecoded {
            decoded += sign
            if entry.flags.contains(.pinned) {
                pinned += sign
                pinnedBytes += sign * slotBytes
            }
        }
        if entry.residency.isCompressed {
            compressed += sign
            if entry.form.isSolid { solid += sign }
            if entry.flags.contains(.pinned) { pinnedBlockBytes += sign * entry.form.byteCount }
        }
        guard entry.residency.isResident, !entry.flags.contains(.seen) else { return }
        unseen += sign
        if entry.flags.contains(.prefetched) { unseenPrefetched += sign }
    }

    /// Counts the first drawing of a resident tile.
    mutating func noteSeen(_ entry: Entry) {
        guard entry.residency.isResident else { return }
        unseen -= 1
        if entry.flags.contains(.prefetched) { unseenPrefetched -= 1 }
    }
}
