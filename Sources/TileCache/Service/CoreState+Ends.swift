/// What the ends of loads and decompressions change beside the pool.
extension CoreState {
    /// Ends a load, after so many nanoseconds.
    mutating func end(_ ticket: LoadTicket, _ result: LoadResult, took: Int64, now: Int64) {
        if result == .pixels {
            // An exponential mean over about eight loads; clocks that jump do not spoil it for good.
            meanLatency += (min(max(took, 0), 3_600_000_000_000) - meanLatency) / 8
        }
        pool.finishLoad(ticket.load, result, now: now)
        synthesis.noteEnd(of: ticket.load)
        forgetAsked(ticket.key)
        // What has landed may be evicted for what there was no room for.
        if wantsRoom(now: now) { effects.plans = true }
        if result == .pixels || result == .absent { noteReady(ticket.key) }
    }

    /// Ends a decompression.
    ///
    /// - Parameter drawing: a view that is about to draw the tile. Default: nil.
    mutating func endPromotion(_ ticket: CodecTicket, _ result: PromotionResult, drawing: Int? = nil) {
        pool.finishPromotion(ticket, result)
        noteReady(ticket.key, except: drawing)
    }
}
