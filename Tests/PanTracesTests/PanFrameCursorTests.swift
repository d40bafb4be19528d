import PanTraces
import Testing
import TileCache

@Suite struct PanFrameCursorTests {
    private let size = PanTraceHeader.Size(width: 1000, height: 400)

    private func sample(_ seconds: Double, _ x: Double, _ y: Double, _ scale: Double, rotation: Double = 0)
        -> PanTraceSample
    {
        PanTraceSample(
            time: Int64((seconds * 1e9).rounded()),
            center: WorldPoint(x: x, y: y),
            scale: scale,
            rotation: rotation
        )
    }

    private func frames(
        _ samples: [PanTraceSample],
        rate: PanFrameRate = .sixty,
        duration: Int64? = nil
    ) throws -> [PanFrame] {
        var cursor = PanFrameCursor(PanSampleList(samples), viewport: size, rate: rate, duration: duration)
        var frames: [PanFrame] = []
        while let frame = try cursor.next() { frames.append(frame) }
        return frames
    }

    @Test(
        arguments: [
            (60, 0, 0), (60, 1, 16_666_667), (60, 2, 33_333_333), (60, 3, 50_000_000), (60, 60, 1_000_000_000),
            (60, 216_000_001, 3_600_000_016_666_667), (59.94, 1, 16_683_350), (1000, 7, 7_000_000),
            (0.5, 3, 6_000_000_000),
            (512, 1, 1_953_125), (999.999, 1_000_000, 1_000_001_000_001),
        ] as [(Double, Int64, Int64)]
    )
    func framesAreAtWholeNanoseconds(rate: Double, frame: Int64, time: Int64) throws {
        #expect(try #require(PanFrameRate(framesPerSecond: rate)).time(ofFrame: frame) == time)
    }

    @Test func ratesOutOfRangeAreNone() {
        for rate in [0, -60, 0.0001, 1001, .infinity, .nan] as [Double] {
            #expect(PanFrameRate(framesPerSecond: rate) == nil)
        }
        #expect(PanFrameRate.sixty.time(ofFrame: .max) == nil)
        #expect(PanFrameRate(framesPerSecond: 59.94)?.description == "59.94")
        #expect(PanFrameRate.sixty.description == "60")
    }

    @Test func framesGoOnForHalfASecond() throws {
        let one = try frames([sample(0, 5, 6, 2)])
        #expect(one.count == 31)
        #expect(one.last?.time == 500_000_000)
        #expect(one.allSatisfy { $0.viewport.center == WorldPoint(x: 5, y: 6) && $0.viewport.scale == 2 })
        // The last frame up to 1.0104 s is number 60, at 1 s.
        let two = try frames([sample(0, 0, 0, 1), sample(0.5104, 1, 0, 1)])
        #expect(two.count == 61)
        #expect(two.map(\.index) == Array(0...60))
    }

    @Test func durationCutsTheTrace() throws {
        let samples = [sample(0, 0, 0, 1), sample(100, 0, 0, 1)]
        #expect(try frames(samples, duration: 1_000_000_000).count == 61)
        #expect(try frames(samples, duration: 999_999_999).count == 60)
        #expect(try frames(samples, duration: 0).count == 1)
        #expect(try frames(samples).count == 6031)
    }

    @Test func noSamplesNoFrames() throws {
        #expect(try frames([]).isEmpty)
    }

    @Test func centresMoveInStraightLinesAndScalesByFactors() throws {
        let four = try #require(PanFrameRate(framesPerSecond: 4))
        let moved = try frames(
            [sample(0, 100, 10, 1), sample(1, 200, -10, 1.25, rotation: 1), sample(2, 200, -10, 1.25)],
            rate: four
        )
        #expect(moved.map(\.viewport.center.x) == [100, 125, 150, 175, 200, 200, 200, 200, 200, 200, 200])
        #expect(moved.map(\.viewport.center.y) == [10, 5, 0, -5, -10, -10, -10, -10, -10, -10, -10])
        #expect(moved.prefix(6).map(\.viewport.rotation) == [0, 0.25, 0.5, 0.75, 1, 0.75])
        let scales = moved.map(\.viewport.scale)
        #expect(scales[0] == 1 && scales[4] == 1.25 && scales[7] == 1.25)
        #expect((scales[2] - 1.118033988749895).magnitude < 3e-16)
        #expect(moved.allSatisfy { $0.viewport.width == 1000 && $0.viewport.height == 400 })
    }

    /// From just below half a turn to just above it, which some renderers write as a negative angle.
    @Test(
        arguments: [
            (3, -3, 0.28318530717958623), (-3, 3, -0.28318530717958623), (0, .pi, .pi), (6, 0.5, 0.78318530717958623),
        ] as [(Double, Double, Double)]
    )
    func viewsTurnTheShortWay(from: Double, to: Double, turn: Double) throws {
        let four = try #require(PanFrameRate(framesPerSecond: 4))
        let moved = try frames([sample(0, 0, 0, 1, rotation: from), sample(1, 0, 0, 1, rotation: to)], rate: four)
        for (number, frame) in moved.prefix(4).enumerated() {
            #expect((frame.viewport.rotation - from - turn * Double(number) / 4).magnitude < 1e-12)
        }
        #expect(moved[4].viewport.rotation == to)
    }

    @Test func equalScalesStayEqual() throws {
        let moved = try frames([sample(0, 0, 0, 0.1), sample(1.7, 3, 3, 0.1), sample(2, 9, 9, 0.1)])
        #expect(moved.allSatisfy { $0.viewport.scale == 0.1 })
    }

    /// Half of the viewport is 500 x 200 screen pixels. Exactly that is still a movement.
    @Test(
        arguments: [
            (500, 0, 1, 1, false), (500.5, 0, 1, 1, true), (-500.5, 0, 1, 1, true), (0, 200, 1, 1, false),
            (0, -200.5, 1, 1, true), (250, 0, 2, 2, false), (251, 0, 2, 2, true), (400, 0, 1, 1.25, false),
            (400.5, 0, 1, 1.25, true), (400.5, 0, 1.25, 1, true), (0, 0, 1, 1.414, false), (0, 0, 1, 1.415, true),
            (0, 0, 1.415, 1, true), (0, 0, 1e-300, 1e300, true),
        ] as [(Double, Double, Double, Double, Bool)]
    )
    func largeStepsAreJumps(x: Double, y: Double, scale: Double, nextScale: Double, isJump: Bool) {
        let from = sample(0, 0, 0, scale)
        let way = PanInterpolation(from: from, to: sample(1, x, y, nextScale), viewport: size)
        #expect(way.isJump == isJump)
        let held = way.sample(at: 999_999_999)
        #expect((held.center == from.center && held.scale == from.scale) == isJump)
    }

    @Test func afterAJumpTheLaterSampleCounts() throws {
        let two = try #require(PanFrameRate(framesPerSecond: 2))
        let moved = try frames([sample(0, 0, 0, 1), sample(1, 5000, 0, 1)], rate: two)
        #expect(moved.map(\.viewport.center.x) == [0, 0, 5000, 5000])
    }

    /// More samples than frames: each frame uses the two around it.
    @Test func skipsSamplesBetweenFrames() throws {
        let ten = try #require(PanFrameRate(framesPerSecond: 10))
        let moved = try frames((0...30).map { sample(Double($0) / 30, Double($0), 0, 1) }, rate: ten)
        #expect(
            moved.prefix(11).map { ($0.viewport.center.x * 1e6).rounded() / 1e6 } == [
                0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30,
            ]
        )
    }

    @Test func errorsOfTheTraceArrive() throws {
        let reader = try PanTraceReader(
            text: "# pan-trace: 1\ntime_s,center_x,center_y,scale\n0,0,0,1\n1,0,0,1\n2,0,0,0\n",
            name: "a.csv"
        )
        var cursor = PanFrameCursor(reader, viewport: size)
        let error = #expect(throws: PanTraceError.self) { while try cursor.next() != nil {} }
        #expect(error?.description == "a.csv:5: expected a scale larger than 0, found \"2,0,0,0\"")
    }
}
