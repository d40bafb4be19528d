import Dispatch
import TileCache

/// Loads that hang until the run is over, up to a bound.
final class StressBlocker: Sendable {
    private struct State {
        var left: Int
        var inside = 0
        var isOver = false
        var tiles: Set<TileKey> = []
        var requests: [TileRequest] = []
        var layers: [Int: Int] = [:]
    }

    /// Maximum for one layer. As many as there are workers would be its maximum in flight.
    private static let perLayer = 1

    private let state: Lock<State>
    private let gate = DispatchSemaphore(value: 0)

    init(_ limit: Int) { state = Lock(State(left: limit)) }

    /// Returns whether one more load may hang, and counts it.
    func take(_ tile: TileKey) -> Bool {
        state.withLock { state in
            guard state.left > 0, !state.isOver, state.layers[tile.layer, default: 0] < Self.perLayer else {
                return false
            }
            state.left -= 1
            state.layers[tile.layer, default: 0] += 1
            state.tiles.insert(tile)
            return true
        }
    }

    func wait() {
        let waits = state.withLock { state -> Bool in
            if !state.isOver { state.inside += 1 }
            return !state.isOver
        }
        if waits { gate.wait() }
    }

    func keep(_ request: TileRequest) { state.withLock { $0.requests.append(request) } }

    func holds(_ tile: TileKey) -> Bool { state.withLock { $0.tiles.contains(tile) } }

    /// Number of loads that hang, and of requests that will not be completed.
    var count: Int { state.withLock { $0.tiles.count } }

    func end() {
        let (waiting, requests) = state.withLock { state -> (Int, [TileRequest]) in
            state.isOver = true
            let requests = state.requests
            state.requests = []
            return (state.inside, requests)
        }
        for _ in 0..<waiting { gate.signal() }
        withExtendedLifetime(requests) {}
    }
}
