import Testing

@testable import TileCache

@Suite struct PanPaceTests {
    /// The speed before the first pan weighs as much as 256 pixels.
    @Test func theMeanIsOverTheWay() {
        var pace = PanPace()
        #expect(pace.speed == 500)
        pace.note(way: 256, speed: 100)
        #expect(pace.speed == 300)
        // (300 x 512 + 1100 x 512) / 1024.
        pace.note(way: 512, speed: 1100)
        #expect(pace.speed == 700)
        for (way, speed) in [(0, 5), (-1, 5), (.nan, 5), (.infinity, 5), (10, .infinity), (10, Double.nan)] {
            pace.note(way: way, speed: speed)
        }
        #expect(pace.speed == 700)
    }

    /// Of a long session, the last 8,192 pixels count.
    @Test func olderWaysAreForgotten() {
        var pace = PanPace()
        for _ in 0..<100 { pace.note(way: 8192, speed: 100) }
        #expect(pace.speed == 100)
        pace.note(way: 4096, speed: 300)
        #expect(pace.speed == 200)
        pace.note(way: 1e9, speed: 50)
        #expect(pace.speed == 50)
    }

    /// A steady pan of 60 pixels a second, then a jump: it is no pan.
    @Test func aViewHasThePaceOfItsPans() {
        var motion = MotionEstimate()
        let box = PixelRect(minX: 0, minY: 0, maxX: 1000, maxY: 700)
        func observe(_ x: Double, frame: Int) {
            let viewport = TileViewport(center: WorldPoint(x: x, y: 0), width: 1000, height: 700)
            motion.observe(viewport, box: box, level: 5, time: Double(frame) / 60, period: 0)
        }
        for frame in 0...16_384 { observe(Double(frame), frame: frame) }
        #expect(abs(motion.pace.speed - 60) < 8)
        let before = motion.pace.speed
        observe(1e6, frame: 16_385)
        #expect(motion.pace.speed == before)
        observe(1e6, frame: 16_386)
        #expect(motion.pace.speed == before)
    }
}
