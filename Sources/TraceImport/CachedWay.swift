import PanTraces
import TileCache

/// Finds the ways of a view on which the browser's own cache had every tile, so that no log has a request.
///
/// A tile that was requested before was still there. A view goes from one place to another as people move it: out by
/// whole levels until the way is short, along, and in by whole levels. Of the ways whose positions but the last show
/// nothing that was never requested, the one that goes out the least is taken. A view moves before it zooms in: with moves
/// during the zooms, hit rates of recorded sessions were further off (Docs/Tuning.md).
struct CachedWay {
    /// A place at a zoom, in world pixels of the finest zoom.
    struct Position: Hashable {
        var center: WorldPoint
        var zoom: UInt8
    }

    /// Moves of less than half a view at one zoom; for a longer way a view goes out first.
    private static let mostMoves = 16

    private let view: (width: Double, height: Double)
    private let tileSize: Double
    private let finest: Int
    private var seen: Set<LoggedTile> = []
    /// Tiles that may still be looked up: the time of a search is in proportion to the requests.
    private var lookups: Int

    /// - Parameters:
    ///   - view: In tiles.
    ///   - requests: Number of requests of the session.
    init(view: (width: Double, height: Double), tileSize: Int, finest: Int, requests: Int) {
        (self.view, self.tileSize, self.finest) = (view, Double(tileSize), finest)
        lookups = 1000 * requests
    }

    mutating func see(_ requests: ArraySlice<LoggedTile>) { seen.formUnion(requests.lazy.map(\.tile)) }

    var finestZoom: Double { Double(finest) }

    /// World pixels of a tile's side.
    func side(_ zoom: Int) -> Double { tileSize * PortableMath.exp2(Double(finest - zoom)) }

    /// The positions after the first one, to the last: more than that one only where the cache had all in between.
    mutating func positions(from first: Position, to last: Position) -> [Position] {
        for top in stride(from: Int(min(first.zoom, last.zoom)), through: 0, by: -1) {
            let pixels = side(top)
            let halfViews = max(
                (last.center.x - first.center.x).magnitude / (pixels * view.width / 2),
                (last.center.y - first.center.y).magnitude / (pixels * view.height / 2)
            )
            guard halfViews < Double(Self.mostMoves) else { continue }
            let positions = Self.way(from: first, to: last, top: top, moves: Int(halfViews) + 1)
            if positions.dropLast().allSatisfy({ shows($0) }) { return positions }
            if lookups <= 0 { break }
        }
        return [last]
    }

    private static func way(from first: Position, to last: Position, top: Int, moves: Int) -> [Position] {
        var positions = stride(from: Int(first.zoom) - 1, through: top, by: -1).map { zoom in
            Position(center: first.center, zoom: UInt8(zoom))
        }
        if first.center != last.center {
            positions += (1...moves).map { move in
                let part = Double(move) / Double(moves)
                let center = WorldPoint(
                    x: first.center.x + (last.center.x - first.center.x) * part,
                    y: first.center.y + (last.center.y - first.center.y) * part
                )
                return Position(center: move == moves ? last.center : center, zoom: UInt8(top))
            }
        }
        return positions
            + (top + 1..<max(Int(last.zoom), top) + 1).map { Position(center: last.center, zoom: UInt8($0)) }
    }

    /// Whether all that a view certainly showed was requested before. Its size is known to half a tile on each side.
    private mutating func shows(_ position: Position) -> Bool {
        let pixels = side(Int(position.zoom))
        let count = Int(PortableMath.exp2(Double(position.zoom)))
        func range(_ center: Double, _ size: Double) -> ClosedRange<Int> {
            let half = max(size - 1, 0) / 2
            let first = Int((center / pixels - half).rounded(.down))
            return first...max(Int((center / pixels + half).rounded(.up)) - 1, first)
        }
        let columns = range(position.center.x, view.width)
        let rows = range(position.center.y, view.height).clamped(to: 0...count - 1)
        for x in columns {
            for y in rows {
                lookups -= 1
                let column = (x % count + count) % count
                let tile = LoggedTile(time: 0, zoom: Int(position.zoom), x: column, y: y)
                guard lookups > 0, seen.contains(tile) else { return false }
            }
        }
        return true
    }
}
