/// The header `Content-Range` of an answer with one range (RFC 9110, 14.4).
struct ContentRange: Equatable {
    /// Within `size`, if that is known.
    var range: Range<Int>
    /// Bytes of the whole file; `nil` if the server does not say.
    var size: Int?
    /// Whether the last byte that is stated lies beyond the end of the file. Some servers repeat the range of the request.
    var isBeyond = false

    init(_ range: Range<Int>, of size: Int?, isBeyond: Bool = false) {
        (self.range, self.size, self.isBeyond) = (range, size, isBeyond)
    }

    /// Parses `bytes 0-99/1234` or `bytes 0-99/*`. `nil` for other text, for ranges that are empty or begin beyond the
    /// size, and for numbers from 2^62.
    init?(_ text: String) {
        guard let parts = Self.parts(text) else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        range = first..<last + 1
        guard parts[1] != "*" else { return }
        guard let number = Self.number(parts[1]), first < number else { return nil }
        (size, isBeyond) = (number, last >= number)
        range = range.clamped(to: 0..<number)
    }

    /// Size of the file in the header of an answer 416, `bytes */1234`; `nil` for other text.
    static func size(unsatisfied text: String) -> Int? {
        guard let parts = parts(text), parts[0] == "*" else { return nil }
        return number(parts[1])
    }

    private static func parts(_ text: String) -> [Substring]? {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 ? parts : nil
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text).flatMap { $0 < 1 << 62 ? $0 : nil }
    }
}
