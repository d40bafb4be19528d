import Foundation
import Testing

@testable import TileCache

/// The whole service under random schedules. Every view gets its tiles and notifications, the limit holds, and all work
/// ends.
@Suite(.timeLimit(.minutes(45))) struct ExploredScheduleTests {
    @Test func everyScheduleKeepsThePromises() throws {
        let seeds = scheduleSeeds(150)
        var steps = 0
        var failures = 0
        for seed in seeds where failures < 3 {
            let run = try ExploredRun(seed: seed)
            let problems = run.run()
            steps += run.steps
            if problems.isEmpty { continue }
            failures += 1
            Issue.record("TILECACHE_SEED=\(seed): \(problems.prefix(3)); \(run.script.joined(separator: " "))")
        }
        #expect(steps > seeds.count, "seeds \(seeds)")
        print("\(seeds.count) schedules from seed \(seeds.lowerBound), \(steps) steps")
    }
}

/// Seeds of random schedules. `TILECACHE_SCHEDULES` sets their number, `TILECACHE_SEED` the first one.
///
/// - Parameter count: Default of the number. The first seed is random by default.
func scheduleSeeds(_ count: UInt64) -> Range<UInt64> {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["TILECACHE_SCHEDULES"].flatMap { UInt64($0) } ?? count
    let first = environment["TILECACHE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
    return first..<first + count
}
