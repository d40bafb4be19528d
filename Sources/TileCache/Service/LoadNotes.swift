/// Notes of a load: stored tiles for its source, its answer for the stores.
final class LoadNotes: Sendable {
    struct Values: Sendable {
        /// Validators of an entry that must be revalidated.
        var cached: TileStoreFreshness?
        /// Store that has this entry.
        var cachedIn = 0
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
    }

    private let values = Lock(Values())
    /// Invalidations of the layer before the load.
    let epoch: LayerTiers.Epoch
    let tiers: LayerTiers

    init(epoch: LayerTiers.Epoch, tiers: LayerTiers) { (self.epoch, self.tiers) = (epoch, tiers) }

    func change<Result: Sendable>(_ body: (inout Values) -> Result) -> Result { values.withLock { body(&$0) } }

    var now: Values { change { $0 } }
}
