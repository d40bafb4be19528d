/// What stores below memory change in the pool.
extension PoolState {
    /// Whether a view or a request needs a tile.
    func isNeeded(_ key: TileKey) -> Bool { table[key].map { $0.needCount > 0 } ?? false }

    /// Whether a tile has current pixels, or is known to be absent.
    func hasLanded(_ key: TileKey, _ result: LoadResult) -> Bool {
        let number = table.find(key)
        guard number != .none, !mayBeOutdated(number) else { return false }
        return result == .absent ? table[number].flags.contains(.absent) : table[number].residency.isResident
    }

    /// Marks pixels that have landed with a flag that neither the counts nor the list depend on.
    mutating func mark(_ key: TileKey, _ flag: EntryFlags) {
        let number = table.find(key)
        guard number != .none, table[number].residency.isResident else { return }
        table.note(number) { $0.flags.insert(flag) }
    }

    func isUnsaved(_ key: TileKey) -> Bool { table[key]?.flags.contains(.unsaved) ?? false }

    /// Leases a decoded, current tile that is given to stores; `nil` if it is not.
    mutating func leaseToSave(_ key: TileKey) -> LeaseToken? {
        let number = table.find(key)
        guard number != .none, table[number].residency == .decoded, !mayBeOutdated(number) else { return nil }
        lease(number)
        return token(of: number, layer: key.layer)
    }
}
