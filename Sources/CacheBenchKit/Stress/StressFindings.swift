import TileCache

/// Violations of a run: the first ones with an explanation, all of them counted.
final class StressFindings: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Pixels that are not those of the tile, or not what its source wrote.
        case pixels
        /// Pixels of a version that was outdated when the frame was requested.
        case generation
        /// A drawn tile that its source never delivered.
        case undelivered
        /// A tile drawn at a wrong place.
        case place
        case ledger
        case counters
        /// A leased tile that changed.
        case lease
        /// A request for a tile that does not exist, or an accepted second answer.
        case request
        /// A view without its callback, or finally without its tiles.
        case progress
        /// A call that took too long, or came after the end.
        case shutdown
        /// Memory that grows without bound.
        case memory
    }

    struct Finding: Sendable {
        var kind: Kind
        var text: String
    }

    static let kept = 8

    private struct State {
        var count = 0
        var first: [Finding] = []
    }

    private let state = Lock(State())

    func note(_ kind: Kind, _ text: @autoclosure () -> String) {
        let number = state.withLock { state -> Int in
            state.count += 1
            return state.count
        }
        guard number <= Self.kept else { return }
        let finding = Finding(kind: kind, text: text())
        state.withLock { $0.first.append(finding) }
    }

    var count: Int { state.withLock { $0.count } }
    var first: [Finding] { state.withLock { $0.first.map { $0 } } }
}
