import Testing

@testable import TileCache

@Suite struct ProbabilityTableTests {
    /// A tile at rest, up to 384 pixels away: needed with .5 x .15, a tenth of that soon. The prior weighs 30 samples.
    private static let pan = CandidateBin.pan(isMoving: false, .unknown, reach: 0, distance: 5, isSeen: false)
    private static let zoom = CandidateBin.zoom(step: 3, .never, distance: 0, isSeen: false)
    private static let (needed, soon) = (0.075, 0.0075)

    /// A table with samples that all were needed soon, or not at all.
    private static func table(
        _ bin: Int,
        samples: Double,
        wasNeeded: Bool,
        caution: ProbabilityTable.Caution = .bounded
    ) -> ProbabilityTable {
        var table = ProbabilityTable()
        table.caution = caution
        table.count(bin, weight: samples, wasNeeded: wasNeeded, wasSoon: wasNeeded)
        return table
    }

    private static func isNear(_ left: Double, _ right: Double) -> Bool { abs(left - right) < 1e-12 }

    /// What 40 samples have raised counts less two standard errors.
    @Test func raisedProbabilitiesAreBounded() {
        let table = Self.table(Self.pan, samples: 40, wasNeeded: true)
        let (mean, needed) = ((30 * Self.soon + 40) / 70, (30 * Self.needed + 40) / 70)
        let bound = mean - 2 * (mean * (1 - mean) / 70).squareRoot()
        #expect(Self.isNear(table.gain(Self.pan), bound - 0.125 * (1 - needed)))
        // The loss of an eviction is that of the mean.
        #expect(Self.isNear(table.loss(Self.pan), mean + 0.3 * needed))
    }

    /// Few samples raise nothing, and none falls below its prior for that.
    @Test func aFewSamplesLeaveThePrior() {
        let table = Self.table(Self.pan, samples: 0.25, wasNeeded: true)
        let needed = (30 * Self.needed + 0.25) / 30.25
        #expect(Self.isNear(table.gain(Self.pan), Self.soon - 0.125 * (1 - needed)))
    }

    /// A tile at rest, up to 128 pixels away, is needed with .5 x .5. Of that, .4 is soon for loads of up to 50 ms, .6 as
    /// at 64 pixels for 100 ms, and .675 as at 40 pixels for 160 ms. One up to 1,024 pixels away: .03, .07 and .125.
    @Test(arguments: [
        (0.0, 0.4, 0.03), (0.04, 0.4, 0.03), (0.05, 0.4, 0.03), (0.051, 0.4, 0.03), (0.1, 0.6, 0.07),
        (0.16, 0.675, 0.125), (60, 0.775, 0.6),
    ])
    func furtherTilesAreNeededSoonDuringLongLoads(latency: Double, near: Double, far: Double) {
        var table = ProbabilityTable()
        for latency in [0.2, latency] { table.setLatency(latency) }
        for (distance, needed, share) in [(2, 0.25, near), (8, 0.01, far)] {
            let bin = CandidateBin.pan(isMoving: false, .unknown, reach: 0, distance: distance, isSeen: false)
            #expect(Self.isNear(table.gain(bin), needed * share - 0.125 * (1 - needed)), "class \(distance)")
        }
        // Zooms have no distance in time.
        #expect(table.gain(Self.zoom) == ProbabilityTable().gain(Self.zoom))
    }

    /// At half of the priors' speed, a load of 150 ms counts as one of 75 ms. Faster views are as the priors.
    @Test(arguments: [(250.0, 0.075), (125, 0.0375), (0, 0.05), (499, 0.15), (500, 0.15), (2000, 0.15)])
    func slowViewsGoLessFarDuringLongLoads(speed: Double, latency: Double) {
        var (table, other) = (ProbabilityTable(), ProbabilityTable())
        table.setLatency(0.15, speed: speed)
        other.setLatency(latency)
        for distance in 0..<CandidateBin.distances {
            let bin = CandidateBin.pan(isMoving: false, .unknown, reach: 0, distance: distance, isSeen: false)
            #expect(table.gain(bin) == other.gain(bin), "class \(distance)")
        }
    }

    /// A load of another length counts as a change, one of about the same does not.
    @Test func loadsOfTheSameLengthChangeNothing() {
        var table = ProbabilityTable()
        let first = table.valuation
        table.setLatency(0.05)
        #expect(table.valuation == first && table.byteCount == 0)
        table.setLatency(0.15)
        table.setLatency(0.151)
        #expect(table.valuation == first + 1)
        #expect(table.byteCount == CandidateBin.count * MemoryLayout<Double>.stride)
    }

    @Test func loweredProbabilitiesAndThoseOfZoomsAreMeans() {
        let lowered = Self.table(Self.pan, samples: 10, wasNeeded: false)
        #expect(Self.isNear(lowered.gain(Self.pan), 30 * Self.soon / 40 - 0.125 * (1 - 30 * Self.needed / 40)))
        for bin in [Self.pan, Self.zoom] {
            let plain = Self.table(bin, samples: 40, wasNeeded: true, caution: .none)
            let cautious = Self.table(bin, samples: 40, wasNeeded: true)
            #expect((plain.gain(bin) == cautious.gain(bin)) == (bin == Self.zoom))
        }
    }

    /// Cached worths follow the caution.
    @Test func worthsFollowTheCaution() {
        var table = Self.table(Self.pan, samples: 40, wasNeeded: true)
        let cautious = table.worth(Self.pan).gain
        table.caution = .none
        #expect(table.worth(Self.pan).gain > cautious)
        table.caution = .bounded
        #expect(table.worth(Self.pan).gain == cautious)
    }

    /// Loads that can wait: the price of a tile by its place around a view.
    @Test func patienceRaisesThePriceAroundAView() {
        func price(_ bin: Int, _ caution: ProbabilityTable.Caution) -> Double {
            var table = ProbabilityTable()
            table.caution = caution
            let likelihood = table.likelihood(bin)
            return (likelihood.soon - table.gain(bin)) / (1 - likelihood.needed)
        }
        for distance in 0..<CandidateBin.distances {
            for isSeen in [false, true] {
                for (direction, factors) in [
                    (CandidateBin.Direction.ahead, [1.0, 1, 1, 4]), (.aside, [4, 4, 4, 4]), (.behind, [4, 4, 4, 4]),
                    (.unknown, [4, 4, 4, 4]),
                ] {
                    for (reach, factor) in factors.enumerated() {
                        func bin(_ isMoving: Bool) -> Int {
                            CandidateBin.pan(
                                isMoving: isMoving,
                                direction,
                                reach: reach,
                                distance: distance,
                                isSeen: isSeen
                            )
                        }
                        #expect(Self.isNear(price(bin(true), .patient), 0.125 * factor))
                        #expect(Self.isNear(price(bin(true), .bounded), 0.125))
                        #expect(Self.isNear(price(bin(false), .patient), isSeen ? 0.15625 : 0.125))
                        #expect(Self.isNear(price(bin(false), .bounded), 0.125))
                    }
                }
            }
        }
        #expect(Self.isNear(price(Self.zoom, .patient), 0.125))
    }
}
