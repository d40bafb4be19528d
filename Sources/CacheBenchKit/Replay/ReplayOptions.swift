package import PanTraces
package import TileCache

package enum MemoryLimit: Hashable, Sendable, CustomStringConvertible {
    /// Bytes for everything, tables included.
    case bytes(Int)
    /// A number of decoded tiles; tables are added.
    case tiles(Int)
    /// Limit of floor(N (w/T + 2)(h/T + 2)) tiles for a viewport of w x h. Tables are added.
    case screens(Double)

    /// Parses `64MiB`, `1.5GB`, `90tiles`, `4screens`; a bare number is bytes. `nil` for other text, and for fewer than
    /// 0.001 screens: their description would have an exponent, which is not parsed.
    package init?(_ text: String) {
        if let count = QuantityText.number(text, suffix: "tiles") ?? QuantityText.number(text, suffix: "tile") {
            guard count >= 1, count <= 1e12, count == count.rounded() else { return nil }
            self = .tiles(Int(count))
        } else if let count = QuantityText.number(text, suffix: "screens")
            ?? QuantityText.number(text, suffix: "screen")
        {
            guard count >= 0.001, count <= 1e9 else { return nil }
            self = .screens(count)
        } else if let bytes = QuantityText.bytes(text), bytes > 0 {
            self = .bytes(bytes)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .bytes(let bytes):
            for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where bytes % size == 0 {
                return "\(bytes / size)\(unit)"
            }
            return "\(bytes)B"
        case .tiles(let count): return "\(count)tiles"
        case .screens(let count): return Figures.plain(count) + "screens"
        }
    }

    /// Bytes for a view, and whether tables are added; `nil` if they overflow. 0 if it is less than a tile.
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
            guard exact < 1e15 else { return nil }
            tiles = Int(exact)
        }
        let (bytes, overflow) = tiles.multipliedReportingOverflow(by: slotBytes)
        return overflow ? nil : (bytes, true)
    }
}

/// Prefetch policies, by their names on the command line.
package enum PrefetchKind: String, CaseIterable, Sendable, Hashable {
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
    case tilecache
    /// Known future, in replays only.
    case oracle

    /// Whether the policy prefetches more or less by the effort.
    package var takesEffort: Bool { self != .none && self != .oracle }

    /// Eviction order that a policy is meant to be replayed with.
    var usualEviction: EvictionKind {
        switch self {
        case .tilecache: .tilecache
        case .oracle: .belady
        default: .lru
        }
    }
}

/// Eviction orders, by their names on the command line.
package enum EvictionKind: String, CaseIterable, Sendable, Hashable {
    case lru
    /// The tile of least worth in the plan.
    case tilecache
    /// The tile needed last; only with the oracle.
    case belady
}

package enum ReplayClock: String, CaseIterable, Sendable, Hashable {
    /// Discrete events, reproducible to the bit.
    case virtual
    /// The real service on Dispatch workers.
    case real
}

/// Options of a replay.
package struct ReplayOptions: Sendable, Hashable {
    package var memoryLimit = MemoryLimit.bytes(64 << 20)
    /// Flag of the limit, for messages.
    var limitFlag = "--memory-limit"
    package var compressedTier = true
    /// Fraction of the limit for the compressed tier if both tiers compete, 0 to 1. Default: `nil`, adapts to the
    /// traffic.
    package var compressedShare: Double?
    package var prefetch = PrefetchKind.tilecache
    package var eviction = EvictionKind.tilecache
    package var pixelFormat = TilePixelFormat.rgba8
    /// Concurrent loads, 1 to 255.
    package var workers = 4
    /// Loads in flight of an asynchronous source under the virtual clock. Default: nil, each load occupies a worker.
    package var loadsInFlight: LoadsInFlight?
    /// Load latency in nanoseconds; `nil` under the real clock draws the tiles.
    package var loadLatency: Int64? = 40_000_000
    package var loadTimes = LoadTimes.constant
    package var cost = CodecCharge.none
    package var clock = ReplayClock.virtual
    /// Speed of the real clock relative to real time; latencies are divided by it too.
    package var speed = 1.0
    package var frameRate = 60.0
    package var overrides = PanTraceOverrides()
    /// Maximum duration of each trace, in nanoseconds.
    package var duration: Int64?
    /// Seed of the built-in session, and of random latencies.
    package var seed: UInt64 = 1
    /// Octaves by which the scale may pass a level's bound before the level changes.
    package var hysteresis = 0.0
    /// Coarser levels than 1:1 to accept, in octaves.
    package var levelBias = 0.0
    /// Assumed compression ratio under the virtual clock.
    package var compressionRatio = 2.0
    /// How much is prefetched, from 0 (nothing) to 1 (every tile that may be used).
    package var effort = 0.5
    /// What may be loaded ahead of need.
    package var allowance = PrefetchAllowance.standard
    /// Whether traces of another world than the source's are stretched over it. Otherwise they are an error.
    package var fitsWorld = false
    /// Effects of the library's policy that are turned off. Default: none.
    package var without: PolicyEffects = []
    /// What other sessions have taught the library's policy. Default: nothing.
    package var profile: ReplayProfile?
    /// Tiers below memory under the virtual clock, nearest first. Default: none.
    package var tiers: [VirtualTiers.Tier] = []
    /// Folder, limit in bytes and servers of tiers below memory under the real clock. Only reports read them: a replay
    /// takes the opened stores.
    package var disk: String?
    package var diskLimit: Int?
    package var shared: String?
    /// Slots of a renderer's textures under the virtual clock. Default: none.
    package var textures: Textures?
    /// Whether each trace starts with the tiers as the last one left them. Otherwise they are empty.
    package var keepsTiers = false

    package init() {}

    /// Slots of a renderer's textures.
    package struct Textures: Sendable, Hashable {
        /// Number of slots, 1 to 65,536.
        package var slots: Int
        /// Maximum bytes of a frame's uploads. Default: 4 MiB.
        package var uploadBytes: Int

        package init(slots: Int, uploadBytes: Int = 4 << 20) {
            self.slots = slots
            self.uploadBytes = uploadBytes
        }
    }
}
