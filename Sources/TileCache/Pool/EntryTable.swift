/// Where a tile's pixels are.
enum Residency: UInt8 {
    /// Nowhere: the entry only remembers that somebody needs the tile, that it is on its way, absent or has failed.
    case none
    /// Ready to draw in a slot.
    case decoded
    /// Ready to draw, while a worker compresses a copy.
    case demoting
    /// Compressed in a worker's scratch memory, its slot given up, being copied into pages.
    case storing
    /// Compressed in pages, or a single colour in the entry itself.
    case compressed
    /// Compressed, while somebody decompresses it into a slot.
    case promoting

    var isDecoded: Bool { self == .decoded || self == .demoting }
    var isCompressed: Bool { self == .compressed || self == .storing || self == .promoting }
    var isResident: Bool { self != .none }
}

/// What else is known of a tile.
struct EntryFlags: OptionSet {
    let rawValue: UInt16
    /// An invalidation came after these pixels; they are drawn until the new ones land.
    static let stale = EntryFlags(rawValue: 1)
    /// Drawn as the exact tile at least once since its load.
    static let seen = EntryFlags(rawValue: 2)
    /// Loaded before anybody needed it.
    static let prefetched = EntryFlags(rawValue: 4)
    /// Pinned by a floor.
    static let floor = EntryFlags(rawValue: 8)
    /// The source says that this tile does not exist.
    static let absent = EntryFlags(rawValue: 16)
    /// The last load failed; not before `retryAt` again.
    static let failed = EntryFlags(rawValue: 32)
    /// The compressed form is one pixel value in `solidValue` and takes no page.
    static let solid = EntryFlags(rawValue: 64)
    /// The block is what the source delivered (JPEG, WebP); it stays while the tile is decoded.
    static let encoded = EntryFlags(rawValue: 128)
    /// That block is smaller than what compression makes of the tile.
    static let encodedIsSmaller = EntryFlags(rawValue: 256)

    /// What is said of pixels, and goes with them.
    static let ofPixels: EntryFlags = [.seen, .prefetched, .stale, .solid, .encoded, .encodedIsSmaller]
}

/// All that the pool knows of one tile.
struct Entry {
    var key: TileKey
    /// Links of the list of its tier, most recently used first; -1 ends it. `next` also links free entries.
    var previous: Int32 = -1
    var next: Int32 = -1
    /// The decoded slot, or -1.
    var slot: Int32 = -1
    /// Where the compressed block lies.
    var block = PageAllocator.Block()
    /// Bytes of the compressed block before rounding to pages.
    var blockBytes: Int32 = 0
    var leaseCount: Int32 = 0
    /// How many views need the tile now.
    var needCount: Int32 = 0
    /// The load in flight, or -1.
    var load: Int32 = -1
    /// The generation that the pixels belong to.
    var generation: UInt32 = 0
    /// Names the compression or decompression under way, 0 for none; another's result is not this entry's any more.
    var work: UInt32 = 0
    /// Marks of the last pass over a view's needed tiles.
    var needStamp: UInt32 = 0
    var needIndex: Int32 = -1
    /// The plan that `value` was given by; another plan's value counts for nothing.
    var planEpoch: UInt32 = 0
    /// What the plan thinks that keeping the tile is worth.
    var value: Float = 0
    var residency: Residency = .none
    var flags: EntryFlags = []
    var attempts: UInt8 = 0
    /// When a failed tile may be tried again, in nanoseconds.
    var retryAt: Int64 = 0
    /// How often it has come into view, as far as is known; 0 for what nothing has needed yet.
    var visits: UInt8 = 0
    /// The pool's count of demands when it was last needed.
    var lastDemand: UInt32 = 0
    /// When it was last drawn or landed, in nanoseconds.
    var lastUse: Int64 = 0
    /// The pixel of a single-colour tile, or the checksum of what the source delivered.
    var solidValue: UInt64 = 0

    init(key: TileKey) { self.key = key }

    /// Whether eviction must leave its pixels alone.
    var isPinned: Bool { needCount > 0 || leaseCount > 0 || flags.contains(.floor) }
    /// Whether forgetting the entry would lose nothing.
    var isForgettable: Bool {
        residency == .none && load < 0 && needCount == 0 && leaseCount == 0 && !flags.contains(.floor)
    }
}

/// Entries at stable indices and the hash index over them.
///
/// Entries live in blocks that are never moved, the index is an open-addressed table of entry numbers (linear probing,
/// removal by shifting back, at most half full), so that a hit allocates nothing and touches two cache lines.
struct EntryTable: ~Copyable {
    private static let blockShift = 8
    private static let blockSize = 1 << blockShift

    private var blocks: [UnsafeMutablePointer<Entry>] = []
    private var index: UnsafeMutablePointer<Int32>
    private var mask: Int
    private var firstFree: Int32 = -1
    /// Entries in use.
    private(set) var count = 0
    /// The largest number that the table was told to hold.
    let maximumCount: Int

    init(maximumCount: Int) {
        self.maximumCount = max(maximumCount, 1)
        mask = 511
        index = .allocate(capacity: mask + 1)
        index.initialize(repeating: -1, count: mask + 1)
    }

    deinit {
        for block in blocks { block.deallocate() }
        index.deallocate()
    }

    /// Bytes that the table has taken. Growing holds the old and the new index for a moment, which is why the index is
    /// counted one and a half times.
    var byteCount: Int {
        blocks.count * Self.blockSize * MemoryLayout<Entry>.stride + (mask + 1) * 6
    }

    /// The bytes that the next insertion would add.
    var nextGrowth: Int {
        guard firstFree < 0 else { return 0 }
        let indexGrowth = (blocks.count + 1) * Self.blockSize * 2 > mask + 1 ? (mask + 1) * 6 : 0
        return Self.blockSize * MemoryLayout<Entry>.stride + indexGrowth
    }

    var isFull: Bool { count >= maximumCount }

    subscript(_ number: Int32) -> Entry {
        @inline(__always) _read { yield pointer(number).pointee }
        @inline(__always) nonmutating _modify { yield &pointer(number).pointee }
    }

    @inline(__always)
    func pointer(_ number: Int32) -> UnsafeMutablePointer<Entry> {
        blocks.withUnsafeBufferPointer {
            $0[Int(number) >> Self.blockShift] + Int(number) & (Self.blockSize - 1)
        }
    }

    /// The entry of a key, or -1.
    @inline(__always)
    func find(_ key: TileKey) -> Int32 {
        var position = Int(truncatingIfNeeded: key.hash) & mask
        while true {
            let number = index[position]
            if number < 0 || pointer(number).pointee.key == key { return number }
            position = (position + 1) & mask
        }
    }

    /// The entry of a key, made where there was none; -1 where the table is full.
    mutating func insert(_ key: TileKey) -> Int32 {
        let found = find(key)
        if found >= 0 { return found }
        guard !isFull else { return -1 }
        if firstFree < 0 { addBlock() }
        let number = firstFree
        firstFree = pointer(number).pointee.next
        pointer(number).initialize(to: Entry(key: key))
        count += 1
        link(number)
        return number
    }

    /// Forgets an entry.
    mutating func remove(_ number: Int32) {
        var hole = position(of: number)
        var probe = (hole + 1) & mask
        // What stands after the hole moves up unless it already is at or after its own place.
        while index[probe] >= 0 {
            let home = Int(truncatingIfNeeded: pointer(index[probe]).pointee.key.hash) & mask
            if (probe - home) & mask >= (probe - hole) & mask {
                index[hole] = index[probe]
                hole = probe
            }
            probe = (probe + 1) & mask
        }
        index[hole] = -1
        pointer(number).pointee.next = firstFree
        firstFree = number
        count -= 1
    }

    /// Calls `body` with every entry in use.
    func forEach(_ body: (Int32) -> Void) {
        for position in 0...mask where index[position] >= 0 { body(index[position]) }
    }

    private func position(of number: Int32) -> Int {
        var position = Int(truncatingIfNeeded: pointer(number).pointee.key.hash) & mask
        while index[position] != number { position = (position + 1) & mask }
        return position
    }

    private func link(_ number: Int32) {
        var position = Int(truncatingIfNeeded: pointer(number).pointee.key.hash) & mask
        while index[position] >= 0 { position = (position + 1) & mask }
        index[position] = number
    }

    private mutating func addBlock() {
        let block = UnsafeMutablePointer<Entry>.allocate(capacity: Self.blockSize)
        let first = Int32(blocks.count * Self.blockSize)
        for offset in stride(from: Self.blockSize - 1, through: 0, by: -1) {
            (block + offset).initialize(to: Entry(key: TileKey(layer: 0, TileCoordinate(level: 0, column: 0, row: 0))))
            (block + offset).pointee.next = firstFree
            firstFree = first + Int32(offset)
        }
        blocks.append(block)
        if blocks.count * Self.blockSize * 2 > mask + 1 { growIndex() }
    }

    private mutating func growIndex() {
        let old = index
        let oldCount = mask + 1
        mask = mask * 2 + 1
        index = .allocate(capacity: mask + 1)
        index.initialize(repeating: -1, count: mask + 1)
        for position in 0..<oldCount where old[position] >= 0 { link(old[position]) }
        old.deallocate()
    }
}
