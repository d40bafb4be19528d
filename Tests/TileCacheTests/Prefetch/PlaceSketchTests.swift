import TestSupport
import Testing

@testable import TileCache

/// Views of places against exact counters.
@Suite(.timeLimit(.minutes(45))) struct PlaceSketchTests {
    private static func tile(_ number: Int) -> TileKey {
        TileKey(layer: 0, TileCoordinate(level: 3 + number % 9, column: number / 9 % 700, row: number / 6300))
    }

    /// A sketch of sessions that view tiles by their numbers.
    private static func sketch(_ sessions: [Set<Int>]) -> PlaceSketch {
        sessions.map { session in
            var viewed = ViewedPlaces()
            for number in session { viewed.note(tile(number)) }
            return viewed.sketch
        }
        .reduce(into: PlaceSketch(sessions: 0, counters: [UInt16](repeating: 0, count: 2 * PlaceSketch.width))) {
            $0.add($1)
        }
    }

    private static func means(_ sketch: PlaceSketch) -> [Double] {
        [sketch.counters[..<PlaceSketch.width], sketch.counters[PlaceSketch.width...]].map { row in
            Double(row.reduce(0) { $0 + Int($1) }) / Double(PlaceSketch.width)
        }
    }

    /// Few tiles: nothing collides, and only the means are subtracted.
    @Test func fewTilesAreCountedExactly() {
        let sketch = Self.sketch([[1, 2], [1, 2], [1]])
        let mean = 5.0 / 32768
        #expect(Self.means(sketch) == [mean, mean] && sketch.sessions == 3)
        #expect(sketch.estimate(of: Self.tile(1)) == 3 - mean && sketch.estimate(of: Self.tile(2)) == 2 - mean)
        #expect(sketch.estimate(of: Self.tile(3)) == -mean)
        // A profile belongs to one layer, whatever its number.
        #expect(sketch.estimate(of: TileKey(layer: 9, Self.tile(1).coordinate)) == 3 - mean)
    }

    @Test func popularityNeedsSessionsAndRisesWithViews() {
        let few = Self.sketch([[1], [1]])
        #expect(few.popularity(of: Self.tile(1)) == nil && few.popularity(of: Self.tile(2)) == nil)
        // Tile n is viewed in n of 40 sessions.
        let sketch = Self.sketch((1...40).map { Set($0...40) })
        let classes = (0...40).map { sketch.popularity(of: Self.tile($0)) ?? -1 }
        #expect(classes[0] == 0 && classes[1] > 0 && classes[40] == PlaceSketch.classes - 1)
        #expect(classes == classes.sorted())
    }

    /// Counters of 16 bits keep the shares of millions of sessions, doubled and added one by one. Popular tiles became
    /// unpopular.
    @Test func sharesOutlastTheCounters() {
        // A tile of each class, viewed in 0, 1, 2 and 8 of 16 sessions.
        let some = Self.sketch((0..<16).map { session in Set([1, 2, 8].filter { session < $0 }) })
        let shares = [0, 1, 2, 8].map { some.share(of: Self.tile($0)) * 19 / 16 }
        var many = some
        for _ in 0..<13 { many.add(many) }
        for session in 0..<1600 { many.add(Self.sketch([Set([1, 2, 8].filter { session % 16 < $0 })])) }
        #expect(many.sessions == 16 << 13 + 1600)
        for _ in 0..<30 { many.add(many) }
        for (number, share) in zip([0, 1, 2, 8], shares) {
            #expect(abs(many.share(of: Self.tile(number)) - share) < 0.003, "tile \(number)")
        }
        #expect(many.popularity(of: Self.tile(8)) == some.popularity(of: Self.tile(8)))
    }

    /// Sessions of random models, with popular and unpopular tiles. Worlds are small or large for the sketch.
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func errorsAreRareAsDocumented(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        let world = [3000, 20_000, 60_000][Int(seed) % 3]
        let (count, views) = (6 + dice.below(24), [300, 1500, 6000][dice.below(3)])
        let steepness = dice.next(from: 1, to: 4)
        var exact = [Int](repeating: 0, count: 2 * world)
        let sessions = (0..<count).map { _ in
            Set((0..<views).map { _ in Int(Double(world) * PortableMath.pow(dice.nextUnit(), steepness)) })
        }
        for session in sessions { for number in session { exact[number] += 1 } }
        let sketch = Self.sketch(sessions)
        let mean = Self.means(sketch).max() ?? 0
        var tooHigh = [0, 0, 0, 0]
        var inventedThree = 0
        for number in exact.indices {
            let estimate = sketch.estimate(of: Self.tile(number))
            // Too low by the mean at most, always.
            #expect(estimate >= Double(exact[number]) - mean - 1e-9, "seed \(seed), tile \(number)")
            for excess in 1...3 where estimate >= Double(exact[number] + excess) { tooHigh[excess] += 1 }
            if exact[number] == 0, estimate >= 3 { inventedThree += 1 }
        }
        func bound(_ excess: Int) -> Double {
            let share = mean / (mean + Double(excess))
            return share * share * Double(exact.count)
        }
        for excess in 1...3 {
            #expect(Double(tooHigh[excess]) <= bound(excess), "seed \(seed), \(excess) too many, mean \(mean)")
        }
        // Never viewed, and said to be viewed in three sessions or more.
        #expect(Double(inventedThree) <= bound(3), "seed \(seed)")
    }

    /// More tiles than counters: no place stands out, and nothing is claimed.
    @Test func aFullSketchSaysNothing() {
        let all = Set(0..<400_000)
        let sketch = Self.sketch([all, all, all])
        for number in stride(from: 0, to: 400_000, by: 997) {
            #expect(sketch.popularity(of: Self.tile(number)) == 0)
        }
    }

    @Test func viewsOfOneSessionCountOnce() {
        var (first, second) = (ViewedPlaces(), ViewedPlaces())
        for _ in 0..<3 { first.note(Self.tile(1)) }
        second.note(Self.tile(1))
        second.note(Self.tile(2))
        first.add(second)
        #expect(first.sketch == Self.sketch([[1, 2]]))
    }
}
