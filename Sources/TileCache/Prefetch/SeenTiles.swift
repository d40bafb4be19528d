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
        var visitClass: Int8 = -1
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private struct List {
        var head: Int32 = -1
        var tail: Int32 = -1
    }

    /// A tile that has left the view.
    private struct Departure {
        var slot: Int
        var lastNeeded: Int
    }

    private(set) var records: [Record] = []
    private var index = TileIndex()
    /// By visit class, the last needed first.
    private var lists = [List](repeating: List(), count: VisitClass.count)
    private var departures: [Departure] = []
    private var firstDeparture = 0
    private var endOfDepartures = 0
    /// By age, the next departure that has not reached its end.
    private var cursors = [Int](repeating: 0, count: VisitClass.ages - 1)

    /// - Parameter capacity: a power of two.
    init(capacity: Int = 4096) { self.capacity = capacity }

    var byteCount: Int {
        records.count * MemoryLayout<Record>.stride + departures.count * MemoryLayout<Departure>.stride
            + index.byteCount
    }

    func find(_ key: TileKey) -> Int? { index.find(key) }

    /// Returns the record of a tile, creating it if necessary.
    mutating func record(_ key: TileKey) -> Int {
        if let slot = index.find(key) { return slot }
        let slot: Int
        if records.count < capacity {
            slot = records.count
            records.append(Record(key: key))
        } else {
            slot = oldest()
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

    /// Notes that a tile has left the view.
    mutating func depart(_ slot: Int, demands: Int) {
        records[slot].lastNeeded = demands
        if endOfDepartures - firstDeparture == capacity { firstDeparture += 1 }
        let departure = Departure(slot: slot, lastNeeded: demands)
        if departures.count < capacity {
            departures.append(departure)
        } else {
            departures[endOfDepartures & (capacity - 1)] = departure
        }
        endOfDepartures += 1
    }

    /// Tiles that have reached a new age class without being in view again, and their classes.
    mutating func grow(demands: Int) -> [(slot: Int, age: Int)] {
        var grown: [(slot: Int, age: Int)] = []
        var bound = 16
        for age in cursors.indices {
            cursors[age] = max(cursors[age], firstDeparture)
            while cursors[age] < endOfDepartures {
                let departure = departures[cursors[age] & (capacity - 1)]
                let isBack = records[departure.slot].lastNeeded != departure.lastNeeded
                if !isBack, demands - departure.lastNeeded <= bound { break }
                cursors[age] += 1
                if !isBack { grown.append((departure.slot, age + 1)) }
            }
            bound *= 2
        }
        return grown
    }

    /// Calls `body` with the tiles of a visit class, the last needed first, until it returns false.
    func forEach(visitClass: Int, _ body: (Int) -> Bool) {
        var slot = lists[visitClass].head
        while slot >= 0, body(Int(slot)) { slot = records[Int(slot)].next }
    }

    /// Bin of a tile by age and visits.
    func bin(_ slot: Int, demands: Int) -> Int {
        CandidateBin.visited(
            age: VisitClass.age(ofDemands: demands - records[slot].lastNeeded),
            visitClass: VisitClass.of(visits: records[slot].visits)
        )
    }

    private func oldest() -> Int {
        var oldest = -1
        for list in lists where list.tail >= 0 {
            let slot = Int(list.tail)
            if oldest < 0 || records[slot].lastNeeded < records[oldest].lastNeeded { oldest = slot }
        }
        return max(oldest, 0)
    }

    private mutating func link(_ slot: Int) {
        let visitClass = VisitClass.of(visits: records[slot].visits)
        let head = lists[visitClass].head
        records[slot].visitClass = Int8(visitClass)
        records[slot].previous = -1
        records[slot].next = head
        if head >= 0 { records[Int(head)].previous = Int32(slot) } else { lists[visitClass].tail = Int32(slot) }
        lists[visitClass].head = Int32(slot)
    }

    private mutating func unlink(_ slot: Int) {
        guard records[slot].visitClass >= 0 else { return }
        let record = records[slot]
        let visitClass = Int(record.visitClass)
        if record.previous >= 0 {
            records[Int(record.previous)].next = record.next
        } else {
            lists[visitClass].head = record.next
        }
        if record.next >= 0 {
            records[Int(record.next)].previous = record.previous
        } else {
            lists[visitClass].tail = record.previous
        }
        records[slot].visitClass = -1
    }
}
