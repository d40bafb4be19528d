package import PanTraces
package import TileCache

/// How much memory a replay may use.
package enum MemoryLimit: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of everything, tables included.
    case bytes(Int)
    /// This many decoded tiles; tables are granted on top.
    case tiles(Int)
    /// floor(N (w/T + 2)(h/T + 2)) tiles for a viewport of w x h; tables are granted on top.
    case screens(Double)

    /// Reads `64MiB`, `1.5GB`, `90tiles`, `4screens`; a bare number is bytes. `nil` for anything else.
    package init?(_ text: String) {
        if let count = QuantityText.number(text, suffix: "tiles") ?? QuantityText.number(text, suffix: "tile") {
            guard count >= 1, count <= 1e12, count == count.rounded() else { return nil }
            self = .tiles(Int(count))
        } else if let count = QuantityText.number(text, suffix: "screens")
            ?? QuantityText.number(text, suffix: "screen")
        {
            guard count > 0, count <= 1e9 else { return nil }
            self = .screens(count)
        } else if let bytes = QuantityText.bytes(text), bytes > 0 {
            self = .bytes(bytes)
        } else {
            return nil
        }
    }

    /// As it is written on a command line.
    package var description: String {
        switch self {
        case .bytes(let bytes):
            for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where bytes % size == 0 {
                return "\(bytes / size)\(unit)"
            }
            return "\(bytes)B"
        case .tiles(let count): return "\(count)tiles"
        case .screens(let count): return count == count.rounded() ? "\(Int(count))screens" : "\(count)screens"
        }
    }

    /// The bytes for a view, and whether tables come on top; `nil` where they overflow.
    func resolved(scene: PanTraceScene, slotBytes: Int) -> (bytes: Int, grantsBookkeeping: Bool)? {
        let tiles: Int
        switch self {
        case .bytes(let bytes): return (bytes, false)
        case .tiles(let count): tiles = count
        case .screens(let count):
            let size = Double(scene.tileSize)
            let columns: Double = scene.viewport.width / size + 2
            let rows: Double = scene.viewport.height / size + 2
            let exact: Double = count * columns * rows
            guard exact >= 1, exact < 1e15 else { return nil }
            tiles = Int(exact)
        }
        let (bytes, overflow) = tiles.multipliedReportingOverflow(by: slotBytes)
        return overflow ? nil : (bytes, true)
    }
}

/// Where prefetches come from, by the name on the command line.
package enum PrefetchKind: String, CaseIterable, Sendable, Hashable {
    /// Nothing is loaded before it is needed.
    case none
    /// One tile around the viewport.
    case ring
    /// A ring, the decaying pan velocity, parents and children.
    case velocity
    /// Chromium's rule.
    case skewport
    /// Neuroglancer's rule.
    case gaussian
    /// MapLibre's rule: the level four coarser first.
    case zoom4
    /// This library's own.
    case tilecache
    /// The perfect future: what only a replay can know.
    case oracle

    /// The order of eviction that a policy is meant to be replayed with.
    var usualEviction: EvictionKind {
        switch self {
        case .tilecache: .tilecache
        case .oracle: .belady
        default: .lru
        }
    }
}

/// Which tile is given up, by the name on the command line.
package enum EvictionKind: String, CaseIterable, Sendable, Hashable {
    /// The least recently used one.
    case lru
    /// The one that the plan values least.
    case tilecache
    /// The one that is needed last; only with the oracle.
    case belady
}

/// Whose time a replay runs in.
package enum ReplayClock: String, CaseIterable, Sendable, Hashable {
    /// Discrete events, repeatable to the bit.
    case virtual
    /// The real service on Dispatch workers.
    case real
}

/// Everything that a replay can be told.
package struct ReplayOptions: Sendable, Hashable {
    /// How much memory; 64 MiB unless given.
    package var memoryLimit = MemoryLimit.bytes(64 << 20)
    /// Whether cold tiles are kept compressed.
    package var compressedTier = true
    /// The share of the limit that compressed tiles may take where decoded ones want it too, 0 to 1; `nil` moves it to
    /// where the traffic earns more.
    package var compressedShare: Double?
    /// Where prefetches come from.
    package var prefetch = PrefetchKind.tilecache
    /// Which tile is given up.
    package var eviction = EvictionKind.tilecache
    /// The layout of a pixel.
    package var pixelFormat = TilePixelFormat.rgba8
    /// Loads at the same time, 1 to 64.
    package var workers = 4
    /// Workers reserved for tiles that are needed now, 0 to `workers` - 1. Default: 0, as the library's.
    package var reservedWorkers = 0
    /// How long a load takes, in nanoseconds; under the real clock `nil` means that the source really draws.
    package var loadLatency: Int64? = 40_000_000
    /// How the time of a single load is found.
    package var loadTimes = LoadTimes.constant
    /// What the virtual clock charges for the codec.
    package var cost = CodecCharge.none
    /// Whose time.
    package var clock = ReplayClock.virtual
    /// How many times faster than real time the real clock goes; latencies are divided too.
    package var speed = 1.0
    /// Frames a second.
    package var frameRate = 60.0
    /// What counts more than the trace's header.
    package var overrides = PanTraceOverrides()
    /// Only so much of each trace, in nanoseconds.
    package var duration: Int64?
    /// Seeds what is random: the built-in session, latencies that follow a distribution.
    package var seed: UInt64 = 1
    /// Octaves that the scale may pass a level's bound before the level changes.
    package var hysteresis = 0.0
    /// Octaves coarser than 1:1 that are accepted.
    package var levelBias = 0.0
    /// How much smaller compressed tiles are under the virtual clock.
    package var compressionRatio = 2.0
    /// From 0, nothing but what is needed, to 1, whatever may be of use.
    package var effort = 0.5
    /// Whether traces of another world than the source's are stretched over it; an error unless so.
    package var fitsWorld = false
    /// Effects of the library's own policy that are left out; none unless given.
    package var without: ForesightEffects = []

    /// The defaults.
    package init() {}
}
