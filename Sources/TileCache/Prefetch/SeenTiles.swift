/// Visited tiles, with visits and last need; the tile least recently needed is forgotten first.
struct SeenTiles: Sendable {
    /// Maximum number of tiles; a power of two.
    let capacity: Int
    /// Maximum number of needed tiles to learn from at once.
    var maximumNeeded: Int { min(1024, capacity / 2) }

    struct Record {
        var key: TileKey
        var visits = 0
        /// Number of demands when it was last in view.
        var lastNeeded = 0
        /// Last change of the needed tiles after which it was in view.
        var neededAt = -1
        var isLinked = false
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private(set) var records: [Record] = []
    private var index = TileIndex()
    /// Ends of the list of records, the last needed first.
    private var head: Int32 = -1
    private var tail: Int32 = -1

    /// - Parameter capacity: a power of two.
    init(capacity: Int = 4096) { self.capacity = capacity }

    var byteCount: Int { records.count * MemoryLayout<Record>.stride + index.byteCount }

    func find(_ key: TileKey) -> Int? { index.find(key) }

    /// Returns the record of a tile, creating it if necessary.
    mutating func record(_ key: TileKey) -> Int {
        if let slot = index.find(key) { return slot }
        let slot: Int
        if records.count < capacity {
            slot = records.count
            records.append(Record(key: key))
        } else {
            slot = max(Int(tail), 0)
            unlink(slot)
            index.remove(records[slot].key)
            records[slot] = Record(key: key)
        }
        index.set(key, slot)
        return slot
    }

    /// Notes that a tile is in view.
    mutating func note(_ slot: Int, change: Int, isDemand: Bool, demands: Int) {
        if isDemand, records[slot].visits == 0 || demands - records[slot].lastNeeded > VisitClass.demandsOfAVisit {
            records[slot].visits += 1
        }
        records[slot].neededAt = change
        records[slot].lastNeeded = demands
        unlink(slot)
        link(slot)
    }

    private mutating func link(_ slot: Int) {
        records[slot].isLinked = true
        records[slot].previous = -1
        records[slot].next = head
        if head >= 0 { records[Int(head)].previous = Int32(slot) } else { tail = Int32(slot) }
        head = Int32(slot)
    }

    private mutating func unlink(_ slot: Int) {
        guard records[slot].isLinked else { return }
        let (previous, next) = (records[slot].previous, records[slot].next)
        if previous >= 0 { records[Int(previous)].next = next } else { head = next }
        if next >= 0 { records[Int(next)].previous = previous } else { tail = previous }
        records[slot].isLinked = false
    }
}
