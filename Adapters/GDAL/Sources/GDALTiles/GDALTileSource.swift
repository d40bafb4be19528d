import CGDAL
import Synchronization
public import TileCache
public import TileSources

/// A raster in any format that the system's GDAL reads: JPEG 2000, VRT, NetCDF, Zarr, ERDAS, ENVI, servers of WMS and others.
///
/// Levels are the raster's overviews: `gdaladdo` makes some. Each worker has a handle of its own. A part of a file with several
/// rasters has a name of its own, as `gdalinfo` lists them (`NETCDF:file.nc:temperature`).
public final class GDALTileSource: BlockingTileSource, MemoryReportingSource, PyramidTileSource {
    /// The file, or GDAL's name of a part of it.
    public let name: String
    /// The overviews and the raster; it is the world.
    public let pyramid: TilePyramid
    /// Pixel format and other options of the layer.
    public let layerOptions: LayerOptions
    /// The range of numbers that is drawn, unless they are bytes; otherwise `nil`.
    public let warning: String?
    /// GDAL's name of the format, such as `JP2OpenJPEG`.
    public let driver: String
    /// GDAL's version and format, the name, sizes, bands and range. Changes of the file are not noticed.
    public let dataSet: [String]

    private let plan: Raster.Plan
    /// Number of the overview of each level; `nil` for the raster itself.
    private let overviews: [Int32?]
    private let unused: Mutex<[Raster]>
    private let counts = Mutex(TileSourceStatistics())

    /// Sides of blocks that are taken for tiles; others would take too much memory, or too many reads.
    private static let usualSides = 64...1024

    /// Opens a raster. Numbers other than bytes are drawn from the least to the largest, as its statistics state them, or some
    /// of its pixels have them.
    ///
    /// - Parameters:
    ///   - path: Path of the file, or GDAL's name of a raster.
    ///   - options: Format `rgba8` or `bgra8`. Default tile size: the raster's own if it is 64 to 1024 pixels a side, else 256.
    /// - Throws: `TileSourceError` if GDAL cannot read it, or the options are others.
    public init(path: String, options: TileSourceOptions = TileSourceOptions())
        throws(TileSourceError)
    {
        guard [.rgba8, .bgra8].contains(options.format) else {
            throw TileSourceError(path, "rasters are delivered as rgba8 or bgra8")
        }
        if let size = options.tileSize, !TileSourceOptions.tileSizes.contains(size) {
            throw TileSourceError(path, "a tile size of 16 to 4096 pixels is expected, not \(size)")
        }
        let raster = try Raster(path)
        plan = try raster.plan(path)
        // Finest first; what is no coarser than the one before, or not in each band, is left out.
        let bands = plan.colours + (plan.alpha.map { [$0] } ?? [])
        let sizes = bands.map { raster.overviews(of: $0) }
        var found: [(overview: Int32?, width: Int, height: Int)] = [(nil, raster.width, raster.height)]
        for (index, size) in sizes[0].enumerated().sorted(by: { $0.1.width > $1.1.width })
        where sizes.allSatisfy({ $0.count > index && $0[index] == size }) && size.width > 0
            && size.height > 0
        {
            guard size.width < found[found.count - 1].width else { continue }
            found.append((Int32(index), size.width, size.height))
        }
        found.reverse()
        let scales = TilePyramid.scales(ofLevels: found.map { ($0.width, $0.height) })
        let block = raster.blockSize
        let isUsual = Self.usualSides.contains(block.width) && Self.usualSides.contains(block.height)
        let (wide, high) =
            options.tileSize.map { ($0, $0) } ?? (isUsual ? (block.width, block.height) : (256, 256))
        do {
            pyramid = try TilePyramid(
                worldWidth: Double(raster.width),
                worldHeight: Double(raster.height),
                wrapsX: options.wrapsX,
                levels: zip(found, scales).map { level, scale in
                    PyramidLevel(
                        width: level.width,
                        height: level.height,
                        tileWidth: wide,
                        tileHeight: high,
                        worldPixelsPerPixel: scale
                    )
                }
            )
        } catch {
            throw TileSourceError(path, "\(error)")
        }
        overviews = found.map(\.overview)
        name = path
        driver = raster.driver
        layerOptions = LayerOptions(format: options.format, alpha: options.alpha)
        warning = plan.range.map {
            "\(path): its numbers from \($0.lowerBound) to \($0.upperBound) are drawn"
        }
        dataSet = [
            "gdal \(Raster.version) \(raster.driver)", "\(options.format) \(options.alpha)", path,
            "\(raster.width) x \(raster.height)", "\(wide) x \(high)", "\(plan)",
        ]
        unused = Mutex([raster])
    }

    /// Counts of loads and failures so far.
    public var statistics: TileSourceStatistics { counts.withLock { $0 } }

    /// Memory of GDAL's blocks at present, which all rasters of the process share; `GDAL_CACHEMAX` bounds it.
    public var heldMemory: ByteCount { .bytes(Int(clamping: GDALGetCacheUsed64())) }

    /// Reads a tile.
    public func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        counts.withLock { $0.loads += 1 }
        let shape = pyramid.levels[tile.level]
        guard pixels.width == shape.tileWidth, pixels.height == shape.tileHeight,
            pixels.format == layerOptions.format
        else { throw TileFailure.permanent }
        let raster: Raster
        if let kept = unused.withLock({ $0.popLast() }) {
            raster = kept
        } else {
            do throws(TileSourceError) { raster = try Raster(name) } catch {
                counts.withLock { $0.note(.unreadable, error.description) }
                throw TileFailure.transient(retryAfter: .seconds(1))
            }
        }
        defer { unused.withLock { $0.append(raster) } }
        guard read(tile, of: raster, into: &pixels) else {
            let message = "\(name): tile \(tile): GDAL says: \(Raster.message)"
            counts.withLock { $0.note(.unreadable, message) }
            // It may be a server's, or a file's on one.
            throw TileFailure.transient(retryAfter: .zero)
        }
        counts.withLock { $0.decoded += 1 }
        return .pixels
    }

    private func read(_ tile: TileCoordinate, of raster: Raster, into pixels: inout TilePixels)
        -> Bool
    {
        let shape = pyramid.levels[tile.level]
        let (x, y) = (tile.column * shape.tileWidth, tile.row * shape.tileHeight)
        let (wide, high) = (
            min(shape.tileWidth, shape.width - x), min(shape.tileHeight, shape.height - y)
        )
        let stride = pixels.bytesPerRow
        return pixels.withUnsafeMutableBytes { [plan, overviews, layerOptions] memory in
            guard let target = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
                return false
            }
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            guard
                raster.read(
                    plan,
                    overview: overviews[tile.level],
                    x: x,
                    y: y,
                    width: wide,
                    height: high,
                    into: target,
                    stride: stride
                )
            else { return false }
            let multiplies =
                layerOptions.alpha == .premultiplied
                && (plan.alpha != nil || plan.hasMask || plan.palette != nil)
            let swaps = layerOptions.format == .bgra8
            if multiplies || swaps {
                Self.order(target, memory.count / 4, multiplies: multiplies, swaps: swaps)
            }
            return true
        }
    }

    /// Multiplies colours by alpha, to the nearest, and exchanges red and blue.
    private static func order(
        _ pixels: UnsafeMutablePointer<UInt8>,
        _ count: Int,
        multiplies: Bool,
        swaps: Bool
    ) {
        for pixel in 0..<count {
            let own = pixels + 4 * pixel
            let alpha = Int(own[3])
            if multiplies, alpha < 255 {
                for channel in 0..<3 { own[channel] = UInt8((Int(own[channel]) * alpha + 127) / 255) }
            }
            if swaps { (own[0], own[2]) = (own[2], own[0]) }
        }
    }
}

extension TileSourceStatistics {
    fileprivate mutating func note(_ cause: TileLoadFailureCause, _ message: String) {
        failures[cause, default: 0] += 1
        lastFailure = message
    }
}
