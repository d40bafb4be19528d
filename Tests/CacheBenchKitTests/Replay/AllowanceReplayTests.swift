import Testing
import TileCache

@testable import CacheBenchKit

/// Allowances of prefetches under the virtual clock.
@Suite struct AllowanceReplayTests {
    private func replay(
        _ allowance: PrefetchAllowance,
        tiers: [VirtualTiers.Tier] = [],
        seconds: Double = 150
    ) throws -> ReplayReport {
        var options = ReplayOptions()
        options.memoryLimit = .screens(4)
        options.allowance = allowance
        options.tiers = tiers
        let samples = GeneratedSession(.slide, width: 1000, height: 700, seconds: seconds, seed: 3)
        return try Replay(options).run([{ try samples.input(name: "slide", tileSize: 256) }]).total
    }

    /// 150 seconds are within three minutes.
    @Test func ceilingsHoldAndCostHits() throws {
        let free = try replay(.standard)
        let capped = try replay(.priced(PrefetchTerms(requestsPerMinute: 20)))
        #expect(capped.prefetch.started > 20 && capped.prefetch.started <= 60)
        #expect(free.prefetch.started > 200)
        #expect(try #require(free.demands.hitRate) > (try #require(capped.demands.hitRate)))
        let bytes = try replay(.priced(PrefetchTerms(bytesPerMinute: .bytes(20 * 256 * 256 * 4))))
        #expect(bytes.prefetch.started == capped.prefetch.started)
    }

    @Test func whatIsNotAllowedIsNotPrefetched() throws {
        let never = try replay(.never)
        #expect(never.prefetch.started == 0 && (never.demands.hitRate ?? 0) > 0)
        // Without a tier nothing is resident elsewhere; in one are the tiles that were evicted.
        let resident = try replay(.resident)
        #expect(resident.prefetch.started == 0)
        let near = try replay(.resident, tiers: [VirtualTiers.Tier(name: "disk", latency: 2_000_000)])
        #expect(near.prefetch.started > 0)
    }

    @Test func aPriceIsAnEffort() throws {
        let price = try replay(.priced(PrefetchTerms(price: 0.375)), seconds: 40)
        let effort = try replay(.priced(PrefetchTerms(effort: 0.25)), seconds: 40)
        let free = try replay(.standard, seconds: 40)
        #expect(price.prefetch.started == effort.prefetch.started && price.prefetch.started > 0)
        #expect(price.prefetch.started < free.prefetch.started)
    }

    @Test func reportsNameTheFlags() {
        var options = ReplayOptions()
        func flags() -> String { ReplayFlags.pasted(options, byteLimit: 1 << 20) }
        #expect(flags() == "--memory-limit 1MiB")
        options.allowance = .resident
        #expect(flags() == "--memory-limit 1MiB --prefetch-allowance resident")
        let terms = PrefetchTerms(requestsPerMinute: 120, bytesPerMinute: .mebibytes(1))
        options.allowance = .priced(terms)
        #expect(flags() == "--memory-limit 1MiB --requests-per-minute 120 --bytes-per-minute 1048576")
        // `replay` refuses what has no effect on its policy; `tune` may have it for a policy beside its own.
        (options.prefetch, options.eviction, options.effort) = (.oracle, .belady, 0.3)
        #expect(
            flags() == "--memory-limit 1MiB --prefetch oracle --eviction belady --requests-per-minute 120 "
                + "--bytes-per-minute 1048576"
        )
        (options.prefetch, options.eviction) = (.none, .lru)
        #expect(flags() == "--memory-limit 1MiB --prefetch none --eviction lru")
        options.allowance = .resident
        #expect(flags() == "--memory-limit 1MiB --prefetch none --eviction lru")
    }
}
