import PanTraces

/// Accepted change of a field for the worse.
package struct Tolerance: Sendable, Hashable {
    /// As typed.
    let text: String
    /// The field it is for; `nil` for all.
    let field: String?
    private let share: Double?
    private let amount: String

    /// Parses a tolerance.
    ///
    /// - Parameter text: `1%` or `0.01` of each field's earlier value; `demands.hitRate=0.005`, `memory.peakBytes=1MiB`
    ///   or `loads.bytes=5%` for one field, by its path or its last name, absolute unless it ends with `%`.
    package init(_ text: String) throws(ReplayError) {
        self.text = text
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        let value = parts.last ?? ""
        let percent = QuantityText.number(value, suffix: "%").map { $0 / 100 }
        if parts.count == 1, let share = percent ?? QuantityText.number(value, suffix: "") {
            (field, self.share, amount) = (nil, share, value)
        } else if parts.count == 2, !parts[0].isEmpty, !value.isEmpty {
            (field, share, amount) = (parts[0], percent, value)
            let unit = FieldUnit(of: parts[0])
            guard percent != nil || unit.number(value).map({ $0 >= 0 }) == true else {
                throw ReplayError("--tolerance \(text.printable): \(parts[0].printable) is \(unit.kind)")
            }
        } else {
            throw ReplayError("--tolerance \(text.printable): a share (1%, 0.01) or FIELD=VALUE is expected")
        }
    }

    func isMeant(for path: String) -> Bool {
        guard let field else { return false }
        let general = JSONTree.general(path)
        return general == field || general.hasSuffix("." + field)
    }

    var isGeneral: Bool { field == nil }

    func allows(from old: Double, to new: Double, at path: String) -> Bool {
        let change = abs(new - old)
        if let share { return change <= share * abs(old) }
        return change <= (FieldUnit(of: path).number(amount) ?? 0)
    }
}

/// Compares a report with an earlier one.
package struct Baseline: Sendable {
    private let path: String
    private let report: JSONTree
    private let tolerances: [Tolerance]

    /// Fields that are better if they are larger.
    private static let larger: Set<String> = [
        "hitRate", "panHitRate", "zoomHitRate", "demandHitRate", "drawableHitRate", "sharp", "gapClosed",
        "deficitGapClosed", "ratio",
    ]
    /// Fields that are better if they are smaller.
    private static let smaller: Set<String> = [
        "blank", "fallback", "blankPixelMilliseconds", "fallbackPixelMilliseconds", "framesWithGap", "p50", "p95",
        "p99", "waste", "peakBytes", "bookkeepingBytes", "storeBytes", "peakResidentGrowth",
        "loadedBytes", "failed", "shortfallBytes", "suggested.byteLimit", "nearest.byteLimit", "loads.bytes",
        "neededBytes", "deficit", "firstCompleteFrame", "blankEnds",
    ]
    /// Null without waits, which is not worse; without demands the hit rate is null too.
    private static let waits: Set<String> = ["p50", "p95", "p99"]
    /// Fields that identify a row: only rows with equal ones are compared. A limit in screens or tiles includes tables,
    /// which change with the policy: the budget as given counts.
    private static let identity: Set<String> = ["budget", "workers", "loadLatency", "effort"]

    package struct Outcome: Sendable, Hashable {
        /// A line for each better field, the largest change first.
        package var better: [String] = []
        /// A line for each field that is worse beyond the tolerance, the worst first.
        package var worse: [String] = []
        package var options: [String] = []
        /// Number of fields that are worse within the tolerance.
        package var tolerated = 0
        /// Number of different fields that are neither better nor worse.
        package var changed = 0
        /// Number of fields that are equal, except for the last bits of a number.
        package var equal = 0

        private static let shownLines = 40

        /// Lines for display: the worst first, a summary at the end.
        package var lines: [String] {
            func shown(_ lines: [String]) -> [String] {
                let rest = lines.count - Self.shownLines
                return Array(lines.prefix(Self.shownLines))
                    + (rest > 0 ? ["        and \(rest) more of this kind"] : [])
            }
            let counts = [
                "\(worse.count) worse", tolerated > 0 ? "\(tolerated) worse within the tolerance" : nil,
                "\(better.count) better", changed > 0 ? "\(changed) otherwise changed" : nil, "\(equal) equal",
            ]
            return shown(worse) + shown(better) + shown(options)
                + ["baseline: " + counts.compactMap { $0 }.joined(separator: ", ")]
        }
    }

    /// Reads an earlier report, in which each tolerance must have a field.
    package init(path: String, tolerances: [Tolerance] = []) throws(ReplayError) {
        try self.init(report: JSONTree(reading: path), path: path, tolerances: tolerances)
        let fields = report.leaves.map(\.path)
        for tolerance in tolerances {
            guard let field = tolerance.field, !fields.contains(where: { tolerance.isMeant(for: $0) }) else { continue }
            throw ReplayError(
                "--tolerance \(tolerance.text.printable): \(path) has no field \(field.printable)"
                    + FieldPath.nearNames(field, in: report)
            )
        }
    }

    init(report: JSONTree, path: String, tolerances: [Tolerance]) {
        self.path = path
        self.report = report
        self.tolerances = tolerances
    }

    /// Checks before a long run that the earlier report is of the kind of an empty one.
    package func validate(against empty: JSONTree) throws(ReplayError) {
        try named { () throws(ReplayError) in try ReportPair.requireSameKind(report, empty) }
    }

    private func named<Result>(_ body: () throws(ReplayError) -> Result) throws(ReplayError) -> Result {
        do { return try body() } catch { throw ReplayError("--baseline \(path): \(error.description)") }
    }

    /// Compares a report with the earlier one.
    package func compare(_ now: JSONTree) throws(ReplayError) -> Outcome {
        let pairs = try named { () throws(ReplayError) in try ReportPair.pairs(report, now) }
        var comparison = Comparison()
        for pair in pairs { try compare(pair, &comparison) }
        guard comparison.common > 1 else { throw ReplayError("--baseline \(path): this is a report of another kind") }
        return comparison.sorted
    }

    /// The outcome so far; changes are sorted by their size at the end.
    private struct Comparison {
        var outcome = Outcome()
        var common = 0
        var worse: [(share: Double, line: String)] = []
        var better: [(share: Double, line: String)] = []

        var sorted: Outcome {
            func lines(_ found: [(share: Double, line: String)]) -> [String] {
                found.sorted { ($1.share, $0.line) < ($0.share, $1.line) }.map(\.line)
            }
            var result = outcome
            (result.worse, result.better) = (lines(worse), lines(better))
            return result
        }
    }

    private func compare(_ pair: ReportPair, _ comparison: inout Comparison) throws(ReplayError) {
        let before = Dictionary(pair.old.leaves.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
        for (field, value) in pair.new.leaves {
            guard let old = before[field] else {
                guard pair.isRow, ["budget", "hash"].contains(field) else { continue }
                // Without it, rows of other budgets or traces would be compared.
                throw ReplayError("--baseline \(path): \(pair.name) has no \(field) there: an earlier version wrote it")
            }
            comparison.common += 1
            let name = JSONTree.lastName(field)
            let place = pair.place(of: field)
            switch (old, value) {
            case _ where old == value: comparison.outcome.equal += 1
            case (.number(let from), .number(let to)) where Self.isSameButForLastBits(from, to):
                comparison.outcome.equal += 1
            case _ where field.contains("configuration."):
                let line = "option  \(name): \(old.shown) -> \(value.shown)"
                if !comparison.outcome.options.contains(line) { comparison.outcome.options.append(line) }
            case _ where pair.isRow && Self.identity.contains(field) && !isFound(field, before),
                (.text, .text) where ["hash", "policy", "source", "trace"].contains(name):
                let what = name == "hash" ? "traces" : "reports"
                throw ReplayError(
                    "--baseline \(path): \(place) is \(old.shown) there and \(value.shown) here: "
                        + "these are different \(what)"
                )
            case (.number(let from), .number(let to)): judge(pair, field, from, to, &comparison)
            case (.number(let from), .null)
            where Self.larger.contains(name) || isSmaller(field, name) && !Self.waits.contains(name):
                let line = "worse   \(place): \(FieldUnit(of: field).shown(.number(from))) -> null"
                comparison.worse.append((.infinity, line))
            default: comparison.outcome.changed += 1
            }
        }
    }

    /// Whether two numbers differ only by rounding, of sums in another order or of decimals.
    static func isSameButForLastBits(_ a: Double, _ b: Double) -> Bool {
        abs(a - b) <= max(abs(a), abs(b)) * 0x1p-50
    }

    /// Whether a field was found by the run: the effort, if loads are held equal.
    private func isFound(_ field: String, _ before: [String: JSONTree]) -> Bool {
        guard field == "effort", case .number? = before["targetLoads"] else { return false }
        return true
    }

    private func isSmaller(_ field: String, _ name: String) -> Bool {
        let general = JSONTree.general(field)
        return Self.smaller.contains(name) || Self.smaller.contains { $0.contains(".") && general.hasSuffix($0) }
    }

    private func judge(
        _ pair: ReportPair,
        _ field: String,
        _ from: Double,
        _ to: Double,
        _ comparison: inout Comparison
    ) {
        let name = JSONTree.lastName(field)
        let isLarger = Self.larger.contains(name)
        guard isLarger || isSmaller(field, name) else {
            comparison.outcome.changed += 1
            return
        }
        let unit = FieldUnit(of: field)
        let share = from == 0 ? .infinity : abs(to / from - 1)
        let change = from == 0 ? "" : " (\(to > from ? "+" : "")\(Figures.decimal((to / from - 1) * 100)) %)"
        let text = "\(pair.place(of: field)): \(unit.shown(.number(from))) -> \(unit.shown(.number(to)))\(change)"
        if (to > from) == isLarger {
            comparison.better.append((share, "better  \(text)"))
            return
        }
        let whole = pair.part.isEmpty ? field : "\(pair.part).\(field)"
        let rule = tolerances.last { $0.isMeant(for: whole) } ?? tolerances.last { $0.isGeneral }
        if let rule, rule.allows(from: from, to: to, at: field) {
            comparison.outcome.tolerated += 1
        } else {
            comparison.worse.append((share, "worse   \(text)"))
        }
    }
}
