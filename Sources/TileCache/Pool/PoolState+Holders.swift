/// Who keeps a tile's entry and its pixels, however little it is worth.
enum Holder {
    /// A view needs the tile.
    case view
    /// A host has requested it, as visible or for its margin.
    case request(isMargin: Bool)
    /// It is pinned.
    case pin
}

/// Holders of tiles, and what plans have to do for them.
extension PoolState {
    /// Enters a tile for a holder. None if the table has no room: the holder waits for the next plan, which tries again.
    mutating func enter(_ key: TileKey, for holder: Holder) -> EntryID {
        let number = entry(for: key)
        if number != .none { keep(number, for: holder) }
        return number
    }

    /// Adds a holder to a tile.
    mutating func keep(_ number: EntryID, for holder: Holder) {
        switch holder {
        case .view:
            noteVisit(number)
            noteKept(number)
            change(number) {
                $0.needCount += 1
                $0.viewCount += 1
            }
            noteExpiry(of: number)
        case .request(let isMargin):
            if !isMargin { noteLatePrefetch(number) }
            relist(number) { $0.needCount += 1 }
        case .pin:
            hold.spend()
            guard !table[number].flags.contains(.pinned) else { return }
            noteKept(number)
            change(number) { $0.flags.insert(.pinned) }
            noteDemand()
        }
    }

    /// Removes a holder from a tile.
    mutating func letGo(_ number: EntryID, by holder: Holder) {
        guard number != .none else { return }
        switch holder {
        case .view:
            change(number) {
                $0.needCount -= 1
                $0.viewCount -= 1
            }
        case .request: relist(number) { $0.needCount -= 1 }
        case .pin:
            hold.spend()
            change(number) { $0.flags.remove(.pinned) }
        }
        forgetIfIdle(number)
    }

    /// Declares that a decoded tile is about to be needed or pinned.
    private mutating func noteKept(_ number: EntryID) {
        let entry = table.pointer(number)
        if !entry.pointee.isKept, entry.pointee.residency.isDecoded { effects.keepsMore = true }
    }

    /// Whether a tile is neither resident, absent nor failed.
    func wantsLoad(_ key: TileKey) -> Bool {
        guard let entry = table[key] else { return true }
        return !entry.residency.isResident && entry.flags.isDisjoint(with: [.absent, .failed])
    }

    /// Maximum pinned tiles of a plan; the next ones are planned once these have had their turn.
    static let pinsOfAPlan = 256

    /// Pinned tiles to load: missing ones, then outdated ones, in the order of pinning.
    var pinsToLoad: [TileKey] {
        var keys: [TileKey] = []
        for list in [EntryList.missingPin, .stalePin] {
            var number = table.lists.tail(of: list)
            while number != .none, keys.count < Self.pinsOfAPlan {
                keys.append(table[number].key)
                number = table[number].previous
            }
        }
        return keys
    }
}
