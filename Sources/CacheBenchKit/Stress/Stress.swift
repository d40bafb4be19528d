import Foundation
import TileCache

/// Uses one cache from many threads with misbehaving sources, and verifies every drawn tile.
package struct Stress {
    let options: StressOptions

    /// Creates a run from options without a ``StressOptions/problem``.
    package init(_ options: StressOptions) { self.options = options }

    /// Runs until the time is over or `interruption` returns true. `interruption` is called continually, on many
    /// threads.
    package func run(
        interruption: @escaping @Sendable () -> Bool = { false },
        progress: (_ seconds: Double, _ operations: Int, _ findings: Int) -> Void = { _, _, _ in }
    ) throws -> StressReport {
        let run = try StressRun(options: options, interruption: interruption)
        let start = MonotonicTime.now.nanoseconds
        let (watched, digests) = work(run, progress)
        let worked = MonotonicTime.now.nanoseconds - start
        let interrupted = run.isInterrupted
        var ending = StressEnding(run: run)
        ending.check(held: watched.holds)
        return StressReport(
            options,
            run,
            seconds: Double(worked) / 1e9,
            interrupted: interrupted,
            ledger: watched.ledger,
            heap: watched.heap,
            resident: watched.resident,
            digests: digests,
            shutdownNanoseconds: ending.shutdownNanoseconds
        )
    }

    private struct Watched {
        var holds: [StressHolds] = []
        var ledger = StressLedger()
        var heap = StressMemory()
        var resident = StressMemory()
    }

    /// Lets the threads work and samples ledger, heap and resident memory meanwhile.
    private func work(
        _ run: StressRun,
        _ progress: (Double, Int, Int) -> Void
    ) -> (Watched, [UInt64]) {
        let results = Lock<[Int: (holds: StressHolds, digest: UInt64)]>([:])
        let group = DispatchGroup()
        for number in 0..<options.threads {
            DispatchQueue(label: "stress.thread.\(number)").async(group: group) {
                var thread = StressThread(run: run, number: number)
                thread.work()
                let (holds, digest) = (thread.holds, thread.digest)
                results.withLock { $0[number] = (holds, digest) }
            }
        }
        var watched = Watched()
        let start = MonotonicTime.now.nanoseconds
        var lastSlow = start - 1_000_000_000
        var isDone = false
        while !isDone {
            isDone = group.wait(timeout: .now() + .milliseconds(2)) == .success
            run.sampleLedger(&watched.ledger)
            let now = MonotonicTime.now.nanoseconds
            if now - start >= options.duration, options.decisions == nil { run.end() }
            guard now - lastSlow >= 500_000_000 else { continue }
            lastSlow = now
            let seconds = Double(now - start) / 1e9
            watched.heap.add(HeapInUse.bytes(), at: seconds)
            watched.resident.add(ResidentMemory.current(), at: seconds)
            progress(seconds, run.operations.sum, run.findings.count)
        }
        let ended = results.withLock { results in
            (0..<options.threads).compactMap { results[$0] }.map { ($0.holds, $0.digest) }
        }
        watched.holds = ended.map(\.0)
        return (watched, ended.map(\.1))
    }
}
