import PanTraces
import TileCache

/// Formats numbers for reading: grouped, rounded, with their unit.
///
/// A rate that is not quite 0 or 1 is never written as 0 or 1, but as 99.99 %, or `>99.9` in a column: the difference
/// matters for tuning.
enum Figures {
    /// Text of a rate without a value.
    static let none = "-"

    /// `1,234,567`.
    static func count(_ value: Int) -> String { grouped(String(value)) }

    /// As ``count(_:)``, but short from a hundred million on: `123.5M`.
    static func shortCount(_ value: Int) -> String {
        guard value >= 100_000_000 else { return count(value) }
        var scaled = Double(value)
        var units = "kMGTPE"[...]
        while scaled >= 999.95, let unit = units.popFirst() {
            scaled /= 1000
            if scaled < 999.95 { return decimal(scaled) + String(unit) }
        }
        return count(value)
    }

    /// `1,234.5`; in powers of ten beyond 10^15.
    static func decimal(_ value: Double, places: Int = 1) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let rounded = Int((abs(value) * scale).rounded())
        let sign = value < 0 && rounded > 0 ? "-" : ""
        let whole = sign + grouped(String(rounded / Int(scale)))
        guard places > 0 else { return whole }
        let fraction = String(rounded % Int(scale))
        return whole + "." + String(repeating: "0", count: places - fraction.count) + fraction
    }

    /// A fraction as `97.1`, in per cent, for a narrow column.
    static func percentNumber(_ rate: Double?) -> String {
        guard let rate, rate.isFinite else { return none }
        let text = decimal(rate * 100)
        if text == "0.0", rate > 0 { return "<0.1" }
        if text == "100.0", rate < 1 { return ">99.9" }
        return text
    }

    /// A fraction as `97.1 %`. Up to three decimals if it would otherwise read as 0 or 1.
    static func percent(_ rate: Double?) -> String {
        guard let rate, rate.isFinite else { return none }
        for places in 1...3 {
            let text = decimal(rate * 100, places: places)
            let isWhole = rate <= 0 || rate >= 1
            if isWhole || Double(text).map({ $0 > 0 && $0 < 100 }) == true { return text + " %" }
        }
        return rate < 0.5 ? "<0.001 %" : ">99.999 %"
    }

    /// A part of a whole as `97.1 %`.
    static func percent(_ part: Int, of whole: Int) -> String {
        percent(whole == 0 ? nil : Double(part) / Double(whole))
    }

    /// `512 B`, `61.2 MiB`; units of 1024.
    static func bytes(_ bytes: Int) -> String {
        let unit = ByteUnit.fitting(bytes)
        return unit == .bytes ? "\(count(bytes)) B" : "\(unit.number(bytes)) \(unit.symbol)"
    }

    /// Milliseconds as `40.1 ms`, `1.25 s`.
    static func milliseconds(_ value: Double?) -> String {
        guard let value, value.isFinite else { return none }
        return value < 1000 ? decimal(value) + " ms" : seconds(value / 1000)
    }

    /// Seconds as `12.34 s`, `3 min 04 s`, `2 h 05 min`.
    static func seconds(_ value: Double) -> String {
        guard value.isFinite, value >= 0, value < 1e15 else { return "\(value) s" }
        if value < 99.995 { return decimal(value, places: 2) + " s" }
        let whole = Int(value.rounded())
        if whole < 3600 { return "\(whole / 60) min \(twoDigits(whole % 60)) s" }
        return "\(count(whole / 3600)) h \(twoDigits(whole % 3600 / 60)) min"
    }

    /// `4 screens`, `1 screen`.
    static func screens(_ count: Double) -> String { "\(plain(count)) screen\(count == 1 ? "" : "s")" }

    /// `4`, `1.5`: a number as typed.
    static func plain(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }

    /// `40ms`, `1.5s`: a time as flags take it, which take no exponent.
    static func time(_ value: Double, unit: String) -> String {
        let text = plain(value)
        guard text.contains("e") else { return text + unit }
        return plain((value * (unit == "s" ? 1e9 : 1e6)).rounded()) + "ns"
    }

    /// `1920x1080`.
    static func size(_ size: PanTraceHeader.Size) -> String { plain(size.width) + "x" + plain(size.height) }

    /// A number in millions of pixels times seconds, of pixels times milliseconds.
    static func mega(_ pixelMilliseconds: Double) -> String { decimal(pixelMilliseconds / 1e9, places: 2) }

    private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

    private static func grouped(_ digits: String) -> String {
        var result = ""
        let characters = Array(digits)
        for (index, character) in characters.enumerated() {
            let left = characters.count - index
            if index > 0, left % 3 == 0, characters[index - 1] != "-" { result.append(",") }
            result.append(character)
        }
        return result
    }
}

/// Units of 1024 bytes; a column of a table uses one of them.
enum ByteUnit: Int, CaseIterable {
    case bytes, kibibytes, mebibytes, gibibytes, tebibytes, pebibytes, exbibytes

    var symbol: String { ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][rawValue] }

    /// Unit in which a number has at most four digits before the point.
    static func fitting(_ bytes: Int) -> ByteUnit {
        allCases.first { $0.scaled(Double(bytes)) < 1023.95 } ?? .exbibytes
    }

    /// The number before the unit, with one decimal.
    func number(_ bytes: Int) -> String { Figures.decimal(scaled(Double(bytes)), places: self == .bytes ? 0 : 1) }

    /// A number of bytes in this unit.
    func scaled(_ bytes: Double) -> Double { (0..<rawValue).reduce(bytes) { value, _ in value / 1024 } }
}

extension String.StringInterpolation {
    mutating func appendInterpolation(count: Int) { appendLiteral(Figures.count(count)) }
    mutating func appendInterpolation(percent rate: Double?) { appendLiteral(Figures.percent(rate)) }
    mutating func appendInterpolation(percent part: Int, of whole: Int) {
        appendLiteral(Figures.percent(part, of: whole))
    }
    mutating func appendInterpolation(bytes: Int) { appendLiteral(Figures.bytes(bytes)) }
    mutating func appendInterpolation(milliseconds: Double?) { appendLiteral(Figures.milliseconds(milliseconds)) }
    mutating func appendInterpolation(seconds: Double) { appendLiteral(Figures.seconds(seconds)) }
}
