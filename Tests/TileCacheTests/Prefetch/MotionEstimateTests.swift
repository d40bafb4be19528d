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

    /// Shows a view that zooms about a point of the screen, at 60 Hz from the second frame on.
    private static func zoomed(
        _ motion: inout MotionEstimate,
        octaves: Double,
        frames: Int,
        about offset: WorldPoint,
        drift: Double = 0
    ) {
        var viewport = TileViewport(center: WorldPoint(x: 5000, y: 5000), width: 800, height: 600, scale: 0.3)
        for frame in 0...frames {
            motion.observe(
                viewport,
                box: viewport.uprightRectangle,
                level: Int(PortableMath.log2(viewport.scale * 1024).rounded(.up)),
                time: 1 + Double(frame) / 60,
                period: 0
            )
            let next = viewport.scale * PortableMath.exp2(octaves / Double(frames))
            viewport.center.x += offset.x / viewport.scale - offset.x / next - drift / next
            viewport.center.y += offset.y / viewport.scale - offset.y / next
            viewport.scale = next
        }
    }

    @Test(arguments: [1.5, -1.5]) func aZoomHasASpeedAndAFixedPoint(octaves: Double) {
        var motion = MotionEstimate()
        Self.zoomed(&motion, octaves: octaves, frames: 30, about: WorldPoint(x: 300, y: -120))
        #expect(abs(motion.zoom.speed - 2 * octaves) < 1e-6)
        #expect(abs(motion.zoom.offset.x - 300) < 0.01 && abs(motion.zoom.offset.y + 120) < 0.01)
        // The motion of the centre is the zoom's.
        #expect(motion.heading == WorldPoint(x: 0, y: 0))
        #expect(motion.zoomContext == (octaves > 0 ? .inward : .outward))
    }

    @Test func fingersThatZoomAndPanHavePanned() {
        var motion = MotionEstimate()
        Self.zoomed(&motion, octaves: 0.2, frames: 30, about: WorldPoint(x: 0, y: 0), drift: 20)
        // 600 pixels of panning, less what a zoom by 0.2 octaves about an edge of the view explains.
        #expect(motion.heading.x < -100)
        // Between fingers that move fast the fixed point may be outside.
        #expect(motion.zoom.offset.x.magnitude <= 400)
    }

    /// Scrolls a view of 800 x 600 pixels. `way` is in widths and heights together.
    private static func scroll(_ motion: inout MotionEstimate, _ viewport: inout TileViewport, way: Double) {
        // A step of more than half of the view would be a jump.
        let frames = Int(14 * way) + 1
        let level = Int(PortableMath.log2(viewport.scale * 1024).rounded(.up))
        for _ in 0..<frames {
            viewport.center.y += way * 1400 / Double(frames) / viewport.scale
            motion.observe(
                viewport,
                box: viewport.uprightRectangle,
                level: level,
                time: motion.time + 0.1,
                period: 0
            )
        }
    }

    /// A page that is pinched once, and then read, stays on its level after half of its width and height together. The
    /// next zoom counts again. After it the view is panned for as long as four of them.
    @Test(arguments: [1.0, -1.0]) func aViewSettlesOnItsLevel(octaves: Double) {
        var motion = MotionEstimate()
        Self.zoomed(&motion, octaves: octaves, frames: 30, about: WorldPoint(x: 0, y: 0))
        var viewport = TileViewport(center: WorldPoint(x: 5000, y: 5000), width: 800, height: 600)
        viewport.scale = 0.3 * PortableMath.exp2(octaves)
        let (inward, outward) = (octaves > 0, octaves < 0)
        // The first frame is where the zoom ended.
        Self.scroll(&motion, &viewport, way: 0)
        Self.scroll(&motion, &viewport, way: 0.48)
        #expect(motion.zoomContext == (inward ? .inwardThenPanned : .outwardThenPanned))
        Self.scroll(&motion, &viewport, way: 0.04)
        #expect(motion.zoomContext == .settled)
        Self.zoomed(&motion, octaves: -octaves, frames: 30, about: WorldPoint(x: 0, y: 0))
        #expect(motion.zoomContext == (inward ? .outward : .inward))
        viewport.scale = 0.3 * PortableMath.exp2(-octaves)
        viewport.center = WorldPoint(x: 5000, y: 5000)
        Self.scroll(&motion, &viewport, way: 0)
        Self.scroll(&motion, &viewport, way: 3.9)
        #expect(motion.zoomContext == (outward ? .inwardThenPanned : .outwardThenPanned))
        Self.scroll(&motion, &viewport, way: 0.2)
        #expect(motion.zoomContext == .settled)
    }

    /// Neither a level that changes at one scale nor fingers that move while they pinch are zooms after a pan.
    @Test func onlyZoomsAfterPansAreRemembered() {
        var motion = MotionEstimate()
        var viewport = TileViewport(center: WorldPoint(x: 5000, y: 5000), width: 800, height: 600, scale: 0.3)
        func show(level: Int) {
            motion.observe(
                viewport,
                box: viewport.uprightRectangle,
                level: level,
                time: motion.time + 0.1,
                period: 0
            )
        }
        for round in 0..<4 {
            show(level: 9 + round % 2)
            Self.scroll(&motion, &viewport, way: 0.1)
        }
        Self.scroll(&motion, &viewport, way: 0.5)
        #expect(motion.zoomContext == .settled)
        // Each level of the pinch begins after the fingers have moved by 80 pixels, twice what counts as a pan.
        motion = MotionEstimate()
        Self.zoomed(&motion, octaves: 3, frames: 60, about: WorldPoint(x: 0, y: 0), drift: 4)
        viewport.scale = 2.4
        Self.scroll(&motion, &viewport, way: 0)
        Self.scroll(&motion, &viewport, way: 0.4)
        #expect(motion.zoomContext == .inwardThenPanned)
        Self.scroll(&motion, &viewport, way: 0.15)
        #expect(motion.zoomContext == .settled)
    }

    /// The more zooms follow pans, the longer a view is not settled, up to 16 of its widths and heights together.
    @Test func zoomsBetweenPansAreRemembered() {
        var motion = MotionEstimate()
        var viewport = TileViewport(center: WorldPoint(x: 5000, y: 5000), width: 800, height: 600)
        for round in 0..<8 {
            Self.zoomed(&motion, octaves: round.isMultiple(of: 2) ? 1 : -1, frames: 30, about: WorldPoint(x: 0, y: 0))
            viewport.scale = round.isMultiple(of: 2) ? 0.6 : 0.15
            viewport.center = WorldPoint(x: 5000, y: 5000)
            Self.scroll(&motion, &viewport, way: 0)
            Self.scroll(&motion, &viewport, way: 0.4)
        }
        Self.scroll(&motion, &viewport, way: 15.4)
        #expect(motion.zoomContext == .outwardThenPanned)
        Self.scroll(&motion, &viewport, way: 0.3)
        #expect(motion.zoomContext == .settled)
    }

    /// What a zoom about an edge of the view moves the centre by, in large steps too.
    @Test(arguments: [1.0, -1.0]) func aZoomAboutAnEdgeIsNoPan(octaves: Double) {
        var motion = MotionEstimate()
        Self.zoomed(&motion, octaves: octaves, frames: 5, about: WorldPoint(x: 399.9, y: -299.9))
        #expect(motion.heading == WorldPoint(x: 0, y: 0))
        #expect(motion.zoomContext == (octaves > 0 ? .inward : .outward))
    }

    @Test func withoutTheEffectZoomsAreNotFollowed() {
        var motion = MotionEstimate(followsZoom: false)
        Self.zoomed(&motion, octaves: 1.5, frames: 30, about: WorldPoint(x: 300, y: -120))
        #expect(motion.zoom.speed == 0 && motion.zoom.nextOffset == WorldPoint(x: 0, y: 0))
        #expect(motion.zoomContext == .inwardThenPanned)
    }

    /// A pinch is gradual, a step of a wheel is not. If zooms are not followed, none is.
    @Test func zoomsAreGradualOrNot() {
        var motion = MotionEstimate()
        #expect(!motion.zoom.isGradual)
        Self.zoomed(&motion, octaves: -1.5, frames: 30, about: WorldPoint(x: 0, y: 0))
        #expect(motion.zoom.isGradual)
        Self.zoomed(&motion, octaves: -1.5, frames: 1, about: WorldPoint(x: 0, y: 0))
        #expect(!motion.zoom.isGradual)
        var other = MotionEstimate(followsZoom: false)
        Self.zoomed(&other, octaves: -1.5, frames: 30, about: WorldPoint(x: 0, y: 0))
        #expect(!other.zoom.isGradual)
    }

    /// A wheel that zooms by one octave a click, and a jump to another place.
    @Test func clicksKeepTheirPointAndJumpsHaveNone() {
        var motion = MotionEstimate()
        var viewport = TileViewport(center: WorldPoint(x: 5000, y: 5000), width: 800, height: 600, scale: 1.0 / 64)
        func show(_ number: Int) {
            let time = Double(number)
            motion.observe(viewport, box: viewport.uprightRectangle, level: number, time: time, period: 0)
        }
        show(0)
        for click in 1...4 {
            viewport.center.x += 250 / viewport.scale / 2
            viewport.scale *= 2
            show(click)
        }
        // Three pairs of 250^2, the last at full weight, and the prior of 200^2.
        let products = 250.0 * 250 * (1 + 0.9 + 0.81)
        #expect(abs(motion.zoom.nextOffset.x - 250 * products / (products + 40_000)) < 1e-9)
        #expect(motion.zoom.nextOffset.y == 0 && motion.zoom.speed == 0)
        // A jump, and a level that changes without a zoom.
        let before = motion
        viewport.center.x += 500 / viewport.scale
        show(4)
        #expect(motion.zoom.nextOffset == WorldPoint(x: 0, y: 0))
        motion = before
        viewport.center.x -= 500 / viewport.scale
        show(5)
        #expect(motion.zoom.nextOffset == WorldPoint(x: 0, y: 0))
        motion = before
        viewport.center.x += 3000
        viewport.scale *= 2
        show(5)
        #expect(motion.zoom.nextOffset == WorldPoint(x: 0, y: 0))
    }

    /// Sizes and places near the limits of numbers, and scales that differ by the least.
    @Test func theEstimateIsFinite() {
        var random = SplitMix64(seed: 11)
        var motion = MotionEstimate()
        var viewport = TileViewport(center: WorldPoint(x: 0, y: 0), width: 800, height: 600, scale: 1)
        for frame in 0..<20_000 {
            switch Int(random.next() % 7) {
            case 0: viewport.scale = viewport.scale.nextUp
            case 1: viewport.scale = PortableMath.exp2(random.next(from: -900, to: 900))
            case 2: viewport.center.x = random.next(from: -1, to: 1) * PortableMath.exp2(random.next(from: 0, to: 900))
            case 3: viewport.scale *= random.next(from: 0.9, to: 1.1)
            case 4: viewport.center.y += 10 / viewport.scale
            case 5: viewport.width = PortableMath.exp2(random.next(from: 0, to: 1000))
            default: break
            }
            guard viewport.isDrawable else {
                viewport = TileViewport(center: WorldPoint(x: 0, y: 0), width: 800, height: 600, scale: 1)
                continue
            }
            let box = viewport.uprightRectangle
            motion.observe(viewport, box: box, level: frame / 7 % 3, time: Double(frame) / 60, period: 0)
            let zoom = motion.zoom
            #expect(zoom.speed.isFinite && zoom.offset.x.isFinite && zoom.offset.y.isFinite, "seed 11, frame \(frame)")
            #expect(zoom.nextOffset.x.isFinite && zoom.nextOffset.y.isFinite, "seed 11, frame \(frame)")
            #expect(motion.heading.x.isFinite && motion.heading.y.isFinite, "seed 11, frame \(frame)")
        }
    }
}
