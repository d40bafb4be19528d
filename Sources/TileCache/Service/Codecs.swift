/// Codecs of a cache: scratch memory that counts against the limit and follows it.
struct Codecs: Sendable {
    private(set) var idle: [Transferred<TileCodec>] = []
    /// Maximum tile size that they take.
    private(set) var tileBytes = 0
    /// Number of codecs of that size, busy ones included.
    private(set) var count = 0
    /// Scratch memory of one codec, in bytes.
    private var scratchBytes = 0
    /// Idle codec for entries of stores. More are needed only while several workers decode at once.
    fileprivate var ofStores: Transferred<TileCodec>?
    /// One for each concurrent job and one for the renderer's thread.
    let wanted: Int

    init(jobs: Int) { wanted = jobs + 1 }

    var isEmpty: Bool { idle.isEmpty }

    mutating func take() -> Transferred<TileCodec> { idle.removeLast() }

    /// Number of codecs that the limit allows. At most a sixteenth of it, but one if that is at most a quarter.
    func allowed(scratchBytes: Int, limit: Int) -> Int {
        scratchBytes > limit / 4 ? 0 : max(min(wanted, limit / 16 / max(scratchBytes, 1)), 1)
    }

    /// Number of further codecs that the limit allows.
    func missing(limit: Int) -> Int {
        tileBytes == 0 ? 0 : max(allowed(scratchBytes: scratchBytes, limit: limit) - count, 0)
    }

    /// Makes codecs, without a lock. As many as the limit allows, none if a tile exceeds the maximum of LZ4.
    func make(_ number: Int? = nil, tileBytes: Int, limit: Int) -> [Transferred<TileCodec>] {
        var made: [Transferred<TileCodec>] = []
        if number == 0 { return made }
        while let codec = try? TileCodec(maximumTileBytes: tileBytes) {
            let most = number ?? allowed(scratchBytes: codec.scratchByteCount, limit: limit)
            guard made.count < most else { break }
            made.append(Transferred(value: codec))
        }
        return made
    }

    /// Drops all codecs, busy ones when they are returned. Returns the bytes of the idle ones.
    fileprivate mutating func removeAll() -> Int {
        defer { (idle, count, tileBytes) = ([], 0, 0) }
        return idle.count * scratchBytes
    }

    /// Adds codecs; those of another size replace all others.
    fileprivate mutating func adopt(_ made: [Transferred<TileCodec>]) {
        guard let first = made.first?.value else { return }
        if first.maximumTileBytes != tileBytes {
            _ = removeAll()
            tileBytes = first.maximumTileBytes
            scratchBytes = first.scratchByteCount
        }
        idle += made
        count += made.count
    }

    /// Takes a codec back; returns whether it is kept.
    fileprivate mutating func put(_ codec: Transferred<TileCodec>, limit: Int) -> Bool {
        // If the others were dropped meanwhile, it is one too many beside those of the next layer.
        guard codec.value.maximumTileBytes == tileBytes, idle.count < count else { return false }
        guard count <= allowed(scratchBytes: scratchBytes, limit: limit) else {
            count -= 1
            return false
        }
        idle.append(codec)
        return true
    }

    /// Drops idle codecs beyond the limit; returns their bytes.
    fileprivate mutating func shrink(limit: Int) -> Int {
        let excess = count - allowed(scratchBytes: scratchBytes, limit: limit)
        let gone = min(max(excess, 0), idle.count)
        idle.removeLast(gone)
        count -= gone
        return gone * scratchBytes
    }
}

extension [Transferred<TileCodec>] {
    /// Scratch memory of codecs of one size, in bytes.
    var scratchByteCount: Int { count * (first?.value.scratchByteCount ?? 0) }
}

extension CoreState {
    /// Bytes of the largest compressible tile, 0 if there is none.
    var largestCompressibleTile: Int {
        layers.reduce(0) { max($0, compresses($1) ? pool.layers[$1.id.index].tileBytes : 0) }
    }

    private func compresses(_ layer: LayerRecord) -> Bool {
        usesCompressedTier && layer.options.isCompressible && !pool.layers[layer.id.index].isRemoved
    }

    /// Adds codecs if there is room for their memory.
    mutating func adoptCodecs(_ made: [Transferred<TileCodec>]) {
        // Adding a layer seldom makes codecs, and must not look at all others.
        guard let new = made.first?.value else { return }
        let largest = largestCompressibleTile
        guard largest > 0, new.maximumTileBytes >= min(codecs.tileBytes, largest) else { return }
        // Busy codecs count until they are returned.
        let isOther = new.maximumTileBytes != codecs.tileBytes
        let spare = isOther ? codecs.idle.reduce(0) { $0 + $1.value.scratchByteCount } : 0
        var count = min(made.count, isOther ? made.count : codecs.missing(limit: pool.ledger.limit))
        if !pool.configuration.grantsBookkeeping {
            while count > 0, !pool.makeBytes(count * new.scratchByteCount - spare) { count -= 1 }
        }
        guard count > 0 else { return }
        pool.note(count * new.scratchByteCount - spare, in: .codecs)
        codecs.adopt(Array(made.prefix(count)))
        noteCodecs()
        // Layers whose tiles no codec took before.
        for layer in layers.indices where compresses(layers[layer]) && pool.layers[layer].tileBytes <= codecs.tileBytes
        {
            pool.setCompressible(layer: layer)
        }
    }

    /// Drops all codecs if no tile is compressible.
    mutating func dropUnneededCodecs() {
        guard largestCompressibleTile == 0 else { return }
        pool.note(-codecs.removeAll(), in: .codecs)
    }

    /// Takes a codec back.
    ///
    /// - Parameter wakes: Maximum idle workers to wake for it.
    mutating func returnCodec(_ codec: Transferred<TileCodec>, wakes: Int) {
        effects.wakes = max(effects.wakes, wakes)
        if !codecs.put(codec, limit: pool.ledger.limit) {
            pool.note(-codec.value.scratchByteCount, in: .codecs)
            noteCodecs()
        }
    }

    /// Drops codecs beyond a lower limit, busy ones when they are returned.
    mutating func shrinkCodecs(toLimit limit: Int) {
        dropStoreCodec()
        pool.note(-codecs.shrink(limit: limit), in: .codecs)
        noteCodecs()
    }

    /// Updates the pool's number of codecs. Without one, compressed tiles count as missing.
    private mutating func noteCodecs() {
        guard codecs.tileBytes > 0 else { return }
        pool.setCodecs(usesCompressedTier ? codecs.count : 0)
    }
}

/// Codecs for entries of stores. Their bytes count in the account of the stores.
extension CoreState {
    /// Whether the limit allows a codec: the rule of the pool's own.
    borrowing func allowsCodec(scratchBytes: Int) -> Bool {
        codecs.allowed(scratchBytes: scratchBytes, limit: pool.ledger.limit) > 0
    }

    /// Takes the idle codec; `nil` if there is none for tiles of this size.
    mutating func takeStoreCodec(tileBytes: Int) -> Transferred<TileCodec>? {
        guard let codec = codecs.ofStores, codec.value.maximumTileBytes >= tileBytes else { return nil }
        codecs.ofStores = nil
        return codec
    }

    /// Takes a codec back. The largest one is kept, if the limit still allows it.
    mutating func returnStoreCodec(_ codec: Transferred<TileCodec>) {
        var other: Transferred<TileCodec>? = codec
        if allowsCodec(scratchBytes: codec.value.scratchByteCount),
            codec.value.maximumTileBytes > codecs.ofStores?.value.maximumTileBytes ?? 0
        {
            swap(&other, &codecs.ofStores)
        }
        if let other { pool.note(-other.value.scratchByteCount, in: .stores) }
    }

    /// Drops the idle codec. The next entry makes another one, if there is room.
    mutating func dropStoreCodec() {
        guard let codec = codecs.ofStores else { return }
        pool.note(-codec.value.scratchByteCount, in: .stores)
        codecs.ofStores = nil
    }
}
