import TestSupport

@testable import TileCache

/// A pool on simulated memory, with an independent record of all owners.
///
/// Every load writes a unique stamp to its memory. Compressions and decompressions copy stamps, and decommitted memory
/// loses them. A slot or page with two owners, an old tile that reappears or memory missing from the ledger therefore
/// shows as a wrong stamp.
final class PoolModel {
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    struct Flight {
        var key: TileKey
        var stamp: Int
        var ticket: LoadTicket
        var started: Int64
        var isOutdated = false
        /// Bytes that its source delivered, and bytes that it reports to hold.
        var encoded: PageAllocator.Block?
        var heldBytes = 0
        /// Pages of its last refused reservation.
        var refusedPages = 0
    }

    struct CodecWork {
        enum Kind { case demotion, store, promotion, peek }
        var kind: Kind
        var id: Int
        var ticket: CodecTicket
        /// Stamp of the data that the job reads.
        var stamp: Int
        /// The source decodes a copy; another job may use the codec.
        var isDecoding = false
    }

    struct Drawn {
        var tiles: [TileKey]
        var version: UInt64
        /// Slots, and whether they are outdated.
        var pixels: [[Int32]]
    }

    struct Lease: Hashable {
        var key: TileKey
        var entry: EntryID
        var slot: MemoryRange
        var stamp: Int
    }

    var pool: PoolState
    var random: SplitMix64
    var now: Int64 = 0
    /// The last operation, for the message.
    var step = ""

    /// Stamps in committed slots, and in the eight units of committed pages.
    var slotStamps: [MemoryRange: Int] = [:]
    var pageStamps: [Int32: [Int]] = [:]
    /// Memory being decommitted.
    var leaving: [LeavingMemory] = []
    /// Whether a job was refused room meanwhile.
    var isAwaited = false
    var lastStamp = 0

    /// What policies last saw of each tile.
    var knownStates: [TileKey: TileResidency] = [:]
    var changesVersion = -1

    /// Stamp of the current pixels of each resident tile.
    var content: [TileKey: Int] = [:]
    var stale: Set<TileKey> = []
    var absent: Set<TileKey> = []
    var pinnedKeys: Set<TileKey> = []
    var flights: [LoadID: Flight] = [:]
    var works: [CodecWork] = []
    /// The compression or decompression whose result a tile will take.
    var currentWork: [TileKey: Int] = [:]
    var leases: [Lease] = []
    var views: [ViewNeeds] = []
    /// Of all views.
    var demands = (pan: TileCacheStatistics.DemandCounts(), zoom: TileCacheStatistics.DemandCounts())
    /// Prefetches that a demand met in flight, by their stamps.
    var late: Set<Int> = []
    /// Blocks and payloads that were damaged or could not be decoded.
    var damaged = 0
    var undecodable = 0
    /// Complete frame of each view, and its version.
    var drawn: [Int: Drawn] = [:]
    /// Changes that the model allows after an operation.
    var committedBefore = 0
    var isOverAllowed = false
    var usedBefore: [Int: Int] = [:]

    init(configuration: PoolConfiguration, seed: UInt64) {
        pool = PoolState(configuration: configuration)
        random = SplitMix64(seed: seed)
    }

    // MARK: - Memory

    func newStamp() -> Int {
        lastStamp += 1
        return lastStamp
    }

    func slot(_ layer: Int, _ slot: SlotID) -> MemoryRange {
        MemoryRange(slotClass: Int32(pool.layers[layer].slotClass), number: slot.number)
    }

    func write(_ stamp: Int, to range: MemoryRange) throws {
        try require(range.number >= 0, "a slot without a number")
        try require(!isLeaving(range), "\(range) was handed out on its way to the system")
        slotStamps[range] = stamp
    }

    func write(_ stamp: Int, to block: PageAllocator.Block?) throws {
        for unit in units(of: block) {
            let page = Int32(unit / 8)
            try require(
                !isLeaving(MemoryRange(slotClass: -1, number: page)),
                "page \(page) was handed out on its way to the system"
            )
            pageStamps[page, default: Array(repeating: 0, count: 8)][unit % 8] = stamp
        }
    }

    func units(of block: PageAllocator.Block?) -> [Int] {
        var units: [Int] = []
        guard let block else { return units }
        pool.pages.forEachPart(of: block) { offset, count in
            let unitBytes = pool.pages.pageBytes / 8
            units.append(contentsOf: offset / unitBytes...(offset + count - 1) / unitBytes)
        }
        return units
    }

    func stamps(in block: PageAllocator.Block?) -> Set<Int> {
        Set(units(of: block).map { pageStamps[Int32($0 / 8)]?[$0 % 8] ?? -1 })
    }

    func isLeaving(_ range: MemoryRange) -> Bool { leaving.contains { $0.range == range } }

    /// Takes the ranges to decommit, as every caller must. Returns some of them to the system.
    private func letGo() throws {
        for memory in pool.takePendingDecommits() {
            let range = memory.range
            try require(!isLeaving(range), "\(range) was handed out twice to be let go")
            leaving.append(memory)
            if range.slotClass == MemoryRange.pages { pageStamps[range.number] = nil }
            if range.slotClass >= 0 { slotStamps[range] = nil }
        }
        try require(pool.takePendingDecommits().isEmpty, "the same memory was to be let go twice")
        while !leaving.isEmpty, random.oneIn(2) { try letGo(random.below(leaving.count)) }
    }

    /// Returns memory to the system. It is a supply for what was refused some since it began to leave.
    func letGo(_ index: Int) throws {
        let memory = leaving.remove(at: index)
        _ = pool.takeSupply()
        pool.finishDecommits([memory])
        try require(pool.takeSupply() != nil || !isAwaited, "memory has gone unnoticed")
        if leaving.isEmpty { isAwaited = false }
    }

    // MARK: - Operations and their bounds

    /// Tiles that an operation may evict.
    enum Removals {
        /// Tiles that are neither needed nor held.
        case evictable
        /// Tiles that are neither held nor pinned: the last resort of a trim.
        case trimmed
        /// Tiles that are not held: the last resort of a lowered limit.
        case unheld
        /// Evictable ones, and this one.
        case also(TileKey)
    }

    /// Runs an operation and checks everything after it.
    func perform(_ name: String, removing: Removals = .evictable, _ body: () throws -> Void) throws {
        step = name
        now += 1_000_000
        let before = protected
        let neededBefore = needed
        let resident = content
        committedBefore = pool.committedBytes
        isOverAllowed = pool.isOverLimit
        let wasOver = pool.isOverLimit
        // Of operations that do not look at them.
        _ = pool.takeEffects()
        try body()
        try letGo()
        let after = protected
        let neededAfter = needed
        for key in content.keys where pool.residency(of: key) == .none {
            // Above a lowered limit, pixels may be evicted as they land.
            try require(content[key] == resident[key] || wasOver, "\(key.coordinate) went as it landed")
            let isHeld = before.contains(key) && after.contains(key)
            let isNeeded = neededBefore.contains(key) && neededAfter.contains(key)
            switch removing {
            case .trimmed:
                try require(!isHeld, "\(key.coordinate) went though it is held")
                try require(wasOver || !pinnedKeys.contains(key), "\(key.coordinate) was trimmed though it is pinned")
            case .unheld: try require(!isHeld, "\(key.coordinate) went though it is held")
            case .also(key): break
            case .evictable, .also:
                // Getting below a lowered limit is a trim, whenever it happens.
                try require(!isHeld && (!isNeeded || wasOver), "\(key.coordinate) went though it is needed or held")
            }
            forget(key)
        }
        try check()
    }

    func forget(_ key: TileKey) {
        content[key] = nil
        stale.remove(key)
        currentWork[key] = nil
    }

    var needed: Set<TileKey> {
        var needed = pinnedKeys
        for view in views { needed.formUnion(view.entered) }
        return needed
    }

    /// Tiles whose pixels are being read or moved.
    private var protected: Set<TileKey> {
        var held = Set(currentWork.keys)
        for lease in leases where content[lease.key] == lease.stamp { held.insert(lease.key) }
        return held
    }

    func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Problem(description: "after \(step): \(message())") }
    }
}

extension ViewNeeds {
    /// The needed tiles that the table had room for: the others count once they are entered.
    var entered: [TileKey] { zip(tiles, entries).filter { $1 != .none }.map(\.0) }
}
