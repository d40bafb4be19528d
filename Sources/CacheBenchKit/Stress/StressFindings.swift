import Synchronization
import TileCache

/// What must never happen, and where it is said that it did: the first ones with an explanation, all of them counted.
final class StressFindings: Sendable {
    /// What can be found wrong.
    enum Kind: String, CaseIterable, Sendable {
        /// Pixels that are not those of the tile, or not what its source wrote.
        case pixels
        /// Pixels of a version that was outdated when the frame was asked for.
        case generation
        /// A tile drawn that its source never delivered.
        case undelivered
        /// A tile drawn where it does not lie.
        case place
        /// More bytes than the limit.
        case ledger
        /// Counters that contradict each other.
        case counters
        /// A tile that changed while it was held.
        case lease
        /// A source asked for a tile that does not exist, or a second answer taken.
        case request
        /// A view that was not told, or did not get its tiles in the end.
        case progress
        /// A call that took too long, or one that came after the end.
        case shutdown
        /// Memory that grew and grew.
        case memory
    }

    struct Finding: Sendable {
        var kind: Kind
        var text: String
    }

    /// Explanations that are kept.
    static let kept = 8

    private struct State {
        var count = 0
        var first: [Finding] = []
    }

    private let state = Lock(State())

    init() {}

    /// Notes that something must not have happened.
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
    /// The first few.
    var first: [Finding] { state.withLock { $0.first.map { $0 } } }
}
