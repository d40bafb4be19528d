public import TileCache

/// A tiled scroll view that zooms without an end.
///
/// While two fingers pinch, what is drawn is scaled, by 0.5 to 2. When they let go, the zoom is transferred: the scale
/// that was seen becomes the scale that tiles are drawn at, the content gets the size that it had on screen, the offset
/// stays what it was, and every tile is drawn anew. The next pinch begins at 1 again, so that only floating point
/// bounds how far one can go: the content's longer side stays between 2^-52 and 2^52 screen pixels.
///
/// Half a view around the content belongs to it, so that each of its corners can be brought to the middle.
public struct InfiniteZoomScroll: ScrollModel {
    /// How much of the view the world fills at first.
    public static let firstShare = 0.9
    /// Where the view's corner is at first, as a share of the view: outside of the world.
    public static let firstOffset = -0.05
    /// What one pinch may multiply the scale by.
    public static let pinchBounds = 0.5...2.0

    /// The size of the world in world units.
    public let world: ScrollSize
    /// The width and the height of a tile in screen pixels of the transferred scale.
    public let tileSize: Double
    /// Screen pixels per world unit that tiles are drawn at: what has been transferred.
    public private(set) var drawnScale: Double

    private var core: ScrollCore
    private var recycler = TileRecycler()
    private var isTransferred = false

    /// Makes a view of a world, which fills 0.9 of the view's tighter direction.
    ///
    /// - Parameters:
    ///   - world: in world units, from a millionth to 2^52.
    ///   - view: in screen pixels, from a millionth to 2^52.
    ///   - tileSize: in screen pixels, 1 or more, 256 unless given; a view may take a million tiles.
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

    /// What a renderer scales the tiles by: 1 but for the time of a pinch.
    public var relativeScale: Double { core.scale / drawnScale }

    // MARK: Events

    /// Takes what a person or the program does; there is nothing to report. A resize to a view that would take a million
    /// tiles is ignored.
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

    /// Lets time pass; there is nothing to report.
    @discardableResult
    public mutating func advance(to time: MonotonicTime) -> [ScrollReport] {
        core.advance(to: MonotonicTime.bounded(time.nanoseconds))
        return []
    }

    /// Where the view is if nothing happens until then.
    public func state(at time: MonotonicTime) -> ScrollState { core.state(at: time) }

    /// Where the view will come to rest, and when.
    public var destination: ViewportDestination? { core.destination }

    /// The scale that was seen is the one that is drawn from now on. The offset is in screen pixels of the content as
    /// it was seen, and so it is the same before and after.
    private mutating func transfer() {
        drawnScale = core.scale
        let side = max(world.width, world.height)
        let low = max(drawnScale * Self.pinchBounds.lowerBound, 0x1p-52 / side)
        let high = min(drawnScale * Self.pinchBounds.upperBound, 0x1p52 / side)
        core.scaleBounds = min(low, drawnScale)...max(high, drawnScale)
        isTransferred = true
    }

    /// Whether less than a million tiles cover a view.
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

    /// Shows the tiles under the view; once for each frame.
    ///
    /// The tiles are the view as it lies over the drawn content, clipped to the content, in tiles, rounded outwards.
    ///
    /// - Parameter time: of the frame.
    /// - Returns: what became of the slots. After a transfer every tile is recycled, and shown again anew.
    public mutating func layoutTiles(at time: MonotonicTime) -> ScrollTileChanges {
        let seen = seenContent(at: time)
        defer { isTransferred = false }
        return recycler.show(
            columns: tiles(seen.minX, seen.maxX),
            rows: tiles(seen.minY, seen.maxY),
            keepsTiles: !isTransferred
        )
    }

    /// The part of the content that a tile shows, in screen pixels of the drawn scale: tiles at the right and bottom
    /// edges are cut.
    public func rectangle(of tile: ScrollTile) -> PixelRect {
        PixelRect(
            minX: Double(tile.column) * tileSize,
            minY: Double(tile.row) * tileSize,
            maxX: min((Double(tile.column) + 1) * tileSize, world.width * drawnScale),
            maxY: min((Double(tile.row) + 1) * tileSize, world.height * drawnScale)
        )
    }

    /// The part of the content that is in view, in screen pixels of the drawn scale; empty where there is none.
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
