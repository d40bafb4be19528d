import TileCache

/// Times at which each tile of a trace is needed. Available to a replay, not to a cache.
struct FutureNeeds: Sendable {
    /// An interval of frames that need a tile. Its first frame demands the tile.
    struct Need: Sendable {
        var tile: Int
        /// First and last frame, in nanoseconds.
        var start: Int64
        var end: Int64
        /// Next need of the same tile, or -1.
        var next = -1
    }

    /// A frame whose needed tiles differ from the previous frame's.
    struct Change: Sendable {
        var time: Int64
        /// Number of tiles that the previous frame needed.
        var neededBefore: Int
        /// First need that begins then or later.
        var firstNeed: Int
    }

    /// All needs, in the order of their beginning, then of the screen.
    private(set) var needs: [Need] = []
    private(set) var changes: [Change] = []
    private var numbers: [TileCoordinate: Int] = [:]
    private var tiles: [TileCoordinate] = []
    private var needsOfTile: [[Int]] = []

    /// Reads every frame of a trace.
    init(
        pyramid: TilePyramid,
        selection: TileLevelSelection,
        next: () throws -> (time: Int64, viewport: TileViewport)?
    ) rethrows {
        var open: [TileCoordinate: Int] = [:]
        var before: [TileCoordinate] = []
        var lastTime: Int64 = 0
        var level: Int?
        while let frame = try next() {
            let chosen = selection.level(for: frame.viewport.scale, in: pyramid, previous: level)
            level = chosen
            let needed = pyramid.neededTiles(under: frame.viewport, at: chosen)
            if needed != before {
                changes.append(Change(time: frame.time, neededBefore: before.count, firstNeed: needs.count))
                var stillOpen: [TileCoordinate: Int] = [:]
                for tile in needed {
                    if let need = open.removeValue(forKey: tile) {
                        stillOpen[tile] = need
                        continue
                    }
                    let number = numbers[tile] ?? tiles.count
                    if number == tiles.count {
                        numbers[tile] = number
                        tiles.append(tile)
                        needsOfTile.append([])
                    }
                    if let earlier = needsOfTile[number].last { needs[earlier].next = needs.count }
                    needsOfTile[number].append(needs.count)
                    stillOpen[tile] = needs.count
                    needs.append(Need(tile: number, start: frame.time, end: frame.time))
                }
                for need in open.values { needs[need].end = lastTime }
                open = stillOpen
                before = needed
            }
            lastTime = frame.time
        }
        for need in open.values { needs[need].end = lastTime }
    }

    /// Number of tiles that are ever needed; they are numbered from 0.
    var tileCount: Int { tiles.count }

    func number(of tile: TileCoordinate) -> Int? { numbers[tile] }

    func tile(_ number: Int) -> TileCoordinate { tiles[number] }

    /// The present or next need of a tile; `nil` if there is none. A need whose last frame is `now` has passed.
    func need(of number: Int, after now: Int64) -> Need? {
        let list = needsOfTile[number]
        let first = list.indices.partitioningIndex { needs[list[$0]].end > now }
        return first < list.count ? needs[list[first]] : nil
    }
}
