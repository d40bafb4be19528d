/// Tiles to give to stores: those whose turn it is, and undrawn prefetched ones.
///
/// Bounded: what does not fit is not stored.
struct SaveQueue: Sendable {
    /// A tile to give to stores.
    struct Save: Sendable {
        var key: TileKey
        var layer: LayerID
        /// Stores, by bit.
        var takers: UInt32
        /// Time that the tile took, in nanoseconds.
        var cost: Int64
        var freshness: TileStoreFreshness?
        var epoch: LayerTiers.Epoch

        /// Bytes that it occupies, at most.
        var byteCount: Int {
            let validators = (freshness?.entityTag?.utf8.count ?? 0) + (freshness?.lastModified?.utf8.count ?? 0)
            // Twice, for dictionaries and arrays have spare capacity.
            return 2 * (MemoryLayout<Save>.stride + MemoryLayout<TileKey>.stride) + validators
        }
    }

    /// Cost from which an undrawn tile is stored too, in nanoseconds: 20 ms. Writing takes about a twentieth of that.
    static let expensive: Int64 = 20_000_000
    static let mostReady = 256
    static let mostUndrawn = 1024

    private var ready: [Save] = []
    private var undrawn: [TileKey: Save] = [:]

    var readyCount: Int { ready.count }
    /// Whether no further tile can wait until it is drawn.
    var isFull: Bool { undrawn.count >= Self.mostUndrawn }
    var undrawnKeys: [TileKey] { Array(undrawn.keys) }
    var isEmpty: Bool { ready.isEmpty && undrawn.isEmpty }
    var all: [Save] { ready + undrawn.values }
    /// Bytes of all, for the ledger.
    private(set) var byteCount = 0

    /// Adds a tile whose turn has come; returns whether there was room.
    mutating func add(_ save: Save) -> Bool {
        guard ready.count < Self.mostReady else { return false }
        ready.append(save)
        byteCount += save.byteCount
        return true
    }

    /// Adds a tile that waits until it is drawn; returns whether there was room.
    mutating func addUndrawn(_ save: Save) -> Bool {
        forget(save.key)
        guard !isFull else { return false }
        undrawn[save.key] = save
        byteCount += save.byteCount
        return true
    }

    /// Moves a drawn tile to the ready ones. Returns it if there was no room.
    mutating func noteDrawn(_ key: TileKey) -> Save? {
        guard let save = undrawn[key] else { return nil }
        forget(key)
        return add(save) ? nil : save
    }

    /// Takes the first tile whose turn it is.
    mutating func next() -> Save? {
        guard !ready.isEmpty else { return nil }
        let save = ready.removeFirst()
        byteCount -= save.byteCount
        return save
    }

    /// Forgets tiles, wherever they wait.
    mutating func forget(where isLost: (Save) -> Bool) {
        for (key, save) in undrawn where isLost(save) { forget(key) }
        ready.removeAll(where: isLost)
        byteCount = ready.reduce(0) { $0 + $1.byteCount } + undrawn.values.reduce(0) { $0 + $1.byteCount }
    }

    /// Forgets a tile, wherever it waits; returns the stores whose turn had come.
    mutating func forgetAll(of key: TileKey) -> UInt32 {
        forget(key)
        var takers: UInt32 = 0
        ready.removeAll { save in
            guard save.key == key else { return false }
            byteCount -= save.byteCount
            takers |= save.takers
            return true
        }
        return takers
    }

    /// Forgets a tile that waits until it is drawn; returns it.
    @discardableResult
    mutating func forget(_ key: TileKey) -> Save? {
        let old = undrawn.removeValue(forKey: key)
        byteCount -= old?.byteCount ?? 0
        return old
    }
}
