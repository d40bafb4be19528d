import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Pages with pictures: well-formed, self-contained, and consistent with their figures.
@Suite struct PageTests {
    private static let options: ReplayOptions = {
        var options = ReplayOptions()
        options.duration = 8_000_000_000
        options.memoryLimit = .bytes(24 << 20)
        return options
    }()

    /// Replayed once for all tests.
    private static let replayed = Result {
        try Replay(options).run(ReplayInput(lively: options), hooks: ReplayHooks(keepsSeries: true))
    }

    private func replay(name: String = "lively") throws -> ReplayResult {
        var result = try Self.replayed.get()
        result.traces[0].trace.name = name
        return result
    }

    /// Every opened element is closed, in order; the script is not parsed as markup.
    private func isWellFormed(_ page: String) -> Bool {
        let page = page.replacing(PageScript.text, with: "")
        let alone: Set<String> = ["meta", "link", "!DOCTYPE"]
        var open: [String] = []
        for piece in page.split(separator: "<").dropFirst() {
            guard let end = piece.firstIndex(of: ">") else { return false }
            let tag = piece[..<end]
            let name = String(tag.split(separator: " ")[0].filter { $0 != "/" })
            if tag.hasPrefix("/") {
                guard open.popLast() == name else { return false }
            } else if !tag.hasSuffix("/"), !alone.contains(name) {
                open.append(name)
            }
        }
        return open.isEmpty
    }

    @Test func aPageIsWholeAndNeedsNothingElse() throws {
        let page = try ReplayPage.text(replay())
        #expect(isWellFormed(page))
        #expect(!page.contains("src=") && !page.contains("@import") && !page.contains("url("))
        #expect(page.split(separator: "\"").allSatisfy { !$0.hasPrefix("http") || $0 == "http://www.w3.org/2000/svg" })
        for heading in ["Memory over time", "Demands over time", "The world, and what", "Time to sharp"] {
            #expect(page.contains("\">\(heading)"), "\(heading)")
        }
        // With units in each row, nine columns would leave the causes one word to a line.
        #expect(page.contains(">px/s</th><th class=\"extra\">oct/s</th>") && !page.contains(" px/s<"))
        #expect(!page.contains("NaN") && !page.contains("inf,"))
    }

    @Test func timesOfMomentsHaveOneUnit() throws {
        var result = try replay()
        let moments = [0.5, 117.25, 4000].map { ReplaySeries.Moment(seconds: $0) }
        result.series[0].moments = moments
        let page = try ReplayPage.text(result)
        for time in ["0.50 s", "117.25 s", "4,000.00 s"] { #expect(page.contains("<td>\(time)</td>"), "\(time)") }
    }

    /// The first frame has none. A sentence of their shares would say nothing.
    @Test func aSessionWithoutDemandsIsToldSo() throws {
        var options = Self.options
        options.duration = 0
        let still = options
        let input: @Sendable () throws -> ReplayInput = { try ReplayInput(lively: still) }
        let result = try Replay(still).run(input(), hooks: ReplayHooks(keepsSeries: true))
        #expect(result.total.demands.total == 0)
        var tuning = TuneOptions(replay: still)
        tuning.policies = []
        for page in [try ReplayPage.text(result), try TunePage.text(Tune(tuning, inputs: [input]).run())] {
            #expect(page.contains(">There were no demands.<") && !page.contains(" - "))
        }
    }

    @Test func whateverATraceIsCalledStaysText() throws {
        let name = "</script><img src=x onerror=\"alert('1')\">&amp;\u{1B}[31m"
        let page = try ReplayPage.text(replay(name: name))
        #expect(isWellFormed(page))
        #expect(!page.contains("<img") && !page.contains("\u{1B}"))
        #expect(page.contains("&lt;/script&gt;&lt;img"))
        #expect(page.contains("\\u003c/script\\u003e"))
    }

    @Test func theSeriesAddsUpToTheReport() throws {
        let result = try replay()
        let report = result.traces[0]
        let series = try #require(result.series.first)
        #expect(series.buckets.reduce(0) { $0 + $1.decodedHits } == report.demands.decodedHits)
        #expect(series.buckets.reduce(0) { $0 + $1.compressedHits } == report.demands.compressedHits)
        #expect(series.buckets.reduce(0) { $0 + $1.late } == report.demands.late)
        #expect(series.buckets.reduce(0) { $0 + $1.missed } == report.demands.missed)
        #expect(series.buckets.allSatisfy { $0.bytes <= report.memory.byteLimit })
        #expect(series.buckets.count <= 240 && series.path.count <= 2048)
        let used = series.tiles.count { $0.use != .wasted }
        // A tile may be loaded more than once, and counts once on the map.
        #expect(used <= report.loads.started && series.tiles.count <= report.loads.started)
        #expect(used >= report.prefetch.useful / 2 && used > 0)
    }

    @Test func picturesChangeNoFigure() throws {
        let without = try Replay(Self.options).run([{ try ReplayInput(lively: Self.options) }])
        #expect(without.traces == (try replay()).traces)
        #expect(without.series.isEmpty)
    }

    @Test func aLongReplayKeepsItsMemory() throws {
        var options = ReplayOptions()
        options.prefetch = .none
        options.frameRate = 1
        options.overrides.viewport = PanTraceHeader.Size(width: 800, height: 800)
        options.overrides.world = PanTraceHeader.Size(width: 1_048_576, height: 1_048_576)
        let scene = try PanTraceScene(BuiltInSession().header, overrides: options.overrides, name: "long")
        var random = SplitMix64(seed: 4)
        let samples = (0..<2100).map { index in
            PanTraceSample(
                time: Int64(index) * 4_000_000_000,
                center: WorldPoint(x: random.next(from: 0, to: 1_048_576), y: random.next(from: 0, to: 1_048_576)),
                scale: 1
            )
        }
        let input = ReplayInput(name: "long", source: ".", scene: scene, samples: PanSampleList(samples))
        let result = try Replay(options).run(input, hooks: ReplayHooks(keepsSeries: true))
        let series = try #require(result.series.first)
        #expect(series.buckets.count <= 240 && series.bucketSeconds > 30)
        #expect(series.path.count <= 2048 && series.tiles.count <= 30_000 && series.forgottenTiles > 0)
        #expect(isWellFormed(try ReplayPage.text(result)))
    }

    /// Beyond the edge of a world that does not wrap a path lies at that edge, otherwise at the other one.
    @Test func thePathStaysOnItsSideOfTheMap() {
        func map(from x: Double, wrapsX: Bool) -> String {
            let series = ReplaySeries(
                bucketSeconds: 1,
                buckets: [],
                waits: [],
                path: [.init(x: x, y: 100), .init(x: 300, y: 400)],
                tiles: [],
                forgottenTiles: 0,
                tileSpans: [],
                moments: [],
                world: .init(x: 1000, y: 1000),
                wrapsX: wrapsX
            )
            return MapChart(series: series).draw(.wide).element(label: "", style: "")
        }
        #expect(map(from: -5, wrapsX: false) == map(from: 0, wrapsX: false))
        #expect(map(from: -5, wrapsX: true) == map(from: 995, wrapsX: true))
        #expect(map(from: 1005, wrapsX: false) == map(from: 1000, wrapsX: false))
    }

    @Test(arguments: ChartSize.allCases) func numbersOfMomentsNearInTimeDoNotOverlap(size: ChartSize) {
        let chart = StackedChart(
            stride: 1,
            x: { _ in Axis(title: "time", unit: .seconds, upTo: 120) },
            y: Axis(title: "share", unit: .share, upTo: 1),
            layers: [],
            spots: ("moment-", [0, 7, 119, 118, 8, 13, 11, 0.5, 60, 10])
        )
        expectNumbersApart(chart.draw(size))
    }

    /// Moments at one place, near a corner, and on a world that is a strip.
    @Test(arguments: ChartSize.allCases, [(1000, 1000), (1000, 20), (20, 1000)] as [(Double, Double)])
    func numbersOfMomentsNearOnTheMapDoNotOverlap(size: ChartSize, world: (Double, Double)) {
        let places: [(Double, Double)] = [
            (0.5, 0.5), (0.5, 0.5), (0.5, 0.5), (0.51, 0.5), (0, 0), (0, 0), (0.01, 0), (1, 1), (0.99, 1), (0.5, 0.5),
        ]
        var series = ReplaySeries(
            bucketSeconds: 1,
            buckets: [],
            waits: [],
            path: [.init(x: 0, y: 0), .init(x: world.0, y: world.1)],
            tiles: [],
            forgottenTiles: 0,
            tileSpans: [],
            moments: [],
            world: .init(x: world.0, y: world.1),
            wrapsX: false
        )
        for (x, y) in places {
            var moment = ReplaySeries.Moment(seconds: 1)
            (moment.x, moment.y) = (x * world.0, y * world.1)
            series.moments.append(moment)
        }
        let text = MapChart(series: series).draw(size)
        expectNumbersApart(text)
        // The first one of a place stays there.
        let lines = text.element(label: "", style: "").matches(of: /class="spot" d="M[-0-9. ]+L/)
        #expect(lines.count >= 5 && lines.count <= 7, "\(lines.count)")
    }

    private func expectNumbersApart(_ chart: SVG) {
        let text = chart.element(label: "", style: "")
        let places = text.matches(of: /class="spot" d="M(-?[0-9.]+) (-?[0-9.]+)a/).compactMap { match in
            Double(match.1).flatMap { x in Double(match.2).map { (x: x, y: $0) } }
        }
        #expect(places.count == 10)
        for (index, one) in places.enumerated() {
            for other in places[..<index] {
                let (x, y) = (one.x - other.x, one.y - other.y)
                #expect((x * x + y * y).squareRoot() > 17.5, "\(places)")
            }
        }
    }

    /// An empty end of the time would look like data.
    @Test func anAxisOfTimeEndsWithTheTrace() {
        #expect(Axis(title: "time", unit: .seconds, upTo: 61.3).high == 61.3)
        #expect(Axis(title: "x", unit: .count, upTo: 61.3).high > 61.3)
    }

    @Test func axesHaveRoundTicksThatHoldAllValues() {
        for largest in [0.3, 1.0, 7, 12, 99, 101, 1234, 5e7, 6.4e7, 1e12] {
            for unit in [AxisUnit.bytes, .seconds, .milliseconds, .count] where unit != .bytes || largest >= 7 {
                let axis = Axis(title: "x", unit: unit, upTo: largest)
                #expect(axis.high >= largest && axis.ticks.count >= 2 && axis.ticks.count <= 14, "\(largest) \(unit)")
                #expect(Set(axis.ticks.map { axis.label($0) }).count == axis.ticks.count, "\(largest) \(unit)")
            }
        }
        // Short sessions blank little, of small screens: steps of 0.05 and less.
        for largest in [0.16, 0.02, 0.0012] {
            for unit in [AxisUnit.share, .seconds, .milliseconds, .plain] {
                let axis = Axis(title: "x", unit: unit, upTo: largest)
                #expect(Set(axis.ticks.map { axis.label($0) }).count == axis.ticks.count, "\(largest) \(unit)")
            }
        }
        let bytes = Axis(title: "x", unit: .bytes, upTo: 1.2 * 1_048_576)
        #expect(bytes.ticks.map { bytes.label($0) } == ["0", "0.25", "0.50", "0.75", "1", "1.25"])
        let log = Axis(logarithmic: "x", unit: .count, from: 1, upTo: 16, base: 2)
        #expect(log.ticks == [1, 2, 4, 8, 16])
        #expect(abs(log.part(4) - 0.5) < 1e-9 && log.part(0) == 0 && log.part(99) == 1)
    }

    static func zoomout(_ factors: [Double], byteLimit: Int = 8_000_000) -> ZoomoutReport {
        let rows = factors.map { factor in
            ZoomoutReport.Row(
                factor: factor,
                bitmapBytes: Int(588_800 * factor * factor),
                fullResolutionBytes: Int(800_000 * factor * factor),
                neededTiles: 12,
                neededBytes: 3_145_728,
                peakBytes: 8_000_000,
                hitRate: nil,
                sharp: 1,
                blank: 0
            )
        }
        return ZoomoutReport(
            configuration: ["factors": .text("1,4,16"), "fullResolutionOnly": .flag(true)],
            rows: rows,
            tileBound: 20,
            mostNeededTiles: 12,
            byteLimit: byteLimit
        )
    }

    /// On both sides of the bound: 12 tiles of 256 KiB are 3 MiB.
    @Test(arguments: [(3_145_728, false), (3_145_727, true)])
    func zoomingOutReportsALimitThatIsTooSmall(limit: Int, isTooSmall: Bool) throws {
        let report = Self.zoomout([1, 4], byteLimit: limit)
        #expect(report.checks.shortfallBytes == (isTooSmall ? 1 : 0) && report.checks.screenBytes == 3_145_728)
        let text = ZoomoutText.text(report)
        #expect(text.hasPrefix("limit too small: one screen needs 3.0 MiB") == isTooSmall)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= ReplayText.width })
        #expect(try ZoomOutPage.text(report).contains("<p class=\"warning\">limit too small") == isTooSmall)
    }

    @Test func zoomingOutNamesTheCheckThatFails() {
        var rows = Self.zoomout([1, 2, 4, 8, 16, 32, 64, 128]).rows
        rows[7].peakBytes = 9_000_000
        func text(tileBound: Int, byteLimit: Int) -> String {
            ZoomoutText.text(
                ZoomoutReport(
                    configuration: [:],
                    rows: rows,
                    tileBound: tileBound,
                    mostNeededTiles: 12,
                    byteLimit: byteLimit
                )
            )
        }
        #expect(text(tileBound: 11, byteLimit: 9_000_000).contains("FAILED: a frame needed more tiles than the bound"))
        #expect(text(tileBound: 12, byteLimit: 8_999_999).contains("FAILED: the peak is above the limit"))
        #expect(text(tileBound: 12, byteLimit: 9_000_000).contains("FAILED: the peak is over 1.1 times the median"))
        rows[7].peakBytes = 8_800_000
        #expect(text(tileBound: 12, byteLimit: 9_000_000).contains("checks     passed"))
    }

    @Test func zoomingOutIsDrawnWithAndWithoutRows() throws {
        let page = try ZoomOutPage.text(Self.zoomout([1, 4, 16]))
        #expect(isWellFormed(page) && page.contains("143.8 MiB"))
        #expect(isWellFormed(try ZoomOutPage.text(Self.zoomout([]))))
        // The same unit in the page and in the table, and the flags that made them.
        for text in [page, ZoomoutText.text(Self.zoomout([1, 4, 16]))] {
            #expect(text.contains("143.8 MiB") && text.firstMatch(of: /[0-9] [kMG]B/) == nil)
            #expect(text.contains("--factors 1,4,16 --full-resolution-only"))
        }
    }
}
