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
        if !isOutdated, let asked = interests.asked(for: ticket.key) {
            if !result.isPutOff {
                drop(asked)
            } else if result == .cancelled, !interests.needsSource(asked) {
                // Cancelled before it was asked for. For the ceilings, it waits until they allow its source.
                pool.noteDemand()
            }
        }
        if result == .pixels || result == .unchanged || result == .absent { noteReady(ticket.key) }
        if !isStale { settleFetches(of: ticket.key) }
    }

    /// Notes a request that its source is about to have.
    mutating func add(_ request: TileRequest, for ticket: LoadTicket) {
        requests.add(request, for: ticket.load)
        // A plan that was made meanwhile has not found it.
        if isShutDown || pool.isUnwanted(load: ticket.load) { effects.unwanted.append(request) }
    }

    /// Releases the worker of a request from whose call the source has returned.
    mutating func endRequestCall(of ticket: LoadTicket, by worker: WorkerID, now: Int64) {
        if let answered = workers.decodes[worker] {
            let isReplaced = workers.endDecode(worker) != nil
            pool.endAnswered(ofLayer: answered.layer, isReplaced: isReplaced)
        } else {
            workers.endRequest(of: ticket.load)
            pool.releaseWorker(of: ticket, at: now)
        }
    }

    /// Ends the load of an asynchronous source.
    ///
    /// - Parameter asked: When the source was asked, if that was noted; `nil` for the start of the load.
    /// - Returns: How long it took, and whether the source's call goes on.
    mutating func endRequest(
        _ ticket: LoadTicket,
        _ result: LoadResult,
        asked: Int64?,
        _ validity: PoolState.Validity,
        now: Int64
    ) -> (took: Int64, goesOn: Bool) {
        requests.remove(ticket.load)
        let load = pool.loads[ticket.load]
        let took = now - (asked ?? load?.started ?? now)
        end(ticket, result, took: took, now: now, validity: validity)
        effects.wakes = max(effects.wakes, 1)
        guard let worker = workers.endRequest(of: ticket.load) else { return (took, false) }
        // The worker continues once the source returns. If it does not, a spare one takes its place.
        let isReplaced = load?.isWrittenOff ?? false
        workers.noteAnswer(worker, layer: ticket.key.layer, isReplaced: isReplaced)
        pool.beginAnswered(ofLayer: ticket.key.layer)
        if isReplaced { pool.noteStuckCall(ofLayer: ticket.key.layer, isRequest: true) }
        return (took, true)
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
