/// Ceilings of prefetches.
extension PoolState {
    /// Replaces a layer's allowance. Loads in flight continue.
    mutating func set(_ allowance: PrefetchAllowance, ofLayer layer: Int) {
        // Loads that a ceiling has held back may begin.
        changeLayers { $0.set(allowance, of: layer) }
    }

    /// Whether a prefetch from the source may begin now. If not yet, a plan is made once it may.
    mutating func isWithinCeilings(_ key: TileKey, now: Int64) -> Bool {
        let layer = layers[key.layer]
        guard let meter = layer.meter else { return true }
        let time = meter.time(requests: layer.requests(atLevel: key.level), bytes: tileBytes(of: key), now: now)
        guard time != now else { return true }
        layers.change(key.layer) { $0.prefetches.heldBack += 1 }
        if let time { effects.replanAt = min(effects.replanAt, time) }
        return false
    }

    /// Counts a prefetch that begins.
    mutating func notePrefetch(_ key: TileKey, asksSource: Bool, now: Int64) {
        counters.prefetches.started += 1
        let bytes = tileBytes(of: key)
        layers.change(key.layer) {
            $0.prefetches.started += 1
            $0.prefetches.byteTotal += bytes
            if asksSource { $0.noteRequest(atLevel: key.level, bytes: bytes, now: now) }
        }
    }

    /// Whether a load may go to the source, after no tier had its tile. A prefetch that began without counting as a
    /// request has to be within the ceilings now.
    ///
    /// - Parameter isAsked: Whether the application has asked for the tile. Default: false.
    mutating func mayAskSource(_ ticket: LoadTicket, isAsked: Bool = false, now: Int64) -> Bool {
        guard let load = loads[ticket], !load.isDemand, load.isNear else { return true }
        let entry = table[load.entry]
        guard !entry.isKept else { return true }
        let layer = ticket.key.layer
        switch layers[layer].allowance {
        case .never, .resident: guard isAsked else { return false }
        case .priced: guard isWithinCeilings(ticket.key, now: now) else { return false }
        }
        let bytes = tileBytes(of: ticket.key)
        layers.change(layer) { $0.noteRequest(atLevel: ticket.key.level, bytes: bytes, now: now) }
        return true
    }

    /// What a load that begins has to know: validators of old pixels, whether these are drawn, and whether it is restricted
    /// to tiers on this machine.
    func terms(of ticket: LoadTicket) -> (validators: TileStoreFreshness?, hasPixels: Bool, isOnlyNear: Bool) {
        let hasPixels = loads[ticket.load].map { table[$0.entry].residency.isResident } ?? false
        let isNear = loads[ticket]?.isNear == true && !ticket.isDemand
        return (validators(of: ticket), hasPixels, isNear && layers[ticket.key.layer].allowance == .resident)
    }
}
