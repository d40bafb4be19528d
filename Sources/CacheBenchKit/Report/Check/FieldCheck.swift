import PanTraces

/// A condition on a field of a report: `demands.hitRate>=0.95`, `memory.peakBytes<=64MiB`.
package struct FieldCheck: Sendable, Hashable {
    private enum Comparison: String, CaseIterable, Sendable {
        // Longer ones first: `<=` begins with `<`.
        case notLess = ">="
        case notMore = "<="
        case equal = "=="
        case notEqual = "!="
        case more = ">"
        case less = "<"
    }

    package let text: String
    private let path: String
    private let comparison: Comparison
    private let wanted: String

    /// Parses a condition.
    ///
    /// - Parameter text: A path through the JSON report, one of `>= <= > < == !=`, and a number, with the field's unit
    ///   if it has one (`64MiB`, `40ms`, `95%`), or a word. Elements of a list are numbered (`rows[0].hitRate`);
    ///   without a number the condition must hold for all. With several traces, a path that begins with `traces.` is
    ///   checked for each of them and one that begins with `total.`, or with neither, for all together.
    package init(_ text: String) throws(ReplayError) {
        let first = Comparison.allCases.compactMap { comparison in
            text.firstRange(of: comparison.rawValue).map { (comparison, $0) }
        }.min { ($0.1.lowerBound, -$0.0.rawValue.count) < ($1.1.lowerBound, -$1.0.rawValue.count) }
        guard let (comparison, range) = first else {
            throw ReplayError("--check '\(text.printable)': a field, one of >= <= > < == != and a value are expected")
        }
        self.text = text
        self.comparison = comparison
        path = Self.trimmed(text[..<range.lowerBound])
        wanted = Self.trimmed(text[range.upperBound...])
        guard !path.isEmpty, !wanted.isEmpty else {
            throw ReplayError("--check '\(text.printable)': a field before and a value after \(comparison.rawValue)")
        }
    }

    /// Lists the violations in a report, a line each; empty if there are none.
    package func failures(in report: JSONTree) throws(ReplayError) -> [String] {
        var lines: [String] = []
        for (place, value) in try values(at: path, in: report, endsAtNull: true) {
            if case .null = value, wanted != "null" {
                let reason = JSONTree.lastName(place) == JSONTree.lastName(path) ? ", a rate over nothing" : ""
                lines.append("check failed: \(text.printable): \(place) is null\(reason)")
            } else if try !holds(value, place) {
                lines.append("check failed: \(text.printable): \(place) is \(FieldUnit(of: place).shown(value))")
            }
        }
        return lines
    }

    /// Looks the field up in an empty report. A typing error is then reported before a long run.
    package func validate(against report: JSONTree) throws(ReplayError) {
        for (place, value) in try values(at: pathInEmptyReport, in: report, endsAtNull: false) {
            guard case .null = value else {
                _ = try holds(value, place)
                continue
            }
            // A field without a value does not reveal its kind, but only numbers have an order.
            if ![.equal, .notEqual].contains(comparison) { _ = try holds(.number(0), place) }
        }
    }

    private func values(
        at path: String,
        in report: JSONTree,
        endsAtNull: Bool
    ) throws(ReplayError) -> [FieldPath.Place] {
        try FieldPath.values(at: path, in: report, flag: flag, takesObjects: wanted == "null", endsAtNull: endsAtNull)
    }

    /// The path without the number of a trace, folder or row: an empty report has one of each, the report may have more.
    private var pathInEmptyReport: String {
        let first = path.prefix { $0 != "." }
        for list in Self.lists where first.hasPrefix(list + "[") && first.hasSuffix("]") {
            guard let index = Int(first.dropFirst(list.count + 1).dropLast()), index >= 0 else { continue }
            return list + path.dropFirst(first.count)
        }
        return path
    }

    private static let lists = [
        "traces", "sources", "rows", "totals", "chargedRows", "chargedTotals", "policies", "lruCurve", "steps",
        "alternatives",
    ]

    private var flag: String { "--check '\(text.printable)'" }

    private func holds(_ value: JSONTree, _ place: String) throws(ReplayError) -> Bool {
        if case .number(let number) = value {
            let unit = FieldUnit(of: place)
            guard let bound = unit.number(wanted) else {
                throw ReplayError("\(flag): \(place) is \(unit.kind), and \(wanted.printable) is none")
            }
            return switch comparison {
            case .notLess: number >= bound
            case .notMore: number <= bound
            case .more: number > bound
            case .less: number < bound
            case .equal: number == bound
            case .notEqual: number != bound
            }
        }
        switch comparison {
        case .equal: return value.shown == wanted
        case .notEqual: return value.shown != wanted
        default:
            throw ReplayError("\(flag): \(place) is no number, only == and != fit it")
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

/// Unit of a field, derived from its name.
enum FieldUnit {
    case bytes, milliseconds, seconds, share, plain

    /// Times in milliseconds whose names do not say so. Only summaries of waits have a maximum.
    private static let times: Set<String> = ["p50", "p95", "p99", "maximum", "loadlatency", "firstcompleteframe"]

    /// Shares of 1 whose names do not end with `hitRate`.
    private static let shares: Set<String> = ["sharp", "blank", "fallback", "waste"]

    init(of path: String) {
        let name = JSONTree.lastName(path).lowercased()
        if name.hasSuffix("bytes") || name == "bytelimit" || name.hasSuffix("residentgrowth") {
            self = .bytes
        } else if name.hasSuffix("pixelmilliseconds") {
            self = .plain
        } else if Self.times.contains(name) || name.hasSuffix("milliseconds") {
            self = .milliseconds
        } else if name.hasSuffix("seconds") {
            self = .seconds
        } else if Self.shares.contains(name) || name.hasSuffix("hitrate") {
            self = .share
        } else {
            self = .plain
        }
    }

    /// Name of the kind, for messages.
    var kind: String {
        switch self {
        case .bytes: "a number of bytes (64MiB, 1.5GB)"
        case .milliseconds: "a time in milliseconds (40ms, 1.2s)"
        case .seconds: "a time in seconds (90s, 3min)"
        case .share: "a share from 0 to 1 (0.95, 95%)"
        case .plain: "a number (0.95, 95%)"
        }
    }

    /// Parses a value of such a field; `nil` if it is invalid.
    func number(_ text: String) -> Double? {
        if self != .share, let number = Double(text) { return number.isFinite ? number : nil }
        switch self {
        case .share: return (Double(text) ?? Self.plain.number(text)).flatMap { (0...1).contains($0) ? $0 : nil }
        case .bytes: return QuantityText.bytes(text).map(Double.init)
        case .milliseconds: return QuantityText.duration(text).map { Double($0) / 1e6 }
        case .seconds: return QuantityText.duration(text).map { Double($0) / 1e9 }
        case .plain: return QuantityText.number(text, suffix: "%").map { $0 / 100 }
        }
    }

    func shown(_ value: JSONTree) -> String {
        guard case .number(let number) = value else { return value.shown }
        switch self {
        case .bytes where abs(number) < 1e15: return "\(value.shown) (\(bytes: Int(number)))"
        case .milliseconds: return "\(value.shown) ms"
        case .seconds: return "\(value.shown) s"
        default: return value.shown
        }
    }
}
