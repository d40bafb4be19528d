import PanTraces
import Testing
import TileCache

@testable import ViewerKit

/// Times, costs and limits.
@Suite struct PacingTests {
    private func time(_ milliseconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(milliseconds * 1e6)) }

    @Test func framesAreOnTheGridOfAReplay() throws {
        var clock = FrameClock(pace: .realTime)
        let first = clock.next(at: time(1000))
        #expect(first == time(1000))
        for frame in 1...200 {
            let due = try #require(PanFrameRate.sixty.time(ofFrame: Int64(frame)))
            let jitter: Int64 = frame % 3 == 0 ? 2_000_000 : -2_000_000
            let next = clock.next(at: MonotonicTime(nanoseconds: 1_000_000_000 + due + jitter))
            #expect(next.nanoseconds == 1_000_000_000 + due)
            #expect(clock.elapsed == due)
        }
        #expect(clock.late == 0)
    }

    /// A frame of 50 ms skips two in real time; a script waits instead.
    @Test func lateFramesAreLeftOutOrWaitedFor() {
        var real = FrameClock(pace: .realTime)
        var scripted = FrameClock(pace: .everyFrame)
        for now in [0.0, 16.7, 66.7] {
            _ = real.next(at: time(now))
            _ = scripted.next(at: time(now))
        }
        #expect(real.index == 4 && real.late == 1 && real.origin == 0)
        #expect(scripted.index == 2 && scripted.late == 1)
        #expect(scripted.elapsed == 33_333_333)
        #expect(scripted.origin + scripted.elapsed == 66_700_000)
        #expect(scripted.wait(at: time(66.7)) == 16_666_667)
        #expect(real.wait(at: time(100)) == 0)
    }

    /// Ten pictures a second, also if each sixth frame is skipped.
    @Test func picturesAreOfTheNextFrameDrawn() {
        func recorded(_ frames: some Sequence<Int64>) -> [Int64] {
            var pace = PicturePace()
            return frames.filter { pace.isDue(frame: $0) }
        }
        #expect(recorded(0..<19) == [0, 6, 12, 18])
        #expect(recorded((0..<19).filter { $0 % 6 != 0 }) == [1, 7, 13])
        #expect(recorded([0, 5, 11, 13, 17, 40, 41, 42]) == [0, 11, 13, 40, 42])
    }

    @Test func framesOfTheProcessorAreNoFigure() {
        let cost = FrameCosts()
        #expect(FrameText(framesPerSecond: 59.6, late: 2, cost: cost).rate == "60 frames a second, 2 late")
        #expect(FrameText(framesPerSecond: nil, late: 0, cost: cost).rate == "frames a second: -")
        let processor = FrameText(framesPerSecond: 24, late: 610, usesProcessor: true, cost: cost)
        #expect(processor.rate == "drawn without a graphics card")
    }

    @Test func costsAreThoseOfTheLastMinute() throws {
        var costs = FrameCosts()
        #expect(costs.quantiles([0.5]) == nil && costs.text == "none")
        costs.add(9_000_000)
        for cost in 1...100 { costs.add(Int64(cost) * 10_000) }
        #expect(costs.quantiles([0.5, 0.99]) == [510_000, 1_000_000])
        #expect(costs.text == "p50 0.51, p99 1.00, largest 9.00 ms")
        for _ in 0..<FrameCosts.capacity { costs.add(20_000) }
        #expect(costs.quantiles([0, 1]) == [20_000, 20_000])
        #expect(costs.largest == 9_000_000 && costs.count == 101 + FrameCosts.capacity)
    }

    @Test func memoryKeysStayWithinBounds() {
        #expect(MemoryKeys.limit(.mebibytes(64), octaves: 1) == .mebibytes(128))
        #expect(MemoryKeys.limit(.mebibytes(64), octaves: -1) == .mebibytes(32))
        #expect(MemoryKeys.limit(.mebibytes(5), octaves: -1) == .mebibytes(4))
        #expect(MemoryKeys.limit(.mebibytes(2), octaves: -1) == .mebibytes(2))
        #expect(MemoryKeys.limit(.gibibytes(3), octaves: 1) == .gibibytes(4))
        #expect(MemoryKeys.limit(.gibibytes(8), octaves: 1) == .gibibytes(8))
    }

    /// Tiles of 256 KiB: 1, 5, 21 of them are 0.25, 1.25, 5.25 MiB.
    @Test func pinnedLevelsTakeAnEighth() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        func levels(_ limit: ByteCount) -> Int {
            MemoryKeys.pinnedLevels(of: pyramid, options: LayerOptions(), limit: limit)
        }
        #expect(levels(.mebibytes(1)) == 0)
        #expect(levels(.mebibytes(2)) == 1)
        #expect(levels(.mebibytes(41)) == 2)
        #expect(levels(.mebibytes(42)) == 3)
        #expect(levels(.gibibytes(64)) == 7)
    }

    @Test func ratesAreOfHalfASecond() throws {
        var meter = FrameRateMeter()
        for frame in 0..<30 {
            let isNew = meter.frame(at: time(Double(frame) * 17))
            #expect(!isNew)
        }
        let isNew = meter.frame(at: time(510))
        #expect(isNew)
        let rate = try #require(meter.framesPerSecond)
        #expect(abs(rate - 58.82) < 0.01)
    }
}
