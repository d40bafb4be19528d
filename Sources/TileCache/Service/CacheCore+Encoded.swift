import CTileKernels
import Dispatch

/// Identifies the load of a payload.
struct EncodedKeeper: Sendable {
    let core: CacheCore
    let ticket: LoadTicket
    /// Notes for the layer's stores; `nil` if it has none.
    let notes: LoadNotes?
}

/// Payloads: kept, counted, decoded.
extension CacheCore {
    /// Copies a payload into pages; returns whether it is kept.
    func keepEncoded(_ encoded: UnsafeRawBufferPointer, of ticket: LoadTicket) -> Bool {
        let checksum = ticket.key.checksum(of: encoded)
        let pages = perform { state -> [CodecWork.Part]? in
            guard !state.isShutDown, state.layers[ticket.key.layer].decoder != nil else { return nil }
            let block = state.pool.reserveEncoded(ticket, bytes: encoded.count, checksum: checksum)
            return block.map { state.parts(of: .block($0)) }
        }
        guard let pages, let source = encoded.baseAddress else { return false }
        pages.take(source)
        return true
    }

    /// Counts the bytes that a source holds for a load; returns whether there was room.
    func holdEncoded(_ bytes: Int, for ticket: LoadTicket) -> Bool {
        activity.enter()
        defer { activity.leave() }
        return admit { $0.pool.holdEncoded(ticket, bytes: bytes) } != nil
    }
}

extension TileKey {
    /// Checksum of a payload, including the key: no payload passes for another tile's.
    func checksum(of encoded: UnsafeRawBufferPointer) -> UInt64 {
        let bytes = encoded.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return tk_checksum(tk_path_automatic, bytes, encoded.count, hash)
    }
}
