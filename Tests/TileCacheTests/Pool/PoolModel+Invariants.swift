@testable import TileCache

/// Invariants after every operation on the pool.
extension PoolModel {
    func check() throws {
        try checkEntries()
        try checkLists()
        try checkMemory()
        let committed = pool.committedBytes
        let limit = pool.ledger.limit
        if committed > limit {
            try require(pool.isOverLimit, "\(committed) bytes in use, \(committed - limit) over the limit")
            try require(
                !isOverAllowed || committed <= committedBefore,
                "\(committed) bytes in use while over the limit, \(committed - committedBefore) more than before"
            )
        }
        let peaks = pool.counters
        try require(peaks.peakBytes >= committed, "the peak missed \(committed) bytes")
        try require(
            peaks.peakDecodedBytes >= pool.slots.usedBytes - pool.ledger.inFlightBytes
                && peaks.peakCompressedBytes >= pool.pages.usedBytes
                && peaks.peakInFlightBytes >= pool.ledger.inFlightBytes,
            "a tier's peak was missed"
        )
        let charged = views.reduce(0) { $0 + $1.charged }
        try require(
            pool.ledger[.demand] == charged * PoolState.bytesPerNeed,
            "views are charged otherwise than they say"
        )
        try require(views.allSatisfy { $0.tiles.count <= $0.charged }, "a view needs more than it is charged for")
        let lost = (pool.counters.tiers.damagedBlocks, pool.counters.tiers.undecodablePayloads)
        try require(lost == (damaged, undecodable), "\(lost) damaged or undecodable, not \((damaged, undecodable))")
        try require(
            pool.counters.prefetches.late == late.count,
            "\(pool.counters.prefetches.late) late, not \(late.count)"
        )
        var figures = TileCacheStatistics(of: pool)
        (figures.pan, figures.zoom) = demands
        try require(figures.contradictions.isEmpty, figures.contradictions.joined(separator: "; "))
        let codecJobs = busyCodecs
        try require(pool.codecJobs.count == codecJobs, "\(pool.codecJobs.count) codec jobs, not \(codecJobs)")
        try require(pool.loads.count == flights.count, "\(pool.loads.count) loads, not \(flights.count)")
        try require(pool.loads.oldestStart == flights.values.map(\.started).min(), "the oldest load")
        let inFlight = flights.values.reduce(0) {
            $0 + ($1.ticket.slot == .none ? 0 : pool.slotBytes(ofLayer: $1.ticket.key.layer))
        }
        try require(
            pool.ledger.inFlightBytes == inFlight,
            "\(pool.ledger.inFlightBytes) bytes in flight, not \(inFlight)"
        )
        try require(Set(flights.values.map(\.key)).count == flights.count, "two loads of one tile")
        try checkShares()
        try checkDrawn()
        try checkChanges()
        var tables = [pool.table.byteCount, pool.pages.bookkeepingBytes] + pool.slots.map(\.bookkeepingBytes)
        tables += Ledger.Account.allCases.map { pool.ledger[$0] }
        let stuck = pool.loads.all.count { $0.load.isWrittenOff }
        tables.append((pool.configuration.workers + stuck) * MemoryLayout<Load?>.stride)
        try require(pool.bookkeepingBytes == tables.reduce(0, +), "tables take \(tables)")
    }

    /// The frame of a complete view changes only with its needs or the version.
    private func checkDrawn() throws {
        for (index, view) in views.enumerated() {
            if drawn[index]?.tiles != view.tiles { drawn[index] = nil }
            guard view.entries.allSatisfy({ $0 != .none && pool.table[$0].residency.isDecoded }) else { continue }
            let pixels = view.entries.map { number -> [Int32] in
                let entry = pool.table[number]
                return [entry.slot.number, entry.flags.contains(.stale) ? 1 : 0]
            }
            if let last = drawn[index], last.version == pool.drawVersion {
                try require(last.pixels == pixels, "a view draws other pixels under the same version")
            }
            drawn[index] = Drawn(tiles: view.tiles, version: pool.drawVersion, pixels: pixels)
        }
    }

    /// Each tile whose state is another one is among the changes.
    private func checkChanges() throws {
        var states: [TileKey: TileResidency] = [:]
        pool.table.forEach { states[pool.table[$0].key] = pool.table[$0].state }
        if let changes = pool.table.changes.take(since: &changesVersion) {
            for (key, state) in knownStates where states[key] != state {
                try require(changes.contains(key), "\(key) has changed from \(state) unnoticed")
            }
            for key in states.keys where knownStates[key] == nil {
                try require(changes.contains(key), "\(key) is new, unnoticed")
            }
        }
        knownStates = states
    }

    var busyCodecs: Int { works.count { !$0.isDecoding } }

    /// Each layer's account is the sum of its tiles, and none exceeds its share.
    private func checkShares() throws {
        var slots = Array(repeating: 0, count: pool.layers.count)
        var blocks = slots
        var pinned = slots
        var needed = slots
        pool.table.forEach { number in
            let entry = pool.table[number]
            if entry.slot != .none { slots[entry.key.layer] += 1 }
            if entry.flags.contains(.pinned) {
                let slotBytes = entry.residency.isDecoded ? pool.slotBytes(ofLayer: entry.key.layer) : 0
                pinned[entry.key.layer] += slotBytes + (entry.residency.isCompressed ? entry.form.byteCount : 0)
            }
            blocks[entry.key.layer] += entry.form.byteCount
            let hasPinned = entry.flags.contains(.pinned) && entry.residency.isDecoded
            let isCounted = entry.viewCount > 0 && !hasPinned && !entry.isUnavailable
            needed[entry.key.layer] += isCounted ? pool.slotBytes(ofLayer: entry.key.layer) : 0
        }
        for flight in flights.values {
            if flight.ticket.slot != .none { slots[flight.key.layer] += 1 }
            blocks[flight.key.layer] += Int(flight.encoded?.byteCount ?? 0)
        }
        for work in works where work.kind != .demotion {
            let layer = work.ticket.key.layer
            if work.kind == .promotion { slots[layer] += 1 }
            // A block that newer pixels have replaced belongs to the worker alone.
            if currentWork[work.ticket.key] != work.id { blocks[layer] += work.ticket.form.byteCount }
        }
        for layer in pool.layers.indices {
            let account = pool.layers[layer]
            let slotBytes = slots[layer] * pool.slotBytes(ofLayer: layer)
            try require(account.slotBytes == slotBytes, "layer \(layer) has \(account.slotBytes), not \(slotBytes)")
            try require(account.blockBytes == blocks[layer], "layer \(layer): \(account.blockBytes) of blocks")
            try require(account.pinnedBytes == pinned[layer], "layer \(layer): \(account.pinnedBytes) pinned")
            try require(account.neededBytes == needed[layer], "layer \(layer): \(account.neededBytes) needed")
            let used = pool.usedBytes(ofLayer: layer)
            try require(
                used <= max(pool.maximumBytes(ofLayer: layer), usedBefore[layer, default: 0]),
                "layer \(layer) takes \(used) bytes, more than its share"
            )
            usedBefore[layer] = used
        }
    }

    private func checkEntries() throws {
        var numbers: [EntryID] = []
        pool.table.forEach { numbers.append($0) }
        try require(numbers.count == pool.table.count, "\(pool.table.count) entries, \(numbers.count) in the index")
        var resident = 0
        var needs: [TileKey: Int32] = [:]
        for view in views { for tile in view.entered { needs[tile, default: 0] += 1 } }
        for number in numbers {
            let entry = pool.table[number]
            // For messages alone.
            var name: String { entry.modelName }
            try require(pool.table.find(entry.key) == number, "\(name) is not found")
            try require(entry.needCount == needs[entry.key] ?? 0, "\(name) is needed \(entry.needCount) times")
            try require(entry.viewCount == entry.needCount, "\(name) is needed by \(entry.viewCount) views")
            try require(entry.flags.contains(.pinned) == pinnedKeys.contains(entry.key), "\(name): pin")
            try require(entry.flags.contains(.stale) == stale.contains(entry.key), "\(name): stale")
            try require(!entry.flags.contains(.absent) || absent.contains(entry.key), "\(name) is not absent")
            try require(
                !entry.isForgettable || !entry.flags.isDisjoint(with: .remembered),
                "\(name) is not forgotten"
            )
            let flight = flights.first { $0.value.key == entry.key }
            try require(entry.load == flight?.key ?? .none, "\(name): load \(entry.load)")
            if let flight {
                try require(pool.loads[flight.key]?.entry == number, "\(name): its load is another's")
            }
            if entry.residency.isResident { resident += 1 }
            try checkPixels(of: entry)
        }
        try require(resident == content.count, "\(resident) resident tiles, not \(content.count)")
        for view in views {
            // A tile without an entry may get one from its load; the need is entered afterwards.
            try require(
                zip(view.entries, view.tiles).allSatisfy { $0 == .none || $0 == pool.table.find($1) },
                "a view's entries are not its tiles'"
            )
            try require(view.isIncomplete == view.entries.contains(.none), "a view misjudges what it lacks")
        }
    }

    private func checkPixels(of entry: Entry) throws {
        var name: String { entry.modelName }
        let work = works.first { $0.id == currentWork[entry.key] }
        let isBusy: Bool
        switch entry.residency {
        case .demoting: isBusy = work?.kind == .demotion
        case .storing: isBusy = work?.kind == .store
        case .promoting: isBusy = work?.kind == .promotion || work?.kind == .peek
        default: isBusy = work == nil
        }
        try require(isBusy, "\(name): codec work is \(work.map { "\($0.kind)" } ?? "none")")
        let stamp = content[entry.key]
        let range = slot(entry.key.layer, entry.slot)
        var holds = leases.count { $0.key == entry.key && $0.slot == range && $0.stamp == stamp }
        if entry.residency == .demoting || entry.residency == .promoting { holds += 1 }
        try require(entry.leaseCount == holds, "\(name): \(entry.leaseCount) holds, not \(holds)")
        if entry.residency.isDecoded {
            try require(slotStamps[range] == stamp, "\(name): other pixels in its slot")
        } else {
            try require(entry.slot == .none, "\(name) has a slot")
        }
        if entry.residency.isCompressed {
            if case .solid(let pixel) = entry.form {
                try require(pixel == UInt64(stamp ?? -1), "\(name): another colour")
            } else {
                try require(stamps(in: entry.form.block) == [stamp ?? -1], "\(name): others' bytes in its block")
            }
        } else {
            try require(entry.form == .none || entry.form.isEncoded, "\(name) has a block")
        }
        if case .encoded(let checksum, let block) = entry.form {
            try require(checksum == UInt64(stamp ?? -1), "\(name): another payload's checksum")
            try require(stamps(in: block) == [stamp ?? -1], "\(name): others' bytes in its payload")
        }
    }

    /// Every entry is on the right list, and the counts are those of the entries.
    private func checkLists() throws {
        var lists: [EntryList: [RecencyList]] = [:]
        for name in EntryList.allCases where name != .free && name != .idle {
            lists[name] = pool.table.lists.groups.map { $0[Int(name.rawValue)] }
        }
        var expected: [EntryList: Set<EntryID>] = [:]
        var counts = TileCounts()
        var misplaced: TileKey?
        pool.table.forEach {
            let entry = pool.table[$0]
            if entry.list != list(of: entry) { misplaced = entry.key }
            expected[entry.list, default: []].insert($0)
            counts.count(entry, slotBytes: pool.slotBytes(ofLayer: entry.key.layer), by: 1)
        }
        try require(
            misplaced == nil,
            "\(String(describing: misplaced?.coordinate)) is on another list than it should be"
        )
        try require(counts == pool.table.counts, "counts are \(pool.table.counts), not \(counts)")
        for (name, lists) in lists {
            var members: Set<EntryID> = []
            for list in lists {
                guard let numbers = list.numbers({ pool.table[$0] }) else {
                    throw Problem(description: "after \(step): the list \(name) is torn")
                }
                members.formUnion(numbers)
                guard name.isEvictable else { continue }
                let stamps = numbers.map { pool.table[$0].stamp }
                let isOrdered = zip(stamps, stamps.dropFirst()).allSatisfy { $0 > $1 }
                try require(isOrdered && stamps.first ?? 0 <= pool.table.lastStamp, "the order of \(name): \(stamps)")
            }
            try require(members == expected[name] ?? [], "the list \(name)")
        }
    }

    /// List on which an entry belongs, by the model.
    private func list(of entry: Entry) -> EntryList {
        let key = entry.key
        let isNeeded = views.contains { $0.entered.contains(key) }
        let isLoading = flights.values.contains { $0.key == key }
        let isGivenUp = entry.flags.contains(.failed) && entry.retryAt == .max
        guard let stamp = content[key] else {
            if pinnedKeys.contains(key) {
                return isLoading || isGivenUp || entry.flags.contains(.absent) ? .idle : .missingPin
            }
            return isNeeded || isLoading || entry.flags.isDisjoint(with: .remembered) ? .idle : .remembered
        }
        if currentWork[key] != nil { return .held }
        if pinnedKeys.contains(key) { return stale.contains(key) && !isLoading && !isGivenUp ? .stalePin : .pinned }
        if isNeeded { return .needed }
        if leases.contains(where: { $0.key == key && $0.stamp == stamp }) { return .held }
        return entry.slot != .none ? .decoded : entry.form.isSolid ? .solid : .compressed
    }

    /// Counts memory by its owners. Compares with the allocators and with the memory that was written.
    private func checkMemory() throws {
        var owned: [MemoryRange: String] = [:]
        func own(_ range: MemoryRange, _ owner: String) throws {
            if let other = owned.updateValue(owner, forKey: range) {
                throw Problem(description: "after \(step): \(range) is \(owner)'s and \(other)'s")
            }
        }
        var units: Set<Int> = []
        func own(_ block: PageAllocator.Block?) throws {
            for unit in self.units(of: block) {
                try require(units.insert(unit).inserted, "unit \(unit) is in two blocks")
            }
        }
        var numbers: [EntryID] = []
        pool.table.forEach { numbers.append($0) }
        for number in numbers {
            let entry = pool.table[number]
            if entry.slot != .none { try own(slot(entry.key.layer, entry.slot), "a tile") }
            try own(entry.form.block)
        }
        for flight in flights.values where flight.ticket.slot != .none {
            let range = slot(flight.ticket.key.layer, flight.ticket.slot)
            try own(range, "a load")
            try require(slotStamps[range] == flight.stamp, "a load's slot was written by another")
            try own(flight.encoded)
            if let block = flight.encoded {
                try require(stamps(in: block) == [flight.stamp], "a load's payload was written by another")
            }
        }
        var orphans: [MemoryRange: Int32] = [:]
        for lease in leases {
            try require(slotStamps[lease.slot] == lease.stamp, "a leased slot was written by another")
            if content[lease.key] != lease.stamp { orphans[lease.slot, default: 0] += 1 }
        }
        for work in works {
            let isCurrent = currentWork[work.ticket.key] == work.id
            let range = slot(work.ticket.key.layer, work.ticket.slot)
            switch work.kind {
            case .demotion:
                try require(slotStamps[range] == work.stamp, "a slot was written while it was compressed")
                if !isCurrent { orphans[range, default: 0] += 1 }
            case .promotion: try own(range, "a decompression")
            case .store, .peek: break
            }
            if work.kind != .demotion, !isCurrent { try own(work.ticket.form.block) }
        }
        try require(pool.orphans.holds == orphans, "orphans \(pool.orphans.holds), not \(orphans)")
        for range in orphans.keys { try own(range, "a lease") }

        var bytes = pool.bookkeepingBytes
        for (index, slots) in pool.slots.enumerated() {
            let used = owned.keys.count { $0.slotClass == index }
            try require(slots.usedCount == used, "\(slots.usedCount) slots of class \(index) in use, not \(used)")
            let real = slotStamps.keys.count { $0.slotClass == index }
            try require(slots.usedCount + slots.unusedCount == real, "\(real) slots of class \(index) have memory")
            bytes += real * slots.slotBytes
        }
        let used = Set(units.map { $0 / 8 }).count
        try require(pool.pages.usedCount == used, "\(pool.pages.usedCount) pages in use, not \(used)")
        try require(
            pool.pages.usedCount + pool.pages.unusedCount == pageStamps.count,
            "\(pageStamps.count) pages have memory"
        )
        bytes += pageStamps.count * pool.pages.pageBytes
        // Memory being decommitted still exists; only its replacement does not count twice.
        bytes += leaving.reduce(0) { $0 + $1.countedBytes }
        bytes += flights.values.reduce(0) { $0 + $1.heldBytes }
        bytes += works.reduce(0) { $0 + ($1.isDecoding ? $1.ticket.form.byteCount : 0) }
        try require(pool.committedBytes == bytes, "the ledger says \(pool.committedBytes), not \(bytes)")
    }
}

extension Entry {
    fileprivate var modelName: String { "\(key.layer):\(key.coordinate) (\(residency))" }
}
