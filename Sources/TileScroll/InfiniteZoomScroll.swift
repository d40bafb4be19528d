public import TileCache

/// A tiled scroll view with unbounded zoom.
///
/// While two fingers pinch, the drawing is scaled, by 0.5 to 2. When they are lifted, the zoom is transferred: the
/// visible scale becomes the scale at which tiles are drawn, the content gets its visible size, the offset stays the
/// same, and every tile is drawn again. The next pinch begins at 1 again. Only floating point bounds the zoom: the
/// content's longer side stays between 2^-52 and 2^52 screen pixels.
///
/// A margin of half a view belongs to the content, so that each of its corners can be moved to the middle.
public struct InfiniteZoomScroll: ScrollModel {
    /// Initial size of the world as a fraction of the view.
    public static let firstShare = 0.9
    /// Initial position of the view's corner as a fraction of the view. Outside of the world.
    public static let firstOffset = -0.05
    /// Factors by which one pinch may change the scale.
    public static let pinchBounds = 0.5...2.0

    /// The size of the world in world units.
    public let world: ScrollSize
    /// Width and height of a tile in screen pixels of the transferred scale.
    public let tileSize: Double
    /// Screen pixels per world unit at which tiles are drawn: the transferred scale.
    public private(set) var drawnScale: Double

    private var core: ScrollCore
    private var recycler = TileRecycler()
    private var isTransferred = false

    /// Creates a view of a world, which fills 0.9 of the view's tighter direction.
    ///
    /// - Parameters:
    ///   - world: In world units, from a millionth to 2^52.
    ///   - view: In screen pixels, from a millionth to 2^52.
    ///   - tileSize: In screen pixels, 1 or more; less than a million tiles cover the view. Default: 256.
    /// - Throws: `ScrollError` for other sizes.
    public init(world: ScrollSize, view: ScrollSize, tileSize: Double = 256) throws(ScrollError) {
        try ScrollError.check(world, "world")
        try ScrollError.check(view, "view")
        guard tileSize >= 1, tileSize <= 0x1p52, Self.isCovered(view, tileSize: tileSize) else {
            throw ScrollError("tiles of \(tileSize) pixels; at least 1 was expected, and less than a million in a view")
        }
        self.world = world
        self.tileSize = tileSize
        drawnScale = min(view.width / world.width, view.height / world.height) * Self.firstShare
        core = ScrollCore(
            limits: ScrollLimits(view: view, content: world, inset: view.middle, alwaysBounces: true),
            scaleBounds: drawnScale...drawnScale,
            offset: ScrollVector(x: view.width, y: view.height) * Self.firstOffset,
            scale: drawnScale
        )
        core.bouncesZoom = false
        transfer()
        isTransferred = false
    }

    /// Factor by which a renderer scales the tiles: 1 except during a pinch.
    public var relativeScale: Double { core.scale / drawnScale }

    // MARK: Events

    /// Handles an event; there are no reports. A resize to a view of a million tiles is ignored.
    @discardableResult
    public mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport] {
        advance(to: time)
        guard event.isUsable else { return [] }
        switch event {
        case .resize(let view): resize(view)
        case .zoom(let scale, let place, _):
            let factor = (scale / core.scale).clamped(to: Self.pinchBounds)
            core.zoom(about: place, to: core.scale * factor, animated: false)
        default: core.handle(event)
        }
        if case .pinch = core.gesture { return [] }
        if core.scale != drawnScale { transfer() }
        return []
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

    /// Makes the visible scale the drawn one. The offset, in screen pixels of the visible content, stays the same.
    private mutating func transfer() {
        drawnScale = core.scale
        let side = max(world.width, world.height)
        let low = max(drawnScale * Self.pinchBounds.lowerBound, 0x1p-52 / side)
        let high = min(drawnScale * Self.pinchBounds.upperBound, 0x1p52 / side)
        core.scaleBounds = min(low, drawnScale)...max(high, drawnScale)
        isTransferred = true
    }

    /// Whether fewer than a million tiles cover a view.
    private static func isCovered(_ view: ScrollSize, tileSize: Double) -> Bool {
        (view.width / tileSize + 2) * (view.height / tileSize + 2) < 1e6
    }

    private mutating func resize(_ view: ScrollSize) {
        guard Self.isCovered(view, tileSize: tileSize) else { return }
        core.interrupt()
        let middle = core.offset + core.limits.view.middle
        core.limits.view = view
        core.limits.inset = view.middle
        core.show(core.limits.clamped(middle - view.middle, at: core.scale), core.scale)
    }

    // MARK: Tiles

    /// Lays out the tiles under the view; call it once for each frame.
    ///
    /// They are the view's area of the drawn content, clipped to the content, in tiles, rounded outwards.
    ///
    /// - Parameter time: Time of the frame.
    /// - Returns: Changes of the slots. A transfer recycles every tile and shows it again.
    public mutating func layoutTiles(at time: MonotonicTime) -> ScrollTileChanges {
        let seen = seenContent(at: time)
        defer { isTransferred = false }
        return recycler.show(
            columns: tiles(seen.minX, seen.maxX),
            rows: tiles(seen.minY, seen.maxY),
            keepsTiles: !isTransferred
        )
    }

    /// Area of the content that a tile shows, in screen pixels of the drawn scale. Cut at the right and bottom edges.
    public func rectangle(of tile: ScrollTile) -> PixelRect {
        PixelRect(
            minX: Double(tile.column) * tileSize,
            minY: Double(tile.row) * tileSize,
            maxX: min((Double(tile.column) + 1) * tileSize, world.width * drawnScale),
            maxY: min((Double(tile.row) + 1) * tileSize, world.height * drawnScale)
        )
    }

    /// Visible area of the content, in screen pixels of the drawn scale. Empty if there is none.
    private func seenContent(at time: MonotonicTime) -> PixelRect {
        let state = core.state(at: time)
        let corner = state.offset * (drawnScale / state.scale)
        let size = core.limits.view * (drawnScale / state.scale)
        return PixelRect(minX: corner.x, minY: corner.y, maxX: corner.x + size.width, maxY: corner.y + size.height)
            .intersection(
                PixelRect(minX: 0, minY: 0, maxX: world.width * drawnScale, maxY: world.height * drawnScale)
            )
    }

    private func tiles(_ low: Double, _ high: Double) -> Range<Int> {
        guard high > low else { return 0..<0 }
        return Int((low / tileSize).rounded(.down))..<Int((high / tileSize).rounded(.up))
    }
}
