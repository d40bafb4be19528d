import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Short stress runs with every fault, and reproducible seeds.
@Suite(.timeLimit(.minutes(45))) struct StressTests {
    private func options(seconds: Double, _ faults: Set<StressFault>, seed: UInt64 = 3) -> StressOptions {
        var options = StressOptions()
        options.duration = Int64(seconds * 1e9)
        options.threads = 4
        options.faults = faults
        options.seed = seed
        return options
    }

    @Test(arguments: [Set(StressFault.allCases), []]) func nothingIsFound(faults: Set<StressFault>) throws {
        let report = try Stress(options(seconds: 1.5, faults)).run()
        #expect(report.passed, "\(report.violations)")
        #expect(report.verdict == "PASS" && !report.interrupted)
        #expect(report.tilesChecked > 0 && report.peakBytes <= report.byteLimit)
        #expect(report.operations == report.operationsByKind.values.reduce(0, +))
        #expect(Set(report.faults.keys) == Set(faults.map(\.rawValue)))
        let lines = StressText.text(report).split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    }

    @Test func aLineWithALongWordIsWrapped() {
        let word = String(repeating: "x", count: 120)
        let lines = "  rule: \(word) is \(word)".wrapped(to: 100).split(separator: "\n")
        #expect(lines.map { $0.drop { $0 == " " } } == ["rule:", "\(word) is \(word)"], "\(lines)")
    }

    /// A layer's properties depend only on the seed and its number, and every feature occurs.
    @Test func layersAreUncommon() throws {
        func pyramid(_ seed: UInt64, _ number: Int, _ features: Set<StressFeature>) throws -> StressShape {
            var random = SplitMix64(seed: seed)
            return try StressShape(tileSize: 64, wrapsX: number % 4 == 1, features: features, random: &random)
        }
        let all = Set(StressFeature.allCases)
        for seed in 0..<40 as Range<UInt64> {
            let first = try pyramid(seed, Int(seed), all)
            #expect(try pyramid(seed, Int(seed), all).pyramid == first.pyramid)
            let finest = first.pyramid.levels[first.pyramid.maximumLevel]
            #expect(finest.columns > 10 && finest.rows > 10 && finest.worldPixelsPerPixel == 1)
            #expect(Set(first.pyramid.levels.map(\.tileWidth)).count > 1)
            #expect(try pyramid(seed, Int(seed), []).pyramid.levels.allSatisfy { $0.tileWidth == 64 && $0.border == 0 })
        }
        let shapes = try (0..<40).map { try pyramid($0, 0, all) }
        #expect(Set(shapes.map(\.format)).count > 3)
        #expect(shapes.contains { $0.pyramid.levels.contains { $0.border > 0 } })
        #expect(shapes.contains { $0.pyramid.levels.contains { $0.origin.x < 0 } })
    }

    @Test func theSameSeedMakesTheSameDecisions() throws {
        // Decisions are the same with and without faults. Loads that hang would delay the end.
        var options = options(seconds: 0, [])
        options.decisions = 60
        let first = try Stress(options).run()
        #expect(first.operations == 240)
        #expect(try Stress(options).run().digests == first.digests)
        options.seed += 1
        #expect(Set(try Stress(options).run().digests).isDisjoint(with: first.digests))
        #expect(Set(first.digests).count == 4)
    }

    @Test func anInterruptedRunSaysWhatItHas() throws {
        let report = try Stress(options(seconds: 1e6, [])).run { true }
        #expect(report.passed && report.seconds < 1000)
        #expect(report.interrupted)
        let text = StressText.text(report)
        #expect(text.hasPrefix("PASS  seed 3, 4 threads") && text.contains("interrupted"))
        let json = try JSONText.of(report)
        for field in ["schema", "verdict", "operations", "faults", "violations", "byteLimit", "peakBytes", "resident"] {
            #expect(json.contains("\"\(field)\""))
        }
    }

    @Test func optionsOutOfRangeAreNamed() {
        var options = StressOptions()
        #expect(options.problem == nil)
        options.threads = 65
        #expect(options.problem?.contains("65") == true)
        options = StressOptions()
        options.byteLimit = (1 << 20) - 1
        #expect(options.problem != nil)
        options.byteLimit += 1
        #expect(options.problem == nil)
        options.duration = -1
        #expect(options.problem != nil)
    }

    @Test(
        arguments: [
            ("all", Set(StressFault.allCases)), ("none", []), ("twice,block", [.twice, .block]), ("", nil),
            ("fail,", nil),
            ("Fail", nil), ("fail,all", nil),
        ] as [(String, Set<StressFault>?)]
    ) func listsOfFaultsAreRead(text: String, faults: Set<StressFault>?) {
        #expect(StressFault.list(text) == faults)
    }
}
