/// State of a layer in the service.
struct LayerRecord: Sendable {
    /// Size of the tiles of one level.
    struct TileSize: Sendable {
        var width: Int
        var height: Int
        var bytes: Int
    }

    let id: LayerID
    /// `nil` once the layer is removed or the cache shut down. A source may hold requests, and those hold the cache.
    var source: AnySource?
    /// The source, if it decodes its own payloads.
    var decoder: (any TileDecoder)?
    /// The source, if it reports memory of its own.
    var reporting: (any MemoryReportingSource)?
    let pyramid: TilePyramid
    /// Without stores and profile once the layer is removed or the cache shut down.
    var options: LayerOptions
    /// Bytes charged to the ledger.
    let byteCount: Int
    /// Sizes by level.
    let sizes: [TileSize]
    /// The layer's stores; `nil` if it has none.
    var tiers: LayerTiers?
    /// Synthesis of levels that the source lacks; `nil` if it has all.
    var synthesis: LevelSynthesis?

    /// Bytes of the tables of a layer.
    static func byteCount(of pyramid: TilePyramid) -> Int {
        let level = MemoryLayout<PyramidLevel>.stride + MemoryLayout<TileSize>.stride
        return MemoryLayout<Self>.stride + MemoryLayout<PoolLayer>.stride + PrefetchMeter.byteCount + pyramid.levels
            .count * level
    }

    static func sizes(of pyramid: TilePyramid, _ format: TilePixelFormat) -> [TileSize] {
        pyramid.levels.map { level in
            let bytes = format.byteCount(width: level.pixelWidth, height: level.pixelHeight) ?? 0
            return TileSize(width: level.pixelWidth, height: level.pixelHeight, bytes: bytes)
        }
    }
}

/// Layers of a cache by index, in the order of the pool's.
struct Layers: RandomAccessCollection {
    private var records: [LayerRecord] = []
    /// Number of layers ever added.
    private var addedCount = 0
    /// Changes whenever a layer is added or removed.
    private(set) var version = 0
    /// Indices of layers being removed.
    private(set) var removed: [Int] = []
    private(set) var heldMemory = HeldMemory()

    var startIndex: Int { 0 }
    var endIndex: Int { records.count }
    subscript(layer: Int) -> LayerRecord {
        @inline(__always) _read { yield records[layer] }
        @inline(__always) _modify { yield &records[layer] }
    }

    /// Whether to read the reported memory of sources.
    mutating func startMeasuring(now: Int64?) -> Bool { heldMemory.startMeasuring(now: now) }

    mutating func postponeMeasuring(now: Int64) { heldMemory.postpone(now: now) }

    /// Adds a layer at its index in the pool; `make` gets its serial number.
    mutating func add(at index: Int, _ make: (_ serial: Int) -> LayerRecord) -> LayerID {
        let record = make(addedCount)
        addedCount += 1
        version += 1
        records.put(record, at: index)
        return record.id
    }

    mutating func beginRemoval(of layer: Int) {
        version += 1
        records[layer].forgetSource()
        removed.append(layer)
    }

    /// Ends the removal of a layer; returns its bytes in the ledger, and its spare tile.
    mutating func finishRemoval(of layer: Int) -> (bytes: Int, spare: MemoryRegion?) {
        removed.removeAll { $0 == layer }
        let spare = records[layer].synthesis?.spare
        records[layer].synthesis = nil
        return (records[layer].byteCount, spare)
    }

    /// Forgets the records of indices that the pool no longer has.
    mutating func cut(to count: Int) { records.removeLast(records.count - count) }
}
