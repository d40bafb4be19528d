/// A compression or decompression under way, with all it needs outside of the lock.
struct CodecWork: Sendable {
    /// Part of a block in memory.
    struct Part: Sendable {
        var address: UInt
        var count: Int
    }

    let ticket: CodecTicket
    let codec: Transferred<TileCodec>
    let layer: LayerRecord
    /// Address of the pixels.
    var address: UInt
    let parts: [Part]

    private var size: LayerRecord.TileSize { layer.sizes[ticket.key.level] }

    /// Compresses the slot's pixels; the block is valid until the codec's next use.
    func compress() -> CompressedTile {
        codec.value.compress(
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: size.bytes),
            width: size.width,
            height: size.height,
            format: layer.options.format
        )
    }

    /// Decompresses the block into the slot, or has the source decode the payload.
    func decompress() -> PromotionResult {
        let pixels = UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: address),
            count: size.bytes
        )
        if case .solid(let value) = ticket.form {
            SolidTile.fill(pixels, with: value)
            return .pixels
        }
        let block = codec.value.gather(parts.map { (UnsafeRawPointer(bitPattern: $0.address)!, $0.count) })
        guard let block else { return .damaged }
        if case .encoded(let checksum, _) = ticket.form { return decode(block, checksum) }
        do {
            try codec.value.decompress(
                block,
                into: pixels,
                width: size.width,
                height: size.height,
                format: layer.options.format
            )
            return .pixels
        } catch {
            return .damaged
        }
    }

    /// Has the source decode a payload into the slot.
    func decode(_ encoded: UnsafeRawBufferPointer, _ checksum: UInt64) -> PromotionResult {
        guard ticket.key.checksum(of: encoded) == checksum else { return .damaged }
        guard let decoder = layer.decoder else { return .undecodable }
        var pixels = layer.pixels(at: address, level: ticket.key.level)
        do {
            try decoder.decode(encoded, of: ticket.key.coordinate, into: &pixels)
            return .pixels
        } catch {
            return .undecodable
        }
    }

    /// Copies the block; the caller deallocates the copy.
    func copyBlock() -> UnsafeMutableRawBufferPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: ticket.form.byteCount, alignment: 16)
        var offset = 0
        for part in parts {
            guard let source = UnsafeRawPointer(bitPattern: part.address) else { continue }
            UnsafeMutableRawBufferPointer(rebasing: block[offset..<offset + part.count])
                .copyMemory(from: UnsafeRawBufferPointer(start: source, count: part.count))
            offset += part.count
        }
        return block
    }
}

extension Sequence<CodecWork.Part> {
    /// Copies a block to its parts.
    func take(_ block: UnsafeRawPointer) {
        var offset = 0
        for part in self {
            UnsafeMutableRawPointer(bitPattern: part.address)!.copyMemory(from: block + offset, byteCount: part.count)
            offset += part.count
        }
    }
}

extension CoreState {
    /// Takes a codec and the addresses. There are as many codecs as the pool runs jobs at a time.
    mutating func codecWork(for ticket: CodecTicket) -> CodecWork {
        CodecWork(
            ticket: ticket,
            codec: codecs.take(),
            layer: layers[ticket.key.layer],
            address: address(of: ticket.slot, layer: ticket.key.layer),
            parts: parts(of: ticket.form)
        )
    }

    /// Begins to compress a tile, if a codec is idle.
    mutating func beginDemotion(_ number: EntryID) -> CodecWork? {
        codecs.isEmpty ? nil : codecWork(for: pool.beginDemotion(number))
    }

    /// Begins to decompress a tile if a codec and a slot are free.
    mutating func beginPromotion(_ number: EntryID) -> CodecWork? {
        guard !codecs.isEmpty, case .granted(let ticket) = pool.beginPromotion(number, worth: .infinity)
        else { return nil }
        return codecWork(for: ticket)
    }

    /// The same of a tile that is compressed as a block.
    mutating func beginPromotion(ofBlock key: TileKey) -> CodecWork? {
        pool.currentBlock(of: key).flatMap { beginPromotion($0) }
    }

    /// Addresses of a block.
    borrowing func parts(of form: ColdForm) -> [CodecWork.Part] {
        var parts: [CodecWork.Part] = []
        guard let block = form.block else { return parts }
        let base = UInt(bitPattern: pageRegion.base)
        pool.pages.forEachPart(of: block) { parts.append(CodecWork.Part(address: base + UInt($0), count: $1)) }
        return parts
    }
}

extension CacheCore {
    /// - Parameter wakes: Maximum idle workers to wake for the codec. Default: 0; a worker continues itself.
    func demote(_ work: CodecWork, wakes: Int = 0) {
        var block: UnsafeRawPointer?
        let result: DemotionResult
        switch work.compress() {
        case .solid(let value): result = .solid(value)
        case .raw: result = .incompressible
        case .block(let bytes):
            block = bytes.baseAddress
            result = .block(bytes.count)
        }
        let stored = perform { state -> (ticket: CodecTicket, parts: [CodecWork.Part])? in
            guard let stored = state.pool.finishDemotion(work.ticket, result) else {
                state.returnCodec(work.codec, wakes: wakes)
                return nil
            }
            return (stored, state.parts(of: stored.form))
        }
        guard let stored, let block else { return }
        stored.parts.take(block)
        perform { state in
            state.returnCodec(work.codec, wakes: wakes)
            state.pool.finishStore(stored.ticket)
        }
    }

    /// Decompresses a needed tile on a worker.
    func promote(_ work: CodecWork, as worker: WorkerID) {
        decompress(work) { state, result in
            state.endPromotion(work.ticket, result)
            if let layer = state.workers.endDecode(worker) { state.pool.endStuckDecode(ofLayer: layer) }
        }
    }

    /// Decompresses a tile, or has its source decode it, and calls `finish` under the lock.
    ///
    /// - Parameter wakes: Maximum idle workers to wake for the codec. Default: 0; a worker continues itself.
    @discardableResult
    func decompress(
        _ work: CodecWork,
        wakes: Int = 0,
        _ finish: (inout CoreState, PromotionResult) -> Void
    ) -> PromotionResult {
        // A decoder gets a copy, and the codec is returned first, so that a hanging decoder blocks only its own worker.
        // Without room for the copy the codec is kept.
        if case .encoded(let checksum, _) = work.ticket.form, perform({ $0.pool.reserveForDecode(work.ticket) }) {
            let block = work.copyBlock()
            perform { state in
                state.pool.beginDecode()
                state.returnCodec(work.codec, wakes: .max)
            }
            let result = work.decode(UnsafeRawBufferPointer(block), checksum)
            block.deallocate()
            perform { state in
                state.pool.finishDecode(work.ticket)
                finish(&state, result)
            }
            return result
        }
        let result = work.decompress()
        perform { state in
            state.returnCodec(work.codec, wakes: wakes)
            finish(&state, result)
            // Workers that came to rest meanwhile have left that to the end of this work, which wakes none if the plan
            // is done.
            if wakes > 0, state.pool.queue.rest <= 0 { state.settleRoom() }
        }
        return result
    }
}
