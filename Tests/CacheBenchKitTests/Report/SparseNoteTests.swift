import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Gaps between positions that a replay smooths, on both sides of each threshold.
@Suite struct SparseNoteTests {
    private func gaps(
        _ steps: (milliseconds: Int64, x: Double, scale: Double)...,
        upTo end: Int64 = .max
    ) -> SampleGaps.Sum {
        var gaps = SampleGaps(viewport: .init(width: 1600, height: 800))
        for step in steps {
            let center = WorldPoint(x: step.x, y: 0)
            gaps.note(PanTraceSample(time: step.milliseconds * 1_000_000, center: center, scale: step.scale))
        }
        return gaps.sum(upTo: end)
    }

    @Test func aGapCountsIfTheViewMovesForLong() {
        #expect(gaps((0, 0, 1), (500, 200, 1)).glided == 0)
        let long = gaps((0, 0, 1), (501, 200, 1), (1501, 400, 1))
        // A replay that ends half a second before the last position ends at it, one that ends earlier in the gap.
        let end: Int64 = 1_001_000_000
        #expect(gaps((0, 0, 1), (501, 200, 1), (1501, 400, 1), upTo: end) == long)
        let cut = gaps((0, 0, 1), (501, 200, 1), (1501, 400, 1), upTo: end - 1)
        #expect(cut.samples == 2 && cut.glided == 501_000_000 && cut.longest == 501_000_000)
        #expect(long.samples == 3 && long.glided == 1_501_000_000 && long.longest == 1_000_000_000)
    }

    @Test func restsAndJumpsAreNoGlides() {
        // The first step of a stroke after a rest.
        #expect(gaps((0, 0, 1), (9000, 100, 1)).glided == 0)
        #expect(gaps((0, 0, 1), (9000, 101, 1)).glided == 9_000_000_000)
        // Half of the screen is a jump.
        #expect(gaps((0, 0, 1), (9000, 800, 1)).glided == 9_000_000_000)
        #expect(gaps((0, 0, 1), (9000, 801, 1)).glided == 0)
        #expect(gaps((0, 0, 1), (9000, 0, 1.06)).glided == 0)
        #expect(gaps((0, 0, 1), (9000, 0, 1.07)).glided == 9_000_000_000)
        #expect(gaps((0, 0, 1), (9000, 0, 1.5)).glided == 0)
    }

    @Test func aTraceIsSparseIfATenthOfItsTimeIsGaps() throws {
        var report = ReplayTally().pooledReport(name: "log.csv")
        report.trace.seconds = 209
        report.trace.samples = 80
        report.trace.longestGlide = 12.3
        report.trace.glidedSeconds = 20.9
        func text(_ traces: [ReplayReport]) -> String? {
            SparseNote.text(traces.map(\.trace))
        }
        #expect(text([report]) == nil)
        let good = report
        report.trace.glidedSeconds = 180.25
        let expected =
            "80 positions in 3 min 29 s, 0.38 a second. 3 min 00 s of it are gaps of more than half a second, the longest "
            + "12.30 s, in which the view is taken to glide: real strokes are faster"
        #expect(text([report]) == "sparse trace: " + expected)
        #expect(text([good, report]) == "1 of 2 traces are sparse, most of all log.csv: " + expected)
        let still = ReplayTally().pooledReport(name: "still")
        #expect(text([still]) == nil)
    }

    /// The note is among a replay's first lines, from the trace itself.
    @Test func aReplaySaysIt() throws {
        let options = ReplayOptions()
        var input = try ReplayInput(lively: options)
        let place = WorldPoint(x: 60_000, y: 60_000)
        input.samples = PanSampleList(
            (0..<6).map { step in
                PanTraceSample(
                    time: step * 2_000_000_000,
                    center: WorldPoint(x: place.x + Double(step) * 200, y: place.y),
                    scale: 1
                )
            }
        )
        let sparse = input
        let text = ReplayText.text(try Replay(options).run(sparse))
        #expect(
            text.contains("\nsparse trace: 6 positions in 10.50 s, 0.57 a second. 10.00 s of it are gaps"),
            "\(text)"
        )
        #expect(!ReplayText.text(try Replay(options).run(ReplayInput(lively: options))).contains("sparse"))
    }
}
