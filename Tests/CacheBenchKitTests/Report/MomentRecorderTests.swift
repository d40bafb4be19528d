import Testing
import TileCache

@testable import CacheBenchKit

/// The worst moments of hand-made frames.
@Suite struct MomentRecorderTests {
    private struct Frame {
        var milliseconds: Int64
        var x = 0.0
        var scale = 1.0
        var blank = 0.0
        var coarse = 0.0
        var missing = 0
        var late = 0
        var evicted = 0
        var needed = 10
    }

    /// Views of 1000 x 500 over a world of 100,000 that wraps. The limit holds 20 tiles.
    private func moments(_ frames: [Frame]) throws -> [ReplaySeries.Moment] {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 100_000, worldHeight: 100_000, tileSize: 256, wrapsX: true)
        var recorder = MomentRecorder(capacityTiles: 20, pyramid: pyramid, frameRate: 50)
        for frame in frames {
            recorder.note(
                .init(
                    time: frame.milliseconds * 1_000_000,
                    viewport: TileViewport(
                        center: WorldPoint(x: frame.x, y: 700),
                        width: 1000,
                        height: 500,
                        scale: frame.scale
                    ),
                    sharp: 500_000 - frame.blank - frame.coarse,
                    coarse: frame.coarse,
                    blank: frame.blank,
                    neededTiles: frame.needed,
                    missingTiles: frame.missing,
                    lateTiles: frame.late,
                    evictedTiles: frame.evicted
                )
            )
        }
        recorder.finish()
        return recorder.worst
    }

    private let whole = Frame(milliseconds: 0)

    @Test func aMomentLastsUntilNothingIsMissing() throws {
        let found = try moments([
            whole, Frame(milliseconds: 20, x: 20, blank: 1000, missing: 2, late: 1),
            Frame(milliseconds: 40, x: 60, blank: 5000, coarse: 45_000, missing: 3, late: 2),
            Frame(milliseconds: 60, x: 70, blank: 2000, missing: 1), Frame(milliseconds: 80, x: 70),
        ])
        let moment = try #require(found.first)
        #expect(found.count == 1 && moment.seconds == 0.02 && abs(moment.duration - 0.06) < 1e-12)
        // The worst frame is the second one: 40 pixels in 20 ms.
        #expect(moment.x == 60 && moment.y == 700 && moment.scale == 1 && moment.missingTiles == 3)
        #expect(moment.blank == 0.01 && moment.coarse == 0.09 && abs(moment.speed - 2000) < 1e-6)
        #expect(moment.blankPixelMilliseconds == 8000 * 20 && moment.coarsePixelMilliseconds == 45_000 * 20)
        #expect(moment.cause == .late)
    }

    /// Each cause on both sides of its bound.
    @Test func causes() throws {
        func cause(_ change: (inout Frame) -> Void, first: Frame? = Frame(milliseconds: 0)) throws -> ReplaySeries
            .Cause?
        {
            var frame = Frame(milliseconds: 20, x: 10, blank: 1000, missing: 4)
            change(&frame)
            return try moments([first, frame].compactMap { $0 }).first?.cause
        }
        #expect(try cause({ _ in }) == .pan)
        #expect(try cause({ _ in }, first: nil) == .start)
        #expect(try cause({ $0.needed = 20 }) == .pan)
        #expect(try cause({ $0.needed = 21 }) == .limit)
        #expect(try cause({ $0.late = 2 }) == .pan)
        #expect(try cause({ $0.late = 3 }) == .late)
        #expect(try cause({ $0.evicted = 2 }) == .pan)
        #expect(try cause({ $0.evicted = 3 }) == .evicted)
        #expect(try cause({ $0.x = 1000 }) == .pan)
        #expect(try cause({ $0.x = 1001 }) == .jump)
        // The shorter way around the world.
        #expect(try cause({ $0.x = 99_500 }) == .pan)
        #expect(try cause({ $0.scale = 2 }) == .zoomIn)
        #expect(try cause({ $0.scale = 0.5 }) == .zoomOut)
        #expect(try cause({ $0.scale = 0.4 }) == .jump)
        #expect(try cause({ $0.scale = 1.001 }) == .pan)
    }

    @Test func tenAreKeptTheWorstFirst() throws {
        var frames = [whole]
        for index in 1...14 {
            let start = Int64(index) * 100
            // Every second one has the same blank area as the one before, but more coarse area.
            frames.append(
                Frame(
                    milliseconds: start,
                    blank: Double(index / 2) * 1000,
                    coarse: Double(index) * 10,
                    missing: 1
                )
            )
            frames.append(Frame(milliseconds: start + 20))
        }
        let found = try moments(frames)
        #expect(found.map { Int(($0.seconds * 10).rounded()) } == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5])
    }

    @Test func aLongMomentIsCut() throws {
        let frames = (0...250).map { Frame(milliseconds: Int64($0) * 20, blank: 1000, missing: 1) }
        let found = try moments(frames)
        // The last frame has the common duration.
        #expect(found.map { Int(($0.duration * 100).rounded()) }.sorted() == [102, 200, 200])
        #expect(found.filter { $0.cause == .start }.count == 1)
        // 5 s and the last frame.
        #expect(found.reduce(0) { $0 + $1.blankPixelMilliseconds } == 1000 * 20 * 251)
    }

    /// The first frame is always a cold start. It does not decide which traces are worst.
    @Test func theWorstTracesHavePictures() throws {
        var options = ReplayOptions()
        options.duration = 500_000_000
        let inputs = (0..<10).map { index -> @Sendable () throws -> ReplayInput in
            { [options] in
                var own = options
                own.seed = UInt64(index)
                var input = try ReplayInput(lively: own)
                input.name = "t\(index)"
                return input
            }
        }
        var result = try Replay(options).run(inputs, hooks: ReplayHooks(keepsSeries: true))
        for index in result.traces.indices {
            result.traces[index].coverage.blankPixelMilliseconds = Double(index % 5)
            result.traces[index].coverage.fallbackPixelMilliseconds = Double(index)
            result.series[index].moments = []
        }
        let cold = try #require(
            try moments([Frame(milliseconds: 0, blank: 500_000, missing: 9), Frame(milliseconds: 20)]).first
        )
        result.traces[0].coverage.blankPixelMilliseconds = cold.blankPixelMilliseconds
        result.series[0].moments = [cold]
        let page = try ReplayPage.text(result)
        let order = page.matches(of: /<h1 class="part" id="trace-\d+">.\/(t\d)</).map { String($0.1) }
        #expect(order == ["t9", "t4", "t8", "t3", "t7", "t2", "t6", "t1"])
        #expect(page.contains("Of 10 traces these have pictures: ./t9, ./t4, ./t8, ./t3, ./t7, ./t2, ./t6, ./t1."))
    }
}
