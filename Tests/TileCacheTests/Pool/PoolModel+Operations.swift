import TestSupport

@testable import TileCache

/// Random operations, each as the service would do it.
extension PoolModel {
    func someKey() -> TileKey { key(random.below(18), level: random.below(2), layer: random.below(pool.layers.count)) }

    func operate() throws {
        switch random.below(1000) {
        case 0..<80: try installPlan()
        case 80..<390: try begin()
        case 390..<580: try endLoad()
        case 580..<620: try reserve()
        case 620..<642: try offerEncoded()
        case 642..<650: try holdEncoded()
        case 650..<830: try endCodecWork()
        case 830..<865: try lease()
        case 865..<903: try release()
        case 903..<943: try look()
        case 943..<950: try invalidate()
        case 950..<956: try changeLimit()
        case 956..<963: try changePin()
        case 963..<985: try touch()
        case 985..<989: try settle()
        case 989..<992: try peek()
        case 992: try hangDecoders()
        case 993..<998: try perform("forgetting absences") { _ = pool.forgetAbsences() }
        default:
            let bytes = pool.ledger.limit / 2 + random.below(pool.ledger.limit / 2)
            try trim(to: bytes, steps: random.oneIn(3) ? .max : random.below(6))
        }
    }

    /// Trims in steps; returns whether more steps would evict more.
    @discardableResult
    private func trim(to bytes: Int, steps: Int) throws -> Bool {
        var goesOn = false
        try perform("trimming to \(bytes) in \(steps) steps", removing: .trimmed) {
            let before = pool.committedBytes - pool.ledger.leavingBytes
            // The last step may free a slot more than necessary, or the whole plan.
            let least =
                min(before, bytes) - pool.configuration.paged(32_768) - pool.configuration.pageBytes
                - pool.ledger[.plan]
            goesOn = try inSteps(steps) { $0.trim(toBytes: bytes, steps: steps) }
            let left = pool.committedBytes - pool.ledger.leavingBytes
            try require(left >= least, "\(left) bytes are left, less than \(least)")
            guard !goesOn else { return }
            let done = pool.counters.tiers.removed
            try require(!pool.trim(toBytes: bytes), "a trim that had ended goes on")
            try require(pool.counters.tiers.removed == done, "a trim had ended too early")
        }
        return goesOn
    }

    /// Runs an operation with a bounded number of steps. These are evictions, dropped records of absent tiles,
    /// decommitted ranges.
    private func inSteps(_ steps: Int, _ body: (inout PoolState) -> Bool) throws -> Bool {
        func spent() -> Int {
            pool.counters.tiers.removed.reduce(0, +) + pool.ledger.pendingDecommits.count
                - pool.table.lists.count(of: .remembered)
        }
        let before = spent()
        let goesOn = body(&pool)
        try require(spent() - before <= steps, "\(spent() - before) steps in the place of \(steps)")
        return goesOn
    }

    private func installPlan() throws {
        var plan = Plan()
        for tile in pinnedKeys.sorted(by: order) where random.oneIn(2) {
            plan.entries.append(PlanEntry(key: tile, reason: .pin))
        }
        for view in views {
            for tile in view.tiles {
                plan.entries.append(PlanEntry(key: tile, reason: .demand, wantsDecoded: !random.oneIn(4)))
            }
        }
        // Compressed tiles are few among these; some are planned, so that they are used again.
        for tile in content.keys.sorted(by: order) where pool.residency(of: tile).isCompressed && random.oneIn(3) {
            plan.entries.append(PlanEntry(key: tile, value: 2, reason: .prefetch, wantsDecoded: true))
        }
        for _ in 0..<random.below(40) {
            plan.entries.append(
                PlanEntry(
                    key: someKey(),
                    value: Float(random.below(8)) / 4,
                    reason: .prefetch,
                    wantsDecoded: random.oneIn(3),
                    visits: UInt8(random.below(4))
                )
            )
        }
        plan.recency.worths = (0..<VisitClass.ages * VisitClass.count).map { _ in Float(random.below(3)) }
        try perform("installing a plan of \(plan.entries.count)") { pool.install(plan) }
    }

    private func lease() throws {
        if random.oneIn(3), let held = leases.randomElement(&random) {
            try perform("holding once more") {
                pool.lease(
                    LeaseToken(
                        entry: held.entry,
                        slot: SlotID(number: held.slot.number),
                        slotClass: held.slot.slotClass
                    )
                )
                leases.append(held)
            }
            return
        }
        var drawable = content.keys.filter { pool.residency(of: $0).isDecoded }.sorted(by: order)
        // Pinned tiles are sometimes held as well.
        if drawable.contains(where: pinnedKeys.contains), random.oneIn(2) {
            drawable = drawable.filter(pinnedKeys.contains)
        }
        guard leases.count < 12, let key = drawable.randomElement(&random), let stamp = content[key] else { return }
        try perform("leasing \(key.layer):\(key.coordinate)") {
            let number = pool.table.find(key)
            pool.lease(number)
            let range = slot(key.layer, pool.table[number].slot)
            leases.append(Lease(key: key, entry: number, slot: range, stamp: stamp))
        }
    }

    private func release() throws {
        guard !leases.isEmpty else { return }
        let lease = leases.remove(at: random.below(leases.count))
        try perform("releasing \(lease.key.layer):\(lease.key.coordinate)") {
            pool.release(
                LeaseToken(entry: lease.entry, slot: SlotID(number: lease.slot.number), slotClass: lease.slot.slotClass)
            )
        }
        // As the service does, sometimes after other operations.
        if pool.isOverLimit, !random.oneIn(4) { try settle() }
    }

    private func look() throws {
        let index = random.below(views.count)
        if random.oneIn(10) {
            try perform("closing view \(index)") { pool.clear(&views[index]) }
            return
        }
        let first = random.below(18)
        let level = random.below(2)
        // The first and the last view show the same layer.
        let tiles = (first..<min(first + random.below(6), 18)).map {
            key($0, level: level, layer: index % pool.layers.count)
        }
        try perform("looking at \(tiles.count) tiles from \(first)") {
            var (pan, zoom) = demands
            let isPan = views[index].level == level
            let hadBegun = views[index].hasBegun
            let known = Set(views[index].entered)
            let missing = flights.values.filter {
                !$0.ticket.isDemand && content[$0.key] == nil
                    && !pool.table[pool.table.find($0.key)].flags.contains(.absent)
            }
            pool.update(&views[index], tiles: tiles, level: level, pan: &pan, zoom: &zoom, now: now)
            let new = Set(views[index].tiles).subtracting(known)
            late.formUnion(missing.filter { new.contains($0.key) }.map(\.stamp))
            if !hadBegun || !isPan { try require(pan == demands.pan, "pan demands") }
            if !hadBegun || isPan { try require(zoom == demands.zoom, "zoom demands") }
            demands = (pan, zoom)
            try require(views[index].hasBegun, "a view that has looked has begun")
        }
    }

    private func invalidate() throws {
        let layer = random.below(pool.layers.count)
        let columns = random.below(9)..<(9 + random.below(9))
        let dropsAtOnce = random.oneIn(2)
        func affects(_ key: TileKey) -> Bool { key.layer == layer && columns.contains(key.coordinate.column) }
        try perform("invalidating \(layer):\(columns)\(dropsAtOnce ? ", dropping at once" : "")") {
            pool.invalidate(layer: layer, dropsAtOnce: dropsAtOnce) { columns.contains($0.column) }
            for (id, flight) in flights where affects(flight.key) { flights[id]?.isOutdated = true }
            absent = absent.filter { !affects($0) }
            for key in content.keys where affects(key) {
                if dropsAtOnce { forget(key) } else { stale.insert(key) }
            }
        }
    }

    /// A limit far below the bytes in use: everything is evicted, pinned tiles too.
    private func lowerLimitFar() throws {
        for _ in 0..<4 { try lease() }
        try perform("setting the limit to a quarter", removing: .unheld) {
            pool.setByteLimit(pool.maximumByteLimit / 4)
        }
        while !leases.isEmpty { try release() }
        try settle()
        try perform("raising the limit again") { pool.setByteLimit(pool.maximumByteLimit) }
    }

    private func changeLimit() throws {
        if random.oneIn(3) { return try lowerLimitFar() }
        if random.oneIn(3) { return try lowerLimitInSteps() }
        let limit = random.oneIn(3) ? pool.maximumByteLimit : pool.maximumByteLimit / 2 + random.below(200_000)
        try perform("setting the limit to \(limit)", removing: .unheld) {
            pool.setByteLimit(min(limit, pool.maximumByteLimit))
            try require(pool.isOverLimit == (pool.committedBytes > pool.ledger.limit), "not noted")
        }
    }

    /// Jobs, look-ups and ends of loads continue between the steps.
    private func lowerLimitInSteps() throws {
        let limit = pool.committedBytes * (2 + random.below(6)) / 8
        let steps = random.below(3)
        try perform("lowering the limit to \(limit) in steps of \(steps)", removing: .unheld) {
            _ = try inSteps(steps) { $0.setByteLimit(limit, steps: steps) }
        }
    }

    /// Only held tiles keep a lowered limit from being reached. Pinned tiles are evicted like others.
    private func settle() throws {
        try perform("settling") {
            pool.settleLimit()
            guard pool.committedBytes - pool.ledger.leavingBytes > pool.ledger.limit else { return }
            let unheld = content.keys.filter {
                let number = pool.table.find($0)
                guard number != .none else { return false }
                let entry = pool.table[number]
                return entry.leaseCount == 0 && (entry.residency == .decoded || entry.residency == .compressed)
            }
            try require(unheld.isEmpty, "\(unheld.count) tiles stay above the limit, although none is held")
        }
    }

    private func changePin() throws {
        let tile = pinnedKeys.count > 4 ? pinnedKeys.sorted(by: order)[0] : someKey()
        let isPin = !pinnedKeys.contains(tile)
        try perform("\(isPin ? "pinning" : "unpinning") \(tile.layer):\(tile.coordinate)") {
            if isPin { _ = pool.enter(tile, for: .pin) } else { pool.letGo(pool.table.find(tile), by: .pin) }
            if !isPin { pinnedKeys.remove(tile) } else if pool.table.find(tile) != .none { pinnedKeys.insert(tile) }
        }
    }

    private func touch() throws {
        guard let key = content.keys.sorted(by: order).randomElement(&random) else { return }
        try perform("drawing \(key.layer):\(key.coordinate)") {
            let number = pool.table.find(key)
            pool.touch(number, now: now)
            try require(pool.table[number].stamp == pool.table.lastStamp, "it is not the most recent")
            for group in pool.table.lists.groups where pool.table[number].list.isEvictable {
                let heads = group.map(\.head)
                let isLatest = heads.allSatisfy { $0 == .none || pool.table[$0].stamp <= pool.table[number].stamp }
                try require(isLatest, "another is before it")
            }
        }
    }

    /// Ends all work, releases everything and checks that nothing is left.
    func windDown() throws {
        while !flights.isEmpty { try endLoad() }
        while !works.isEmpty { try endCodecWork() }
        while !leases.isEmpty { try release() }
        for index in views.indices { try perform("closing view \(index)") { pool.clear(&views[index]) } }
        for tile in pinnedKeys {
            try perform("unpinning") {
                pool.letGo(pool.table.find(tile), by: .pin)
                pinnedKeys.remove(tile)
            }
        }
        while try trim(to: 0, steps: 1 + random.below(6)) {}
        try perform("forgetting absences") { while pool.forgetAbsences() > 0 {} }
        try require(content.isEmpty && pool.table.count == 0, "\(pool.table.count) entries are left")
        try perform("the end of what is leaving") { while !leaving.isEmpty { try letGo(0) } }
        try require(slotStamps.isEmpty && pageStamps.isEmpty, "memory is left")
        try require(pool.committedBytes == pool.bookkeepingBytes, "the ledger is not empty")
        try perform("settling") { pool.settleLimit() }
    }

    func order(_ a: TileKey, _ b: TileKey) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension Collection {
    /// An element that the seed selects.
    func randomElement(_ random: inout SplitMix64) -> Element? {
        isEmpty ? nil : self[index(startIndex, offsetBy: random.below(count))]
    }
}
