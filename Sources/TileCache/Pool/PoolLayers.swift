/// State of a layer in the pool.
struct PoolLayer: Sendable {
    /// Bytes of a decoded tile, the maximum of all levels.
    let tileBytes: Int
    /// The same by level; empty if all are equal.
    let levelBytes: [Int]
    /// Index of the slot allocator.
    let slotClass: Int
    /// Incremented by each invalidation, and by tiles that expire.
    var generation: UInt32 = 1
    /// The generation of the last invalidation. Stale pixels that land do not outdate other tiles.
    var validGeneration: UInt32 = 1
    /// Invalidations under way: some outdated tiles may not be marked yet.
    var invalidations = 0
    /// Whether its tiles may be compressed.
    var isCompressible: Bool
    /// Whether a slot is taken when the source is ready, not when the load starts.
    let reservesLate: Bool
    /// Exponential mean of its block sizes, in bytes; 0 before the first.
    var meanBlockBytes = 0
    /// Fraction of the limit that its tiles never exceed.
    fileprivate(set) var maximumShare: Double
    /// Group of its evictable tiles in `TileLists`.
    let group: Int
    /// Bytes of slots with its current or arriving pixels. Leased old pixels count for no layer.
    var slotBytes = 0
    /// Bytes of its compressed blocks.
    var blockBytes = 0
    /// Bytes of its pinned tiles, slots and compressed blocks.
    var pinnedBytes = 0
    /// Bytes of its tiles that views need, each once, without pinned ones that are decoded.
    var neededBytes = 0
    /// Tiles that its source may have, by level; empty for all. Others are absent without being asked for.
    var tiles: [TileRange] = []
    /// Time that workers have spent on its loads, in nanoseconds, as `LayerTurns` counts it.
    var workTime: Int64 = 0
    /// Exponential mean over about eight of its loads of the time that they occupy a worker, in nanoseconds; `nil` before
    /// the first.
    var meanLoadTime: Int64?
    /// Its loads in flight, and how many may be; `nil` if each occupies a worker.
    var window: LoadWindow?
    /// Number of its hanging decoders.
    var stuckDecodes = 0
    /// Number of its requests that are answered and go on, and of those that hang.
    var answeredRequests = 0
    var stuckRequests = 0
    /// Number of its entries in the table.
    var entries = 0
    /// Number of its compressions and decompressions under way.
    var jobs = 0
    /// Number of its coarsest levels whose tiles are made of the source's.
    var synthesizedLevels = 0
    /// What may be loaded ahead of need.
    private(set) var allowance = PrefetchAllowance.standard
    /// `nil` without ceilings.
    private(set) var meter: PrefetchMeter?
    /// What was loaded ahead of need.
    var prefetches = LayerPrefetchCounts()
    /// Demands of views, and loads.
    var pan = TileCacheStatistics.DemandCounts()
    var zoom = TileCacheStatistics.DemandCounts()
    var loads = TileCacheStatistics.LoadCounts()
    /// Whether it was removed: nothing of it is loaded.
    fileprivate(set) var isRemoved = false
    /// Whether nothing of it is left: its index is free.
    fileprivate(set) var isGone = false

    mutating func set(_ allowance: PrefetchAllowance) {
        self.allowance = allowance
        meter = PrefetchMeter(allowance, after: meter)
    }

    /// Whether its source is known not to have a tile.
    func lacks(_ key: TileKey) -> Bool { !tiles.isEmpty && !tiles[key.level].contains(key.coordinate) }

    /// Number of the source's tiles that a tile may be made of.
    func requests(atLevel level: Int) -> Int {
        level < synthesizedLevels ? 1 << min(2 * (synthesizedLevels - level), 62) : 1
    }

    /// Counts a prefetch from the source.
    mutating func noteRequest(atLevel level: Int, bytes: Int, now: Int64) {
        let requests = requests(atLevel: level)
        prefetches.requests += requests
        meter?.count(requests: requests, bytes: bytes, now: now)
    }

    /// Whether pixels are of loads that began before the last invalidation. Generations wrap.
    func precedesInvalidation(_ generation: UInt32) -> Bool { Int32(bitPattern: generation &- validGeneration) < 0 }

    mutating func raiseGeneration() {
        generation &+= 1
        // 0 marks an outdated load.
        if generation == 0 { generation = 1 }
    }

    /// Updates the mean block size, an exponential mean over about eight.
    mutating func noteBlock(bytes: Int) {
        meanBlockBytes = meanBlockBytes == 0 ? bytes : meanBlockBytes + (bytes - meanBlockBytes) / 8
    }
}

/// Layers of the pool by index. The index of a layer that is gone is reused.
struct PoolLayers: RandomAccessCollection {
    private var records: [PoolLayer] = []
    /// Free indices; those beyond the end do not count.
    private var free: [Int] = []
    /// Number of layers that are not gone.
    private(set) var usedCount = 0
    /// Whether any layer has a maximum share below 1.
    private(set) var haveShares = false
    /// Whether any layer's allowance is not the standard one.
    private(set) var haveAllowances = false
    /// Whether any layer has had levels that are made of finer ones.
    private(set) var haveSynthesizedLevels = false
    /// Whether unused memory is decommitted, since a layer was removed.
    private(set) var leaveMemory = false

    var startIndex: Int { 0 }
    var endIndex: Int { records.count }
    subscript(layer: Int) -> PoolLayer { @inline(__always) _read { yield records[layer] } }

    /// Adds a layer; returns its index.
    mutating func add(_ layer: PoolLayer) -> Int {
        while let last = free.last, last >= records.count { free.removeLast() }
        let index = free.popLast() ?? records.count
        records.put(layer, at: index)
        usedCount += 1
        haveShares = haveShares || layer.maximumShare < 1
        haveAllowances = haveAllowances || layer.allowance != .standard
        haveSynthesizedLevels = haveSynthesizedLevels || layer.synthesizedLevels > 0
        return index
    }

    /// Marks a layer as removed; it loses its share.
    mutating func beginRemoval(of layer: Int) {
        records[layer].isRemoved = true
        records[layer].maximumShare = 1
        // Codecs may become too small for its tiles.
        records[layer].isCompressible = false
        haveShares = records.contains { $0.maximumShare < 1 }
        leaveMemory = true
    }

    /// Frees the index of a layer; returns whether nothing of it was left.
    mutating func finishRemoval(of layer: Int) -> Bool {
        guard records[layer].entries == 0, records[layer].jobs == 0, records[layer].answeredRequests == 0
        else { return false }
        records[layer].isGone = true
        free.append(layer)
        usedCount -= 1
        leaveMemory = true
        while records.last?.isGone == true { records.removeLast() }
        return true
    }

    mutating func set(_ allowance: PrefetchAllowance, of layer: Int) {
        records[layer].set(allowance)
        haveAllowances = records.contains { $0.allowance != .standard }
    }

    /// Notes that unused memory was decommitted.
    mutating func noteRelease() { leaveMemory = false }

    /// Changes what only concerns the layer itself.
    @inline(__always)
    mutating func change(_ layer: Int, _ body: (inout PoolLayer) -> Void) { body(&records[layer]) }
}
