/// Candidates: tiles around the view, and of other levels.
extension AdaptivePolicy {
    /// Reach around a view at rest, in screen pixels. At 512, `starcraft_view` loses .005 of its hits at 12 screens and
    /// gains .008 at 4; 2048 gains nothing.
    static let ringReach = 1024.0
    /// Maximum tiles around a view at rest, needed ones included.
    static let ringTiles = 400.0
    /// Reach along the motion, as a multiple of its travel, and maximum in screen pixels.
    static let travelReach = 1.5
    static let maximumTravel = 2048.0
    /// Maximum tiles of other levels, by step (-3, -2, -1, +1, +2), without those of `Outlook.viewAtChange`.
    static let levelTiles = [40.0, 60, 120, 120, 60]
    /// Margins around the view after a zoom by one level, in screen pixels. People zoom about a pointer, not the
    /// centre.
    static let levelMargins = [0.0, 0, 128, 256, 0]

    // MARK: - Destination

    /// Maximum tiles of a declared destination.
    static let destinationTiles = 200
    /// Gain of a tile of the destination: nearly certain, but not needed yet.
    static let destinationGain = 0.9

    /// Considers the tiles of the declared destination.
    mutating func findDestination(_ outlook: Outlook, now: Int64) {
        let target = outlook.target
        guard let destination = target.destination, destination.isAhead(at: now) else { return }
        let scale = destination.viewport.scale
        let level =
            target.destinationLevel
            ?? target.selection.level(for: scale, in: target.pyramid, previous: target.level)
        var count = 0
        ViewportCover(pyramid: target.pyramid, viewport: destination.viewport, levelIndex: level)
            .forEach { column, row, _ in
                let key = TileKey(layer: target.layer, TileCoordinate(level: level, column: column, row: row))
                let slot = seen.find(key)
                if slot.map({ seen.records[$0].neededAt != change }) ?? true {
                    consider(key, bin: -1, ProbabilityTable.Worth(gain: Self.destinationGain, loss: 1), slot: slot)
                    count += 1
                }
                return count < Self.destinationTiles
            }
    }

    // MARK: - Around the view

    /// Considers tiles of the view's level around it, farther in the direction of the motion.
    ///
    /// - Parameter capacity: Tiles that memory holds.
    mutating func findNeighbours(_ outlook: Outlook, capacity: Int) {
        let around = Self.neighbourhood(outlook)
        // As likely as the next coarser level: the same zoom shows both. No more tiles than around any view, so that the
        // other levels have their candidates.
        let most = Self.ringTiles + Double(outlook.target.needed.count)
        let change =
            motion.zoomContext == .outward
            ? outlook.viewAtChange(zoomsIn: false, beside: around, capacity: capacity, most: most) : nil
        consider(
            level: outlook.target.level,
            in: change?.union(around) ?? around,
            outlook,
            PanRule(outlook, change: change)
        )
    }

    private static func neighbourhood(_ outlook: Outlook) -> PixelRect {
        let level = outlook.target.pyramid.levels[outlook.target.level]
        let tileWidth = level.tileSpanX * outlook.scale
        let tileHeight = level.tileSpanY * outlook.scale
        let columns = outlook.view.width / level.tileSpanX + 1
        let rows = outlook.view.height / level.tileSpanY + 1
        let (across, down) = (1 / tileWidth, 1 / tileHeight)
        func tiles(_ x: Double, _ y: Double) -> Double { (columns + x * across) * (rows + y * down) }
        var reach = ringReach
        let least = max(tileWidth, tileHeight)
        // At most a few hundred steps for tiny tiles.
        let step = max(least / 2, 4)
        while reach > least, tiles(2 * reach, 2 * reach) > ringTiles { reach -= step }
        var (left, right, top, bottom) = (reach, reach, reach, reach)
        if outlook.travel.isMoving {
            func along(_ way: Double) -> Double { min(max(reach, way * travelReach), maximumTravel) }
            left = along(-outlook.travel.left)
            right = along(outlook.travel.right)
            top = along(-outlook.travel.top)
            bottom = along(outlook.travel.bottom)
        }
        let most = ringTiles + columns * rows
        var steps = 0
        while steps < 32, tiles(left + right, top + bottom) > most {
            left *= 0.9
            right *= 0.9
            top *= 0.9
            bottom *= 0.9
            steps += 1
        }
        return PixelRect(
            minX: outlook.view.minX - left / outlook.scale,
            minY: outlook.view.minY - top / outlook.scale,
            maxX: outlook.view.maxX + right / outlook.scale,
            maxY: outlook.view.maxY + bottom / outlook.scale
        )
    }

    // MARK: - Other levels

    /// Considers tiles of coarser and finer levels under the view after a zoom.
    ///
    /// - Parameter capacity: Tiles that memory holds.
    mutating func findParentsAndChildren(_ outlook: Outlook, capacity: Int) {
        let levels = outlook.target.pyramid.levels
        let level = outlook.target.level
        for (step, offset) in CandidateBin.levelSteps.enumerated()
        where levels.indices.contains(level + offset) && effects.contains(offset < 0 ? .parents : .children) {
            let reach = outlook.zoomReach(of: level + offset)
            let context = reach ?? (offset < 0 ? motion.zoomContext : outlook.inwardContext)
            let other = levels[level + offset]
            // Without a zoom in progress, a scale of the other level like the present one of its own.
            let (scale, fixedPoint) =
                reach == nil
                ? (
                    outlook.scale * (levels[level].worldPixelsPerPixel / other.worldPixelsPerPixel),
                    outlook.zoom.nextOffset
                ) : (outlook.scale(at: level + offset, lead: lead), outlook.zoom.offset)
            let center = outlook.center(scaledTo: scale, about: fixedPoint)
            let tileWidth = other.tileSpanX * scale
            let tileHeight = other.tileSpanY * scale
            var width = outlook.view.width * outlook.scale
            var height = outlook.view.height * outlook.scale
            var margin = Self.levelMargins[step]
            // In pixels, with a tile more each way: no division, since every plan does this for each level.
            let mostPixels = Self.levelTiles[step] * tileWidth * tileHeight
            var steps = 0
            while steps < 64, (width + 2 * margin + tileWidth) * (height + 2 * margin + tileHeight) > mostPixels {
                width *= 0.9
                height *= 0.9
                margin *= 0.9
                steps += 1
            }
            let shown = PixelRect(
                minX: center.x - width / 2 / scale,
                minY: center.y - height / 2 / scale,
                maxX: center.x + width / 2 / scale,
                maxY: center.y + height / 2 / scale
            )
            var around = shown.grown(x: margin / scale, y: margin / scale)
            // What shows beside the view after the zoom: from its first frame on, until it is out of view.
            let most = Double(Candidates.maximumCount - candidates.count)
            let change =
                offset == 1 && (context == .inward || context == .outward)
                ? outlook.viewAtChange(zoomsIn: true, beside: around, capacity: capacity, most: most) : nil
            if let change { around = around.union(change) }
            consider(
                level: level + offset,
                in: around,
                outlook,
                ZoomRule(
                    step: step,
                    context,
                    shown: shown,
                    scale: scale,
                    change: change,
                    entersAfter: offset == -1 ? outlook.coarserAfter : .infinity
                )
            )
        }
    }
}
