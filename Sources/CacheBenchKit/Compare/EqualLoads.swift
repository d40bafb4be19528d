/// Finds the effort at which each policy loads as much as another. Source by source and budget by budget.
struct EqualLoads {
    struct Group: Hashable {
        var budget: MemoryLimit
        var policy: PrefetchKind
        var source: String
    }

    struct Match {
        var effort: Double
        /// Loads to reach, and loads reached.
        var target: Int
        var loads: Int

        /// Within 2 per cent, less than the policies' differences.
        var isReached: Bool { abs(loads - target) * 50 <= target }
    }

    /// Bisections of the range of efforts. The last one changes the effort by at most 0.004.
    static let steps = 8

    let compare: Compare
    let runner: CompareRunner

    private struct Search {
        var low = 0.0
        var high = 1.0
        var best: Match
        var steps = 0

        /// Whether further steps would find nothing else.
        var isDone: Bool { best.loads == best.target || steps == EqualLoads.steps }
    }

    /// Finds the efforts of all policies that prefetch, without those whose search was interrupted.
    func choose() throws -> [Group: Match] {
        let usual = compare.options.effort
        let kinds = compare.policies.filter(\.takesEffort)
        var searches: [Group: Search] = [:]
        for budget in compare.budgets {
            for source in runner.sources {
                let loads = kinds.compactMap {
                    started(Group(budget: budget, policy: $0, source: source), effort: usual)
                }
                guard loads.count == kinds.count, let smallest = loads.min() else { continue }
                var target = smallest
                if case .policy(let kind)? = compare.equalLoads, let index = kinds.firstIndex(of: kind) {
                    target = loads[index]
                }
                for (kind, loads) in zip(kinds, loads) {
                    var search = Search(best: Match(effort: usual, target: target, loads: loads))
                    if loads > target { search.high = usual } else { search.low = usual }
                    searches[Group(budget: budget, policy: kind, source: source)] = search
                }
            }
        }
        for _ in 0..<Self.steps {
            let open = searches.filter { !$0.value.isDone }
            try runner.run(open.map { (cell($0.key, effort: middle($0.value)), $0.key.source) })
            for (group, var search) in open {
                let effort = middle(search)
                guard let loads = started(group, effort: effort) else { continue }
                search.steps += 1
                if abs(loads - search.best.target) < abs(search.best.loads - search.best.target) {
                    search.best.effort = effort
                    search.best.loads = loads
                }
                if loads > search.best.target { search.high = effort } else { search.low = effort }
                searches[group] = search
            }
        }
        return searches.filter { $0.value.isDone }.mapValues(\.best)
    }

    private func middle(_ search: Search) -> Double { (search.low + search.high) / 2 }

    private func cell(_ group: Group, effort: Double) -> CompareCell {
        CompareCell(budget: group.budget, policy: group.policy, effort: effort)
    }

    private func started(_ group: Group, effort: Double) -> Int? {
        runner.report(cell(group, effort: effort), trace: nil, source: group.source)?.loads.started
    }
}
