import TileCache

/// An answer and its validators.
struct KeptAnswer {
    var entityTag: String?
    var lastModified: String?
    var bytes: [UInt8]
    /// Address of the answer: its validators are valid only there.
    var address = ""
    /// Until when it is valid, for stores.
    var freshness = TileStoreFreshness(stored: 0)
    /// Whether it may be kept: not after `no-store`.
    var isStorable = true
    /// Whether the server states its lifetime.
    var isExplicit = false

    /// Approximate bytes that keeping it takes.
    var cost: Int {
        bytes.count + address.utf8.count + (entityTag?.utf8.count ?? 0) + (lastModified?.utf8.count ?? 0) + 200
    }

    /// Whether it has a validator and may be kept.
    var isKeepable: Bool { isStorable && (entityTag != nil || lastModified != nil) }
}

/// LRU cache of answers for tiles that may be requested again.
final class KeptAnswers: Sendable {
    private struct State {
        var answers: [TileCoordinate: (answer: KeptAnswer, use: UInt64)] = [:]
        var uses: UInt64 = 0
        var bytes = 0
    }

    private let limit: Int
    private let state = Lock(State())

    init(limit: Int) { self.limit = limit }

    /// Bytes of kept answers.
    var byteCount: Int { state.withLock { $0.bytes } }

    subscript(tile: TileCoordinate) -> KeptAnswer? {
        state.withLock { state in
            state.uses += 1
            state.answers[tile]?.use = state.uses
            return state.answers[tile]?.answer
        }
    }

    func keep(_ answer: KeptAnswer, for tile: TileCoordinate) {
        guard answer.cost <= limit else { return forget(tile) }
        state.withLock { state in
            if let old = state.answers.removeValue(forKey: tile) { state.bytes -= old.answer.cost }
            state.uses += 1
            state.answers[tile] = (answer, state.uses)
            state.bytes += answer.cost
            guard state.bytes > limit else { return }
            // Evicts a quarter at once, so that not every answer sorts all of them.
            for (tile, old) in state.answers.sorted(by: { $0.value.use < $1.value.use }) {
                guard state.bytes > limit - limit / 4, state.answers.count > 1 else { break }
                state.answers.removeValue(forKey: tile)
                state.bytes -= old.answer.cost
            }
        }
    }

    func forget(_ tile: TileCoordinate) {
        state.withLock { state in
            if let old = state.answers.removeValue(forKey: tile) { state.bytes -= old.answer.cost }
        }
    }
}
