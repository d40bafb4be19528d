/// A parsed decimal number: `-12.5e-3` is a sign, the digits 125 and the exponent -4.
///
/// Traces have tens of millions of numbers, and a `String` of each costs more than everything else. Numbers with up to
/// 15 digits and small exponents are exact after one multiplication or division. Programs write up to 17 digits: these are
/// divided as integers. The standard library converts the others. All results equal `Double(_:)` to the bit.
struct DecimalNumber {
    private let text: UnsafeRawBufferPointer
    private let isNegative: Bool
    /// The digits as an integer; undefined if there are too many.
    private let digits: UInt64
    private let digitCount: Int
    private let exponent: Int

    /// Parses a number; `nil` if the text is not a decimal number.
    ///
    /// - Parameter text: Must stay valid as long as the number.
    init?(_ text: UnsafeRawBufferPointer) {
        var index = 0
        let end = text.count
        var negative = false
        if index < end, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
            negative = text[index] == UInt8(ascii: "-")
            index += 1
        }
        var digits: UInt64 = 0
        var count = 0
        var exponent = 0
        let firstDigit = index
        while index < end, let digit = Self.digit(text[index]) {
            if digits != 0 || digit != 0 { count += 1 }
            digits = digits &* 10 &+ digit
            index += 1
        }
        var seen = index - firstDigit
        if index < end, text[index] == UInt8(ascii: ".") {
            index += 1
            let firstDecimal = index
            while index < end, let digit = Self.digit(text[index]) {
                if digits != 0 || digit != 0 { count += 1 }
                digits = digits &* 10 &+ digit
                index += 1
            }
            exponent = firstDecimal - index
            seen -= exponent
        }
        guard seen > 0 else { return nil }
        if index < end, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            guard let written = Self.exponent(text, &index) else { return nil }
            exponent += written
        }
        guard index == end else { return nil }
        self.text = text
        self.isNegative = negative
        self.digits = digits
        self.digitCount = count
        self.exponent = exponent
    }

    /// Nearest `Double`; infinity if the number is too large.
    var double: Double {
        let value: Double
        if digitCount <= 15, -22...22 ~= exponent {
            let whole = Double(digits)
            value = exponent < 0 ? whole / Self.powersOf10[-exponent] : whole * Self.powersOf10[exponent]
        } else if digitCount <= 19, -18..<0 ~= exponent {
            value = Self.quotient(digits, Self.wholePowersOf10[-exponent])
        } else {
            return Double(String(decoding: text, as: UTF8.self)) ?? .nan
        }
        return isNegative ? -value : value
    }

    /// Nearest `Double` to the quotient of two positive integers.
    private static func quotient(_ dividend: UInt64, _ divisor: UInt64) -> Double {
        // With their highest bits set, the quotient of the dividend's 2^63-fold has 63 or 64 bits: more than a `Double`
        // has, so that the last one may stand for the remainder.
        let shifts = (dividend.leadingZeroBitCount, divisor.leadingZeroBitCount)
        let high = dividend << shifts.0
        let (bits, remainder) = (divisor << shifts.1).dividingFullWidth((high >> 1, high << 63))
        let rounded = Double(remainder == 0 ? bits : bits | 1)
        return Double(sign: .plus, exponent: shifts.1 - shifts.0 - 63, significand: rounded)
    }

    /// The number in billionths, rounded to the nearest integer: nanoseconds of a time in seconds.
    ///
    /// Exact if the text has at most nine decimals, however large the time; `nil` if it does not fit.
    var billionths: Int64? {
        guard digits != 0 || digitCount > 0 else { return 0 }
        guard digitCount <= 19 else { return Int64(exactly: (double * 1e9).rounded()) }
        let power = exponent + 9
        var magnitude: UInt64
        if power >= 0 {
            guard power <= 18 else { return nil }
            let (product, overflow) = digits.multipliedReportingOverflow(by: Self.wholePowersOf10[power])
            guard !overflow else { return nil }
            magnitude = product
        } else {
            guard power >= -18 else { return 0 }
            let divisor = Self.wholePowersOf10[-power]
            magnitude = digits / divisor
            if digits % divisor >= divisor / 2 { magnitude += 1 }
        }
        guard let value = Int64(exactly: magnitude) else { return nil }
        return isNegative ? -value : value
    }

    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt64? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? UInt64(value) : nil
    }

    /// The exponent after the `e`, clamped to a million. That is beyond any number, however many digits it has.
    private static func exponent(_ text: UnsafeRawBufferPointer, _ index: inout Int) -> Int? {
        var negative = false
        if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
            negative = text[index] == UInt8(ascii: "-")
            index += 1
        }
        let first = index
        var value = 0
        while index < text.count, let digit = Self.digit(text[index]) {
            value = min(value * 10 + Int(digit), 1_000_000)
            index += 1
        }
        return index == first ? nil : negative ? -value : value
    }

    private static let powersOf10: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    private static let wholePowersOf10: [UInt64] = (0...18).map { (0..<$0).reduce(1) { power, _ in power * 10 } }
}
