import TestSupport

@testable import TileCache

/// Profiles for tests.
enum MadeProfile {
    /// A random profile with samples in every other bin.
    ///
    /// - Parameter isExact: Whether counts are quarters of small numbers, whose sums are exact.
    static func random(
        _ dice: inout SplitMix64,
        sessions: Int? = nil,
        hasPlaces: Bool,
        isExact: Bool = true
    ) -> PrefetchProfile {
        let sessions = sessions ?? 1 + dice.below(1000)
        var bins = BinCounts(count: CandidateBin.placedCount)
        for bin in bins.events.indices where dice.oneIn(2) {
            let counts = (0..<3).map { _ in isExact ? Double(dice.below(4000)) / 4 : 1000 * dice.nextUnit() }.sorted()
            (bins.soon[bin], bins.needed[bin], bins.events[bin]) = (counts[0], counts[1], counts[2])
        }
        guard hasPlaces else { return PrefetchProfile(sessions: sessions, bins: bins, places: nil) }
        var counters = [UInt16](repeating: 0, count: 2 * PlaceSketch.width)
        for place in counters.indices { counters[place] = UInt16(truncatingIfNeeded: dice.below(sessions + 1)) }
        return PrefetchProfile(
            sessions: sessions,
            bins: bins,
            places: PlaceSketch(sessions: sessions, counters: counters)
        )
    }

    /// All counts at their maximum.
    static var largest: PrefetchProfile {
        var bins = BinCounts(count: CandidateBin.placedCount)
        for bin in bins.events.indices {
            (bins.events[bin], bins.needed[bin], bins.soon[bin]) = (0x1p48, 0x1p48, 0x1p48)
        }
        let counters = [UInt16](repeating: .max, count: 2 * PlaceSketch.width)
        return PrefetchProfile(
            sessions: 1 << 48,
            bins: bins,
            places: PlaceSketch(sessions: 1 << 48, counters: counters)
        )
    }

    /// Replaces a little-endian word, and the checksum.
    static func sealed(_ bytes: [UInt8], _ word: UInt64, at place: Int) -> [UInt8] {
        var bytes = bytes
        func put(_ word: UInt64, at place: Int) {
            for shift in 0..<8 { bytes[place + shift] = UInt8(truncatingIfNeeded: word >> UInt64(8 * shift)) }
        }
        put(word, at: place)
        let check = SipHash128.hash(Array(bytes.dropLast(16)))
        put(check.0, at: bytes.count - 16)
        put(check.1, at: bytes.count - 8)
        return bytes
    }

    /// Equal samples in all bins, or in placed ones only.
    static func uniform(events: Double, needed: Double, soon: Double, placedOnly: Bool = false) -> BinCounts {
        var bins = BinCounts(count: CandidateBin.placedCount)
        for bin in (placedOnly ? CandidateBin.count : 0)..<CandidateBin.placedCount {
            (bins.events[bin], bins.needed[bin], bins.soon[bin]) = (events, needed, soon)
        }
        return bins
    }
}

extension BinCounts {
    /// Whether there are no samples.
    var isEmpty: Bool { events.allSatisfy { $0 == 0 } }
}
