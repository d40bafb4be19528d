import CTileKernels
import Dispatch
import Synchronization

/// What a source's encoded bytes need to find their load.
struct EncodedKeeper: Sendable {
    let core: CacheCore
    let ticket: LoadTicket
}

/// Encoded bytes of sources: taken in, counted, decoded.
extension CacheCore {
    /// Copies a payload into pages of its own; whether it is kept.
    func keepEncoded(_ encoded: UnsafeRawBufferPointer, of ticket: LoadTicket) -> Bool {
        let checksum = Self.checksum(of: encoded, for: ticket.key)
        let pages = perform { state -> [PagePart]? in
            guard !state.isShutDown, state.layers[ticket.key.layer].decoder != nil else { return nil }
            let block = state.pool.reserveEncoded(
                ticket,
                bytes: encoded.count,
                checksum: checksum,
                now: clock()
            )
            return block.map { parts(of: $0, state) }
        }
        guard let pages, let source = encoded.baseAddress else { return false }
        copy(source, to: pages)
        return true
    }

    /// Counts what a source holds for a load; whether there was room.
    func holdEncoded(_ bytes: Int, for ticket: LoadTicket) -> Bool {
        activity.enter()
        defer { activity.leave() }
        return admit { $0.pool.holdEncoded(ticket, bytes: bytes, now: $1) } != nil
    }

    /// Copies a payload for its decoder and gives the codec back: a decoder that does not return keeps its own worker
    /// and nothing that others wait for. `nil`, and the codec kept, where there is no room.
    func copyForDecoder(_ ticket: CodecTicket, _ work: CodecWork) -> UnsafeMutableRawBufferPointer? {
        guard perform({ $0.pool.reserveForDecode(ticket) }) else { return nil }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: ticket.form.byteCount, alignment: 16)
        var offset = 0
        for part in work.parts {
            guard let source = UnsafeRawPointer(bitPattern: part.address) else { continue }
            UnsafeMutableRawBufferPointer(rebasing: block[offset..<offset + part.count])
                .copyMemory(from: UnsafeRawBufferPointer(start: source, count: part.count))
            offset += part.count
        }
        perform { state in
            state.pool.beginDecode()
            state.returnCodec(work.codec, wakes: .max)
        }
        return block
    }

    /// Lets the source decode a payload into its slot.
    func decode(
        _ encoded: UnsafeRawBufferPointer,
        _ checksum: UInt64,
        of ticket: CodecTicket,
        _ work: CodecWork
    ) -> PromotionResult {
        guard Self.checksum(of: encoded, for: ticket.key) == checksum else { return .damaged }
        guard let decoder = work.layer.decoder else { return .undecodable }
        var pixels = work.layer.pixels(at: work.slotAddress, level: ticket.key.level)
        do {
            try decoder.decode(encoded, of: ticket.key.coordinate, into: &pixels)
            return .pixels
        } catch {
            return .undecodable
        }
    }

    /// The key is part of it, so that no tile's payload passes for another's.
    private static func checksum(of encoded: UnsafeRawBufferPointer, for key: TileKey) -> UInt64 {
        let bytes = encoded.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return tk_checksum(tk_path_automatic, bytes, encoded.count, key.hash)
    }
}
