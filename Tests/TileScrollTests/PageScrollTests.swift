import Testing
import TileCache

@testable import TileScroll

@Suite struct PageScrollTests {
    private let view = ScrollSize(width: 320, height: 460)
    private let middle = ScrollVector(x: 160, y: 230)

    private func model(_ count: Int = 5) throws -> PageScroll { try PageScroll(count: count, view: view) }

    private func report(_ kind: ScrollReport.Kind, _ time: Double) -> ScrollReport {
        ScrollReport(kind, at: milliseconds(time).nanoseconds)
    }

    /// 159 px are 0.497 of a page, 161 are 0.503.
    @Test func theCurrentPageIsTheRoundedOffset() throws {
        for (way, page) in [(159.0, 0), (161, 1)] {
            var model = try model()
            model.pull([(.init(x: 300, y: 50), .init(x: 300 - way, y: 50))], from: 0, to: 400)
            #expect(model.currentPage == page)
            model.handle(.touchCancelled(id: 0), at: milliseconds(600))
            #expect(model.destination?.viewport.center == WorldPoint(x: Double(page) * 320 + 160, y: 230))
            #expect(model.offset(at: 3000) == ScrollVector(x: Double(page) * 320, y: 0))
            #expect(model.neighbours == (page == 0 ? [1] : [0, 2]))
        }
    }

    @Test func aFlickGoesOnePageHoweverFastItIs() throws {
        var model = try model()
        model.pull([(.init(x: 300, y: 50), .init(x: 200, y: 60))], from: 0, to: 20)
        model.lift(1, at: 20)
        #expect(model.advance(to: milliseconds(2000)).map(\.kind) == [.pageChanged(to: 1)])
        #expect(model.offset(at: 2000) == ScrollVector(x: 320, y: 0))
        // At the first page there is no page before.
        model.pull([(.init(x: 10, y: 50), .init(x: 200, y: 50))], from: 3000, to: 3030)
        model.lift(1, at: 3030)
        model.pull([(.init(x: 10, y: 50), .init(x: 200, y: 50))], from: 6000, to: 6030)
        model.lift(1, at: 6030)
        #expect(model.offset(at: 9000) == .zero)
    }

    /// Pinched to 1.5 and back to 1, with the fingers lifted at 5 s. Paged again 0.2 s later.
    @Test func pagingResumesAfterTheZoomOut() throws {
        var model = try model()
        #expect(model.pinch(about: middle, by: 1.5, from: 0, to: 100).map(\.kind) == [.pagingStopped])
        #expect(model.advance(to: milliseconds(4000)).isEmpty && !model.isPaging)
        #expect(model.scale(at: 4000) == 1.5)
        // A finger moves the page, not the row.
        model.pull([(middle, .init(x: 130, y: 230))], from: 4000, to: 4200)
        model.handle(.touchCancelled(id: 0), at: milliseconds(4400))
        #expect(model.offset(at: 4400).isClose(to: .init(x: 80 + 30, y: 115)) && model.currentPage == 0)
        model.pinch(about: middle, by: 1 / 1.5, from: 4900, to: 5000)
        #expect(model.advance(to: milliseconds(5199.9)).isEmpty)
        let later = model.advance(to: milliseconds(6000))
        #expect(later == [report(.pagingResumed, 5200)])
    }

    /// Pinched below 1, the page returns in 0.2 s. Only then the other 0.2 s begin.
    @Test func pagingResumesAfterTheBounce() throws {
        var model = try model()
        model.pinch(about: middle, by: 0.5, from: 0, to: 100)
        #expect(model.scale(at: 100) < 1 && model.scale(at: 300) == 1)
        #expect(model.advance(to: milliseconds(499.9)).isEmpty)
        #expect(model.advance(to: milliseconds(500)) == [report(.pagingResumed, 500)])
    }

    @Test func aNewZoomCancelsTheReturnToPaging() throws {
        var model = try model()
        model.pinch(about: middle, by: 1, from: 0, to: 100)
        #expect(model.pinch(about: middle, by: 1.2, from: 250, to: 350).isEmpty)
        #expect(model.advance(to: milliseconds(9000)).isEmpty && !model.isPaging)
        // A scale near 1 counts as 1, within 1e-5.
        model.pinch(about: middle, by: 1 / 1.2 * 1.000_005, from: 9000, to: 9100)
        #expect(model.scale(at: 9100) == 1)
        #expect(model.advance(to: milliseconds(9999)).map(\.kind) == [.pagingResumed])
    }

    @Test func aPinchDuringADragLeavesTheRowOnAPage() throws {
        var model = try model()
        model.pull([(.init(x: 300, y: 50), .init(x: 100, y: 50))], from: 0, to: 300)
        #expect(model.currentPage == 1)
        let reports = model.handle(.touchBegan(id: 1, at: .init(x: 200, y: 60)), at: milliseconds(310))
        #expect(reports.map(\.kind) == [.pagingStopped])
        model.lift(2, at: 400)
        #expect(model.advance(to: milliseconds(5000)).map(\.kind) == [.pagingResumed])
        #expect(model.offset(at: 5000) == ScrollVector(x: 320, y: 0) && model.currentPage == 1)
    }

    /// Otherwise a page without a zoom would move by itself, and no end of a zoom would bring paging back.
    @Test func aFingerReportedTwiceIsOneFinger() throws {
        var model = try model()
        for time in [0.0, 10] {
            #expect(model.handle(.touchBegan(id: 0, at: middle), at: milliseconds(time)).isEmpty)
        }
        model.handle(.touchMoved(id: 0, to: .init(x: 60, y: 230)), at: milliseconds(20))
        #expect(model.isPaging && model.offset(at: 20) == ScrollVector(x: 100, y: 0))
    }

    @Test func farPagesCostNothing() throws {
        var model = try PageScroll(count: 1_000_000_000_000, view: view)
        model.handle(.scroll(by: .init(x: 320 * 1e11, y: 0)), at: milliseconds(0))
        model.advance(to: milliseconds(9000))
        #expect(model.neighbours == [99_999_999_999, 100_000_000_001])
        #expect(MemoryLayout<PageScroll>.size < 2000)
        #expect(throws: ScrollError.self) { try PageScroll(count: 0, view: view) }
        #expect(throws: ScrollError.self) { try PageScroll(count: .max, view: view) }
    }

    @Test func turningTheViewKeepsThePage() throws {
        var model = try model()
        model.handle(.scroll(by: .init(x: 640, y: 0)), at: milliseconds(0))
        model.pinch(about: middle, by: 2, from: 1000, to: 1100)
        let before = model.state(at: milliseconds(1100)).viewport
        model.handle(.resize(.init(width: 460, height: 320)), at: milliseconds(2000))
        let after = model.state(at: milliseconds(2000)).viewport
        #expect(model.currentPage == 2 && after.scale == before.scale)
        #expect(abs((before.center.x / 320) - (after.center.x / 460)) < 1e-9)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomGestures(hundred: UInt64) { eachSeed(ofHundred: hundred, session) }

    private func session(seed: UInt64) throws {
        var gestures = RandomGestures(seed: seed, view: view)
        let count = [1, 2, 5, 1000][Int(seed % 4)]
        var model = try model(count)
        var (page, isPaging, lastPinch, lastTouch) = (0, true, -1e9 as Double, -1e9 as Double)
        for _ in 0..<80 {
            let (event, time) = gestures.next()
            let reports = model.advance(to: time) + model.handle(event, at: time)
            var last = Int64.min
            for report in reports {
                try hold(report.time.nanoseconds >= last && report.time <= time)
                last = report.time.nanoseconds
                switch report.kind {
                case .pageChanged(let to):
                    try hold(isPaging && to != page)
                    page = to
                case .pagingStopped:
                    try hold(isPaging)
                    isPaging = false
                case .pagingResumed:
                    try hold(!isPaging)
                    // Not earlier than 0.2 s after the last zoom, and not under a finger.
                    try hold(Double(report.time.nanoseconds) >= lastPinch + 200e6)
                    try hold(Double(report.time.nanoseconds) >= lastTouch)
                    isPaging = true
                default: Issue.record("unexpected \(report)")
                }
            }
            try hold(model.currentPage == page && model.isPaging == isPaging)
            try hold(
                (0..<count).contains(page)
                    && model.neighbours.count == (count == 1 ? 0 : page == 0 || page == count - 1 ? 1 : 2)
            )
            let state = model.state(at: time)
            try hold(state.viewport.isDrawable)
            if event.isTouch, case .doubleTap = event {} else if event.isTouch { lastTouch = Double(time.nanoseconds) }
            if isPaging {
                try hold(state.scale == 1)
                let nearest = Int((state.offset.x / gestures.view.width).rounded())
                try hold(page == nearest.clamped(to: 0...(count - 1)))
            } else if state.phase == .zooming {
                lastPinch = Double(time.nanoseconds)
            }
        }
        let end = gestures.rest(&model)
        let state = model.state(at: end)
        try hold(state.phase == .rest && PageScroll.pageScales.contains(state.scale))
        try hold(model.isPaging == (state.scale == 1))
        let begin = Double(model.currentPage) * gestures.view.width
        let left = (state.viewport.center.x - begin) * state.scale - gestures.view.width / 2
        try hold(left >= -1e-6 && left <= gestures.view.width * (state.scale - 1) + 1e-6)
    }
}
