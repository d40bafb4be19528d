/// Parses numbers with units, as on a command line.
public enum QuantityText {
    /// Parses a number of bytes, such as `64MiB`, `1.5GB` or `262144`. `nil` if invalid, as `4k`.
    ///
    /// The result is an integer below 2^62. KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB of 1000; B or nothing
    /// is bytes.
    public static func bytes(_ text: String) -> Int? {
        let units: [(String, Double)] = [
            ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
            ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1), ("", 1),
        ]
        for (unit, size) in units {
            guard let count = number(text, suffix: unit) else { continue }
            let bytes = (count * size).rounded()
            return bytes >= 0 && bytes < 0x1p62 ? Int(bytes) : nil
        }
        return nil
    }

    /// Parses a duration in nanoseconds, such as `40ms`, `2s`, `1.5min`, `250us`, `10ns` or `2h`. `nil` if invalid.
    ///
    /// Negative durations and those above 2^62 ns are invalid. A unit is required, so that seconds are not mistaken for
    /// milliseconds.
    public static func duration(_ text: String) -> Int64? {
        let units: [(String, Double)] = [
            ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("min", 6e10), ("s", 1e9), ("h", 3.6e12),
        ]
        if number(text, suffix: "") == 0 { return 0 }
        for (unit, size) in units {
            guard let count = number(text, suffix: unit) else { continue }
            let nanoseconds = (count * size).rounded()
            return nanoseconds >= 0 && nanoseconds < 0x1p62 ? Int64(nanoseconds) : nil
        }
        return nil
    }

    /// The number before a suffix: digits with at most one point.
    package static func number(_ text: String, suffix: String) -> Double? {
        guard text.hasSuffix(suffix), text.utf8.count <= 40 else { return nil }
        let digits = text.dropLast(suffix.count)
        guard let first = digits.utf8.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9"),
            digits.utf8.allSatisfy({ ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || $0 == UInt8(ascii: ".") }),
            digits.utf8.filter({ $0 == UInt8(ascii: ".") }).count <= 1
        else { return nil }
        return Double(digits)
    }
}
