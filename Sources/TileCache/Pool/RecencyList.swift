/// A list of entries, most recently used first. Linked through the entries and ordered by their stamps.
struct RecencyList {
    private(set) var head = EntryID.none
    private(set) var tail = EntryID.none
    private(set) var count = 0

    /// Maximum entries passed by an insertion. Beyond it the entry is listed as used a little later than it was.
    static let maximumSteps = 256

    mutating func pushFront(_ number: EntryID, in table: borrowing EntryTable) {
        table[number].previous = .none
        table[number].next = head
        if head != .none { table[head].previous = number } else { tail = number }
        head = number
        count += 1
    }

    /// Inserts an entry by its stamp. A released entry was used lately, so few are passed.
    mutating func insert(_ number: EntryID, in table: borrowing EntryTable) {
        let stamp = table[number].stamp
        var next = head
        var steps = 0
        while next != .none, table.pointer(next).pointee.stamp > stamp, steps < Self.maximumSteps {
            next = table.pointer(next).pointee.next
            steps += 1
        }
        let previous = next != .none ? table[next].previous : tail
        guard previous != .none else { return pushFront(number, in: table) }
        table[number].previous = previous
        table[number].next = next
        table[previous].next = number
        if next != .none { table[next].previous = number } else { tail = number }
        count += 1
    }

    mutating func remove(_ number: EntryID, in table: borrowing EntryTable) {
        let previous = table[number].previous
        let next = table[number].next
        if previous != .none { table[previous].next = next } else { head = next }
        if next != .none { table[next].previous = previous } else { tail = previous }
        table[number].previous = .none
        table[number].next = .none
        count -= 1
    }

    @inline(__always)
    mutating func moveToFront(_ number: EntryID, in table: borrowing EntryTable) {
        guard head != number else { return }
        remove(number, in: table)
        pushFront(number, in: table)
    }
}
