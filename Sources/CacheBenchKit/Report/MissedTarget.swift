/// What a search says if it suggests no limit for a target: what each step of the limit brings, and what helps instead.
struct MissedTarget {
    private let report: TuneReport
    private let nearest: TuneReport.Suggestion

    /// `nil` if a limit is suggested, or there is no target.
    init?(_ report: TuneReport) {
        guard let nearest = report.nearest else { return nil }
        self.report = report
        self.nearest = nearest
    }

    private var isBlank: Bool { report.target?.field == "blank" }

    /// `99.0 % hits`, `at most 0.1 % blank`.
    static func wanted(_ report: TuneReport) -> String {
        guard let target = report.target else { return "the target" }
        return target.field == "hitRate" ? "\(percent: target.value) hits" : "at most \(percent: target.value) blank"
    }

    private func reached(_ hitRate: Double?, _ blank: Double?) -> String {
        isBlank ? "\(percent: blank) blank" : "\(percent: hitRate) hits"
    }

    /// Whether limits meet the target that larger ones miss: chance, as far as the rule of the search goes.
    private var isMetByChance: Bool { report.rows.contains { $0.meetsTarget == true && $0.shortfallBytes == 0 } }

    var title: String {
        // Larger limits may not have been tried.
        "No memory limit \(report.interrupted ? "found so far " : "")\(isMetByChance ? "keeps" : "reaches") "
            + Self.wanted(report)
    }

    var reason: String {
        let limit = MemoryLimit.bytes(nearest.byteLimit).shown
        let (wanted, reached) = (Self.wanted(report), reached(nearest.hitRate, nearest.blank))
        return isMetByChance
            ? "\(limit) gives \(reached), but a larger limit misses \(wanted): it may be chance, and none is suggested."
            : "No limit tried reaches \(wanted). \(limit) comes nearest: \(reached)."
    }

    /// Head and rows of the steps.
    var steps: (head: [String], rows: [[String]]) {
        let rows = report.steps.map { step in
            let value = isBlank ? step.blank : step.hitRate
            return [
                Figures.bytes(step.byteLimit), Figures.percentNumber(value),
                step.gain.map { ($0 < 0 ? "" : "+") + Figures.decimal(100 * $0, places: 2) } ?? Figures.none,
            ]
        }
        return (["limit", isBlank ? "blank %" : "hits %", "gain"], rows)
    }

    /// Head and rows of the changes.
    var changes: (head: [String], rows: [[String]]) {
        let rows = report.alternatives.map { one in
            [one.change] + [one.hitRate, one.blank, one.waste].map(Figures.percentNumber)
                + [one.meetsTarget ? "met" : "missed"]
        }
        return (["change", "hits %", "blank %", "waste %", "target"], rows)
    }

    /// What the changes show; `nil` if none was replayed.
    var conclusion: String? {
        let bound = report.alternatives.first(where: \.isBound).map { bound in
            "Better prediction alone \(bound.meetsTarget ? "could reach" : "cannot reach") the target: one that knows the "
                + "future gives \(reached(bound.hitRate, bound.blank))."
        }
        let parts = [report.bestAlternative.map(ofChanges), bound].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    private func ofChanges(_ best: TuneReport.Alternative) -> String {
        let meeting = report.alternatives.filter { $0.meetsTarget && !$0.isBound }.map(\.change)
        if !meeting.isEmpty { return "The target is met with \(meeting.joined(separator: ", or with "))." }
        let isNearer =
            isBlank
            ? (best.blank ?? 0) < (nearest.blank ?? 0) : (best.hitRate ?? 1) > (nearest.hitRate ?? 1)
        return isNearer
            ? "None of these changes alone reaches it. The best is \(best.change): \(reached(best.hitRate, best.blank))."
            : "None of these changes alone brings it nearer."
    }

    /// Lines of the text report, from the answer on.
    func lines(_ style: TextStyle) -> [String] {
        let limit = MemoryLimit.bytes(nearest.byteLimit).shown
        var lines = [
            style.bold("no limit suggested"),
            "nearest limit        \(limit)   \(percent: nearest.hitRate) hits, \(percent: nearest.blank) blank",
        ]
        lines += TuneText.details(nearest, report, style) + wrapped(reason) + [""] + table(steps)
        if let conclusion {
            lines += ["", "\(limit) with one change:"] + table(changes) + wrapped(conclusion)
        }
        return lines + ["", TuneText.command(nearest, report)]
    }

    private func table(_ table: (head: [String], rows: [[String]])) -> [String] {
        columns([table.head] + table.rows, gap: "  ")
    }

    func add(to page: inout Page) {
        page.figures([
            (MemoryLimit.bytes(nearest.byteLimit).shown, "nearest limit"),
            (Figures.percent(nearest.hitRate), "hit rate at it"),
            (Figures.percent(nearest.blank), "blank area at it"),
            (report.knee.map { Figures.bytes($0.byteLimit) } ?? Figures.none, "knee of the curve"),
        ])
        page.command(TuneText.command(nearest, report))
        page.table("What each step of the limit brings", columns: steps.head, cells: cells(steps.rows))
        guard let conclusion else { return }
        page.table(
            "\(MemoryLimit.bytes(nearest.byteLimit).shown) with one change",
            columns: changes.head,
            cells: cells(changes.rows),
            extra: ["waste %"]
        )
        page.sentence(conclusion)
    }

    private func cells(_ rows: [[String]]) -> [[Page.Cell]] { rows.map { $0.map { Page.Cell($0) } } }
}
