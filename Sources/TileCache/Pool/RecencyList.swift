/// A list of entries, most recently used first, linked through the entries themselves.
struct RecencyList {
    private(set) var head: Int32 = -1
    private(set) var tail: Int32 = -1
    private(set) var count = 0
    /// Raised whenever an entry comes to the front: who has touched some entries and finds the same number again knows
    /// that they still are the first ones in the same order.
    private(set) var version: UInt64 = 0

    mutating func pushFront(_ number: Int32, in table: borrowing EntryTable) {
        table[number].previous = -1
        table[number].next = head
        if head >= 0 { table[head].previous = number } else { tail = number }
        head = number
        count += 1
        version &+= 1
    }

    /// Puts an entry at the cold end.
    mutating func pushBack(_ number: Int32, in table: borrowing EntryTable) {
        table[number].next = -1
        table[number].previous = tail
        if tail >= 0 { table[tail].next = number } else { head = number }
        tail = number
        count += 1
    }

    mutating func remove(_ number: Int32, in table: borrowing EntryTable) {
        let previous = table[number].previous
        let next = table[number].next
        if previous >= 0 { table[previous].next = next } else { head = next }
        if next >= 0 { table[next].previous = previous } else { tail = previous }
        table[number].previous = -1
        table[number].next = -1
        count -= 1
    }

    @inline(__always)
    mutating func moveToFront(_ number: Int32, in table: borrowing EntryTable) {
        guard head != number else { return }
        remove(number, in: table)
        pushFront(number, in: table)
    }
}
