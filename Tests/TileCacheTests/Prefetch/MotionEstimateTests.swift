import Testing

@testable import TileCache

@Suite struct MotionEstimateTests {
    /// At the seam of a wrapping world positions continue; rounding errors there are not motion.
    @Test func aViewBeyondTheSeamComesToRest() {
        var random = SplitMix64(seed: 7)
        for number in 0..<200 {
            let period = random.next(from: 100, to: 1e6)
            let scale = random.next(from: 0.1, to: 3)
            let speed = random.next(from: 5, to: 200) / scale
            var motion = MotionEstimate()
            var x = period - 10.3 * speed
            var time = 0.0
            func show() {
                time += 1.0 / 60
                let box = PixelRect(minX: 0, minY: 0, maxX: 800 / scale, maxY: 600 / scale)
                let viewport = TileViewport(center: WorldPoint(x: x, y: 50), width: 800, height: 600, scale: scale)
                motion.observe(viewport, box: box, level: 3, time: time, period: period)
            }
            for _ in 0..<20 {
                x += speed
                if x >= period { x -= period }
                show()
            }
            #expect(motion.isMoving && motion.velocity.x > 0)
            for _ in 0..<20 { show() }
            #expect(motion.isStill, "\(number): a world of \(period) at scale \(scale)")
        }
    }

    /// A renderer may stop to predict the times of its frames.
    @Test(arguments: [0.005, 0.05, 0.1, 60]) func aTimeThatGoesBackDoesNotChangeTheSpeed(step: Double) {
        var motion = MotionEstimate()
        var (x, time) = (0.0, 1e3)
        func show() {
            x += 10
            time += 1.0 / 60
            let viewport = TileViewport(center: WorldPoint(x: x, y: 50), width: 800, height: 600)
            motion.observe(viewport, box: viewport.uprightRectangle, level: 3, time: time, period: 0)
        }
        for _ in 0..<20 { show() }
        time -= 1.0 / 60 + step
        show()
        for _ in 0..<12 {
            show()
            #expect(motion.isMoving && (motion.velocity.x - 600).magnitude < 1)
        }
    }
}
