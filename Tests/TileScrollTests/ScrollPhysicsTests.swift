import Foundation
import Testing
import TileCache

@testable import TileScroll

@Suite struct ScrollPhysicsTests {
    @Test(arguments: ScrollDeceleration.Rate.allCases)
    func speedFallsByTheSamePartInEveryMillisecond(rate: ScrollDeceleration.Rate) {
        let motion = ScrollDeceleration(from: .zero, velocity: .init(x: 3000, y: -400), rate: rate)
        #expect(abs(rate.decay + 1000 * log(rate.perMillisecond)) < 1e-12)
        for step in 0..<500 {
            let (before, after) = (
                motion.velocity(after: Double(step) / 1e3), motion.velocity(after: Double(step + 1) / 1e3)
            )
            #expect(abs(after.x / before.x - rate.perMillisecond) < 1e-12)
        }
    }

    /// 1000 px/s reach 1000 / 2.0020027 = 499.4998 px. Motion stops half a pixel before that, after ln 999 / 2.002 s.
    @Test func theEndPointIsKnown() {
        let motion = ScrollDeceleration(from: .init(x: 7, y: 0), velocity: .init(x: 1000, y: 0))
        #expect(abs(motion.end.x - (7 + 499.49983 - 0.5)) < 1e-4)
        #expect(abs(motion.duration - log(499.49983 / 0.5) / 2.0020027) < 1e-6)
        #expect(motion.offset(after: motion.duration + 1) == motion.end)
        #expect(motion.velocity(after: motion.duration) == .zero)
        // The same by small steps.
        var (x, speed) = (7.0, 1000.0)
        for _ in 0..<Int(motion.duration * 1e5) {
            x += speed * 1e-5
            speed *= pow(0.998, 0.01)
        }
        #expect(abs(x - motion.end.x) < 0.02)
    }

    @Test func whatIsTooSlowStaysWhereItIs() {
        // 1.001 px/s is half a pixel's reach.
        #expect(ScrollDeceleration(from: .zero, velocity: .init(x: 1.0009, y: 0)).duration == 0)
        #expect(ScrollDeceleration(from: .zero, velocity: .init(x: 1.0011, y: 0)).duration > 0)
        #expect(ScrollDeceleration(from: .init(x: 3, y: 4), velocity: .init(x: .nan, y: 0)).end == .init(x: 3, y: 4))
    }

    @Test func aRubberBandResists() {
        // 100 px in a view of 320: (1 - 1 / (55 / 320 + 1)) 320.
        #expect(abs(RubberBand.shown(100, 320) - 46.933333333333) < 1e-9)
        #expect(RubberBand.shown(0, 320) == 0)
        #expect(RubberBand.shown(1e9, 320) < 320)
        for pull in [0.1, 1, 50, 300, 2000] {
            #expect(abs(RubberBand.pulled(RubberBand.shown(pull, 320), 320) / pull - 1) < 1e-9)
        }
    }

    @Test func aSpringComesBackWithoutSwinging() {
        let spring = Spring(from: 80, to: 0, velocity: 0)
        var last = 80.0
        for step in 1...300 {
            let place = spring.position(after: Double(step) / 100)
            #expect(place <= last && place >= 0)
            last = place
        }
        #expect(last == 0)
        // A damped spring by small steps: x'' = -100 x - 20 x'.
        let pushed = Spring(from: -10, to: 0, velocity: 900)
        var (x, speed, time) = (-10.0, 900.0, 0.0)
        while time < 0.5 {
            speed += (-100 * x - 20 * speed) * 1e-5
            x += speed * 1e-5
            time += 1e-5
        }
        #expect(abs(pushed.position(after: 0.5) - x) < 0.01)
        #expect(abs(pushed.position(after: pushed.duration.nextDown)) <= Spring.restDistance)
    }

    @Test func velocityIsTheSlopeOfTheLast100Milliseconds() {
        var tracker = VelocityTracker()
        // Fast at first, which is ignored, then 300 px/s to the right and 100 up.
        for step in 0...40 {
            let time = Int64(step) * 8_000_000
            let x = step < 20 ? Double(step) * 50 : 1000 + Double(step - 20) * 2.4
            tracker.add(.init(x: x, y: -Double(step) * 0.8), at: time)
        }
        let end: Int64 = 40 * 8_000_000
        #expect(tracker.velocity(at: end).isClose(to: .init(x: 300, y: -100), within: 1e-6))
        #expect(tracker.velocity(at: end + 40_000_000).x > 299)
        #expect(tracker.velocity(at: end + 40_000_001) == .zero)
        var one = VelocityTracker()
        one.add(.init(x: 1, y: 1), at: 5)
        #expect(one.velocity(at: 6) == .zero)
    }

    /// A finger that has stopped 30 ms before its release. The rate of the events does not matter.
    @Test(arguments: [1, 4]) func velocityDoesNotDependOnTheRate(milliseconds: Int) {
        var tracker = VelocityTracker()
        for time in stride(from: Int64(0), through: 1000, by: milliseconds) {
            tracker.add(.init(x: Double(min(time, 970)) * 0.3, y: 0), at: time * 1_000_000)
        }
        #expect(tracker.velocity(at: 1_000_000_000).isClose(to: .init(x: 235, y: 0), within: 5))
    }

    /// Extreme numbers: they are ignored, or come to rest like any others.
    @Test func nothingOverflows() throws {
        let far = ScrollVector(x: 0x1p52, y: -0x1p52)
        let events: [ScrollEvent] = [
            .touchBegan(id: 0, at: far), .touchMoved(id: 0, to: far * -1), .touchEnded(id: 0), .scroll(by: far),
            .touchBegan(id: 1, at: .init(x: .nan, y: 0)), .touchBegan(id: 2, at: far * 2), .touchEnded(id: .max),
            .touchBegan(id: 3, at: far), .touchBegan(id: 4, at: far * -1), .touchMoved(id: 3, to: far * -1),
            .touchEnded(id: 3), .touchCancelled(id: 4), .magnify(by: .greatestFiniteMagnitude, about: far),
            .magnify(by: .leastNonzeroMagnitude, about: .zero), .zoom(to: 1e300, about: far, animated: true),
            .zoom(to: -1, about: .zero, animated: false), .resize(.init(width: -1, height: .infinity)),
        ]
        let view = ScrollSize(width: 320, height: 460)
        var models: [any ScrollModel] = [
            try InfiniteZoomScroll(world: .init(width: 0x1p52, height: 1e-6), view: view),
            try FixedTileScroll(view: view), try PhotoScroll(photo: .init(width: 1e-6, height: 0x1p52), view: view),
            try PageScroll(count: 1 << 40, view: view),
            try ProgrammaticZoomScroll(content: view, view: view, scaleBounds: 1e-3...1e12),
        ]
        for index in models.indices {
            for (step, event) in (events + events.reversed()).enumerated() {
                models[index].handle(event, at: MonotonicTime(nanoseconds: Int64(step % 7) - 3))
            }
            models[index].handle(.touchEnded(id: 0), at: MonotonicTime(nanoseconds: .max))
            models[index].handle(.touchEnded(id: 3), at: MonotonicTime(nanoseconds: .max))
            #expect(models[index].state(at: MonotonicTime(nanoseconds: .min)).viewport.isDrawable)
        }
    }

    /// Not a number, infinite and extreme in each field of each event.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func noFieldOfAnEventDoesHarm(hundred: UInt64) {
        eachSeed(ofHundred: hundred) { seed in
            let view = ScrollSize(width: 320, height: 460)
            try harm(InfiniteZoomScroll(world: .init(width: 1000, height: 700), view: view), seed) {
                _ = $0.layoutTiles(at: $1)
            }
            try harm(FixedTileScroll(view: view), seed) { _ = $0.layoutTiles(at: $1) }
            try harm(PhotoScroll(photo: .init(width: 4000, height: 3000), view: view), seed) { _, _ in }
            try harm(PageScroll(count: 20, view: view), seed) { _, _ in }
            try harm(ProgrammaticZoomScroll(content: view, view: view, scaleBounds: 0.5...4), seed) { model, time in
                _ = model.zoomInstead(ScrollSize(width: .nan, height: 1), at: time)
                _ = model.zoomInstead(ScrollSize(width: 1, height: .infinity), at: time)
            }
        }
    }

    private func harm<Model: ScrollModel>(
        _ model: Model,
        _ seed: UInt64,
        lookAt: (inout Model, MonotonicTime) -> Void
    ) throws {
        var (model, dice, now) = (model, SplitMix64(seed: seed), Int64(0))
        func number() -> Double {
            let numbers = [
                .nan, .infinity, -.infinity, .signalingNaN, 0x1p52, -0x1p52, 0x1p53, 0, -1, 1e-6,
                .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.7, 2,
            ]
            let number = dice.whole(0...(2 * numbers.count))
            return number < numbers.count ? numbers[number] : dice.unit() * 400
        }
        func place() -> ScrollVector { ScrollVector(x: number(), y: number()) }
        for _ in 0..<100 {
            let id = dice.whole(0...2)
            let event: ScrollEvent =
                switch dice.whole(0...8) {
                case 0: .touchBegan(id: id, at: place())
                case 1: .touchMoved(id: id, to: place())
                case 2: .touchEnded(id: id)
                case 3: .touchCancelled(id: id)
                case 4: .doubleTap(at: place())
                case 5: .scroll(by: place())
                case 6: .magnify(by: number(), about: place())
                case 7: .zoom(to: number(), about: place(), animated: dice.whole(0...1) == 0)
                default: .resize(ScrollSize(width: number(), height: number()))
                }
            now += Int64(dice.whole(0...300)) * 1_000_000
            let time = MonotonicTime(nanoseconds: now)
            model.handle(event, at: time)
            lookAt(&model, time)
            try hold(model.state(at: time).viewport.isDrawable)
            if let end = model.destination { try hold(end.viewport.isDrawable) }
        }
    }

    @Test func motionCrossesTheEdgeAndComesBackToIt() throws {
        let limits = ScrollLimits(view: .init(width: 100, height: 100), content: .init(width: 1000, height: 100))
        let motion = try #require(
            ScrollMotion(
                from: .init(x: 700, y: 0),
                velocity: .init(x: 2000, y: 500),
                limits: limits,
                scale: 1,
                rate: .normal,
                at: 0
            )
        )
        #expect(motion.endOffset == .init(x: 900, y: 0))
        let places = (0...4000).map { motion.offset(at: Int64($0) * 1_000_000) }
        #expect(places.contains { $0.x > 910 } && places.contains { $0.x == 900 })
        // No jump anywhere, and no motion in the direction that cannot move.
        let steps = zip(places, places.dropFirst()).map { $1.x - $0.x }
        #expect(steps.map(\.magnitude).max() ?? 0 <= 2.0001)
        #expect(!places.contains { $0.y != 0 })
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func everyMotionIsContinuousAndEndsInBounds(hundred: UInt64) { eachSeed(ofHundred: hundred, checkMotion) }

    private func checkMotion(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        let limits = ScrollLimits(
            view: .init(width: 50 + dice.unit() * 300, height: 50 + dice.unit() * 300),
            content: .init(width: 20 + dice.unit() * 3000, height: 20 + dice.unit() * 3000),
            inset: .init(x: dice.unit() * 50, y: 0),
            centersSmallContent: dice.whole(0...1) == 0,
            alwaysBounces: dice.whole(0...1) == 0
        )
        let start = limits.stretched(.init(x: dice.unit() * 3600 - 300, y: dice.unit() * 3600 - 300), at: 1)
        let velocity = ScrollVector(x: dice.unit() * 6000 - 3000, y: dice.unit() * 6000 - 3000)
        guard
            let motion = ScrollMotion(
                from: start,
                velocity: velocity,
                limits: limits,
                scale: 1,
                rate: dice.whole(0...1) == 0 ? .normal : .fast,
                at: 0
            )
        else { return }
        try hold(limits.clamped(motion.endOffset, at: 1) == motion.endOffset)
        try hold(motion.offset(at: 0).isClose(to: start))
        try hold(motion.offset(at: motion.end) == motion.endOffset)
        var last = motion.offset(at: 0)
        var time: Int64 = 0
        while time < motion.end {
            time += 1_000_000
            let place = motion.offset(at: time)
            try hold((place - last).length < 8)
            last = place
        }
    }
}
