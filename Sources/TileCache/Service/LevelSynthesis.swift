import Dispatch
import Synchronization

/// How a layer's coarse levels are made that its source does not have.
struct LevelSynthesis: Sendable {
    /// Levels 0 ..< `levels` are made.
    let levels: Int
    let halver: ImageHalver
    /// Scratch memory that is always there, so that a budget that its tiles fill to the brim still makes progress.
    let spare: MemoryRegion

    /// `nil` where the source has all levels.
    init?(pyramid: TilePyramid, options: LayerOptions) throws(TileCacheError) {
        guard options.synthesizedLevels != 0 else { return nil }
        if let obstacle = pyramid.obstacle(toSynthesizing: options.synthesizedLevels) { throw .invalidLayer(obstacle) }
        guard
            let halver = ImageHalver(
                format: options.format,
                alpha: options.alpha,
                downsampling: options.downsampling
            )
        else {
            throw .invalidLayer("tiles of \(options.format) cannot be halved with \(options.downsampling) means")
        }
        let fine = pyramid.levels[options.synthesizedLevels]
        let bytes = options.format.byteCount(width: fine.pixelWidth, height: fine.pixelHeight) ?? 1
        guard let spare = MemoryRegion(byteCount: PoolState.slotBytes(for: bytes)) else {
            throw .outOfMemory(bytes: bytes)
        }
        levels = options.synthesizedLevels
        self.halver = halver
        self.spare = spare
    }
}

/// What the core knows of tiles that are being made.
struct SynthesisState: Sendable {
    /// Layers whose spare scratch memory is in use.
    var sparesInUse: Set<Int> = []
    /// Who waits for a load that somebody else has begun, by its number.
    var waiters: [LoadID: [DispatchSemaphore]] = [:]
    var tiles = 0
    var loads = 0
    var holes = 0

    mutating func noteEnd(of load: LoadID) {
        for waiter in waiters.removeValue(forKey: load) ?? [] { waiter.signal() }
    }
}

extension LayerRecord {
    /// Whether tiles of a level are made and not loaded.
    func makes(_ level: Int) -> Bool { source != nil && level < synthesis?.levels ?? 0 }
}

extension CoreState {
    /// A tile that is made begins with another load: its source answers, however long all of them take together.
    mutating func noteProgress(of ticket: LoadTicket, by worker: Int, now: Int64) {
        synthesis.loads += 1
        workers.beginCall(worker, at: now)
        pool.restart(ticket.load, at: now)
    }
}

extension CacheCore {
    /// Makes a tile of a level that the source does not have and ends its load.
    func synthesize(_ ticket: LoadTicket, _ layer: LayerRecord, as worker: Int) {
        let start = clock()
        guard let address = slotAddress(for: ticket) else { return complete(ticket, .refused) }
        guard let target = UnsafeMutableRawPointer(bitPattern: address),
            var synthesizer = TileSynthesizer(core: self, worker: worker, ticket: ticket, layer: layer, target: target)
        else { return complete(ticket, .cancelled) }
        let result = synthesizer.run()
        synthesizer.end()
        if result == .pixels { perform { $0.synthesis.tiles += 1 } }
        end(ticket, result, took: clock() - start)
    }

    /// The slot that the pool took when the load began; where the source reserves late, one that is taken now.
    private func slotAddress(for ticket: LoadTicket) -> UInt? {
        guard ticket.slot == .none else {
            return read { $0.address(of: ticket.slot, layer: ticket.key.layer) }
        }
        return takeSlot(layer: ticket.key.layer) { $0.pool.reserve(ticket.load, now: $1) }?.address
    }
}
