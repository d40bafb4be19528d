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
        // One whose source could not try, or that was cancelled before it was asked for, stays.
        if !isOutdated, !result.isPutOff, let asked = interests.asked(for: ticket.key) { drop(asked) }
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
