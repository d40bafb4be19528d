import Testing

@testable import TileCache

@Suite struct ViewportPointTests {
    private func viewport(_ rotation: Double) -> TileViewport {
        TileViewport(center: WorldPoint(x: 1000, y: 2000), width: 800, height: 600, scale: 2, rotation: rotation)
    }

    @Test func anUprightViewIsShiftedAndScaled() {
        let view = viewport(0)
        #expect(view.screen(of: WorldPoint(x: 1000, y: 2000)) == (400, 300))
        #expect(view.screen(of: WorldPoint(x: 800, y: 1850)) == (0, 0))
        #expect(view.world(at: (800, 600)) == WorldPoint(x: 1200, y: 2150))
    }

    /// Turned clockwise by a quarter, the right edge of the screen shows what is below.
    @Test func aQuarterTurnShowsWhatIsBelowOnTheRight() {
        let right = viewport(.pi / 2).world(at: (800, 300))
        #expect(abs(right.x - 1000) < 1e-9 && abs(right.y - 2200) < 1e-9, "\(right)")
        let down = viewport(.pi / 2).screen(of: WorldPoint(x: 1000, y: 2200))
        #expect(abs(down.x - 800) < 1e-9 && abs(down.y - 300) < 1e-9, "\(down)")
    }

    @Test(arguments: [-3, -0.3, 0, 0.1, 1, 2.5, 9]) func oneIsTheInverseOfTheOther(rotation: Double) {
        let view = viewport(rotation)
        for (x, y) in [(0.0, 0.0), (800, 0), (123, 456), (-50, 700)] {
            let back = view.screen(of: view.world(at: (x, y)))
            #expect(abs(back.x - x) < 1e-9 && abs(back.y - y) < 1e-9)
        }
    }

    /// What is drawn at the corners is what the view asks for.
    @Test(arguments: [0, 0.4, 2]) func theCornersBoundWhatIsNeeded(rotation: Double) throws {
        let view = viewport(rotation)
        let clip = ViewportClip(view)
        let corner = view.world(at: (0, 0))
        func area(_ x: Double, _ y: Double) -> Double {
            let point = view.world(at: (x, y))
            return clip.screenArea(
                of: PixelRect(minX: point.x - 1, minY: point.y - 1, maxX: point.x + 1, maxY: point.y + 1)
            )
        }
        #expect(corner.x.isFinite && area(10, 10) > 15.9 && area(790, 590) > 15.9)
        #expect(area(-10, -10) == 0 && area(810, 610) == 0)
    }
}
