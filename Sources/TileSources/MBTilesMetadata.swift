import TileCache

/// Contents of the table `metadata` of an MBTiles file.
struct MBTilesMetadata {
    var values: [String: String] = [:]

    /// Reads names and values that are text, up to 1,000 rows and 1 MiB; the table may be missing.
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

    /// Left, bottom, right and top in degrees as a part of the world's square, x and y from 0 to 1 and y downwards;
    /// `nil` if they are missing or invalid.
    var bounds: PixelRect? {
        let numbers = values["bounds"]?.split(separator: ",").map { part in
            Double(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed().map(String.init).joined())
        }
        guard let numbers, numbers.count == 4 else { return nil }
        let known = numbers.compactMap { $0 }.filter(\.isFinite)
        guard known.count == 4, known[0] < known[2], known[1] < known[3], abs(known[0]) <= 180, abs(known[2]) <= 180,
            abs(known[1]) <= 90, abs(known[3]) <= 90
        else { return nil }
        return PixelRect(
            minX: (known[0] + 180) / 360,
            minY: Self.mercator(known[3]),
            maxX: (known[2] + 180) / 360,
            maxY: Self.mercator(known[1])
        )
    }

    /// Projects a latitude to the square of the Web Mercator projection, from the top.
    private static func mercator(_ latitude: Double) -> Double {
        let sine = PortableMath.sin(latitude * .pi / 180)
        guard abs(sine) < 1 else { return sine > 0 ? 0 : 1 }
        let y = 0.5 - PortableMath.log2((1 + sine) / (1 - sine)) * 0.6931471805599453 / (4 * .pi)
        return min(max(y, 0), 1)
    }
}
