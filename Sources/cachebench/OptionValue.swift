import ArgumentParser
import CacheBenchKit
import PanTraces
import TileCache

/// Parser of an option's text.
struct OptionValue<Value>: Sendable {
    let parse: @Sendable (String) throws -> Value

    init(_ parse: @escaping @Sendable (String) throws -> Value) { self.parse = parse }

    /// - Parameter expected: What `parse` takes, for the message about other texts.
    init(_ expected: String, _ parse: @escaping @Sendable (String) -> Value?) {
        self.init { text in
            guard let value = parse(text) else { throw ValidationError("Expected \(expected).") }
            return value
        }
    }

    /// Values separated by commas.
    static func list<Element>(
        _ expected: String,
        _ parse: @escaping @Sendable (String) -> Element?
    ) -> Self where Value == [Element] {
        Self { text in
            try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
                if let value = parse(String(word)) { return value }
                throw ValidationError("Expected \(expected), not '\(word)'.")
            }
        }
    }
}

extension Option {
    /// An option whose help ends with its default.
    ///
    /// - Parameters:
    ///   - standard: Text of the default; `nil` for the value's own, empty for none.
    ///   - name: Name of the value in the help; `nil` for the option's.
    init(
        wrappedValue: Value,
        _ help: String,
        _ value: OptionValue<Value>,
        default standard: String? = nil,
        as name: String? = nil
    ) {
        let standard = standard ?? plain(wrappedValue)
        let help = ArgumentHelp(help, default: standard, as: name)
        self.init(wrappedValue: wrappedValue, help: help, completion: files(of: name), transform: value.parse)
    }

    /// An option without a value of its own.
    init<Present>(
        _ help: String,
        _ value: OptionValue<Present>,
        default standard: String = "",
        as name: String? = nil
    ) where Value == Present? {
        self.init(
            help: ArgumentHelp(help, default: standard, as: name),
            completion: files(of: name),
            transform: value.parse
        )
    }
}

extension ArgumentHelp {
    fileprivate init(_ help: String, default standard: String, as name: String?) {
        self.init(standard.isEmpty ? help : "\(help) (default: \(standard))", valueName: name)
    }
}

/// What a shell completes for a value, by its name in the help.
private func files(of name: String?) -> CompletionKind? {
    switch name {
    case "file": .file()
    case "folder": .directory
    default: nil
    }
}

/// A value as text, whole numbers without a fraction.
private func plain(_ value: some Any) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// Parses a number within a range.
func ranged<Number: LosslessStringConvertible>(_ text: String, _ range: ClosedRange<Number>) -> Number? {
    Number(text).flatMap { range.contains($0) ? $0 : nil }
}

extension CacheBench {
    /// Parses a share from 0 to 1, also in per cent as reports print it: `0.95`, `95%`.
    static func share(_ text: String) -> Double? {
        guard text.hasSuffix("%") else { return ranged(text, 0...1) }
        return QuantityText.number(text, suffix: "%").map { $0 / 100 }.flatMap { $0 <= 1 ? $0 : nil }
    }
}

extension OptionValue<Int> {
    static func whole(_ range: ClosedRange<Int>) -> Self {
        Self("a whole number from \(range.lowerBound) to \(range.upperBound)") { ranged($0, range) }
    }

    static func bytes(_ expected: String) -> Self { Self(expected) { QuantityText.bytes($0) } }

    static let tileSide = whole(1...65_536)
}

extension OptionValue<[Int]> {
    static func wholes(_ range: ClosedRange<Int>) -> Self {
        list("whole numbers from \(range.lowerBound) to \(range.upperBound) separated by commas") { ranged($0, range) }
    }
}

extension OptionValue<Double> {
    static func number(_ range: ClosedRange<Double>) -> Self {
        Self("a number from \(plain(range.lowerBound)) to \(plain(range.upperBound))") { ranged($0, range) }
    }

    static let share = Self("a number from 0 to 1, or from 0% to 100%") { CacheBench.share($0) }
    static let rate = number(0.001...1000)
    static let part = Self("a part (1%, 0.01)") { text in
        QuantityText.number(text, suffix: "%").map { $0 / 100 } ?? QuantityText.number(text, suffix: "")
    }
}

extension OptionValue<Int64> {
    /// - Parameter hours: The maximum; by default what 62 bits of nanoseconds hold.
    static func time(_ examples: String, hours: Int64 = 1_281_023) -> Self {
        Self("a time with its unit, at most \(hours)h \(examples)") { text in
            QuantityText.duration(text).flatMap { $0 <= hours * 3_600_000_000_000 ? $0 : nil }
        }
    }

    static let loadLatency = Self("a time with its unit, at most 1h (40ms, 1.2s), or 0") { LoadLatency.time($0) }
}

extension OptionValue<UInt64> {
    static let seed = Self("a whole number from 0 to 18446744073709551615") { UInt64($0) }
}

extension OptionValue<String> {
    static let text = Self { $0 }
}

extension OptionValue<MemoryLimit> {
    static let memoryLimit = Self("bytes with a unit (64MiB, 1.5GB), whole tiles (90tiles) or screens (4screens)") {
        MemoryLimit($0)
    }
}

extension OptionValue<[MemoryLimit]> {
    static func memoryLimits(_ examples: String) -> Self {
        list("memory limits separated by commas (\(examples))") { MemoryLimit($0) }
    }
}

extension OptionValue<PanTraceHeader.Size> {
    static let viewport = Self("WIDTHxHEIGHT in screen pixels, larger than 0, at most a million") {
        .init(viewport: $0)
    }
    static let world = Self("WIDTHxHEIGHT in world pixels, whole numbers from 1 to 2^40") { .init(world: $0) }
}

extension OptionValue<[PrefetchKind]> {
    static let policies = list("policies separated by commas (\(PrefetchKind.names))") { PrefetchKind(rawValue: $0) }
}

extension PrefetchKind {
    /// All names, for help and messages.
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
