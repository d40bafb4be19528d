import TileCache

/// A table of tiles in a GeoPackage, and its matrices. See OGC 12-128.
struct GeoPackage {
    struct Matrix: Equatable {
        var zoom: Int
        var width: Int
        var height: Int
        var tileWidth: Int
        var tileHeight: Int
        var pixelWidth: Double
        var pixelHeight: Double
    }

    let table: String
    /// Coarsest first. Those that have tiles.
    private(set) var matrices: [Matrix] = []
    /// Left, bottom, right and top of the matrices in the units of the coordinate system.
    let extent: [Double]
    /// The same of the tiles, if it is stated.
    let contents: [Double]?
    /// A clause for a warning; `nil` if there is nothing to say.
    private(set) var warning: String?

    /// Tables that describe tiles.
    static let tables = ["gpkg_contents", "gpkg_tile_matrix_set", "gpkg_tile_matrix"]
    /// Rows of these that are read.
    private static let mostRows = 10_000

    /// Reads the description of a table.
    ///
    /// - Parameter wanted: Name of the table. Default: the first one.
    init(_ path: String, table wanted: String?, _ limits: DatabaseLimits) throws(TileSourceError) {
        let database = try Database.readable(path: path, limits: limits)
        if let refusal = MBTilesConnection.refusal(database, of: Self.tables) {
            throw TileSourceError(path, "a GeoPackage was expected: \(refusal)")
        }
        func rows(_ text: String, _ count: Int32) throws(TileSourceError) -> [[SQLValue]] {
            guard let query = database.query(text) else {
                throw TileSourceError(path, "a GeoPackage with \(Self.tables.joined(separator: ", ")) was expected")
            }
            query.bind()
            var rows: [[SQLValue]] = []
            while rows.count < Self.mostRows, case .row = query.step() { rows.append((0..<count).map { query[$0] }) }
            guard rows.count == Self.mostRows || query.isDone else { throw TileSourceError(path, database.message) }
            return rows
        }
        let sets = try rows(
            "SELECT table_name, min_x, min_y, max_x, max_y FROM gpkg_contents WHERE data_type = 'tiles'",
            5
        )
        let names = sets.compactMap { $0[0].text }
        guard let table = wanted ?? names.first, let set = sets.first(where: { $0[0].text == table }) else {
            let found = names.isEmpty ? "it has none" : "it has \(names.prefix(10).joined(separator: ", "))"
            throw TileSourceError(path, "a table of tiles\(wanted.map { " \"\($0)\"" } ?? "") was expected; \(found)")
        }
        self.table = table
        if names.count > 1, wanted == nil {
            warning = "the table \"\(table)\" of \(names.count) was chosen; #table= chooses another"
        }
        let whole = try rows("SELECT table_name, min_x, min_y, max_x, max_y FROM gpkg_tile_matrix_set", 5)
        guard let own = whole.first(where: { $0[0].text == table })?.dropFirst().compactMap(\.number), own.count == 4,
            own[0] < own[2], own[1] < own[3]
        else { throw TileSourceError(path, "gpkg_tile_matrix_set: an extent of \"\(table)\" was expected") }
        extent = own
        let stated = set.dropFirst().compactMap(\.number)
        contents = stated.count == 4 && stated[0] < stated[2] && stated[1] < stated[3] ? stated : nil
        let found = try rows(
            "SELECT table_name, zoom_level, matrix_width, matrix_height, tile_width, tile_height, pixel_x_size, "
                + "pixel_y_size FROM gpkg_tile_matrix",
            8
        )
        for row in found where row[0].text == table {
            guard let matrix = Self.matrix(row) else {
                throw TileSourceError(path, "gpkg_tile_matrix: whole numbers and sizes of pixels above 0 were expected")
            }
            matrices.append(matrix)
        }
        guard matrices.count <= TilePyramid.maximumLevelCount else {
            let most = TilePyramid.maximumLevelCount
            throw TileSourceError(
                path,
                "gpkg_tile_matrix: at most \(most) matrices of \"\(table)\" were expected, not \(matrices.count)"
            )
        }
        matrices.sort { $0.pixelWidth > $1.pixelWidth }
    }

    private static func matrix(_ row: [SQLValue]) -> Matrix? {
        let whole = row[1...5].compactMap { if case .integer(let value) = $0 { value } else { nil } }
        guard whole.count == 5, let wide = row[6].number, let high = row[7].number, wide > 0, high > 0,
            (0...1 << 30).contains(whole[0]), whole[1...2].allSatisfy({ (1...1 << 30).contains($0) }),
            whole[3...4].allSatisfy({ TileSourceOptions.tileSizes.contains($0) })
        else { return nil }
        return Matrix(
            zoom: whole[0],
            width: whole[1],
            height: whole[2],
            tileWidth: whole[3],
            tileHeight: whole[4],
            pixelWidth: wide,
            pixelHeight: high
        )
    }

    /// Leaves out matrices without tiles, which some writers list.
    mutating func keep(_ hasTiles: (Matrix) throws(TileLoadFailure) -> Bool) throws(TileLoadFailure) {
        var kept: [Matrix] = []
        for matrix in matrices where try hasTiles(matrix) { kept.append(matrix) }
        matrices = kept
    }

    /// The pyramid: the finest matrix is the world, and all begin at its left top.
    func pyramid(_ path: String, wrapsX: Bool) throws(TileSourceError) -> TilePyramid {
        guard let finest = matrices.last else { throw TileSourceError(path, "its table \"\(table)\" has no tiles") }
        let (width, height) = (finest.width * finest.tileWidth, finest.height * finest.tileHeight)
        var levels: [PyramidLevel] = []
        for matrix in matrices {
            var ratio = matrix.pixelWidth / finest.pixelWidth
            // Sizes have some digits only.
            if abs(ratio - ratio.rounded()) < 1e-6 * ratio { ratio = ratio.rounded() }
            guard abs(matrix.pixelHeight / finest.pixelHeight / ratio - 1) < 1e-3, ratio < 0x1p40 else {
                throw TileSourceError(path, "gpkg_tile_matrix: pixels of one shape at all zooms were expected")
            }
            func length(_ world: Int, _ own: Int) -> Int {
                min(max(Int((Double(world) / ratio - 1e-3).rounded(.up)), 1), own)
            }
            levels.append(
                PyramidLevel(
                    width: length(width, matrix.width * matrix.tileWidth),
                    height: length(height, matrix.height * matrix.tileHeight),
                    tileWidth: matrix.tileWidth,
                    tileHeight: matrix.tileHeight,
                    worldPixelsPerPixel: ratio
                )
            )
        }
        let whole = try TilePyramid(of: path, width: width, height: height, wrapsX: wrapsX, levels: levels)
        guard let contents else { return whole }
        let part = PixelRect(
            minX: max((contents[0] - extent[0]) / finest.pixelWidth, 0),
            minY: max((extent[3] - contents[3]) / finest.pixelHeight, 0),
            maxX: min((contents[2] - extent[0]) / finest.pixelWidth, whole.worldWidth),
            maxY: min((extent[3] - contents[1]) / finest.pixelHeight, whole.worldHeight)
        )
        return part.minX < part.maxX && part.minY < part.maxY ? whole.limited(to: part) : whole
    }
}

extension SQLValue {
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }

    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value.isFinite ? value : nil
        case .null, .text, .blob: nil
        }
    }
}
