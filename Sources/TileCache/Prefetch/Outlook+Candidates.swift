/// Where the candidates of a plan are: around the view, and under it after a zoom.
extension Outlook {
    /// Reach around a view at rest, in screen pixels: further than most strokes go. Of the tiles within it, the
    /// probabilities by distance choose.
    static let ringReach = 1024.0
    /// Maximum tiles around a view at rest, needed ones included.
    static let ringTiles = 400.0
    /// Reach along the motion, as a multiple of its travel, and maximum in screen pixels.
    static let travelReach = 1.5
    static let maximumTravel = 2048.0
    /// Maximum tiles of other levels, by step (-3, -2, -1, +1, +2), without those of `viewAtChange`.
    static let levelTiles = [40.0, 60, 120, 120, 60]
    /// Margins around the view after a zoom by one level, in screen pixels. People zoom about a pointer, not the
    /// centre.
    static let levelMargins = [0.0, 0, 128, 256, 0]

    // MARK: - Around the view

    /// Tiles that the view shows of its level, on average over its positions.
    var screenTiles: Double {
        let level = target.pyramid.levels[target.level]
        return (view.width / level.tileSpanX + 1) * (view.height / level.tileSpanY + 1)
    }

    /// What is considered of the view's level, in world pixels, and the rule for its tiles: around the view, farther in
    /// the direction of the motion.
    ///
    /// - Parameter capacity: Tiles that memory holds.
    func neighbourhood(capacity: Int) -> (rectangle: PixelRect, rule: PanRule) {
        let around = neighbourhood
        // What a zoom out uncovers is as likely to be needed as the next coarser level: the same zoom shows both. No
        // more tiles than around any view, so that the other levels have their candidates.
        let most = Self.ringTiles + Double(target.needed.count)
        let change =
            zoomContext == .outward
            ? viewAtChange(zoomsIn: false, beside: around, capacity: capacity, most: most) : nil
        return (change?.union(around) ?? around, PanRule(self, change: change))
    }

    private var neighbourhood: PixelRect {
        let level = target.pyramid.levels[target.level]
        let tileWidth = level.tileSpanX * scale
        let tileHeight = level.tileSpanY * scale
        let columns = view.width / level.tileSpanX + 1
        let rows = view.height / level.tileSpanY + 1
        let (across, down) = (1 / tileWidth, 1 / tileHeight)
        func tiles(_ x: Double, _ y: Double) -> Double { (columns + x * across) * (rows + y * down) }
        var reach = Self.ringReach
        let least = max(tileWidth, tileHeight)
        // At most a few hundred steps for tiny tiles.
        let step = max(least / 2, 4)
        while reach > least, tiles(2 * reach, 2 * reach) > Self.ringTiles { reach -= step }
        var (left, right, top, bottom) = (reach, reach, reach, reach)
        if travel.isMoving {
            func along(_ way: Double) -> Double { min(max(reach, way * Self.travelReach), Self.maximumTravel) }
            left = along(-travel.left)
            right = along(travel.right)
            top = along(-travel.top)
            bottom = along(travel.bottom)
        }
        let most = Self.ringTiles + columns * rows
        var steps = 0
        while steps < 32, tiles(left + right, top + bottom) > most {
            left *= 0.9
            right *= 0.9
            top *= 0.9
            bottom *= 0.9
            steps += 1
        }
        return PixelRect(
            minX: view.minX - left / scale,
            minY: view.minY - top / scale,
            maxX: view.maxX + right / scale,
            maxY: view.maxY + bottom / scale
        )
    }

    // MARK: - Other levels

    /// What is considered of a coarser or finer level, in world pixels, and the rule for its tiles: under the view after
    /// a zoom.
    ///
    /// - Parameters:
    ///   - step: Index of the level in `CandidateBin.levelSteps`.
    ///   - capacity: Tiles that memory holds.
    ///   - most: Maximum tiles.
    func surroundings(ofStep step: Int, capacity: Int, most: Double) -> (rectangle: PixelRect, rule: ZoomRule) {
        let offset = CandidateBin.levelSteps[step]
        let level = target.level + offset
        let levels = target.pyramid.levels
        let reach = zoomReach(of: level)
        let context = reach ?? (offset < 0 ? zoomContext : inwardContext)
        let other = levels[level]
        // Without a zoom in progress: the scale at which the other level has the size on screen that the view's level
        // has now.
        let (scale, fixedPoint) =
            reach == nil
            ? (
                self.scale * (levels[target.level].worldPixelsPerPixel / other.worldPixelsPerPixel), zoom.nextOffset
            ) : (self.scale(at: level), zoom.offset)
        let (shown, margin) = extent(
            ofStep: step,
            about: center(scaledTo: scale, about: fixedPoint),
            scale: scale,
            tileWidth: other.tileSpanX * scale,
            tileHeight: other.tileSpanY * scale
        )
        var around = shown.grown(x: margin / scale, y: margin / scale)
        // What shows beside the view after the zoom: from its first frame on, until it is out of view.
        let change =
            offset == 1 && (context == .inward || context == .outward)
            ? viewAtChange(zoomsIn: true, beside: around, capacity: capacity, most: most) : nil
        if let change { around = around.union(change) }
        let rule = ZoomRule(
            step: step,
            context,
            shown: shown,
            scale: scale,
            change: change,
            entersAfter: offset == -1 ? coarserAfter : .infinity
        )
        return (around, rule)
    }

    /// What a view shows after a zoom in world pixels, and the margin around it in screen pixels. Both are smaller if
    /// they have too many tiles.
    ///
    /// - Parameters:
    ///   - tileWidth: Width of a tile after the zoom, in screen pixels.
    ///   - tileHeight: The same for its height.
    private func extent(
        ofStep step: Int,
        about center: WorldPoint,
        scale: Double,
        tileWidth: Double,
        tileHeight: Double
    ) -> (shown: PixelRect, margin: Double) {
        var width = view.width * self.scale
        var height = view.height * self.scale
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
        return (shown, margin)
    }
}
