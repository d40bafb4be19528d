import Dispatch

/// Work of the workers: loads, compressions and decompressions, one at a time each.
extension CacheCore {
    private enum Step: Sendable {
        case find(LoadTicket, LayerRecord, LayerTiers, TileStoreFreshness?, hasPixels: Bool, staysHere: Bool)
        case load(LoadTicket, LayerRecord, UInt, LoadNotes?)
        case request(LoadTicket, LayerID, any TileSource, LoadNotes?)
        case synthesize(LoadTicket, LayerRecord, LoadNotes?)
        case save(NextSave)
        case demote(CodecWork)
        case promote(CodecWork)
        /// Room for the next job is being made in steps.
        case again
        case idle
    }

    /// Does jobs until there is none. Then the worker is idle until a plan wakes it.
    func work(as worker: WorkerID) {
        enterActivity()
        defer { leaveActivity() }
        // A store gets at most one tile between two jobs.
        var hasSaved = false
        while true {
            let step = perform { state -> Step in
                let step = nextStep(for: worker, &state, savesFirst: !hasSaved)
                if case .idle = step { return step }
                if case .again = step { return step }
                // The rest of the plan may occupy another worker.
                state.effects.wakes = .max
                let now = clock()
                state.watch(at: now + stuckLoadTime)
                state.watchStarvedLayers(at: now, lendingAfter: stuckLoadTime / Self.lendingShare)
                return step
            }
            if case .save(let next) = step {
                carryOut(next)
                hasSaved = true
                continue
            }
            hasSaved = false
            guard take(step, as: worker) else { return }
        }
    }

    /// Carries out a step; returns whether the worker continues.
    private func take(_ step: Step, as worker: WorkerID) -> Bool {
        switch step {
        case .idle, .save: return false
        case .again: return true
        case .find(let ticket, let layer, let tiers, let held, let hasPixels, let staysHere):
            guard let notes = find(ticket, layer, tiers, held, hasPixels: hasPixels, staysHere: staysHere) else {
                return true
            }
            // A look-up takes time: no source gets a load that is over.
            guard perform({ $0.takeToSource(ticket, now: clock()) }) else {
                end(ticket, .cancelled, took: 0, notes: notes)
                return true
            }
            return take(perform { sourceStep(for: worker, ticket, layer, notes, &$0) }, as: worker)
        case .load(let ticket, let layer, let address, let notes):
            load(ticket, layer, at: address, notes)
        case .request(let ticket, let layer, let source, let notes):
            let request = TileRequest(core: self, layer: layer, ticket: ticket, notes: notes)
            // If the source answers at once, the load ends before its request is known.
            perform { $0.add(request, for: ticket) }
            source.requestTile(request)
            let now = clock()
            perform { $0.endRequestCall(of: ticket, by: worker, now: now) }
        case .synthesize(let ticket, let layer, let notes): synthesize(ticket, layer, as: worker, notes)
        case .demote(let work): demote(work)
        case .promote(let work): promote(work, as: worker)
        }
        return true
    }

    private func nextStep(for worker: WorkerID, _ state: inout CoreState, savesFirst: Bool) -> Step {
        state.workers.endCall(worker)
        guard !state.isShutDown else { return .idle }
        guard !state.workers.retires(worker) else {
            // While all spare workers were in use, no check was due.
            state.watch(at: clock())
            return .idle
        }
        if savesFirst, let save = state.nextSave() { return .save(save) }
        let now = clock()
        guard let job = state.pool.nextJob(now: now) else {
            if state.pool.hold.isInterrupted { return .again }
            if let save = state.nextSave() { return .save(save) }
            state.workers.rest(worker)
            // Nothing else may happen that would make a plan.
            state.settleLack(now: now)
            state.settleRoom()
            return .idle
        }
        switch job {
        case .load(let ticket):
            state.workers.beginCall(worker, at: now)
            state.noteWait(of: ticket, now: now)
            let layer = state.layers[ticket.key.layer]
            let (held, hasPixels, isOnlyNear) = state.pool.terms(of: ticket)
            if let tiers = layer.tiers {
                let staysHere = isOnlyNear && state.interests.asked(for: ticket.key) == nil
                return .find(ticket, layer, tiers, held, hasPixels: hasPixels, staysHere: staysHere)
            }
            let notes = layer.makes(ticket.key.level) ? nil : LoadNotes(held: held)
            return sourceStep(for: worker, ticket, layer, notes, &state)
        case .demote(let ticket): return .demote(state.codecWork(for: ticket))
        case .promote(let ticket):
            // The source decodes it.
            if ticket.form.isEncoded { state.workers.beginDecode(worker, layer: ticket.key.layer, at: now) }
            return .promote(state.codecWork(for: ticket))
        }
    }

    private func sourceStep(
        for worker: WorkerID,
        _ ticket: LoadTicket,
        _ layer: LayerRecord,
        _ notes: LoadNotes?,
        _ state: inout CoreState
    ) -> Step {
        if layer.makes(ticket.key.level) { return .synthesize(ticket, layer, notes) }
        switch layer.source {
        case .asynchronous(let source)?:
            state.workers.beginRequest(worker, of: ticket.load)
            return .request(ticket, layer.id, source, notes)
        case .blocking?, nil:
            return .load(ticket, layer, state.address(of: ticket.slot, layer: ticket.key.layer), notes)
        }
    }

    // MARK: - Loads

    private func load(_ ticket: LoadTicket, _ layer: LayerRecord, at address: UInt, _ notes: LoadNotes?) {
        guard case .blocking(let source)? = layer.source else { return }
        let keeper = EncodedKeeper(core: self, ticket: ticket, notes: notes)
        var pixels = layer.pixels(at: address, level: ticket.key.level, keeper: keeper)
        let start = clock()
        var result = Self.result(notes) { try source.load(ticket.key.coordinate, into: &pixels) }
        if let notes, notes.now.isUnchanged { result = confirm(ticket, layer, notes) }
        end(ticket, result, took: clock() - start, notes: notes)
    }

    /// - Parameter notes: Stored tiles of the request. Only with them may the answer be that one is unchanged.
    static func result(_ notes: LoadNotes? = nil, of load: () throws -> TileOutcome) -> LoadResult {
        do {
            switch try load() {
            case .pixels: return .pixels
            case .absent: return .absent
            case .unchanged:
                notes?.change { $0.isUnchanged = $0.cached != nil }
                return .failed(isPermanent: false, retryAfter: nil)
            }
        } catch let failure as TileFailure {
            return LoadResult(failure)
        } catch {
            return .failed(isPermanent: false, retryAfter: nil)
        }
    }

    /// Reserves a slot for an asynchronous source that is ready. The source writes, and the load ends.
    func write(_ ticket: LoadTicket, _ notes: LoadNotes?, _ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        guard let slot = takeSlot(layer: ticket.key.layer, { $0.pool.reserve(ticket.load) }) else {
            complete(ticket, .refused, notes)
            return false
        }
        let layer = read { $0.layers[ticket.key.layer] }
        let keeper = EncodedKeeper(core: self, ticket: ticket, notes: notes)
        var pixels = layer.pixels(at: slot.address, level: ticket.key.level, keeper: keeper)
        var result = Self.result(notes) { try body(&pixels) }
        if let notes, notes.now.isUnchanged { result = confirm(ticket, layer, notes) }
        complete(ticket, result, notes)
        return true
    }

    /// Ends a load whose source has confirmed the pixels in memory.
    func confirm(_ ticket: LoadTicket, _ notes: LoadNotes) {
        let layer = read { $0.layers[ticket.key.layer] }
        complete(ticket, confirm(ticket, layer, notes), notes)
    }

    /// Requests memory of the pool; `nil` if there is none. Victims are compressed outside of the lock.
    func admit<Grant: Sendable>(_ request: (inout CoreState) -> Admission<Grant>) -> Grant? {
        while true {
            let (answer, demotion, goesOn) = perform { state -> (Admission<Grant>, CodecWork?, Bool) in
                let answer = request(&state)
                if case .demote(let victim) = answer { return (answer, state.beginDemotion(victim), false) }
                return (answer, nil, state.pool.hold.isInterrupted)
            }
            if case .granted(let grant) = answer { return grant }
            if goesOn { continue }
            guard let demotion else { return nil }
            // A worker may have waited for the codec.
            demote(demotion, wakes: 1)
        }
    }

    /// Takes a slot; `nil` if there is none.
    func takeSlot(
        layer: Int,
        _ request: (inout CoreState) -> Admission<SlotID>
    ) -> (slot: SlotID, address: UInt)? {
        admit { state in request(&state).map { ($0, state.address(of: $0, layer: layer)) } }
    }

    /// Ends an asynchronous load.
    func complete(_ ticket: LoadTicket, _ result: LoadResult, _ notes: LoadNotes? = nil) {
        let now = clock()
        let validity = validity(of: ticket, notes, now: now)
        let save = perform { state -> Saving? in
            let (took, goesOn) = state.endRequest(ticket, result, asked: notes?.now.asked, validity, now: now)
            if goesOn { state.watch(at: now + stuckLoadTime) }
            return notes.flatMap { state.queueSave(ticket, result, took: took, $0, from: nil) }
        }
        settle(save, ticket, result, notes)
    }

    /// Ends a load.
    ///
    /// - Parameters:
    ///   - notes: What it noted about its answer and for the layer's stores. Default: nil, nothing.
    ///   - store: Index of the store that had the tile. Default: nil, the source.
    ///   - isStale: Whether the tile has to be loaded again. Default: false.
    func end(
        _ ticket: LoadTicket,
        _ result: LoadResult,
        took: Int64,
        notes: LoadNotes? = nil,
        from store: Int? = nil,
        isStale: Bool = false
    ) {
        let now = clock()
        var validity = validity(of: ticket, notes, now: now)
        if isStale { validity.expiresAt = now }
        let save = perform { [validity] state -> Saving? in
            state.end(
                ticket,
                result,
                took: took,
                now: now,
                validity: validity,
                isStored: store != nil,
                isStale: isStale
            )
            let save = notes.flatMap { state.queueSave(ticket, result, took: took, $0, from: store) }
            if isStale, result == .pixels { state.pool.expireIfNeeded(ticket.key, now: now) }
            return save
        }
        settle(save, ticket, result, notes)
    }
}

/// Until when answers are valid.
extension CacheCore {
    /// Least time between two requests of a tile that its source says is valid for a time, in nanoseconds.
    static let leastLifetime: Int64 = 1_000_000_000
    /// The same of one that was never valid, as after `no-cache`.
    static let leastInterval: Int64 = 10_000_000_000

    /// Until when a load's answer is valid in memory. A tile made of others does not expire.
    fileprivate func validity(of ticket: LoadTicket, _ notes: LoadNotes?, now: Int64) -> PoolState.Validity {
        guard let freshness = notes?.now.freshness, freshness != .notStored,
            let wait = Self.lifetime(of: freshness, now: configuration.wallClock()),
            !read({ $0.layers[ticket.key.layer].makes(ticket.key.level) })
        else { return .lasting }
        let (time, overflow) = now.addingReportingOverflow(wait)
        return PoolState.Validity(expiresAt: overflow ? nil : time, validators: freshness)
    }

    /// Nanoseconds for which an answer is valid in memory; `nil` for ever.
    ///
    /// - Parameter now: Seconds since 1970.
    static func lifetime(of freshness: TileStoreFreshness, now: Int64) -> Int64? {
        guard let expires = freshness.expires else { return nil }
        // A stored time in the future says that the clock has been set back: only the lifetime is known then.
        let from = freshness.stored > now ? freshness.stored : now
        let (seconds, overflow) = expires.subtractingReportingOverflow(from)
        if overflow { return expires > from ? nil : leastInterval }
        guard seconds > 0 else { return leastInterval }
        return seconds > 9_000_000_000 ? nil : max(seconds * 1_000_000_000, leastLifetime)
    }
}

extension LayerRecord {
    /// Memory of a slot as a source sees it.
    ///
    /// - Parameter notes: Notes for the layer's stores. Default: nil, those of the keeper.
    func pixels(at address: UInt, level: Int, keeper: EncodedKeeper? = nil, notes: LoadNotes? = nil) -> TilePixels {
        let size = sizes[level]
        return TilePixels(
            memory: UnsafeMutableRawBufferPointer(
                start: UnsafeMutableRawPointer(bitPattern: address),
                count: size.bytes
            ),
            width: size.width,
            height: size.height,
            format: options.format,
            alpha: options.alpha,
            keeper: keeper,
            notes: notes ?? keeper?.notes
        )
    }
}
