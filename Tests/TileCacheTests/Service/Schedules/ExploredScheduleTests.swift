import Foundation
import Testing

@testable import TileCache

/// The whole service under random schedules. Every view gets its tiles and notifications, the limit holds, and all work
/// ends.
@Suite(.timeLimit(.minutes(10))) struct ExploredScheduleTests {
    /// `TILECACHE_SCHEDULES` sets the number of runs, `TILECACHE_SEED` the first seed. Default: a random seed.
    @Test func everyScheduleKeepsThePromises() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TILECACHE_SCHEDULES"].flatMap { UInt64($0) } ?? 150
        let first = environment["TILECACHE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 32)
        var steps = 0
        var failures = 0
        for seed in first..<first + count where failures < 3 {
            let run = try ExploredRun(seed: seed)
            let problems = run.run()
            steps += run.steps
            if problems.isEmpty { continue }
            failures += 1
            Issue.record("TILECACHE_SEED=\(seed): \(problems.prefix(3)); \(run.script.joined(separator: " "))")
        }
        #expect(UInt64(steps) > count, "seed \(first)")
        print("\(count) schedules from seed \(first), \(steps) steps")
    }
}
