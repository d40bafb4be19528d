/// Headers of an answer that decide until when it is valid, which bytes it has, and whether it may lead elsewhere.
struct HTTPCacheHeaders: Equatable {
    /// Values of all `Cache-Control` lines, joined by commas.
    var cacheControl: String?
    /// The first line of each, as sent.
    var expires: String?
    var date: String?
    var age: String?
    /// The last line of each.
    var entityTag: String?
    var lastModified: String?
    var contentRange: String?
    var contentEncoding: String?
    /// Bytes of the body, if the server says so.
    var contentLength: Int?
    /// Whether the server answers byte ranges (`Accept-Ranges`), as it says.
    var acceptsRanges = false
    /// Whether the answer has passed a proxy or a cache: `Via`, `X-Cache` and names that begin so.
    var isForwarded = false
    /// Whether no later request is sure to get the same answer: `Vary: *`.
    var variesAlways = false
    /// Whether there is a `Location`; libcurl reads it.
    var hasLocation = false

    /// Whether the next answer may be a part of a file though this one is all of it.
    var mayHaveRanges: Bool { acceptsRanges || isForwarded || age != nil }

    /// Maximum bytes of a line, other than of `Cache-Control`, whose omission would prolong the validity.
    private static let longestLine = 1024

    /// Reads a line, which may be any bytes; ignores those that are no header of these.
    mutating func note(_ line: UnsafeRawBufferPointer) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon <= 32 else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        let isShort = line.count <= Self.longestLine
        switch name {
        case "cache-control": cacheControl = (cacheControl.map { $0 + "," } ?? "") + Self.value(line[(colon + 1)...])
        // A long one is no date.
        case "expires": expires = expires ?? (isShort ? Self.value(line[(colon + 1)...]) : "")
        case "date" where isShort: date = date ?? Self.value(line[(colon + 1)...])
        case "age" where isShort: age = age ?? Self.value(line[(colon + 1)...])
        case "etag" where isShort: entityTag = Self.value(line[(colon + 1)...])
        case "last-modified" where isShort: lastModified = Self.value(line[(colon + 1)...])
        case "content-range": contentRange = isShort ? Self.value(line[(colon + 1)...]) : ""
        case "content-encoding": contentEncoding = isShort ? Self.value(line[(colon + 1)...]) : "?"
        case "content-length": contentLength = isShort ? Int(Self.value(line[(colon + 1)...])) : nil
        case "accept-ranges": acceptsRanges = isShort && Self.value(line[(colon + 1)...]).lowercased() == "bytes"
        case "via": isForwarded = true
        case _ where name.hasPrefix("x-cache"): isForwarded = true
        case "location": hasLocation = true
        case "vary": variesAlways = variesAlways || Self.value(line[(colon + 1)...]).contains("*")
        default: break
        }
    }

    /// Printable ASCII without spaces at the ends: validators are sent back as they are.
    private static func value(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let text = String(decoding: bytes.lazy.filter { $0 >= 32 && $0 < 127 }, as: UTF8.self)
        guard let last = text.utf8.lastIndex(where: { $0 != 32 }) else { return "" }
        return String(text[...last].drop { $0 == " " })
    }
}
