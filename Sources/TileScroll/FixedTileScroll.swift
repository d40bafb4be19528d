public import TileCache

/// A large plane that is panned with four tiles of the view's size, whatever its own size: the fewest with which no
/// part of a view can be bare.
///
/// The tile under the view's upper left corner and its neighbours to the right and below are shown; at the plane's far
/// edges the last two columns and rows. A tile that is still one of them stays where it is, the others are retasked.
public struct FixedTileScroll: ScrollModel {
    /// The plane that the design was made for, in screen pixels.
    public static let usualPlane = ScrollSize(width: 16_000, height: 11_500)

    private var core: ScrollCore
    private var tiles: [ScrollTile] = []
    private var isResized = false

    /// Makes a view of the upper left corner of a plane.
    ///
    /// - Parameters:
    ///   - plane: in screen pixels, from a millionth to 2^52; 16000 x 11500 unless given.
    ///   - view: in screen pixels, from a millionth to 2^52.
    /// - Throws: `ScrollError` for other sizes, and where the plane is more than 2^52 views wide or high.
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

    /// How many tiles lie beside each other in the plane.
    public var columns: Int { Int((core.limits.content.width / core.limits.view.width).rounded(.up)) }
    /// How many tiles lie below each other in the plane.
    public var rows: Int { Int((core.limits.content.height / core.limits.view.height).rounded(.up)) }

    /// Takes what a person or the program does; scales are left alone, and there is nothing to report.
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

    /// Shows the four tiles for a moment; once for each frame.
    ///
    /// - Returns: what became of the four slots, numbered from 0. Tiles may lie outside of a plane that is smaller than
    ///   two views. After the view was resized no tile is what it was.
    public mutating func layoutTiles(at time: MonotonicTime) -> ScrollTileChanges {
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
        isResized = false
        return changes
    }

    /// The part of the plane that a tile shows, in screen pixels: tiles at the right and bottom edges are cut, and one
    /// that lies outside is empty.
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
