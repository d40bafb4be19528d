import TileCache

/// What threads of a stress run do.
package enum StressOperation: String, CaseIterable, Sendable, Hashable {
    /// Move a view a little and draw.
    case pan
    /// Move a view anywhere and draw.
    case jump
    /// Change a view's scale, and sometimes its rotation, and draw.
    case zoom
    /// Draw again.
    case look
    /// Name the needed tiles one by one and draw.
    case need
    /// Give a viewport that cannot be drawn, or an enormous one.
    case refuse
    /// Keep a tile, and look at one that has been kept for a while.
    case hold
    /// Let a kept tile go.
    case release
    /// Change all of a layer.
    case invalidateLayer
    /// Change a part of a layer.
    case invalidateRegion
    /// Set the byte limit.
    case limit
    case trim
    /// Say that memory is short, or no longer.
    case pressure
    /// Pin some tiles.
    case floor
    /// Unpin a layer's tiles.
    case unfloor
    case makeView
    /// Let a view go.
    case endView
    /// Add a layer, up to a number.
    case addLayer
    /// Remove one that was added.
    case removeLayer
    /// Show other layers in a view of all threads.
    case setLayers
    /// Ask for tiles once.
    case prefetch
    /// Borrow a tile without a view.
    case borrow
    /// Ask for statistics and what is resident.
    case ask
    /// Do nothing for a moment.
    case rest

    /// How often, of a thousand.
    var weight: Int {
        switch self {
        case .pan: 378
        case .jump: 60
        case .zoom: 100
        case .look: 80
        case .need: 30
        case .refuse: 10
        case .hold: 80
        case .release: 60
        case .invalidateLayer: 5
        case .invalidateRegion: 25
        case .limit: 8
        case .trim: 4
        case .pressure: 2
        case .floor: 4
        case .unfloor: 6
        case .makeView: 10
        case .endView: 10
        case .addLayer: 3
        case .removeLayer: 2
        case .setLayers: 3
        case .prefetch: 3
        case .borrow: 60
        case .ask: 25
        case .rest: 40
        }
    }
}

/// One decision: what to do, and numbers to do it with.
struct StressAction: Hashable, Sendable {
    var operation: StressOperation
    var a: UInt64
    var b: UInt64
    var c: UInt64
}

/// The decisions of one thread: the same for the same seed and thread, whatever the cache and other threads do.
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
