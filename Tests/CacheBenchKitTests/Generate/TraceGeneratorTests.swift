import CacheBenchKit
import Foundation
import PanTraces
import Testing
import TileCache

@Suite struct TraceGeneratorTests {
    private func generator(_ preset: GesturePreset, seconds: Int64, seed: UInt64 = 1) throws -> TraceGenerator {
        var options = TraceGenerator.Options(preset: preset)
        options.duration = seconds * 1_000_000_000
        options.seed = seed
        return try TraceGenerator(options)
    }

    private func samples(_ preset: GesturePreset, seconds: Int64, seed: UInt64 = 1) throws -> [PanTraceSample] {
        var generator = try generator(preset, seconds: seconds, seed: seed)
        var samples: [PanTraceSample] = []
        while let sample = generator.nextSample() { samples.append(sample) }
        return samples
    }

    @Test(arguments: GesturePreset.allCases)
    func aTraceIsOneThatCanBeRead(preset: GesturePreset) throws {
        var options = TraceGenerator.Options(preset: preset)
        options.duration = 300_000_000_000
        var (text, pieces) = ("", try TraceText(options))
        while let piece = pieces.next() { text += piece }
        let reader = try PanTraceReader(text: text)
        var read: [PanTraceSample] = []
        while let sample = try reader.nextSample() { read.append(sample) }
        #expect(read == (try samples(preset, seconds: 300)))
        #expect(read.first?.time == 0 && (read.last?.time ?? 0) <= 300_000_000_000)
        // The last gesture may have started before the end. The longest wait is bounded by this.
        #expect((read.last?.time ?? 0) > 270_000_000_000 && read.count > 1000)
        let scene = try PanTraceScene(reader.header, name: "generated")
        let (width, height) = (Double(scene.worldWidth), Double(scene.worldHeight))
        let view = scene.viewport
        // The middle of the view leaves the world by at most a bounce; the scale stays within its bounds.
        for sample in read {
            #expect(
                sample.center.x >= -view.width / sample.scale && sample.center.x <= width + view.width / sample.scale
            )
            #expect(
                sample.center.y >= -view.height / sample.scale && sample.center.y <= height + view.height / sample.scale
            )
        }
    }

    @Test func theSameSeedIsTheSamePerson() throws {
        #expect(try samples(.map, seconds: 60) == (try samples(.map, seconds: 60)))
        #expect(try samples(.map, seconds: 60) != (try samples(.map, seconds: 60, seed: 2)))
        // A longer session starts with the shorter one.
        let (short, long) = (try samples(.photoSession, seconds: 60), try samples(.photoSession, seconds: 120))
        #expect(Array(long.prefix(short.count - 1)) == Array(short.dropLast()))
    }

    /// A change here changes every generated trace, and each figure made with one.
    @Test(arguments: [
        (GesturePreset.map, 537, 4_678_569_775_620_768_943 as UInt64, 4_678_875_589_216_517_211 as UInt64),
        (.pages, 2530, 4_654_048_002_422_341_632, 4_642_296_422_144_671_744),
    ])
    func theSameTraceEverywhere(preset: GesturePreset, count: Int, x: UInt64, y: UInt64) throws {
        let samples = try samples(preset, seconds: 60)
        #expect(samples.count == count)
        #expect(samples.last?.center.x.bitPattern == x)
        #expect(samples.last?.center.y.bitPattern == y)
    }

    @Test func aPlaneOfFourTilesIsNeverZoomed() throws {
        #expect(!(try samples(.plane, seconds: 300).contains { $0.scale != 1 }))
        // A row of pages rests on a page.
        let pages = try samples(.pages, seconds: 300)
        let rests = zip(pages, pages.dropFirst()).filter { $1.time - $0.time > 300_000_000 && $0.scale == 1 }
        #expect(rests.count > 10)
        #expect(!rests.contains { abs(($0.0.center.x - 160).remainder(dividingBy: 320)) > 1e-6 })
    }

    @Test func refusesWhatCannotBe() {
        var options = TraceGenerator.Options(preset: .map)
        options.duration = 999_999_999
        #expect(throws: ReplayError.self) { try TraceGenerator(options) }
        options.duration = 31_536_000_000_000_001
        #expect(throws: ReplayError.self) { try TraceGenerator(options) }
        options = TraceGenerator.Options(preset: .infinite)
        options.viewport = .init(width: 0.5, height: .nan)
        #expect(throws: ReplayError.self) { try TraceGenerator(options) }
    }

    /// Worlds smaller than the view, and views of odd sizes.
    @Test(arguments: GesturePreset.allCases)
    func anyWorldWillDo(preset: GesturePreset) throws {
        for (view, world) in [((100.0, 2000.0), (50.0, 50.0)), ((1.0, 1.0), (7.0, 9.0)), ((640, 480), (1, 1e9))] {
            var options = TraceGenerator.Options(preset: preset)
            options.viewport = .init(width: view.0, height: view.1)
            options.world = .init(width: world.0, height: world.1)
            var generator = try TraceGenerator(options)
            var last: Int64 = -1
            while let sample = generator.nextSample() {
                #expect(sample.time > last && sample.scale > 0 && sample.scale.isFinite)
                #expect(sample.center.x.isFinite && sample.center.y.isFinite)
                last = sample.time
            }
        }
    }

    // MARK: Figures

    private func isNear(_ value: Double?, _ wanted: Double, within share: Double) -> Bool {
        guard let value else { return false }
        return abs(value / wanted - 1) <= share
    }

    /// The sessions, and the recorded median and 90th percentile of their speed during movement.
    private static let sessions: [(GesturePreset, Double, Double)] = [
        (.map, 231, 1184), (.photoSession, 255, 1855), (.slide, 220, 1270),
    ]

    /// Two hours of each session, measured once for both tests.
    private static let measured: [GesturePreset: PanTraceStatistics] = {
        var all: [GesturePreset: PanTraceStatistics] = [:]
        for (preset, _, _) in sessions {
            for seed in 1...2 as ClosedRange<UInt64> {
                var options = TraceGenerator.Options(preset: preset)
                (options.duration, options.seed) = (3_600_000_000_000, seed)
                guard var generator = try? TraceGenerator(options) else { continue }
                try? all[preset, default: PanTraceStatistics()].add(&generator)
            }
        }
        return all
    }()

    @Test(arguments: sessions)
    func sessionsHaveTheRecordedFigures(preset: GesturePreset, speed: Double, speed90: Double) throws {
        let wanted = preset.statistics
        let got = try #require(Self.measured[preset])
        let (lengths, seconds) = (got.strokes.map(\.length), got.strokes.map(\.seconds))
        #expect(isNear(PanTraceStatistics.percentile(0.5, of: lengths), wanted.strokePixels, within: 0.2))
        #expect(isNear(PanTraceStatistics.percentile(0.9, of: lengths), wanted.strokePixels90, within: 0.35))
        #expect(isNear(PanTraceStatistics.percentile(0.5, of: seconds), wanted.strokeSeconds, within: 0.2))
        #expect(isNear(PanTraceStatistics.percentile(0.5, of: got.speeds), speed, within: 0.2))
        #expect(isNear(PanTraceStatistics.percentile(0.9, of: got.speeds), speed90, within: 0.35))
        #expect(isNear(got.movingShare, wanted.movingShare, within: 0.2))
        #expect(isNear(got.sameShare, wanted.sameShare, within: 0.2))
        #expect(abs((got.reversedShare ?? 1) - wanted.reversedShare) < 0.05)
        if let zooms = wanted.zoomsPerMinute { #expect(isNear(got.zoomsPerMinute, zooms, within: 0.2)) }
    }

    @Test(
        .enabled(if: !RecordedTraces.all.isEmpty, "\(RecordedTraces.isMissing)"),
        arguments: [
            (GesturePreset.map, "immens_map"), (.slide, "balabit_drag"), (.photoSession, "touch"),
        ]
    )
    func sessionsAreLikeTheRecordedOnes(preset: GesturePreset, folder: String) throws {
        var recorded = PanTraceStatistics()
        for path in RecordedTraces.paths(of: folder) {
            var reader = try PanTraceReader(path: path)
            try recorded.add(&reader)
        }
        let got = try #require(Self.measured[preset])
        func isLike(_ share: Double, _ values: (PanTraceStatistics) -> [Double]) -> Bool {
            guard let wanted = PanTraceStatistics.percentile(share, of: values(recorded)) else { return false }
            let value = PanTraceStatistics.percentile(share, of: values(got))
            return isNear(value, wanted, within: share == 0.5 ? 0.2 : 0.35)
        }
        #expect(isLike(0.5) { $0.strokes.map(\.length) } && isLike(0.9) { $0.strokes.map(\.length) })
        #expect(isLike(0.5) { $0.strokes.map(\.seconds) } && isLike(0.9) { $0.strokes.map(\.seconds) })
        #expect(isLike(0.5, \.speeds) && isLike(0.9, \.speeds))
        if preset == .map {
            #expect(isLike(0.5) { $0.zooms.map(\.magnitude) } && isLike(0.9) { $0.zooms.map(\.magnitude) })
            #expect(isNear(got.zoomsPerMinute, recorded.zoomsPerMinute ?? 0, within: 0.2))
        }
    }

    /// Two strokes of 60 and 50 px, 0.2 s apart, the second one back. Then a zoom of an octave; then 20 px, too short
    /// for a stroke. Of 24 cells of 50 ms 2 + 2 + 1 show motion, and one crosses the zoom.
    @Test func figuresByHand() throws {
        var statistics = PanTraceStatistics()
        let reader = try PanTraceReader(
            text: """
                # pan-trace: 1
                # viewport: 100x100
                # world: 1000x1000
                time_s,center_x,center_y,scale
                0.0,500,500,0.5
                0.1,620,500,0.5
                0.3,620,500,0.5
                0.4,520,500,0.5
                0.7,520,500,0.5
                0.71,530,500,1
                1.0,530,500,1
                1.05,550,500,1
                1.2,550,500,1
                """
        )
        var stream = reader
        try statistics.add(&stream)
        #expect(statistics.strokes.map(\.length) == [60, 50])
        #expect(statistics.strokes.map(\.seconds) == [0.1, 0.1])
        #expect(statistics.pauses == [0.2])
        #expect(statistics.reversedShare == 1 && statistics.sameShare == 0)
        #expect(statistics.zooms == [1] && abs((statistics.zoomsPerMinute ?? 0) - 50) < 1e-9)
        #expect(statistics.speeds.map { $0.rounded() } == [600, 600, 500, 500, 400])
        #expect(abs((statistics.movingShare ?? 0) - 5.0 / 24) < 1e-12)
    }
}
