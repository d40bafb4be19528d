package import PanTraces
import TileCache
import TileScroll

/// Subject of a generated trace: a scroll view design, of five, or a user's session.
package enum GesturePreset: String, Sendable, CaseIterable {
    /// An infinite zoom over tiles, by touch.
    case infinite
    /// A plane that is panned with four tiles, by touch.
    case plane
    /// A view with double taps and pinches, by touch.
    case zoom
    /// A photo viewer, by touch: one photo, first fitted.
    case photo
    /// A row of pages, by touch.
    case pages
    /// A map, dragged with a mouse and zoomed by the wheel.
    case map
    /// Large pictures, by touch: long strokes, flings and small pinches.
    case photoSession = "photo-session"
    /// A slide under a microscope, dragged with a mouse and zoomed by the wheel.
    case slide

    /// Recorded figures that its gestures match.
    ///
    /// In the designs only the gestures match them, since the design limits their effect: a plane ends, a photo is
    /// centred, a row stops at each page. In the sessions there is room, and the trace's own figures match the
    /// recordings.
    package var statistics: RecordedStatistics {
        switch self {
        case .map: .map
        case .slide: .mouse
        case .infinite, .plane, .zoom, .photo, .pages, .photoSession: .touch
        }
    }

    /// Default size of the view in screen pixels.
    package var viewport: PanTraceHeader.Size {
        switch self {
        case .infinite, .plane, .zoom, .photo, .pages: .init(width: 320, height: 460)
        case .map: .init(width: 1000, height: 470)
        case .photoSession, .slide: .init(width: 1280, height: 720)
        }
    }

    /// Default size of the world in world pixels.
    package var world: PanTraceHeader.Size {
        switch self {
        case .plane: .init(width: 16_000, height: 11_500)
        case .photo: .init(width: 4000, height: 3000)
        case .pages: .init(width: 16_000, height: 460)
        case .infinite, .zoom, .map, .photoSession: .init(width: 131_072, height: 131_072)
        case .slide: .init(width: 100_000, height: 80_000)
        }
    }

    enum Zooming: Sendable { case none, wheel, pinch, doubleTap }

    var zooming: Zooming {
        switch self {
        case .plane: .none
        case .map, .slide: .wheel
        case .zoom: .doubleTap
        case .infinite, .photo, .pages, .photoSession: .pinch
        }
    }

    /// Whether content moves on after its release.
    var isTouch: Bool { zooming != .wheel }

    /// Minimum scale of sessions. The world is then four views wide, so that there is room for a stroke.
    static func leastScale(world: ScrollSize, view: ScrollSize) -> Double {
        min(1, max(view.width / world.width, view.height / world.height) * 4)
    }

    /// The scroll view that the gestures move.
    func model(world: ScrollSize, view: ScrollSize) throws(ScrollError) -> any ScrollModel {
        switch self {
        case .infinite: return try InfiniteZoomScroll(world: world, view: view)
        case .plane: return try FixedTileScroll(plane: world, view: view)
        case .photo: return try PhotoScroll(photo: world, view: view)
        case .pages: return try PageScroll(count: Int(min(max(1, world.width / view.width), 0x1p52)), view: view)
        case .zoom, .map, .photoSession, .slide:
            let least = Self.leastScale(world: world, view: view)
            let start = self == .photoSession ? 1 : min(1, least * 8)
            var model = try ProgrammaticZoomScroll(
                content: world,
                view: view,
                scaleBounds: (self == .photoSession ? max(least, 0.5) : least)...1,
                scale: start
            )
            let center = ScrollVector(x: world.width * start / 2, y: world.height * start / 2)
            model.handle(
                .scroll(by: ScrollVector(x: center.x - view.width / 2, y: center.y - view.height / 2)),
                at: MonotonicTime(nanoseconds: 0)
            )
            return model
        }
    }
}
