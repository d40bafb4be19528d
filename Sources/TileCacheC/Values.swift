package import CTileCache
package import TileCache

extension TileCoordinate {
    init(_ tile: tilecache_coordinate) {
        self.init(level: Int(clamping: tile.level), column: Int(clamping: tile.column), row: Int(clamping: tile.row))
    }
}

extension tilecache_coordinate {
    init(_ tile: TileCoordinate) {
        self.init(level: Int64(tile.level), column: Int64(tile.column), row: Int64(tile.row))
    }
}

extension tilecache_layer {
    init(_ layer: LayerID) { self.init(truncatingIfNeeded: layer.serial) }
}

extension tilecache_rectangle {
    package init(_ rectangle: PixelRect) {
        self.init(min_x: rectangle.minX, min_y: rectangle.minY, max_x: rectangle.maxX, max_y: rectangle.maxY)
    }
}

extension tilecache_identity {
    init(_ identity: TileIdentity) {
        self.init(
            layer: tilecache_layer(identity.layer),
            generation: identity.generation,
            tile: tilecache_coordinate(identity.tile)
        )
    }
}

extension tilecache_tile {
    init(_ tile: LeasedTile) {
        let bytes = tile.withUnsafeBytes { $0 }
        self.init(
            identity: tilecache_identity(tile.identity),
            pixels: bytes.baseAddress,
            byte_count: bytes.count,
            bytes_per_row: tile.bytesPerRow,
            width: Int32(clamping: tile.width),
            height: Int32(clamping: tile.height),
            format: tilecache_format(tile.format),
            is_stale: tile.isStale ? 1 : 0
        )
    }
}

extension tilecache_format {
    init(_ format: TilePixelFormat) {
        let value =
            switch format {
            case .rgba8: TILECACHE_FORMAT_RGBA8
            case .bgra8: TILECACHE_FORMAT_BGRA8
            case .gray8: TILECACHE_FORMAT_GRAY8
            case .gray16: TILECACHE_FORMAT_GRAY16
            case .rgba16: TILECACHE_FORMAT_RGBA16
            case .float32: TILECACHE_FORMAT_FLOAT32
            case .opaque: TILECACHE_FORMAT_OPAQUE
            }
        self.init(value)
    }
}

package func pixelFormat(_ format: tilecache_format, opaqueBytes: Int64) throws(Failure) -> TilePixelFormat {
    switch Int(format) {
    case Int(TILECACHE_FORMAT_RGBA8): return .rgba8
    case Int(TILECACHE_FORMAT_BGRA8): return .bgra8
    case Int(TILECACHE_FORMAT_GRAY8): return .gray8
    case Int(TILECACHE_FORMAT_GRAY16): return .gray16
    case Int(TILECACHE_FORMAT_RGBA16): return .rgba16
    case Int(TILECACHE_FORMAT_FLOAT32): return .float32
    case Int(TILECACHE_FORMAT_OPAQUE):
        guard opaqueBytes > 0 else {
            throw .argument("options->opaque_bytes_per_tile must be 1 or more, not \(opaqueBytes)")
        }
        return .opaque(bytesPerTile: Int(clamping: opaqueBytes))
    default: throw .argument("options->format must be a TILECACHE_FORMAT, not \(format)")
    }
}

package func alphaMode(_ alpha: tilecache_alpha) throws(Failure) -> TileAlphaMode {
    switch Int(alpha) {
    case Int(TILECACHE_ALPHA_STRAIGHT): return .straight
    case Int(TILECACHE_ALPHA_PREMULTIPLIED): return .premultiplied
    case Int(TILECACHE_ALPHA_IGNORED): return .ignored
    default: throw .argument("options->alpha must be a TILECACHE_ALPHA, not \(alpha)")
    }
}

func downsampling(_ downsampling: tilecache_downsampling) throws(Failure) -> TileDownsampling {
    switch Int(downsampling) {
    case Int(TILECACHE_DOWNSAMPLING_LINEAR): return .linear
    case Int(TILECACHE_DOWNSAMPLING_LINEAR_SIGNED): return .linearSigned
    case Int(TILECACHE_DOWNSAMPLING_SRGB): return .sRGB
    default: throw .argument("options->downsampling must be a TILECACHE_DOWNSAMPLING, not \(downsampling)")
    }
}

extension tilecache_alpha {
    init(_ alpha: TileAlphaMode) {
        let value =
            switch alpha {
            case .straight: TILECACHE_ALPHA_STRAIGHT
            case .premultiplied: TILECACHE_ALPHA_PREMULTIPLIED
            case .ignored: TILECACHE_ALPHA_IGNORED
            }
        self.init(value)
    }
}

extension tilecache_cause {
    init(_ cause: UnavailableTile.Cause) {
        let value =
            switch cause {
            case .absent: TILECACHE_CAUSE_ABSENT
            case .failed: TILECACHE_CAUSE_FAILED
            }
        self.init(value)
    }
}

/// Reads a region of the world; `nil` for NULL.
func region(_ pointer: UnsafePointer<tilecache_rectangle>?) throws(Failure) -> PixelRect? {
    guard let rectangle = pointer?.pointee else { return nil }
    let edges = [rectangle.min_x, rectangle.min_y, rectangle.max_x, rectangle.max_y]
    guard edges.allSatisfy({ $0.isFinite }), rectangle.min_x < rectangle.max_x, rectangle.min_y < rectangle.max_y else {
        throw .argument("region must have finite edges, each maximum above its minimum, not \(edges)")
    }
    return PixelRect(minX: rectangle.min_x, minY: rectangle.min_y, maxX: rectangle.max_x, maxY: rectangle.max_y)
}

extension tilecache_viewport: VersionedStructure {
    package static var defaults: tilecache_viewport {
        var viewport = tilecache_viewport()
        viewport.scale = 1
        return viewport
    }
}

func readViewport(_ pointer: UnsafePointer<tilecache_viewport>?, _ name: String) throws(Failure) -> TileViewport {
    let fields = try read(pointer, name)
    return TileViewport(
        center: WorldPoint(x: fields.center_x, y: fields.center_y),
        width: fields.width,
        height: fields.height,
        scale: fields.scale,
        rotation: fields.rotation
    )
}

func checkIsDrawable(_ viewport: TileViewport, _ name: String) throws(Failure) {
    guard viewport.isDrawable else {
        throw .argument("\(name) must have finite numbers and a size and a scale larger than 0")
    }
}

/// Reads a time; `nil` for `TILECACHE_TIME_NOW`. Clamped so that differences of times cannot overflow.
func moment(_ nanoseconds: Int64) -> MonotonicTime? {
    nanoseconds == .min ? nil : MonotonicTime(nanoseconds: MonotonicTime.bounded(nanoseconds))
}
