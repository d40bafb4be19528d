import Testing
import TileCache

@testable import TileScroll

@Suite struct PhotoScrollTests {
    private let view = ScrollSize(width: 320, height: 460)
    private let large = ScrollSize(width: 4000, height: 3000)

    /// Fits in 320 x 460: .08 for 4000 x 3000, .32 for 1000 x 1000. And .8 for 400 x 500, 3.2 for 100 x 100.
    @Test(arguments: [
        (4000.0, 3000.0, 0.08, 0.3), (3200, 100, 0.1, 0.7), (1000, 1000, 0.32, 0.7), (640, 10, 0.5, 1),
        (400, 500, 0.8, 1), (100, 100, 3.2, 3.2),
    ])
    func scaleBoundsDependOnTheFit(width: Double, height: Double, least: Double, largest: Double) throws {
        let model = try PhotoScroll(photo: .init(width: width, height: height), view: view)
        #expect(model.scaleBounds == least...largest)
        #expect(model.scale(at: 0) == least)
    }

    /// 320 x 240 px in a view 460 px high: 110 px above it.
    @Test func startsWholeAndInTheMiddle() throws {
        let model = try PhotoScroll(photo: large, view: view)
        #expect(model.offset(at: 0).isClose(to: .init(x: 0, y: -110)))
    }

    /// At 0.3 the view is 1066.67 x 1533.33 photo pixels. In the middle of the photo it begins at (440, 220) px.
    @Test func aDoubleTapShowsTheRectangleAroundIt() throws {
        var model = try PhotoScroll(photo: large, view: view)
        model.handle(.doubleTap(at: .init(x: 160, y: 230)), at: milliseconds(0))
        #expect(model.destination?.time == milliseconds(200))
        #expect(model.scale(at: 200) == 0.3 && model.offset(at: 200).isClose(to: .init(x: 440, y: 220)))
        // Near a corner the rectangle is moved into the photo.
        model.handle(.doubleTap(at: .init(x: 319, y: 459)), at: milliseconds(1000))
        #expect(model.offset(at: 1200).isClose(to: .init(x: 440 + 319 - 160, y: 900 - 460)))
        model.handle(.scroll(by: .init(x: 9999, y: 9999)), at: milliseconds(2000))
        model.handle(.doubleTap(at: .init(x: 319, y: 459)), at: milliseconds(2001))
        #expect(model.offset(at: 2300).isClose(to: .init(x: 1200 - 320, y: 900 - 460)))
    }

    /// No positive scale makes these fit.
    @Test(
        arguments: [
            (0, 0, 0, 0), (0, 1, 0, 1), (1, 1, 0, 1), (.nan, 1, 1, 1), (1, 1, 1, .nan), (.infinity, 1, 1, 1),
            (-1, 1, 1, 1), (1, 1, -1, -1),
        ] as [(Double, Double, Double, Double)]
    ) func sizesThatAreNoneHaveOneScale(
        photoWidth: Double,
        photoHeight: Double,
        viewWidth: Double,
        viewHeight: Double
    ) {
        let photo = ScrollSize(width: photoWidth, height: photoHeight)
        let view = ScrollSize(width: viewWidth, height: viewHeight)
        #expect(PhotoScroll.scaleBounds(photo: photo, view: view) == 1...1)
    }

    @Test func turningTheViewKeepsTheMiddleAndTheScale() throws {
        var model = try PhotoScroll(photo: large, view: view)
        let turned = ScrollSize(width: 460, height: 320)
        // Whole stays whole: a fit of 320 / 3000, in the middle.
        model.handle(.resize(turned), at: milliseconds(0))
        #expect(model.scale(at: 0) == 320.0 / 3000 && model.scaleBounds.upperBound == 0.7)
        #expect(model.offset(at: 0).isClose(to: .init(x: (4000 * 320.0 / 3000 - 460) / 2, y: 0)))
        model.handle(.resize(view), at: milliseconds(1))
        #expect(model.scale(at: 1) == 0.08)
        // The photo's middle at 0.3 is at (600, 450) px.
        model.handle(.doubleTap(at: .init(x: 160, y: 230)), at: milliseconds(10))
        model.handle(.resize(turned), at: milliseconds(500))
        #expect(model.scale(at: 500) == 0.3 && model.offset(at: 500).isClose(to: .init(x: 600 - 230, y: 450 - 160)))
        // 0.7 exceeds the maximum of this view.
        model.handle(.doubleTap(at: .init(x: 230, y: 160)), at: milliseconds(1000))
        #expect(model.scale(at: 1200) == 0.7)
        model.handle(.resize(view), at: milliseconds(1300))
        #expect(model.scale(at: 1300) == 0.3 && model.offset(at: 1300).isClose(to: .init(x: 440, y: 220)))
    }

    /// A fit of 0.32. Two fingers make it 0.4, 400 x 400 px, which is still less high than the view.
    @Test func smallContentIsCentredWhileZoomingToo() throws {
        var model = try PhotoScroll(photo: .init(width: 1000, height: 1000), view: view)
        let middle = ScrollVector(x: 100, y: 300)
        model.pull(
            [
                (middle - .init(x: 40, y: 0), middle - .init(x: 50, y: 0)),
                (middle + .init(x: 40, y: 0), middle + .init(x: 50, y: 0)),
            ],
            from: 0,
            to: 100
        )
        let state = model.state(at: milliseconds(100))
        #expect(abs(state.scale - 0.4) < 1e-12 && abs(state.offset.y - (400 - 460) / 2) < 1e-9)
        // 100 px from the left edge were 312.5 photo pixels, 125 px now.
        #expect(abs(state.offset.x - 25) < 1e-9)
    }

    @Test func decelerationIsFast() throws {
        var model = try PhotoScroll(photo: .init(width: 40_000, height: 460), view: view)
        model.handle(.zoom(to: 1, about: .init(x: 160, y: 230), animated: false), at: milliseconds(0))
        let before = model.offset(at: 0).x
        model.pull([(.init(x: 300, y: 50), .init(x: 200, y: 50))], from: 0, to: 100, steps: 10)
        model.lift(1, at: 100)
        // 1000 px/s end 99.5 px farther, less the half pixel.
        let end = try #require(model.destination)
        #expect(abs(end.viewport.center.x * model.scale(at: 100) - 160 - before - 100 - 99.0) < 0.01)
        #expect(end.time < milliseconds(700))
    }

    @Test func pixelsGoWhenThePhotoIsLeft() throws {
        var model = try PhotoScroll(photo: large, view: view, item: 3)
        model.pull([(.init(x: 10, y: 10), .init(x: 50, y: 90))], from: 0, to: 100)
        let left = try model.show(.init(width: 1000, height: 1000), item: 4, at: milliseconds(120))
        #expect(left == [ScrollReport(.pixelsReleased(item: 3), at: milliseconds(120).nanoseconds)])
        #expect(model.item == 4 && model.scale(at: 120) == 0.32 && model.state(at: milliseconds(120)).phase == .rest)
        #expect(
            model.leave(at: milliseconds(200)) == [
                ScrollReport(.pixelsReleased(item: 4), at: milliseconds(200).nanoseconds)
            ]
        )
        #expect(model.leave(at: milliseconds(300)).isEmpty && model.item == nil)
        #expect(throws: ScrollError.self) { try model.show(.init(width: 0, height: 1), item: 5, at: milliseconds(400)) }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomGestures(hundred: UInt64) { eachSeed(ofHundred: hundred, session) }

    private func session(seed: UInt64) throws {
        var gestures = RandomGestures(seed: seed, view: .init(width: 320, height: 460))
        let photo = ScrollSize(
            width: [80, 300, 900, 2000, 6000][Int(seed % 5)],
            height: 100 + gestures.dice.unit() * 3000
        )
        var model = try PhotoScroll(photo: photo, view: gestures.view)
        for _ in 0..<80 {
            let (event, time) = gestures.next()
            let before = model.state(at: time)
            let bounds = model.scaleBounds
            model.handle(event, at: time)
            let view = gestures.view
            for later in [0, 30, 90] as [Int64] {
                let state = model.state(at: MonotonicTime(nanoseconds: time.nanoseconds + later * 1_000_000))
                try hold(state.viewport.isDrawable)
                try hold(
                    state.scale >= model.scaleBounds.lowerBound / 2 && state.scale <= model.scaleBounds.upperBound * 2
                )
                // Smaller than the view: in its middle, at every layout.
                let (width, height) = (photo.width * state.scale, photo.height * state.scale)
                if width < view.width - 1e-6 { try hold(abs(state.offset.x - (width - view.width) / 2) < 1e-6) }
                if height < view.height - 1e-6 { try hold(abs(state.offset.y - (height - view.height) / 2) < 1e-6) }
            }
            if case .resize = event {
                let state = model.state(at: time)
                try hold(model.scaleBounds.contains(state.scale))
                let wasWhole = abs(before.scale - bounds.lowerBound) <= bounds.lowerBound.ulp
                if wasWhole {
                    try hold(state.scale == model.scaleBounds.lowerBound)
                } else {
                    try hold(state.scale == before.scale.clamped(to: model.scaleBounds))
                }
            }
        }
        let end = gestures.rest(&model)
        let state = model.state(at: end)
        try hold(state.phase == .rest && model.scaleBounds.contains(state.scale))
        let (width, height) = (photo.width * state.scale, photo.height * state.scale)
        if width >= gestures.view.width {
            try hold(state.offset.x >= 0 && state.offset.x <= width - gestures.view.width)
        }
        if height >= gestures.view.height {
            try hold(state.offset.y >= 0 && state.offset.y <= height - gestures.view.height)
        }
    }
}
