import TileCache
import TileTextures

/// Schedules the loads that can be in time for their demands.
///
/// Loads are taken in the order of their deadlines, each at the earliest time at which a worker is free: if any order
/// makes all of them, this one does. If one would be late, one is left out, since otherwise the rest is late. With
/// equal durations the choice does not change how many are in time; the load left out is the one demanded again last,
/// because a tile that is soon demanded again needs its load anyway.
struct OracleSchedule {
    /// A load that would make a demand a hit.
    struct Job: Sendable {
        /// The need that begins with the demand.
        var need: Int
        /// Time by which the load must have ended, in nanoseconds.
        var deadline: Int64
        var duration: Int64
        /// Time of the next demand of the tile after that; `Int64.max` for never.
        var again: Int64
        var stay: Int64
    }

    private struct Accepted {
        var job: Job
        var isDropped = false
        var finish: Int64
    }

    private let workers: [Int64]
    private let isUniform: Bool
    private let duration: Int64
    private var accepted: [Accepted] = []
    /// Indices of `accepted`; the first to be left out on top. Dropped ones are removed when they are met.
    private var heap: [Int] = []
    /// Times at which the workers are free after the accepted jobs, the earliest first. Maintained if durations differ.
    private var busy: [Int64]
    /// Number of accepted jobs that were not dropped.
    private(set) var count = 0

    /// - Parameters:
    ///   - workers: Times at which the workers are free, in any order; at least one.
    ///   - duration: Duration of every load, or the mean.
    init(workers: [Int64], duration: Int64, isUniform: Bool) {
        self.workers = workers.sorted()
        self.duration = max(duration, 0)
        self.isUniform = isUniform
        busy = self.workers
    }

    /// Adds a job whose deadline no earlier one's exceeds. Returns the job left out, if any.
    mutating func add(_ job: Job) -> Job? {
        let start = isUniform ? slot(count) : busy[0]
        let finish = Self.sum(start, job.duration)
        if finish <= job.deadline {
            accept(job, finish: finish)
            return nil
        }
        guard let top = heap.first, isWorse(accepted[top].job, than: job) else { return job }
        return isUniform ? replace(top, by: job) : replaceTimed(top, by: job)
    }

    /// Start of a load with this many before it.
    func slot(_ number: Int) -> Int64 {
        // Workers take turns, since none is busy for longer than one load; an estimate if durations differ.
        let round = Int64(number / workers.count)
        let (span, overflow) = round.multipliedReportingOverflow(by: duration)
        if overflow { return .max }
        return Self.sum(workers[number % workers.count], span)
    }

    /// Adds a span to a time, neither below 0. Saturates at 292 years, which is in time for nothing.
    private static func sum(_ moment: Int64, _ span: Int64) -> Int64 {
        let (sum, overflow) = moment.addingReportingOverflow(span)
        return overflow ? .max : sum
    }

    /// Accepted jobs in the order of their deadlines, with their ends.
    var jobs: [(job: Job, finish: Int64)] {
        var number = 0
        return accepted.compactMap { entry in
            guard !entry.isDropped else { return nil }
            defer { number += 1 }
            return (entry.job, isUniform ? Self.sum(slot(number), entry.job.duration) : entry.finish)
        }
    }

    /// Number of loads that may precede each job without making a later one late. The last number is for after the last
    /// job.
    func shifts(upTo maximum: Int) -> [Int] {
        let jobs = jobs
        var shifts = [Int](repeating: maximum, count: jobs.count + 1)
        for number in stride(from: jobs.count - 1, through: 0, by: -1) {
            shifts[number] = (0..<shifts[number + 1]).partitioningIndex {
                !isInTime(jobs[number], number: number, after: $0 + 1)
            }
        }
        return shifts
    }

    private func isInTime(_ job: (job: Job, finish: Int64), number: Int, after others: Int) -> Bool {
        if isUniform {
            let start = slot(number + others)
            return start <= job.job.deadline - job.job.duration
        }
        // Each round of other loads delays the rest by about one load.
        let rounds = Int64((others + workers.count - 1) / workers.count)
        let (delay, overflow) = rounds.multipliedReportingOverflow(by: duration)
        return !overflow && Self.sum(job.finish, delay) <= job.job.deadline
    }

    private mutating func accept(_ job: Job, finish: Int64) {
        accepted.append(Accepted(job: job, finish: finish))
        heap.insertInHeap(accepted.count - 1, by: order)
        count += 1
        if !isUniform { occupy(until: finish) }
    }

    /// Every job after the one left out starts one slot earlier. The slots stay the same.
    private mutating func replace(_ number: Int, by job: Job) -> Job {
        accepted[number].isDropped = true
        _ = heap.removeFirstOfHeap(by: order)
        count -= 1
        accept(job, finish: 0)
        return accepted[number].job
    }

    /// Without a long load several short ones may be in time. This is tried out, since workers that take turns do not
    /// sum simply.
    private mutating func replaceTimed(_ number: Int, by job: Job) -> Job {
        guard accepted[number].job.duration > job.duration else { return job }
        var trial = OracleSchedule(workers: workers, duration: duration, isUniform: false)
        for (index, entry) in accepted.enumerated() where !entry.isDropped && index != number {
            if trial.add(entry.job) != nil { return job }
        }
        guard trial.add(job) == nil else { return job }
        let left = accepted[number].job
        self = trial
        return left
    }

    private mutating func occupy(until finish: Int64) {
        busy.removeFirst()
        let place = busy.firstIndex { $0 > finish } ?? busy.count
        busy.insert(finish, at: place)
    }

    // MARK: - What is left out first

    private func isWorse(_ a: Job, than b: Job) -> Bool {
        if a.duration != b.duration { return a.duration > b.duration }
        if a.again != b.again { return a.again > b.again }
        return a.stay < b.stay
    }

    private func order(_ a: Int, _ b: Int) -> Bool { isWorse(accepted[a].job, than: accepted[b].job) }
}
