/// Enumerates the tiles of one level under a viewport. Row by row from the top left of the screen.
///
/// A tile is included if it shares some area with the viewport's true outline and with the world; touching edges do not
/// count. On a wrapping world the copies of the world on screen are included.
struct ViewportCover {
    /// Maximum number of tiles, and of rows that are looked at. More cannot be drawn, and an erroneous scale must take
    /// neither all memory nor all time.
    static let maximumTileCount = 65_536
    /// Maximum number of copies of a wrapping world in one row.
    static let maximumCopies = 64

    // Not the pyramid, whose copy counts a reference.
    private let level: PyramidLevel
    private let levelIndex: Int
    private let worldWidth: Double
    private let worldHeight: Double
    private let wrapsX: Bool
    /// Upright bounds in world pixels; empty if there are no tiles.
    let box: PixelRect
    private let outline: RotatedOutline?

    /// Prepares the tiles under a viewport.
    init(pyramid: TilePyramid, viewport: TileViewport, levelIndex: Int) {
        guard viewport.isDrawable else {
            self.init(pyramid, PixelRect(minX: 0, minY: 0, maxX: 0, maxY: 0), levelIndex)
            return
        }
        let viewport = viewport.withDistinctEdges
        let outline = viewport.rotation == 0 ? nil : RotatedOutline(viewport)
        self.init(pyramid, outline?.bounds ?? viewport.uprightRectangle, levelIndex, outline)
    }

    /// Prepares the tiles under an upright rectangle of the world.
    init(pyramid: TilePyramid, rectangle: PixelRect, levelIndex: Int) { self.init(pyramid, rectangle, levelIndex) }

    private init(_ pyramid: TilePyramid, _ box: PixelRect, _ levelIndex: Int, _ outline: RotatedOutline? = nil) {
        level = pyramid.levels[levelIndex]
        self.levelIndex = levelIndex
        (worldWidth, worldHeight, wrapsX) = (pyramid.worldWidth, pyramid.worldHeight, pyramid.wrapsX)
        self.box = box
        self.outline = outline
    }

    /// Rows under the bounds.
    var rows: Range<Int> {
        // A world that does not repeat has nothing beside it.
        guard !box.isEmpty, wrapsX || (box.maxX > 0 && box.minX < worldWidth) else { return 0..<0 }
        return level.rows(from: max(box.minY, 0), to: min(box.maxY, worldHeight))
    }

    /// Calls `body` with each column under the bounds and the copy's horizontal offset in world pixels. All rows of an
    /// upright rectangle have the same ones.
    @inline(__always)
    func forEachColumn(_ body: (_ column: Int, _ offset: Double) -> Void) {
        var remaining = Self.maximumTileCount
        forEachColumn(from: box.minX, to: box.maxX) { column, offset in
            body(column, offset)
            remaining -= 1
            return remaining > 0
        }
    }

    /// The tiles as a range; `nil` if the viewport is turned or the world wraps. Equal ranges have the same tiles.
    var range: TileRange? {
        guard outline == nil, !wrapsX else { return nil }
        return TileRange(level: levelIndex, columns: columns(from: box.minX, to: box.maxX), rows: rows)
    }

    /// Columns under an interval, without the copies of a world that wraps.
    @inline(__always)
    private func columns(from minX: Double, to maxX: Double) -> Range<Int> {
        level.columns(from: max(minX, 0), to: min(maxX, worldWidth))
    }

    /// Number of the tiles, each counted once.
    var tileCount: Int {
        var count = 0
        var currentRow = -1
        var inRow = 0
        forEach { _, row, _ in
            if row != currentRow { (currentRow, inRow) = (row, 0) }
            // Columns are cyclic, so a row's tiles repeat after as many as there are.
            if inRow < level.columns { count += 1 }
            inRow += 1
            return true
        }
        return count
    }

    /// Calls `body` with the column, the row and the copy's horizontal offset in world pixels. `body` returns whether
    /// to continue with this row.
    @inline(__always)
    func forEach(_ body: (_ column: Int, _ row: Int, _ offset: Double) -> Bool) {
        var remaining = Self.maximumTileCount
        // Beside a narrow world there may be any number of rows without tiles.
        for row in rows.prefix(Self.maximumTileCount) {
            var minX = box.minX
            var maxX = box.maxX
            if let outline {
                let top = level.origin.y + Double(row) * level.tileSpanY
                let bottom = level.end(ofRow: row) ?? top + level.tileSpanY
                guard let interval = outline.extent(from: max(top, 0), to: min(bottom, worldHeight)) else { continue }
                (minX, maxX) = interval
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
        let columns = levels[level].columns
        var tiles: [TileCoordinate] = []
        var currentRow = -1
        var inRow = 0
        ViewportCover(pyramid: self, viewport: viewport, levelIndex: level).forEach { column, row, _ in
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
}
