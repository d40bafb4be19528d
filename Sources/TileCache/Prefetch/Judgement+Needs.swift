/// The order of needed tiles, and those that are not worth a load.
extension Judgement {
    /// Minimum time in view after landing, in seconds, while loads cannot keep up. Loads of needed tiles that leave the
    /// view sooner are not started: each would make a tile late that stays.
    static let leastStay = 0.2

    /// Needed tiles, the missing ones last and by the area that they show, now and when they land. Without the hopeless
    /// tiles. Empty if none is missing: the order of the screen will do.
    ///
    /// - Parameters:
    ///   - missing: Numbers of the needed tiles that are not resident, in ascending order.
    ///   - hopeless: Numbers of missing tiles that are not worth a load, in ascending order.
    static func order(_ outlook: Outlook, missing: [Int], hopeless: [Int]) -> [TileKey] {
        guard !missing.isEmpty else { return [] }
        let (needed, view, landing) = (outlook.target.needed, outlook.view, outlook.landing)
        var sides = TileSides<(view: Double, landing: Double), (view: Double, landing: Double)>()
        func area(_ width: Double, _ height: Double) -> Double { width > 0 && height > 0 ? width * height : 0 }
        var loads: [(area: Double, number: Int)] = []
        loads.reserveCapacity(missing.count)
        var order: [TileKey] = []
        order.reserveCapacity(needed.count)
        var (nextMissing, nextHopeless) = (0, 0)
        for number in needed.indices {
            let isMissing = nextMissing < missing.count && missing[nextMissing] == number
            if isMissing { nextMissing += 1 }
            if nextHopeless < hopeless.count, hopeless[nextHopeless] == number {
                nextHopeless += 1
                continue
            }
            let key = needed[number]
            guard isMissing else {
                order.append(key)
                continue
            }
            var shown: PixelRect { outlook.rectangle(of: key).intersection(view) }
            var landed: PixelRect { outlook.rectangle(of: key).intersection(landing) }
            let (column, row) = sides.find(
                key.coordinate,
                column: (shown.width, landed.width),
                row: (shown.height, landed.height)
            )
            loads.append((area(column.view, row.view) + area(column.landing, row.landing), number))
        }
        // Stable: tiles with equal areas keep the order of the screen.
        loads.sort { ($1.area, $0.number) < ($0.area, $1.number) }
        for (_, number) in loads { order.append(needed[number]) }
        return order
    }

    /// Numbers of the needed tiles that will be out of view before their load lands, in ascending order.
    ///
    /// - Parameter shown: The needed tiles as a range, if they are one.
    static func hopelessTiles(_ outlook: Outlook, shown: TileRange?) -> [Int] {
        guard outlook.travel.isMoving else { return [] }
        let (target, travel) = (outlook.target, outlook.travel)
        let (across, down) = (travel.across, travel.down)
        let least = outlook.latency + (outlook.isSaturated ? Self.leastStay : 0)
        var sides = TileSides<Double, Double>()
        func isHopeless(_ key: TileKey) -> Bool {
            var tile: PixelRect { outlook.rectangle(of: key) }
            let (column, row) = sides.find(
                key.coordinate,
                column: across.exit(from: tile.minX, to: tile.maxX),
                row: down.exit(from: tile.minY, to: tile.maxY)
            )
            return travel.time(forShare: min(column, row)) < least
        }
        // Of a rectangle of tiles, the first or the last column or row leaves first. Two opposite corners are of all four.
        if shown?.count == target.needed.count, !target.pyramid.wrapsX, let first = target.needed.first,
            let last = target.needed.last, !isHopeless(first), !isHopeless(last)
        {
            return []
        }
        return target.needed.indices.filter { isHopeless(target.needed[$0]) }
    }
}
