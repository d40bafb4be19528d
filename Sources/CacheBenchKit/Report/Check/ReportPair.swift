/// Corresponding parts of two reports: a trace, a row, or the rest of the whole.
struct ReportPair {
    /// Part of the report: `traces`, `rows`; empty for the whole.
    var part: String
    /// Trace or row, for display; empty for the whole.
    var name: String
    var old: JSONTree
    var new: JSONTree
    /// Whether its fields identify its budget and policy.
    var isRow = false

    /// Lists with a row for each budget that was replayed.
    private static let lists = ["rows", "totals", "chargedRows", "chargedTotals"]

    /// A field with the name of its trace or row, for display.
    func place(of field: String) -> String { name.isEmpty ? field : "\(name) \(field)" }

    /// Finds the common parts of two reports.
    static func pairs(_ old: JSONTree, _ new: JSONTree) throws(ReplayError) -> [ReportPair] {
        try requireSameKind(old, new)
        return new["total"] == nil ? try rows(old, new) : try traces(old, new)
    }

    /// Throws unless both are of replays, of comparisons, of searches, or of something else.
    static func requireSameKind(_ old: JSONTree, _ new: JSONTree) throws(ReplayError) {
        let isDifferent = ["total", "totals", "stepBytes"].contains { (old[$0] == nil) != (new[$0] == nil) }
        try require(!isDifferent, "this is a report of another kind")
    }

    /// Pairs traces by their hash, whatever their order and folder. Pairs sums only if they are of more than one.
    private static func traces(_ old: JSONTree, _ new: JSONTree) throws(ReplayError) -> [ReportPair] {
        var earlier = Dictionary(grouping: old.list("traces"), by: { $0["trace"]?["hash"] })
        var pairs: [ReportPair] = []
        var unknown: [String] = []
        for trace in new.list("traces") {
            let hash = trace["trace"]?["hash"]
            guard let first = earlier[hash]?.first else {
                unknown.append(name(trace))
                continue
            }
            earlier[hash]?.removeFirst()
            pairs.append(ReportPair(part: "traces", name: name(trace), old: first.measured, new: trace.measured))
        }
        let missing = earlier.values.joined().map { name($0) }.sorted()
        guard unknown.isEmpty, missing.isEmpty else {
            func some(_ names: [String]) -> String {
                names.isEmpty
                    ? "nothing else" : names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", ..." : "")
            }
            throw ReplayError("these are different traces: it has \(some(missing)), this report has \(some(unknown))")
        }
        guard pairs.count > 1 else { return pairs }
        let folders = new.list("sources")
        for folder in folders where folders.count > 1 {
            let source = folder["trace"]?["source"]
            guard let earlier = old.list("sources").first(where: { $0["trace"]?["source"] == source }) else { continue }
            let name = "folder \(source?.shown ?? "")"
            pairs.append(ReportPair(part: "sources", name: name, old: earlier.measured, new: folder.measured))
        }
        guard let before = old["total"], let now = new["total"] else { return pairs }
        return pairs + [ReportPair(part: "total", name: "all traces", old: before.measured, new: now.measured)]
    }

    private static func name(_ trace: JSONTree) -> String {
        let source = trace["trace"]?["source"]?.shown ?? ""
        let name = trace["trace"]?["name"]?.shown ?? "trace"
        return source.isEmpty || source == "." ? name : "\(source)/\(name)"
    }

    /// Pairs rows in their order. Rows of a search depend on its path and are not compared.
    private static func rows(_ old: JSONTree, _ new: JSONTree) throws(ReplayError) -> [ReportPair] {
        guard case .object(var before) = old, case .object(var now) = new else { return [] }
        let isSearch = before["stepBytes"] != nil
        var pairs: [ReportPair] = []
        // Totals of one trace each repeat its row.
        let hasTotals = new.list("totals").count < new.list("rows").count
        for list in lists where !isSearch && (hasTotals || !list.lowercased().hasSuffix("totals")) {
            let counts = (old.list(list).count, new.list(list).count)
            guard counts.0 == counts.1 else {
                throw ReplayError("\(list) has \(counts.0) there and \(counts.1) here: these are different reports")
            }
            for (earlier, row) in zip(old.list(list), new.list(list)) {
                pairs.append(ReportPair(part: list, name: label(row), old: earlier, new: row, isRow: true))
            }
        }
        for list in lists + ["policies", "lruCurve"] where isSearch || lists.contains(list) {
            before[list] = nil
            now[list] = nil
        }
        return pairs + [
            ReportPair(part: "", name: "", old: JSONTree.object(before).measured, new: JSONTree.object(now).measured)
        ]
    }

    /// `touch/drag.csv tilecache 4 screens`, or `90tiles`, whose bytes differ from trace to trace.
    private static func label(_ row: JSONTree) -> String {
        let place = [row["source"], row["trace"]].compactMap { $0 == .null ? nil : $0?.shown }.joined(separator: "/")
        var words = [place.isEmpty ? nil : place, row["policy"]?.shown]
        if case .number(let screens)? = row["screens"] {
            words.append(Figures.screens(screens))
        } else if case .text(let budget)? = row["budget"], budget.hasSuffix("tiles") {
            words.append(budget.printable)
        } else if case .number(let bytes)? = row["byteLimit"], abs(bytes) < 0x1p62 {
            words.append(Figures.bytes(Int(bytes)))
        }
        return words.compactMap { $0 }.joined(separator: " ")
    }
}

extension JSONTree {
    fileprivate subscript(name: String) -> JSONTree? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }

    fileprivate func list(_ name: String) -> [JSONTree] {
        if case .array(let elements)? = self[name] { elements } else { [] }
    }

    /// The fields without the identity of the trace and the version.
    fileprivate var measured: JSONTree {
        guard case .object(var fields) = self else { return self }
        for name in ["trace", "name", "schema"] { fields[name] = nil }
        return .object(fields)
    }
}
