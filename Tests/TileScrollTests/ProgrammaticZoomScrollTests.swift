import Testing
import TileCache

@testable import TileScroll

@Suite struct ProgrammaticZoomScrollTests {
    private let view = ScrollSize(width: 100, height: 100)
    private let middle = ScrollVector(x: 50, y: 50)

    private func model(scale: Double = 1) throws -> ProgrammaticZoomScroll {
        try ProgrammaticZoomScroll(
            content: .init(width: 1000, height: 1000),
            view: view,
            scaleBounds: 0.5...2,
            scale: scale
        )
    }

    private func ended(_ scale: Double, _ time: Double) -> ScrollReport {
        ScrollReport(.zoomEnded(scale: scale), at: milliseconds(time).nanoseconds)
    }

    /// (25, 75) becomes (50, 150), in the middle at an offset of (0, 100).
    @Test func whatIsUnderThePointComesToTheMiddle() throws {
        var model = try model()
        model.handle(.zoom(to: 2, about: .init(x: 25, y: 75), animated: false), at: milliseconds(0))
        #expect(model.scale(at: 0) == 2 && model.offset(at: 0) == .init(x: 0, y: 100))
        #expect(model.advance(to: milliseconds(99.999)).isEmpty)
        #expect(model.advance(to: milliseconds(100)) == [ended(2, 100)])
        #expect(model.advance(to: milliseconds(1000)).isEmpty)
    }

    /// After half of 0.2 s half of the visible change is done. From 100 to 50 units wide it is 75, from 0 to 50 down
    /// 25.
    @Test func animationTakesAFifthOfASecond() throws {
        var model = try model()
        model.handle(.zoom(to: 2, about: .init(x: 25, y: 75), animated: true), at: milliseconds(0))
        #expect(model.destination?.time == milliseconds(200))
        #expect(model.destination?.viewport.center == WorldPoint(x: 25, y: 75))
        #expect(abs(model.scale(at: 100) - 100.0 / 75) < 1e-12)
        #expect(model.offset(at: 100).isClose(to: .init(x: 0, y: 25 * 100.0 / 75)))
        #expect(model.state(at: milliseconds(199.999)).phase == .zooming)
        #expect(model.state(at: milliseconds(200)).phase == .rest)
        #expect(model.offset(at: 200) == .init(x: 0, y: 100) && model.scale(at: 200) == 2)
        // 0.1 s after the last scroll event, which is the end of the animation.
        #expect(model.advance(to: milliseconds(1000)) == [ended(2, 300)])
    }

    /// 40 units at scale 1 leave 60 pixels, at scale 2 they leave 20. A fling cannot move.
    @Test func smallContentLiesInTheMiddleWhereItIsAskedFor() throws {
        for (centers, first, last) in [(true, -30.0, -10.0), (false, 0, 0)] {
            var model = try ProgrammaticZoomScroll(
                content: .init(width: 40, height: 40),
                view: view,
                scaleBounds: 0.5...2,
                centersSmallContent: centers
            )
            #expect(model.offset(at: 0) == .init(x: first, y: first))
            model.handle(.zoom(to: 2, about: .zero, animated: false), at: milliseconds(0))
            #expect(model.offset(at: 0) == .init(x: last, y: last))
        }
    }

    @Test func offsetsAreClampedToTheContent() throws {
        var model = try model()
        model.handle(.zoom(to: 2, about: .zero, animated: false), at: milliseconds(0))
        #expect(model.offset(at: 0) == .zero)
        model.handle(.scroll(by: .init(x: 1e9, y: 1e9)), at: milliseconds(1))
        model.handle(.zoom(to: 0.5, about: .init(x: 100, y: 100), animated: false), at: milliseconds(2))
        #expect(model.offset(at: 2) == .init(x: 400, y: 400) && model.scale(at: 2) == 0.5)
    }

    @Test func scalesNextToABoundAreTheBound() throws {
        for (asked, expected) in [
            (1.999991, 2.0), (1.99998, 1.99998), (2.5, 2), (0.500009, 0.5), (0.50002, 0.50002), (0.1, 0.5),
        ] {
            var model = try model()
            model.handle(.zoom(to: asked, about: middle, animated: false), at: milliseconds(0))
            #expect(model.scale(at: 0) == expected)
        }
    }

    /// At the smallest scale of a world of 2^30 pixels, the step of a wheel is far below 1e-5.
    @Test func smallScalesAreNotNextToEachOther() throws {
        let whole = 0x1p-23
        var model = try ProgrammaticZoomScroll(
            content: .init(width: 0x1p30, height: 0x1p30),
            view: view,
            scaleBounds: whole...1,
            scale: whole
        )
        model.handle(.magnify(by: 1.5, about: middle), at: milliseconds(0))
        #expect(model.scale(at: 0) == 1.5 * whole)
        for (factor, expected) in [(1.0009, 1.0), (1.0011, 1.0011)] {
            model.handle(.zoom(to: factor * whole, about: middle, animated: false), at: milliseconds(1))
            #expect(model.scale(at: 1) == expected * whole)
        }
    }

    @Test func boundsAreThoseOfTheTrueScale() throws {
        var model = try model()
        model.handle(.zoom(to: 1.6, about: middle, animated: false), at: milliseconds(0))
        model.transferZoom()
        #expect(model.relativeScale == 1 && model.drawnScale == 1.6)
        #expect(model.relativeBounds == (0.5 / 1.6)...(2 / 1.6))
        model.handle(.magnify(by: 5, about: middle), at: milliseconds(1))
        #expect(model.scale(at: 1) == 2 && model.relativeScale == 1.25)
        model.transferZoom()
        model.handle(.magnify(by: 0.1, about: middle), at: milliseconds(2))
        #expect(model.scale(at: 2) == 0.5 && model.relativeScale == 0.25)
    }

    @Test(arguments: [
        (true, true, 1.0, 2.0), (true, true, 2.0, 0.5), (true, false, 1.0, 2.0), (true, false, 2.0, 2.0),
        (false, true, 1.0, 0.5), (false, true, 2.0, 0.5), (false, true, 0.5, 0.5), (false, false, 1.0, 1.0),
    ])
    func doubleTaps(zoomsIn: Bool, zoomsOut: Bool, from: Double, to: Double) throws {
        var model = try model(scale: from)
        model.zoomsInOnDoubleTap = zoomsIn
        model.zoomsOutOnDoubleTap = zoomsOut
        model.handle(.scroll(by: .init(x: 100, y: 100)), at: milliseconds(0))
        let before = model.offset(at: 0)
        let tap = ScrollVector(x: 10, y: 90)
        model.handle(.doubleTap(at: tap), at: milliseconds(1))
        #expect(model.scale(at: 500) == to)
        let place = to > from ? tap : middle
        let expected = to == from ? before : (before + place) * (to / from) - middle
        let top = 1000 * to - 100
        let legal = ScrollVector(x: expected.x.clamped(to: 0...top), y: expected.y.clamped(to: 0...top))
        #expect(model.offset(at: 500).isClose(to: legal))
    }

    /// A pinch beyond the maximum scale returns in .2 s. Its end is reported .1 s later.
    @Test func theEndIsReportedOnceAfterTheBounce() throws {
        var model = try model(scale: 1.5)
        model.handle(.scroll(by: .init(x: 300, y: 300)), at: milliseconds(0))
        #expect(model.pinch(about: middle, by: 2, from: 1000, to: 1100).isEmpty)
        #expect(model.scale(at: 1100) > 2)
        #expect(model.scale(at: 1300) == 2)
        #expect(model.advance(to: milliseconds(1399.9)).isEmpty)
        #expect(model.advance(to: milliseconds(5000)) == [ended(2, 1400)])
    }

    /// Scrolling after the zoom delays the report, a resting finger does not.
    @Test func laterScrollEventsPutTheReportOff() throws {
        var model = try model()
        model.handle(.scroll(by: .init(x: 300, y: 300)), at: milliseconds(0))
        model.pinch(about: middle, by: 1.5, from: 1000, to: 1100)
        let pulled = model.pull([(middle, .init(x: 70, y: 50))], from: 1150, to: 1190)
        #expect(pulled.isEmpty)
        #expect(model.advance(to: milliseconds(1289)).isEmpty)
        #expect(model.advance(to: milliseconds(2000)) == [ended(1.5, 1290)])
        // A new zoom before the report: one report for both.
        model.handle(.touchEnded(id: 0), at: milliseconds(2500))
        model.pinch(about: middle, by: 1.1, from: 4000, to: 4100)
        #expect(model.pinch(about: middle, by: 1.1, from: 4150, to: 4400).isEmpty)
        #expect(model.advance(to: milliseconds(9000)).map(\.time) == [milliseconds(4500)])
    }

    @Test func theHostMayConsumeTouchesFirst() throws {
        var model = try model()
        model.handle(.scroll(by: .init(x: 300, y: 300)), at: milliseconds(0))
        model.hostConsumes = { event in
            if case .touchBegan(_, let place) = event { return place.x < 50 }
            if case .doubleTap = event { return true }
            return false
        }
        model.handle(.doubleTap(at: middle), at: milliseconds(1))
        model.pull([(.init(x: 10, y: 10), .init(x: 40, y: 40))], from: 10, to: 50)
        model.lift(1, at: 50)
        #expect(model.state(at: milliseconds(60)).phase == .rest && model.offset(at: 60) == .init(x: 300, y: 300))
        model.pull([(.init(x: 60, y: 10), .init(x: 60, y: 40))], from: 100, to: 150)
        #expect(model.offset(at: 150) == .init(x: 300, y: 270))
        // The end of a finger that the host takes is no fling.
        model.hostConsumes = { if case .touchEnded = $0 { true } else { false } }
        model.lift(1, at: 150)
        #expect(model.state(at: milliseconds(150)).phase == .rest)
    }

    @Test func anotherViewTakesTheScale() throws {
        var model = try model(scale: 2)
        model.handle(.scroll(by: .init(x: 900, y: 900)), at: milliseconds(0))
        let isTaken = model.zoomInstead(.init(width: 300, height: 2000), at: milliseconds(1))
        #expect(isTaken)
        #expect(model.scale(at: 1) == 2 && model.offset(at: 1) == .init(x: 500, y: 900))
        model.handle(.zoom(to: 1, about: middle, animated: true), at: milliseconds(2))
        let isTakenInZoom = model.zoomInstead(.init(width: 10, height: 10), at: milliseconds(100))
        #expect(!isTakenInZoom)
        let isTakenAfterIt = model.zoomInstead(.init(width: 400, height: 400), at: milliseconds(202))
        #expect(isTakenAfterIt)
        let isTakenWithoutSize = model.zoomInstead(.init(width: .nan, height: 400), at: milliseconds(300))
        #expect(!isTakenWithoutSize)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomGestures(hundred: UInt64) { eachSeed(ofHundred: hundred, session) }

    private func session(seed: UInt64) throws {
        var gestures = RandomGestures(seed: seed, view: .init(width: 200, height: 300))
        let content = ScrollSize(width: 150 + Double(seed % 13) * 90, height: 900)
        let bounds = 0.3...(seed % 4 == 0 ? 0.3 : 2.5)
        var model = try ProgrammaticZoomScroll(content: content, view: gestures.view, scaleBounds: bounds)
        var often = model
        var witness = PinchWitness()
        var worst = 0.0
        for _ in 0..<80 {
            let (event, time) = gestures.next()
            // Queries in between change nothing.
            let between = MonotonicTime(nanoseconds: time.nanoseconds - Int64(gestures.dice.whole(0...40)) * 1_000_000)
            var reports = often.advance(to: between)
            reports += often.handle(event, at: time)
            try hold(model.handle(event, at: time) == reports)
            let state = model.state(at: time)
            try hold(often.state(at: time) == state)
            try hold(state.viewport.isDrawable && (0.1...6).contains(state.scale))
            try hold(reports.count <= 1)
            if gestures.dice.whole(0...9) == 0 {
                model.transferZoom()
                often.transferZoom()
            }
            let room = ScrollVector(
                x: content.width * state.scale - gestures.view.width,
                y: content.height * state.scale - gestures.view.height
            )
            // Without a destination the view is being dragged, not animated.
            let isFree =
                model.destination == nil && state.offset.x > 0 && state.offset.x < room.x && state.offset.y > 0
                && state.offset.y < room.y
                && state.scale > bounds.lowerBound && state.scale < bounds.upperBound
            let fingers = gestures.down.prefix(2)
            let middle = gestures.down.count == 2 ? (fingers[0].place + fingers[1].place) * 0.5 : nil
            worst = max(worst, witness.look(state, middle: middle, isFree: isFree))
        }
        try hold(worst <= 1)
        let end = gestures.rest(&model)
        let state = model.state(at: end)
        try hold(state.phase == .rest && bounds.contains(state.scale))
        try hold(state.offset.x >= 0 && state.offset.x <= max(0, content.width * state.scale - gestures.view.width))
        try hold(state.offset.y >= 0 && state.offset.y <= max(0, content.height * state.scale - gestures.view.height))
        try hold(model.advance(to: MonotonicTime(nanoseconds: end.nanoseconds + 1_000_000_000)).isEmpty)
    }
}
