import PanTraces

/// Compares a report with an earlier one.
package struct Baseline: Sendable {
    private let path: String
    private let report: JSONTree
    /// Accepted change of a field for the worse, as a part of its earlier value.
    private let tolerance: Double

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

    /// Reads an earlier report.
    package init(path: String, tolerance: Double) throws(ReplayError) {
        self.init(report: try JSONTree(reading: path), path: path, tolerance: tolerance)
    }

    init(report: JSONTree, path: String, tolerance: Double = 0) {
        self.path = path
        self.report = report
        self.tolerance = tolerance
    }

    /// Throws unless both are reports of replays, of comparisons, of searches, or of something else. Before a long run
    /// the other one is empty.
    package func validate(against other: JSONTree) throws(ReplayError) {
        let isDifferent = ["total", "totals", "stepBytes"].contains { (report[$0] == nil) != (other[$0] == nil) }
        guard !isDifferent else { throw ReplayError("--baseline \(path): this is a report of another kind") }
    }

    /// Compares a report with the earlier one.
    package func compare(_ now: JSONTree) throws(ReplayError) -> Outcome {
        try validate(against: now)
        let parts = ReportPart.parts(of: now)
        let earlier = ReportPart.parts(of: report).map { ($0.key, $0) }
        var before = Dictionary(earlier, uniquingKeysWith: { first, _ in first })
        var comparison = Comparison()
        var unknown: [String] = []
        for part in parts {
            if let old = before.removeValue(forKey: part.key) {
                compare(old.fields, part, &comparison)
            } else if !part.isSum {
                unknown.append(part.name)
            }
        }
        let missing = before.values.filter { !$0.isSum }.map(\.name).sorted()
        guard unknown.isEmpty, missing.isEmpty else {
            func some(_ names: [String]) -> String {
                names.isEmpty
                    ? "nothing else" : names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", ..." : "")
            }
            let problem = "it has \(some(missing)), this report has \(some(unknown))"
            throw ReplayError("--baseline \(path): these are different traces or settings: \(problem)")
        }
        return comparison.sorted
    }

    /// The outcome so far; changes are sorted by their size at the end.
    private struct Comparison {
        var outcome = Outcome()
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

    private func compare(_ old: JSONTree, _ part: ReportPart, _ comparison: inout Comparison) {
        let before = Dictionary(old.leaves.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
        for (field, value) in part.fields.leaves {
            guard let old = before[field] else { continue }
            let name = JSONTree.lastName(field)
            switch (old, value) {
            case _ where old == value: comparison.outcome.equal += 1
            case (.number(let from), .number(let to)) where Self.isSameButForLastBits(from, to):
                comparison.outcome.equal += 1
            case _ where field.contains("configuration."):
                let line = "option  \(name): \(old.shown) -> \(value.shown)"
                if !comparison.outcome.options.contains(line) { comparison.outcome.options.append(line) }
            case (.number(let from), .number(let to)): judge(part.place(of: field), field, from, to, &comparison)
            case (.number(let from), .null)
            where Self.larger.contains(name) || isSmaller(field, name) && !Self.waits.contains(name):
                let line = "worse   \(part.place(of: field)): \(FieldUnit(of: field).shown(.number(from))) -> null"
                comparison.worse.append((.infinity, line))
            default: comparison.outcome.changed += 1
            }
        }
    }

    /// Whether two numbers differ only by rounding, of sums in another order or of decimals.
    static func isSameButForLastBits(_ a: Double, _ b: Double) -> Bool {
        abs(a - b) <= max(abs(a), abs(b)) * 0x1p-50
    }

    private func isSmaller(_ field: String, _ name: String) -> Bool {
        let general = JSONTree.general(field)
        return Self.smaller.contains(name) || Self.smaller.contains { $0.contains(".") && general.hasSuffix($0) }
    }

    private func judge(
        _ place: String,
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
        let text = "\(place): \(unit.shown(.number(from))) -> \(unit.shown(.number(to)))\(change)"
        if (to > from) == isLarger {
            comparison.better.append((share, "better  \(text)"))
            return
        }
        // Not the quotient, whose rounding may exceed the tolerance.
        if abs(to - from) <= tolerance * abs(from) {
            comparison.outcome.tolerated += 1
        } else {
            comparison.worse.append((share, "worse   \(text)"))
        }
    }
}
