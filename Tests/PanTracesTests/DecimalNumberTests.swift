import Testing
import TileCache

@testable import PanTraces

@Suite struct DecimalNumberTests {
    private func number<Result>(_ text: String, _ body: (DecimalNumber) -> Result) -> Result? {
        Array(text.utf8).withUnsafeBytes { DecimalNumber($0).map(body) }
    }

    @Test(arguments: [
        "0", "-0", "1", "+1", "0.1", ".5", "5.", "-12.5e-3", "1E5", "1e+22", "1e23", "123456789012345",
        "9007199254740993",
        "0.000000000000000000000000000001", "1.7976931348623157e308", "1e400", "-1e400", "4.9e-324", "2.5e-324",
        "1e-400",
        "0.30000000000000004", "123456789.123456789123456789", "1e99999999999999999999", "0e400", "00012.500",
    ])
    func isTheStandardLibrarysNumber(text: String) throws {
        let expected = try #require(Double(text))
        #expect(number(text) { $0.double.bitPattern } == expected.bitPattern)
    }

    @Test(arguments: [
        "", "-", ".", "e5", "1e", "1e+", "1.2.3", " 1", "1 ", "0x10", "nan", "inf", "1_000", "1,5", "--1", "½",
    ])
    func refusesWhatIsNoDecimalNumber(text: String) {
        #expect(number(text) { $0.double } == nil)
    }

    @Test func agreesWithTheStandardLibraryOnRandomNumbers() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<50_000 {
            let digits = String(random.next() >> (random.next() & 63))
            let cut = Int(random.next() % UInt64(digits.utf8.count + 1))
            var text = digits.prefix(cut) + "." + digits.dropFirst(cut)
            if random.next() & 1 == 0 { text += "e\(Int(random.next() % 80) - 40)" }
            #expect(number(String(text)) { $0.double } == Double(text))
        }
    }

    /// Halfway between two numbers, and a unit of the last digit below and above: the most that rounding can ask.
    @Test(arguments: 1...3) func roundsHalvesToTheEvenNumber(decimals: Int) {
        var random = SplitMix64(seed: 4)
        let power = (0..<decimals).reduce(UInt64(1)) { power, _ in power * 5 }
        for _ in 0..<10_000 {
            // An odd number of 54 bits, divided by 2 for each decimal.
            let half = (random.next() >> 11 | 1 << 52) << 1 | 1
            for digits in [half * power - 1, half * power, half * power + 1] {
                let text = String(digits)
                let decimal = text.dropLast(decimals) + "." + text.suffix(decimals)
                #expect(number(String(decimal)) { $0.double } == Double(decimal), "\(decimal)")
            }
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0.0", 0), ("1", 1_000_000_000), ("0.0160", 16_000_000), ("0.000000001", 1),
            ("0.0000000005", 1), ("0.0000000004999", 0), ("-0.5", -500_000_000), ("1.5e3", 1_500_000_000_000),
            // One digit more than a Double of seconds can distinguish.
            ("123456789.123456789", 123_456_789_123_456_789), ("9223372036.854775807", .max),
            ("9223372036.854775808", nil),
            ("1e10", nil), ("1e-30", 0), ("0.0166666666666666666666", 16_666_667), ("1e400", nil), ("1e300", nil),
        ] as [(String, Int64?)]
    )
    func countsNanosecondsExactly(text: String, nanoseconds: Int64?) {
        #expect(number(text) { $0.billionths } == .some(nanoseconds))
    }
}
