import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Work of the workers: loads, compressions and decompressions, one at a time each.
extension CacheCore {
    private enum Step: Sendable {
        case load(LoadTicket, LayerRecord, UInt)
        case request(LoadTicket, LayerID, any TileSource)
        case synthesize(LoadTicket, LayerRecord)
        case demote(CodecWork)
        case promote(CodecWork)
        case idle
    }

    /// Does jobs until there is none. Then the worker is idle until a plan wakes it.
    func work(as worker: Int) {
        enterActivity()
        defer { leaveActivity() }
        while true {
            let step = perform { state -> Step in
                let step = nextStep(for: worker, &state)
                if case .idle = step { return step }
                // The rest of the plan may occupy another worker.
                state.effects.wakes = .max
                state.watch(at: clock() + stuckLoadTime)
                return step
            }
            switch step {
            case .idle: return
            case .load(let ticket, let layer, let address):
                load(ticket, layer, at: address)
            case .request(let ticket, let layer, let source):
                let request = TileRequest(core: self, layer: layer, ticket: ticket)
                perform { state in
                    // If the source answers at once, the load ends before its request is known.
                    state.requests[ticket.load] = WeakRequest(value: request)
                    if state.isShutDown || state.pool.layers[ticket.key.layer].isRemoved {
                        state.effects.unwanted.append(request)
                    }
                }
                source.requestTile(request)
                perform { $0.workers.endCall(worker) }
                return
            case .synthesize(let ticket, let layer): synthesize(ticket, layer, as: worker)
            case .demote(let work): demote(work)
            case .promote(let work): promote(work, as: worker)
            }
        }
    }

    private func nextStep(for worker: Int, _ state: inout CoreState) -> Step {
        state.workers.endCall(worker)
        guard !state.isShutDown, !state.workers.retires(worker) else { return .idle }
        let now = clock()
        guard let job = state.pool.nextJob(now: now) else {
            state.workers.rest(worker)
            return .idle
        }
        switch job {
        case .load(let ticket):
            state.workers.beginCall(worker, at: now)
            state.noteWait(of: ticket, now: now)
            let layer = state.layers[ticket.key.layer]
            if layer.makes(ticket.key.level) { return .synthesize(ticket, layer) }
            switch layer.source {
            case .asynchronous(let source)?:
                state.workers.wait(worker, for: ticket.load)
                return .request(ticket, layer.id, source)
            case .blocking?, nil:
                return .load(ticket, layer, state.address(of: ticket.slot, layer: ticket.key.layer))
            }
        case .demote(let ticket): return .demote(state.codecWork(for: ticket))
        case .promote(let ticket):
            // The source decodes it.
            if ticket.form.isEncoded { state.workers.beginDecode(worker, layer: ticket.key.layer, at: now) }
            return .promote(state.codecWork(for: ticket))
        }
    }

    // MARK: - Loads

    private func load(_ ticket: LoadTicket, _ layer: LayerRecord, at address: UInt) {
        guard case .blocking(let source)? = layer.source else { return }
        let keeper = EncodedKeeper(core: self, ticket: ticket)
        var pixels = layer.pixels(at: address, level: ticket.key.level, keeper: keeper)
        let start = clock()
        let result = Self.result { try source.load(ticket.key.coordinate, into: &pixels) }
        end(ticket, result, took: clock() - start)
    }

    static func result(of load: () throws -> TileOutcome) -> LoadResult {
        do {
            switch try load() {
            case .pixels: return .pixels
            case .absent: return .absent
            }
        } catch let failure as TileFailure {
            return LoadResult(failure)
        } catch {
            return .failed(isPermanent: false, retryAfter: nil)
        }
    }

    /// Reserves a slot for an asynchronous source that is ready, lets it write and ends the load.
    func write(_ ticket: LoadTicket, _ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        enterActivity()
        defer { leaveActivity() }
        guard let slot = takeSlot(layer: ticket.key.layer, { $0.pool.reserve(ticket.load, now: $1) }) else {
            complete(ticket, .refused)
            return false
        }
        let layer = read { $0.layers[ticket.key.layer] }
        let keeper = EncodedKeeper(core: self, ticket: ticket)
        var pixels = layer.pixels(at: slot.address, level: ticket.key.level, keeper: keeper)
        complete(ticket, Self.result { try body(&pixels) })
        return true
    }

    /// Asks the pool for memory; `nil` if there is none. Victims are compressed outside of the lock.
    func admit<Grant: Sendable>(_ ask: (inout CoreState, _ now: Int64) -> Admission<Grant>) -> Grant? {
        while true {
            let (answer, demotion) = perform { state -> (Admission<Grant>, CodecWork?) in
                let answer = ask(&state, clock())
                guard case .demote(let victim) = answer else { return (answer, nil) }
                return (answer, state.beginDemotion(victim))
            }
            if case .granted(let grant) = answer { return grant }
            guard let demotion else { return nil }
            // A worker may have waited for the codec.
            demote(demotion, wakes: 1)
        }
    }

    /// Takes a slot; `nil` if there is none.
    func takeSlot(
        layer: Int,
        _ ask: (inout CoreState, _ now: Int64) -> Admission<SlotID>
    ) -> (slot: SlotID, address: UInt)? {
        admit { state, now in ask(&state, now).map { ($0, state.address(of: $0, layer: layer)) } }
    }

    /// Ends an asynchronous load; its worker continues.
    func complete(_ ticket: LoadTicket, _ result: LoadResult) {
        let now = clock()
        perform { state in
            state.requests[ticket.load] = nil
            let started = state.pool.loads[ticket.load]?.started ?? now
            state.end(ticket, result, took: now - started, now: now)
            if let worker = state.workers.takeWaiting(for: ticket.load) { state.effects.workers.append(worker) }
        }
    }

    func end(_ ticket: LoadTicket, _ result: LoadResult, took: Int64) {
        let now = clock()
        perform { $0.end(ticket, result, took: took, now: now) }
    }
}

/// Identifies the calling thread among the living ones.
func currentThreadNumber() -> UInt64 {
    #if canImport(Darwin)
        UInt64(UInt(bitPattern: pthread_self()))
    #else
        UInt64(pthread_self())
    #endif
}

extension LayerRecord {
    /// Memory of a slot as a source sees it.
    func pixels(at address: UInt, level: Int, keeper: EncodedKeeper? = nil) -> TilePixels {
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
            keeper: keeper
        )
    }
}
