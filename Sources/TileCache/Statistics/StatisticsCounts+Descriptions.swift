/// Counts read as one line: their number, then each outcome that has occurred.
extension TileCacheStatistics.DemandCounts: CustomStringConvertible {
    /// As "40 demands (hit rate 87.5 %): 30 decoded, 5 compressed, 3 late, 2 missed".
    public var description: String {
        let rate = hitRate.map { " (hit rate \(Wording.percent($0)))" } ?? ""
        return Wording.counts(
            Wording.some(total, "demand") + rate,
            [(decodedHits, "decoded"), (compressedHits, "compressed"), (late, "late"), (missed, "missed")]
        )
    }
}

extension TileCacheStatistics.LoadCounts: CustomStringConvertible {
    /// As "12 loads: 10 finished (2.5 MiB), 1 absent, 1 failed, 9 drawn".
    public var description: String {
        Wording.counts(
            Wording.some(started, "load"),
            [
                (finished, "finished (\(bytes))"), (absent, "absent"), (failed, "failed"), (postponed, "put off"),
                (cancelled, "cancelled"), (outdated, "outdated"), (refused, "refused memory"), (retried, "retried"),
                (drawn, "drawn"), (unseen, "never to be drawn"), (secondAnswers, "answered twice"),
            ]
        )
    }
}

extension TileCacheStatistics.RevalidationCounts: CustomStringConvertible {
    /// As "3 revalidations: 2 unchanged, 1 changed".
    public var description: String {
        Wording.counts(
            Wording.some(started, "revalidation"),
            [(unchanged, "unchanged"), (changed, "changed"), (unanswered, "unanswered")]
        )
    }
}

extension TileCacheStatistics.PrefetchCounts: CustomStringConvertible {
    /// As "9 prefetches: 5 useful, 1 late, 3 wasted".
    public var description: String {
        Wording.counts(
            started == 0 ? "no prefetches" : started == 1 ? "1 prefetch" : "\(started) prefetches",
            [
                (useful, "useful"), (late, "late"), (wasted, "wasted"), (cancelled, "cancelled"),
                (empty, "without pixels"),
            ]
        )
    }
}

extension TileCacheStatistics.TierCounts: CustomStringConvertible {
    /// As "20 tiles compressed (to 41.7 %), 5 decompressed; removed: 12 to make room".
    public var description: String {
        let ratio = compressionRatio.map { " (to \(Wording.percent(1 / $0)))" } ?? ""
        let parts = [
            (incompressible, "incompressible"), (promotions, "decompressed"), (damagedBlocks, "damaged"),
            (encodedPayloads, "kept as encoded"), (undecodablePayloads, "undecodable"),
        ]
        let list = parts.filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
        let causes = TileCacheStatistics.RemovalCause.allCases.compactMap { cause -> String? in
            let count = removals[cause, default: 0]
            return count == 0 ? nil : "\(count) \(cause)"
        }
        return Wording.some(demotions, "tile") + " compressed" + ratio + list
            + (causes.isEmpty ? "" : "; removed: " + causes.joined(separator: ", "))
    }
}

extension TileCacheStatistics.RemovalCause: CustomStringConvertible {
    /// As "to make room".
    public var description: String {
        switch self {
        case .capacity: "to make room"
        case .incompressible: "incompressible"
        case .replaced: "replaced"
        case .invalidated: "invalidated"
        case .trimmed: "trimmed"
        case .damaged: "damaged"
        }
    }
}

extension TileCacheStatistics.SynthesisCounts: CustomStringConvertible {
    /// As "4 synthesized tiles: 12 loaded for them, 1 missing for good".
    public var description: String {
        Wording.counts(
            Wording.some(tiles, "synthesized tile"),
            [(loads, "loaded for them"), (holes, "missing for good")]
        )
    }
}

extension TileCacheStatistics.StoreCounts: CustomStringConvertible {
    /// As "12 look-ups: 10 hits (1 stale), 2 misses in 1.2 ms each; 4 written".
    public var description: String {
        let lookUps = hits + misses
        let stale = staleHits == 0 ? "" : " (\(staleHits) stale)"
        let wait = meanWait.map { " in \(Wording.time($0)) each" } ?? ""
        let outcomes = lookUps == 0 ? "" : ": \(hits) hits\(stale), \(misses) misses"
        let found = Wording.some(lookUps, "look-up") + outcomes
        let parts = [
            (writes, "written"), (dropped, "dropped"), (refused, "refused"), (absences, "known to be absent"),
            (skipped, "skipped"),
        ]
        return found + wait + parts.filter { $0.0 > 0 }.map { "; \($0.0) \($0.1)" }.joined()
    }
}

extension TileCacheStatistics.DurationSummary: CustomStringConvertible {
    /// As "12: p50 1.5 ms, p95 20 ms, p99 31 ms, maximum 40 ms".
    public var description: String {
        guard count > 0 else { return "none" }
        let parts = [("p50", p50), ("p95", p95), ("p99", p99), ("maximum", maximum as Duration?)]
        return "\(count): "
            + parts.compactMap { name, time in time.map { "\(name) \(Wording.time($0))" } }.joined(separator: ", ")
    }
}

extension TileCacheStatistics.MemoryUse: CustomStringConvertible {
    /// As "12.0 MiB of 64.0 MiB (peak 20.0 MiB): 10.0 MiB in 40 decoded tiles, 1.0 MiB in 9 compressed tiles, 1.0 MiB of
    /// tables".
    public var description: String {
        var parts = [
            "\(decoded) in \(Wording.some(decodedTiles, "decoded tile"))",
            "\(compressed) in \(Wording.some(compressedTiles, "compressed tile"))",
            "\(bookkeeping) of tables",
        ]
        if inFlight.bytes > 0 { parts.append("\(inFlight) in flight") }
        if stores.bytes > 0 { parts.append("\(stores) of stores") }
        if pinnedTiles > 0 { parts.append("\(pinned) in \(Wording.some(pinnedTiles, "pinned tile"))") }
        if shortfall.bytes > 0 { parts.append("one screen needs \(shortfall)") }
        return "\(used) of \(limit) (peak \(peak)): " + parts.joined(separator: ", ")
    }
}

extension LayerPrefetchCounts: CustomStringConvertible {
    /// As "9 prefetches (2.2 MiB): 8 requested, 5 drawn (1.2 MiB), 1 late".
    public var description: String {
        Wording.counts(
            started == 0 ? "no prefetches" : "\(started) prefetch\(started == 1 ? "" : "es") (\(bytes))",
            [(requests, "requested"), (drawn, "drawn (\(drawnBytes))"), (late, "late"), (heldBack, "held back")]
        )
    }
}

extension TileLayerStatistics: CustomStringConvertible {
    /// One line for a log.
    public var description: String {
        "\(demands); \(loads); \(prefetches); \(decoded) decoded, \(compressed) compressed"
    }
}
