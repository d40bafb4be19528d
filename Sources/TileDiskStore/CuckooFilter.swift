import TileCache

/// Approximate set of numbers, without false negatives.
///
/// A cuckoo filter (Fan et al., 2014) with fingerprints of 12 bits, 4 a bucket. About one of 500 absent numbers is a
/// false positive. The second bucket of a fingerprint is computed by a difference, not by an exclusive or: the number
/// of buckets need not be a power of two.
struct CuckooFilter {
    private static let bucketBytes = 6
    private static let longestChain = 500

    /// Places for fingerprints.
    let capacity: Int
    private(set) var count = 0
    private let buckets: Int
    private var bytes: [UInt8]
    private var random = SplitMix64(seed: 0)

    /// Makes room for some numbers and a quarter more, at 1.9 bytes a number.
    init(expecting count: Int) {
        buckets = max(count / 16 * 5, 256)
        capacity = buckets * 4
        bytes = [UInt8](repeating: 0, count: buckets * Self.bucketBytes)
    }

    /// Memory of the fingerprints.
    var byteCount: Int { bytes.count }

    /// Whether far fewer numbers are left than there is room for.
    var isSparse: Bool { count < capacity / 4 * 3 - 4096 }

    /// Adds a number that is not in the set; `false` if there is no room. The set is then unusable.
    mutating func insert(_ number: UInt64) -> Bool {
        var (fingerprint, bucket) = place(number)
        count += 1
        if replace(0, with: fingerprint, in: bucket) { return true }
        bucket = other(bucket, fingerprint)
        for _ in 0..<Self.longestChain {
            if replace(0, with: fingerprint, in: bucket) { return true }
            let slot = Int(random.next() & 3)
            let moved = self[bucket, slot]
            self[bucket, slot] = fingerprint
            fingerprint = moved
            bucket = other(bucket, fingerprint)
        }
        return false
    }

    /// Removes a number, which must have been added: another number may have the same fingerprint.
    mutating func remove(_ number: UInt64) {
        let (fingerprint, bucket) = place(number)
        if replace(fingerprint, with: 0, in: bucket) || replace(fingerprint, with: 0, in: other(bucket, fingerprint)) {
            count -= 1
        }
    }

    /// Whether a number may have been added.
    func contains(_ number: UInt64) -> Bool {
        let (fingerprint, bucket) = place(number)
        let second = other(bucket, fingerprint)
        for slot in 0..<4 where self[bucket, slot] == fingerprint || self[second, slot] == fingerprint { return true }
        return false
    }

    private func place(_ number: UInt64) -> (fingerprint: UInt16, bucket: Int) {
        let hash = SplitMix64.mixed(number)
        return (max(UInt16(truncatingIfNeeded: hash & 0xFFF), 1), Int(((hash >> 32) * UInt64(buckets)) >> 32))
    }

    private func other(_ bucket: Int, _ fingerprint: UInt16) -> Int {
        let sum = Int(SplitMix64.mixed(UInt64(fingerprint)) >> 32) % buckets
        return sum >= bucket ? sum - bucket : sum - bucket + buckets
    }

    private mutating func replace(_ old: UInt16, with new: UInt16, in bucket: Int) -> Bool {
        for slot in 0..<4 where self[bucket, slot] == old {
            self[bucket, slot] = new
            return true
        }
        return false
    }

    /// Two fingerprints share three bytes.
    private subscript(bucket: Int, slot: Int) -> UInt16 {
        get {
            let at = bucket * Self.bucketBytes + slot / 2 * 3
            return slot & 1 == 0
                ? UInt16(bytes[at]) | UInt16(bytes[at + 1] & 0x0F) << 8
                : UInt16(bytes[at + 1] >> 4) | UInt16(bytes[at + 2]) << 4
        }
        set {
            let at = bucket * Self.bucketBytes + slot / 2 * 3
            if slot & 1 == 0 {
                bytes[at] = UInt8(truncatingIfNeeded: newValue)
                bytes[at + 1] = bytes[at + 1] & 0xF0 | UInt8(truncatingIfNeeded: newValue >> 8)
            } else {
                bytes[at + 1] = bytes[at + 1] & 0x0F | UInt8(truncatingIfNeeded: newValue << 4)
                bytes[at + 2] = UInt8(truncatingIfNeeded: newValue >> 4)
            }
        }
    }
}
