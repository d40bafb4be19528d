/// Finds the smallest budget that meets a target: a coarse sweep, then ever finer steps.
///
/// It refines between the largest budget that misses and the smallest from which on all tried ones meet it. Pure: the
/// caller tries budgets and records the results.
///
/// Curves of real caches rise with their budget except for small dips. A budget counts only if every larger tried one
/// meets the target too, so that luck is never the answer; budgets between two tried ones are not known.
struct BudgetSearch {
    /// Number of budgets tried at once between two others. Constant, so that the answer does not depend on the machine.
    private static let pointsPerRound = 3

    /// Budgets tried first, each once, the smallest first.
    let sweep: [Int]
    private let step: Int
    private let ceiling: Int
    private var tried: [Int: Bool] = [:]

    /// - Parameters:
    ///   - sweep: Budgets tried first.
    ///   - step: Resolution of the search, 1 or more.
    ///   - ceiling: Bound for doubling if no budget of the sweep meets the target.
    init(sweep: [Int], step: Int, ceiling: Int) {
        self.sweep = Set(sweep.filter { $0 > 0 }).sorted()
        self.step = max(step, 1)
        self.ceiling = ceiling
    }

    mutating func record(_ budget: Int, does: Bool) { tried[budget] = does }

    /// Budgets to try next, those first whose results say most; empty when the search has ended.
    var next: [Int] {
        let open = sweep.filter { tried[$0] == nil }.fromTheMiddle
        guard open.isEmpty, let largest = tried.keys.max() else { return open }
        guard let answer else {
            let (twice, overflow) = largest.multipliedReportingOverflow(by: 2)
            return overflow || largest >= ceiling ? [] : [min(twice, max(ceiling, largest + 1))]
        }
        let below = largestBelow(answer) ?? 0
        guard answer - below > step else { return [] }
        let parts = Self.pointsPerRound + 1
        let points = (1..<parts).map { part in
            below + max(((answer - below) / step * part + parts / 2) / parts, 1) * step
        }
        return Set(points.filter { $0 > below && $0 < answer }).sorted()
    }

    /// Smallest budget that meets the target, as do all larger tried ones.
    var answer: Int? {
        var answer: Int?
        for budget in tried.keys.sorted(by: >) {
            guard tried[budget] == true else { break }
            answer = budget
        }
        return answer
    }

    func largestBelow(_ budget: Int) -> Int? { tried.keys.filter { $0 < budget }.max() }
}

extension [Int] {
    /// The elements by their distance from the middle: a search that is stopped soon has limits that may do, not only
    /// those that hold no screen.
    fileprivate var fromTheMiddle: [Int] {
        let middle = count / 2
        return indices.sorted { abs(4 * ($0 - middle) - 1) < abs(4 * ($1 - middle) - 1) }.map { self[$0] }
    }
}
