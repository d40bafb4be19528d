public import TileCache

/// A viewer of photos, which start whole and centred. The maximum scale depends on their size.
public struct PhotoScroll: ScrollModel {
    /// The host's number of the photo; `nil` after it was left.
    public private(set) var item: Int?
    private var core: ScrollCore

    /// Shows a photo as large as fits.
    ///
    /// - Parameters:
    ///   - photo: In photo pixels, from a millionth to 2^52.
    ///   - view: In screen pixels, from a millionth to 2^52.
    ///   - item: The host's number of the photo. Default: 0.
    /// - Throws: `ScrollError` for other sizes.
    public init(photo: ScrollSize, view: ScrollSize, item: Int = 0) throws(ScrollError) {
        try ScrollError.check(photo, "photo")
        try ScrollError.check(view, "view")
        self.item = item
        let limits = ScrollLimits(view: view, content: photo, centersSmallContent: true)
        let bounds = Self.scaleBounds(photo: photo, view: view)
        core = ScrollCore(limits: limits, scaleBounds: bounds, offset: .zero, scale: bounds.lowerBound)
        core.rate = .fast
        core.offset = limits.clamped(.zero, at: bounds.lowerBound)
    }

    /// Scales from the whole photo to about its own pixels. Screen pixels per photo pixel.
    ///
    /// The maximum is 0.3 for a photo that fits at less than 0.1, 0.7 at less than 0.5, otherwise 1, or the scale at
    /// which it fits if it is smaller than the view. 1 to 1 if no positive scale makes it fit.
    public static func scaleBounds(photo: ScrollSize, view: ScrollSize) -> ClosedRange<Double> {
        let fit = min(view.width / photo.width, view.height / photo.height)
        guard fit > 0, fit.isFinite else { return 1...1 }
        return fit...(fit < 0.1 ? 0.3 : fit < 0.5 ? 0.7 : max(1, fit))
    }

    /// Scales of this photo in this view.
    public var scaleBounds: ClosedRange<Double> { core.scaleBounds }

    /// Shows another photo, as large as fits.
    ///
    /// - Parameters:
    ///   - photo: In photo pixels.
    ///   - item: The host's number of the photo.
    ///   - time: Time of the change.
    /// - Returns: A report that the previous photo's pixels are to be released at once.
    /// - Throws: `ScrollError` for sizes that cannot be shown; the previous photo then stays.
    public mutating func show(
        _ photo: ScrollSize,
        item: Int,
        at time: MonotonicTime
    ) throws(ScrollError) -> [ScrollReport] {
        try ScrollError.check(photo, "photo")
        let reports = leave(at: time)
        self.item = item
        core.limits.content = photo
        core.scaleBounds = Self.scaleBounds(photo: photo, view: core.limits.view)
        let scale = core.scaleBounds.lowerBound
        core.show(core.limits.clamped(.zero, at: scale), scale)
        return reports
    }

    /// Leaves the photo and ends all movement.
    ///
    /// - Returns: A report that its decoded pixels are to be released at once; none if it was left before.
    @discardableResult
    public mutating func leave(at time: MonotonicTime) -> [ScrollReport] {
        let now = core.advance(to: MonotonicTime.bounded(time.nanoseconds))
        core.interrupt()
        let scale = core.snapped(core.scale)
        core.show(core.limits.clamped(core.offset, at: scale), scale)
        defer { item = nil }
        return item.map { [ScrollReport(.pixelsReleased(item: $0), at: now)] } ?? []
    }

    // MARK: Events

    /// Handles an event; ignored after the photo was left.
    ///
    /// A double tap zooms to the largest scale, to the rectangle of the view's size about the tap.
    @discardableResult
    public mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport] {
        advance(to: time)
        guard event.isUsable else { return [] }
        switch event {
        case .resize(let view): resize(view)
        case _ where item == nil: break
        case .doubleTap(let place):
            if !core.isZooming { core.zoom(about: place, to: core.scaleBounds.upperBound, animated: true) }
        case .zoom(let scale, let place, let animated): core.zoom(about: place, to: scale, animated: animated)
        default: core.handle(event)
        }
        return []
    }

    /// Keeps the centre and the scale; a photo that was shown whole is shown whole.
    private mutating func resize(_ view: ScrollSize) {
        core.interrupt()
        let least = core.scaleBounds.lowerBound
        let wasWhole = (core.scale - least).magnitude <= least.ulp
        let middle = (core.offset + core.limits.view.middle) * (1 / core.scale)
        core.limits.view = view
        core.scaleBounds = Self.scaleBounds(photo: core.limits.content, view: view)
        let scale = wasWhole ? core.scaleBounds.lowerBound : core.snapped(core.scale)
        core.show(core.limits.clamped(middle * scale - view.middle, at: scale), scale)
    }

    /// Advances to a time; there are no reports.
    @discardableResult
    public mutating func advance(to time: MonotonicTime) -> [ScrollReport] {
        core.advance(to: MonotonicTime.bounded(time.nanoseconds))
        return []
    }

    /// State at a time, if no event comes before.
    public func state(at time: MonotonicTime) -> ScrollState { core.state(at: time) }

    /// Place and time of rest of the current movement.
    public var destination: ViewportDestination? { core.destination }
}
