/// Where the zoom is in the paths of a folder's tiles, as far as their numbers tell.
///
/// Numbers that no tile of an order has rule it out. Several orders may be left. Then a set of the right one has the tiles
/// over most of its tiles, at the next coarser zoom; read in a wrong order, tiles of different zooms lie apart.
struct FolderZooms {
    private let folder: String
    private let layout: TileFolderLayout
    /// The three numbers of some tiles' paths.
    private var tiles: [[Int]] = []
    private var endings: Set<String> = []
    /// Other orders that these may have.
    private var others = [Order(place: 1, text: "in the middle (x/z/y)"), Order(place: 2, text: "last (y/x/z)")]
    /// A tile that the layout cannot have.
    private var wrong: [Int]?

    private struct Order {
        /// Index of the zoom in a path.
        var place: Int
        var text: String
    }

    /// Looks at the paths of some tiles, until they can have no other order than the layout.
    private init(of folder: String, _ names: [String], _ layout: TileFolderLayout) {
        (self.folder, self.layout) = (folder, layout)
        let numbers = 0...1 << 30
        func some(_ names: [String]?) -> [Int] {
            let sorted = (names ?? []).compactMap { TileFolderLayout.number($0, within: numbers) }.sorted()
            return TileSizeSamples.spread(8, over: sorted.count).map { sorted[$0] }
        }
        for outer in some(names) {
            for inner in some(Files.names(in: "\(folder)/\(outer)", limit: 1000)).prefix(2) {
                let files = Files.names(in: "\(folder)/\(outer)/\(inner)", limit: 1000) ?? []
                for file in files.compactMap({ layout.parts(ofFile: $0, within: numbers) }).prefix(8) {
                    add([outer, inner, file.number])
                    endings.insert(file.ending)
                    if others.isEmpty { return }
                }
            }
        }
    }

    private mutating func add(_ tile: [Int]) {
        func isTile(zoom: Int, _ other: Int, _ another: Int) -> Bool {
            MapPyramid.zooms.contains(zoom) && max(other, another) < 1 << zoom
        }
        tiles.append(tile)
        others.removeAll { order in
            let rest = tile.indices.filter { $0 != order.place }.map { tile[$0] }
            return !isTile(zoom: tile[order.place], rest[0], rest[1])
        }
        // Of a world that is wider than high, too.
        let (column, row) = layout.order == .zyx ? (tile[2], tile[1]) : (tile[1], tile[2])
        if !isTile(zoom: tile[0], column / 2, row) { wrong = tile }
    }

    /// Of the tiles that are not of the coarsest zoom: their number, and that of those with a tile over them at the next
    /// coarser zoom among them.
    ///
    /// - Parameter place: Index of the zoom in a path.
    private func tilesUnderOthers(zoomAt place: Int) -> (found: Int, count: Int) {
        let zooms = Set(tiles.map { $0[place] }).sorted()
        var (count, found) = (0, 0)
        for tile in tiles {
            guard let zoom = zooms.last(where: { $0 < tile[place] }) else { continue }
            var above = tile.map { $0 >> (tile[place] - zoom) }
            above[place] = zoom
            count += 1
            let path = "\(folder)/\(above[0])/\(above[1])/\(above[2])\(layout.suffix)"
            if endings.contains(where: { Files.exists("\(path).\($0)") }) { found += 1 }
        }
        return (found, count)
    }

    /// Checks that a layout may be that of a folder.
    ///
    /// - Parameter names: Names in the folder.
    /// - Returns: A warning if another order is more likely.
    /// - Throws: ``TileSourceError`` if the order is another one: some tile is none of the layout, or none of its tiles lies
    ///   under another one, and nine in ten of at least eight do in another order.
    static func check(
        _ folder: String,
        _ names: [String],
        _ layout: TileFolderLayout
    ) throws(TileSourceError) -> String? {
        let own = FolderZooms(of: folder, names, layout)
        guard !own.others.isEmpty else { return nil }
        var (wrong, orders) = (own.wrong, own.others)
        if wrong == nil {
            let asRead = own.tilesUnderOthers(zoomAt: 0)
            guard asRead.count > 0, asRead.found == 0 else { return nil }
            let parts = orders.map { own.tilesUnderOthers(zoomAt: $0.place) }
            // Some areas apart lie over one another by chance in another order too.
            let certain = zip(orders, parts).filter { $1.count >= 8 && 10 * $1.found >= 9 * $1.count }.map(\.0)
            let likely = zip(orders, parts).filter { $1.count == 0 || 2 * $1.found >= $1.count }.map(\.0)
            if !certain.isEmpty { (wrong, orders) = (own.tiles.last, certain) } else { orders = likely }
        }
        let form = orders.map(\.text).joined(separator: " or ")
        if let wrong {
            let tile = wrong.map(String.init).joined(separator: "/")
            throw TileSourceError(
                folder,
                "folders of zooms were expected first (z/x/y); as \(tile) and others tell, here the zoom comes \(form), "
                    + "which a template of files reads (file:)"
            )
        }
        guard !orders.isEmpty else { return nil }
        return "\(folder): it is read as \(layout.form), in which its tiles of different zooms lie apart; the zoom may "
            + "come \(form) instead, which a template reads (file:)"
    }
}
