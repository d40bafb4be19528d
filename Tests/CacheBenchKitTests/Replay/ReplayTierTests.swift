import PanTraces
import TestSupport
import Testing

@testable import CacheBenchKit
@testable import TileCache

/// Tiers below memory in replays: rows of the report under both clocks.
@Suite(.timeLimit(.minutes(45))) struct ReplayTierTests {
    private func options(_ change: (inout ReplayOptions) -> Void) -> ReplayOptions {
        var options = ReplayOptions()
        options.duration = 20_000_000_000
        options.memoryLimit = .screens(2)
        change(&options)
        return options
    }

    @Test func aWarmTierServesTheSecondTrace() throws {
        let options = options {
            $0.tiers = [.init(name: "disk", latency: 2_000_000)]
            $0.keepsTiers = true
        }
        let result = try Replay(options).run([
            { try ReplayInput(lively: options) }, { try ReplayInput(lively: options) },
        ])
        let (first, second) = (result.traces[0], result.traces[1])
        let (cold, warm) = (try #require(first.tiers.first), try #require(second.tiers.first))
        #expect(cold.hits + cold.misses == first.loads.started && cold.misses > 0)
        #expect(cold.writes <= cold.misses)
        // The second may prefetch tiles that the first did not load.
        #expect(Double(warm.hits) > 0.8 * Double(second.loads.started))
        let before = try #require(first.firstCompleteFrame)
        #expect(try #require(second.firstCompleteFrame) < before)
        #expect(result.total.tiers.map(\.hits) == [cold.hits + warm.hits])
        // The same without a tier.
        let plain = self.options { _ in }
        let alone = try Replay(plain).run([{ try ReplayInput(lively: plain) }]).total
        #expect(alone.tiers.isEmpty)
        #expect(ReplayText.text(result).contains("disk: "))
        #expect(try ReplayPage.text(result).contains("Tiers below memory"))
    }

    /// A near tier keeps no prefetches of the source or of itself from their turn.
    @Test(arguments: [24, 36, 64]) func storesDoNotCostHits(mebibytes: Int) throws {
        let plain = options { ($0.memoryLimit, $0.duration) = (.bytes(mebibytes << 20), 20_000_000_000) }
        var stored = plain
        stored.tiers = [.init(name: "disk", latency: 2_000_000)]
        stored.keepsTiers = true
        func rates(_ options: ReplayOptions, runs: Int) throws -> [Double] {
            let input = { @Sendable in try ReplayInput(lively: options) }
            let traces = try Replay(options).run([@Sendable () throws -> ReplayInput](repeating: input, count: runs))
                .traces
            return try traces.map { try #require($0.demands.hitRate) }
        }
        let alone = try rates(plain, runs: 1)
        let runs = try rates(stored, runs: 2)
        #expect(runs[0] >= alone[0] - 0.01 && runs[1] >= alone[0] - 0.01, "\(alone) \(runs)")
    }

    @Test func withoutWarmEachTraceBeginsEmpty() throws {
        let options = options { $0.tiers = [.init(name: "disk", latency: 2_000_000, byteLimit: 8 << 20)] }
        let result = try Replay(options).run([
            { try ReplayInput(lively: options) }, { try ReplayInput(lively: options) },
        ])
        #expect(result.traces[0].tiers == result.traces[1].tiers)
        #expect(result.traces[0].configuration["store"] == .text("disk=2ms:8MiB"))
    }

    @Test func tiersAreParsed() {
        let tiers = virtualTiers("disk=2ms:256MiB,shared=5ms")
        #expect(tiers?.map(\.name) == ["disk", "shared"])
        #expect(tiers?.map(\.latency) == [2_000_000, 5_000_000])
        #expect(tiers?.map(\.byteLimit) == [256 << 20, nil])
        for text in ["", "disk", "disk=", "disk=2", "disk=2ms:", "disk=2ms:0", "=2ms", "a=1ms,a=2ms", "disk=2ms,"] {
            #expect(virtualTiers(text) == nil, "\(text)")
        }
        #expect(virtualTiers((0..<9).map { "t\($0)=1ms" }.joined(separator: ",")) == nil)
    }

    @Test func eachClockHasItsOwnTiers() throws {
        let real = options { ($0.clock, $0.tiers) = (.real, [.init(name: "disk", latency: 1)]) }
        #expect(throws: ReplayError.self) { try Replay(real) }
        let warm = options { $0.keepsTiers = true }
        #expect(throws: ReplayError.self) { try Replay(warm) }
    }
}
