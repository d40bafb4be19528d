import DemoWorld
import Foundation
public import TileCache
public import TileSources

/// What there is to look at. All that the viewer knows of where tiles come from is here.
public enum WorldSource: Hashable, Sendable {
    /// The map that draws itself.
    case builtIn
    /// Tiles from files or a server.
    case tiles(TileSourceAddress)

    /// What can be named on the command line.
    public static let usage = "built-in, \(TileSourceAddress.forms)"

    /// Reads what was named on the command line.
    ///
    /// - Throws: ``ViewerError`` for anything that is no source.
    public init(argument: String) throws(ViewerError) {
        if argument == "built-in" {
            self = .builtIn
        } else if let address = TileSourceAddress(argument) {
            self = .tiles(address)
        } else {
            throw ViewerError("'\(argument)' is no source; \(Self.usage) was expected")
        }
    }

    /// Opens it.
    ///
    /// - Parameter latency: what each load of the built-in world takes longer than it would, in nanoseconds: a slow disk
    ///   or network to look at. Other sources take their own time.
    /// - Throws: `TileSourceError`, which names the file or the address.
    public func open(latency: Int64 = 0) throws -> OpenWorld {
        switch self {
        case .builtIn:
            let source = try DemoTileSource()
            let world = source.world
            let options = LayerOptions(alpha: .ignored)
            let pyramid = try TilePyramid.powerOfTwo(
                worldWidth: world.worldWidth,
                worldHeight: world.worldHeight,
                tileSize: world.tileSize,
                wrapsX: true
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

/// A world that can be looked at.
public struct OpenWorld: Sendable {
    /// What to call it.
    public let name: String
    /// Its levels.
    public let pyramid: TilePyramid
    /// Where it is known to have tiles, in world pixels; `nil` for everywhere.
    public let contents: PixelRect?
    /// What its tiles are like; four bytes a pixel, colours not multiplied by alpha.
    public let options: LayerOptions
    let addLayer: @Sendable (TileCache, [any TileStore]) throws(TileCacheError) -> LayerID

    init(
        name: String,
        pyramid: TilePyramid,
        contents: PixelRect? = nil,
        options: LayerOptions,
        addLayer: @escaping @Sendable (TileCache, [any TileStore]) throws(TileCacheError) -> LayerID
    ) {
        (self.name, self.pyramid, self.contents) = (name, pyramid, contents)
        (self.options, self.addLayer) = (options, addLayer)
    }

    /// The width and the height of a tile in its own pixels, as pan traces name it.
    public var tileSize: Int { pyramid.levels.last?.tileWidth ?? 256 }

    /// Whether what is below may be seen through its tiles.
    public var isTransparent: Bool { options.alpha != .ignored }

    /// Adds it to a cache.
    ///
    /// - Parameter stores: Tiers below memory, nearest first. Default: none.
    public func add(to cache: TileCache, stores: [any TileStore] = []) throws(TileCacheError) -> LayerID {
        try addLayer(cache, stores)
    }
}

/// A source that takes its time.
struct SlowSource<Source: BlockingTileSource>: BlockingTileSource {
    let source: Source
    /// In nanoseconds.
    let latency: Int64

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        Thread.sleep(forTimeInterval: Double(latency) / 1e9)
        return try source.load(tile, into: &pixels)
    }
}
