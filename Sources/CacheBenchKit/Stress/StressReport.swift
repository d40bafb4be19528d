import TileCache

/// What a stress run did and found. The names of fields are a contract: they are added to, never renamed.
package struct StressReport: Encodable, Sendable {
    /// Something that must not have happened.
    package struct Violation: Encodable, Sendable {
        package let rule: String
        /// What was seen.
        package let explanation: String
    }

    /// The process's resident memory without files and shared memory, sampled twice a second after the allocator has
    /// given back what is free in its arenas; under a sanitizer the bytes of its heap.
    package struct Resident: Encodable, Sendable {
        package struct Sample: Encodable, Sendable {
            /// Since the start.
            package let seconds: Double
            /// Resident then.
            package let bytes: Int
        }

        /// Medians of the three thirds of the run; `nil` where it was too short.
        package let medians: [Int]?
        /// Whether the median of the last third is no more than that of the middle one and `tolerance`.
        package let isFlat: Bool?
        /// In bytes.
        package let tolerance: Int
        /// Some samples, evenly spread.
        package let samples: [Sample]
    }

    /// What the cache said of itself at the end.
    package struct Cache: Encodable, Sendable {
        let loadsStarted, loadsFinished, loadsAbsent, loadsFailed, loadsCancelled, loadsOutdated: Int
        let secondAnswers, promotions, demotions, incompressible, damagedBlocks: Int
        let encodedPayloads, undecodablePayloads, synthesizedTiles: Int
        let refusedViewports, slowCallbacks: Int
    }

    /// How the run was set up.
    package struct Configuration: Encodable, Sendable {
        let threads, workers: Int
        let seed: UInt64
        let faults, features: [String]
        let byteLimit: Int
        let durationSeconds: Double
    }

    /// The version of this form.
    package let schema = 1
    package let program = BenchVersion.program
    /// `PASS` or `FAIL`.
    package let verdict: String
    /// How the run was set up.
    package let configuration: Configuration
    /// How long threads worked.
    package let seconds: Double
    /// Whether it was ended from outside before its time.
    package let interrupted: Bool
    /// Operations of all threads.
    package let operations: Int
    /// The same by kind.
    package let operationsByKind: [String: Int]
    /// Tiles looked at byte for byte.
    package let tilesChecked: Int
    /// Calls of `onTilesReady`.
    package let callbacks: Int
    /// Injected, by kind.
    package let faults: [String: Int]
    /// How often something was found that must not happen.
    package let violationCount: Int
    /// The first ones.
    package let violations: [Violation]
    /// The highest limit that was set.
    package let byteLimit: Int
    /// The most that was ever used.
    package let peakBytes: Int
    /// How often the ledger was looked at.
    package let ledgerSamples: Int
    /// Of those, the ones above a limit that had just been lowered, which is legal while tiles are held.
    package let ledgerSamplesAboveLoweredLimit: Int
    /// The median resident memory of the last third less that of the middle one, in bytes.
    package let residentGrowth: Int?
    /// Resident memory.
    package let resident: Resident
    package let longestUpdateNanoseconds: Int64
    /// How long `shutdown` took, which was given two seconds.
    package let shutdownNanoseconds: Int64
    /// What the cache said of itself.
    package let cache: Cache
    /// A number for the decisions of each thread: equal for equal seeds and equally many decisions.
    let digests: [UInt64]

    private enum CodingKeys: String, CodingKey {
        case schema, program, verdict, configuration, seconds, interrupted, operations, operationsByKind, tilesChecked
        case callbacks, faults, violationCount, violations, byteLimit, peakBytes
        case ledgerSamples, ledgerSamplesAboveLoweredLimit
        case residentGrowth, resident, longestUpdateNanoseconds, shutdownNanoseconds, cache
    }

    /// Whether nothing was found.
    package var passed: Bool { violationCount == 0 }

    init(
        _ options: StressOptions,
        _ run: StressRun,
        seconds: Double,
        interrupted: Bool = false,
        ledger: StressLedger,
        memory: StressMemory,
        digests: [UInt64],
        shutdownNanoseconds: Int64
    ) {
        let statistics = run.cache.statistics
        // What else the process does, and how its allocator keeps free memory, is not the cache's growth.
        let tolerance = max(options.byteLimit / 10, 8 << 20)
        // Shorter runs have not seen all that they will keep.
        let isFlat = seconds >= 60 ? memory.isFlat(tolerance: tolerance) : nil
        if isFlat == false {
            run.findings.note(.memory, "resident memory grew: medians of thirds \(memory.medians ?? [])")
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
        residentGrowth = memory.growth
        resident = Resident(
            medians: memory.medians,
            isFlat: isFlat,
            tolerance: tolerance,
            samples: memory.spread(40).map { Resident.Sample(seconds: $0.seconds, bytes: $0.bytes) }
        )
        longestUpdateNanoseconds = run.longestCallNanoseconds
        self.shutdownNanoseconds = shutdownNanoseconds
        cache = Cache(
            loadsStarted: statistics.loads.started,
            loadsFinished: statistics.loads.finished,
            loadsAbsent: statistics.loads.absent,
            loadsFailed: statistics.loads.failed,
            loadsCancelled: statistics.loads.cancelled,
            loadsOutdated: statistics.loads.outdated,
            secondAnswers: statistics.loads.secondAnswers,
            promotions: statistics.tiers.promotions,
            demotions: statistics.tiers.demotions,
            incompressible: statistics.tiers.incompressible,
            damagedBlocks: statistics.tiers.damagedBlocks,
            encodedPayloads: statistics.tiers.encodedPayloads,
            undecodablePayloads: statistics.tiers.undecodablePayloads,
            synthesizedTiles: statistics.synthesis.tiles,
            refusedViewports: statistics.refusedViewports,
            slowCallbacks: statistics.slowCallbacks
        )
        if peakBytes > options.byteLimit {
            run.findings.note(
                .ledger,
                "\(peakBytes) bytes were used at a time, no limit was above \(options.byteLimit)"
            )
        }
        violationCount = run.findings.count
        violations = run.findings.first.map { Violation(rule: $0.kind.rawValue, explanation: $0.text) }
        verdict = violationCount == 0 ? "PASS" : "FAIL"
        self.digests = digests
    }

    private static func named<Key: RawRepresentable>(_ counts: [(key: Key, count: Int)]) -> [String: Int]
    where Key.RawValue == String {
        Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.count) })
    }
}
