import Synchronization
import TileCache

/// What has been changed of a layer, in order: decides which versions of a tile may be drawn.
///
/// A version is raised before the cache is told and completed when the cache's `invalidate` has returned. Changes of one
/// layer come one after the other, so that everything up to the completed one holds.
final class StressHistory: Sendable {
    /// One change: where, and whether old pixels may still be drawn.
    struct Change: Sendable {
        var region: PixelRect?
        var keepsStale: Bool

        init(region: PixelRect? = nil, keepsStale: Bool = true) {
            self.region = region
            self.keepsStale = keepsStale
        }
    }

    /// Changes that are remembered; older ones are not held against anybody.
    static let remembered = 512

    private let changes = Lock([Change](repeating: Change(), count: remembered))
    private let turn = Lock(())
    private let raised = Atomic<UInt32>(1)
    private let finished = Atomic<UInt32>(1)

    init() {}

    /// What a source has to write now, from 1.
    var version: UInt32 { raised.load(ordering: .acquiring) }
    /// The last change that the cache has been told of.
    var completed: UInt32 { finished.load(ordering: .acquiring) }

    /// Makes a change: raises the version, tells the cache, completes.
    func change(_ change: Change, tell: () -> Void) {
        turn.withLock { _ in
            let next = raised.load(ordering: .relaxed) + 1
            changes.withLock { $0[Int(next) % Self.remembered] = change }
            raised.store(next, ordering: .releasing)
            tell()
            finished.store(next, ordering: .releasing)
        }
    }

    /// Why a tile of some version may not be drawn, in words; `nil` where it may.
    ///
    /// - Parameters:
    ///   - version: what the pixels say.
    ///   - rectangle: what the tile covers, in world pixels.
    ///   - isStale: whether the cache says that newer ones are on their way.
    ///   - completed: what was completed when the frame was asked for.
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
            // Looked at under the lock: but for the next change nothing is overwritten meanwhile.
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
