/// A tile that a frame draws, before it is leased.
struct ComposedTile: Sendable {
    var entry: EntryID
    var slot: SlotID
    var key: TileKey
    var generation: UInt32
    var isStale: Bool
    var isExact: Bool
    /// World rectangle of the tile, in world pixels, in the copy on screen.
    var worldRectangle: PixelRect
    /// Part of the tile to draw, in its pixels, border included.
    var tileRectangle: PixelRect
}

/// Area of the viewport that a frame can draw, in screen pixels.
package struct Coverage: Hashable, Sendable {
    /// Area drawn with exact tiles.
    package var sharp = 0.0
    /// Area drawn with coarser or finer tiles.
    package var fallback = 0.0
    /// Area that is not drawn.
    package var blank = 0.0
    /// Needed tiles that could not be drawn exactly; absent ones do not count.
    package var missingTiles = 0
    /// Resolution deficit: area times the number of levels by which it is drawn too coarse. Finer tiles count as exact;
    /// blank area counts as the number of levels.
    package var deficit = 0.0
}

/// Figures of one level for placing its tiles, looked up once for many tiles.
struct LevelLook {
    let level: Int
    let table: PyramidLevel
    private let world: PixelRect

    init(_ pyramid: TilePyramid, level: Int) {
        self.level = level
        table = pyramid.levels[level]
        world = pyramid.worldRectangle
    }

    /// World rectangle of a tile, cut at the world's edges. In the copy of the world that begins at 0.
    func worldRectangle(of key: TileKey) -> PixelRect { table.rectangle(of: key.coordinate).intersection(world) }
}

/// Places a view's needed tiles and their fallbacks on screen.
///
/// Runs under the pool's lock. Depends on residency only, promotes nothing and touches only tiles drawn exactly.
struct FrameComposer {
    /// Whether to emit placements, not only the coverage.
    var emitsPlacements: Bool
    /// Whether compressed tiles can be drawn too, if decompression costs nothing.
    var drawsCompressed: Bool
    /// Whether fallbacks may be tiles that could be evicted without a lease, though needed tiles lack their room.
    var takesRoom = true
    /// Lack of room since which finer ones of these layers may not.
    var spared = RoomLack()
    var now: Int64

    /// Composes one layer of a view.
    ///
    /// - Parameters:
    ///   - isMissing: Whether a needed tile of the view is missing; otherwise the coverage is not computed.
    ///   - emit: Called for each placement.
    func compose(
        _ layer: ViewLayer,
        viewport: TileViewport?,
        pool: borrowing PoolState,
        isMissing: Bool,
        coverage: inout Coverage,
        emit: (ComposedTile) -> Void
    ) {
        guard isMissing || emitsPlacements else { return }
        // The screen area of tiles that the renderer lists itself is unknown.
        let shown = layer.hasOwnList ? nil : viewport
        let clip = ViewportClip(shown)
        var look = LevelLook(layer.pyramid, level: max(layer.needs.level, 0))
        for visible in layer.visible {
            let index = Int(visible.index)
            let number = layer.needs.entries[index]
            let key = layer.needs.tiles[index]
            if key.level != look.level { look = LevelLook(layer.pyramid, level: key.level) }
            let rectangle = look.worldRectangle(of: key).offsetBy(x: visible.offset, y: 0)
            let area = isMissing ? clip.screenArea(of: rectangle) : 0
            if number != .none, isDrawable(pool.table[number].residency) {
                coverage.sharp += area
                // A renderer may list tiles outside of the world: they show nothing of it.
                if emitsPlacements, !rectangle.isEmpty {
                    emit(composed(number, look.table, covering: rectangle, offset: visible.offset, isExact: true, pool))
                }
                continue
            }
            let isAbsent = number != .none && pool.table[number].flags.contains(.absent)
            if !isAbsent { coverage.missingTiles += 1 }
            let fallback = emitFallback(of: visible, in: layer, clip, pool, emit)
            // An absent tile's ancestor is the final result; without one, the area is blank at the source too.
            if isAbsent {
                coverage.sharp += area
            } else {
                let blank = max(area - fallback.area, 0)
                coverage.fallback += fallback.area
                coverage.blank += blank
                coverage.deficit += fallback.deficit + blank * Double(layer.pyramid.levels.count)
            }
        }
    }

    /// Touches tiles drawn exactly, row by row from the top left. Returns whether a needed tile is missing.
    ///
    /// If the frame equals the previous one and nothing was used in between, every list would stay as it is. Then this
    /// only reads.
    ///
    /// - Parameter timeToSharp: Called with the wait, in nanoseconds, of each missed tile that can be drawn now.
    func touch(_ layer: inout ViewLayer, _ pool: inout PoolState, timeToSharp: (Int64) -> Void) -> Bool {
        let entries = layer.needs.entries
        var drawable = 0
        for number in entries where number != .none && isDrawable(pool.table.pointer(number).pointee.residency) {
            drawable += 1
        }
        let mark = TouchMark(stamp: pool.table.lastStamp, count: drawable)
        let isMissing = drawable < entries.count
        if mark == layer.touched { return isMissing }
        for index in entries.indices {
            let number = entries[index]
            guard number != .none, isDrawable(pool.table[number].residency) else { continue }
            pool.touch(number, now: now)
            if layer.needs.missingSince[index] != ViewNeeds.notMissing {
                timeToSharp(now - layer.needs.missingSince[index])
                layer.needs.missingSince[index] = ViewNeeds.notMissing
            }
        }
        layer.touched = TouchMark(stamp: pool.table.lastStamp, count: drawable)
        return isMissing
    }

    @inline(__always)
    func isDrawable(_ residency: Residency) -> Bool {
        drawsCompressed ? residency.isResident : residency.isDecoded
    }

    func composed(
        _ number: EntryID,
        _ level: PyramidLevel,
        covering rectangle: PixelRect,
        offset: Double,
        isExact: Bool,
        _ pool: borrowing PoolState
    ) -> ComposedTile {
        let entry = pool.table.pointer(number)
        let key = entry.pointee.key
        return ComposedTile(
            entry: number,
            slot: entry.pointee.slot,
            key: key,
            generation: entry.pointee.generation,
            isStale: entry.pointee.flags.contains(.stale),
            isExact: isExact,
            worldRectangle: rectangle,
            tileRectangle: level.tileRectangle(of: key.coordinate, showing: rectangle, offset: offset)
        )
    }
}

/// Computes the visible part of a world rectangle.
package struct ViewportClip {
    private let upright: PixelRect
    private let center: WorldPoint
    private let cosine: Double
    private let sine: Double
    private let halfWidth: Double
    private let halfHeight: Double
    private let isRotated: Bool
    private let isEverything: Bool
    /// Screen pixels in a square of one world pixel.
    private let screenPixels: Double

    /// - Parameter shown: The viewport; `nil` shows everything.
    package init(_ shown: TileViewport?) {
        isEverything = shown == nil
        let shown = shown ?? TileViewport(center: WorldPoint(x: 0, y: 0), width: 1, height: 1)
        let viewport = shown.withDistinctEdges
        // The screen bounds the pixels of a rectangle that is larger than the view.
        let pixels =
            viewport == shown
            ? shown.scale * shown.scale : (shown.width / viewport.width) * (shown.height / viewport.height)
        screenPixels = min(pixels, .greatestFiniteMagnitude)
        upright = viewport.uprightRectangle
        center = viewport.center
        isRotated = viewport.rotation != 0
        cosine = isRotated ? PortableMath.cos(viewport.rotation) : 1
        sine = isRotated ? PortableMath.sin(viewport.rotation) : 0
        halfWidth = viewport.width / viewport.scale / 2
        halfHeight = viewport.height / viewport.scale / 2
    }

    package func screenArea(of rectangle: PixelRect) -> Double { area(of: rectangle) * screenPixels }

    /// Area in world pixels.
    func area(of rectangle: PixelRect) -> Double {
        // As a polygon, one with edges in reverse order would have an area.
        if rectangle.isEmpty { return 0 }
        if isEverything { return rectangle.area }
        guard isRotated else { return upright.intersection(rectangle).area }
        // In the screen's axes the viewport is upright and the rectangle is rotated: clip it at the four edges.
        var polygon = [
            turned(rectangle.minX, rectangle.minY), turned(rectangle.maxX, rectangle.minY),
            turned(rectangle.maxX, rectangle.maxY), turned(rectangle.minX, rectangle.maxY),
        ]
        polygon = clipped(polygon) { $0.x + halfWidth }
        polygon = clipped(polygon) { halfWidth - $0.x }
        polygon = clipped(polygon) { $0.y + halfHeight }
        polygon = clipped(polygon) { halfHeight - $0.y }
        var twice = 0.0
        for (index, point) in polygon.enumerated() {
            let next = polygon[index + 1 == polygon.count ? 0 : index + 1]
            twice += point.x * next.y - next.x * point.y
        }
        return abs(twice) / 2
    }

    private func turned(_ x: Double, _ y: Double) -> WorldPoint {
        let dx = x - center.x
        let dy = y - center.y
        return WorldPoint(x: dx * cosine + dy * sine, y: dy * cosine - dx * sine)
    }

    private func clipped(_ polygon: [WorldPoint], _ inside: (WorldPoint) -> Double) -> [WorldPoint] {
        var result: [WorldPoint] = []
        for (index, point) in polygon.enumerated() {
            let next = polygon[index + 1 == polygon.count ? 0 : index + 1]
            let a = inside(point)
            let b = inside(next)
            if a >= 0 { result.append(point) }
            if (a < 0) != (b < 0) {
                let share = a / (a - b)
                result.append(
                    WorldPoint(x: point.x + share * (next.x - point.x), y: point.y + share * (next.y - point.y))
                )
            }
        }
        return result
    }
}
