/// Order and grouping of reads from one file. Pure, so that it can be tested without a server.
///
/// Reads wait while all connections are busy, and for others that begin with them (``RangeGathering``). Then near ones of the
/// same urgency become one request. What a view needs goes first, in order of arrival.
struct RangeQueue {
    struct Read: Equatable {
        var id: Int
        var range: Range<Int>
        var isDemand: Bool
    }

    /// Reads of one request.
    struct Group: Equatable {
        var reads: [Read]
        /// From the first byte to the last one. At most an eighth more than the reads need.
        var range: Range<Int>
    }

    /// Maximum bytes of a group of several reads.
    static let longest = 1 << 19

    private(set) var waiting: [Read] = []

    /// Whether a view needs one of the waiting reads.
    var hasDemand: Bool { waiting.contains(where: \.isDemand) }

    /// Adds a read, or puts one back; reads wait in the order of their numbers.
    mutating func add(_ read: Read) {
        let index = waiting.lastIndex { $0.id < read.id }.map { $0 + 1 } ?? 0
        waiting.insert(read, at: index)
    }

    /// Makes a waiting read one that a view needs.
    mutating func raise(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting[index].isDemand = true
    }

    /// Removes a waiting read; returns whether it was waiting.
    mutating func remove(_ id: Int) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Takes the reads of the next request; `nil` if none waits.
    mutating func next() -> Group? {
        guard let first = waiting.first(where: \.isDemand) ?? waiting.first else { return nil }
        let near = waiting.filter { $0.isDemand == first.isDemand }.sorted {
            ($0.range.lowerBound, $0.id) < ($1.range.lowerBound, $1.id)
        }
        guard let middle = near.firstIndex(of: first) else { return nil }
        var group = Group(reads: [first], range: first.range)
        var needed = first.range.count
        /// Adds a read unless the group becomes too long, or too much of it is needless.
        func join(_ read: Read) -> Bool {
            let start = min(group.range.lowerBound, read.range.lowerBound)
            let whole = start..<max(group.range.upperBound, read.range.upperBound)
            // Bytes that two reads share count once.
            let added = read.range.count - read.range.clamped(to: group.range).count
            guard whole.count <= Self.longest || whole == group.range,
                whole.count - needed - added <= (needed + added) / 8
            else { return false }
            (group.range, needed) = (whole, needed + added)
            group.reads.append(read)
            return true
        }
        for read in near[(middle + 1)...] { guard join(read) else { break } }
        for read in near[..<middle].reversed() { guard join(read) else { break } }
        let taken = Set(group.reads.map(\.id))
        waiting.removeAll { taken.contains($0.id) }
        return group
    }
}
