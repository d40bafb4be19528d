import Synchronization

/// Moves of single tiles between the tiers on the caller's thread, through all that the workers go through: for
/// benchmarks and stress, which want to choose the moment.
extension TileCache {
    /// Bytes of pixels ready to draw and of compressed blocks before rounding to pages.
    package var payloadBytes: Int { core.read { $0.pool.payloadBytes } }

    /// Compresses a decoded tile that nobody holds or needs; whether it was moved.
    package func demote(_ tile: TileCoordinate, of layer: LayerID) -> Bool {
        let isDone = core.perform { state -> Bool in
            let number = state.pool.find(TileKey(layer: layer.index, tile))
            return number >= 0 && !state.pool.table[number].isPinned && state.pool.demoteToEncoded(number)
        }
        if isDone { return true }
        let begun = core.perform { state -> (CodecTicket, CacheCore.CodecWork)? in
            let number = state.pool.find(TileKey(layer: layer.index, tile))
            guard number >= 0, !state.codecs.isEmpty, state.pool.table[number].residency == .decoded,
                !state.pool.table[number].isPinned
            else { return nil }
            let ticket = state.pool.beginDemotion(number)
            return (ticket, core.codecWork(for: ticket, &state))
        }
        guard let (ticket, work) = begun else { return false }
        core.demote(ticket, work, wakes: .max)
        return true
    }

    /// Decompresses a compressed tile; whether it was moved.
    package func promote(_ tile: TileCoordinate, of layer: LayerID) -> Bool {
        let begun = core.perform { state -> (CodecTicket, CacheCore.CodecWork)? in
            let number = state.pool.find(TileKey(layer: layer.index, tile))
            guard number >= 0, !state.codecs.isEmpty,
                case .granted(let ticket) = state.pool.beginPromotion(number, worth: .infinity, now: 0)
            else { return nil }
            return (ticket, core.codecWork(for: ticket, &state))
        }
        guard let (ticket, work) = begun else { return false }
        core.decompress(ticket, work, wakes: .max) { $0.endPromotion(ticket, $1) }
        return true
    }
}
