/// The tile that the path of a request names: `.../z/x/y`, perhaps with `@2x` and an ending such as `.png`; ArcGIS's
/// `/tile/z/y/x`; or a query of WMTS with `TileMatrix`, `TileCol` and `TileRow`.
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

    /// `nil` if the path names no tile. Another query, or a fragment, is left out.
    init?(_ path: UnsafeRawBufferPointer) {
        if let query = Self.query(path) {
            self = query
            return
        }
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
        // ArcGIS has the row before the column.
        let isRowFirst = path[..<afterPrefix].reversed().starts(with: "/tile".utf8.reversed())
        (self.zoom, self.x, self.y) = isRowFirst ? (zoom, y, x) : (zoom, x, y)
        prefix = Self.withoutHost(String(decoding: path[..<afterPrefix], as: UTF8.self))
    }

    private init(prefix: String, zoom: Int, x: Int, y: Int) {
        (self.prefix, self.zoom, self.x, self.y, isDouble) = (prefix, zoom, x, y, false)
    }

    /// Bytes of a path with its query of WMTS.
    private static let longestQuery = 4096

    /// The tile of a WMTS request by keys and values. The zoom is the number at the end of the matrix, as in
    /// `EPSG:900913:5`.
    private static func query(_ path: UnsafeRawBufferPointer) -> TilePath? {
        guard path.count <= longestQuery, let mark = path.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        var values: [String: String] = [:]
        for pair in path[(mark + 1)...].split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2 else { continue }
            values[String(decoding: parts[0], as: UTF8.self).lowercased()] = String(decoding: parts[1], as: UTF8.self)
        }
        guard let matrix = values["tilematrix"],
            let zoom = Int(String(matrix.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())),
            let x = values["tilecol"].flatMap({ Int($0) }), let y = values["tilerow"].flatMap({ Int($0) }),
            x >= 0, y >= 0
        else { return nil }
        let set = String(decoding: path[..<mark].prefix(longest), as: UTF8.self)
        return TilePath(prefix: withoutHost(set) + "?" + values["layer", default: ""], zoom: zoom, x: x, y: y)
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
