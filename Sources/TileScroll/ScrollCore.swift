import TileCache

/// State common to all scroll views: fingers, throws, bounces, zooms, and their bounds.
///
/// The scale is always the true one, from content units to screen pixels, whatever a host has transferred to its
/// drawing.
struct ScrollCore: Sendable {
    /// A movement without fingers.
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

    /// Gesture of the fingers.
    enum Gesture: Sendable {
        case none
        /// The requested offset is the origin minus the finger's position.
        case drag(origin: ScrollVector)
        /// The content unit between the fingers stays between them.
        case pinch(anchor: ScrollVector, distance: Double, scale: Double)
    }

    /// Nanoseconds from the last scroll event to the report of the end of zooming.
    static let reportDelay: Int64 = 100_000_000

    var limits: ScrollLimits
    /// Smallest and largest scale.
    var scaleBounds: ClosedRange<Double>
    /// A scale closer than this to a bound, and than a thousandth of the bound, is the bound.
    var scaleTolerance = 0.0
    /// Whether fingers can pull the scale beyond its bounds, with resistance.
    var bouncesZoom = true
    /// Deceleration of a throw; `nil` if content cannot be thrown.
    var rate: ScrollDeceleration.Rate? = .normal
    /// Width of a page in screen pixels, if the content rests on pages only.
    var pageWidth: Double?

    /// Visible offset; during a movement, the one at its start.
    var offset: ScrollVector
    var scale: Double
    var motion = Motion.none
    var gesture = Gesture.none
    var fingers: [(id: Int, place: ScrollVector)] = []
    var tracker = VelocityTracker()
    var dragStart = ScrollVector.zero
    /// Latest time of any event, in nanoseconds.
    private(set) var clock = Int64.min
    /// Time of the last change of offset or scale so far, in nanoseconds.
    var lastChange = Int64.min
    /// End of the zoom that has not been reported yet.
    var zoomOver: Int64?

    init(limits: ScrollLimits, scaleBounds: ClosedRange<Double>, offset: ScrollVector, scale: Double) {
        self.limits = limits
        self.scaleBounds = scaleBounds
        self.offset = offset
        self.scale = scale
    }

    /// Visible offset and scale at a time.
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

    /// Whether the scale is being changed by fingers or an animation.
    var isZooming: Bool {
        if case .pinch = gesture { return true }
        if case .zoom = motion { return true }
        return false
    }

    /// Ends movements that are over by a time. Returns the effective time.
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

    /// Stops all movement at the visible place.
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

    /// Time to report the end of a zoom. `nil` if there is none, or its end is not known.
    var zoomReportTime: Int64? {
        guard let zoomOver else { return nil }
        if case .pinch = gesture { return nil }
        return max(zoomOver, lastChange, motion.end ?? zoomOver) + Self.reportDelay
    }

    /// Takes the end of a zoom if it is due; once.
    mutating func takeZoomReport() -> ScrollReport? {
        guard let due = zoomReportTime, due <= clock else { return nil }
        zoomOver = nil
        return ScrollReport(.zoomEnded(scale: scale), at: due)
    }

    /// Place and time of rest.
    var end: (offset: ScrollVector, scale: Double, time: Int64)? {
        switch motion {
        case .none: nil
        case .scroll(let motion): (motion.endOffset, scale, motion.end)
        case .zoom(let animation): (animation.target.offset, animation.target.scale, animation.end)
        }
    }

    /// Nearest allowed scale; a scale next to a bound is the bound.
    func snapped(_ scale: Double) -> Double {
        let (low, high) = (scaleBounds.lowerBound, scaleBounds.upperBound)
        if isNext(scale, to: low) { return low }
        if isNext(scale, to: high) { return high }
        return scale.clamped(to: scaleBounds)
    }

    /// Whether a scale counts as a bound. In large worlds all small scales are within the tolerance of each other.
    func isNext(_ scale: Double, to bound: Double) -> Bool {
        (scale - bound).magnitude < min(scaleTolerance, bound / 1000)
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
