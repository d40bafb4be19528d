import TileCache

/// Operations of the threads of a stress run.
package enum StressOperation: String, CaseIterable, Sendable, Hashable {
    /// Moves a view a little and draws.
    case pan
    /// Moves a view anywhere and draws.
    case jump
    /// Changes a view's scale, and sometimes its rotation, and draws.
    case zoom
    /// Draws again.
    case look
    /// Lists the needed tiles and draws.
    case need
    /// Passes a viewport that cannot be drawn, or an enormous one.
    case refuse
    /// Leases a tile, and verifies one that has been leased for a while.
    case hold
    case release
    case invalidateLayer
    /// Invalidates a part of a layer.
    case invalidateRegion
    case limit
    case trim
    /// Reports memory pressure, or its end.
    case pressure
    /// Pins some tiles.
    case floor
    /// Unpins a layer's tiles.
    case unfloor
    case makeView
    case endView
    /// Adds a layer, up to a number.
    case addLayer
    /// Removes an added layer.
    case removeLayer
    /// Shows other layers in a view of all threads.
    case setLayers
    case prefetch
    /// Reads a tile without a view.
    case borrow
    /// Reads statistics and residency.
    case ask
    case rest

    /// Frequency in a thousand.
    var weight: Int { Self.weights[self] ?? 0 }

    private static let weights: [Self: Int] = [
        .pan: 378, .jump: 60, .zoom: 100, .look: 80, .need: 30, .refuse: 10, .hold: 80, .release: 60,
        .invalidateLayer: 5, .invalidateRegion: 25, .limit: 8, .trim: 4, .pressure: 2, .floor: 4, .unfloor: 6,
        .makeView: 10, .endView: 10, .addLayer: 3, .removeLayer: 2, .setLayers: 3, .prefetch: 3, .borrow: 60, .ask: 25,
        .rest: 40,
    ]
}

/// One decision: an operation and random numbers for it.
struct StressAction: Hashable, Sendable {
    var operation: StressOperation
    var a: UInt64
    var b: UInt64
    var c: UInt64
}

/// Decisions of one thread. A function of seed and thread, whatever the cache and other threads do.
struct StressDice: Sendable {
    private var random: SplitMix64
    private static let total = StressOperation.allCases.reduce(0) { $0 + $1.weight }

    init(seed: UInt64, thread: Int) {
        random = SplitMix64(seed: SplitMix64.mixed(seed) ^ SplitMix64.mixed(UInt64(thread) &+ 0x7_4ED))
    }

    mutating func next() -> StressAction {
        var draw = Int(random.next() % UInt64(Self.total))
        let operation =
            StressOperation.allCases.first { operation in
                draw -= operation.weight
                return draw < 0
            } ?? .rest
        return StressAction(operation: operation, a: random.next(), b: random.next(), c: random.next())
    }
}

extension UInt64 {
    /// These bits as a number in 0 ..< 1.
    var unit: Double { Double(self >> 11) * 0x1p-53 }
    func below(_ bound: Int) -> Int { Int(self % UInt64(Swift.max(bound, 1))) }
}
