import PanTraces
import Testing
import TileCache

@testable import CacheBenchKit

/// Ceilings of prefetches by the starts of loads, and the counts of reports.
@Suite(.timeLimit(.minutes(45))) struct AllowanceCeilingTests {
    private static let minute: Int64 = 60_000_000_000

    /// Replays the built-in session; returns the total and the starts of its prefetches, in nanoseconds.
    private func replay(
        _ allowance: PrefetchAllowance,
        _ change: (inout ReplayOptions) -> Void = { _ in }
    ) throws -> (total: ReplayReport, prefetches: [Int64]) {
        var options = ReplayOptions()
        options.duration = 200_000_000_000
        options.allowance = allowance
        change(&options)
        let shared = options
        let starts = Starts()
        let hooks = ReplayHooks(
            noteFrame: { cache, _ in #expect(eventually { cache.statistics.loads.started > 0 }) },
            noteStart: { isDemand, time in if !isDemand { starts.add(time) } }
        )
        let result = try Replay(options).run([{ try ReplayInput(builtIn: shared) }], hooks: hooks)
        return (result.total, starts.all)
    }

    /// Maximum number of starts within any 60 seconds.
    private func most(_ starts: [Int64]) -> Int {
        var (most, first) = (0, 0)
        for (last, time) in starts.enumerated() {
            while time - starts[first] >= Self.minute { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    @Test func noMinuteHasMoreRequestsThanTheCeiling() throws {
        let free = try replay(.standard)
        #expect(free.prefetches == free.prefetches.sorted() && free.prefetches.count == free.total.prefetch.requests)
        #expect(free.total.prefetch.heldBack == 0 && free.total.prefetch.requests == free.total.prefetch.started)
        #expect(free.total.prefetch.bytes == free.total.prefetch.started << 18)
        #expect(free.total.prefetch.drawnBytes == free.total.prefetch.useful << 18)
        let hits = free.total.demands.decodedHits + free.total.demands.compressedHits
        for ceiling in [0, 1, 40] {
            let capped = try replay(.priced(PrefetchTerms(requestsPerMinute: ceiling)))
            #expect(most(capped.prefetches) <= ceiling && most(free.prefetches) > ceiling)
            #expect(capped.prefetches.count == capped.total.prefetch.requests)
            #expect(ceiling == 0 || capped.prefetches.count > 0)
            #expect(capped.total.prefetch.heldBack > 0)
            #expect(hits >= capped.total.demands.decodedHits + capped.total.demands.compressedHits)
            #expect(free.total.demands.total == capped.total.demands.total)
            let bytes = try replay(.priced(PrefetchTerms(bytesPerMinute: .bytes(ceiling << 18))))
            #expect(bytes.prefetches == capped.prefetches)
        }
    }

    /// Prefetches that a ceiling held back also begin at rest. The policies look at the viewport alone.
    @Test func whatWasHeldBackStartsAtRest() throws {
        let ring = try replay(.priced(PrefetchTerms(requestsPerMinute: 10))) {
            $0.prefetch = .ring
            $0.eviction = .lru
        }
        #expect(most(ring.prefetches) <= 10 && ring.prefetches.count > 10)
    }

    /// A meter counts intervals of 5 s, so that it allows as many again after 65 s: four times within 200 s.
    @Test(arguments: [PrefetchKind.ring, .tilecache]) func aViewAtRestGetsWhatEachMinuteAllows(_ prefetch: PrefetchKind)
        throws
    {
        var options = ReplayOptions()
        options.prefetch = prefetch
        options.eviction = prefetch.usualEviction
        options.allowance = .priced(PrefetchTerms(requestsPerMinute: 2))
        let header = PanTraceHeader(
            viewport: PanTraceHeader.Size(width: 1000, height: 700),
            world: PanTraceHeader.Size(width: 65_536, height: 65_536)
        )
        let samples = ([0, 200_000_000_000] as [Int64]).map {
            PanTraceSample(time: $0, center: WorldPoint(x: 20_000, y: 30_000), scale: 1)
        }
        let input = ReplayInput(
            name: "rest",
            source: ".",
            scene: try PanTraceScene(header, name: "rest"),
            samples: PanSampleList(samples)
        )
        #expect(try Replay(options).run(input).total.prefetch.requests == 8)
    }

    @Test func whatIsNotAllowedAsksNothing() throws {
        let never = try replay(.never)
        #expect(never.total.prefetch == ReplayReport.Prefetch() && never.prefetches.isEmpty)
        let resident = try replay(.resident)
        #expect(resident.total.prefetch.requests == 0 && resident.prefetches.isEmpty)
        let near = try replay(.resident) {
            $0.memoryLimit = .bytes(24 << 20)
            $0.tiers = [VirtualTiers.Tier(name: "disk", latency: 2_000_000)]
        }
        #expect(near.total.prefetch.requests == 0 && near.prefetches.isEmpty && near.total.prefetch.started > 0)
    }

    @Test(arguments: [PrefetchAllowance.never, .resident, .priced(PrefetchTerms(requestsPerMinute: 0))])
    func theRealClockTakesTheAllowanceToo(allowance: PrefetchAllowance) throws {
        let real = try replay(allowance) {
            $0.clock = .real
            $0.speed = 20
            $0.duration = 20_000_000_000
        }
        #expect(real.total.prefetch.started == 0 && real.total.prefetch.requests == 0)
        // The first frame needs tiles, whatever is allowed.
        #expect(real.total.loads.started > 0)
    }
}

/// Times noted by a replay.
private final class Starts: Sendable {
    private let times = Lock<[Int64]>([])

    func add(_ time: Int64) { times.withLock { $0.append(time) } }

    var all: [Int64] { times.withLock { $0 } }
}
