/// The most popular tiles of a level, by what a profile knows of places.
struct PopularTiles: Sendable {
    /// Maximum tiles of a level.
    static let maximumTiles = 512
    /// Maximum tiles of a level that are looked up: larger levels have no popular tiles.
    static let maximumArea = 65_536
    /// Least class of popularity: a twelfth of the sessions.
    static let leastPopularity = 2
    /// Maximum levels that are remembered.
    static let maximumLevels = 16

    private let places: PlaceSketch
    private var levels: [Int: [TileKey]] = [:]

    init(_ places: PlaceSketch) { self.places = places }

    /// Bytes beyond those of the sketch, which is shared.
    var byteCount: Int { levels.values.reduce(0) { $0 + $1.count * MemoryLayout<TileKey>.stride } }

    /// Tiles of a level, the most popular first. Looks up each level once.
    mutating func tiles(of level: Int, in pyramid: TilePyramid, layer: Int) -> [TileKey] {
        if let known = levels[level] { return known }
        let grid = pyramid.levels[level]
        var found: [(share: Double, number: Int, key: TileKey)] = []
        if grid.columns <= Self.maximumArea, grid.rows <= Self.maximumArea / grid.columns {
            for row in 0..<grid.rows {
                for column in 0..<grid.columns {
                    let key = TileKey(layer: layer, TileCoordinate(level: level, column: column, row: row))
                    guard let popularity = places.popularity(of: key), popularity >= Self.leastPopularity else {
                        continue
                    }
                    found.append((places.share(of: key), found.count, key))
                }
            }
        }
        // Stable: tiles that are equally popular stay in the order of rows.
        found.sort { ($1.share, $0.number) < ($0.share, $1.number) }
        if levels.count == Self.maximumLevels { levels.removeAll(keepingCapacity: true) }
        let tiles = found.prefix(Self.maximumTiles).map(\.key)
        levels[level] = tiles
        return tiles
    }
}
