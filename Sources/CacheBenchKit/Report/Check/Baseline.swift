/// How much worse a field may be than before.
public struct Tolerance: Sendable, Hashable {
    private let field: String?
    private let share: Double?
    private let amount: String

    /// Reads a tolerance.
    ///
    /// - Parameter text: `1%` or `0.01` of what each field was; `demands.hitRate=0.005`, `memory.peakBytes=1MiB` or
    ///   `loads.bytes=5%` for one field, by its path or its last name, absolute unless it ends with `%`.
    /// - Throws: ``CheckError``.
    public init(_ text: String) throws(CheckError) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        let value = parts.last ?? ""
        let percent = Quantity.number(value, suffix: "%").map { $0 / 100 }
        if parts.count == 1, let share = percent ?? Quantity.number(value, suffix: "") {
            (field, self.share, amount) = (nil, share, value)
        } else if parts.count == 2, !parts[0].isEmpty, !value.isEmpty {
            (field, share, amount) = (parts[0], percent, value)
            guard percent != nil || FieldUnit(of: parts[0]).number(value).map({ $0 >= 0 }) == true else {
                throw CheckError(
                    "--tolerance \(text.printable): \(parts[0].printable) is \(FieldUnit(of: parts[0]).kind)"
                )
            }
        } else {
            throw CheckError("--tolerance \(text.printable): a share (1%, 0.01) or FIELD=VALUE is expected")
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

/// What has become better or worse since an earlier report.
public struct Baseline: Sendable {
    private let path: String
    private let report: JSONTree
    private let tolerances: [Tolerance]

    /// Names of fields that are better when they are larger.
    private static let larger: Set<String> = [
        "hitRate", "panHitRate", "zoomHitRate", "demandHitRate", "sharp", "gapClosed", "ratio",
    ]
    /// Names of fields that are better when they are smaller.
    private static let smaller: Set<String> = [
        "blank", "fallback", "blankPixelMilliseconds", "fallbackPixelMilliseconds", "framesWithGap", "p50", "p95",
        "p99", "waste", "peakBytes", "bookkeepingBytes", "peakResidentGrowth", "loadedBytes", "failed",
        "suggested.byteLimit", "loads.bytes", "neededBytes",
    ]
    /// Null where nothing had to be waited for, which is not worse; where nothing was demanded, the hit rate is null too.
    private static let waits: Set<String> = ["p50", "p95", "p99"]
    /// Parts of reports whose rows depend on the search and are no figures by themselves.
    private static let ignored = ["rows[", "policies[", "lruCurve["]

    /// Lists whose rows stand for what was replayed with which budget: only rows of the same can be compared.
    private static let lists = ["rows[", "totals[", "chargedRows[", "chargedTotals["]
    private static let identity: Set<String> = ["byteLimit", "screens", "workers", "loadLatency", "effort", "factor"]

    /// What came of a comparison.
    public struct Outcome: Sendable, Hashable {
        /// A line for each field that is better.
        public var better: [String] = []
        /// A line for each field that is worse by more than is tolerated.
        public var worse: [String] = []
        /// A line for each option that differs.
        public var options: [String] = []
        /// Fields that are worse, but tolerated.
        public var tolerated = 0
        /// Fields that are neither better nor worse, and differ.
        public var changed = 0

        /// For people: the worst news first.
        public var lines: [String] {
            let rest = [
                tolerated > 0 ? "\(tolerated) worse within the tolerance" : nil,
                changed > 0 ? "\(changed) other fields changed" : nil,
            ].compactMap { $0 }
            let nothing = better.isEmpty && worse.isEmpty
            return worse + better + options
                + (nothing || !rest.isEmpty
                    ? [
                        ([nothing ? "nothing better or worse than the baseline" : nil] + rest).compactMap { $0 }
                            .joined(separator: ", ")
                    ] : [])
        }
    }

    /// Reads an earlier report.
    ///
    /// - Parameters:
    ///   - path: a file as `--format json` writes it.
    ///   - tolerances: how much worse is well; nothing unless given.
    public init(path: String, tolerances: [Tolerance] = []) throws(CheckError) {
        try self.init(report: JSONTree(reading: path), path: path, tolerances: tolerances)
    }

    init(report: JSONTree, path: String, tolerances: [Tolerance]) {
        self.path = path
        self.report = report
        self.tolerances = tolerances
    }

    /// Compares a report with the earlier one.
    ///
    /// - Throws: ``CheckError`` where they are reports of different traces or of different kinds.
    public func compare(_ now: JSONTree) throws(CheckError) -> Outcome {
        let before = Dictionary(report.leaves.map { ($0.path, $0.value) }, uniquingKeysWith: { first, _ in first })
        let isSearch = before.keys.contains { $0.hasPrefix("lruCurve[") || $0 == "stepBytes" }
        var outcome = Outcome()
        var common = 0
        for (field, value) in now.leaves {
            guard let old = before[field] else { continue }
            if isSearch, Self.ignored.contains(where: { field.hasPrefix($0) }) { continue }
            common += 1
            let name = JSONTree.general(field).split(separator: ".").last.map(String.init) ?? field
            switch (old, value) {
            case _ where old == value: break
            case _ where field.contains("configuration."):
                outcome.options.append("option  \(field): \(old.shown) -> \(value.shown)")
            case _ where isIdentity(field, name, in: before):
                throw CheckError(
                    "--baseline \(path): \(field) is \(old.shown) there and \(value.shown) here: "
                        + "these are different reports"
                )
            case (.number(let from), .number(let to)): judge(field, name, from, to, &outcome)
            case (.number(let from), .null)
            where isLarger(name) || isSmaller(field, name) && !Self.waits.contains(name):
                outcome.worse.append("worse   \(field): \(FieldUnit(of: field).shown(.number(from))) -> null")
            case (.text, .text) where name == "hash" || name == "policy" || name == "source" || name == "trace":
                throw CheckError(
                    "--baseline \(path): \(field) is \(old.shown) there and \(value.shown) here: "
                        + (name == "hash" ? "these are different traces" : "these are different reports")
                )
            default: outcome.changed += 1
            }
        }
        guard common > 1 else { throw CheckError("--baseline \(path): this is a report of another kind") }
        return outcome
    }

    private func isIdentity(_ field: String, _ name: String, in before: [String: JSONTree]) -> Bool {
        guard Self.identity.contains(name), Self.lists.contains(where: { field.hasPrefix($0) }) else { return false }
        // Where loads are held equal the effort is what was found, not what was asked for.
        guard name == "effort", case .number = before[field.dropLast(name.count) + "targetLoads"] else { return true }
        return false
    }

    private func isLarger(_ name: String) -> Bool { Self.larger.contains(name) }

    private func isSmaller(_ field: String, _ name: String) -> Bool {
        let general = JSONTree.general(field)
        return Self.smaller.contains(name) || Self.smaller.contains { $0.contains(".") && general.hasSuffix($0) }
    }

    private func judge(_ field: String, _ name: String, _ from: Double, _ to: Double, _ outcome: inout Outcome) {
        let isLarger = isLarger(name)
        guard isLarger || isSmaller(field, name) else {
            outcome.changed += 1
            return
        }
        let unit = FieldUnit(of: field)
        var change = ""
        if from != 0 {
            let percent = Figures.decimal((to / from - 1) * 100)
            change = " (\(to > from ? "+" : "")\(percent) %)"
        }
        let text = "\(field): \(unit.shown(.number(from))) -> \(unit.shown(.number(to)))\(change)"
        if (to > from) == isLarger {
            outcome.better.append("better  \(text)")
            return
        }
        let rule = tolerances.last { $0.isMeant(for: field) } ?? tolerances.last { $0.isGeneral }
        if let rule, rule.allows(from: from, to: to, at: field) {
            outcome.tolerated += 1
        } else {
            outcome.worse.append("worse   \(text)")
        }
    }
}
