/// Ends of loads and decompressions.
extension CoreState {
    /// Ends a load that took this many nanoseconds.
    ///
    /// - Parameters:
    ///   - validity: Until when the answer is valid. Default: for ever.
    ///   - isStored: Whether a store had the tile. Default: false, the source.
    ///   - isStale: Whether the tile will be loaded again; requests wait for that. Default: false.
    mutating func end(
        _ ticket: LoadTicket,
        _ result: LoadResult,
        took: Int64,
        now: Int64,
        validity: PoolState.Validity = .lasting,
        isStored: Bool = false,
        isStale: Bool = false
    ) {
        if result == .pixels, !isStored {
            layers[ticket.key.layer].tiers?.noteSource(took: took)
            times.noteLoad(took: took)
        }
        // What an invalidation has overtaken is loaded again.
        let isOutdated = pool.loads[ticket] == nil
        pool.finishLoad(ticket.load, result, now: now, validity: validity)
        synthesis.noteEnd(of: ticket.load)
        if !isOutdated, isAsked(ticket.key) {
            if case .postponed = result {
                // It stays on the list until its source can try.
            } else if result != .cancelled {
                changeAsked { asked, _ in asked.removeAll { $0.key == ticket.key } }
            } else if asked.contains(where: { $0.key == ticket.key && !$0.needsSource }) {
                // Cancelled before it was asked for. For the ceilings, it waits until they allow its source.
                pool.noteDemand()
            }
        }
        if result == .pixels || result == .unchanged || result == .absent { noteReady(ticket.key) }
        if !isStale { settleFetches(of: ticket.key) }
    }

    /// Ends a decompression.
    ///
    /// - Parameter drawing: View that is about to draw the tile. Default: nil.
    mutating func endPromotion(_ ticket: CodecTicket, _ result: PromotionResult, drawing: Int? = nil) {
        pool.finishPromotion(ticket, result)
        noteReady(ticket.key, except: drawing)
        settleFetches(of: ticket.key)
    }
}
