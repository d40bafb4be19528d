import Synchronization
public import TileCache
public import TileSources

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A slide in any format that the system's OpenSlide reads: Aperio, Hamamatsu, Leica, MIRAX, Philips, Sakura, Trestle,
/// Ventana, Zeiss (4.0), tiled TIFF and others.
///
/// All workers share one handle. OpenSlide's own cache is given no room (4.0 or newer; older versions keep up to 32 MiB, which
/// count against the cache's limit). A slide that has failed answers nothing more: it is opened anew, and the tile is read
/// once more; if it fails again it is a permanent failure.
public final class OpenSlideTileSource: BlockingTileSource, MemoryReportingSource, PyramidTileSource {
    /// The file.
    public let name: String
    /// The slide's levels; the finest is the world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The part of the slide that was scanned (`openslide.bounds-x` and so on); all of it if none is stated.
    public var contents: PixelRect { pyramid.contents }
    /// OpenSlide's properties, such as `openslide.vendor`, `openslide.mpp-x` and `openslide.objective-power`.
    public let properties: [String: String]
    /// OpenSlide's version, the file's path, size and modification time, and `openslide.quickhash-1`, which identifies the
    /// slide's contents.
    public let dataSet: [String]

    /// Levels by the pyramid's number, coarsest first.
    private let levels: [Slide.Level]
    private let swapsColours: Bool
    private let current: Mutex<Slide>
    private let counts = Mutex(TileSourceStatistics())

    /// Sides of tiles that are taken from the slide; others would take too much memory, or too many reads.
    private static let usualSides = 64...1024

    /// Opens a slide.
    ///
    /// - Parameters:
    ///   - path: Path of the file.
    ///   - options: Format `rgba8` or `bgra8`, which is faster, premultiplied. Default tile size: the slide's own of each
    ///     level if it is 64 to 1024 pixels a side, else 256.
    /// - Throws: `TileSourceError` if OpenSlide cannot read the file, or the options are others.
    public init(path: String, options: TileSourceOptions = TileSourceOptions()) throws(TileSourceError) {
        guard [.rgba8, .bgra8].contains(options.format), options.alpha == .premultiplied else {
            throw TileSourceError(path, "slides are delivered as rgba8 or bgra8, premultiplied")
        }
        if let size = options.tileSize, !TileSourceOptions.tileSizes.contains(size) {
            throw TileSourceError(path, "a tile size of 16 to 4096 pixels is expected, not \(size)")
        }
        let slide = try Slide(path)
        // Finest first; what is no coarser than the one before is left out. So is a level that is smaller than one of its
        // tiles: OpenSlide 3.4 with libtiff 4.5 reads other pixels of it each time.
        var found: [Slide.Level] = []
        for level in slide.levels {
            let own = ["width", "height"].map { slide.number("openslide.level[\(level.number)].tile-\($0)") ?? 0 }
            guard let last = found.last else {
                found.append(level)
                continue
            }
            if level.width < last.width, own[0] <= level.width, own[1] <= level.height { found.append(level) }
        }
        guard let world = found.first else { throw TileSourceError(path, "a slide with a level was expected") }
        levels = found.reversed()
        let scales = TilePyramid.scales(ofLevels: levels.map { ($0.width, $0.height) })
        func side(_ level: Slide.Level, _ name: String) -> Int {
            let own = slide.number("openslide.level[\(level.number)].tile-\(name)")
            return options.tileSize ?? own.flatMap { Self.usualSides.contains($0) ? $0 : nil } ?? 256
        }
        var pyramid: TilePyramid
        do {
            pyramid = try TilePyramid(
                worldWidth: Double(world.width),
                worldHeight: Double(world.height),
                wrapsX: options.wrapsX,
                levels: zip(levels, scales).map { level, scale in
                    PyramidLevel(
                        width: level.width,
                        height: level.height,
                        tileWidth: side(level, "width"),
                        tileHeight: side(level, "height"),
                        worldPixelsPerPixel: scale
                    )
                }
            )
        } catch {
            throw TileSourceError(path, "\(error)")
        }
        let bounds = ["x", "y", "width", "height"].map { slide.number("openslide.bounds-\($0)") }
        if let x = bounds[0], let y = bounds[1], let width = bounds[2], let height = bounds[3], width > 0, height > 0 {
            let (left, top) = (Double(x), Double(y))
            pyramid = pyramid.limited(
                to: PixelRect(minX: left, minY: top, maxX: left + Double(width), maxY: top + Double(height))
            )
        }
        self.pyramid = pyramid
        name = path
        properties = slide.properties
        layerOptions = LayerOptions(format: options.format, alpha: options.alpha)
        swapsColours = options.format == .rgba8
        dataSet =
            ["openslide \(Slide.version)", "\(options.format)"] + Self.identity(path)
            + [slide.property("openslide.quickhash-1") ?? "", "\(pyramid.levels.map(\.tileWidth))"]
        current = Mutex(slide)
    }

    /// Absolute path, size and modification time.
    private static func identity(_ path: String) -> [String] {
        var status = stat()
        guard stat(path, &status) == 0, let full = realpath(path, nil) else { return [path] }
        defer { free(full) }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return [String(cString: full), "\(status.st_size) bytes", "\(time.tv_sec) s \(time.tv_nsec) ns"]
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { counts.withLock { $0 } }

    /// Memory of OpenSlide's own cache, at most; 0 from version 4.0 on.
    public var heldMemory: ByteCount { .bytes(current.withLock { $0.cacheBytes }) }

    /// Reads a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        counts.withLock { $0.loads += 1 }
        let shape = pyramid.levels[tile.level]
        guard pixels.width == shape.tileWidth, pixels.height == shape.tileHeight, pixels.format == layerOptions.format
        else { throw TileFailure.permanent }
        let slide = current.withLock { $0 }
        var message = read(tile, of: slide, into: &pixels)
        if message != nil {
            // Another tile may have been the one that failed.
            message = nil
            do throws(TileSourceError) {
                let fresh = try Slide(name)
                message = read(tile, of: fresh, into: &pixels)
                let next = message == nil ? fresh : try Slide(name)
                current.withLock { if $0 === slide { $0 = next } }
            } catch {
                counts.withLock { $0.note(.unreadable, error.description) }
                throw TileFailure.transient(retryAfter: .seconds(1))
            }
        }
        if let message {
            counts.withLock { $0.note(.undecodable, "\(name): tile \(tile): \(message)") }
            throw TileFailure.permanent
        }
        counts.withLock { $0.decoded += 1 }
        return .pixels
    }

    private func read(_ tile: TileCoordinate, of slide: Slide, into pixels: inout TilePixels) -> String? {
        let (level, shape) = (levels[tile.level], pyramid.levels[tile.level])
        // OpenSlide takes the place in pixels of level 0.
        func start(_ index: Int, _ side: Int) -> Int { Int((Double(index * side) * level.downsample).rounded()) }
        let (x, y) = (start(tile.column, shape.tileWidth), start(tile.row, shape.tileHeight))
        return pixels.withUnsafeMutableBytes { [swapsColours] memory in
            guard let target = memory.baseAddress?.assumingMemoryBound(to: UInt32.self) else { return nil }
            let message = slide.read(level, x: x, y: y, width: shape.tileWidth, height: shape.tileHeight, into: target)
            if message == nil, swapsColours || 1.bigEndian == 1 {
                Self.order(target, memory.count / 4, swapsColours: swapsColours)
            }
            return message
        }
    }

    /// Brings OpenSlide's numbers, of alpha, red, green and blue from the highest byte on, into the order of bytes.
    private static func order(_ pixels: UnsafeMutablePointer<UInt32>, _ count: Int, swapsColours: Bool) {
        for index in 0..<count {
            let pixel = pixels[index]
            let swapped = pixel & 0xFF00_FF00 | (pixel & 0xFF) << 16 | pixel >> 16 & 0xFF
            pixels[index] = (swapsColours ? swapped : pixel).littleEndian
        }
    }
}

extension TileSourceStatistics {
    fileprivate mutating func note(_ cause: TileLoadFailureCause, _ message: String) {
        failures[cause, default: 0] += 1
        lastFailure = message
    }
}
