public import TileCache

/// What a person, or the program, does to a scroll view. Places are in the view, in screen pixels from its upper left
/// corner.
public enum ScrollEvent: Hashable, Sendable {
    /// A finger, or a mouse button, goes down. Two fingers pinch; any further ones are ignored.
    case touchBegan(id: Int, at: ScrollVector)
    /// A finger moves.
    case touchMoved(id: Int, to: ScrollVector)
    /// A finger is lifted; what it moved goes on by itself.
    case touchEnded(id: Int)
    /// A finger is taken away by the system; what it moved stays where it is.
    case touchCancelled(id: Int)
    /// Two taps in one place.
    case doubleTap(at: ScrollVector)
    /// A wheel or a trackpad moves the offset, in screen pixels, never beyond the edges.
    case scroll(by: ScrollVector)
    /// A wheel multiplies the scale; the place stays where it is on screen.
    case magnify(by: Double, about: ScrollVector)
    /// The program sets the scale; what lies under the place comes to the middle of the view.
    case zoom(to: Double, about: ScrollVector, animated: Bool)
    /// The view has another size, in screen pixels.
    case resize(ScrollSize)

    /// Whether its numbers can be reckoned with; a model ignores events where they cannot: places and ways beyond 2^52
    /// screen pixels, scales and factors that are not larger than 0.
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
    /// Whether it comes from fingers, and not from wheels or the program.
    var isTouch: Bool {
        switch self {
        case .touchBegan, .touchMoved, .touchEnded, .touchCancelled, .doubleTap: true
        case .scroll, .magnify, .zoom, .resize: false
        }
    }
}

/// What a scroll view does at a moment.
public enum ScrollPhase: Hashable, Sendable {
    /// Nothing moves.
    case rest
    /// One finger holds the content.
    case dragging
    /// Two fingers hold the content, or its scale is on its way to another.
    case zooming
    /// The content goes on by itself, or springs back.
    case decelerating
}

/// Where a scroll view is at a moment.
public struct ScrollState: Hashable, Sendable {
    /// The place of the content, as it is shown, in the view's upper left corner, in screen pixels.
    public var offset: ScrollVector
    /// Screen pixels per content unit.
    public var scale: Double
    /// What it does.
    public var phase: ScrollPhase
    /// What a cache is told: content units are world pixels.
    public var viewport: TileViewport
}

/// Something that a host wants to know once.
public struct ScrollReport: Hashable, Sendable {
    /// What there is to know.
    public enum Kind: Hashable, Sendable {
        /// Zooming is over, its bounce too; the scale is final.
        case zoomEnded(scale: Double)
        /// Another page is the current one.
        case pageChanged(to: Int)
        /// The row of pages stands still, and its current page moves and zooms for itself.
        case pagingStopped
        /// The row of pages moves again.
        case pagingResumed
        /// A photo was left, and its decoded pixels are to go now.
        case pixelsReleased(item: Int)
    }

    /// When it happened, which may be before the call that reports it.
    public var time: MonotonicTime
    /// What there is to know.
    public var kind: Kind

    init(_ kind: Kind, at time: Int64) {
        self.kind = kind
        self.time = MonotonicTime(nanoseconds: time)
    }
}

/// A scroll view without a screen: events with their times go in, offsets and viewports come out.
///
/// Time is a parameter and never looked up. Between two events all movement is known in closed form: how often
/// ``state(at:)`` is asked changes nothing. Times that go back count as the latest one.
public protocol ScrollModel: Sendable {
    /// Takes what a person or the program does.
    ///
    /// - Returns: what has come to pass until then, in order.
    @discardableResult
    mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport]

    /// Lets time pass; once for each frame is enough.
    ///
    /// - Returns: what has come to pass until then, in order.
    @discardableResult
    mutating func advance(to time: MonotonicTime) -> [ScrollReport]

    /// Where the view is if nothing happens until then; times before the last event count as that.
    func state(at time: MonotonicTime) -> ScrollState

    /// Where the view will come to rest and when, while it moves by itself; `nil` where it rests or is held.
    ///
    /// This is what `TileView.update` takes as its destination, so that tiles are fetched for the end of a fling.
    var destination: ViewportDestination? { get }
}
