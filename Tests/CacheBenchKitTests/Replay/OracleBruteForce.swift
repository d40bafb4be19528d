/// Maximum hits of any loads and evictions on a tiny trace, by trying all.
///
/// Loads start at frames and take a whole number of them. A load that ends at a frame is resident. Needed tiles are not
/// evicted. There are no other rules: needed tiles need not be loaded first, or at all.
struct OracleBruteForce {
    /// Needed tiles of each frame, as bits.
    var frames: [Int]
    var tiles: Int
    var capacity: Int
    var workers: Int
    /// Frames that a load takes, at least 1.
    var latency: Int

    private struct State: Hashable {
        var frame: Int
        var resident: Int
        /// By tile, frames until it lands; 0 without a load.
        var waits: [Int]
    }

    /// Hits, without the first frame's.
    func mostHits() -> Int {
        var known: [State: Int] = [:]
        return best(State(frame: 0, resident: 0, waits: Array(repeating: 0, count: tiles)), &known)
    }

    private func best(_ state: State, _ known: inout [State: Int]) -> Int {
        guard state.frame < frames.count else { return 0 }
        if let answer = known[state] { return answer }
        var here = state
        for tile in 0..<tiles where here.waits[tile] > 0 {
            here.waits[tile] -= 1
            if here.waits[tile] == 0 { here.resident |= 1 << tile }
        }
        let needed = frames[state.frame]
        var hits = 0
        if state.frame > 0 { hits = (needed & ~frames[state.frame - 1] & here.resident).nonzeroBitCount }
        let flying = (0..<tiles).reduce(0) { here.waits[$1] > 0 ? $0 | 1 << $1 : $0 }
        let startable = ((1 << tiles) - 1) & ~here.resident & ~flying
        let evictable = here.resident & ~needed
        var most = 0
        forEachSubset(of: startable) { started in
            guard started.nonzeroBitCount + flying.nonzeroBitCount <= workers else { return }
            let over = max((here.resident | flying | started).nonzeroBitCount - capacity, 0)
            forEachSubset(of: evictable) { evicted in
                guard evicted.nonzeroBitCount == over else { return }
                var next = here
                next.frame += 1
                next.resident &= ~evicted
                for tile in 0..<tiles where started & (1 << tile) != 0 { next.waits[tile] = latency }
                most = max(most, best(next, &known))
            }
        }
        known[state] = hits + most
        return hits + most
    }

    private func forEachSubset(of set: Int, _ body: (Int) -> Void) {
        var subset = set
        while true {
            body(subset)
            if subset == 0 { return }
            subset = (subset - 1) & set
        }
    }
}
