import PanTraces
package import TileCache

extension ReplayOptions {
    func tileBytes(in scene: PanTraceScene) throws(ReplayError) -> Int {
        guard let bytes = pixelFormat.byteCount(width: scene.tileSize, height: scene.tileSize), bytes <= 1 << 31 else {
            throw ReplayError(
                "a tile of \(scene.tileSize) pixels a side has more than 2 GiB: a smaller --tile-size is expected"
            )
        }
        return bytes
    }

    /// The limit in bytes, and whether tables are added to it.
    func byteLimit(
        in scene: PanTraceScene,
        tileBytes: Int
    ) throws(ReplayError) -> (bytes: Int, grantsBookkeeping: Bool) {
        let slotBytes = VirtualCache.slotBytes(ofTile: tileBytes)
        guard let limit = memoryLimit.resolved(scene: scene, slotBytes: slotBytes), limit.bytes <= 1 << 46 else {
            throw ReplayError("\(limitFlag) \(memoryLimit) is more than 64 TiB")
        }
        try require(
            limit.bytes >= slotBytes,
            "\(limitFlag) \(memoryLimit) holds no tile: one takes \(slotBytes) bytes"
        )
        return limit
    }

    /// Adds a layer to a cache under the virtual clock. An error names the flag of the limit.
    func withRoom(_ addLayer: () throws(TileCacheError) -> Int) throws(ReplayError) -> Int {
        do { return try addLayer() } catch { throw ReplayError("\(limitFlag) \(memoryLimit): \(error)") }
    }

    /// Cache settings under either clock: the library's defaults, changed by the options. Two more differ, since the
    /// reference replay needs them otherwise.
    func cacheConfiguration(_ limit: (bytes: Int, grantsBookkeeping: Bool)) -> TileCache.Configuration {
        var configuration = TileCache.Configuration(byteLimit: .bytes(limit.bytes), workers: workers)
        configuration.usesCompressedTier = compressedTier
        configuration.compressedShare = compressedShare
        configuration.effort = effort
        if let loadLatency { configuration.expectedLoadLatency = .nanoseconds(loadLatency) }
        configuration.usesValues = eviction != .lru
        // A limit in tiles is of tiles alone.
        configuration.grantsBookkeeping = limit.grantsBookkeeping
        // With coarser tiles a smaller limit would have fewer demands: figures of limits could not be compared.
        configuration.fitsLevelToBudget = false
        return configuration
    }

    private func resolveStores(_ values: inout [String: ConfigurationValue]) {
        if !tiers.isEmpty {
            let texts = tiers.map { tier in
                "\(tier.name)=\(Figures.time(Double(tier.latency) / 1e6, unit: "ms"))"
                    + (tier.byteLimit.map { ":\(MemoryLimit.bytes($0))" } ?? "")
            }
            values["store"] = .text(texts.joined(separator: ","))
            values["warm"] = .flag(keepsTiers)
        }
        if let disk { values["disk"] = .text(disk) }
        if let diskLimit { values["diskLimit"] = .integer(diskLimit) }
        if let shared { values["shared"] = .text(shared) }
    }

    /// All options as resolved, for a report.
    func resolvedConfiguration(
        scene: PanTraceScene?,
        byteLimit: Int?,
        source: ReplaySource? = nil,
        recordedWorld: String? = nil
    ) -> [String: ConfigurationValue] {
        var values: [String: ConfigurationValue] = [
            "program": .text(BenchVersion.program), "definitions": .integer(BenchVersion.definitions),
            "memoryLimit": .text(memoryLimit.description),
            "byteLimit": byteLimit.map { .integer($0) } ?? .none,
            "compressedTier": .flag(compressedTier),
            "compressedShare": compressedShare.map { .number($0) } ?? .text("adaptive"),
            "compressionRatio": .number(compressionRatio), "prefetch": .text(prefetch.rawValue),
            "eviction": .text(eviction.rawValue), "pixelFormat": .text(pixelFormat.name),
            "workers": .integer(workers),
            "inFlight": loadsInFlight.map { .text($0.description) } ?? .none,
            "loadLatencyMilliseconds": loadLatency.map { .number(Double($0) / 1e6) } ?? .none,
            "loadTimes": .text(loadTimes.description), "cost": .text(cost.description),
            "clock": .text(clock.rawValue), "speed": .number(speed), "frameRate": .number(frameRate),
            "durationSeconds": duration.map { .number(Double($0) / 1e9) } ?? .none,
            "seed": Int(exactly: seed).map { .integer($0) } ?? .unsigned(seed), "hysteresis": .number(hysteresis),
            "levelBias": .number(levelBias), "effort": .number(effort),
            "without": .text(
                PolicyEffects.named.filter { without.contains($0.effect) }.map(\.name).joined(separator: ",")
            ),
        ]
        values["source"] = source.map { .text($0.address) } ?? ConfigurationValue.none
        values["maximumZoom"] = source?.maximumZoom.map { .integer($0) } ?? ConfigurationValue.none
        if let limit = source?.imageMemoryLimit { values["imageMemoryLimit"] = .integer(limit) }
        values["fit"] = .flag(fitsWorld)
        switch allowance {
        case .never: values["prefetchAllowance"] = .text("never")
        case .resident: values["prefetchAllowance"] = .text("resident")
        case .priced(let terms):
            terms.requestsPerMinute.map { values["requestsPerMinute"] = .integer($0) }
            terms.bytesPerMinute.map { values["bytesPerMinute"] = .integer($0.bytes) }
        }
        switch profile {
        case .file(let path)?: values["profile"] = .text(path)
        case .learned(let profile)?: values["profile"] = .integer(profile.sessions)
        case nil: break
        }
        resolveStores(&values)
        if let textures {
            values["textureSlots"] = .integer(textures.slots)
            values["uploadBudget"] = .integer(textures.uploadBytes)
        }
        values["recordedWorld"] = recordedWorld.map { .text($0) } ?? ConfigurationValue.none
        if let scene {
            values["viewport"] = .text(Figures.size(scene.viewport))
            values["world"] = .text("\(scene.worldWidth)x\(scene.worldHeight)")
            values["wrapsX"] = .flag(scene.wrapsX)
            values["tileSize"] = .integer(scene.tileSize)
        }
        return values
    }
}

/// Versions of a figure.
package enum BenchVersion {
    package static let program = "0.1.0"
    /// Version of the definitions of figures; incremented when one changes.
    package static let definitions = 1
}

extension TilePixelFormat {
    /// Name on the command line; opaque payloads have none.
    package var name: String {
        switch self {
        case .opaque(let bytes): "opaque\(bytes)"
        default: "\(self)"
        }
    }

    package init?(name: String) {
        let known: [TilePixelFormat] = [.rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32]
        guard let format = known.first(where: { $0.name == name }) else { return nil }
        self = format
    }
}

extension ReplayOptions {
    /// The same options for another prefetch policy, with its usual eviction.
    func with(_ policy: PrefetchKind) -> ReplayOptions {
        var options = self
        options.prefetch = policy
        options.eviction = policy.usualEviction
        return options
    }

    var needsFuture: Bool { prefetch == .oracle || eviction == .belady }

    /// Creates a policy of the requested kind. Only the oracle takes the future and the knowledge.
    func policy(
        future: FutureNeeds? = nil,
        knowledge: OraclePolicy.Knowledge? = nil
    ) throws(ReplayError) -> any PrefetchPolicy {
        guard needsFuture else { return try onlinePolicy() }
        guard let future, let knowledge else { throw ReplayError("the oracle needs the virtual clock") }
        return OraclePolicy(
            future: future,
            knowledge: knowledge,
            base: prefetch == .oracle ? nil : try onlinePolicy()
        )
    }

    private func onlinePolicy() throws(ReplayError) -> any PrefetchPolicy {
        switch prefetch {
        case .none: NoPrefetch()
        case .ring: EffortShare(RingPolicy())
        case .velocity: EffortShare(VelocityPolicy())
        case .skewport: EffortShare(SkewportPolicy())
        case .gaussian: EffortShare(GaussianPolicy())
        case .zoom4: EffortShare(Zoom4Policy())
        case .tilecache: AdaptivePolicy(effects: .all.subtracting(without), profile: try profile?.resolved())
        case .oracle: throw ReplayError("the oracle is not an online policy")
        }
    }
}

extension ReplayTally {
    /// Adds the counters at the end of a replay.
    ///
    /// - Parameter layer: Counts of the only layer.
    mutating func take(_ counters: PoolCounters, layer: LayerPrefetchCounts, unseen: Int, unseenPrefetched: Int) {
        loads.started = counters.loads.started
        loads.finished = counters.loads.finished
        loads.absent = counters.loads.absent
        loads.failed = counters.loads.failed
        loads.cancelled = counters.loads.cancelled
        loads.bytes = counters.loads.byteTotal
        loads.unseen = counters.loads.unseen + unseen
        prefetch.started = counters.prefetches.started
        prefetch.useful = counters.prefetches.useful
        prefetch.late = counters.prefetches.late
        prefetch.wasted = counters.prefetches.wasted + unseenPrefetched
        prefetch.cancelled = counters.prefetches.cancelled
        prefetch.requests = layer.requests
        prefetch.bytes = layer.bytes.bytes
        prefetch.drawnBytes = layer.drawnBytes.bytes
        prefetch.heldBack = layer.heldBack
        demotedRawBytes = counters.tiers.demotedRawBytes
        demotedBlockBytes = counters.tiers.demotedBlockBytes
        storedRaw = counters.tiers.incompressible
        memory.peakBytes = counters.peakBytes
        memory.peakDecodedBytes = counters.peakDecodedBytes
        memory.peakCompressedBytes = counters.peakCompressedBytes
        memory.peakInFlightBytes = counters.peakInFlightBytes
        evictions = counters.tiers.removed
    }
}
