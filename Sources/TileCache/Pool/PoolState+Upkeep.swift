/// What is asked of the pool from outside of the traffic: invalidation, trimming, limits, floors.
extension PoolState {
    /// Marks all tiles of a layer that `affects` as outdated. Loads that began before never land; old pixels go on being
    /// drawn until new ones land, unless `dropsAtOnce`.
    mutating func invalidate(layer: Int, dropsAtOnce: Bool, where affects: (TileCoordinate) -> Bool) {
        layers[layer].generation &+= 1
        drawVersion &+= 1
        // 0 marks an outdated load.
        if layers[layer].generation == 0 { layers[layer].generation = 1 }
        var affected: [Int32] = []
        table.forEach { number in
            let key = table[number].key
            if key.layer == layer, affects(key.coordinate) { affected.append(number) }
        }
        for number in affected {
            let load = table[number].load
            if load >= 0 { loads[Int(load)]?.generation = 0 }
            table[number].flags.subtract([.absent, .failed])
            table[number].attempts = 0
            if table[number].residency.isResident {
                if dropsAtOnce {
                    detachPixels(of: number, cause: .invalidated)
                } else {
                    table[number].flags.insert(.stale)
                }
            }
            forgetIfIdle(number)
        }
    }

    /// Gives up tiles, the coldest first, until no more than `bytes` are in use, and lets unused memory go. Tiles that
    /// are held or pinned stay; needed but unheld ones go last.
    mutating func trim(toBytes bytes: Int, now: Int64) { trim(toBytes: bytes, sparingFloors: true, now: now) }

    private mutating func trim(toBytes bytes: Int, sparingFloors: Bool, now: Int64) {
        // What is on its way to the system already need not be let go again.
        while committedBytes - leavingBytes > bytes {
            if letUnusedGo(committedBytes - leavingBytes - bytes, sparing: -1) { continue }
            let cold = coldest(of: compressed, worth: .infinity, now: now)
            let victim = cold >= 0 ? cold : coldest(of: decoded, worth: .infinity, now: now)
            if victim >= 0 {
                drop(victim, cause: .trimmed)
                continue
            }
            if shedEncoded(committedBytes - leavingBytes - bytes) { continue }
            var other = firstUnheld(pinned: false)
            if other < 0, !sparingFloors { other = firstUnheld(pinned: true) }
            guard other >= 0 else { return }
            drop(other, cause: .trimmed)
        }
    }

    /// Sets the limit. What does not fit yet goes as soon as it is let go; the limit comes before floors.
    mutating func setByteLimit(_ bytes: Int, now: Int64) {
        configuration.byteLimit = bytes
        for index in slots.indices { slots[index].reserve(bytes / slots[index].slotBytes) }
        trim(toBytes: bytes, sparingFloors: false, now: now)
        isOverLimit = committedBytes > bytes
        notePeaks()
    }

    /// Tries again to come under a limit that was lowered while tiles were held.
    mutating func settleLimit(now: Int64) {
        guard isOverLimit else { return }
        trim(toBytes: configuration.byteLimit, sparingFloors: false, now: now)
        isOverLimit = committedBytes > configuration.byteLimit
    }

    /// Pins or unpins a tile; a pinned one is never given up.
    mutating func setFloor(_ isFloor: Bool, for key: TileKey) {
        let number = isFloor ? entry(for: key) : table.find(key)
        guard number >= 0 else { return }
        if isFloor {
            table[number].flags.insert(.floor)
        } else {
            table[number].flags.remove(.floor)
            forgetIfIdle(number)
        }
    }

    /// Forgets what is only remembered of absent and failed tiles that nobody needs.
    mutating func forgetAbsences() {
        var idle: [Int32] = []
        table.forEach { if table[$0].isForgettable { idle.append($0) } }
        for number in idle { table.remove(number) }
    }

    /// A resident tile that nobody holds, the least recently used of the first tier that has one.
    private func firstUnheld(pinned: Bool) -> Int32 {
        for list in [decoded, compressed, solid] {
            var number = list.tail
            while number >= 0 {
                let entry = table[number]
                if entry.leaseCount == 0, entry.flags.contains(.floor) == pinned,
                    entry.residency == .decoded || entry.residency == .compressed
                {
                    return number
                }
                number = entry.previous
            }
        }
        return -1
    }
}
