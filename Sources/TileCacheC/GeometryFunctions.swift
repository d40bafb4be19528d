public import CTileCache
internal import TileCache

extension tilecache_layer_info: VersionedStructure {}
extension tilecache_level_info: VersionedStructure {}

/// See `tilecache.h`.
@c(tilecache_get_layer_info)
public func tileCacheGetLayerInfo(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ info: UnsafeMutablePointer<tilecache_layer_info>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (layer) throws(Failure) in
        let pyramid = try pyramid(of: layer)
        var known = tilecache_layer_info()
        known.world_width = pyramid.worldWidth
        known.world_height = pyramid.worldHeight
        known.contents = tilecache_rectangle(pyramid.contents)
        known.level_count = Int64(pyramid.levels.count)
        known.wraps_x = pyramid.wrapsX ? 1 : 0
        try write(known, to: info, "info")
    }
}

/// See `tilecache.h`.
@c(tilecache_get_level_info)
public func tileCacheGetLevelInfo(
    _ cache: OpaquePointer?,
    _ layer: tilecache_layer,
    _ level: Int64,
    _ info: UnsafeMutablePointer<tilecache_level_info>?
) -> tilecache_status {
    withLayer(layer, of: cache) { (own) throws(Failure) in
        let levels = try pyramid(of: own).levels
        guard (0..<Int64(levels.count)).contains(level) else {
            throw .argument("level must be below the \(levels.count) levels of layer \(layer), not \(level)")
        }
        let table = levels[Int(level)]
        var known = tilecache_level_info()
        (known.width, known.height) = (Int64(table.width), Int64(table.height))
        (known.tile_width, known.tile_height) = (Int64(table.tileWidth), Int64(table.tileHeight))
        known.border = Int64(table.border)
        (known.columns, known.rows) = (Int64(table.columns), Int64(table.rows))
        known.world_pixels_per_pixel = table.worldPixelsPerPixel
        (known.origin_x, known.origin_y) = (table.origin.x, table.origin.y)
        try write(known, to: info, "info")
    }
}

private func pyramid(of layer: TileLayer) throws(Failure) -> TilePyramid {
    guard let pyramid = layer.pyramid else { throw .argument("the layer was removed") }
    return pyramid
}

/// See `tilecache.h`.
@c(tilecache_viewport_get_screen_point)
public func tileCacheViewportGetScreenPoint(
    _ viewport: UnsafePointer<tilecache_viewport>?,
    _ worldX: Double,
    _ worldY: Double,
    _ x: UnsafeMutablePointer<Double>?,
    _ y: UnsafeMutablePointer<Double>?
) -> tilecache_status {
    attempt(on: try drawableViewport(viewport)) { place throws(Failure) in
        try checkIsFinite(worldX, worldY, "world_x and world_y")
        guard let x else { throw .isNull("x") }
        guard let y else { throw .isNull("y") }
        let position = place.screen(of: WorldPoint(x: worldX, y: worldY))
        try checkIsFinite(position.x, position.y, "x and y on the screen")
        (x.pointee, y.pointee) = position
    }
}

/// See `tilecache.h`.
@c(tilecache_viewport_get_world_point)
public func tileCacheViewportGetWorldPoint(
    _ viewport: UnsafePointer<tilecache_viewport>?,
    _ x: Double,
    _ y: Double,
    _ worldX: UnsafeMutablePointer<Double>?,
    _ worldY: UnsafeMutablePointer<Double>?
) -> tilecache_status {
    attempt(on: try drawableViewport(viewport)) { place throws(Failure) in
        try checkIsFinite(x, y, "x and y")
        guard let worldX else { throw .isNull("world_x") }
        guard let worldY else { throw .isNull("world_y") }
        let point = place.world(at: (x, y))
        try checkIsFinite(point.x, point.y, "x and y in the world")
        (worldX.pointee, worldY.pointee) = (point.x, point.y)
    }
}

private func drawableViewport(_ viewport: UnsafePointer<tilecache_viewport>?) throws(Failure) -> TileViewport {
    let place = try readViewport(viewport, "viewport")
    try checkIsDrawable(place, "viewport")
    return place
}

private func checkIsFinite(_ x: Double, _ y: Double, _ names: String) throws(Failure) {
    guard x.isFinite, y.isFinite else { throw .argument("\(names) must be finite, not \(x) and \(y)") }
}
