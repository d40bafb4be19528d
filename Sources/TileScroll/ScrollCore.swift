import TileCache

/// What all scroll views have in common: fingers, throws, bounces, zooms, and the bounds of all of them.
///
/// The scale is always the true one, from content units to screen pixels, whatever a host has transferred to its own
/// drawing meanwhile.
struct ScrollCore: Sendable {
    /// Something that goes on by itself.
    enum Motion: Sendable {
        case none
        case scroll(ScrollMotion)
        case zoom(ZoomAnimation)

        var end: Int64? {
            switch self {
            case .none: nil
            case .scroll(let motion): motion.end
            case .zoom(let animation): animation.end
            }
        }
    }

    /// What the fingers do.
    enum Gesture: Sendable {
        case none
        /// The offset asked for is the origin less the finger's place.
        case drag(origin: ScrollVector)
        /// The content unit between the fingers stays between them.
        case pinch(anchor: ScrollVector, distance: Double, scale: Double)
    }

    /// How long after the last scroll event the end of zooming is reported, in nanoseconds.
    static let reportDelay: Int64 = 100_000_000

    var limits: ScrollLimits
    /// The least and the largest scale.
    var scaleBounds: ClosedRange<Double>
    /// Scales closer than this to a bound are the bound.
    var scaleTolerance = 0.0
    /// Whether fingers can pull the scale a little beyond its bounds.
    var bouncesZoom = true
    /// How what was thrown slows down; `nil` where nothing can be thrown.
    var rate: ScrollDeceleration.Rate? = .normal
    /// The width of a page where the content comes to rest on pages only, in screen pixels.
    var pageWidth: Double?

    /// As it is shown; while something moves by itself, as it was when that began.
    var offset: ScrollVector
    var scale: Double
    var motion = Motion.none
    var gesture = Gesture.none
    var fingers: [(id: Int, place: ScrollVector)] = []
    var tracker = VelocityTracker()
    var dragStart = ScrollVector.zero
    /// The latest time that was heard of, in nanoseconds.
    private(set) var clock = Int64.min
    /// When the offset or the scale last changed, in nanoseconds, so far.
    var lastChange = Int64.min
    /// When the zoom that was not reported yet ended or will end.
    var zoomOver: Int64?

    init(limits: ScrollLimits, scaleBounds: ClosedRange<Double>, offset: ScrollVector, scale: Double) {
        self.limits = limits
        self.scaleBounds = scaleBounds
        self.offset = offset
        self.scale = scale
    }

    /// What is shown at a time.
    func shown(at time: Int64) -> (offset: ScrollVector, scale: Double) {
        switch motion {
        case .none: (offset, scale)
        case .scroll(let motion): (time < motion.end ? motion.offset(at: time) : motion.endOffset, scale)
        case .zoom(let animation): animation.state(at: time)
        }
    }

    func phase(at time: Int64) -> ScrollPhase {
        switch (gesture, motion) {
        case (.drag, _): .dragging
        case (.pinch, _): .zooming
        case (.none, .none): .rest
        case (.none, .scroll(let motion)): time < motion.end ? .decelerating : .rest
        case (.none, .zoom(let animation)): time < animation.end ? .zooming : .rest
        }
    }

    /// Whether the scale is in somebody's hand or on its way.
    var isZooming: Bool {
        if case .pinch = gesture { return true }
        if case .zoom = motion { return true }
        return false
    }

    /// Lets time pass: what has ended by then is over. Gives the time that counts.
    @discardableResult
    mutating func advance(to time: Int64) -> Int64 {
        clock = max(clock, time)
        if let end = motion.end, end <= clock {
            (offset, scale) = shown(at: end)
            lastChange = max(lastChange, end)
            motion = .none
        }
        return clock
    }

    /// Holds whatever moves, as it is shown now.
    mutating func freeze() {
        guard motion.end != nil else { return }
        (offset, scale) = shown(at: clock)
        lastChange = max(lastChange, clock)
        if case .zoom = motion { zoomOver = clock }
        motion = .none
    }

    mutating func show(_ offset: ScrollVector, _ scale: Double) {
        if offset != self.offset || scale != self.scale { lastChange = max(lastChange, clock) }
        (self.offset, self.scale) = (offset, scale)
    }

    /// When the end of a zoom is to be reported; `nil` where there is none, or its end is not known.
    var zoomReportTime: Int64? {
        guard let zoomOver else { return nil }
        if case .pinch = gesture { return nil }
        return max(zoomOver, lastChange, motion.end ?? zoomOver) + Self.reportDelay
    }

    /// The end of a zoom if it is to be reported by now; once.
    mutating func takeZoomReport() -> ScrollReport? {
        guard let due = zoomReportTime, due <= clock else { return nil }
        zoomOver = nil
        return ScrollReport(.zoomEnded(scale: scale), at: due)
    }

    /// Where it will come to rest, and when.
    var end: (offset: ScrollVector, scale: Double, time: Int64)? {
        switch motion {
        case .none: nil
        case .scroll(let motion): (motion.endOffset, scale, motion.end)
        case .zoom(let animation): (animation.endOffset, animation.endScale, animation.end)
        }
    }

    /// The nearest scale that is allowed; what is next to a bound is the bound.
    func snapped(_ scale: Double) -> Double {
        let (low, high) = (scaleBounds.lowerBound, scaleBounds.upperBound)
        if (scale - low).magnitude < scaleTolerance { return low }
        if (scale - high).magnitude < scaleTolerance { return high }
        return scale.clamped(to: scaleBounds)
    }

    func viewport(_ shown: (offset: ScrollVector, scale: Double)) -> TileViewport {
        let middle = (shown.offset + limits.view.middle) * (1 / shown.scale)
        return TileViewport(
            center: WorldPoint(x: middle.x, y: middle.y),
            width: limits.view.width,
            height: limits.view.height,
            scale: shown.scale
        )
    }

    func state(at time: MonotonicTime) -> ScrollState {
        let time = max(clock, MonotonicTime.bounded(time.nanoseconds))
        let shown = shown(at: time)
        return ScrollState(
            offset: shown.offset,
            scale: shown.scale,
            phase: phase(at: time),
            viewport: viewport(shown)
        )
    }

    var destination: ViewportDestination? {
        end.map {
            ViewportDestination(viewport: viewport(($0.offset, $0.scale)), time: MonotonicTime(nanoseconds: $0.time))
        }
    }
}
