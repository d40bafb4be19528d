import Foundation
import Testing
import TileCache
import TileScroll

@testable import ViewerKit

/// Input moves the view.
@Suite struct NavigatorTests {
    private let view = ScrollSize(width: 800, height: 600)

    private func navigator(wraps: Bool = true) throws -> Navigator {
        try Navigator(
            pyramid: .powerOfTwo(worldWidth: 65_536, worldHeight: 65_536, wrapsX: wraps),
            view: view
        )
    }

    private func frame(_ number: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(number) * 16_666_667) }

    /// World point at a place of the window.
    private func point(_ place: ScrollVector, _ viewport: TileViewport) -> WorldPoint {
        WorldPoint(
            x: viewport.center.x + (place.x - viewport.width / 2) / viewport.scale,
            y: viewport.center.y + (place.y - viewport.height / 2) / viewport.scale
        )
    }

    private func run(_ navigator: inout Navigator, _ frames: ClosedRange<Int>) {
        for number in frames { navigator.advance(to: frame(number)) }
    }

    @Test func theWholeWorldIsSeenAtFirst() throws {
        for wraps in [true, false] {
            let viewport = try navigator(wraps: wraps).viewport(at: frame(0))
            #expect(viewport.scale == 600.0 / 65_536)
            #expect(abs(viewport.center.x - 32_768) < 1e-6 && abs(viewport.center.y - 32_768) < 1e-6)
        }
    }

    @Test func theContentsAreSeenAtFirst() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 65_536, worldHeight: 65_536)
        for (part, scale) in [
            (PixelRect(minX: 8192, minY: 4096, maxX: 24_576, maxY: 8192), 800.0 / 16_384),
            (PixelRect(minX: 65_000, minY: 0, maxX: 90_000, maxY: 40_000), 600.0 / 40_000),
        ] {
            let viewport = try Navigator(pyramid: pyramid, contents: part, view: view).viewport(at: frame(0))
            #expect(abs(viewport.scale / scale - 1) < 1e-9)
            #expect(abs(viewport.center.y - (part.minY + part.maxY) / 2) < 1e-6)
        }
        let nothing = try Navigator(
            pyramid: pyramid,
            contents: PixelRect(minX: 5, minY: 5, maxX: 5, maxY: 9),
            view: view
        )
        #expect(nothing.viewport(at: frame(0)).scale == 600.0 / 65_536)
    }

    /// A notch is half an octave, done within a third of a second. The point under the pointer is fixed.
    @Test(arguments: [2.0, 5, -1]) func theWheelZoomsAboutThePointer(notches: Double) throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 0.25),
            at: frame(0)
        )
        let place = ScrollVector(x: 650, y: 120)
        let before = point(place, navigator.viewport(at: frame(0)))
        _ = navigator.handle(.wheel(notches: notches, at: place), at: frame(0))
        var scales: [Double] = []
        for number in 1...30 {
            navigator.advance(to: frame(number))
            let viewport = navigator.viewport(at: frame(number))
            let now = point(place, viewport)
            #expect(abs(now.x - before.x) < 1e-3 && abs(now.y - before.y) < 1e-3)
            scales.append(viewport.scale)
        }
        #expect(abs(scales[29] / (0.25 * exp2(notches / 2)) - 1) < 1e-9)
        #expect(Set(scales).count > 10)
    }

    @Test func aDoubleClickZoomsByTwoAboutItsPlace() throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 0.25),
            at: frame(0)
        )
        let place = ScrollVector(x: 100, y: 500)
        let before = point(place, navigator.viewport(at: frame(0)))
        _ = navigator.handle(.buttonDown(at: place, clicks: 2), at: frame(0))
        _ = navigator.handle(.buttonUp, at: frame(1))
        #expect(navigator.destination?.viewport.scale == 0.5)
        run(&navigator, 2...20)
        let viewport = navigator.viewport(at: frame(20))
        let after = point(place, viewport)
        #expect(viewport.scale == 0.5)
        #expect(abs(after.x - before.x) < 1e-6 && abs(after.y - before.y) < 1e-6)
    }

    @Test func aThrowGoesOnAndSaysWhereItEnds() throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 1),
            at: frame(0)
        )
        _ = navigator.handle(.buttonDown(at: .init(x: 600, y: 300), clicks: 1), at: frame(0))
        for number in 1...6 {
            _ = navigator.handle(.pointerMoved(to: .init(x: 600 - Double(number) * 20, y: 300)), at: frame(number))
        }
        #expect(abs(navigator.viewport(at: frame(6)).center.x - 30_120) < 1e-6)
        #expect(navigator.destination == nil)
        _ = navigator.handle(.buttonUp, at: frame(6))
        let end = try #require(navigator.destination)
        #expect(end.viewport.center.x > 30_300)
        run(&navigator, 7...400)
        #expect(navigator.viewport(at: frame(400)) == end.viewport)
        // Without a button the pointer moves nothing.
        _ = navigator.handle(.pointerMoved(to: .init(x: 0, y: 0)), at: frame(401))
        #expect(navigator.viewport(at: frame(402)) == end.viewport)
    }

    @Test func fingersPinch() throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 0.5),
            at: frame(0)
        )
        _ = navigator.handle(.fingerDown(id: 0, at: .init(x: 300, y: 300)), at: frame(0))
        _ = navigator.handle(.fingerDown(id: 1, at: .init(x: 500, y: 300)), at: frame(0))
        _ = navigator.handle(.fingerMoved(id: 0, to: .init(x: 200, y: 300)), at: frame(1))
        _ = navigator.handle(.fingerMoved(id: 1, to: .init(x: 600, y: 300)), at: frame(1))
        #expect(abs(navigator.viewport(at: frame(1)).scale - 1) < 1e-9)
    }

    @Test func keysMoveForAsLongAsTheyAreHeld() throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 1),
            at: frame(0)
        )
        _ = navigator.handle(.keyDown(.right), at: frame(0))
        _ = navigator.handle(.keyDown(.up), at: frame(0))
        run(&navigator, 1...60)
        _ = navigator.handle(.keyUp(.right), at: frame(60))
        _ = navigator.handle(.keyUp(.up), at: frame(60))
        run(&navigator, 61...70)
        let viewport = navigator.viewport(at: frame(70))
        #expect(abs(viewport.center.x - 30_000 - Navigator.keySpeed) < 1)
        #expect(abs(viewport.center.y - 20_000 + Navigator.keySpeed) < 1)
    }

    /// Two quick presses are two octaves. 0 is one to one, Home shows everything.
    @Test func keysZoom() throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 0.125),
            at: frame(0)
        )
        _ = navigator.handle(.keyDown(.plus), at: frame(1))
        _ = navigator.handle(.keyDown(.plus), at: frame(3))
        run(&navigator, 4...30)
        #expect(abs(navigator.viewport(at: frame(30)).scale - 0.5) < 1e-9)
        _ = navigator.handle(.keyDown(.minus), at: frame(30))
        run(&navigator, 31...50)
        #expect(abs(navigator.viewport(at: frame(50)).scale - 0.25) < 1e-9)
        _ = navigator.handle(.keyDown(.zero), at: frame(50))
        run(&navigator, 51...70)
        #expect(navigator.viewport(at: frame(70)).scale == 1)
        #expect(abs(navigator.viewport(at: frame(70)).center.x - 30_000) < 1e-3)
        _ = navigator.handle(.keyDown(.home), at: frame(70))
        run(&navigator, 71...90)
        #expect(abs(navigator.viewport(at: frame(90)).scale / navigator.overview.scale - 1) < 1e-9)
        #expect(abs(navigator.viewport(at: frame(90)).center.x - 32_768) < 1)
    }

    /// A wrapping world continues east of the seam, and Home shows the nearest copy. Other worlds end there.
    @Test func wrappingWorldsGoOn() throws {
        for wraps in [true, false] {
            var navigator = try navigator(wraps: wraps)
            navigator.look(
                at: TileViewport(center: WorldPoint(x: 65_000, y: 20_000), width: 800, height: 600, scale: 1),
                at: frame(0)
            )
            _ = navigator.handle(.keyDown(.right), at: frame(0))
            run(&navigator, 1...120)
            _ = navigator.handle(.keyUp(.right), at: frame(120))
            let x = navigator.viewport(at: frame(120)).center.x
            #expect(wraps ? abs(x - 67_000) < 1 : abs(x - (65_536 - 400)) < 1e-6)
            _ = navigator.handle(.keyDown(.home), at: frame(120))
            run(&navigator, 121...140)
            #expect(abs(navigator.viewport(at: frame(140)).center.x - (wraps ? 98_304 : 32_768)) < 1)
        }
    }

    @Test func aResizeKeepsTheMiddleAndTheScale() throws {
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 20_000), width: 800, height: 600, scale: 0.5),
            at: frame(0)
        )
        _ = navigator.handle(.resized(ScrollSize(width: 1200, height: 500)), at: frame(1))
        let viewport = navigator.viewport(at: frame(1))
        #expect((viewport.width, viewport.height, viewport.scale) == (1200, 500, 0.5))
        #expect(abs(viewport.center.x - 30_000) < 1e-6 && abs(viewport.center.y - 20_000) < 1e-6)
        _ = navigator.handle(.resized(ScrollSize(width: 0, height: 0)), at: frame(2))
        #expect(navigator.viewport(at: frame(2)) == viewport)
    }

    @Test func commandsAreTheViewersOwn() throws {
        var navigator = try navigator()
        let events: [InputEvent] = [.keyDown(.o), .keyDown(.less), .keyDown(.p), .closed, .keyDown(.left)]
        let commands = events.map { navigator.handle($0, at: frame(0)) }
        #expect(commands == [.toggleOverlay, .scaleMemory(octaves: -1), .screenshot(path: nil), .quit, nil])
    }

    /// A point under the pointer stays there: while it is dragged, and while the wheel zooms about it.
    @Test func aTurnedViewFollowsThePointer() throws {
        func place(of world: WorldPoint, _ viewport: TileViewport) -> SIMD2<Double> {
            viewport.screenPosition(ofX: world.x, y: world.y)
        }
        var navigator = try navigator()
        navigator.look(
            at: TileViewport(center: WorldPoint(x: 30_000, y: 30_000), width: 800, height: 600, scale: 0.5),
            at: frame(0)
        )
        for _ in 0..<3 { _ = navigator.handle(.keyDown(.clockwise), at: frame(0)) }
        let before = navigator.viewport(at: frame(0))
        #expect(abs(before.rotation - .pi / 4) < 1e-12)
        #expect(abs(before.center.x - 30_000) < 1e-9 && abs(before.center.y - 30_000) < 1e-9)
        _ = navigator.handle(.buttonDown(at: ScrollVector(x: 500, y: 300), clicks: 1), at: frame(1))
        for step in 1...20 {
            let to = ScrollVector(x: 500 + Double(step) * 10, y: 300)
            _ = navigator.handle(.pointerMoved(to: to), at: frame(1 + step))
        }
        let start = place(of: before.center, before)
        let end = place(of: before.center, navigator.viewport(at: frame(21)))
        // Less the distance after which a press is a drag.
        #expect(end.x - start.x > 150 && end.x - start.x <= 200.5)
        #expect(abs(end.y - start.y) < 1)
        for _ in 0..<3 { _ = navigator.handle(.keyDown(.anticlockwise), at: frame(22)) }
        #expect(navigator.viewport(at: frame(22)).rotation == before.rotation, "a drag would jump")
    }

    /// Input goes on from a rotated view, such as the last of a trace, without a jump.
    @Test func aViewToLookAtKeepsItsRotation() throws {
        var navigator = try navigator()
        let viewport = TileViewport(
            center: WorldPoint(x: 30_000, y: 30_000),
            width: 800,
            height: 600,
            scale: 0.5,
            rotation: 0.3
        )
        _ = navigator.handle(.keyDown(.clockwise), at: frame(0))
        navigator.look(at: viewport, at: frame(0))
        var shown = navigator.viewport(at: frame(0))
        #expect(shown.rotation == 0.3 && abs(shown.center.x - 30_000) < 1e-6)
        _ = navigator.handle(.resized(ScrollSize(width: 900, height: 600)), at: frame(1))
        #expect(navigator.viewport(at: frame(1)).rotation == 0.3)
        _ = navigator.handle(.keyDown(.clockwise), at: frame(2))
        shown = navigator.viewport(at: frame(2))
        #expect(abs(shown.rotation - 0.3 - .pi / 12) < 1e-12)
        // A press of the right key moves the view to the right on screen.
        _ = navigator.handle(.keyDown(.right), at: frame(2))
        run(&navigator, 3...12)
        let place = navigator.viewport(at: frame(12)).screenPosition(ofX: shown.center.x, y: shown.center.y)
        #expect(place.x < 400 && abs(place.y - 300) < 1e-3)
        navigator.canTurn = false
        navigator.look(at: viewport, at: frame(13))
        #expect(navigator.viewport(at: frame(13)).rotation == 0)
    }

    @Test func onlyRenderersThatCanTurnDo() throws {
        var navigator = try navigator()
        navigator.canTurn = false
        _ = navigator.handle(.keyDown(.clockwise), at: frame(1))
        #expect(navigator.viewport(at: frame(1)).rotation == 0)
    }
}
