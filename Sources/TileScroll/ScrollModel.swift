public import TileCache

/// An action of a person or the program on a scroll view.
///
/// Places are in the view, in screen pixels from its upper left corner.
public enum ScrollEvent: Hashable, Sendable {
    /// A finger, or a mouse button, goes down. Two fingers pinch; any further ones are ignored.
    case touchBegan(id: Int, at: ScrollVector)
    /// A finger moves.
    case touchMoved(id: Int, to: ScrollVector)
    /// A finger is lifted; the content moves on by itself.
    case touchEnded(id: Int)
    /// The system cancels a finger; the content stays in place.
    case touchCancelled(id: Int)
    /// Two taps in one place.
    case doubleTap(at: ScrollVector)
    /// A wheel or a trackpad moves the offset, in screen pixels, not beyond the edges.
    case scroll(by: ScrollVector)
    /// A wheel multiplies the scale; the place stays fixed on screen.
    case magnify(by: Double, about: ScrollVector)
    /// The program sets the scale; the place moves to the middle of the view.
    case zoom(to: Double, about: ScrollVector, animated: Bool)
    /// The view's size changes, in screen pixels.
    case resize(ScrollSize)

    /// Whether its numbers are valid; a model ignores other events.
    ///
    /// Invalid are places and distances beyond 2^52 screen pixels, and scales and factors that are not larger than 0.
    var isUsable: Bool {
        switch self {
        case .touchBegan(_, let place), .touchMoved(_, let place), .doubleTap(let place), .scroll(let place):
            place.isPlace
        case .touchEnded, .touchCancelled: true
        case .magnify(let factor, let place): factor > 0 && factor.isFinite && place.isPlace
        case .zoom(let scale, let place, _): scale > 0 && scale.isFinite && place.isPlace
        case .resize(let size): size.isUsable
        }
    }
}

extension ScrollEvent {
    /// Whether it comes from fingers, not from wheels or the program.
    var isTouch: Bool {
        switch self {
        case .touchBegan, .touchMoved, .touchEnded, .touchCancelled, .doubleTap: true
        case .scroll, .magnify, .zoom, .resize: false
        }
    }
}

/// Movement of a scroll view at a moment.
public enum ScrollPhase: Hashable, Sendable {
    /// Nothing moves.
    case rest
    /// One finger holds the content.
    case dragging
    /// Two fingers hold the content, or its scale is animated.
    case zooming
    /// The content moves by itself, or springs back.
    case decelerating
}

/// State of a scroll view at a moment.
public struct ScrollState: Hashable, Sendable {
    /// Place of the visible content in the view's upper left corner, in screen pixels.
    public var offset: ScrollVector
    /// Screen pixels per content unit.
    public var scale: Double
    /// The movement.
    public var phase: ScrollPhase
    /// Viewport for a cache; content units are world pixels.
    public var viewport: TileViewport
}

/// An event for the host.
public struct ScrollReport: Hashable, Sendable {
    /// Kinds of reports.
    public enum Kind: Hashable, Sendable {
        /// Zooming and its bounce have ended; the scale is final.
        case zoomEnded(scale: Double)
        /// The current page has changed.
        case pageChanged(to: Int)
        /// The row of pages stands still, and its current page moves and zooms by itself.
        case pagingStopped
        /// The row of pages moves again.
        case pagingResumed
        /// A photo was left; its decoded pixels are to be released now.
        case pixelsReleased(item: Int)
    }

    /// Time of the event, which may be before the call that reports it.
    public var time: MonotonicTime
    /// Kind of the report.
    public var kind: Kind

    init(_ kind: Kind, at time: Int64) {
        self.kind = kind
        self.time = MonotonicTime(nanoseconds: time)
    }
}

/// A scroll view without a screen: converts timed events to offsets and viewports.
///
/// Time is a parameter and never looked up. Movement between two events is known in closed form: calls of
/// ``state(at:)`` change nothing. A time that goes back counts as the latest one.
public protocol ScrollModel: Sendable {
    /// Handles an event.
    ///
    /// - Returns: Reports up to the event's time, in order.
    @discardableResult
    mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport]

    /// Advances to a time; once for each frame is enough.
    ///
    /// - Returns: Reports up to that time, in order.
    @discardableResult
    mutating func advance(to time: MonotonicTime) -> [ScrollReport]

    /// State at a time, if no event comes before. Earlier times count as that of the last event.
    func state(at time: MonotonicTime) -> ScrollState

    /// Place and time of rest of the current movement. `nil` at rest or while fingers hold the content.
    ///
    /// Pass it to `TileView.update` as the destination, so that tiles are prefetched for the end of a fling.
    var destination: ViewportDestination? { get }
}
