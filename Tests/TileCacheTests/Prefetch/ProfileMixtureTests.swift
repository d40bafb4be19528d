import Foundation
import TestSupport
import Testing

@testable import TileCache

/// Compares the weights of a profile with an update written out. Tests how soon a wrong profile has lost its say.
@Suite struct ProfileMixtureTests {
    private typealias Pair = (needed: Double, soon: Double)

    /// Fixed share over two predictors, sample by sample, with dictionaries of counts.
    private struct Reference {
        struct Counts {
            var events = 0.0, needed = 0.0, soon = 0.0

            mutating func add(_ weight: Double, _ wasNeeded: Bool, _ wasSoon: Bool) {
                events += weight
                needed += wasNeeded ? weight : 0
                soon += wasSoon ? weight : 0
            }

            /// The mean of a prior, worth a number of samples, and these.
            func mean(_ prior: Pair, worth: Double) -> Pair {
                ((prior.needed * worth + needed) / (worth + events), (prior.soon * worth + soon) / (worth + events))
            }
        }

        let profile: BinCounts
        /// Samples of the session, by bin without place.
        var plain: [Int: Counts] = [:]
        /// Of the prediction with popularity, by kind.
        var weights: [Int: Double] = [:]

        private func counts(ofProfile bin: Int) -> Counts {
            Counts(events: profile.events[bin], needed: profile.needed[bin], soon: profile.soon[bin])
        }

        /// Probability with odds multiplied by those of a place, and divided by those of any place.
        private func shifted(_ probability: Double, _ there: Double, _ anywhere: Double) -> Double {
            func odds(_ probability: Double) -> Double {
                let inside = Swift.min(Swift.max(probability, 0.0005), 0.9995)
                return inside / (1 - inside)
            }
            let odds = odds(probability) * (odds(there) / odds(anywhere))
            return odds / (1 + odds)
        }

        func predictions(_ bin: Int) -> (without: Pair, with: Pair) {
            let bare = bin % CandidateBin.count
            let prior = (needed: BinPriors.standard.needed[bare], soon: BinPriors.standard.soon[bare])
            let mine = plain[bare] ?? Counts()
            let cold = mine.mean(prior, worth: 30)
            guard bin >= CandidateBin.count else { return (cold, cold) }
            let all = counts(ofProfile: bare)
            let anywhere = all.mean(prior, worth: 30)
            let there = counts(ofProfile: bin).mean(anywhere, worth: 30)
            // Popular places have the last two bins.
            let known = mine.mean(anywhere, worth: min(30 + all.events, 120))
            let base = bare >= CandidateBin.count - 2 ? known : cold
            let needed = shifted(base.needed, there.needed, anywhere.needed)
            return (base, (needed, min(shifted(base.soon, there.soon, anywhere.soon), needed)))
        }

        func kind(_ bin: Int) -> Int { CandidateBin.kind(bin % CandidateBin.count).rawValue }

        func share(_ bin: Int) -> Double { weights[kind(bin)] ?? 0.5 }

        func likelihood(_ bin: Int) -> Pair {
            let (without, with) = predictions(bin)
            let weight = share(bin)
            let needed = (1 - weight) * without.needed + weight * with.needed
            let soon = (1 - weight) * without.soon + weight * with.soon
            return kind(bin) == 2 ? (needed, soon) : (max(needed, without.needed), max(soon, without.soon))
        }

        mutating func count(_ bin: Int, weight: Double, wasNeeded: Bool, wasSoon: Bool) {
            func given(_ probability: Double, _ happened: Bool) -> Double {
                let inside = probability < 0.01 ? 0.01 : probability > 0.99 ? 0.99 : probability
                return happened ? inside : 1 - inside
            }
            func chance(_ pair: Pair) -> Double {
                pow(given(pair.needed, wasNeeded) * given(pair.soon, wasSoon), weight)
            }
            let (without, with) = predictions(bin)
            if without != with {
                let (first, second) = ((1 - share(bin)) * chance(without), share(bin) * chance(with))
                weights[kind(bin)] = second / (first + second) * 0.999 + 0.0005
            }
            plain[bin % CandidateBin.count, default: Counts()].add(weight, wasNeeded, wasSoon)
        }

        mutating func forget() {
            for (key, counts) in plain {
                plain[key] = Counts(
                    events: counts.events * 0.995,
                    needed: counts.needed * 0.995,
                    soon: counts.soon * 0.995
                )
            }
        }
    }

    /// Bins of four kinds. A pan straight ahead of a moving view, one behind a view at rest, a zoom in, and a popular
    /// tile.
    private static let pan = CandidateBin.pan(isMoving: true, .ahead, reach: 1, distance: 2, isSeen: false)
    private static let behind = CandidateBin.pan(isMoving: false, .behind, reach: 0, distance: 6, isSeen: false)
    private static let zoom = CandidateBin.zoom(step: 3, .never, distance: 0, isSeen: false)
    private static let popular = CandidateBin.popular(isSeen: false)

    private static func placed(_ bin: Int) -> Int { CandidateBin.placed(bin, 3) }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func weightsFollowFixedShare(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        let profile = MadeProfile.random(&dice, hasPlaces: false).bins
        var table = ProbabilityTable(profile: profile)
        var reference = Reference(profile: profile)
        let bins = [Self.pan, Self.behind, Self.zoom, Self.popular]
        for step in 0..<600 {
            let bin = dice.element(of: bins) + dice.below(1 + PlaceSketch.classes) * CandidateBin.count
            let (found, expected) = (table.likelihood(bin), reference.likelihood(bin))
            guard abs(found.needed - expected.needed) < 1e-9, abs(found.soon - expected.soon) < 1e-9 else {
                Issue.record("seed \(seed), step \(step), bin \(bin): \(found), not \(expected)")
                return
            }
            let wasNeeded = dice.nextUnit() < (bin % 2 == 0 ? 0.8 : 0.1)
            let (weight, wasSoon) = ([0.25, 1, 1][dice.below(3)], wasNeeded && dice.oneIn(2))
            table.count(bin, weight: weight, wasNeeded: wasNeeded, wasSoon: wasSoon)
            reference.count(bin, weight: weight, wasNeeded: wasNeeded, wasSoon: wasSoon)
            if dice.oneIn(5) {
                table.forget()
                reference.forget()
            }
        }
        // Nothing was ever given up, so that it can be regained.
        for weight in reference.weights.values { #expect(weight >= 0.0005 && weight <= 0.9995) }
        #expect(reference.weights.count == CandidateBin.kinds)
    }

    /// No bin is less likely than without a profile, whatever the session did.
    @Test(arguments: [5, 6, 7] as [UInt64]) func pansAndZoomsAreNeverLessLikely(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var table = ProbabilityTable(profile: MadeProfile.random(&dice, hasPlaces: false).bins)
        var cold = ProbabilityTable()
        for _ in 0..<300 {
            let plain = dice.below(CandidateBin.popular(isSeen: false))
            let bin = CandidateBin.placed(plain, dice.below(PlaceSketch.classes))
            let (with, without) = (table.likelihood(bin), cold.likelihood(plain))
            #expect(with.needed >= without.needed && with.soon >= without.soon, "seed \(seed), bin \(bin)")
            #expect(with.needed <= 1 && with.soon <= with.needed, "seed \(seed), bin \(bin)")
            let wasNeeded = dice.oneIn(2)
            table.count(bin, weight: 1, wasNeeded: wasNeeded, wasSoon: false)
            cold.count(plain, weight: 1, wasNeeded: wasNeeded, wasSoon: false)
        }
    }

    /// Without places a profile changes nothing.
    @Test func binsWithoutPlacesAreAsWithoutAProfile() {
        var dice = SplitMix64(seed: 8)
        let table = ProbabilityTable(profile: MadeProfile.random(&dice, hasPlaces: false).bins)
        for bin in 0..<CandidateBin.count { #expect(table.likelihood(bin) == ProbabilityTable().likelihood(bin)) }
    }

    /// Every tile of each popularity is needed, or none is.
    private func certain(_ isNeeded: Bool) -> BinCounts {
        MadeProfile.uniform(events: 1e6, needed: isNeeded ? 1e6 : 0, soon: isNeeded ? 1e6 : 0, placedOnly: true)
    }

    /// A profile that says the contrary of what happens loses its say. After a few samples it has a tenth.
    @Test func aContradictingProfileIsDroppedAtOnce() {
        for bin in [Self.behind, Self.zoom, Self.popular].map(Self.placed) {
            var table = ProbabilityTable(profile: certain(true))
            var reference = Reference(profile: certain(true))
            let before = table.likelihood(bin).needed
            for _ in 0..<4 {
                table.count(bin, weight: 1, wasNeeded: false, wasSoon: false)
                reference.count(bin, weight: 1, wasNeeded: false, wasSoon: false)
            }
            #expect(before > 0.4 && table.likelihood(bin).needed < 0.15 && reference.share(bin) < 0.1, "bin \(bin)")
        }
    }

    /// A right profile is believed within a few samples. One that was wrong for long is believed again.
    @Test func aProfileThatPredictsBetterIsBelieved() {
        let bin = Self.placed(Self.behind)
        var table = ProbabilityTable(profile: certain(true))
        func count(_ isNeeded: Bool, times: Int) {
            for _ in 0..<times { table.count(bin, weight: 1, wasNeeded: isNeeded, wasSoon: isNeeded) }
        }
        count(true, times: 3)
        #expect(table.likelihood(bin).needed > 0.9)
        count(false, times: 300)
        #expect(table.likelihood(bin).needed < 0.05)
        count(true, times: 20)
        var cold = ProbabilityTable()
        for (isNeeded, times) in [(true, 3), (false, 300), (true, 20)] {
            for _ in 0..<times { cold.count(Self.behind, weight: 1, wasNeeded: isNeeded, wasSoon: isNeeded) }
        }
        #expect(table.likelihood(bin).needed > 1.5 * cold.likelihood(Self.behind).needed)
    }

    /// Pans say nothing about zooms or popular places.
    @Test func weightsOfKindsAreSeparate() {
        var table = ProbabilityTable(profile: certain(true))
        let others = [Self.zoom, Self.popular].map(Self.placed)
        let before = others.map { table.likelihood($0) }
        for _ in 0..<50 { table.count(Self.placed(Self.pan), weight: 1, wasNeeded: false, wasSoon: false) }
        #expect(others.map { table.likelihood($0) } == before)
    }
}
