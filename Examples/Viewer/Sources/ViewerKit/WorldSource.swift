import DemoWorld
import Foundation
public import TileCache

/// What there is to look at. All that the viewer knows of where tiles come from is here.
public enum WorldSource: Hashable, Sendable {
    /// The map that draws itself.
    case builtIn

    /// What can be named on the command line.
    public static let usage = "built-in"

    /// Reads what was named on the command line.
    ///
    /// - Throws: ``ViewerError`` for anything that is no source.
    public init(argument: String) throws(ViewerError) {
        guard argument == "built-in" else {
            throw ViewerError("'\(argument)' is no source; \(Self.usage) was expected")
        }
        self = .builtIn
    }

    /// Opens it.
    ///
    /// - Parameter latency: what each load takes longer than it would, in nanoseconds: a slow disk or network to look at.
    public func open(latency: Int64 = 0) throws -> OpenWorld {
        switch self {
        case .builtIn:
            let source = try DemoTileSource()
            let world = source.world
            return OpenWorld(
                name: "built-in",
                pyramid: try .powerOfTwo(
                    worldWidth: world.worldWidth,
                    worldHeight: world.worldHeight,
                    tileSize: world.tileSize,
                    wrapsX: true
                ),
                tileSize: world.tileSize,
                options: LayerOptions(alpha: .straight),
                source: latency > 0 ? SlowSource(source: source, latency: latency) : source
            )
        }
    }
}

/// A world that can be looked at.
public struct OpenWorld: Sendable {
    /// What to call it.
    public let name: String
    /// Its levels.
    public let pyramid: TilePyramid
    /// The width and the height of a tile in its own pixels, as pan traces name it.
    public let tileSize: Int
    /// What its tiles are like; four bytes a pixel.
    public let options: LayerOptions
    let source: any BlockingTileSource

    /// Adds it to a cache.
    public func add(to cache: TileCache) throws(TileCacheError) -> LayerID {
        try cache.addLayer(source, pyramid: pyramid, options: options)
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
