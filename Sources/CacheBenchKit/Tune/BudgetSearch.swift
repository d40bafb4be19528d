/// Finds the smallest budget that does, by asking which budgets do: a coarse sweep, then ever finer between the largest
/// that does not and the smallest from which on all tried ones do. Pure: the caller tries budgets and says what came.
///
/// Curves of real caches rise with their budget but for small dips. A budget counts only where every larger one that
/// was tried does too, so that a lucky dip below is never the answer; what lies between two tried budgets is not known.
struct BudgetSearch {
    /// Budgets tried at once between two others: the same on every machine, so that the answer is too.
    private static let pointsPerRound = 3

    private let sweep: [Int]
    private let step: Int
    private let ceiling: Int
    private var tried: [Int: Bool] = [:]

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - sweep: the budgets tried first.
    ///   - step: how finely to search, 1 or more.
    ///   - ceiling: budgets are doubled up to this where none of the sweep does.
    init(sweep: [Int], step: Int, ceiling: Int) {
        self.sweep = Set(sweep.filter { $0 > 0 }).sorted()
        self.step = max(step, 1)
        self.ceiling = ceiling
    }

    /// Says whether a budget does.
    mutating func record(_ budget: Int, does: Bool) { tried[budget] = does }

    /// The budgets to try next; none when the search has ended.
    var next: [Int] {
        let open = sweep.filter { tried[$0] == nil }
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

    /// The smallest budget that does, as do all larger ones that were tried.
    var answer: Int? {
        var answer: Int?
        for budget in tried.keys.sorted(by: >) {
            guard tried[budget] == true else { break }
            answer = budget
        }
        return answer
    }

    /// The largest budget tried that is smaller than another.
    func largestBelow(_ budget: Int) -> Int? { tried.keys.filter { $0 < budget }.max() }
}
