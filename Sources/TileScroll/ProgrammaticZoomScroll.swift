public import TileCache

/// A scroll view zoomed by the program as well as by fingers.
///
/// The bounds are those of the true scale, whatever a host has redrawn meanwhile: ``relativeScale`` is the remaining
/// factor for it to stretch by, and ``transferZoom()`` makes that 1.
public struct ProgrammaticZoomScroll: ScrollModel {
    /// Allowed scales, in screen pixels per content unit. A scale closer than 1e-5 to a bound, and than a thousandth of
    /// the bound, is the bound.
    public let scaleBounds: ClosedRange<Double>
    /// Whether a double tap zooms in to the largest scale, about the tap. Default: `true`.
    public var zoomsInOnDoubleTap = true
    /// Whether a double tap zooms out to the smallest scale, about the view's middle. Default: `true`. It does at the
    /// largest scale, or at any scale if ``zoomsInOnDoubleTap`` is off.
    public var zoomsOutOnDoubleTap = true
    /// Filter for touches and taps; events for which it returns `true` are ignored here. Default: `nil`. If it consumes
    /// the end of a touch, the content is released without a throw.
    public var hostConsumes: (@Sendable (ScrollEvent) -> Bool)?
    /// Scale at which the host has drawn the content; see ``transferZoom()``.
    public private(set) var drawnScale: Double

    private var core: ScrollCore

    /// Creates a view at the upper left corner of some content.
    ///
    /// - Parameters:
    ///   - content: In content units, from a millionth to 2^52.
    ///   - view: In screen pixels, from a millionth to 2^52.
    ///   - scaleBounds: Screen pixels per content unit, larger than 0.
    ///   - scale: Initial scale, clamped to the bounds.
    ///   - centersSmallContent: Whether content smaller than the view is centred; otherwise it is in the upper left
    ///     corner. Default: `false`.
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

    /// Factor by which the host stretches its drawing.
    public var relativeScale: Double { core.scale / drawnScale }

    /// Bounds of the host's factor, so that the true scale stays within its own bounds.
    public var relativeBounds: ClosedRange<Double> {
        (scaleBounds.lowerBound / drawnScale)...(scaleBounds.upperBound / drawnScale)
    }

    /// Reports that the host has redrawn the content at the present scale, without stretching.
    public mutating func transferZoom() { drawnScale = core.scale }

    /// Zooms another view of the same place from now on, at the present scale.
    ///
    /// - Parameters:
    ///   - content: Its size in content units.
    ///   - time: Time of the change.
    /// - Returns: `false` during a zoom and for sizes that cannot be shown.
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

    /// Handles an event.
    ///
    /// - Returns: The end of a zoom, reported once, 0.1 s after the last scroll event.
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

    /// Advances to a time.
    ///
    /// - Returns: As ``handle(_:at:)``.
    @discardableResult
    public mutating func advance(to time: MonotonicTime) -> [ScrollReport] {
        core.advance(to: MonotonicTime.bounded(time.nanoseconds))
        return core.takeZoomReport().map { [$0] } ?? []
    }

    /// State at a time, if no event comes before.
    public func state(at time: MonotonicTime) -> ScrollState { core.state(at: time) }

    /// Place and time of rest of the current movement.
    public var destination: ViewportDestination? { core.destination }
}
