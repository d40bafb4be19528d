/// Nearest resident ancestors of many tiles, of which many have the same.
struct ResidentAncestors {
    /// The nearest resident ancestor of each tile.
    let nearest: [TileKey?]
    /// Nearest resident ancestors that are compressed, each once: frames draw decoded tiles only.
    private(set) var compressed: [TileKey] = []
    /// All ancestors whose loads are in flight, each once.
    private(set) var loading: [TileKey] = []

    /// - Parameter tiles: Tiles of one level, row by row.
    init(of tiles: [TileKey], target: borrowing PlanTarget, context: borrowing PlanContext) {
        guard let level = tiles.first?.level else {
            nearest = []
            return
        }
        // The tiles, then their ancestors, each once, level by level. The tiles of a level come row by row.
        var keys = tiles
        keys.reserveCapacity(2 * tiles.count)
        // Numbers of their parents. Level 0 has none.
        var parents: [Int] = []
        parents.reserveCapacity(2 * tiles.count)
        var found = AscendingTable<Int>()
        for level in (0..<level).reversed() {
            var sides = TileSides<Int, Int>()
            var lastRow = -1
            for number in parents.count..<keys.count {
                let tile = keys[number].coordinate
                let (column, row) = sides.find(
                    tile,
                    column: target.pyramid.ancestorColumn(of: tile, at: level),
                    row: target.pyramid.ancestorRow(of: tile, at: level)
                )
                if row != lastRow { found.removeAll() }
                lastRow = row
                let parent = found.find(column) {
                    let parent = TileCoordinate(level: level, column: column, row: row)
                    keys.append(TileKey(layer: target.layer, parent))
                    return keys.count - 1
                }
                parents.append(parent)
            }
        }
        let ancestors = keys[tiles.count...]
        let residencies = context.residencies(of: Array(ancestors))
        loading = zip(ancestors, residencies).filter { $1.isLoading && $1.residency == .none }.map(\.0)
        // The number of the nearest resident ancestor of each tile, or of each ancestor from itself on; -1 if there is none.
        // Parents come behind their children.
        var answers = [Int](repeating: -1, count: keys.count)
        for number in keys.indices.reversed() {
            if number >= tiles.count, residencies[number - tiles.count].residency.isResident {
                answers[number] = number
            } else if number < parents.count {
                answers[number] = answers[parents[number]]
            }
        }
        nearest = answers.prefix(tiles.count).map { $0 >= 0 ? keys[$0] : nil }
        for answer in answers.prefix(tiles.count)
        where answer >= 0 && residencies[answer - tiles.count].residency.isCompressed
            && !compressed.contains(keys[answer])
        {
            compressed.append(keys[answer])
        }
    }
}
