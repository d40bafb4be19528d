/// Enumerates the tiles of one level under a viewport. Row by row from the top left of the screen.
///
/// A tile is included if it shares some area with the viewport's true outline and with the pyramid's contents; touching
/// edges do not count. On a wrapping world the copies of the world on screen are included.
///
/// Of the coarsest level seen from very far away, only the tiles around the middle of the screen are included: see
/// ``mostCoarsestTiles``.
struct ViewportCover {
    /// Maximum number of tiles, and of rows that are looked at. More cannot be drawn, and an erroneous scale must take
    /// neither all memory nor all time.
    static let maximumTileCount = 65_536
    /// Maximum number of copies of a wrapping world in one row.
    static let maximumCopies = 64
    /// Maximum number of tiles of the coarsest level under a viewport that draws them at less than half of their size.
    /// No coarser level can replace them, and their number grows with the square of the distance.
    static let mostCoarsestTiles = 1024

    // Not the pyramid, whose copy counts a reference.
    private let level: PyramidLevel
    let levelIndex: Int
    private let worldWidth: Double
    private let wrapsX: Bool
    /// The pyramid's contents, in the copy of the world that begins at 0.
    private let contents: PixelRect
    /// Upright bounds in world pixels; empty if there are no tiles.
    let box: PixelRect
    /// The part of the bounds whose tiles are included.
    let inner: PixelRect
    private let outline: RotatedOutline?

    /// Prepares the tiles under a viewport.
    init(pyramid: TilePyramid, viewport: TileViewport, levelIndex: Int) {
        guard viewport.isDrawable else {
            self.init(pyramid, PixelRect(minX: 0, minY: 0, maxX: 0, maxY: 0), levelIndex)
            return
        }
        let viewport = viewport.withDistinctEdges
        let outline = viewport.rotation == 0 ? nil : RotatedOutline(viewport)
        let box = outline?.bounds ?? viewport.uprightRectangle
        self.init(pyramid, box, levelIndex, outline, inner: pyramid.coarsestPart(of: box, under: viewport, levelIndex))
    }

    /// Prepares the tiles under an upright rectangle of the world.
    init(pyramid: TilePyramid, rectangle: PixelRect, levelIndex: Int) { self.init(pyramid, rectangle, levelIndex) }

    private init(
        _ pyramid: TilePyramid,
        _ box: PixelRect,
        _ levelIndex: Int,
        _ outline: RotatedOutline? = nil,
        inner: PixelRect? = nil
    ) {
        level = pyramid.levels[levelIndex]
        self.levelIndex = levelIndex
        (worldWidth, wrapsX, contents) = (pyramid.worldWidth, pyramid.wrapsX, pyramid.contents)
        self.box = box
        self.inner = inner ?? box
        self.outline = outline
    }

    /// Number of columns of the level. In a world that wraps, the columns of a row come again after as many.
    var period: Int {
        let (near, far) = (contents.minX - level.origin.x, contents.maxX - level.origin.x)
        return max(gridRange(from: near, to: far, span: level.tileSpanX, count: level.columns).count, 1)
    }

    /// Number of tiles on screen that are left out; see ``mostCoarsestTiles``. For a turned view it is the number of
    /// those in its bounds.
    var leftOutCount: Int {
        guard inner != box else { return 0 }
        func places(_ area: PixelRect) -> Double {
            let rows = gridRange(
                from: max(area.minY, contents.minY) - level.origin.y,
                to: min(area.maxY, contents.maxY) - level.origin.y,
                span: level.tileSpanY,
                count: level.rows
            )
            let columns =
                wrapsX
                ? (area.width / level.tileSpanX).rounded(.up) : Double(columns(from: area.minX, to: area.maxX).count)
            return columns * Double(rows.count)
        }
        return Int(min(max(places(box) - places(inner), 0), 1e15))
    }

    /// Rows under the bounds.
    var rows: Range<Int> {
        // A world that does not repeat has nothing beside it.
        guard !inner.isEmpty, wrapsX || (inner.maxX > contents.minX && inner.minX < contents.maxX) else { return 0..<0 }
        return level.rows(from: max(inner.minY, contents.minY), to: min(inner.maxY, contents.maxY))
    }

    /// Calls `body` with each column under the bounds and the copy's horizontal offset in world pixels. All rows of an
    /// upright rectangle have the same columns.
    @inline(__always)
    func forEachColumn(_ body: (_ column: Int, _ offset: Double) -> Void) {
        var remaining = Self.maximumTileCount
        forEachColumn(from: inner.minX, to: inner.maxX) { column, offset in
            body(column, offset)
            remaining -= 1
            return remaining > 0
        }
    }

    /// The tiles as a range; `nil` if the viewport is turned or the world wraps. Equal ranges have the same tiles.
    var range: TileRange? {
        guard outline == nil, !wrapsX else { return nil }
        return TileRange(level: levelIndex, columns: columns(from: inner.minX, to: inner.maxX), rows: rows)
    }

    /// Columns under an interval, without the copies of a world that wraps.
    @inline(__always)
    private func columns(from minX: Double, to maxX: Double) -> Range<Int> {
        level.columns(from: max(minX, contents.minX), to: min(maxX, contents.maxX))
    }

    /// Number of the tiles, each counted once.
    var tileCount: Int {
        // A walk ends within a row.
        if let range, range.count <= Self.maximumTileCount { return range.count }
        var count = 0
        forEachTile { _, _ in count += 1 }
        return count
    }

    /// Calls `body` with the column and the row of each tile, once.
    @inline(__always)
    func forEachTile(_ body: (_ column: Int, _ row: Int) -> Void) {
        let period = period
        var currentRow = -1
        var inRow = 0
        forEach { column, row, _ in
            if row != currentRow { (currentRow, inRow) = (row, 0) }
            // Columns are cyclic, so a row's tiles repeat after as many as there are.
            if inRow < period { body(column, row) }
            inRow += 1
            return true
        }
    }

    /// Calls `body` with the column, the row and the copy's horizontal offset in world pixels. `body` returns whether
    /// to continue with this row.
    @inline(__always)
    func forEach(_ body: (_ column: Int, _ row: Int, _ offset: Double) -> Bool) {
        var remaining = Self.maximumTileCount
        // Beside a narrow world there may be any number of rows without tiles.
        for row in rows.prefix(Self.maximumTileCount) {
            var minX = inner.minX
            var maxX = inner.maxX
            if let outline {
                let top = level.origin.y + Double(row) * level.tileSpanY
                let bottom = level.end(ofRow: row) ?? top + level.tileSpanY
                guard
                    let interval = outline.extent(from: max(top, contents.minY), to: min(bottom, contents.maxY))
                else { continue }
                (minX, maxX) = (max(interval.0, minX), min(interval.1, maxX))
            }
            forEachColumn(from: minX, to: maxX) { column, offset in
                remaining -= 1
                return remaining >= 0 && body(column, row, offset)
            }
            if remaining < 0 { return }
        }
    }

    // One loop for worlds that wrap and others, so that the body is inlined.
    @inline(__always)
    private func forEachColumn(from minX: Double, to maxX: Double, _ body: (Int, Double) -> Bool) {
        let width = worldWidth
        var copy = wrapsX ? (minX / width).rounded(.down) : 0
        for _ in 0..<(wrapsX ? Self.maximumCopies : 1) {
            let offset = copy * width
            if wrapsX, offset >= maxX { return }
            for column in columns(from: minX - offset, to: maxX - offset) where !body(column, offset) { return }
            copy += 1
            // Far from the origin a step may be lost to rounding in the sum.
            if copy * width <= offset { return }
        }
    }
}

/// The four corners of a rotated viewport, and their extent in a horizontal band.
struct RotatedOutline {
    private let corners: (WorldPoint, WorldPoint, WorldPoint, WorldPoint)
    let bounds: PixelRect

    init(_ viewport: TileViewport) {
        let cosine = PortableMath.cos(viewport.rotation)
        let sine = PortableMath.sin(viewport.rotation)
        let halfWidth = viewport.width / viewport.scale / 2
        let halfHeight = viewport.height / viewport.scale / 2
        func corner(_ x: Double, _ y: Double) -> WorldPoint {
            WorldPoint(
                x: viewport.center.x + x * cosine - y * sine,
                y: viewport.center.y + x * sine + y * cosine
            )
        }
        corners = (
            corner(-halfWidth, -halfHeight), corner(halfWidth, -halfHeight), corner(halfWidth, halfHeight),
            corner(-halfWidth, halfHeight)
        )
        let reachX = halfWidth * abs(cosine) + halfHeight * abs(sine)
        let reachY = halfWidth * abs(sine) + halfHeight * abs(cosine)
        bounds = PixelRect(
            minX: viewport.center.x - reachX,
            minY: viewport.center.y - reachY,
            maxX: viewport.center.x + reachX,
            maxY: viewport.center.y + reachY
        )
    }

    /// Horizontal extent of the outline between two heights; `nil` if they share no area.
    func extent(from top: Double, to bottom: Double) -> (Double, Double)? {
        guard bottom > top else { return nil }
        var minX = Double.infinity
        var maxX = -Double.infinity
        var minY = Double.infinity
        var maxY = -Double.infinity
        func include(_ x: Double, _ y: Double) {
            minX = min(minX, x)
            maxX = max(maxX, x)
            minY = min(minY, y)
            maxY = max(maxY, y)
        }
        func cross(_ a: WorldPoint, _ b: WorldPoint, at height: Double) {
            guard (a.y < height) != (b.y < height) else { return }
            include(a.x + (height - a.y) / (b.y - a.y) * (b.x - a.x), height)
        }
        func edge(_ a: WorldPoint, _ b: WorldPoint) {
            if a.y >= top, a.y <= bottom { include(a.x, a.y) }
            cross(a, b, at: top)
            cross(a, b, at: bottom)
        }
        edge(corners.0, corners.1)
        edge(corners.1, corners.2)
        edge(corners.2, corners.3)
        edge(corners.3, corners.0)
        return maxX > minX && maxY > minY ? (minX, maxX) : nil
    }
}

extension TilePyramid {
    /// Tiles of a level that a viewport needs, each once. Row by row from the top left of the screen.
    package func neededTiles(under viewport: TileViewport, at level: Int) -> [TileCoordinate] {
        let cover = ViewportCover(pyramid: self, viewport: viewport, levelIndex: level)
        let columns = cover.period
        var tiles: [TileCoordinate] = []
        var currentRow = -1
        var inRow = 0
        cover.forEach { column, row, _ in
            if row != currentRow {
                currentRow = row
                inRow = 0
            }
            // Columns are cyclic, so a row's tiles repeat after as many as there are.
            guard inRow < columns else { return false }
            inRow += 1
            tiles.append(TileCoordinate(level: level, column: column, row: row))
            return true
        }
        return tiles
    }

    /// The part of a viewport's bounds whose tiles are needed. All of it, unless it is a far view of the coarsest level:
    /// then the part around the middle of the screen that holds ``ViewportCover/mostCoarsestTiles``, or as many tiles as
    /// the screen takes at half of their size.
    fileprivate func coarsestPart(of box: PixelRect, under viewport: TileViewport, _ levelIndex: Int) -> PixelRect {
        guard levelIndex == 0 else { return box }
        let level = levels[0]
        var seen = box.intersection(contents)
        // Copies of the world count too.
        if wrapsX { (seen.minX, seen.maxX) = (box.minX, box.maxX) }
        let (width, height) = (level.tileSpanX, level.tileSpanY)
        let cells = cells(overlapping: seen, at: 0)
        let rows = Double(cells.rows.count)
        var columns = Double(cells.columns.count)
        if wrapsX {
            let copies = (seen.width / worldWidth).rounded(.up) + 1
            let all = self.cells(overlapping: contents, at: 0).columns.count
            columns = min((seen.width / width).rounded(.up) + 1, copies * Double(all))
        }
        let halves = 2 * viewport.scale * level.worldPixelsPerPixel
        let most = max(
            Double(ViewportCover.mostCoarsestTiles),
            (box.width / width * halves + 1) * (box.height / height * halves + 1)
        )
        guard !seen.isEmpty, columns * rows > most else { return box }
        // A square of tiles, or a strip if the level has fewer of them one way.
        let across = max(most.squareRoot(), most / rows)
        let down = most / min(across, columns)
        if across < columns {
            (seen.minX, seen.maxX) = near(viewport.center.x, in: seen.minX, seen.maxX, tiles: across, of: width)
        }
        if down < rows {
            (seen.minY, seen.maxY) = near(viewport.center.y, in: seen.minY, seen.maxY, tiles: down, of: height)
        }
        return seen
    }

    /// The part of an interval around a place that overlaps at most some tiles.
    private func near(
        _ middle: Double,
        in low: Double,
        _ high: Double,
        tiles: Double,
        of side: Double
    ) -> (Double, Double) {
        // One tile less: the interval may begin and end within a tile.
        let length = min((tiles.rounded(.down) - 1) * side, high - low)
        let first = min(max(middle - length / 2, low), high - length)
        return (first, first + length)
    }
}
