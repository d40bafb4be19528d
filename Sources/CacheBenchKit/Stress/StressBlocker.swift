import Dispatch
import Synchronization
import TileCache

/// Loads that never end: so many and no more, until the run is over.
final class StressBlocker: Sendable {
    private struct State {
        var left: Int
        var inside = 0
        var isOver = false
        var tiles: Set<Place> = []
        var requests: [TileRequest] = []
        var layers: [Int: Int] = [:]
    }

    /// A tile of a layer.
    struct Place: Hashable, Sendable {
        var layer: Int
        var tile: TileCoordinate
    }

    /// Of one layer no more than this: as many as there are workers would be all that it may have in flight.
    private static let perLayer = 1

    private let state: Lock<State>
    private let gate = DispatchSemaphore(value: 0)

    init(_ limit: Int) { state = Lock(State(left: limit)) }

    /// Whether one more may hang; it has been counted then.
    func take(_ place: Place) -> Bool {
        state.withLock { state in
            guard state.left > 0, !state.isOver, state.layers[place.layer, default: 0] < Self.perLayer else {
                return false
            }
            state.left -= 1
            state.layers[place.layer, default: 0] += 1
            state.tiles.insert(place)
            return true
        }
    }

    /// Does not return before the run is over.
    func wait() {
        let waits = state.withLock { state -> Bool in
            if !state.isOver { state.inside += 1 }
            return !state.isOver
        }
        if waits { gate.wait() }
    }

    func keep(_ request: TileRequest) { state.withLock { $0.requests.append(request) } }

    /// Whether a tile's load hangs.
    func holds(_ place: Place) -> Bool { state.withLock { $0.tiles.contains(place) } }

    /// Loads that hang, and requests that will not be answered.
    var count: Int { state.withLock { $0.tiles.count } }

    /// Lets everything go.
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
