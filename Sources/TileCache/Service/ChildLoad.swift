import Dispatch

/// Load of a child tile from an asynchronous source, to synthesize its parent. A worker waits for it.
final class ChildLoad: Sendable {
    private enum Phase: Sendable {
        case waiting
        /// The source is writing.
        case writing
        case ended(LoadResult)
        /// The load was cancelled; its memory may be reused.
        case abandoned
    }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// Calls in progress that count the source's bytes; an answer may come meanwhile.
        var holds = 0
    }

    private let state = Lock(State())
    private let end = DispatchSemaphore(value: 0)
    private let layer: LayerRecord
    private let level: Int
    private let address: UInt

    private let notes: LoadNotes?

    init(layer: LayerRecord, level: Int, address: UInt, notes: LoadNotes? = nil) {
        self.notes = notes
        // Breaks the cycle of source, request and load.
        var layer = layer
        layer.forgetSource()
        self.layer = layer
        self.level = level
        self.address = address
    }

    /// Lets the source write; returns whether it did.
    func write(_ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        let begins = state.withLock { state -> Bool in
            guard case .waiting = state.phase else { return false }
            state.phase = .writing
            return true
        }
        guard begins else { return false }
        var pixels = layer.pixels(at: address, level: level, notes: notes)
        finish(CacheCore.result { try body(&pixels) })
        return true
    }

    /// Counts the bytes that the source holds for the load; returns whether it could.
    func hold(_ body: () -> Bool) -> Bool {
        let begins = state.withLock { state -> Bool in
            guard case .waiting = state.phase else { return false }
            state.holds += 1
            return true
        }
        guard begins else { return false }
        let isHeld = body()
        state.withLock { $0.holds -= 1 }
        // The waiting worker waits for the end of this call too.
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

    /// Waits until the source has answered or the tile is not wanted any more. In any case until the source has
    /// finished writing or reporting its bytes.
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
    /// Asks an asynchronous source for a child of a synthesized tile, and waits for it.
    func load(
        _ child: TileCoordinate,
        for ticket: LoadTicket,
        _ layer: LayerRecord,
        from source: any TileSource,
        at address: UInt,
        notes: LoadNotes?
    ) -> LoadResult {
        let load = ChildLoad(layer: layer, level: child.level, address: address, notes: notes)
        var childTicket = ticket
        childTicket.key = TileKey(layer: ticket.key.layer, child)
        ask(
            source,
            TileRequest(core: self, layer: layer.id, ticket: childTicket, child: load, notes: notes),
            as: ticket.load
        )
        let result = load.wait(on: executor) { [self] in read { $0.wants(ticket) } }
        perform { state in
            guard let request = state.requests.remove(ticket.load)?.value else { return }
            if result == .cancelled { state.effects.unwanted.append(request) }
        }
        return perform { $0.pool.endChild(of: ticket, result) }
    }

    /// Hands a request to a source without retaining it, so that its end is noticed.
    private func ask(_ source: any TileSource, _ request: TileRequest, as load: LoadID) {
        let isLate = perform { state -> Bool in
            state.requests.add(request, for: load)
            return state.isShutDown
        }
        // The source has not set a handler yet.
        if isLate { _ = request.noteUnwanted() }
        source.requestTile(request)
    }
}
