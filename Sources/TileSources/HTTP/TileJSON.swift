/// A TileJSON: templates of tiles, and what they cover. See <https://github.com/mapbox/tilejson-spec>.
struct TileJSON {
    let template: TileTemplate
    let zooms: ClosedRange<Int>
    let bounds: MapBounds?
    /// Pixels a side, which some servers state.
    let tileSize: Int?

    /// Maximum size of a file. Most take a few hundred bytes; some list the layers of vector tiles.
    static let largestFile = 16 << 20
    /// Templates that are read.
    private static let mostTemplates = 64

    /// Parses a TileJSON.
    ///
    /// - Parameter address: Its own, for messages.
    init(_ bytes: [UInt8], address: String) throws(TileSourceError) {
        let json = try JSONValue(bytes, path: address)
        func failure(_ expected: String, _ found: JSONValue?) -> TileSourceError {
            TileSourceError(address, "\(expected) was expected\(found.map { ", not \($0.summary)" } ?? "")")
        }
        func zoom(_ name: String, _ usual: Int) throws(TileSourceError) -> Int {
            guard let value = json[name], value != .null else { return usual }
            guard let number = value.whole ?? value.text.flatMap({ Int($0) }), MapPyramid.zooms.contains(number) else {
                throw failure("\(name) of 0 to \(MapPyramid.zooms.upperBound)", value)
            }
            return number
        }
        let texts = (json["tiles"]?.elements ?? []).prefix(Self.mostTemplates).compactMap(\.text)
        guard !texts.isEmpty else { throw failure("tiles with the templates of addresses", json["tiles"]) }
        guard json["vector_layers"] == nil else {
            throw TileSourceError(address, "tiles of PNG, JPEG or WebP were expected, and these are vector tiles")
        }
        let scheme = json["scheme"]
        guard [nil, .null, .string("xyz"), .string("tms")].contains(scheme) else {
            throw failure("scheme \"xyz\" or \"tms\"", scheme)
        }
        let (first, last) = (try zoom("minzoom", 0), try zoom("maxzoom", MapPyramid.zooms.upperBound))
        guard first <= last else { throw failure("a maxzoom of \(first) or more", json["maxzoom"]) }
        zooms = first...last
        do throws(TileSourceError) {
            template = try TileTemplate(texts.map { scheme?.text == "tms" ? $0 + "#rows=bottom" : $0 })
        } catch {
            throw TileSourceError(address, "tiles: \(error)")
        }
        var bounds: MapBounds?
        if let value = json["bounds"], value != .null {
            let sides = (value.elements ?? []).compactMap { if case .number(let side) = $0 { side } else { nil } }
            guard sides.count == 4 else { throw failure("bounds with four numbers", value) }
            bounds = MapBounds(west: sides[0], south: sides[1], east: sides[2], north: sides[3])
            // Some state a world beyond its edges, or nothing.
            if bounds?.part() == nil { bounds = nil }
        }
        self.bounds = bounds
        tileSize = (json["tileSize"] ?? json["tilesize"])?.whole.flatMap {
            TileSourceOptions.tileSizes.contains($0) ? $0 : nil
        }
    }
}
