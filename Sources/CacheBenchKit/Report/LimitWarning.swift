/// Warning before any rate if a limit does not hold one screen.
enum LimitWarning {
    private static let shownLines = 6

    /// Text of the warning if one screen exceeds the limit. For example `limit too small: one screen needs 11.8 MiB (45
    /// tiles), 1.8 MiB more than the limit, 10.0 MiB`.
    static func text(_ memory: ReplayReport.Memory) -> String? {
        guard memory.shortfallBytes > 0 else { return nil }
        return "limit too small: one screen needs \(bytes: memory.screenBytes) "
            + "(\(count: memory.screenTiles) tiles), \(bytes: memory.shortfallBytes) more than the "
            + "limit, \(bytes: memory.byteLimit)"
    }

    static func text(_ report: ZoomoutReport) -> String? {
        let checks = report.checks
        guard checks.shortfallBytes > 0 else { return nil }
        return "limit too small: one screen needs \(bytes: checks.screenBytes) and tables, "
            + "\(bytes: checks.shortfallBytes) more than the limit, \(bytes: checks.byteLimit)"
    }

    static func text(_ result: ReplayResult) -> String? {
        guard result.traces.count > 1 else { return result.traces.first.flatMap { text($0.memory) } }
        let short = result.traces.count { $0.memory.shortfallBytes > 0 }
        guard short > 0 else { return nil }
        let memory = result.total.memory
        return "limit too small for \(count: short) of \(count: result.traces.count) traces: one screen "
            + "needs up to \(bytes: memory.screenBytes), up to \(bytes: memory.shortfallBytes) are missing"
    }

    /// A line for each source and budget.
    static func lines(_ report: CompareReport) -> [String] {
        let short = report.totals.filter { $0.shortfallBytes > 0 }
        let lines = short.grouped { [$0.source, $0.budget] }.map { _, policies in
            // Tables added to a limit differ a little between policies.
            let row = policies.max { $0.shortfallBytes < $1.shortfallBytes } ?? policies[0]
            return "limit too small: \(row.budgetTitle) for \(row.source.sourceTitle.printable): one screen needs up "
                + "to \(bytes: row.screenBytes), up to \(bytes: row.shortfallBytes) are missing"
        }
        let rest = lines.count - shownLines
        return lines.prefix(shownLines) + (rest > 0 ? ["and \(rest) more limits that are too small"] : [])
    }

    static func text(_ report: TuneReport) -> String? {
        let short = Set(report.rows.filter { $0.shortfallBytes > 0 }.map(\.byteLimit)).count
        guard short > 0 else { return nil }
        let need = report.rows.map(\.screenBytes).max() ?? 0
        return "one screen needs up to \(bytes: need): \(count: short) "
            + "\(short == 1 ? "limit" : "limits") tried \(short == 1 ? "is" : "are") too small and never suggested"
    }
}
