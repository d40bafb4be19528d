/// The tile that the path of a request names: `.../z/x/y`, perhaps with `@2x` and an ending such as `.png`.
struct TilePath: Equatable {
    /// Zooms that are read; more than any map has.
    static let zooms = 0...30

    /// Bytes of a path without its query that may name a tile: thousands of prefixes are kept.
    private static let longest = 1024

    /// Text before the zoom, without a scheme and host: the set of tiles.
    let prefix: String
    let zoom: Int
    let x: Int
    let y: Int
    /// Whether the tile has twice the pixels: 512 in place of 256.
    let isDouble: Bool
    /// Whether zoom, column and row exist. x and y in the other order are not guessed.
    var isValid: Bool { Self.zooms.contains(zoom) && x >> zoom == 0 && y >> zoom == 0 }

    /// `nil` if the path names no tile. A query or fragment is left out.
    init?(_ path: UnsafeRawBufferPointer) {
        let end = path.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.count
        guard end <= Self.longest,
            let afterX = Self.slash(path, before: end), let afterZoom = Self.slash(path, before: afterX),
            let afterPrefix = Self.slash(path, before: afterZoom),
            let x = Self.number(path[(afterZoom + 1)..<afterX]),
            let zoom = Self.number(path[(afterPrefix + 1)..<afterZoom])
        else { return nil }
        let last = path[(afterX + 1)..<end]
        let digits = last.prefix { Self.isDigit($0) }
        guard let y = Self.number(digits) else { return nil }
        var ending = last.dropFirst(digits.count)
        isDouble = ending.starts(with: "@2x".utf8)
        if isDouble { ending = ending.dropFirst(3) }
        guard ending.isEmpty || ending.first == UInt8(ascii: ".") else { return nil }
        (self.zoom, self.x, self.y) = (zoom, x, y)
        prefix = Self.withoutHost(String(decoding: path[..<afterPrefix], as: UTF8.self))
    }

    private static func slash(_ path: UnsafeRawBufferPointer, before end: Int) -> Int? {
        path[..<end].lastIndex(of: UInt8(ascii: "/"))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// A number of up to ten digits.
    private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard 1...10 ~= text.count, text.allSatisfy(isDigit) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func withoutHost(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://") else { return text }
        let rest = text[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? ""
    }
}
