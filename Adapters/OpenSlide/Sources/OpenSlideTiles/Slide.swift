import COpenSlide
import TileSources

/// A slide that OpenSlide has open.
///
/// Unchecked: OpenSlide's functions may be called by several threads at once; the handle is closed with the last reference.
final class Slide: @unchecked Sendable {
    /// A level as OpenSlide has it.
    struct Level {
        /// Its number there, 0 for the finest.
        var number: Int32
        var width: Int
        var height: Int
        /// Pixels of level 0 for one of this.
        var downsample: Double
    }

    private let handle: OpaquePointer
    /// Bytes that OpenSlide keeps of decoded tiles.
    let cacheBytes: Int

    /// Opens a file.
    ///
    /// - Throws: `TileSourceError` if OpenSlide does not know the format, or cannot read the file.
    init(_ path: String) throws(TileSourceError) {
        guard let handle = openslide_open(path) else {
            throw TileSourceError(path, "a slide that OpenSlide \(Self.version) reads was expected")
        }
        if let message = openslide_get_error(handle) {
            let text = String(cString: message)
            openslide_close(handle)
            throw TileSourceError(path, "OpenSlide \(Self.version) says: \(text)")
        }
        self.handle = handle
        cacheBytes = tile_openslide_drop_cache(handle) != 0 ? 0 : 32 << 20
    }

    deinit { openslide_close(handle) }

    static var version: String { String(cString: openslide_get_version()) }

    /// The slide's levels, finest first.
    var levels: [Level] {
        (0..<max(openslide_get_level_count(handle), 0)).compactMap { number in
            var (width, height): (Int64, Int64) = (0, 0)
            openslide_get_level_dimensions(handle, number, &width, &height)
            let downsample = openslide_get_level_downsample(handle, number)
            guard width > 0, height > 0, width <= 1 << 40, height <= 1 << 40, downsample >= 1 else { return nil }
            return Level(number: number, width: Int(width), height: Int(height), downsample: downsample)
        }
    }

    /// A property; `nil` if the slide has none of that name.
    func property(_ name: String) -> String? {
        openslide_get_property_value(handle, name).map { String(cString: $0) }
    }

    /// A property that is a whole number.
    func number(_ name: String) -> Int? { property(name).flatMap { Int($0) } }

    /// All properties.
    var properties: [String: String] {
        var found: [String: String] = [:]
        guard let names = openslide_get_property_names(handle) else { return found }
        var index = 0
        while let name = names[index] {
            let text = String(cString: name)
            found[text] = property(text)
            index += 1
        }
        return found
    }

    /// Reads pixels of blue, green, red and alpha, by which colours are multiplied. Outside of the slide they are
    /// transparent.
    ///
    /// - Parameters:
    ///   - x: Column in pixels of level 0, as the row `y`.
    ///   - target: Memory of `width` x `height` pixels.
    /// - Returns: OpenSlide's message if it failed: then the slide answers nothing more.
    func read(
        _ level: Level,
        x: Int,
        y: Int,
        width: Int,
        height: Int,
        into target: UnsafeMutablePointer<UInt32>
    ) -> String? {
        openslide_read_region(handle, target, Int64(x), Int64(y), level.number, Int64(width), Int64(height))
        return openslide_get_error(handle).map { String(cString: $0) }
    }
}
