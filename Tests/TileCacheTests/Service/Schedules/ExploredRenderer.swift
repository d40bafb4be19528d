import Dispatch

@testable import TileCache

/// A renderer that draws only when it is notified.
final class ExploredRenderer: @unchecked Sendable {
    var view: TileView?
    let queue: DispatchQueue
    /// Missing tiles of the last frame.
    var last = FrameLack()

    init(_ view: TileView, _ queue: DispatchQueue) {
        self.view = view
        self.queue = queue
    }

    func close() {
        // Other steps run while the view ends.
        let gone = view
        view = nil
        withExtendedLifetime(gone) {}
    }
}

/// Missing tiles of a frame; less is better.
struct FrameLack: Equatable {
    var missing = 0
    var blank = 0.0
    /// Tiles drawn with outdated pixels, and with current ones.
    var stale: Set<TileKey> = []
    var current: Set<TileKey> = []

    init() {}
    init(_ frame: TileFrame) {
        missing = frame.missingTileCount
        blank = frame.coverage.blank
        for placement in frame {
            let key = TileKey(layer: placement.tile.identity.layer.index, placement.tile.identity.tile)
            if placement.tile.isStale { stale.insert(key) } else { current.insert(key) }
        }
    }

    func isWorse(than other: FrameLack) -> Bool {
        if missing > other.missing || blank > other.blank + 1e-6 { return true }
        // Replacing a stale fallback by other tiles is no improvement.
        return missing == other.missing && !stale.isDisjoint(with: other.current)
    }
}
