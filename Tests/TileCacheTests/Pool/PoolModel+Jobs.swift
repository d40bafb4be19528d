import TestSupport

@testable import TileCache

/// Loads and work of codecs, from their beginning to their end.
extension PoolModel {
    func begin() throws {
        try perform("beginning a job") {
            let hadEnded = pool.queue.unmet.rank != nil
            let refusals = pool.counters.refusals
            let job = pool.nextJob(now: now)
            if pool.counters.refusals > refusals, !leaving.isEmpty { isAwaited = true }
            noteUnwritten()
            switch job {
            case .load(let ticket): try begin(ticket)
            case .demote(let ticket): try begin(ticket, .demotion)
            case .promote(let ticket): try begin(ticket, .promotion)
            case nil: if !hadEnded { try checkIdle() }
            }
        }
    }

    /// A slot that was taken for a load whose other memory was refused counts as committed, though nothing was written.
    private func noteUnwritten() {
        for (index, slots) in pool.slots.enumerated() {
            for number in 0..<slots.highWater where slots.isUnused(number) {
                let range = MemoryRange(slotClass: Int32(index), number: number)
                if slotStamps[range] == nil { slotStamps[range] = newStamp() }
            }
        }
    }

    private func begin(_ ticket: LoadTicket) throws {
        let key = ticket.key
        try require(flights.count < pool.configuration.workers, "more loads than workers")
        try require(flights[ticket.load] == nil, "two loads of one number")
        // Another entry of the plan may have evicted it in the same step.
        let isResident = content[key] != nil && pool.residency(of: key).isResident
        try require(!isResident || stale.contains(key), "a resident tile is loaded")
        try require(
            !absent.contains(key) || !pool.table[pool.table.find(key)].flags.contains(.absent),
            "an absent tile is loaded"
        )
        let visits = pool.queue.plan.entries.filter { $0.key == key }.map(\.visits).min() ?? 0
        try require(pool.table[pool.table.find(key)].visits >= visits, "a load's entry has none of its history")
        let flight = Flight(key: key, stamp: newStamp(), ticket: ticket, started: now)
        if ticket.slot == .none {
            try require(pool.layers[key.layer].reservesLate && ticket.isDemand, "a load without a slot")
        } else {
            try write(flight.stamp, to: slot(ticket.key.layer, ticket.slot))
        }
        flights[ticket.load] = flight
    }

    private func begin(_ ticket: CodecTicket, _ kind: CodecWork.Kind) throws {
        guard let stamp = content[ticket.key] else {
            throw Problem(description: "after \(step): \(kind) of a tile that is not resident")
        }
        try require(currentWork[ticket.key] == nil, "two codec jobs for one tile")
        try require(busyCodecs < pool.configuration.maximumCodecJobs, "more codec jobs than allowed")
        let range = slot(ticket.key.layer, ticket.slot)
        let isStuck = pool.layers[ticket.key.layer].stuckDecodes >= pool.configuration.workers
        try require(kind != .promotion || !ticket.form.isEncoded || !isStuck, "one more decoder that may hang")
        if kind == .demotion {
            try require(!needed.contains(ticket.key) || pool.isOverLimit, "a needed tile is evicted")
            try require(!leases.contains { $0.slot == range }, "a leased tile is evicted")
        } else {
            try write(newStamp(), to: range)
        }
        works.append(CodecWork(kind: kind, id: newStamp(), ticket: ticket, stamp: stamp))
        currentWork[ticket.key] = lastStamp
        if kind == .promotion, works.count < 12, pool.reserveForDecode(ticket) {
            try require(ticket.form.isEncoded, "a copy of what no source decodes")
            pool.beginDecode()
            works[works.count - 1].isDecoding = true
        }
    }

    /// A needed tile may wait only if nothing can be evicted for it. A plan that has ended stays so until the next one,
    /// whatever becomes evictable meanwhile.
    private func checkIdle() throws {
        var queue = pool.queue
        var waiting = queue.next(behindPrefetch: false)
        // Needed tiles start before a waiting prefetch.
        if waiting?.reason == .prefetch { waiting = queue.next(behindPrefetch: true) }
        guard !pool.layers.haveShares, let waiting, waiting.reason != .prefetch,
            flights.count < pool.configuration.workers, busyCodecs < pool.configuration.maximumCodecJobs,
            leaving.isEmpty, !pool.isOverLimit
        else { return }
        try checkNothingToSpare()
    }

    private func checkNothingToSpare() throws {
        let held = Set(leases.map(\.key)).union(currentWork.keys).union(needed)
        let spare = content.keys.filter { !held.contains($0) && pool.residency(of: $0) == .decoded }
        try require(spare.isEmpty, "a needed tile waits though \(spare[0].coordinate) could go")
    }

    func endLoad() throws {
        guard let id = flights.keys.sorted().randomElement(&random), let flight = flights[id] else { return }
        var results: [LoadResult] = [
            .absent, .failed(isPermanent: random.oneIn(5), retryAfter: random.oneIn(2) ? nil : 7_000_000),
            .cancelled, .refused,
        ]
        if flight.ticket.slot != .none { results += Array(repeating: .pixels, count: 12) }
        var result = random.element(of: results)
        if result == .failed(isPermanent: false, retryAfter: 7_000_000) { result = .postponed(wait: 7_000_000) }
        try perform("a load of \(flight.key.layer):\(flight.key.coordinate) that ends as \(result)") {
            flights[id] = nil
            let isNeeded = needed.contains(flight.key)
            let (isLate, wasOver) = (pool.loads[id]?.isWrittenOff == true, pool.isOverLimit)
            let wasBusy = pool.queue.unmet.isBusy
            _ = (pool.takeDemand(), pool.takeSupply())
            let leavesNothing = content[flight.key] == nil || result == .absent
            let isLost = result.isUnavailable && isNeeded && leavesNothing
            pool.finishLoad(id, result, now: now)
            let effects = pool.takeEffects()
            let isDemand = isLost || flight.isOutdated || (isNeeded && result == .cancelled) || wasBusy
            let hasDemand = pool.takeDemand()
            // Above a lowered limit needed tiles are evicted, too.
            try require(hasDemand == isDemand || (hasDemand && wasOver), "a demand: \(hasDemand), not \(isDemand)")
            try require(pool.takeSupply() != nil, "the end of a load has gone unnoticed")
            try require(effects.lateWorkers == (isLate ? 1 : 0), "\(effects.lateWorkers) late workers")
            let number = pool.table.find(flight.key)
            if result == .refused, !flight.isOutdated, number != .none {
                let pages = Int(pool.table[number].refusedPages)
                try require(pages == flight.refusedPages, "\(pages) refused pages, not \(flight.refusedPages)")
            }
            guard !flight.isOutdated else { return }
            switch result {
            case .pixels:
                forget(flight.key)
                content[flight.key] = flight.stamp
                absent.remove(flight.key)
            case .absent:
                forget(flight.key)
                absent.insert(flight.key)
            case .unchanged, .failed, .postponed, .cancelled, .refused: break
            }
        }
    }

    func reserve() throws {
        guard let id = flights.keys.filter({ flights[$0]?.ticket.slot == SlotID.none }).sorted().randomElement(&random),
            var flight = flights[id]
        else { return }
        try perform("reserving for \(flight.key.layer):\(flight.key.coordinate)") {
            switch pool.reserve(id) {
            case .granted(let number):
                flight.ticket.slot = number
                try write(flight.stamp, to: slot(flight.ticket.key.layer, number))
                flights[id] = flight
                try require(!flight.isOutdated, "an outdated load takes room")
            case .demote(let victim): try begin(pool.beginDemotion(victim), .demotion)
            case .refused:
                let isBusy = busyCodecs >= pool.configuration.maximumCodecJobs
                if !flight.isOutdated, !pool.layers.haveShares, !isBusy, leaving.isEmpty, !pool.isOverLimit {
                    try checkNothingToSpare()
                }
            }
        }
    }

    /// A source delivers its encoded bytes while it writes the pixels.
    func offerEncoded() throws {
        let open = flights.filter { $0.value.ticket.slot != .none && $0.value.encoded == nil }
        guard let id = open.keys.sorted().randomElement(&random), let flight = flights[id] else { return }
        let layer = pool.layers[flight.key.layer]
        let bytes = random.element(of: [300, 900, 3584, 4096, 4097, 1 + random.below(layer.tileBytes)])
        try perform("\(bytes) encoded bytes of \(flight.key.layer):\(flight.key.coordinate)") {
            let block = pool.reserveEncoded(flight.ticket, bytes: bytes, checksum: UInt64(flight.stamp))
            guard let block else { return }
            try require(!flight.isOutdated, "an outdated load takes pages")
            try require(pool.configuration.compressedTier && layer.isCompressible, "a payload without its tier")
            try write(flight.stamp, to: block)
            flights[id]?.encoded = block
        }
    }

    /// A source reports the bytes that it holds in its own memory.
    func holdEncoded() throws {
        guard let id = flights.keys.sorted().randomElement(&random), let flight = flights[id] else { return }
        let bytes = random.oneIn(4) ? 0 : random.below(20_000)
        try perform("holding \(bytes) bytes for \(flight.key.layer):\(flight.key.coordinate)") {
            switch pool.holdEncoded(flight.ticket, bytes: bytes) {
            case .granted:
                flights[id]?.heldBytes = bytes
                flights[id]?.refusedPages = 0
                try require(!flight.isOutdated, "an outdated load holds bytes")
            case .demote(let victim): try begin(pool.beginDemotion(victim), .demotion)
            case .refused:
                flights[id]?.refusedPages = pool.configuration.paged(bytes) / pool.configuration.pageBytes
                try require(bytes > flight.heldBytes || flight.isOutdated, "less was refused")
            }
        }
    }

    func endCodecWork() throws {
        guard !works.isEmpty else { return }
        let work = works.remove(at: random.below(works.count))
        let key = work.ticket.key
        let isCurrent = currentWork[key] == work.id
        let range = slot(work.ticket.key.layer, work.ticket.slot)
        switch work.kind {
        case .demotion:
            let results: [DemotionResult] = [
                .solid(UInt64(work.stamp)), .incompressible, .block(1 + random.below(pool.layers[key.layer].tileBytes)),
                .block(1 + random.below(5000)), .block(random.element(of: [512, 3584, 3585, 4096, 4097])),
            ]
            let result = random.element(of: results)
            try perform("a compression of \(key.layer):\(key.coordinate) to \(result)") {
                if isCurrent { currentWork[key] = nil }
                guard let stored = pool.finishDemotion(work.ticket, result) else { return }
                try require(isCurrent, "an overtaken compression was stored")
                try write(work.stamp, to: stored.form.block)
                works.append(CodecWork(kind: .store, id: newStamp(), ticket: stored, stamp: work.stamp))
                currentWork[key] = lastStamp
            }
        case .store:
            try perform("the end of storing \(key.layer):\(key.coordinate)") {
                if isCurrent { currentWork[key] = nil }
                try require(stamps(in: work.ticket.form.block) == [work.stamp], "its block was taken")
                let isNeeded = isCurrent && views.contains { $0.entered.contains(key) }
                let wasBusy = pool.queue.unmet.isBusy
                _ = pool.takeDemand()
                pool.finishStore(work.ticket)
                try require(pool.takeDemand() == (isNeeded || wasBusy), "whether a view waits for it")
            }
        case .promotion:
            let isIntact = !random.oneIn(6)
            try perform(
                "a decompression of \(key.layer):\(key.coordinate)",
                removing: isIntact ? .evictable : .also(key)
            ) {
                if isCurrent { currentWork[key] = nil }
                if case .solid(let value) = work.ticket.form {
                    try require(value == UInt64(work.stamp), "another tile's colour")
                } else {
                    let found = stamps(in: work.ticket.form.block)
                    try require(found == [work.stamp], "its block was taken")
                }
                try write(work.stamp, to: range)
                if work.isDecoding { pool.finishDecode(work.ticket) }
                let wasBusy = pool.queue.unmet.isBusy
                _ = pool.takeDemand()
                let isDecoded = work.ticket.form.isEncoded && random.oneIn(2)
                let result = isIntact ? PromotionResult.pixels : isDecoded ? .undecodable : .damaged
                if isCurrent { count(result) }
                pool.finishPromotion(work.ticket, result)
                try require(pool.takeDemand() == ((isCurrent && !isIntact) || wasBusy), "a lost tile is loaded again")
            }
        case .peek:
            let isDecoded = work.ticket.form.isEncoded && random.oneIn(2)
            let result: PromotionResult = !random.oneIn(6) ? .pixels : isDecoded ? .undecodable : .damaged
            if isCurrent { count(result) }
            try perform("the end of a look", removing: result == .pixels ? .evictable : .also(key)) {
                if isCurrent { currentWork[key] = nil }
                let isNeeded = isCurrent && views.contains { $0.entered.contains(key) }
                let wasBusy = pool.queue.unmet.isBusy
                _ = pool.takeDemand()
                pool.finishPromotion(work.ticket, result)
                let isWanted = result == .pixels ? isNeeded : isCurrent
                try require(pool.takeDemand() == (isWanted || wasBusy), "whether a view waits for it")
                let isThere = pool.residency(of: key) == .compressed
                try require(!isCurrent || isThere == (result == .pixels), "a look changed the tile")
            }
        }
    }

    private func count(_ result: PromotionResult) {
        switch result {
        case .pixels: break
        case .damaged: damaged += 1
        case .undecodable: undecodable += 1
        }
    }

    /// Reads a compressed tile, which stays unchanged.
    func peek() throws {
        let compressed = content.keys.filter { pool.residency(of: $0) == .compressed }.sorted(by: order)
        guard busyCodecs < pool.configuration.maximumCodecJobs, let key = compressed.randomElement(&random),
            let stamp = content[key]
        else { return }
        try perform("looking at \(key.layer):\(key.coordinate)") {
            guard let ticket = pool.beginPeek(key) else { return try require(false, "no look") }
            works.append(CodecWork(kind: .peek, id: newStamp(), ticket: ticket, stamp: stamp))
            currentWork[key] = lastStamp
        }
    }

    /// Some decoders of a layer hang. If they are as many as the workers, no other payload of the layer is decoded.
    func hangDecoders() throws {
        let layer = random.below(pool.layers.count)
        let count = random.oneIn(2) ? 0 : pool.configuration.workers - random.below(2)
        try perform("\(count) decoders of \(layer) that hang") { pool.layers.change(layer) { $0.stuckDecodes = count } }
    }
}
