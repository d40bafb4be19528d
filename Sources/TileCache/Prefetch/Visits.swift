/// Tiles that a view has needed: now, and before.
struct Visits: Sendable {
    private(set) var seen: SeenTiles
    private var needed: [TileKey] = []
    /// The needed tiles as a range; `nil` if they are none, or too many to learn from.
    private(set) var shown: TileRange?
    /// Number of changes of the needed tiles.
    private(set) var change = 0
    /// Number of demands: the clock of ages and horizons.
    private(set) var demands = 0

    /// - Parameter capacity: Maximum number of tiles that are remembered; a power of two.
    init(capacity: Int) { seen = SeenTiles(capacity: capacity) }

    var byteCount: Int { seen.byteCount + needed.count * MemoryLayout<TileKey>.stride }

    // MARK: - Changes of the needed tiles

    /// Whether needed tiles are others than before.
    func isChange(_ tiles: [TileKey]) -> Bool { change == 0 || tiles != needed }

    /// Number of tiles that were not needed before; `nil` if none was.
    func newCount(of tiles: [TileKey]) -> Int? {
        guard change > 0 else { return nil }
        return tiles.prefix(seen.maximumNeeded).count { key in
            !(shown?.contains(key.coordinate) ?? isNeeded(slot(of: key)))
        }
    }

    /// Takes over the needed tiles after a change. Returns those that are demanded: needed now, but not before.
    mutating func take(_ tiles: [TileKey]) -> [TileKey] {
        change += 1
        var demanded: [TileKey] = []
        for key in tiles.prefix(seen.maximumNeeded) {
            let slot = seen.record(key)
            let isDemand = seen.records[slot].neededAt != change - 1
            if isDemand {
                demands += 1
                demanded.append(key)
            }
            seen.note(slot, change: change, isDemand: isDemand, demands: demands)
        }
        needed = tiles
        shown = tiles.count <= seen.maximumNeeded ? TileRange(tiles.lazy.map(\.coordinate)) : nil
        return demanded
    }

    // MARK: - Records

    /// Record of a tile if it was visited, or -1.
    @inline(__always)
    func slot(of key: TileKey) -> Int { seen.find(key) ?? -1 }

    /// Whether the tile of a record is needed. No record: no.
    @inline(__always)
    func isNeeded(_ slot: Int) -> Bool { slot >= 0 && seen.records[slot].neededAt == change }

    /// Whether the tile of a record was visited more than once. No record: no.
    func isRevisited(_ slot: Int) -> Bool { slot >= 0 && seen.records[slot].visits > 1 }

    /// An entry of a plan, with the visits of its tile and its age.
    ///
    /// - Parameter slot: Record of the tile, or -1.
    func entry(_ key: TileKey, value: Float, slot: Int) -> PlanEntry {
        var entry = PlanEntry(key: key, value: value, reason: .prefetch)
        if slot >= 0 {
            entry.visits = UInt8(min(seen.records[slot].visits, 255))
            entry.age = Int32(clamping: demands - seen.records[slot].lastNeeded)
        }
        return entry
    }

    // MARK: - Candidates of the last plan

    /// Whether the candidates of the last plan still have the records of their visits.
    struct Kept {
        /// Whether all have.
        fileprivate(set) var areAll: Bool
        /// Whether those candidates still have them whose records no other tile has taken. After one change of the
        /// needed tiles, only these can have new records, and none is asked for if they are left out as a range.
        fileprivate var mayBe: Bool
    }

    /// - Parameter former: Number of the change of the needed tiles when the candidates were found.
    func kept(since former: Int) -> Kept {
        let areAll = former == change
        return Kept(areAll: areAll, mayBe: areAll || (shown != nil && former == change - 1))
    }

    /// Record of a tile if it was visited, or -1.
    ///
    /// - Parameter former: The tile as a candidate of the last plan, if it was one.
    @inline(__always)
    func slot(of key: TileKey, as former: Candidates.Candidate?, _ kept: Kept) -> Int {
        guard let former, kept.mayBe else { return slot(of: key) }
        let slot = Int(former.slot)
        return slot < 0 || kept.areAll || seen.records[slot].key == key ? slot : self.slot(of: key)
    }
}
