import Testing
import TileCache

@testable import PanTraces

@Suite struct PanTraceRecorderTests {
    private func viewport(_ x: Double, _ y: Double, scale: Double = 1, rotation: Double = 0) -> TileViewport {
        TileViewport(center: WorldPoint(x: x, y: y), width: 1000, height: 470, scale: scale, rotation: rotation)
    }

    @Test func writesTheHeaderAndItsSamples() {
        let header = PanTraceHeader(
            world: .init(width: 131_072, height: 65_536),
            wrapsX: true,
            viewName: "left",
            otherEntries: [.init(key: "kind", value: "by hand"), .init(key: "note", value: "two\nlines")]
        )
        let recorder = PanTraceRecorder(header: header)
        recorder.record(viewport(65_536, 50_816.25, scale: 0.0078125), at: 5_000_000_000)
        recorder.record(viewport(-1, 0.1, scale: 0.01), at: 5_016_666_667)
        recorder.record(viewport(0, 0, scale: 2), at: 6_500_000_000)
        #expect(
            recorder.text == """
                # pan-trace: 1
                # viewport: 1000x470
                # world: 131072x65536
                # wraps_x: true
                # tile_size: 256
                # view: left
                # kind: by hand
                # note: two lines
                time_s,center_x,center_y,scale
                0.0000,65536,50816.25,0.0078125
                0.016666667,-1,0.1,0.01
                1.5000,0,0,2

                """
        )
    }

    @Test func rotationHasAColumnOnlyWhereSomethingWasRotated() {
        let recorder = PanTraceRecorder()
        recorder.record(viewport(0, 0), at: 0)
        #expect(recorder.text.hasSuffix("center_y,scale\n0.0000,0,0,1\n"))
        recorder.record(viewport(0, 0, rotation: 0.5), at: 1_000_000)
        #expect(recorder.text.hasSuffix("scale,rotation\n0.0000,0,0,1,0\n0.0010,0,0,1,0.5\n"))
    }

    @Test func aStreamAlwaysHasTheRotationColumn() {
        let written = Lock("")
        let recorder = PanTraceRecorder { text in written.withLock { $0 += text } }
        recorder.record(viewport(1, 2), at: 7)
        recorder.record(viewport(3, 4), at: 8)
        #expect(
            written.withLock { $0 } == """
                # pan-trace: 1
                # viewport: 1000x470
                # wraps_x: false
                # tile_size: 256
                time_s,center_x,center_y,scale,rotation
                0.0000,1,2,1,0
                0.000000001,3,4,1,0

                """
        )
        #expect(recorder.samples.isEmpty)
        #expect(recorder.counts.recorded == 2)
    }

    @Test func leavesOutWhatComesLateOrCannotBeDrawn() {
        let recorder = PanTraceRecorder()
        #expect(recorder.record(viewport(.nan, 0), at: 0) == false)
        #expect(recorder.record(viewport(0, 0), at: 100))
        #expect(recorder.record(viewport(1, 0), at: 100) == false)
        #expect(recorder.record(viewport(2, 0), at: 99) == false)
        #expect(recorder.record(viewport(3, 0), at: 101))
        #expect(recorder.record(viewport(3, 0, scale: 0), at: 102) == false)
        #expect(recorder.record(viewport(4, 0), at: .min) == false)
        var resized = viewport(5, 0)
        resized.width = 900
        #expect(recorder.record(resized, at: 200))
        #expect(recorder.samples.map(\.time) == [0, 1, 100])
        #expect(recorder.samples.map(\.center.x) == [0, 3, 5])
        #expect(recorder.header.viewport == .init(width: 1000, height: 470))
        let counts = recorder.counts
        #expect(counts.recorded == 3)
        #expect(counts.outOfOrder == 3)
        #expect(counts.undrawable == 2)
        #expect(counts.resized == 1)
    }

    @Test func manyThreadsMayRecord() async {
        let recorder = PanTraceRecorder()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for step in 0..<500 {
                        recorder.record(
                            TileViewport(center: WorldPoint(x: 0, y: 0), width: 10, height: 10),
                            at: Int64(step * 4 + thread)
                        )
                    }
                }
            }
        }
        let times = recorder.samples.map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(recorder.counts.recorded + recorder.counts.outOfOrder == 2000)
    }

    @Test(
        arguments: [
            (0, "0.0000"), (1, "0.000000001"), (1_000_000, "0.0010"), (16_666_667, "0.016666667"),
            (3_000_000_000, "3.0000"), (12_345_678_900, "12.3456789"), (Int64.max, "9223372036.854775807"),
        ] as [(Int64, String)]
    )
    func writesTimesExactly(nanoseconds: Int64, text: String) {
        #expect(PanTraceFormat.secondsText(nanoseconds) == text)
    }
}
