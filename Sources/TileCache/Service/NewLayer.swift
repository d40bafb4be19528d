/// A checked layer that is to be added, with the memory that was reserved for it without the lock.
struct NewLayer {
    let source: AnySource
    let pyramid: TilePyramid
    let options: LayerOptions
    /// Loads that may be in flight; `nil` if each occupies a worker.
    let loadsInFlight: LoadsInFlight?
    /// Bytes of a tile by level; empty if all are equal.
    let levelBytes: [Int]
    /// The largest of them.
    let tileBytes: Int
    let slotBytes: Int
    let synthesis: LevelSynthesis?
    let tiers: LayerTiers?
    /// Whether cold tiles are kept compressed.
    let isCompressible: Bool
    /// Bytes of stores and of a source that no other layer has.
    let storeBytes: Int
    let sourceBytes: Int
    /// Addresses of its slots; `nil` if those of another layer are as large.
    let region: MemoryRegion?
    /// Codecs for its tiles; empty if there are some.
    let codecs: [Transferred<TileCodec>]

    /// Bytes of its tables, with those of loads that hang beside as many in flight.
    var tableBytes: Int {
        LayerRecord.byteCount(of: pyramid) + (synthesis?.spare.byteCount ?? 0)
            + (tiers == nil ? 0 : LayerTiers.byteCount(of: pyramid)) + (options.profile?.byteCount ?? 0)
            + 2 * (loadsInFlight?.most ?? 0) * MemoryLayout<Load?>.stride
    }

    /// Bytes in the ledger, apart from its tiles.
    var chargedBytes: Int { tableBytes + storeBytes + sourceBytes + codecs.scratchByteCount }

    /// Bytes of a tile of each level.
    static func levelBytes(of pyramid: TilePyramid, _ format: TilePixelFormat) throws(TileCacheError) -> [Int] {
        var bytes: [Int] = []
        for (index, level) in pyramid.levels.enumerated() {
            guard let count = format.byteCount(width: level.pixelWidth, height: level.pixelHeight) else {
                throw .invalidLayer("the size of a tile of level \(index) overflows")
            }
            bytes.append(count)
        }
        return bytes
    }
}

extension CoreState {
    /// Adds a layer. `nil` if the slots that it counted on have gone: the next attempt reserves them.
    mutating func add(_ new: NewLayer) -> Result<LayerID, TileCacheError>? {
        // The shutdown has released all sources: this one would stay, and with it what holds it.
        guard !isShutDown else { return .failure(.isShutDown) }
        // Other layers may have been added or removed since the checks.
        let isNewSize = !pool.slots.has(slotBytes: new.slotBytes)
        guard !isNewSize || new.region != nil else { return nil }
        if let problem = charge(new) { return .failure(.invalidLayer(problem)) }
        if let tiers = new.tiers { stores.adopt(tiers, bytes: new.storeBytes) }
        let index = pool.addLayer(
            tileBytes: new.tileBytes,
            isCompressible: new.isCompressible && codecs.tileBytes >= new.tileBytes,
            reservesLate: !new.source.isBlocking,
            maximumShare: new.options.maximumShare,
            slotCapacity: new.region.map { $0.byteCount / new.slotBytes },
            levelBytes: new.levelBytes,
            synthesizedLevels: new.synthesis == nil ? 0 : new.options.synthesizedLevels,
            allowance: new.options.prefetch,
            tiles: new.pyramid.tileRanges,
            loadsInFlight: new.loadsInFlight
        )
        if isNewSize, let region = new.region { add(region, ofSlotClass: pool.layers[index].slotClass) }
        let cache = serial
        let id = layers.add(at: index) { serial in
            LayerRecord(
                id: LayerID(index: index, serial: serial, cache: cache),
                source: new.source,
                decoder: new.source.decoder,
                reporting: new.source.reporting,
                pyramid: new.pyramid,
                options: new.options,
                byteCount: new.tableBytes,
                sizes: LayerRecord.sizes(of: new.pyramid, new.options.format),
                tiers: new.tiers,
                synthesis: new.synthesis
            )
        }
        adoptCodecs(new.codecs)
        return .success(id)
    }

    /// Charges what a layer takes apart from its tiles. Returns what it lacks, in words.
    private mutating func charge(_ new: NewLayer) -> String? {
        guard pool.layers.usedCount < TileKey.layerLimit else {
            return "a cache holds \(TileKey.layerLimit) layers at most"
        }
        let bytes = new.tableBytes
        guard pool.charge(bytes, to: .layers) else {
            return "its tables and scratch memory take \(bytes) bytes, and there is no room for them"
        }
        guard pool.charge(new.storeBytes, to: .stores) else {
            pool.note(-bytes, in: .layers)
            return "its stores hold \(new.storeBytes) bytes, and there is no room for them"
        }
        guard pool.charge(new.sourceBytes, to: .sources) else {
            pool.note(-bytes, in: .layers)
            pool.note(-new.storeBytes, in: .stores)
            return "its source holds \(new.sourceBytes) bytes, and there is no room for them"
        }
        return nil
    }
}
