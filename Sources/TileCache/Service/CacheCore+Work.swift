import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What workers do: loads, compressions and decompressions, one at a time each.
extension CacheCore {
    private enum Step: Sendable {
        case load(LoadTicket, LayerRecord, UInt)
        case request(LoadTicket, LayerID, any TileSource)
        case synthesize(LoadTicket, LayerRecord)
        case demote(CodecTicket, CodecWork)
        case promote(CodecTicket, CodecWork)
        case idle
    }

    /// What a compression or decompression needs beside its ticket.
    struct CodecWork: Sendable {
        var codec: Transferred<TileCodec>
        var layer: LayerRecord
        var slotAddress: UInt
        var parts: [PagePart]
    }

    /// A part of a compressed block in memory.
    struct PagePart: Sendable {
        var address: UInt
        var count: Int
    }

    /// Does jobs until there is none; then the worker is idle until a plan wakes it.
    func work(as worker: Int) {
        enterActivity()
        defer { leaveActivity() }
        while true {
            let step = perform { state -> Step in
                let step = nextStep(for: worker, &state)
                if case .idle = step { return step }
                // What is left of the plan may keep another worker busy.
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
                    // The load may be over before its request is known, where a source answers at once.
                    state.requests[ticket.load] = WeakRequest(value: request)
                    if state.isShutDown || state.pool.layers[ticket.key.layer].isRemoved {
                        state.effects.unwanted.append(request)
                    }
                }
                source.requestTile(request)
                perform { $0.workers.endCall(worker) }
                return
            case .synthesize(let ticket, let layer): synthesize(ticket, layer, as: worker)
            case .demote(let ticket, let work): demote(ticket, work)
            case .promote(let ticket, let work): promote(ticket, work, as: worker)
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
                return .load(
                    ticket,
                    layer,
                    UInt(bitPattern: state.address(slotClass: ticket.slotClass, slot: ticket.slot))
                )
            }
        case .demote(let ticket): return .demote(ticket, codecWork(for: ticket, &state))
        case .promote(let ticket):
            // Its source decodes it.
            if ticket.form.isEncoded { state.workers.beginDecode(worker, layer: ticket.key.layer, at: now) }
            return .promote(ticket, codecWork(for: ticket, &state))
        }
    }

    /// Takes a codec and looks the addresses up; there are as many codecs as the pool begins jobs at a time.
    func codecWork(for ticket: CodecTicket, _ state: inout CoreState) -> CodecWork {
        CodecWork(
            codec: state.codecs.take(),
            layer: state.layers[ticket.key.layer],
            slotAddress: UInt(bitPattern: state.address(slotClass: ticket.slotClass, slot: ticket.slot)),
            parts: ticket.form.block.map { parts(of: $0, state) } ?? []
        )
    }

    func parts(of block: PageAllocator.Block, _ state: borrowing CoreState) -> [PagePart] {
        var parts: [PagePart] = []
        let base = UInt(bitPattern: state.pageRegion.base)
        state.pool.pages.forEachPart(of: block) { parts.append(PagePart(address: base + UInt($0), count: $1)) }
        return parts
    }

    func copy(_ block: UnsafeRawPointer, to parts: [PagePart]) {
        var offset = 0
        for part in parts {
            UnsafeMutableRawPointer(bitPattern: part.address)!.copyMemory(from: block + offset, byteCount: part.count)
            offset += part.count
        }
    }

    // MARK: - Loads

    private func load(_ ticket: LoadTicket, _ layer: LayerRecord, at address: UInt) {
        guard case .blocking(let source)? = layer.source else { return }
        var pixels = layer.pixels(
            at: address,
            level: ticket.key.level,
            keeper: EncodedKeeper(core: self, ticket: ticket)
        )
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

    /// Reserves a slot for an asynchronous load whose source is ready, lets it write and ends the load.
    func write(_ ticket: LoadTicket, _ body: (inout TilePixels) throws -> TileOutcome) -> Bool {
        enterActivity()
        defer { leaveActivity() }
        guard let slot = takeSlot(of: ticket.slotClass, { $0.pool.reserve(ticket.load, now: $1) }) else {
            complete(ticket, .refused)
            return false
        }
        let layer = read { $0.layers[ticket.key.layer] }
        var pixels = layer.pixels(
            at: slot.address,
            level: ticket.key.level,
            keeper: EncodedKeeper(core: self, ticket: ticket)
        )
        complete(ticket, Self.result { try body(&pixels) })
        return true
    }

    /// Asks the pool for memory, compressing what has to make room for it outside of the lock; `nil` if there is none.
    func admit<Grant: Sendable>(_ ask: (inout CoreState, _ now: Int64) -> Admission<Grant>) -> Grant? {
        while true {
            let (answer, demotion) = perform { state -> (Admission<Grant>, (CodecTicket, CodecWork)?) in
                let answer = ask(&state, clock())
                guard case .demote(let victim) = answer, !state.codecs.isEmpty else { return (answer, nil) }
                let ticket = state.pool.beginDemotion(victim)
                return (answer, (ticket, codecWork(for: ticket, &state)))
            }
            if case .granted(let grant) = answer { return grant }
            guard let (ticket, work) = demotion else { return nil }
            // Workers that have waited for the codec do not wait for the load's end too.
            demote(ticket, work, wakes: 1)
        }
    }

    /// Takes a slot; `nil` if there is none.
    func takeSlot(
        of slotClass: Int,
        _ ask: (inout CoreState, _ now: Int64) -> Admission<Int32>
    ) -> (slot: Int32, address: UInt)? {
        admit { state, now in
            ask(&state, now).map { ($0, UInt(bitPattern: state.address(slotClass: slotClass, slot: $0))) }
        }
    }

    /// Ends an asynchronous load; its worker goes on.
    func complete(_ ticket: LoadTicket, _ result: LoadResult) {
        let now = clock()
        perform { state in
            state.requests[ticket.load] = nil
            let started = state.pool.loads[Int(ticket.load)]?.started ?? now
            state.end(ticket, result, took: now - started, now: now)
            if let worker = state.workers.takeWaiting(for: ticket.load) { state.effects.workers.append(worker) }
        }
    }

    func end(_ ticket: LoadTicket, _ result: LoadResult, took: Int64) {
        let now = clock()
        perform { $0.end(ticket, result, took: took, now: now) }
    }

    // MARK: - Between the tiers

    /// - Parameter wakes: idle workers that may have waited for the codec. Default: 0; a worker goes on itself.
    func demote(_ ticket: CodecTicket, _ work: CodecWork, wakes: Int = 0) {
        let size = work.layer.sizes[ticket.key.level]
        let pixels = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: work.slotAddress), count: size.bytes)
        let compressed = work.codec.value.compress(
            pixels,
            width: size.width,
            height: size.height,
            format: work.layer.options.format
        )
        let result: DemotionResult
        var block = UnsafeRawBufferPointer(start: nil, count: 0)
        switch compressed {
        case .solid(let value): result = .solid(value)
        case .raw: result = .incompressible
        case .block(let bytes):
            block = bytes
            result = .block(bytes.count)
        }
        let stored = perform { state -> (CodecTicket, [PagePart])? in
            guard let stored = state.pool.finishDemotion(ticket, result, now: clock()) else {
                state.returnCodec(work.codec, wakes: wakes)
                return nil
            }
            return (stored, stored.form.block.map { parts(of: $0, state) } ?? [])
        }
        guard let (stored, parts) = stored, let source = block.baseAddress else { return }
        copy(source, to: parts)
        perform { state in
            state.returnCodec(work.codec, wakes: wakes)
            state.pool.finishStore(stored)
        }
    }

    /// Decompresses a needed tile on a worker.
    func promote(_ ticket: CodecTicket, _ work: CodecWork, as worker: Int) {
        decompress(ticket, work) { state, result in
            state.endPromotion(ticket, result)
            if let layer = state.workers.endDecode(worker) { state.pool.endStuckDecode(ofLayer: layer) }
            // Its source's decoder has kept memory that a needed tile may wait for.
            if ticket.form.isEncoded, state.wantsRoom(now: clock()) { state.effects.plans = true }
        }
    }

    /// Decompresses a tile or lets its source decode it, and ends that under the lock with `finish`.
    ///
    /// - Parameter wakes: idle workers that may have waited for the codec. Default: 0; a worker goes on itself.
    @discardableResult
    func decompress(
        _ ticket: CodecTicket,
        _ work: CodecWork,
        wakes: Int = 0,
        _ finish: (inout CoreState, PromotionResult) -> Void
    ) -> PromotionResult {
        if case .encoded(let checksum, _) = ticket.form, let block = copyForDecoder(ticket, work) {
            let result = decode(UnsafeRawBufferPointer(block), checksum, of: ticket, work)
            block.deallocate()
            perform { state in
                state.pool.finishDecode(ticket)
                finish(&state, result)
            }
            return result
        }
        let result = decompress(ticket, work)
        perform { state in
            state.returnCodec(work.codec, wakes: wakes)
            finish(&state, result)
        }
        return result
    }

    /// Decompresses a tile into its slot, or lets its source decode it.
    func decompress(_ ticket: CodecTicket, _ work: CodecWork) -> PromotionResult {
        let size = work.layer.sizes[ticket.key.level]
        let pixels = UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: work.slotAddress),
            count: size.bytes
        )
        if case .solid(let value) = ticket.form {
            SolidTile.fill(pixels, with: value)
            return .pixels
        }
        let block = work.codec.value.gather(work.parts.map { (UnsafeRawPointer(bitPattern: $0.address)!, $0.count) })
        guard let block else { return .damaged }
        if case .encoded(let checksum, _) = ticket.form { return decode(block, checksum, of: ticket, work) }
        do {
            try work.codec.value.decompress(
                block,
                into: pixels,
                width: size.width,
                height: size.height,
                format: work.layer.options.format
            )
            return .pixels
        } catch {
            return .damaged
        }
    }
}

/// A number for the calling thread that no other living thread has.
func currentThreadNumber() -> UInt64 {
    #if canImport(Darwin)
        UInt64(UInt(bitPattern: pthread_self()))
    #else
        UInt64(pthread_self())
    #endif
}

extension LayerRecord {
    /// A slot's memory as a source sees it.
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
