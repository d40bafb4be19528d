import Testing

@testable import TileCache

@Suite struct ZoomEstimateTests {
    private static func point(_ x: Double, _ y: Double) -> WorldPoint { WorldPoint(x: x, y: y) }

    @Test func withoutAnotherZoomTheNextIsAboutTheCentre() {
        var zoom = ZoomEstimate()
        #expect(zoom.nextOffset == Self.point(0, 0))
        zoom.noteLevel(offset: Self.point(200, -100), isGradual: false)
        #expect(zoom.nextOffset == Self.point(0, 0))
    }

    /// The prior weighs as much as one zoom about a point at 200 pixels from the centre.
    @Test func aPointThatStaysIsExpectedAgain() {
        var zoom = ZoomEstimate()
        zoom.noteLevel(offset: Self.point(200, 0), isGradual: false)
        zoom.noteLevel(offset: Self.point(200, 0), isGradual: false)
        #expect(zoom.nextOffset == Self.point(100, 0))
        for _ in 0..<100 { zoom.noteLevel(offset: Self.point(200, 0), isGradual: false) }
        // 1 / (1 - 0.9) zooms: 400,000 of 440,000.
        #expect(abs(zoom.nextOffset.x - 200 * 10.0 / 11) < 0.01 && zoom.nextOffset.y == 0)
    }

    /// A renderer that moves the point to the centre: an offset is followed by none.
    @Test func aPointThatMovesToTheCentreIsNotExpected() {
        var zoom = ZoomEstimate()
        for _ in 0..<20 {
            zoom.noteLevel(offset: Self.point(300, 50), isGradual: false)
            zoom.noteLevel(offset: Self.point(-3, 0), isGradual: false)
            zoom.forgetOffset()
        }
        zoom.noteLevel(offset: Self.point(300, 50), isGradual: false)
        #expect(zoom.nextOffset == Self.point(0, 0))
    }

    @Test func afterPanningTheNextZoomIsAboutTheCentre() {
        var zoom = ZoomEstimate()
        for _ in 0..<10 { zoom.noteLevel(offset: Self.point(0, 250), isGradual: false) }
        #expect(zoom.nextOffset.y > 200)
        zoom.forgetOffset()
        #expect(zoom.nextOffset == Self.point(0, 0))
        zoom.noteLevel(offset: nil, isGradual: false)
        #expect(zoom.nextOffset == Self.point(0, 0))
    }

    /// A square that overflows is no evidence.
    @Test func offsetsBeyondAllScreensTeachNothing() {
        var zoom = ZoomEstimate()
        for x in [200, 200, 1e200, 1e200, 200, 200] { zoom.noteLevel(offset: Self.point(x, 0), isGradual: false) }
        #expect(zoom.nextOffset == Self.point(200, 0))
    }
}
