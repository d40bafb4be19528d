/// A number of bytes, written with its unit.
public struct ByteCount: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The bytes.
    public let bytes: Int

    /// Creates a count of bytes; negative numbers count as 0.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: max(count, 0)) }
    /// Creates a count of units of 1024 bytes, clamped to the largest number.
    public static func kibibytes(_ count: Int) -> ByteCount { scaled(count, by: 1 << 10) }
    /// Creates a count of units of 1024 x 1024 bytes, clamped to the largest number.
    public static func mebibytes(_ count: Int) -> ByteCount { scaled(count, by: 1 << 20) }
    /// Creates a count of units of 1024^3 bytes, clamped to the largest number.
    public static func gibibytes(_ count: Int) -> ByteCount { scaled(count, by: 1 << 30) }

    private static func scaled(_ count: Int, by unit: Int) -> ByteCount {
        let (bytes, overflow) = max(count, 0).multipliedReportingOverflow(by: unit)
        return ByteCount(bytes: overflow ? .max : bytes)
    }

    /// Adds two counts, clamped to the largest number.
    public static func + (a: ByteCount, b: ByteCount) -> ByteCount {
        let (bytes, overflow) = a.bytes.addingReportingOverflow(b.bytes)
        return ByteCount(bytes: overflow ? .max : bytes)
    }

    /// Adds a count to another, clamped to the largest number.
    public static func += (a: inout ByteCount, b: ByteCount) { a = a + b }

    /// Orders by size.
    public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }

    /// The count in MiB with one decimal, small counts in bytes.
    public var description: String {
        guard bytes >= 1 << 20 else { return "\(bytes) bytes" }
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: 1 << 20)
        return "\(whole).\(rest * 10 / (1 << 20)) MiB"
    }
}
