import TileCache

/// An image of the IIIF Image API, version 1, 2 or 3. Has the fields of the server's `info.json`, or of a file.
///
/// Levels are the scale factors of `tiles`. Where tiles are not listed they are cut by powers of two if the server cuts
/// any region; otherwise the levels are the listed `sizes`. Requests are canonical. See
/// <https://iiif.io/api/image/3.0/> and <https://iiif.io/api/image/2.1/>.
struct IIIFImage: Equatable {
    /// One resolution.
    struct Level: Equatable {
        /// Pixels of the image for one of the level. 0 for a level that is one image of a listed size.
        var factor: Int
        /// The same, of a listed size too.
        var scale: Double
        var width: Int
        var height: Int
        var tileWidth: Int
        var tileHeight: Int
    }

    /// 1, 2 or 3.
    private(set) var version: Int
    /// Address that requests begin with.
    private(set) var base: String
    /// Address of the description, without `/info.json`.
    let own: String
    /// What the description states in place of an address.
    let relativeID: String?
    /// Whether the tiles are files, of one form each (level 0).
    private(set) var isStatic = false
    private(set) var width: Int
    private(set) var height: Int
    private(set) var format = "jpg"
    /// Coarsest first.
    private(set) var levels: [Level] = []

    /// Maximum size of an `info.json`; a usual one takes 1 KB.
    static let largestFile = 1 << 20
    /// Side of tiles that the server does not list.
    static let usualTile = 512

    private static let protocolName = "http://iiif.io/api/image"
    static let formats = ["jpg", "png", "webp"]
    /// Reserved names that no host has (RFC 2606); libvips states the first one unless it is told another.
    private static let placeholders: Set<String> = ["example.com", "example.org", "example.net"]

    /// Whether ``base`` is no server's.
    var isPlaceholder: Bool { HTTPAddress(base).map { Self.placeholders.contains($0.origin[1]) } ?? false }

    /// Address or path of the description: that of the image, or its own.
    static func description(of address: String) throws(TileSourceError) -> String {
        if HTTPAddress.begins(address) { try HTTPAddress.check(address, address) }
        let plain = address.hasSuffix("/") ? String(address.dropLast()) : address
        return plain.hasSuffix("/info.json") ? plain : plain + "/info.json"
    }

    /// Parses a description.
    ///
    /// - Parameters:
    ///   - address: The description's own, `.../info.json`.
    ///   - tileSize: Side of tiles if the server does not list them. Default: 512.
    init(_ bytes: [UInt8], address: String, tileSize: Int? = nil) throws(TileSourceError) {
        let fields = IIIFFields(try JSONValue(bytes, path: address), address)
        guard case .object = fields.json else {
            throw TileSourceError(address, "an object was expected, not \(fields.json.summary)")
        }
        if let name = fields.json["protocol"], name.text != Self.protocolName {
            throw fields.failure("protocol \"\(Self.protocolName)\"", name)
        }
        version = try Self.version(fields)
        // Files are beside their description, wherever it says they are.
        let isServed = HTTPAddress.begins(address)
        let id = isServed ? fields.json[version == 3 ? "id" : "@id"] : nil
        own = String(address.dropLast("/info.json".count))
        // The name of a file alone is no address: some generators of static sets write it unless they are told one.
        relativeID = id?.text.flatMap { $0.contains(":") || $0.contains(" ") ? nil : $0 }
        base = relativeID == nil ? id?.text ?? own : own
        while base.hasSuffix("/") { base.removeLast() }
        let isAddress =
            HTTPAddress(base) != nil && HTTPAddress.begins(base) && base.utf8.count <= 8192
            && base.utf8.allSatisfy { $0 > 32 && $0 < 127 }
        guard !isServed || isAddress, id == nil || id?.text != nil else {
            let expected = "an address of http or https, of ASCII characters without spaces,"
            throw fields.failure("\(version == 3 ? "id" : "@id") with \(expected)", id)
        }
        width = try fields.number("width", 1...1 << 30)
        height = try fields.number("height", 1...1 << 30)
        // Version 1 lists what a server has, in no order.
        let listed = (fields.json[version == 1 ? "formats" : "preferredFormats"]?.elements ?? []).compactMap(\.text)
        let wanted = version == 1 && listed.contains("jpg") ? ["jpg"] : listed
        format = wanted.first { Self.formats.contains($0) } ?? "jpg"
        isStatic = !isServed || !Self.cutsRegions(fields)
        try readTiles(fields)
        if levels.isEmpty, !isStatic { try makeTiles(fields, side: tileSize ?? Self.usualTile) }
        try addSizes(fields)
        guard !levels.isEmpty else {
            throw TileSourceError(
                address,
                "tiles were expected, sizes of at most \(TileSourceOptions.tileSizes.upperBound) pixels a side, or a "
                    + "server that cuts any region (level 1)"
            )
        }
    }

    private static func version(_ fields: IIIFFields) throws(TileSourceError) -> Int {
        let context = fields.json["@context"]
        if context == nil, ["identifier", "scale_factors", "tile_width"].contains(where: { fields.json[$0] != nil }) {
            return 1
        }
        let names = context?.elements?.compactMap(\.text) ?? [context?.text ?? ""]
        for name in names {
            for version in 2...3 where name.hasSuffix("//iiif.io/api/image/\(version)/context.json") { return version }
            if name.hasSuffix("/image-api/1.1/context.json") { return 1 }
        }
        guard names.contains("") || names.isEmpty else {
            throw fields.failure("@context of version 1.1, 2 or 3 of the Image API", context)
        }
        return fields.json["@id"] != nil ? 2 : 3
    }

    /// Whether the server cuts any region. That takes level 1 or 2, or the feature `regionByPx` beside level 0.
    private static func cutsRegions(_ fields: IIIFFields) -> Bool {
        let profile = fields.json["profile"]
        let parts = profile?.elements ?? [profile].compactMap(\.self)
        let names = parts.compactMap(\.text)
        let levels = ["level1", "level2", "/level1.json", "/level2.json", "#level1", "#level2"]
        if names.contains(where: { name in levels.contains { name.hasSuffix($0) } }) { return true }
        let more = parts.compactMap { $0["supports"]?.elements } + [fields.json["extraFeatures"]?.elements ?? []]
        return more.joined().contains(.string("regionByPx"))
    }

    /// The field `tiles` of later versions.
    private static func tilesOfVersion1(_ fields: IIIFFields) -> JSONValue? {
        guard let factors = fields.json["scale_factors"], let width = fields.json["tile_width"] else { return nil }
        var tile = ["scaleFactors": factors, "width": width]
        tile["height"] = fields.json["tile_height"]
        return .array([.object(tile)])
    }

    /// Levels of the field `tiles`.
    private mutating func readTiles(_ fields: IIIFFields) throws(TileSourceError) {
        guard let tiles = version == 1 ? Self.tilesOfVersion1(fields) : fields.json["tiles"], tiles != .null else {
            return
        }
        guard let entries = tiles.elements else { throw fields.failure("tiles with an array", tiles) }
        for (index, entry) in entries.prefix(TilePyramid.maximumLevelCount).enumerated() {
            let own = IIIFFields(entry, fields.address, "tiles[\(index)].")
            let tileWidth = try own.number("width", TileSourceOptions.tileSizes)
            let tileHeight = try own.number("height", TileSourceOptions.tileSizes, default: tileWidth)
            guard var factors = entry["scaleFactors"]?.elements else {
                throw own.failure("scaleFactors with numbers", entry["scaleFactors"])
            }
            // Some writers list none for an image that is one tile.
            if factors.isEmpty, width <= tileWidth, height <= tileHeight { factors = [.number(1)] }
            guard !factors.isEmpty else { throw own.failure("scaleFactors with numbers", entry["scaleFactors"]) }
            for (place, value) in factors.enumerated() {
                guard let factor = value.whole, (1...1 << 30).contains(factor) else {
                    throw own.failure("scaleFactors[\(place)] of 1 to \(1 << 30)", value)
                }
                guard !levels.contains(where: { $0.factor == factor }) else { continue }
                guard levels.count < TilePyramid.maximumLevelCount else {
                    throw own.failure("at most \(TilePyramid.maximumLevelCount) scaleFactors", nil)
                }
                add(factor, tileWidth, tileHeight)
            }
        }
        levels.sort { $0.factor > $1.factor }
    }

    private mutating func add(_ factor: Int, _ tileWidth: Int, _ tileHeight: Int) {
        levels.append(
            Level(
                factor: factor,
                scale: Double(factor),
                width: (width - 1) / factor + 1,
                height: (height - 1) / factor + 1,
                tileWidth: tileWidth,
                tileHeight: tileHeight
            )
        )
    }

    /// Levels by powers of two, down to one tile.
    private mutating func makeTiles(_ fields: IIIFFields, side: Int) throws(TileSourceError) {
        let largest = Int(UInt32.max)
        // Version 2 has the server's limits in an object of its profile.
        let inProfile = fields.json["profile"]?.elements?.first { if case .object = $0 { true } else { false } }
        let profile = inProfile.map { IIIFFields($0, fields.address, "profile.") }
        func limit(_ name: String, _ range: ClosedRange<Int>, default most: Int) throws(TileSourceError) -> Int {
            let beside = try fields.number(name, range, default: most)
            return try profile?.number(name, range, default: beside) ?? beside
        }
        let mostWide = try limit("maxWidth", 1...largest, default: largest)
        let mostHigh = try limit("maxHeight", 1...largest, default: mostWide)
        let area = try limit("maxArea", 1...Int.max, default: Int.max)
        var side = min(side, mostWide, mostHigh)
        while side > 1, side * side > area { side /= 2 }
        guard side >= TileSourceOptions.tileSizes.lowerBound else {
            throw fields.failure("maxWidth, maxHeight and maxArea that allow tiles of 16 pixels a side", nil)
        }
        var factor = 1
        while factor * side < max(width, height) { factor *= 2 }
        while factor >= 1 {
            add(factor, side, side)
            factor /= 2
        }
    }

    /// Listed sizes of the whole image that are coarser than all tiles.
    ///
    /// They help if the coarsest level has several tiles, and each takes a slot of its size.
    private mutating func addSizes(_ fields: IIIFFields) throws(TileSourceError) {
        if let first = levels.first, first.width <= first.tileWidth, first.height <= first.tileHeight { return }
        guard let sizes = fields.json["sizes"], sizes != .null else { return }
        guard let entries = sizes.elements else { throw fields.failure("sizes with an array", sizes) }
        let limit = TileSourceOptions.tileSizes.upperBound
        let most = levels.first.map { (width: $0.tileWidth, height: $0.tileHeight) } ?? (width: limit, height: limit)
        var listed: [(width: Int, height: Int)] = []
        for (index, entry) in entries.enumerated() {
            let own = IIIFFields(entry, fields.address, "sizes[\(index)].")
            listed.append((try own.number("width", 1...1 << 30), try own.number("height", 1...1 << 30)))
        }
        var overviews = Overviews(of: (width: width, height: height), within: 1)
        var found: [Level] = []
        for (wide, high) in listed.sorted(by: { $0 > $1 }) {
            // Others are distorted.
            guard wide <= most.width, high <= most.height, found.last?.width != wide || found.last?.height != high,
                let scale = overviews.take(width: wide, height: high), scale >= 1,
                scale > (found.last ?? levels.first)?.scale ?? 0,
                found.count + levels.count < TilePyramid.maximumLevelCount
            else { continue }
            found.append(Level(factor: 0, scale: scale, width: wide, height: high, tileWidth: wide, tileHeight: high))
        }
        levels = found.sorted { $0.scale > $1.scale } + levels
    }
}

extension IIIFImage: ServerTiles {
    /// The image as a source: its name, and what gets the options' headers.
    func served(as name: String, home: String, wrapsX: Bool) throws(TileSourceError) -> ServedPyramid {
        let own = levels.map { level in
            PyramidLevel(
                width: level.width,
                height: level.height,
                tileWidth: level.tileWidth,
                tileHeight: level.tileHeight,
                worldPixelsPerPixel: level.scale
            )
        }
        let shapes = levels.map { "\($0.factor) \($0.width) x \($0.height) \($0.tileWidth) x \($0.tileHeight)" }
        return ServedPyramid(
            kind: "iiif",
            name: name,
            home: home,
            pyramid: try TilePyramid(of: home, width: width, height: height, wrapsX: wrapsX, levels: own),
            tileSize: levels[levels.count - 1].tileWidth,
            tiles: IIIFTiles(self),
            identity: [base, "\(version) \(format) \(width) x \(height)"] + shapes
        )
    }

    /// Forms of a request for all of the image: the canonical one, one with the size at full resolution, too, and one
    /// with the region, too. Sets of files have one of them.
    static let wholeForms = 3

    /// Whether a tile shows all of the image.
    func showsAll(_ tile: TileCoordinate) -> Bool {
        let part = region(of: tile)
        return part.width == width && part.height == height
    }

    /// The canonical address of a tile.
    func address(of tile: TileCoordinate) -> String? { address(of: tile, base: base, format: format) }

    /// - Parameter whole: Form of a request for all of the image, less than ``wholeForms``.
    func address(of tile: TileCoordinate, base: String, format: String, whole: Int = 0) -> String {
        let (part, place) = (region(of: tile), placement(of: tile))
        let isAll = showsAll(tile)
        let region = isAll && whole < 2 ? "full" : "\(part.x),\(part.y),\(part.width),\(part.height)"
        let isWhole = isAll && whole == 0 && place.imageWidth == width && place.imageHeight == height
        let size =
            version == 3
            ? isWhole ? "max" : "\(place.imageWidth),\(place.imageHeight)" : isWhole ? "full" : "\(place.imageWidth),"
        return "\(base)/\(region)/\(size)/0/\(version == 1 ? "native" : "default").\(format)"
    }

    /// Part of the image that a tile shows.
    private func region(of tile: TileCoordinate) -> (x: Int, y: Int, width: Int, height: Int) {
        let level = levels[tile.level]
        guard level.factor > 0 else { return (0, 0, width, height) }
        let (spanX, spanY) = (level.tileWidth * level.factor, level.tileHeight * level.factor)
        let (x, y) = (tile.column * spanX, tile.row * spanY)
        return (x, y, min(spanX, width - x), min(spanY, height - y))
    }

    func placement(of tile: TileCoordinate) -> ImagePlacement {
        let level = levels[tile.level]
        let wide = min(level.tileWidth, level.width - tile.column * level.tileWidth)
        let high = min(level.tileHeight, level.height - tile.row * level.tileHeight)
        // Servers round the sides of cut tiles up, down or to the nearest.
        var place = ImagePlacement(
            imageWidth: wide,
            imageHeight: high,
            x: 0,
            y: 0,
            width: wide,
            height: high,
            tolerance: level.factor == 1 ? 0 : ImagePlacement.edgeTolerance
        )
        if version < 3 {
            // Servers are told the width alone, which is rounded up. In a narrow part that makes the height larger.
            let part = region(of: tile)
            place.otherHeight = Int((Double(part.height) * Double(wide) / Double(part.width)).rounded())
        }
        return place
    }
}

/// Fields of an object of an `info.json`, with messages that name them.
private struct IIIFFields {
    let json: JSONValue
    let address: String
    /// Before the fields' names in messages: `tiles[0].`.
    let prefix: String

    init(_ json: JSONValue, _ address: String, _ prefix: String = "") {
        (self.json, self.address, self.prefix) = (json, address, prefix)
    }

    func failure(_ expected: String, _ found: JSONValue?) -> TileSourceError {
        TileSourceError(address, "\(prefix)\(expected) was expected\(found.map { ", not \($0.summary)" } ?? "")")
    }

    func number(
        _ name: String,
        _ range: ClosedRange<Int>,
        default usual: Int? = nil
    ) throws(TileSourceError) -> Int {
        guard let value = json[name], value != .null else {
            if let usual { return usual }
            throw failure("\(name) of \(range.lowerBound) to \(range.upperBound)", nil)
        }
        guard let number = value.whole, range.contains(number) else {
            throw failure("\(name) of \(range.lowerBound) to \(range.upperBound)", value)
        }
        return number
    }
}
