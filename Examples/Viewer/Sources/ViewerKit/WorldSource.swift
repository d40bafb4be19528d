import DemoWorld
import Foundation
public import PanTraces
public import TileCache
public import TileSources

/// Worlds to show. No other file depends on the sources of tiles.
public enum WorldSource: Hashable, Sendable {
    /// The built-in map.
    case builtIn
    /// Tiles from files or a server.
    case tiles(TileSourceAddress)

    /// Sources accepted on the command line.
    public static let usage = "built-in, \(TileSourceAddress.forms)"

    /// Parses a source of the command line.
    ///
    /// - Throws: ``ViewerError`` if the argument is not a source.
    public init(argument: String) throws(ViewerError) {
        if argument == "built-in" {
            self = .builtIn
        } else if let address = TileSourceAddress(argument) {
            self = .tiles(address)
        } else {
            throw ViewerError("'\(argument)' is not a source; \(Self.usage) was expected")
        }
    }

    /// Opens the source.
    ///
    /// - Parameters:
    ///   - latency: Additional time of each load of the built-in world, in nanoseconds, to simulate a slow disk
    ///   or network. Ignored for other sources.
    ///   - trace: Header of a trace to play, of which the built-in world takes size and tiles. Ignored for other
    ///   sources. Default: `nil`.
    /// - Throws: `TileSourceError`, which names the file or the address.
    public func open(latency: Int64 = 0, for trace: PanTraceHeader? = nil) throws -> OpenWorld {
        switch self {
        case .builtIn:
            let source =
                try trace?.world.map { world throws in
                    try DemoTileSource(
                        worldWidth: Int(world.width),
                        worldHeight: Int(world.height),
                        tileSize: trace?.tileSize ?? 256
                    )
                } ?? DemoTileSource()
            let world = source.world
            let options = LayerOptions(alpha: .ignored)
            let pyramid = try TilePyramid.powerOfTwo(
                worldWidth: world.worldWidth,
                worldHeight: world.worldHeight,
                tileSize: world.tileSize,
                wrapsX: trace?.wrapsX ?? true
            )
            return OpenWorld(name: "built-in", pyramid: pyramid, options: options) {
                cache,
                stores throws(TileCacheError) in
                var options = options
                if !stores.isEmpty {
                    let size = "\(world.worldWidth)x\(world.worldHeight)"
                    options.stores = LayerStores(stores, dataSet: ["tileviewer's built-in world", size])
                }
                guard latency > 0 else { return try cache.addLayer(source, pyramid: pyramid, options: options) }
                let slow = SlowSource(source: source, latency: latency)
                return try cache.addLayer(slow, pyramid: pyramid, options: options)
            }
        case .tiles(let address):
            let source = try address.open(TileSourceOptions(alpha: .straight))
            return OpenWorld(
                name: source.name,
                pyramid: source.pyramid,
                contents: source.contents,
                options: source.layerOptions
            ) { cache, stores throws(TileCacheError) in try source.addLayer(to: cache, stores: stores) }
        }
    }
}

/// An opened world.
public struct OpenWorld: Sendable {
    /// Display name.
    public let name: String
    /// Levels of the world.
    public let pyramid: TilePyramid
    /// Area with tiles, in world pixels; `nil` if unknown.
    public let contents: PixelRect?
    /// Format of the tiles: four bytes a pixel, straight alpha.
    public let options: LayerOptions
    let addLayer: @Sendable (TileCache, [any TileStore]) throws(TileCacheError) -> TileLayer

    init(
        name: String,
        pyramid: TilePyramid,
        contents: PixelRect? = nil,
        options: LayerOptions,
        addLayer: @escaping @Sendable (TileCache, [any TileStore]) throws(TileCacheError) -> TileLayer
    ) {
        (self.name, self.pyramid, self.contents) = (name, pyramid, contents)
        (self.options, self.addLayer) = (options, addLayer)
    }

    /// Width and height of a tile in its pixels, for pan traces.
    public var tileSize: Int { pyramid.levels.last?.tileWidth ?? 256 }

    /// Whether its tiles may be transparent.
    public var isTransparent: Bool { options.alpha != .ignored }

    /// Header of a trace of this world. The trace takes the size of its first viewport, in that viewport's pixels.
    public var traceHeader: PanTraceHeader {
        PanTraceHeader(
            world: PanTraceHeader.Size(width: pyramid.worldWidth, height: pyramid.worldHeight),
            wrapsX: pyramid.wrapsX,
            tileSize: tileSize
        )
    }

    /// Adds the world to a cache.
    ///
    /// - Parameter stores: Tiers below memory, nearest first. Default: none.
    public func add(to cache: TileCache, stores: [any TileStore] = []) throws(TileCacheError) -> TileLayer {
        try addLayer(cache, stores)
    }
}

/// Delays the loads of a source.
struct SlowSource<Source: BlockingTileSource>: BlockingTileSource {
    let source: Source
    /// Delay in nanoseconds.
    let latency: Int64

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        Thread.sleep(forTimeInterval: Double(latency) / 1e9)
        return try source.load(tile, into: &pixels)
    }
}
