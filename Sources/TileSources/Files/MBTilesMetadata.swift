import TileCache

/// Contents of the table `metadata` of an MBTiles file.
struct MBTilesMetadata {
    var values: [String: String] = [:]

    /// Reads names and values as text, up to 1,000 rows and 1 MiB. The table may be missing.
    ///
    /// - Throws: ``TileSourceError`` if the table is a view that is refused, or takes too long.
    init(_ database: Database, _ path: String) throws(TileSourceError) {
        let isAll = database.readPairs("SELECT name, value FROM metadata") { name, value in
            guard case .text(let name) = name else { return }
            switch value {
            case .text(let value): values[name] = value
            case .integer(let value): values[name] = "\(value)"
            case .real(let value): values[name] = "\(value)"
            case .null, .blob: break
            }
        }
        if isAll != true, let refusal = database.refusal { throw TileSourceError(path, "its metadata: \(refusal)") }
    }

    /// Reads a zoom; `nil` unless it is a valid number.
    func zoom(_ name: String) -> Int? {
        values[name].flatMap { Int($0) }.flatMap { MapPyramid.zooms.contains($0) ? $0 : nil }
    }

    /// The zooms that are stated, if both are valid.
    var zooms: ClosedRange<Int>? {
        guard let first = zoom("minzoom"), let last = zoom("maxzoom"), first <= last else { return nil }
        return first...last
    }

    /// A clause for a warning if tiles have zooms that are not stated; `nil` otherwise.
    func warning(_ own: ClosedRange<Int>) -> String? {
        guard let zooms, own.lowerBound < zooms.lowerBound || own.upperBound > zooms.upperBound else { return nil }
        return "its metadata states the zooms \(zooms.lowerBound) to \(zooms.upperBound), and it has tiles of "
            + "\(own.lowerBound) to \(own.upperBound), which are shown"
    }

    /// Whether the metadata states degrees (EPSG:4326), which the format does not have.
    var isGeodetic: Bool {
        ["crs", "srs", "profile"].contains { name in
            let text = values[name]?.lowercased() ?? ""
            return ["4326", "crs84", "geodetic"].contains { text.contains($0) }
        }
    }

    /// Left, bottom, right and top in degrees as a part of the world. Both axes run from 0 to 1, y downwards. `nil` if they
    /// are missing or invalid.
    func bounds(of world: MapWorld) -> PixelRect? {
        let numbers = values["bounds"]?.split(separator: ",").map { part in
            Double(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed().map(String.init).joined())
        }
        guard let numbers, numbers.count == 4 else { return nil }
        let known = numbers.compactMap { $0 }.filter(\.isFinite)
        guard known.count == 4 else { return nil }
        return MapPyramid.part(left: known[0], bottom: known[1], right: known[2], top: known[3], of: world)
    }
}
