import Synchronization
import TileCache

/// Changes of a layer in order. They determine the versions of a tile that may be drawn.
///
/// A version is raised before the cache is invalidated and completed when `invalidate` has returned. Changes of one
/// layer are sequential, so that everything up to the completed one holds.
final class StressHistory: Sendable {
    /// One change: its place, and whether old pixels may still be drawn.
    struct Change: Sendable {
        var region: PixelRect?
        var keepsStale = true
    }

    /// Maximum number of stored changes; older ones are not checked.
    static let remembered = 512

    private let changes = Lock([Change](repeating: Change(), count: remembered))
    private let turn = Lock(())
    private let raised = Atomic<UInt32>(1)
    private let finished = Atomic<UInt32>(1)

    /// Version that a source must write now, from 1.
    var version: UInt32 { raised.load(ordering: .acquiring) }
    /// Last change that the cache has completed.
    var completed: UInt32 { finished.load(ordering: .acquiring) }

    /// Makes a change: raises the version, invalidates the cache, completes.
    func change(_ change: Change, tell: () -> Void) {
        turn.withLock { _ in
            let next = raised.load(ordering: .relaxed) + 1
            changes.withLock { $0[Int(next) % Self.remembered] = change }
            raised.store(next, ordering: .releasing)
            tell()
            finished.store(next, ordering: .releasing)
        }
    }

    /// Explains why a tile of some version must not be drawn; `nil` if it may.
    func objection(
        to version: UInt32,
        covering rectangle: PixelRect,
        isStale: Bool,
        completed: UInt32
    ) -> String? {
        let newest = self.version
        if version > newest { return "version \(version) has not been written yet, \(newest) is the newest" }
        guard version < completed else { return nil }
        let change = changes.withLock { changes -> UInt32? in
            // Read under the lock: only the next change may be overwritten meanwhile.
            let newest = self.version
            let oldest = newest > UInt32(Self.remembered) ? newest + 2 - UInt32(Self.remembered) : 1
            let first = max(version + 1, oldest)
            guard first <= completed else { return nil }
            return (first...completed).first { number in
                let change = changes[Int(number) % Self.remembered]
                if isStale, change.keepsStale { return false }
                guard let region = change.region else { return true }
                return !region.intersection(rectangle).isEmpty
            }
        }
        return change.map {
            "version \(version) is drawn\(isStale ? " as stale" : "") after change \($0) had "
                + (isStale ? "dropped it" : "outdated it")
        }
    }
}
