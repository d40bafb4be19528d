import TileCache

/// Results of a stress run. Fields are added, never renamed.
package struct StressReport: Encodable, Sendable {
    package struct Violation: Encodable, Sendable {
        package let rule: String
        package let explanation: String
    }

    /// Memory of the process, sampled twice a second.
    package struct Memory: Encodable, Sendable {
        /// Medians of the three thirds of the run; `nil` if it was too short.
        @Nullable package var medians: [Int]?
        /// Whether the last third's median is at most the middle one's plus `tolerance`.
        @Nullable package var isFlat: Bool?
        package let tolerance: Int
        let samples: [StressMemory.Sample]

        init(_ memory: StressMemory, seconds: Double, tolerance: Int) {
            medians = memory.medians
            // Shorter runs have not reached their final memory.
            isFlat = seconds >= 60 ? memory.isFlat(tolerance: tolerance) : nil
            self.tolerance = tolerance
            samples = memory.spread(40)
        }
    }

    package struct Configuration: Encodable, Sendable {
        let threads, workers: Int
        let seed: UInt64
        let faults, features: [String]
        let byteLimit: Int
        let durationSeconds: Double
    }

    package let schema = 1
    package let program = BenchVersion.program
    package let verdict: String
    package let configuration: Configuration
    /// Time during which the threads worked.
    package let seconds: Double
    package let interrupted: Bool
    package let operations: Int
    package let operationsByKind: [String: Int]
    /// Tiles verified byte for byte.
    package let tilesChecked: Int
    package let callbacks: Int
    package let faults: [String: Int]
    package let violationCount: Int
    package let violations: [Violation]
    /// Highest limit that was set.
    package let byteLimit: Int
    /// Peak of the memory in use.
    package let peakBytes: Int
    package let ledgerSamples: Int
    /// Samples above a limit that had just been lowered. That is valid while tiles are leased.
    package let ledgerSamplesAboveLoweredLimit: Int
    /// Median resident memory of the last third minus that of the middle one, in bytes.
    @Nullable package var residentGrowth: Int?
    /// Resident memory without files and shared memory. It includes what the allocator keeps after it was freed.
    package let resident: Memory
    /// Bytes allocated and not freed; empty if the allocator gives no figure. The verdict depends on it, otherwise on
    /// `resident`.
    package let heap: Memory
    package let longestUpdateNanoseconds: Int64
    /// Duration of `shutdown`, whose timeout is two seconds.
    package let shutdownNanoseconds: Int64
    /// Statistics of the cache at the end, by name.
    package let cache: [String: Int]
    /// Digest of each thread's decisions: equal for equal seeds and equally many decisions.
    let digests: [UInt64]

    private enum CodingKeys: String, CodingKey {
        case schema, program, verdict, configuration, seconds, interrupted, operations, operationsByKind, tilesChecked
        case callbacks, faults, violationCount, violations, byteLimit, peakBytes
        case ledgerSamples, ledgerSamplesAboveLoweredLimit
        case residentGrowth, resident, heap, longestUpdateNanoseconds, shutdownNanoseconds, cache
    }

    package var passed: Bool { violationCount == 0 }

    init(
        _ options: StressOptions,
        _ run: StressRun,
        seconds: Double,
        interrupted: Bool = false,
        ledger: StressLedger,
        heap: StressMemory,
        resident: StressMemory,
        digests: [UInt64],
        shutdownNanoseconds: Int64
    ) {
        let statistics = run.cache.statistics
        // Other memory of the process is not the cache's growth.
        let tolerance = max(options.byteLimit / 10, 8 << 20)
        self.heap = Memory(heap, seconds: seconds, tolerance: tolerance)
        self.resident = Memory(resident, seconds: seconds, tolerance: tolerance)
        let (name, judged) = heap.samples.isEmpty ? ("resident memory", self.resident) : ("the heap", self.heap)
        if judged.isFlat == false {
            run.findings.note(.memory, "\(name) grew: medians of thirds \(judged.medians ?? []) bytes")
        }
        configuration = Configuration(
            threads: options.threads,
            workers: run.workers,
            seed: options.seed,
            faults: StressFault.allCases.filter { options.faults.contains($0) }.map(\.rawValue),
            features: StressFeature.allCases.filter { options.features.contains($0) }.map(\.rawValue),
            byteLimit: options.byteLimit,
            durationSeconds: Double(options.duration) / 1e9
        )
        self.seconds = seconds
        self.interrupted = interrupted
        operations = run.operations.sum
        operationsByKind = Self.named(run.operations.all)
        tilesChecked = run.checker.tiles
        callbacks = run.callbackCount
        faults = Self.named(run.shared.faultCounts.all.filter { options.faults.contains($0.key) })
        byteLimit = options.byteLimit
        peakBytes = max(ledger.maximum, statistics.memory.peak.bytes)
        ledgerSamples = ledger.samples
        ledgerSamplesAboveLoweredLimit = ledger.samplesAbove
        residentGrowth = resident.growth
        longestUpdateNanoseconds = run.longestCallNanoseconds
        self.shutdownNanoseconds = shutdownNanoseconds
        cache = Self.figures(of: statistics)
        if peakBytes > options.byteLimit {
            let problem = "\(peakBytes) bytes were used at a time, no limit was above \(options.byteLimit)"
            run.findings.note(.ledger, problem)
        }
        violationCount = run.findings.count
        violations = run.findings.first.map { Violation(rule: $0.kind.rawValue, explanation: $0.text) }
        verdict = violationCount == 0 ? "PASS" : "FAIL"
        self.digests = digests
    }

    private static func figures(of statistics: TileCacheStatistics) -> [String: Int] {
        let (loads, tiers) = (statistics.loads, statistics.tiers)
        return [
            "loadsStarted": loads.started, "loadsFinished": loads.finished, "loadsAbsent": loads.absent,
            "loadsFailed": loads.failed, "loadsCancelled": loads.cancelled, "loadsOutdated": loads.outdated,
            "secondAnswers": loads.secondAnswers, "promotions": tiers.promotions, "demotions": tiers.demotions,
            "incompressible": tiers.incompressible, "damagedBlocks": tiers.damagedBlocks,
            "encodedPayloads": tiers.encodedPayloads, "undecodablePayloads": tiers.undecodablePayloads,
            "synthesizedTiles": statistics.synthesis.tiles, "refusedViewports": statistics.refusedViewports,
            "slowCallbacks": statistics.slowCallbacks,
        ]
    }

    private static func named(_ counts: [(key: some RawRepresentable<String>, count: Int)]) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.count) })
    }
}
