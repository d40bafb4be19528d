/// Numbers and lists as descriptions write them.
enum Wording {
    /// A rate with one decimal; "none" for `nil`.
    static func percent(_ rate: Double?) -> String {
        guard let rate, rate.isFinite else { return "none" }
        // A setting may be any number before it is checked.
        guard abs(rate) < 1e12 else { return "\(rate * 100) %" }
        let tenths = Int((abs(rate) * 1000).rounded())
        return "\(rate < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) %"
    }

    /// A number without a decimal point if it is whole.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }

    /// A number with at most two decimals.
    static func rounded(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
        return number((value * 100).rounded() / 100)
    }

    /// A duration in the unit that fits it, with at most one decimal.
    static func time(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")] as [(UInt64, String)]
        where nanoseconds.magnitude >= unit {
            return "\(number((Double(nanoseconds) / Double(unit) * 10).rounded() / 10)) \(name)"
        }
        return "\(nanoseconds) ns"
    }

    static func size(_ width: Double, _ height: Double) -> String { "\(number(width)) x \(number(height))" }

    /// The counts above 0 with their words, after the number of all; only that if there are none.
    static func counts(_ whole: String, _ parts: [(Int, String)]) -> String {
        let list = parts.filter { $0.0 != 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return list.isEmpty ? whole : "\(whole): \(list)"
    }

    /// A number of things, with the plural of the word unless it is one.
    static func some(_ count: Int, _ word: String) -> String {
        count == 0 ? "no \(word)s" : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
}
