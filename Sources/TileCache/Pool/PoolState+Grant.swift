/// Bytes that a table may still grow by. The standard library traps where it is denied memory, so the owner of a pool asks
/// the system first, outside of its lock and ahead of need.
struct TableGrant: Sendable, Hashable {
    /// Bytes that the system was asked for and had, and nothing has taken yet.
    var bytes = 0
    /// An entry was refused because more had not been asked for.
    var wasShort = false
    /// The system has denied more than the next growth: it is asked only when that is due.
    var isScarce = false
}

extension PoolState {
    /// Whether the owner should ask the system for more, well before the table needs it.
    var wantsTableGrant: Bool {
        guard let grant = tableGrant else { return false }
        return grant.wasShort || (!grant.isScarce && grant.bytes < table.byteCount + (1 << 18))
    }

    /// Bytes to ask for: as much again as the table has and some more; where that is denied, the next growth alone.
    var tableGrantSizes: [Int] { [2 * table.byteCount + (1 << 20), table.nextGrowth] }

    /// Takes a growth of the table from what the system has been asked for; whether it covers it.
    mutating func takeGrant(_ bytes: Int) -> Bool {
        guard bytes > 0, let grant = tableGrant else { return true }
        guard bytes <= grant.bytes else {
            tableGrant?.wasShort = true
            return false
        }
        tableGrant?.bytes -= bytes
        return true
    }

    /// Enters the needed tiles that the table had no room for when the view named them.
    mutating func enterMissing(of needs: inout ViewNeeds) {
        for (index, number) in needs.entries.enumerated() where number < 0 {
            let entered = entry(for: needs.tiles[index])
            guard entered >= 0 else { return }
            noteVisit(entered)
            table[entered].needCount += 1
            needs.entries[index] = entered
        }
    }
}
