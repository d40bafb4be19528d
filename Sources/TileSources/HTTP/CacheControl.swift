/// Directives of `Cache-Control` that a private cache obeys (RFC 9111, 5.2.2; RFC 5861).
///
/// Others are ignored: `s-maxage` and `proxy-revalidate` are for shared caches, and `immutable` changes nothing, since
/// a fresh tile is not revalidated. Of a directive that is repeated, the first counts. A quote that does not end may
/// hide any directive, and counts as `no-store`.
struct CacheControl: Equatable {
    /// Lifetime in seconds; 0 if it is not a number.
    private(set) var maximumAge: Int64?
    private(set) var isNoStore = false
    /// Also if it names fields.
    private(set) var isNoCache = false
    private(set) var mustRevalidate = false
    private(set) var staleWhileRevalidate: Int64?
    private(set) var staleIfError: Int64?

    /// The largest number of seconds, 68 years: larger ones count as this one.
    static let longest: Int64 = 1 << 31

    /// Parses the values of all `Cache-Control` lines, joined by commas, in linear time.
    init(_ text: String = "") {
        var bytes = text.utf8[...]
        while !bytes.isEmpty {
            guard let (name, value) = Self.directive(&bytes) else {
                isNoStore = true
                return
            }
            switch name {
            case "max-age": maximumAge = maximumAge ?? Self.seconds(value ?? "") ?? 0
            case "no-store": isNoStore = true
            case "no-cache": isNoCache = true
            case "must-revalidate": mustRevalidate = true
            case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(value ?? "") ?? 0
            case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(value ?? "") ?? 0
            default: break
            }
        }
    }

    /// Parses seconds: digits only, at most ``longest``; `nil` for other text.
    static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return min(Int64(text) ?? longest, longest)
    }

    /// Takes one directive and the comma after it from the front. `nil` if a quote in it does not end.
    ///
    /// - Returns: The name in lower case, and the value without quotes.
    private static func directive(_ bytes: inout Substring.UTF8View) -> (name: String, value: String?)? {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
        let comma = UInt8(ascii: ",")
        var name: [UInt8] = []
        var value: [UInt8]?
        var isQuoted = false
        var isEscaped = false
        var end = bytes.startIndex
        while end < bytes.endIndex, isQuoted || bytes[end] != comma {
            let byte = bytes[end]
            end = bytes.index(after: end)
            switch byte {
            case _ where isEscaped:
                isEscaped = false
                value?.append(byte)
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\"") where value != nil: isQuoted.toggle()
            case UInt8(ascii: "=") where value == nil: value = []
            case _ where isSpace(byte) && !isQuoted: break
            default: if value == nil { name.append(byte) } else { value?.append(byte) }
            }
        }
        guard !isQuoted else { return nil }
        bytes = end < bytes.endIndex ? bytes[bytes.index(after: end)...] : bytes[end...]
        return (String(decoding: name, as: UTF8.self).lowercased(), value.map { String(decoding: $0, as: UTF8.self) })
    }
}
