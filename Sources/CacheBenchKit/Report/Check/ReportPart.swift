/// A part of a report that is compared with the same part of another one: a trace, a row, a sum, or the rest.
struct ReportPart {
    /// What identifies it, the same in other reports; empty for the rest.
    var key = ""
    /// Its name, for display; empty for the rest.
    var name = ""
    /// Whether it is a sum of other parts.
    var isSum = false
    /// Its figures, without what identifies it.
    var fields: JSONTree

    /// Fields that identify a row. A limit in screens or tiles includes tables, which change with the policy: the budget
    /// as given counts.
    private static let settings = ["policy", "budget", "workers", "loadLatency", "effort"]
    private static let names: Set<String> = ["trace", "name", "schema", "source", "hash"]

    /// The parts of a report, whatever their order. Sums of one part each are left out.
    static func parts(of report: JSONTree) -> [ReportPart] {
        guard case .object(var rest) = report else { return [] }
        // Other lists of a search depend on its path.
        let isSearch = rest["stepBytes"] != nil
        var parts: [ReportPart] = []
        for list in ["traces", "rows", "chargedRows"] where !isSearch || list == "traces" {
            parts += report.list(list).map { ReportPart($0, in: list) }
        }
        for (list, whole) in [("sources", "traces"), ("totals", "rows"), ("chargedTotals", "chargedRows")]
        where !isSearch {
            let sums = report.list(list)
            // A single folder is all traces.
            guard sums.count < report.list(whole).count, list != "sources" || sums.count > 1 else { continue }
            parts += sums.map { ReportPart($0, in: list, isSum: true) }
        }
        if let total = rest["total"], report.list("traces").count > 1 {
            parts.append(ReportPart(key: "total", name: "all traces", isSum: true, fields: total.without(names)))
        }
        rest["total"] = nil
        for (name, value) in rest {
            if case .array = value { rest[name] = nil }
        }
        parts.append(ReportPart(fields: JSONTree.object(rest).without(names)))
        return numbered(parts)
    }

    /// Distinguishes parts that are identified alike, such as copies of a trace.
    private static func numbered(_ parts: [ReportPart]) -> [ReportPart] {
        var counts: [String: Int] = [:]
        return parts.map { part in
            var part = part
            let count = counts[part.key, default: 0]
            counts[part.key] = count + 1
            if count > 0 { part.key += " \(count)" }
            return part
        }
    }

    private init(key: String = "", name: String = "", isSum: Bool = false, fields: JSONTree) {
        (self.key, self.name, self.isSum, self.fields) = (key, name, isSum, fields)
    }

    private init(_ element: JSONTree, in list: String, isSum: Bool = false) {
        // A row names its trace, a replay describes it.
        var trace = element
        if let own = element["trace"], case .object = own { trace = own }
        // Held to equal loads, each run finds its own effort.
        var settings = Self.settings
        if case .number? = element["targetLoads"] { settings.removeLast() }
        let identity = [trace[isSum ? "source" : "hash"]] + settings.map { element[$0] }
        let place = [trace["source"], trace["name"] ?? trace["trace"]].compactMap(\.?.word).joined(separator: "/")
        self.init(
            key: ([list] + identity.map { $0?.shown ?? "" }).joined(separator: " "),
            name: [place.isEmpty ? nil : place, element["policy"]?.word, element["budget"]?.word].compactMap(\.self)
                .joined(separator: " "),
            isSum: isSum,
            fields: element.without(Self.names.union(Self.settings))
        )
    }

    /// A field with the name of its part, for display.
    func place(of field: String) -> String { name.isEmpty ? field : "\(name) \(field)" }
}

extension JSONTree {
    subscript(name: String) -> JSONTree? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }

    fileprivate func list(_ name: String) -> [JSONTree] {
        if case .array(let elements)? = self[name] { elements } else { [] }
    }

    /// A word that names something; `nil` for no text, and for the folder `.`.
    fileprivate var word: String? {
        guard case .text(let text) = self, !text.isEmpty, text != "." else { return nil }
        return text.printable
    }

    fileprivate func without(_ names: Set<String>) -> JSONTree {
        guard case .object(let fields) = self else { return self }
        return .object(fields.filter { !names.contains($0.key) })
    }
}
