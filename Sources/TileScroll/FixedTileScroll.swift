public import TileCache

/// Pans a large plane with four tiles of the view's size. Four are the fewest that always cover a view.
///
/// Shown are the tile under the view's upper left corner and its neighbours to the right and below; at the plane's far
/// edges the last two columns and rows. A tile that remains one of them keeps its slot, the others are retasked.
public struct FixedTileScroll: ScrollModel {
    /// Plane size of the original design, in screen pixels.
    public static let usualPlane = ScrollSize(width: 16_000, height: 11_500)

    private var core: ScrollCore
    private var tiles: [ScrollTile] = []
    private var isResized = false

    /// Creates a view at the upper left corner of a plane.
    ///
    /// - Parameters:
    ///   - plane: In screen pixels, from a millionth to 2^52. Default: 16000 x 11500.
    ///   - view: In screen pixels, from a millionth to 2^52.
    /// - Throws: `ScrollError` for other sizes, and if the plane is more than 2^52 views wide or high.
    public init(plane: ScrollSize = FixedTileScroll.usualPlane, view: ScrollSize) throws(ScrollError) {
        try ScrollError.check(plane, "plane")
        try ScrollError.check(view, "view")
        try ScrollError.check(
            ScrollSize(width: plane.width / view.width, height: plane.height / view.height),
            "plane in views"
        )
        core = ScrollCore(
            limits: ScrollLimits(view: view, content: plane),
            scaleBounds: 1...1,
            offset: .zero,
            scale: 1
        )
        core.bouncesZoom = false
    }

    /// Number of columns of tiles in the plane.
    public var columns: Int { Int((core.limits.content.width / core.limits.view.width).rounded(.up)) }
    /// Number of rows of tiles in the plane.
    public var rows: Int { Int((core.limits.content.height / core.limits.view.height).rounded(.up)) }

    /// Handles an event; scales are ignored, and there are no reports.
    @discardableResult
    public mutating func handle(_ event: ScrollEvent, at time: MonotonicTime) -> [ScrollReport] {
        advance(to: time)
        guard event.isUsable else { return [] }
        switch event {
        case .resize(let view):
            let plane = core.limits.content
            guard ScrollSize(width: plane.width / view.width, height: plane.height / view.height).isUsable else {
                return []
            }
            core.interrupt()
            isResized = isResized || view != core.limits.view
            core.limits.view = view
            core.show(core.limits.clamped(core.offset, at: 1), 1)
        case .magnify, .zoom, .doubleTap: break
        default: core.handle(event)
        }
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

    /// Lays out the four tiles for a moment; call it once for each frame.
    ///
    /// - Returns: Changes of the four slots, numbered from 0. Tiles may lie outside of a plane smaller than two views.
    ///   After a resize every slot is retasked.
    public mutating func layoutTiles(at time: MonotonicTime) -> ScrollTileChanges {
        defer { isResized = false }
        let wanted = wantedTiles(core.state(at: time).offset)
        var changes = ScrollTileChanges()
        guard tiles.count == wanted.count else {
            tiles = wanted
            changes.made = wanted.enumerated().map { .init(number: $0.offset, tile: $0.element) }
            return changes
        }
        var missing = isResized ? wanted : wanted.filter { !tiles.contains($0) }
        for (number, tile) in tiles.enumerated() {
            if !isResized, wanted.contains(tile) {
                changes.kept.append(.init(number: number, tile: tile))
            } else {
                tiles[number] = missing.removeFirst()
                changes.retasked.append(.init(number: number, tile: tiles[number]))
            }
        }
        return changes
    }

    /// Area of the plane that a tile shows, in screen pixels. Cut at the right and bottom edges, empty outside.
    public func rectangle(of tile: ScrollTile) -> PixelRect {
        let (view, plane) = (core.limits.view, core.limits.content)
        return PixelRect(
            minX: Double(tile.column) * view.width,
            minY: Double(tile.row) * view.height,
            maxX: min((Double(tile.column) + 1) * view.width, plane.width),
            maxY: min((Double(tile.row) + 1) * view.height, plane.height)
        )
    }

    private func wantedTiles(_ offset: ScrollVector) -> [ScrollTile] {
        let left = first(offset.x / core.limits.view.width, of: columns)
        let top = first(offset.y / core.limits.view.height, of: rows)
        return [(left, top), (left + 1, top), (left, top + 1), (left + 1, top + 1)].map {
            ScrollTile(column: $0.0, row: $0.1)
        }
    }

    private func first(_ place: Double, of count: Int) -> Int {
        Int(place.rounded(.down).clamped(to: -1...Double(count))).clamped(to: 0...max(0, count - 2))
    }
}
