import TileCache

/// An address with places for a tile's numbers.
struct URLTemplate: Hashable, Sendable {
    private enum Part: Hashable {
        case text(String)
        case zoom
        case column
        case row
        case rowFromBottom
    }

    private var parts: [Part] = []

    /// Parses `http://server/{z}/{x}/{y}.png`; `{-y}` counts rows from the bottom.
    init(_ text: String) throws(TileSourceError) {
        guard HTTPAddress.begins(text) else {
            throw TileSourceError(text, "an address that begins with http:// or https:// was expected")
        }
        guard !text.utf8.contains(where: { $0 <= 32 || $0 >= 127 }) else {
            throw TileSourceError(
                text,
                "an address without spaces and of ASCII letters was expected; write others as %XX"
            )
        }
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "{") {
            guard rest[..<open].last != "$" else {
                let place = rest[open...].prefix { $0 != "}" } + "}"
                throw TileSourceError(text, "{z}, {x}, {y} or {-y} was expected, not $\(place)")
            }
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw TileSourceError(text, "a } was expected for each {")
            }
            switch rest[rest.index(after: open)..<close] {
            case "z": parts.append(.zoom)
            case "x": parts.append(.column)
            case "y": parts.append(.row)
            case "-y": parts.append(.rowFromBottom)
            default: throw TileSourceError(text, "{z}, {x}, {y} or {-y} was expected, not \(rest[open...close])")
            }
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        guard parts.contains(.zoom), parts.contains(.column), parts.contains(.row) || parts.contains(.rowFromBottom)
        else {
            throw TileSourceError(text, "places for {z}, {x} and {y} (or {-y}) were expected in it")
        }
    }

    func address(zoom: Int, column: Int, row: Int) -> String {
        parts.reduce(into: "") { address, part in
            switch part {
            case .text(let text): address += text
            case .zoom: address += "\(zoom)"
            case .column: address += "\(column)"
            case .row: address += "\(row)"
            case .rowFromBottom: address += "\(TileRowOrder.fromBottom.number(of: row, zoom: zoom))"
            }
        }
    }
}
