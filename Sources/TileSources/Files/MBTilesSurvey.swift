import TileCache

/// Columns and rows of the tiles of one zoom, as their file counts them.
struct TileExtent: Equatable {
    var columns: ClosedRange<Int>
    /// `nil` if they would take too long to find.
    var rows: ClosedRange<Int>?

    /// Area of the tiles in the world, with both axes from 0 to 1 and y downwards.
    func part(zoom: Int, _ order: TileRowOrder, of world: MapWorld) -> PixelRect {
        let side = Double(1 << zoom)
        let wide = side * Double(world.width)
        let ends = rows.map {
            [order.number(of: $0.lowerBound, zoom: zoom), order.number(of: $0.upperBound, zoom: zoom)]
        }
        return PixelRect(
            minX: Double(columns.lowerBound) / wide,
            minY: Double(ends?.min() ?? 0) / side,
            maxX: Double(columns.upperBound + 1) / wide,
            maxY: Double((ends?.max() ?? (1 << zoom) - 1) + 1) / side
        )
    }

    mutating func add(_ column: Int, _ row: Int) {
        columns = min(columns.lowerBound, column)...max(columns.upperBound, column)
        rows = rows.map { min($0.lowerBound, row)...max($0.upperBound, row) }
    }
}

/// What the tiles of an MBTiles file are like, found when it is opened. A file without an index is read once for it.
struct MBTilesSurvey {
    /// Of each zoom, as far as it was found.
    private(set) var extents: [Int: TileExtent] = [:]
    private(set) var samples = TileSizeSamples()
    private let world: MapWorld
    /// An index of our own, if the file has none.
    private(set) var index: MBTilesIndex?
    /// Zooms that are known to have no tiles.
    private var emptyZooms: Set<Int> = []
    /// Whether each tile is searched for in all of the table, or most of it.
    private(set) var isSlow = false

    /// Columns of all zooms that are looked at.
    static let mostColumns = 8192
    /// Steps of SQLite's virtual machine for one tile from which on all of a table is looked through. A tile usually takes
    /// a few dozen.
    static let usualSteps = 400
    /// Steps from which on that is too slow for a tile.
    static let slowSteps = 10_000

    /// Bytes of a tile that are read for its size: the headers of most images are far shorter.
    private static let sampleBytes = 1 << 18
    /// Columns of a zoom that are looked at if its extent need not be exact.
    static let someColumns = 16

    /// - Parameters:
    ///   - samplesSize: Whether tiles are read for their size.
    ///   - isExact: Whether all columns are looked at, not some of each zoom.
    init(
        _ connection: MBTilesConnection,
        _ zooms: ClosedRange<Int>,
        of world: MapWorld = .square,
        samplesSize: Bool,
        isExact: Bool
    ) {
        self.world = world
        let database = connection.database
        database.survey {
            let steps = Self.steps(database, zooms.upperBound)
            isSlow = steps >= Self.slowSteps
            guard steps >= Self.usualSteps else { return walk(database, zooms, isExact: isExact) }
            guard let found = MBTilesIndex.Reading(database, of: world) else { return }
            extents = found.extents
            emptyZooms = Set(zooms).subtracting(extents.keys)
            if isSlow { index = found.index }
        }
        guard samplesSize else { return }
        for zoom in zooms.reversed() where !samples.isDone {
            let count = zoom == zooms.upperBound ? TileSizeSamples.ofFinestZoom : 2
            for (number, bytes) in tiles(database, zoom, count) where !samples.isDone {
                take(bytes, "tile \(number)")
            }
        }
        guard samples.count == 0 else { return }
        // Of some sets all but a few tiles are empty.
        guard let query = database.query("SELECT tile_data FROM tiles LIMIT \(TileSizeSamples.most)") else { return }
        query.bind()
        var others: [Result<[UInt8], TileLoadFailure>] = []
        while case .row = query.step() { others.append(Self.bytes(of: query)) }
        guard others.count > samples.tried else { return }
        for bytes in others where !samples.isDone { take(bytes, "one of its tiles") }
    }

    /// Area of all tiles in the world's square, with both axes from 0 to 1 and y downwards; `nil` unless it is known of
    /// every zoom.
    func part(of zooms: ClosedRange<Int>, _ order: TileRowOrder) -> PixelRect? {
        let parts = zooms.compactMap { zoom in extents[zoom].map { $0.part(zoom: zoom, order, of: world) } }
        // Between the first and the last zoom some may have no tiles.
        guard let first = parts.first, zooms.allSatisfy({ extents[$0] != nil || emptyZooms.contains($0) }) else {
            return nil
        }
        return parts.dropFirst().reduce(first) { $0.union($1) }
    }

    /// A clause on the lack of an index; `nil` if the file has one.
    var warning: String? {
        guard isSlow else { return nil }
        let lack = "it has no index of zoom_level, tile_column and tile_row"
        if let index { return "\(lack): it was read for one of \(index.count) tiles" }
        return "\(lack), and none could be made (of a view, of more than \(MBTilesIndex.most) tiles, or in time): each "
            + "tile is searched for in the whole table. "
            + "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row) makes it fast"
    }

    private mutating func take(_ bytes: Result<[UInt8], TileLoadFailure>, _ subject: String) {
        switch bytes {
        case .success(let bytes): samples.take(bytes, of: subject)
        case .failure(let failure): samples.take(failure.message, of: subject)
        }
    }

    /// Looks for a tile that there is not, and counts the steps.
    private static func steps(_ database: Database, _ zoom: Int) -> Int {
        let text = "SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?"
        guard let query = database.query(text, steps: slowSteps) else { return 0 }
        query.bind(zoom, -1, -1)
        _ = query.step()
        return database.stepsTaken
    }

    /// The first tile from a column of a zoom on.
    private static let nextTile =
        "SELECT tile_column, tile_row FROM tiles WHERE zoom_level = ? AND tile_column >= ? "
        + "ORDER BY tile_column, tile_row LIMIT 1"

    /// Finds the extent of each zoom, column by column: with an index that is fast.
    private mutating func walk(_ database: Database, _ zooms: ClosedRange<Int>, isExact: Bool) {
        let next = database.query(Self.nextTile, steps: Self.slowSteps)
        let last = database.query(
            "SELECT tile_column, tile_row FROM tiles WHERE zoom_level = ? AND tile_column = ? "
                + "ORDER BY tile_row DESC LIMIT 1",
            steps: Self.slowSteps
        )
        let end = database.query(
            "SELECT tile_column, tile_row FROM tiles WHERE zoom_level = ? AND tile_column <= ? "
                + "ORDER BY tile_column DESC LIMIT 1",
            steps: Self.slowSteps
        )
        guard let next, let last, let end else { return }
        var columns = 0
        for zoom in zooms {
            let most = (1 << zoom) - 1
            let lastColumn = world.width << zoom - 1
            if next.isEmpty(zoom, 0) {
                emptyZooms.insert(zoom)
                continue
            }
            guard let first = next.pair(zoom, 0), let final = end.pair(zoom, lastColumn), first.0 >= 0,
                final.0 <= lastColumn,
                first.0 <= final.0
            else { continue }
            var extent = TileExtent(columns: first.0...final.0, rows: first.1...first.1)
            var place: (Int, Int)? = first
            let step = isExact ? 1 : max((final.0 - first.0) / Self.someColumns, 1)
            while let (column, row) = place, column <= lastColumn {
                columns += 1
                guard columns <= Self.mostColumns, let upper = last.pair(zoom, column), upper.1 >= row, row >= 0,
                    upper.1 <= most
                else {
                    extent.rows = nil
                    break
                }
                extent.add(column, row)
                extent.add(column, upper.1)
                guard column < final.0 else { break }
                place = next.pair(zoom, min(column + step, final.0))
                // A query that failed says nothing of what follows.
                if place == nil { extent.rows = nil }
            }
            extents[zoom] = extent
        }
    }

    /// Bytes of some tiles of a zoom, spread over its columns, with their numbers.
    private func tiles(
        _ database: Database,
        _ zoom: Int,
        _ count: Int
    ) -> [(String, Result<[UInt8], TileLoadFailure>)] {
        if let index { return index.spread(count, zoom: zoom).compactMap { Self.read($0.0, $0.1, zoom, database) } }
        guard !isSlow, let extent = extents[zoom] else {
            guard let query = database.query("SELECT tile_data FROM tiles WHERE zoom_level = ? LIMIT \(count)") else {
                return []
            }
            query.bind(zoom)
            var found: [(String, Result<[UInt8], TileLoadFailure>)] = []
            while case .row = query.step() { found.append(("of zoom \(zoom)", Self.bytes(of: query))) }
            return found
        }
        // In each column a row in the middle: at the edges there may be tiles of another kind.
        let query = database.query(
            "SELECT tile_data, tile_column, tile_row FROM tiles WHERE zoom_level = ? AND tile_column = ? "
                + "AND tile_row >= ? ORDER BY tile_row LIMIT 1"
        )
        let next = database.query(Self.nextTile)
        guard let query, let next else { return [] }
        let columns = TileSizeSamples.spread(count, over: extent.columns.count).map { extent.columns.lowerBound + $0 }
        let each = (count + columns.count - 1) / columns.count
        let rows = extent.rows ?? 0...0
        return columns.flatMap { column -> [(String, Result<[UInt8], TileLoadFailure>)] in
            guard let place = next.pair(zoom, column) else { return [] }
            next.reset()
            return TileSizeSamples.spread(each, over: rows.count).compactMap { number in
                for row in [rows.lowerBound + number, place.1] {
                    query.bind(zoom, place.0, row)
                    defer { query.reset() }
                    guard case .row = query.step() else { continue }
                    return ("\(zoom)/\(place.0)/\(row)", Self.bytes(of: query))
                }
                return nil
            }
        }
    }

    private static func read(
        _ column: Int,
        _ place: Int,
        _ zoom: Int,
        _ database: Database
    ) -> (String, Result<[UInt8], TileLoadFailure>)? {
        guard let query = database.query("SELECT tile_data FROM tiles WHERE rowid = ?") else { return nil }
        query.bind(place)
        guard case .row = query.step() else { return nil }
        return ("of zoom \(zoom) in column \(column)", bytes(of: query))
    }

    private static func bytes(of query: Query) -> Result<[UInt8], TileLoadFailure> {
        guard case .blob = query[0] else {
            return .failure(
                TileLoadFailure(.undecodable, "a blob was expected for tile_data, not \(query[0].typeName)")
            )
        }
        return .success(Array(query.blob(0).prefix(Self.sampleBytes)))
    }
}

extension Query {
    /// Whether there is no row.
    fileprivate func isEmpty(_ values: Int...) -> Bool {
        bind(values)
        if case .done = step() { return true }
        return false
    }

    /// Two integers of the first row; `nil` if there are none.
    fileprivate func pair(_ values: Int...) -> (Int, Int)? {
        bind(values)
        guard case .row = step(), case .integer(let first) = self[0], case .integer(let second) = self[1] else {
            return nil
        }
        return (first, second)
    }
}
