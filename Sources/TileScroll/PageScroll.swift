public import TileCache

/// A row of pages, each of which can be zoomed from 1 to 2.
///
/// At scale 1 the row is paged. As soon as two fingers are down, the current page moves and zooms by itself and the row
/// stands still. Paging resumes when the page is back at scale 1 (to within 1e-5) and its bounce is over: 0.2 s after
/// the end of the zoom and 0.1 s after the last scroll event, unless another zoom begins before.
///
/// Pages are side by side in world pixels: page n begins at n times the view's width. Only the current page has state,
/// so that other pages cost nothing, however many there are.
public struct PageScroll: ScrollModel {
    /// Scales of a page.
    public static let pageScales = 1.0...2.0
    /// Minimum time from the end of a zoom until paging resumes, in nanoseconds.
    static let resumeDelay: Int64 = 200_000_000

    /// Number of pages.
    public let count: Int
    /// Page nearest to the view; changes only while the row is paged.
    public private(set) var currentPage = 0
    /// Whether the row moves instead of the page.
    public private(set) var isPaging = true

    private var row: ScrollCore
    private var page: ScrollCore
    private var lastTouch = Int64.min

    /// Creates a row at its first page.
    ///
    /// - Parameters:
    ///   - count: Number of pages, 1 or more; all of them together may be 2^52 screen pixels wide.
    ///   - view: In screen pixels, from a millionth to 2^52; a page has the same size.
    /// - Throws: `ScrollError` for other sizes and counts.
    public init(count: Int, view: ScrollSize) throws(ScrollError) {
        guard (1...1 << 52).contains(count) else { throw ScrollError("\(count) pages; 1 to 2^52 were expected") }
        try ScrollError.check(view, "view")
        try ScrollError.check(ScrollSize(width: view.width * Double(count), height: view.height), "row of pages")
        self.count = count
        row = ScrollCore(limits: .init(view: view, content: view), scaleBounds: 1...1, offset: .zero, scale: 1)
        page = ScrollCore(
            limits: ScrollLimits(view: view, content: view, centersSmallContent: true),
            scaleBounds: Self.pageScales,
            offset: .zero,
            scale: 1
        )
        page.scaleTolerance = 1e-5
        layout(view)
    }

    private mutating func layout(_ view: ScrollSize) {
        row.limits.view = view
        row.limits.content = ScrollSize(width: view.width * Double(count), height: view.height)
        row.pageWidth = view.width
        page.limits.view = view
        page.limits.content = view
    }

    /// Pages beside the current one, to be kept ready.
    public var neighbours: [Int] { [currentPage - 1, currentPage + 1].filter { (0..<count).contains($0) } }

    // MARK: Events

    /// Handles an event.
    ///
    /// - Returns: Changes of the current page, and starts and stops of paging.
    @discardableResult
    public mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport] {
        var reports = advance(to: time)
        guard event.isUsable else { return reports }
        let now = row.advance(to: page.advance(to: MonotonicTime.bounded(time.nanoseconds)))
        if event.isTouch { lastTouch = now }
        switch event {
        case .resize(let view): resize(view)
        case .magnify:
            if isPaging { reports += stopPaging(at: now) }
            page.handle(event)
        case .touchBegan(let id, _) where isPaging && row.fingers.contains(where: { $0.id != id }):
            let finger = row.fingers[0]
            reports += stopPaging(at: now)
            page.handle(.touchBegan(id: finger.id, at: finger.place))
            page.handle(event)
        case .zoom, .doubleTap: break
        default: if isPaging { row.handle(event) } else { page.handle(event) }
        }
        return reports + updatedPage(at: now)
    }

    /// Advances to a time.
    ///
    /// - Returns: As ``handle(_:at:)``.
    @discardableResult
    public mutating func advance(to time: MonotonicTime) -> [ScrollReport] {
        let now = row.advance(to: page.advance(to: MonotonicTime.bounded(time.nanoseconds)))
        var reports = updatedPage(at: now)
        if !isPaging, let due = resumeTime, due <= now {
            isPaging = true
            page.zoomOver = nil
            reports.append(ScrollReport(.pagingResumed, at: due))
        }
        return reports
    }

    private mutating func stopPaging(at now: Int64) -> [ScrollReport] {
        // The nearest page remains the current one while the row comes to rest on it.
        for finger in row.fingers { row.handle(.touchCancelled(id: finger.id)) }
        row.settle(onPage: currentPage)
        isPaging = false
        page.show(.zero, 1)
        return [ScrollReport(.pagingStopped, at: now)]
    }

    /// Time at which paging resumes; `nil` if it is not known yet.
    private var resumeTime: Int64? {
        guard let zoomOver = page.zoomOver, page.fingers.isEmpty, page.motion.end == nil, row.motion.end == nil,
            (page.scale - 1).magnitude < page.scaleTolerance
        else { return nil }
        return max(
            zoomOver + Self.resumeDelay,
            max(page.lastChange, row.lastChange) + ScrollCore.reportDelay,
            lastTouch
        )
    }

    private mutating func updatedPage(at now: Int64) -> [ScrollReport] {
        guard isPaging else { return [] }
        let place = row.shown(at: now).offset.x / row.limits.view.width
        let nearest = Int(place.rounded().clamped(to: 0...Double(count - 1)))
        guard nearest != currentPage else { return [] }
        currentPage = nearest
        return [ScrollReport(.pageChanged(to: nearest), at: now)]
    }

    private mutating func resize(_ view: ScrollSize) {
        guard ScrollSize(width: view.width * Double(count), height: view.height).isUsable else { return }
        row.interrupt()
        page.interrupt()
        let old = page.limits.view
        let middle = (page.offset + old.middle) * (1 / page.scale)
        let share = ScrollVector(x: middle.x / old.width, y: middle.y / old.height)
        layout(view)
        row.show(ScrollVector(x: Double(currentPage) * view.width, y: 0), 1)
        let scale = page.snapped(page.scale)
        let place = ScrollVector(x: share.x * view.width, y: share.y * view.height) * scale - view.middle
        page.show(page.limits.clamped(place, at: scale), scale)
    }

    // MARK: What is seen

    /// State at a time, if no event comes before.
    public func state(at time: MonotonicTime) -> ScrollState {
        let pageState = page.state(at: time)
        let rowState = row.state(at: time)
        let viewport = viewport(row: rowState.offset, page: (pageState.offset, pageState.scale))
        let center = ScrollVector(x: viewport.center.x, y: viewport.center.y)
        return ScrollState(
            offset: center * viewport.scale - page.limits.view.middle,
            scale: viewport.scale,
            phase: pageState.phase == .rest ? rowState.phase : pageState.phase,
            viewport: viewport
        )
    }

    /// Place and time of rest of the current movement.
    public var destination: ViewportDestination? {
        guard let end = [row.end?.time, page.end?.time].compactMap({ $0 }).max() else { return nil }
        return ViewportDestination(
            viewport: viewport(row: row.shown(at: end).offset, page: page.shown(at: end)),
            time: MonotonicTime(nanoseconds: end)
        )
    }

    private func viewport(row: ScrollVector, page state: (offset: ScrollVector, scale: Double)) -> TileViewport {
        let begin = Double(currentPage) * page.limits.view.width
        var viewport = page.viewport((state.offset + ScrollVector(x: row.x - begin, y: 0), state.scale))
        viewport.center.x += begin
        return viewport
    }
}
