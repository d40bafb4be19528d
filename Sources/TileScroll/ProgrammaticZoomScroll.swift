public import TileCache

/// A scroll view whose zoom the program can set as well as fingers can.
///
/// The bounds are those of the true scale, whatever a host has drawn anew meanwhile: ``relativeScale`` is what is left
/// for it to stretch, and ``transferZoom()`` makes that 1.
public struct ProgrammaticZoomScroll: ScrollModel {
    /// The scales that are allowed, in screen pixels per content unit; closer than 1e-5 to a bound is the bound.
    public let scaleBounds: ClosedRange<Double>
    /// Whether a double tap zooms in to the largest scale, about the tap; on unless set.
    public var zoomsInOnDoubleTap = true
    /// Whether a double tap zooms out to the least scale, about the view's middle: at the largest scale, or at any
    /// where ``zoomsInOnDoubleTap`` is off. On unless set.
    public var zoomsOutOnDoubleTap = true
    /// Asked about each touch and tap first; one that it says `true` to is the host's, and not seen here. A finger
    /// whose end the host takes lets go without a throw. Nothing unless set.
    public var hostConsumes: (@Sendable (ScrollEvent) -> Bool)?
    /// The scale that the host has drawn the content at; see ``transferZoom()``.
    public private(set) var drawnScale: Double

    private var core: ScrollCore

    /// Makes a view of the upper left corner of some content.
    ///
    /// - Parameters:
    ///   - content: in content units, from a millionth to 2^52.
    ///   - view: in screen pixels, from a millionth to 2^52.
    ///   - scaleBounds: screen pixels per content unit, larger than 0.
    ///   - scale: at first; moved to the nearest that is allowed.
    ///   - centersSmallContent: whether content smaller than the view lies in its middle; else, as unless given, in its
    ///     upper left corner.
    /// - Throws: `ScrollError` for other sizes and bounds.
    public init(
        content: ScrollSize,
        view: ScrollSize,
        scaleBounds: ClosedRange<Double>,
        scale: Double = 1,
        centersSmallContent: Bool = false
    ) throws(ScrollError) {
        try ScrollError.check(content, "content")
        try ScrollError.check(view, "view")
        try ScrollError.check(content * scaleBounds.lowerBound, "content at its least scale")
        try ScrollError.check(content * scaleBounds.upperBound, "content at its largest scale")
        self.scaleBounds = scaleBounds
        core = ScrollCore(
            limits: ScrollLimits(view: view, content: content, centersSmallContent: centersSmallContent),
            scaleBounds: scaleBounds,
            offset: .zero,
            scale: scaleBounds.lowerBound
        )
        core.scaleTolerance = 1e-5
        drawnScale = core.snapped(scale.isNaN ? 1 : scale)
        core.scale = drawnScale
        core.offset = core.limits.clamped(.zero, at: drawnScale)
    }

    // MARK: Zooming

    /// What the host stretches its drawing by.
    public var relativeScale: Double { core.scale / drawnScale }

    /// What the host's stretching is bounded by, so that the true scale stays within its own bounds.
    public var relativeBounds: ClosedRange<Double> {
        (scaleBounds.lowerBound / drawnScale)...(scaleBounds.upperBound / drawnScale)
    }

    /// Says that the host has drawn the content anew at the present scale, which it need not stretch any more.
    public mutating func transferZoom() { drawnScale = core.scale }

    /// Another view of the same place is zoomed from now on; it takes the present scale.
    ///
    /// - Parameters:
    ///   - content: its size in content units.
    ///   - time: when.
    /// - Returns: whether it could: not while a zoom is under way, and not for sizes that cannot be shown.
    public mutating func zoomInstead(_ content: ScrollSize, at time: MonotonicTime) -> Bool {
        core.advance(to: MonotonicTime.bounded(time.nanoseconds))
        guard !core.isZooming, (content * scaleBounds.lowerBound).isUsable, (content * scaleBounds.upperBound).isUsable
        else { return false }
        core.interrupt()
        core.limits.content = content
        core.show(core.limits.clamped(core.offset, at: core.scale), core.scale)
        return true
    }

    private mutating func doubleTap(_ place: ScrollVector) {
        if zoomsInOnDoubleTap, core.scale != scaleBounds.upperBound {
            core.zoom(about: place, to: scaleBounds.upperBound, animated: true)
        } else if zoomsOutOnDoubleTap, core.scale != scaleBounds.lowerBound {
            core.zoom(about: core.limits.view.middle, to: scaleBounds.lowerBound, animated: true)
        }
    }

    // MARK: Events

    /// Takes what a person or the program does.
    ///
    /// - Returns: the end of a zoom, where it was to be reported by now: once, 0.1 s after the last scroll event.
    @discardableResult
    public mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport] {
        let reports = advance(to: time)
        guard event.isUsable else { return reports }
        let isConsumed = event.isTouch && hostConsumes?(event) ?? false
        switch event {
        case .touchBegan, .touchMoved: if !isConsumed { core.handle(event) }
        case .touchEnded(let id): core.handle(isConsumed ? .touchCancelled(id: id) : event)
        case .doubleTap(let place): if !isConsumed, !core.isZooming { doubleTap(place) }
        case .zoom(let scale, let place, let animated): core.zoom(about: place, to: scale, animated: animated)
        case .resize(let view):
            core.interrupt()
            core.limits.view = view
            let scale = core.snapped(core.scale)
            core.show(core.limits.clamped(core.offset, at: scale), scale)
        case .touchCancelled, .scroll, .magnify: core.handle(event)
        }
        return reports
    }

    /// Lets time pass.
    ///
    /// - Returns: as ``handle(_:at:)``.
    @discardableResult
    public mutating func advance(to time: MonotonicTime) -> [ScrollReport] {
        core.advance(to: MonotonicTime.bounded(time.nanoseconds))
        return core.takeZoomReport().map { [$0] } ?? []
    }

    /// Where the view is if nothing happens until then.
    public func state(at time: MonotonicTime) -> ScrollState { core.state(at: time) }

    /// Where the view will come to rest, and when.
    public var destination: ViewportDestination? { core.destination }
}
