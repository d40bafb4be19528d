import Dispatch

/// Synthesizes one tile from its descendants, one after the other, on a worker.
///
/// Each descendant is halved in place as often as it is levels below and written into the tile's slot: at any depth, at
/// most one tile of scratch memory is held. Resident descendants are used as they are, without a load.
struct TileSynthesizer {
    private let core: CacheCore
    private let worker: WorkerID
    private let ticket: LoadTicket
    private let layer: LayerRecord
    private let source: AnySource
    private let synthesis: LevelSynthesis
    private let target: UnsafeMutableRawPointer
    private let tile: TileCoordinate
    private let bytesPerRow: Int
    /// Whether a descendant has failed for good.
    private(set) var hasHoles = false
    /// Scratch memory: a slot of the pool, or the layer's spare tile.
    private var scratch: Scratch?

    private struct Scratch {
        var slot: SlotID?
        var address: UInt
    }

    init?(core: CacheCore, worker: WorkerID, ticket: LoadTicket, layer: LayerRecord, target: UnsafeMutableRawPointer) {
        guard let source = layer.source, let synthesis = layer.synthesis else { return nil }
        self.core = core
        self.worker = worker
        self.ticket = ticket
        self.layer = layer
        self.source = source
        self.synthesis = synthesis
        self.target = target
        tile = ticket.key.coordinate
        bytesPerRow = layer.sizes[tile.level].width * synthesis.halver.bytesPerPixel
    }

    /// Writes the tile's pixels.
    mutating func run() -> LoadResult {
        let size = drawnSize(of: tile)
        let full = layer.sizes[tile.level]
        // Nothing is drawn beyond the world's edge.
        if size.width < full.width || size.height < full.height {
            target.initializeMemory(as: UInt8.self, repeating: 0, count: full.bytes)
        }
        do {
            return try drawChildren(of: tile, halvings: 1) ? .pixels : .absent
        } catch {
            return error
        }
    }

    /// Returns the scratch memory.
    mutating func end() {
        guard let scratch else { return }
        self.scratch = nil
        let layer = ticket.key.layer
        core.perform { state in
            if let slot = scratch.slot {
                state.pool.returnScratch(slot, layer: layer)
            } else {
                state.synthesis.returnSpare(ofLayer: layer)
            }
        }
    }

    // MARK: - Descendants

    /// Draws the children of a tile; returns whether there are any.
    private mutating func drawChildren(of parent: TileCoordinate, halvings: Int) throws(LoadResult) -> Bool {
        var isAnything = false
        for child in layer.pyramid.parts(of: parent) {
            if try draw(child, halvings: halvings) { isAnything = true }
        }
        return isAnything
    }

    private mutating func draw(_ child: TileCoordinate, halvings: Int) throws(LoadResult) -> Bool {
        while true {
            guard core.read({ $0.wants(ticket) }) else { throw .cancelled }
            let (finding, isIncomplete) = core.find(child, of: ticket.key.layer)
            hasHoles = hasHoles || isIncomplete
            switch finding {
            case .absent:
                clear(child, halvings: halvings)
                return false
            case .decoded(let held, let address):
                defer { core.release([held]) }
                try halve(child, at: address, halvings: halvings)
                return true
            case .compressed:
                guard try decompress(child) else { return try make(child, halvings: halvings) }
                try halve(child, at: try scratchAddress(), halvings: halvings)
                return true
            case .inFlight(let load, let landing):
                // Bounded, so that a source that never answers does not block a worker whose tile is not wanted any
                // more.
                if core.executor.wait(landing, 50_000_000) == .timedOut {
                    core.perform { $0.synthesis.stopWaiting(for: load, landing) }
                }
            case .none:
                return try make(child, halvings: halvings)
            }
        }
    }

    /// Draws a tile that is not resident: from its children, or loaded.
    private mutating func make(_ child: TileCoordinate, halvings: Int) throws(LoadResult) -> Bool {
        guard layer.pyramid.hasTile(child) else {
            clear(child, halvings: halvings)
            return false
        }
        // A store without knowledge of its tiles would cost a look-up for each of thousands of descendants.
        if let tiers = layer.tiers, let store = tiers.nearest(child) {
            let now = core.clock()
            core.perform { $0.noteProgress(of: ticket, by: worker, now: now) }
            switch core.readStored(child, layer, tiers, at: store, into: try scratchAddress()) {
            case .pixels?:
                try halve(child, at: try scratchAddress(), halvings: halvings)
                return true
            case .absent?:
                clear(child, halvings: halvings)
                return false
            default: break
            }
        }
        if child.level < synthesis.levels { return try drawChildren(of: child, halvings: halvings + 1) }
        let address = try scratchAddress()
        switch load(child, at: address) {
        case .pixels:
            try halve(child, at: address, halvings: halvings)
            return true
        case .absent: break
        case .failed(isPermanent: true, _):
            // One failed tile must not fail the overview of all others.
            core.perform { $0.synthesis.count(\.holes) }
            hasHoles = true
        case let other: throw other
        }
        clear(child, halvings: halvings)
        return false
    }

    /// Loads a tile of the source. Retries transient failures at once: with hundreds of tiles per coarse tile, rare
    /// failures would let hardly any through.
    private func load(_ child: TileCoordinate, at address: UInt) -> LoadResult {
        var result = LoadResult.cancelled
        for _ in 0..<3 {
            let now = core.clock()
            core.perform { state in
                state.synthesis.count(\.loads)
                state.noteProgress(of: ticket, by: worker, now: now)
            }
            // Only whether stores may keep the tile for ever matters.
            let notes = layer.tiers.map { LoadNotes(epoch: .init(), tiers: $0) }
            defer { if notes?.now.freshness?.isLasting == false { layer.tiers?.noteExpiry() } }
            switch source {
            case .blocking(let source):
                var pixels = layer.pixels(at: address, level: child.level, notes: notes)
                result = CacheCore.result { try source.load(child, into: &pixels) }
            case .asynchronous(let source):
                result = core.load(child, for: ticket, layer, from: source, at: address, notes: notes)
            }
            guard case .failed(isPermanent: false, let wait) = result, wait ?? 0 == 0 else { break }
        }
        return result
    }

    /// Decompresses a tile into the scratch memory; `false` if that is impossible now.
    private mutating func decompress(_ child: TileCoordinate) throws(LoadResult) -> Bool {
        let address = try scratchAddress()
        let key = TileKey(layer: ticket.key.layer, child)
        let begun = core.perform { state -> CodecWork? in
            guard !state.codecs.isEmpty, let ticket = state.pool.beginPeek(key) else { return nil }
            var work = state.codecWork(for: ticket)
            work.address = address
            return work
        }
        guard let begun else { return false }
        return core.decompress(begun, wakes: .max) { $0.pool.finishPromotion(begun.ticket, $1) } == .pixels
    }

    // MARK: - Pixels

    /// Scratch memory, taken on first use.
    private mutating func scratchAddress() throws(LoadResult) -> UInt {
        if let scratch { return scratch.address }
        let layer = ticket.key.layer
        let load = ticket.load
        let isSpare = core.perform { $0.synthesis.takeSpare(ofLayer: layer) }
        if isSpare {
            scratch = Scratch(slot: nil, address: UInt(bitPattern: synthesis.spare.base))
        } else if let taken = core.takeSlot(layer: layer, { $0.pool.takeScratch(for: load) }) {
            scratch = Scratch(slot: taken.slot, address: taken.address)
        }
        guard let scratch else { throw .refused }
        return scratch.address
    }

    /// Halves a descendant's pixels repeatedly; the last time into its place in the tile.
    private mutating func halve(_ child: TileCoordinate, at address: UInt, halvings: Int) throws(LoadResult) {
        var (width, height) = drawnSize(of: child)
        var pixels = address
        for step in 1...halvings {
            let into = step == halvings ? place(of: child, halvings: halvings) : try scratchAddress()
            guard let from = UnsafeRawPointer(bitPattern: pixels), let to = UnsafeMutableRawPointer(bitPattern: into)
            else { return }
            let (stride, scale) = (bytesPerRow, synthesis.halver)
            scale.halve(from, stride: stride, width: width, height: height, into: to, stride: stride)
            (width, height) = ((width + 1) / 2, (height + 1) / 2)
            pixels = into
        }
    }

    /// Clears the area of a missing descendant.
    private func clear(_ child: TileCoordinate, halvings: Int) {
        let full = layer.sizes[tile.level]
        let bytes = (full.width >> halvings) * synthesis.halver.bytesPerPixel
        var row = UnsafeMutableRawPointer(bitPattern: place(of: child, halvings: halvings))
        for _ in 0..<full.height >> halvings {
            row?.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
            row? += bytesPerRow
        }
    }

    /// Address of a descendant's area in the tile's slot.
    private func place(of child: TileCoordinate, halvings: Int) -> UInt {
        let full = layer.sizes[tile.level]
        let x = (child.column - tile.column << halvings) * (full.width >> halvings)
        let y = (child.row - tile.row << halvings) * (full.height >> halvings)
        return UInt(bitPattern: target + y * bytesPerRow + x * synthesis.halver.bytesPerPixel)
    }

    /// Size of the part of a tile within the world, in pixels.
    private func drawnSize(of tile: TileCoordinate) -> (width: Int, height: Int) {
        let level = layer.pyramid.levels[tile.level]
        return (
            min(level.tileWidth, level.width - tile.column * level.tileWidth),
            min(level.tileHeight, level.height - tile.row * level.tileHeight)
        )
    }
}

extension CacheCore {
    /// Residency of a descendant.
    fileprivate enum Finding: Sendable {
        case decoded(LeaseToken, UInt)
        case compressed
        case inFlight(LoadID, DispatchSemaphore)
        case absent
        case none
    }

    /// Looks up a descendant; leases it if it is decoded. Returns whether it has holes of its own, too.
    fileprivate func find(_ tile: TileCoordinate, of layer: Int) -> (Finding, hasHoles: Bool) {
        perform { state in
            let part = state.pool.findPart(TileKey(layer: layer, tile))
            let finding: Finding =
                switch part.finding {
                case .decoded(let token): .decoded(token, state.address(of: token.slot, layer: layer))
                case .compressed: .compressed
                case .inFlight(let load): .inFlight(load, state.synthesis.wait(for: load))
                case .absent: .absent
                case .none: .none
                }
            return (finding, part.hasHoles)
        }
    }
}

extension CoreState {
    /// Whether a long load should continue.
    func wants(_ ticket: LoadTicket) -> Bool {
        guard !isShutDown, let load = pool.loads[ticket.load], !load.isOutdated else { return false }
        return !pool.isUnwanted(load: ticket.load)
    }
}
