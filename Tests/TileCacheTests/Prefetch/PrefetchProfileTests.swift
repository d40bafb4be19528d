import Foundation
import TestSupport
import Testing

@testable import TileCache

/// Profiles as values: coding, damage, merging, size.
@Suite(.timeLimit(.minutes(45))) struct PrefetchProfileTests {
    /// With places, and without.
    private static let sizes = (with: 297_706, without: 166_634)

    // MARK: - Coding

    @Test(arguments: [1, 2, 3] as [UInt64]) func bytesMakeTheSameProfileAgain(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        for hasPlaces in [false, true] {
            let profile = MadeProfile.random(&dice, hasPlaces: hasPlaces)
            let bytes = profile.bytes
            #expect(bytes.count == (hasPlaces ? Self.sizes.with : Self.sizes.without))
            let again = try PrefetchProfile(bytes: bytes)
            #expect(again == profile && again.bytes == bytes, "seed \(seed)")
            #expect(again.sessions == profile.sessions && again.hasPlaces == hasPlaces)
        }
    }

    @Test func theEmptyProfileAndTheLargestAreCodedToo() throws {
        #expect(try PrefetchProfile(bytes: PrefetchProfile().bytes) == PrefetchProfile())
        let most = MadeProfile.largest
        #expect(try PrefetchProfile(bytes: most.bytes) == most)
    }

    /// The documented sizes, with the largest counts too.
    @Test func theSizeIsBounded() {
        #expect(Self.sizes.with <= 300_000 && PrefetchProfile.maximumBytes == Self.sizes.with)
        #expect(MadeProfile.largest.bytes.count == Self.sizes.with)
        #expect(PrefetchProfile().bytes.count == Self.sizes.without)
    }

    // MARK: - Damage

    private func error(of bytes: [UInt8]) -> String? {
        do throws(TileCacheError) {
            _ = try PrefetchProfile(bytes: bytes)
            return nil
        } catch {
            return error.description
        }
    }

    /// Errors name the field and what was expected.
    private func isNamed(_ error: String?) -> Bool {
        error?.wholeMatch(of: /profile: [a-z0-9 ]+: expected .+/.dotMatchesNewlines()) != nil
    }

    /// Lengths that were cut are told at once; no byte beyond them is read.
    @Test func everyLengthIsRefused() {
        var dice = SplitMix64(seed: 4)
        for hasPlaces in [false, true] {
            var bytes = MadeProfile.random(&dice, hasPlaces: hasPlaces).bytes
            var longer = bytes
            for _ in 0..<20 {
                longer.append(0)
                #expect(isNamed(error(of: longer)))
            }
            while !bytes.isEmpty {
                bytes.removeLast()
                let message = error(of: bytes)
                guard let message, message.hasPrefix("profile: "), message.contains("expected ") else {
                    Issue.record("\(bytes.count) bytes: \(message ?? "taken")")
                    return
                }
            }
        }
    }

    /// Changes each byte of the header and of the checksum, and some others. With TILECACHE_PROFILE_BYTES, changes all
    /// of them.
    @Test func everyChangedByteIsRefused() {
        let seed = UInt64(MonotonicTime.now.nanoseconds)
        var dice = SplitMix64(seed: seed)
        var bytes = MadeProfile.random(&dice, hasPlaces: false).bytes
        let (count, change) = (bytes.count, UInt8(1 + dice.below(255)))
        var places = Array(0..<64) + Array((count - 16)..<count)
        if ProcessInfo.processInfo.environment["TILECACHE_PROFILE_BYTES"] != nil {
            places = Array(0..<count)
        } else {
            for _ in 0..<100 { places.append(dice.below(count)) }
        }
        for place in places {
            bytes[place] ^= change
            let message = error(of: bytes)
            if !isNamed(message) { Issue.record("seed \(seed), byte \(place) ^ \(change): \(message ?? "taken")") }
            bytes[place] ^= change
        }
        #expect(error(of: bytes) == nil)
    }

    /// Damage that the checksum does not show: its own.
    @Test func fieldsOutOfRangeAreRefusedByName() {
        var dice = SplitMix64(seed: 5)
        let profile = MadeProfile.random(&dice, sessions: 7, hasPlaces: true)
        let bytes = profile.bytes
        let bin = 58 + 24 * 3
        func refusal(_ place: Int, _ word: UInt64, of bytes: [UInt8]) -> String? {
            error(of: MadeProfile.sealed(bytes, word, at: place))
        }
        #expect(refusal(18, 3, of: bytes) == nil)
        #expect(refusal(18, 2, of: bytes) == "profile: version: expected 3, not 2")
        #expect(refusal(18, 1, of: bytes) == "profile: version: expected 3, not 1")
        #expect(refusal(18, 0, of: bytes) == "profile: version: expected 3, not 0")
        #expect(refusal(18, .max, of: bytes) == "profile: version: expected 3, not \(UInt64.max)")
        #expect(refusal(26, 1 << 48, of: bytes) == nil)
        #expect(refusal(26, 1 << 48 + 1, of: bytes) == "profile: sessions: expected at most 2^48, not \(1 << 48 + 1)")
        for wrong in [0, CandidateBin.placedCount - 1, CandidateBin.placedCount + 1, .max] {
            #expect(
                refusal(34, UInt64(wrong), of: bytes)
                    == "profile: bins: expected \(CandidateBin.placedCount), not \(wrong)"
            )
        }
        #expect(refusal(42, 8, of: bytes) == "profile: sessions with places: expected at most 7, not 8")
        for wrong in [1, 65_535, 65_537, .max] as [UInt64] {
            #expect(refusal(50, wrong, of: bytes) == "profile: counters of places: expected 0 or 65536, not \(wrong)")
        }
        #expect(
            refusal(50, 0, of: bytes) == "profile: sessions with places: expected 0, without places, not 7"
        )
        #expect(
            refusal(42, 1, of: profile.withoutPlaces.bytes)
                == "profile: sessions with places: expected 0, without places, not 1"
        )
        #expect(
            refusal(50, 65_536, of: profile.withoutPlaces.bytes)
                == "profile: length: expected \(Self.sizes.with) bytes, not \(Self.sizes.without)"
        )
        // Events, needed and soon of the fourth bin.
        for (events, needed, soon) in [
            (.nan, 0, 0), (1, .nan, 0), (1, 1, .nan), (.infinity, 1, 1), (-1, -1, -1), (1, -1, -1), (1, 1, -1),
            (1, 2, 1),
            (2, 1, 1.5), (0x1p48 + 1, 1, 1),
        ] as [(Double, Double, Double)] {
            var changed = MadeProfile.sealed(bytes, events.bitPattern, at: bin)
            changed = MadeProfile.sealed(changed, needed.bitPattern, at: bin + 8)
            changed = MadeProfile.sealed(changed, soon.bitPattern, at: bin + 16)
            let message = error(of: changed)
            #expect(message?.hasPrefix("profile: bin 3: expected 0 <= soon <= needed <= events <= 2^48, not ") == true)
        }
        for limit in [0, 0x1p48] {
            var changed = bytes
            for place in 0..<3 { changed = MadeProfile.sealed(changed, limit.bitPattern, at: bin + 8 * place) }
            #expect(error(of: changed) == nil)
        }
    }

    /// Words of any value, under a right checksum, never trap. They are refused by name, or give a profile that has
    /// these bytes.
    @Test func randomFieldsNeverTrap() throws {
        let seed = UInt64(MonotonicTime.now.nanoseconds)
        var dice = SplitMix64(seed: seed)
        let words: [UInt64] = [0, 1, 2, 1 << 15, 1 << 16, 1 << 47, 1 << 48, 1 << 62, 1 << 63, .max]
        var taken = 0
        for round in 0..<60 {
            var bytes = MadeProfile.random(&dice, hasPlaces: dice.oneIn(2)).bytes
            for _ in 0...dice.below(2) {
                let isHeader = dice.oneIn(2)
                let place = isHeader ? 18 + 8 * dice.below(5) : 58 + dice.below(bytes.count - 58 - 24)
                bytes = MadeProfile.sealed(bytes, dice.oneIn(4) ? dice.next() : dice.element(of: words), at: place)
            }
            do throws(TileCacheError) {
                #expect(try PrefetchProfile(bytes: bytes).bytes == bytes, "seed \(seed), round \(round)")
                taken += 1
            } catch {
                #expect(isNamed(error.description), "seed \(seed), round \(round): \(error)")
            }
        }
        #expect(taken < 60)
    }

    @Test func whatIsNoProfileIsRefused() {
        #expect(error(of: []) == "profile: first bytes: expected 'TileCache profile' and a line feed")
        #expect(error(of: Array("TileCache profile\r\n".utf8)) == error(of: []))
        #expect(error(of: Array("TileCache profile\n".utf8)) == "profile: length: expected at least 74 bytes, not 18")
        #expect(error(of: [UInt8](repeating: 0, count: Self.sizes.with)) == error(of: []))
    }

    // MARK: - Merging

    private func merged(_ profiles: PrefetchProfile...) -> PrefetchProfile {
        profiles.reduce(into: PrefetchProfile()) { $0.merge($1) }
    }

    @Test(arguments: [6, 7] as [UInt64]) func mergingIsASum(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        // Halves and quarters of small numbers: their sums are exact.
        let all = (0..<3).map { _ in MadeProfile.random(&dice, hasPlaces: dice.oneIn(2)) }
        let (a, b, c) = (all[0], all[1], all[2])
        #expect(merged(a, b) == merged(b, a), "seed \(seed)")
        #expect(merged(merged(a, b), c) == merged(a, merged(b, c)), "seed \(seed)")
        #expect(merged(a) == a && merged(a, PrefetchProfile()) == a && merged(PrefetchProfile(), a) == a)
        let sum = merged(a, b, c)
        #expect(sum.sessions == a.sessions + b.sessions + c.sessions)
        #expect(sum.hasPlaces == all.contains { $0.hasPlaces })
        #expect(sum.places?.sessions ?? 0 == all.reduce(0) { $0 + ($1.places?.sessions ?? 0) })
        for bin in [0, 17, CandidateBin.placedCount - 1] {
            #expect(sum.bins.events[bin] == a.bins.events[bin] + b.bins.events[bin] + c.bins.events[bin])
            #expect(sum.bins.needed[bin] == a.bins.needed[bin] + b.bins.needed[bin] + c.bins.needed[bin])
            #expect(sum.bins.soon[bin] == a.bins.soon[bin] + b.bins.soon[bin] + c.bins.soon[bin])
        }
        for place in [0, 999, 65_535] {
            let counts = all.map { Int($0.places?.counters[place] ?? 0) }
            #expect(Int(sum.places?.counters[place] ?? 0) == counts.reduce(0, +))
        }
        #expect(merged(a, b).withoutPlaces == merged(a.withoutPlaces, b.withoutPlaces))
    }

    /// The order of merges shows in the last digits only. Without the rounding of sums there would be no order.
    @Test func theOrderMattersInTheLastDigitsAlone() {
        var dice = SplitMix64(seed: 8)
        var all = (0..<4).map { _ in MadeProfile.random(&dice, hasPlaces: true, isExact: false) }
        let first = all.reduce(into: PrefetchProfile()) { $0.merge($1) }
        all.reverse()
        let second = all.reduce(into: PrefetchProfile()) { $0.merge($1) }
        #expect(first.places == second.places && first.sessions == second.sessions)
        for bin in first.bins.events.indices {
            #expect(abs(first.bins.events[bin] - second.bins.events[bin]) <= 1e-12 * first.bins.events[bin])
        }
    }

    @Test func sumsStopAtTheirMaximum() throws {
        func profile(sessions: Int, events: Double, counter: UInt16) -> PrefetchProfile {
            var bins = BinCounts(count: CandidateBin.placedCount)
            (bins.events[5], bins.needed[5], bins.soon[5]) = (events, events / 2, events / 4)
            var counters = [UInt16](repeating: 0, count: 2 * PlaceSketch.width)
            counters[9] = counter
            return PrefetchProfile(
                sessions: sessions,
                bins: bins,
                places: PlaceSketch(sessions: sessions, counters: counters)
            )
        }
        let most = 1 << 48
        let one = profile(sessions: 1, events: 1, counter: 1)
        let below = merged(profile(sessions: most - 2, events: Double(most - 2), counter: 65_535), one)
        #expect(below.sessions == most - 1 && below.bins.events[5] == Double(most - 1))
        #expect(below.places?.counters[9] == 65_535 && below.places?.sessions == most - 1)
        let full = merged(below, one)
        #expect(full.sessions == most && full.bins.events[5] == Double(most) && full.places?.counters[9] == 65_535)
        #expect(full.places?.sessions == most)
        // Beyond it counts stay, and so do the probabilities.
        for beyond in [merged(full, one), merged(one, full), merged(full, full), merged(full, full, full)] {
            #expect(beyond.sessions == most && beyond.places?.sessions == most && beyond.places?.counters[9] == 65_535)
            #expect(beyond.bins.events[5] == Double(most))
            #expect(abs(beyond.bins.needed[5] / Double(most) - 0.5) < 1e-12)
            #expect(abs(beyond.bins.soon[5] / Double(most) - 0.25) < 1e-12)
            #expect(try PrefetchProfile(bytes: beyond.bytes) == beyond)
        }
        // A bin in which everything was needed at once stays one.
        var always = MadeProfile.largest
        always.merge(MadeProfile.largest)
        #expect(always == MadeProfile.largest)
    }

    /// 1,024 sessions are no longer than one.
    @Test func manySessionsTakeTheRoomOfOne() throws {
        var dice = SplitMix64(seed: 9)
        var all = PrefetchProfile()
        for _ in 0..<8 { all.merge(MadeProfile.random(&dice, sessions: 1, hasPlaces: true)) }
        for _ in 0..<7 { all.merge(all) }
        #expect(all.sessions == 1024 && all.bytes.count == Self.sizes.with)
        #expect(try PrefetchProfile(bytes: all.bytes) == all)
    }

    // MARK: - Places

    @Test func withoutPlacesNoneAreSaved() throws {
        var dice = SplitMix64(seed: 10)
        let profile = MadeProfile.random(&dice, hasPlaces: true)
        let other = PrefetchProfile(
            sessions: profile.sessions,
            bins: profile.bins,
            places: MadeProfile.random(&dice, hasPlaces: true).places
        )
        #expect(profile.bytes != other.bytes && profile.withoutPlaces.bytes == other.withoutPlaces.bytes)
        let read = try PrefetchProfile(bytes: profile.withoutPlaces.bytes)
        #expect(!read.hasPlaces && read.bins == profile.bins && read.sessions == profile.sessions)
        // One that is merged brings its places along.
        #expect(merged(read, profile).places == profile.places)
    }
}
