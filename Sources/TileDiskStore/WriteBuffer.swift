import TileCache

/// A copy of an entry that is to be written.
final class PendingWrite: @unchecked Sendable {
    // Immutable after init.
    let key: TileStoreKey
    let generation: UInt64
    let header: [UInt8]
    let payload: UnsafeRawBufferPointer
    let checksum: UInt64
    /// Microseconds.
    let cost: Int

    /// Copies an entry; `nil` if it is not valid.
    init?(_ entry: TileStoreEntry, cost: Int) {
        checksum = entry.payloadChecksum
        guard let header = entry.encodedHeader(payloadByteCount: entry.payload.count, checksum: checksum) else {
            return nil
        }
        key = entry.key
        generation = entry.generation
        self.header = header
        self.cost = cost
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(entry.payload.count, 1), alignment: 16)
        if let source = entry.payload.baseAddress {
            copy.baseAddress?.copyMemory(from: source, byteCount: entry.payload.count)
        }
        payload = UnsafeRawBufferPointer(rebasing: copy[..<entry.payload.count])
    }

    deinit { payload.baseAddress?.deallocate() }

    /// Bytes of header and payload.
    var byteCount: Int { header.count + payload.count }
}

/// Entries that wait to be written, bounded in bytes, the oldest first.
struct WriteBuffer {
    /// Bytes that an entry takes beside its own.
    private static let overhead = 256
    private static let mostRenewals = 1024

    /// Bytes of entries. One that is larger than that is taken if it is alone.
    var capacity: Int
    /// Bytes of all entries, those being written included.
    private(set) var byteCount = 0
    private var waiting: [TileStoreKey: PendingWrite] = [:]
    private var order: [TileStoreKey] = []
    private var first = 0
    /// Places in the order before the first that is in the array.
    private var passed = 0
    private var writing: [TileStoreKey: PendingWrite] = [:]
    private var writingBytes = 0
    private var renewals: [TileStoreKey: TileStoreFreshness] = [:]

    init(capacity: Int) { self.capacity = capacity }

    /// Whether there is nothing to write.
    var isEmpty: Bool { waiting.isEmpty && renewals.isEmpty }

    /// Places in the order that have been given to entries, and that have been taken.
    var lastPlace: Int { passed + order.count }
    var takenPlaces: Int { passed + first }

    /// Bytes that an entry takes in the buffer.
    static func size(of write: PendingWrite) -> Int { write.byteCount + overhead }

    /// The newest copy of an entry that is not written yet.
    func write(of key: TileStoreKey) -> PendingWrite? { waiting[key] ?? writing[key] }

    /// Whether an entry of some bytes may be added, or replace one of its key that waits.
    func hasRoom(for bytes: Int, of key: TileStoreKey) -> Bool {
        let others = byteCount - waitingBytes(of: key)
        return others == 0 || others + bytes <= capacity
    }

    private func waitingBytes(of key: TileStoreKey) -> Int { waiting[key].map(Self.size) ?? 0 }

    /// Whether what waits fills more than half of the buffer.
    var isHalfFull: Bool { byteCount - writingBytes > capacity / 2 }

    /// Adds or replaces the entry of a key; `false` if there is no room.
    mutating func add(_ write: PendingWrite) -> Bool {
        guard hasRoom(for: Self.size(of: write), of: write.key) else { return false }
        byteCount += Self.size(of: write) - waitingBytes(of: write.key)
        if waiting.updateValue(write, forKey: write.key) == nil { order.append(write.key) }
        // A renewal was of the older entry.
        renewals[write.key] = nil
        return true
    }

    /// Adds a renewal, unless there are too many.
    mutating func renew(_ key: TileStoreKey, _ freshness: TileStoreFreshness) {
        if renewals.count < Self.mostRenewals || renewals[key] != nil { renewals[key] = freshness }
    }

    /// Removes an entry that is not being written.
    mutating func remove(where isRemoved: (TileStoreKey) -> Bool) {
        for key in order[first...] where isRemoved(key) {
            if let write = waiting.removeValue(forKey: key) { byteCount -= Self.size(of: write) }
        }
        for key in renewals.keys where isRemoved(key) { renewals[key] = nil }
    }

    /// Takes the oldest entries for writing, at least one if there is any.
    ///
    /// They are found until ``finish()``. The renewals are those of entries that do not wait any more; they are for
    /// after the writes.
    mutating func take(bytes: Int) -> (writes: [PendingWrite], renewals: [TileStoreKey: TileStoreFreshness]) {
        var taken: [PendingWrite] = []
        var sum = 0
        while first < order.count, sum < bytes {
            if let write = waiting.removeValue(forKey: order[first]) {
                taken.append(write)
                writing[write.key] = write
                writingBytes += Self.size(of: write)
                sum += write.byteCount
            }
            first += 1
        }
        if first == order.count || first > 4096 {
            order.removeFirst(first)
            passed += first
            first = 0
        }
        let ready = renewals.filter { waiting[$0.key] == nil }
        for key in ready.keys { renewals[key] = nil }
        return (taken, ready)
    }

    /// Releases what was taken.
    mutating func finish() {
        byteCount -= writingBytes
        (writing, writingBytes) = ([:], 0)
    }
}
