import TileCache

/// One layer of a WMTS server, version 1.0.0, in one tile matrix set. Has what the server's capabilities say.
///
/// Tiles have addresses by a `ResourceURL`, or by the parameters of `GetTile`. See OGC 07-057r7.
struct WMTSLayer: Equatable {
    /// A part of a tile's address.
    enum Part: Equatable { case text(String), matrix, row, column }

    let layer: String
    let matrixSet: String
    let style: String
    /// Coarsest first.
    private(set) var matrices: [WMTSMatrix] = []
    private(set) var parts: [Part] = []
    private(set) var warning: String?

    /// Maximum size of the capabilities; those of large servers take 10 MB.
    static let largestFile = 32 << 20
    /// Maximum number of elements and attributes.
    static let mostElements = 1 << 20
    /// Layers that are tried if none is named.
    static let mostTries = 1000
    /// Maximum number of matrices of a set; maps of the whole earth have some 25.
    static let mostMatrices = 200
    /// Maximum bytes of a tile's address without its numbers.
    static let longestAddress = 8192

    private static let formats: Set<String> = ["image/png", "image/png8", "image/jpeg", "image/jpg", "image/webp"]

    /// Parses capabilities and chooses.
    init(_ bytes: [UInt8], _ choice: WMTSChoice) throws(TileSourceError) {
        let address = choice.address
        let root = try XMLElement(bytes, path: address, limit: Self.mostElements)
        guard root.name == "Capabilities", let contents = root.child("Contents") else {
            throw TileSourceError(
                address,
                "WMTS capabilities were expected, an element Capabilities with Contents, not \(root.name.prefix(60))"
            )
        }
        let layers = contents.children("Layer")
        guard let first = layers.first else { throw TileSourceError(address, "Contents: a Layer was expected") }
        var sets: [String: XMLElement] = [:]
        for set in contents.children("TileMatrixSet") {
            if let name = set.child("Identifier")?.text, sets[name] == nil { sets[name] = set }
        }
        let keyValues = Self.keyValueAddress(root)
        if let name = choice.layer {
            guard let layer = layers.first(where: { $0.child("Identifier")?.text == name }) else {
                let names = layers.prefix(10).compactMap { $0.child("Identifier")?.text.prefix(60) }
                let more = layers.count > 10 ? " and \(layers.count - 10) more" : ""
                throw TileSourceError(
                    address,
                    "a layer \"\(name)\" was expected; there are \(names.joined(separator: ", "))\(more)"
                )
            }
            try self.init(layer, keyValues, sets, choice)
            return
        }
        // Layers without images, such as vector tiles, are passed over; the first one's problem is the message.
        var problem: TileSourceError?
        for layer in layers.prefix(Self.mostTries) {
            do throws(TileSourceError) {
                try self.init(layer, keyValues, sets, choice)
                if layers.count > 1 {
                    let chosen = "the layer \"\(self.layer)\" of \(layers.count) was chosen; #layer= chooses another"
                    warning = [warning, "\(address): \(chosen)"].compactMap(\.self).joined(separator: "; ")
                }
                return
            } catch {
                problem = problem ?? error
            }
        }
        throw problem ?? WMTSFields(first, address).failure("images were expected")
    }

    /// - Parameter keyValues: Address of the operation `GetTile`. The same for all layers, and so found once.
    private init(
        _ layer: XMLElement,
        _ keyValues: String?,
        _ sets: [String: XMLElement],
        _ choice: WMTSChoice
    ) throws(TileSourceError) {
        let fields = WMTSFields(layer, choice.address)
        let id = try fields.text("Identifier")
        func set(_ name: String?) -> XMLElement? { name.flatMap { sets[$0] } }
        let links = layer.children("TileMatrixSetLink").filter { set($0.child("TileMatrixSet")?.text) != nil }
        let link =
            choice.matrixSet.map { name in links.first { $0.child("TileMatrixSet")?.text == name } } ?? links.first
        guard let link, let name = link.child("TileMatrixSet")?.text, let matrixSet = set(name) else {
            let names = links.prefix(10).compactMap { $0.child("TileMatrixSet")?.text.prefix(60) }
            let wanted = choice.matrixSet.map { "\"\($0)\"" } ?? "of Contents"
            let found = names.isEmpty ? "there is none" : "there are \(names.joined(separator: ", "))"
            throw fields.failure("a link to a TileMatrixSet \(wanted) was expected; \(found)")
        }
        let styles = layer.children("Style")
        if let wanted = choice.style, !styles.isEmpty,
            !styles.contains(where: { $0.child("Identifier")?.text == wanted })
        {
            let names = styles.prefix(10).compactMap { $0.child("Identifier")?.text.prefix(60) }
            throw fields.failure("a Style \"\(wanted)\" was expected; there are \(names.joined(separator: ", "))")
        }
        let usual = styles.first { ["true", "1"].contains($0.attributes["isDefault"]) } ?? styles.first
        let style = choice.style ?? usual?.child("Identifier")?.text ?? "default"
        (self.layer, self.matrixSet, self.style) = (id, name, style)
        let place = try Self.address(layer, keyValues, fields, choice, style: style, matrixSet: name)
        parts = Self.adding(to: place, choice)
        try readMatrices(matrixSet, link, choice.address)
    }

    /// Reads the matrices of a set, of which a layer's limits may name some.
    private mutating func readMatrices(
        _ matrixSet: XMLElement,
        _ link: XMLElement,
        _ address: String
    ) throws(TileSourceError) {
        guard matrixSet.children.count <= Self.mostMatrices + 10,
            link.child("TileMatrixSetLimits")?.children.count ?? 0 <= Self.mostMatrices
        else {
            throw WMTSFields(matrixSet, address).failure("at most \(Self.mostMatrices) matrices were expected")
        }
        // Each layer that is tried reads them again.
        guard matrixSet.children.allSatisfy({ $0.children.count <= WMTSMatrix.mostElements }) else {
            throw WMTSFields(matrixSet, address).failure(
                "at most \(WMTSMatrix.mostElements) elements in a TileMatrix were expected"
            )
        }
        var all: [WMTSMatrix] = []
        for element in matrixSet.children("TileMatrix") { all.append(try WMTSMatrix(element, address)) }
        if let limits = link.child("TileMatrixSetLimits")?.children("TileMatrixLimits"), !limits.isEmpty {
            var limited: [WMTSMatrix] = []
            for limit in limits {
                let name = try WMTSFields(limit, address).text("TileMatrix")
                guard var matrix = all.first(where: { $0.id == name }) else {
                    throw WMTSFields(matrixSet, address).failure(
                        "a TileMatrix \"\(name.prefix(60))\" was expected, which TileMatrixLimits names"
                    )
                }
                try matrix.limit(limit, address)
                limited.append(matrix)
            }
            all = limited
        }
        guard !all.isEmpty else {
            throw WMTSFields(matrixSet, address).failure("a TileMatrix was expected")
        }
        all.sort { $0.scaleDenominator > $1.scaleDenominator }
        let ratios = WMTSGrid.ratios(all)
        let origins = WMTSGrid.origins(all, ratios, system: matrixSet.child("SupportedCRS")?.text)
        matrices = zip(all, zip(ratios, origins)).compactMap { matrix, place in
            guard let origin = place.1 else { return nil }
            var placed = matrix
            (placed.ratio, placed.origin) = (place.0, origin)
            return placed
        }
        if matrices.count < all.count {
            let count = all.count - matrices.count
            warning =
                "\(address): \(count) matrices of \"\(self.matrixSet)\" begin at another corner, whose place over the "
                + "finest cannot be told, and are left out"
        }
    }

    // MARK: - Addresses

    /// Whether a format is the chosen one. Without a choice, whether it is one of images that can be decoded.
    private static func isUsable(_ format: String?, _ choice: WMTSChoice) -> Bool {
        guard let format else { return false }
        if let wanted = choice.format { return format == wanted }
        let plain = format.lowercased().prefix { $0 != ";" && $0 != " " }
        return formats.contains(String(plain))
    }

    /// Finds the form of a tile's address: the first template for images, or `GetTile`.
    private static func address(
        _ layer: XMLElement,
        _ keyValues: String?,
        _ fields: WMTSFields,
        _ choice: WMTSChoice,
        style: String,
        matrixSet: String
    ) throws(TileSourceError) -> [Part] {
        var values = ["layer": fields.element.child("Identifier")?.text ?? "", "style": style]
        values["tilematrixset"] = matrixSet
        var dimensions: [(name: String, value: String)] = []
        for dimension in layer.children("Dimension") {
            guard let name = dimension.child("Identifier")?.text, !name.isEmpty else { continue }
            let value = dimension.child("Default")?.text ?? dimension.child("Value")?.text ?? ""
            dimensions.append((name, value))
            values[name.lowercased()] = value
        }
        let resources = layer.children("ResourceURL").filter { $0.attributes["resourceType"] == "tile" }
        if let resource = resources.first(where: { isUsable($0.attributes["format"], choice) }) {
            return try parts(resource.attributes["template"] ?? "", values, fields)
        }
        let offered = layer.children("Format").map(\.text) + resources.compactMap { $0.attributes["format"] }
        guard let format = offered.first(where: { isUsable($0, choice) }) else {
            let found = offered.isEmpty ? "and there is none" : "not \(offered.prefix(10).joined(separator: ", "))"
            let wanted = choice.format ?? "image/png, image/jpeg or image/webp"
            throw fields.failure("a Format \(wanted) was expected, \(found)")
        }
        guard let place = keyValues else {
            throw fields.failure("a ResourceURL for tiles of \(format) was expected, or an Operation GetTile")
        }
        let pairs =
            [
                ("SERVICE", "WMTS"), ("REQUEST", "GetTile"), ("VERSION", "1.0.0"), ("LAYER", values["layer"] ?? ""),
                ("STYLE", style), ("FORMAT", format), ("TILEMATRIXSET", matrixSet),
            ] + dimensions.map { ($0.name, $0.value) }
        guard pairs.reduce(place.utf8.count, { $0 + $1.0.utf8.count + $1.1.utf8.count }) <= longestAddress else {
            throw fields.failure("an address of at most \(longestAddress) bytes was expected")
        }
        // Once its length is checked: it is read again for each layer.
        try check(place, fields)
        let query = pairs.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))&" }.joined()
        let link = !place.contains("?") ? "?" : place.hasSuffix("?") || place.hasSuffix("&") ? "" : "&"
        return [
            .text(place + link + query + "TILEMATRIX="), .matrix, .text("&TILEROW="), .row, .text("&TILECOL="), .column,
        ]
    }

    /// Adds the parameters that tiles need, as far as their addresses have none of that name. Those of the capabilities'
    /// address are for the same scheme, host and port alone: one may be a key.
    private static func adding(to parts: [Part], _ choice: WMTSChoice) -> [Part] {
        let texts = parts.map { if case .text(let text) = $0 { text } else { "0" } }
        let isOwn = HTTPAddress(texts.joined()).map { $0.origin } == HTTPAddress(choice.address).map { $0.origin }
        let split = texts.joined().split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var known = Set(split.dropFirst().first?.split(separator: "&").map { WMTSChoice.name($0) } ?? [])
        let more = (choice.query + (isOwn ? choice.ownQuery : [])).filter { known.insert(WMTSChoice.name($0)).inserted }
        guard !more.isEmpty else { return parts }
        let link = split.count == 1 ? "?" : split[1].isEmpty || split[1].hasSuffix("&") ? "" : "&"
        return parts + [.text(link + more.joined(separator: "&"))]
    }

    /// Address of the operation `GetTile` for requests by keys and values.
    private static func keyValueAddress(_ root: XMLElement) -> String? {
        let operations = root.child("OperationsMetadata")?.children("Operation") ?? []
        guard let tile = operations.first(where: { $0.attributes["name"] == "GetTile" }) else { return nil }
        let ways = tile.children("DCP").compactMap { $0.child("HTTP") }.flatMap { $0.children("Get") }
        return ways.first { way in
            let encodings = way.children("Constraint").filter { $0.attributes["name"] == "GetEncoding" }
            let names = encodings.compactMap { $0.child("AllowedValues") }.flatMap { $0.children("Value") }.map(\.text)
            return names.isEmpty || names.contains("KVP")
        }?.attributes["href"]
    }

    private static func check(_ place: String, _ fields: WMTSFields) throws(TileSourceError) {
        guard HTTPAddress.begins(place), place.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw fields.failure(
                "an address of http or https was expected, of ASCII characters without spaces, "
                    + "not \"\(place.withoutPasswords.prefix(100))\""
            )
        }
    }

    /// Parses a template; places for what is the same for all tiles are filled.
    private static func parts(
        _ template: String,
        _ values: [String: String],
        _ fields: WMTSFields
    ) throws(TileSourceError) -> [Part] {
        try check(template, fields)
        let tooLong = "ResourceURL: an address of at most \(longestAddress) bytes was expected"
        guard template.utf8.count <= longestAddress else { throw fields.failure(tooLong) }
        let shown = template.withoutPasswords.prefix(200)
        var (parts, text, rest) = ([Part](), "", Substring(template))
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw fields.failure("ResourceURL: a } was expected for each {, not \"\(shown)\"")
            }
            text += rest[..<open]
            let name = rest[rest.index(after: open)..<close]
            rest = rest[rest.index(after: close)...]
            let place: [String: Part] = ["tilematrix": .matrix, "tilerow": .row, "tilecol": .column]
            if let part = place[name.lowercased()] {
                parts += [.text(text), part]
                text = ""
            } else if let value = values[name.lowercased()] {
                text += PercentCoding.encode(value)
                guard text.utf8.count <= longestAddress else { throw fields.failure(tooLong) }
            } else {
                throw fields.failure("ResourceURL: {\(name.prefix(60))} has no Dimension of that name")
            }
        }
        parts.append(.text(text + rest))
        guard parts.contains(.row), parts.contains(.column), parts.contains(.matrix) else {
            throw fields.failure(
                "ResourceURL: {TileMatrix}, {TileRow} and {TileCol} were expected in \"\(shown)\""
            )
        }
        return parts
    }
}

extension WMTSLayer: ServerTiles {
    func address(of tile: TileCoordinate) -> String? {
        let matrix = matrices[tile.level]
        guard matrix.columns.contains(tile.column), matrix.rows.contains(tile.row) else { return nil }
        return parts.reduce(into: "") { address, part in
            switch part {
            case .text(let text): address += text
            case .matrix: address += PercentCoding.encode(matrix.id)
            case .row: address += "\(tile.row)"
            case .column: address += "\(tile.column)"
            }
        }
    }

    func placement(of tile: TileCoordinate) -> ImagePlacement {
        let matrix = matrices[tile.level]
        return ImagePlacement(tileWidth: matrix.tileWidth, tileHeight: matrix.tileHeight)
    }

    /// The layer as a source. The finest matrix is the world; coarser ones that reach beyond it are cut, at their own
    /// corners too.
    func served(as name: String, home: String, wrapsX: Bool) throws(TileSourceError) -> ServedPyramid {
        let finest = matrices[matrices.count - 1]
        let (worldWidth, worldHeight) = (finest.width * finest.tileWidth, finest.height * finest.tileHeight)
        let pyramid: TilePyramid
        do {
            pyramid = try TilePyramid(
                worldWidth: Double(worldWidth),
                worldHeight: Double(worldHeight),
                wrapsX: wrapsX,
                levels: matrices.map { matrix in
                    func length(_ world: Int, _ start: Double) -> Int {
                        Int(min(max(((Double(world) - start) / matrix.ratio - 1e-3).rounded(.up), 1), 0x1p44))
                    }
                    return PyramidLevel(
                        width: length(worldWidth, matrix.origin.x),
                        height: length(worldHeight, matrix.origin.y),
                        tileWidth: matrix.tileWidth,
                        tileHeight: matrix.tileHeight,
                        worldPixelsPerPixel: matrix.ratio,
                        origin: matrix.origin
                    )
                }
            )
        } catch {
            throw TileSourceError(home, "TileMatrixSet \"\(matrixSet)\": \(error)")
        }
        var contents: PixelRect?
        if finest.isLimited, !finest.columns.isEmpty, !finest.rows.isEmpty {
            contents = PixelRect(
                minX: Double(finest.columns.lowerBound * finest.tileWidth),
                minY: Double(finest.rows.lowerBound * finest.tileHeight),
                maxX: Double(finest.columns.upperBound * finest.tileWidth),
                maxY: Double(finest.rows.upperBound * finest.tileHeight)
            )
        }
        let limits = matrices.enumerated().map { TileRange(level: $0, columns: $1.columns, rows: $1.rows) }
        // Limits that leave nothing are an error of the server.
        let isLimited = matrices.contains(where: \.isLimited) && limits.contains { !$0.isEmpty }
        let shapes = matrices.map { "\($0.id) \($0.scaleDenominator) \($0.width) x \($0.height) \($0.corner)" }
        return ServedPyramid(
            kind: "wmts",
            name: name,
            home: home,
            pyramid: isLimited ? pyramid.limited(to: limits) : pyramid,
            tileSize: finest.tileWidth,
            contents: contents,
            tiles: self,
            identity: ["\(parts)"] + shapes,
            warning: warning
        )
    }
}
