import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// A server in this process with a fixed set of addresses. Other requests are refused and noted.
final class DescribedServer: Sendable {
    private let server: ModelServer
    private let shared: Shared

    private final class Shared: Sendable {
        let answers = Lock<[String: [UInt8]]>([:])
        let asked = Record<ModelServer.Request>()
        let refused = Record<String>()
    }

    /// - Parameters:
    ///   - status: Of each answer that has a body.
    ///   - missing: Of the others.
    init?(status: Int = 200, missing: Int = 400) {
        let shared = Shared()
        let server = ModelServer { request in
            shared.asked.add(request)
            if let body = shared.answers.withLock({ $0[request.path] }) {
                return ModelServer.Answer(status: status, body: body)
            }
            shared.refused.add(request.path)
            return ModelServer.Answer(status: missing)
        }
        guard let server else { return nil }
        (self.server, self.shared) = (server, shared)
    }

    var root: String { "http://127.0.0.1:\(server.port)" }
    var asked: [ModelServer.Request] { shared.asked.all }
    var refused: [String] { shared.refused.all }

    func add(_ body: [UInt8], at path: String) { shared.answers.withLock { $0[path] = body } }
    func add(_ text: String, at path: String) { add(Array(text.utf8), at: path) }
}

/// Draws all of a level and compares every tile with its part of an image. Returns the tiles drawn.
func compare(
    _ source: any PyramidTileSource,
    level: Int,
    with image: TestImage,
    absent: (TileCoordinate) -> Bool = { _ in false }
) throws -> Set<TileCoordinate> {
    let extent = source.pyramid.levels[level]
    let cache = try TileCache(byteLimit: .mebibytes(64), workers: 4)
    let layer = try source.addLayer(to: cache)
    let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
    let (width, height) = (source.pyramid.worldWidth, source.pyramid.worldHeight)
    let viewport = TileViewport(
        center: WorldPoint(x: width / 2, y: height / 2),
        width: width / extent.worldPixelsPerPixel,
        height: height / extent.worldPixelsPerPixel,
        scale: 1 / extent.worldPixelsPerPixel
    )
    var drawn: Set<TileCoordinate> = []
    let isDrawn = settled {
        view.update(viewport)
        let frame = view.frame()
        for placement in frame {
            let tile = placement.tile.identity.tile
            guard tile.level == level, drawn.insert(tile).inserted else { continue }
            let (wide, high) = (extent.tileWidth, extent.tileHeight)
            let part = image.part(x: tile.column * wide, y: tile.row * high, width: wide, height: high)
            let isSame = placement.tile.withUnsafeBytes { $0.equals(part.pixels) }
            if !isSame { Issue.record("tile \(tile) has other pixels") }
        }
        return frame.missingTileCount == 0
    }
    #expect(isDrawn && cache.shutdown(), "\(source.statistics)")
    for column in 0..<extent.columns {
        for row in 0..<extent.rows {
            let tile = TileCoordinate(level: level, column: column, row: row)
            #expect(drawn.contains(tile) != absent(tile), "tile \(tile) of \(extent)")
        }
    }
    return drawn
}
