import Dispatch
import Synchronization

/// A tile that an asynchronous source is asked for only to make a coarser one of it: a worker waits until the pixels
/// stand in its scratch memory.
final class ChildLoad: Sendable {
    private enum Phase: Sendable {
        case waiting
        /// The source is at work with what belongs to the load.
        case writing
        case ended(LoadResult)
        /// Nobody waits any more, and the memory may belong to somebody else.
        case abandoned
    }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// Calls that are counting what the source holds; an answer may come meanwhile.
        var holds = 0
    }

    private let state = Lock(State())
    private let end = DispatchSemaphore(value: 0)
    private let layer: LayerRecord
    private let level: Int
    private let address: UInt

    init(layer: LayerRecord, level: Int, address: UInt) {
        // The source holds the request, and the request this.
        var layer = layer
        layer.forgetSource()
        self.layer = layer
        self.level = level
        self.address = address
    }

    /// Lets the source write; whether it did.
    func write(_ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        let begins = state.withLock { state -> Bool in
            guard case .waiting = state.phase else { return false }
            state.phase = .writing
            return true
        }
        guard begins else { return false }
        var pixels = layer.pixels(at: address, level: level)
        finish(CacheCore.result { try body(&pixels) })
        return true
    }

    /// Counts what the source holds for the load, while there is one; whether it could.
    func hold(_ body: () -> Bool) -> Bool {
        let begins = state.withLock { state -> Bool in
            guard case .waiting = state.phase else { return false }
            state.holds += 1
            return true
        }
        guard begins else { return false }
        let isHeld = body()
        state.withLock { $0.holds -= 1 }
        // Whoever waits does so for the end of this, too.
        end.signal()
        return isHeld
    }

    func finish(_ result: LoadResult) {
        state.withLock { state in
            if case .abandoned = state.phase { return }
            state.phase = .ended(result)
        }
        end.signal()
    }

    /// Waits until the source has answered, and no longer than somebody wants the tile; but while the source writes, the
    /// memory is its own, and while it says what it holds, the load is.
    func wait(on executor: Executor = Executor(), while isWanted: () -> Bool) -> LoadResult {
        while true {
            _ = executor.wait(end, 50_000_000)
            let goesOn = isWanted()
            let result = state.withLock { state -> LoadResult? in
                guard state.holds == 0 else { return nil }
                switch state.phase {
                case .ended(let result): return result
                case .waiting where !goesOn:
                    state.phase = .abandoned
                    return .cancelled
                case .waiting, .writing: return nil
                case .abandoned: return .cancelled
                }
            }
            if let result { return result }
        }
    }
}

extension CacheCore {
    /// Asks an asynchronous source for a tile below the one that is being made, and waits for it.
    func load(
        _ child: TileCoordinate,
        for ticket: LoadTicket,
        _ layer: LayerRecord,
        from source: any TileSource,
        at address: UInt
    ) -> LoadResult {
        let load = ChildLoad(layer: layer, level: child.level, address: address)
        var childTicket = ticket
        childTicket.key = TileKey(layer: ticket.key.layer, child)
        ask(source, TileRequest(core: self, layer: layer.id, ticket: childTicket, child: load), as: ticket.load)
        let result = load.wait(on: executor) { [self] in read { $0.wants(ticket) } }
        perform { state in
            guard let request = state.requests.removeValue(forKey: ticket.load)?.value else { return }
            if result == .cancelled { state.effects.unwanted.append(request) }
        }
        // What the source held for this tile it holds no longer.
        _ = holdEncoded(0, for: ticket)
        return result
    }

    /// Hands a request over and keeps none, so that its end is noticed.
    private func ask(_ source: any TileSource, _ request: TileRequest, as load: LoadID) {
        let isLate = perform { state -> Bool in
            state.requests[load] = WeakRequest(value: request)
            return state.isShutDown
        }
        // The source has not seen it yet, so there is nobody to call.
        if isLate { _ = request.noteUnwanted() }
        source.requestTile(request)
    }
}
