/// Notes of a load: validators for its source, its answer for memory and stores.
final class LoadNotes: Sendable {
    struct Values: Sendable {
        /// Validators of an entry that must be revalidated.
        var cached: TileStoreFreshness?
        /// Whether these are validators of the pixels in memory.
        var isHeld = false
        /// Otherwise the store that has the entry.
        var cachedIn = 0
        /// Stores whose entries have the validators of the pixels in memory. Bit n is store n.
        var sameIn: UInt32 = 0
        /// Freshness of the source's answer; `nil` if it never expires.
        var freshness: TileStoreFreshness?
        /// Time of the request to the source, if there was one.
        var asked: Int64?
        /// Whether the source has confirmed the entry.
        var isUnchanged = false
        /// Whether the tile is made of others, and one of these has failed for good.
        var hasHoles = false
        /// Encoded form of the pixels, counted in the ledger.
        var encoded: [UInt8] = []

        /// Notes an entry that has to be revalidated. The pixels in memory are asked for if they are the same.
        mutating func note(cached entry: TileStoreFreshness, in store: Int) {
            let isSame = entry.entityTag == cached?.entityTag && entry.lastModified == cached?.lastModified
            if isHeld, isSame { return sameIn |= 1 << UInt32(store) }
            (cached, cachedIn, isHeld) = (entry, store, false)
        }
    }

    private let values = Lock(Values())
    /// Invalidations of the layer before the load.
    let epoch: LayerTiers.Epoch
    /// The layer's stores; `nil` if it has none.
    let tiers: LayerTiers?

    /// - Parameter held: Validators of the pixels in memory. Default: none.
    init(epoch: LayerTiers.Epoch = .init(), tiers: LayerTiers? = nil, held: TileStoreFreshness? = nil) {
        (self.epoch, self.tiers) = (epoch, tiers)
        if let held { values.withLock { ($0.cached, $0.isHeld) = (held, true) } }
    }

    func change<Result: Sendable>(_ body: (inout Values) -> Result) -> Result { values.withLock { body(&$0) } }

    var now: Values { change { $0 } }
}
