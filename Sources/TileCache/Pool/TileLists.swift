/// A tier of resident tiles, as eviction sees it.
enum Tier: Int {
    case decoded
    /// Compressed tiles that take pages.
    case compressed
    /// Compressed tiles of a single colour. They take nothing but an entry each: evicting them makes no room for others.
    case solid
}

/// The evictable tiles of layers that eviction treats alike: those without a share of their own, or one with.
struct EvictionGroup {
    /// A layer with a share of its own, or -1 for all others.
    var layer: Int
    /// By tier.
    var lists = [RecencyList](repeating: RecencyList(), count: 3)
}

/// The lists of the pool's entries. Eviction looks at the tiles that it may take and at no others, so its cost does not
/// depend on how many are needed, leased, pinned or guaranteed.
struct TileLists {
    private(set) var groups = [EvictionGroup(layer: -1)]
    private var freeGroups: [Int] = []
    /// Resident tiles that views need, and such that pins hold: the last resort of a trim and of a lowered limit.
    private(set) var needed = RecencyList()
    private(set) var pinned = RecencyList()
    /// Tiles that are leased or being moved between the tiers.
    private(set) var held = RecencyList()
    /// Pinned tiles that are to be loaded: those that are not resident, and outdated ones.
    private(set) var missingPins = RecencyList()
    private(set) var stalePins = RecencyList()
    /// Absent and failed tiles that nothing needs.
    private(set) var remembered = RecencyList()

    /// The group of a new layer.
    mutating func group(for share: LayerShare, layer: Int) -> Int {
        guard share != .all else { return 0 }
        let group = freeGroups.popLast() ?? groups.count
        groups.put(EvictionGroup(layer: layer), at: group)
        return group
    }

    /// Frees the group of a layer that is gone; it has no tiles.
    mutating func remove(group: Int) {
        if group > 0 { freeGroups.append(group) }
    }

    /// A list of tiles that are not evictable.
    func list(_ name: EntryList) -> RecencyList {
        switch name {
        case .needed: needed
        case .pinned: pinned
        case .held: held
        case .missingPin: missingPins
        case .stalePin: stalePins
        case .remembered: remembered
        case .free, .idle, .decoded, .compressed, .solid: RecencyList()
        }
    }

    /// The entry of a list that is not evictable that has been there the longest, or -1.
    func tail(of name: EntryList) -> Int32 { list(name).tail }
    func count(of name: EntryList) -> Int { list(name).count }

    mutating func remove(_ number: Int32, in table: borrowing EntryTable, _ layers: [PoolLayer]) {
        change(number, in: table, layers) { $0.remove(number, in: $1) }
    }

    mutating func insert(_ number: Int32, in table: borrowing EntryTable, _ layers: [PoolLayer]) {
        change(number, in: table, layers) { list, table in
            // Order counts for eviction alone.
            if table[number].list.isEvictable {
                list.insert(number, in: table)
            } else {
                list.pushFront(number, in: table)
            }
        }
    }

    /// Moves an entry that was just used to the front, if it is evictable.
    @inline(__always)
    mutating func moveToFront(_ number: Int32, in table: borrowing EntryTable, _ layers: [PoolLayer]) {
        guard table.pointer(number).pointee.list.isEvictable else { return }
        change(number, in: table, layers) { $0.moveToFront(number, in: $1) }
    }

    /// Moves a needed, pinned or held tile to the front of its list, so that a walk from the tail comes to others.
    mutating func rotate(_ number: Int32, in table: borrowing EntryTable) {
        change(number, in: table, []) { $0.moveToFront(number, in: $1) }
    }

    @inline(__always)
    private mutating func change(
        _ number: Int32,
        in table: borrowing EntryTable,
        _ layers: [PoolLayer],
        _ body: (inout RecencyList, borrowing EntryTable) -> Void
    ) {
        let entry = table.pointer(number)
        switch entry.pointee.list {
        case .free, .idle: return
        case .decoded: body(&groups[layers[entry.pointee.key.layer].group].lists[0], table)
        case .compressed: body(&groups[layers[entry.pointee.key.layer].group].lists[1], table)
        case .solid: body(&groups[layers[entry.pointee.key.layer].group].lists[2], table)
        case .needed: body(&needed, table)
        case .pinned: body(&pinned, table)
        case .held: body(&held, table)
        case .missingPin: body(&missingPins, table)
        case .stalePin: body(&stalePins, table)
        case .remembered: body(&remembered, table)
        }
    }
}

extension EntryList {
    var isEvictable: Bool { self == .decoded || self == .compressed || self == .solid }
}

/// How many tiles are resident in which way; kept up to date, so that asking costs the same for any number of tiles.
struct TileCounts: Sendable, Hashable {
    var decoded = 0
    var compressed = 0
    /// Of the compressed ones, those of a single colour.
    var solid = 0
    /// Resident tiles that were never drawn.
    var unseen = 0
    var unseenPrefetched = 0
    /// Decoded tiles that are pinned, and the bytes of their slots.
    var pinned = 0
    var pinnedBytes = 0

    /// Counts a resident tile in (1) or out (-1).
    mutating func count(_ entry: Entry, slotBytes: Int, by sign: Int) {
        if entry.residency.isDecoded {
            decoded += sign
            if entry.flags.contains(.floor) {
                pinned += sign
                pinnedBytes += sign * slotBytes
            }
        }
        if entry.residency.isCompressed {
            compressed += sign
            if entry.form.isSolid { solid += sign }
        }
        guard entry.residency.isResident, !entry.flags.contains(.seen) else { return }
        unseen += sign
        if entry.flags.contains(.prefetched) { unseenPrefetched += sign }
    }

    /// A resident tile is drawn for the first time.
    mutating func noteSeen(_ entry: Entry) {
        guard entry.residency.isResident else { return }
        unseen -= 1
        if entry.flags.contains(.prefetched) { unseenPrefetched -= 1 }
    }
}

extension PoolState {
    /// Changes what is known of a tile, and with it the counts and its list.
    ///
    /// Everything that decides whether a tile is resident, evictable or pinned changes in here.
    @discardableResult
    @inline(__always)
    mutating func change<Result>(_ number: Int32, _ body: (inout Entry) -> Result) -> Result {
        let slotBytes = slotBytes(ofLayer: table[number].key.layer)
        tiles.count(table[number], slotBytes: slotBytes, by: -1)
        let result = body(&table[number])
        tiles.count(table[number], slotBytes: slotBytes, by: 1)
        relist(number)
        return result
    }

    /// Puts an entry on the list that it belongs on.
    @inline(__always)
    mutating func relist(_ number: Int32) {
        let wanted = table.pointer(number).pointee.wantedList
        guard wanted != table.pointer(number).pointee.list else { return }
        lists.remove(number, in: table, layers)
        table[number].list = wanted
        lists.insert(number, in: table, layers)
    }
}
