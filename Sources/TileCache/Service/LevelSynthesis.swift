import Dispatch

/// Synthesis of a layer's coarse levels.
struct LevelSynthesis: Sendable {
    /// Levels 0 ..< `levels` are synthesized.
    let levels: Int
    let halver: ImageHalver
    /// Permanent scratch memory, so that a full pool cannot block synthesis.
    let spare: MemoryRegion

    /// `nil` if the source has all levels.
    init?(pyramid: TilePyramid, options: LayerOptions, pageBytes: Int) throws(TileCacheError) {
        guard options.synthesizedLevels != 0 else { return nil }
        if let obstacle = pyramid.obstacle(toSynthesizing: options.synthesizedLevels) { throw .invalidLayer(obstacle) }
        guard
            let halver = ImageHalver(format: options.format, alpha: options.alpha, downsampling: options.downsampling)
        else {
            throw .invalidLayer("tiles of \(options.format) cannot be halved with \(options.downsampling) means")
        }
        let fine = pyramid.levels[options.synthesizedLevels]
        let bytes = options.format.byteCount(width: fine.pixelWidth, height: fine.pixelHeight) ?? 1
        guard let spare = MemoryRegion(byteCount: bytes.roundedUp(toPages: pageBytes)) else {
            throw .outOfMemory(size: .bytes(bytes))
        }
        levels = options.synthesizedLevels
        self.halver = halver
        self.spare = spare
    }
}

/// State of all tiles being synthesized.
struct SynthesisState: Sendable {
    /// Layers whose spare scratch memory is in use.
    private(set) var sparesInUse: Set<Int> = []
    /// Semaphores of workers that wait for another worker's load.
    private(set) var waiters: [LoadID: [DispatchSemaphore]] = [:]
    private(set) var counts = TileCacheStatistics.SynthesisCounts()

    mutating func count(_ field: WritableKeyPath<TileCacheStatistics.SynthesisCounts, Int>) {
        counts[keyPath: field] += 1
    }

    /// Takes a layer's spare memory; returns whether it was free.
    mutating func takeSpare(ofLayer layer: Int) -> Bool { sparesInUse.insert(layer).inserted }

    mutating func returnSpare(ofLayer layer: Int) { sparesInUse.remove(layer) }

    /// Semaphore that is signalled at the end of a load.
    mutating func wait(for load: LoadID) -> DispatchSemaphore {
        let landing = DispatchSemaphore(value: 0)
        waiters[load, default: []].append(landing)
        return landing
    }

    mutating func stopWaiting(for load: LoadID, _ landing: DispatchSemaphore) {
        waiters[load]?.removeAll { $0 === landing }
    }

    mutating func noteEnd(of load: LoadID) { for waiter in waiters.removeValue(forKey: load) ?? [] { waiter.signal() } }
}

extension LayerRecord {
    /// Whether tiles of a level are synthesized.
    func makes(_ level: Int) -> Bool { source != nil && level < synthesis?.levels ?? 0 }
}

extension CoreState {
    /// Notes the next descendant of a synthesized tile. It is not stuck, however long all of them take together.
    mutating func noteProgress(of ticket: LoadTicket, by worker: WorkerID, now: Int64) {
        workers.beginCall(worker, at: now)
        pool.restart(ticket.load, at: now)
    }
}

extension CacheCore {
    /// Synthesizes a tile and ends its load.
    func synthesize(_ ticket: LoadTicket, _ layer: LayerRecord, as worker: WorkerID, _ notes: LoadNotes?) {
        let start = clock()
        guard let address = slotAddress(for: ticket) else { return complete(ticket, .refused, notes) }
        guard let target = UnsafeMutableRawPointer(bitPattern: address),
            var synthesizer = TileSynthesizer(core: self, worker: worker, ticket: ticket, layer: layer, target: target)
        else { return complete(ticket, .cancelled, notes) }
        let result = synthesizer.run()
        synthesizer.end()
        if synthesizer.hasHoles { notes?.change { $0.hasHoles = true } }
        if result == .pixels { perform { $0.synthesis.count(\.tiles) } }
        end(ticket, result, took: clock() - start, notes: notes)
    }

    /// Address of the load's slot; takes one if the source reserves late.
    private func slotAddress(for ticket: LoadTicket) -> UInt? {
        guard ticket.slot == .none else {
            return read { $0.address(of: ticket.slot, layer: ticket.key.layer) }
        }
        return takeSlot(layer: ticket.key.layer) { $0.pool.reserve(ticket.load) }?.address
    }
}
