extension TileLayer {
    /// Pins tiles. They are loaded before all others and evicted only if the limit is lowered or memory is short.
    ///
    /// Evicted pinned tiles are loaded again as soon as there is room. Pinning twice equals pinning once.
    ///
    /// - Parameters:
    ///   - levels: Levels of the layer; others are ignored.
    ///   - region: Region in world pixels. Default: nil, the whole world.
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if all pinned tiles would take more than half of the limit,
    ///   or those of the layer more than its maximum share, if the layer has none of the levels or was removed.
    public func pin(levels: ClosedRange<Int>, region: PixelRect? = nil) throws(TileCacheError) {
        let pyramid = try core.pyramid(of: id)
        guard levels.overlaps(0...pyramid.maximumLevel) else {
            let found = "not \(levels.lowerBound) to \(levels.upperBound)"
            throw .invalidConfiguration("the layer has levels 0 to \(pyramid.maximumLevel), \(found)")
        }
        let ranges = pyramid.ranges(of: levels, in: region)
        try core.pin(id) { pinned in
            let count = ranges.tileCount - Double(pinned.intersection(ranges).count)
            return (count, { TileRuns(ranges).subtracting(pinned) })
        }
    }

    /// Pins single tiles, as ``pin(levels:region:)`` does.
    ///
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if all pinned tiles would take more than half of the limit,
    ///   or those of the layer more than its maximum share, if the layer has no such tile or was removed.
    public func pin(_ tiles: [TileCoordinate]) throws(TileCacheError) {
        let pyramid = try core.pyramid(of: id)
        if let tile = tiles.first(where: { !pyramid.contains($0) }) {
            throw .invalidConfiguration("the layer has no tile \(tile)")
        }
        let runs = TileRuns(tiles)
        try core.pin(id) { pinned in
            let new = runs.subtracting(pinned)
            return (Double(new.count), { new })
        }
    }

    /// Unpins tiles; they become evictable. Tiles that are not pinned are ignored.
    ///
    /// - Parameters:
    ///   - levels: Levels of the layer. Default: nil, all levels.
    ///   - region: Region in world pixels. Default: nil, the whole world.
    public func unpin(levels: ClosedRange<Int>? = nil, region: PixelRect? = nil) {
        guard let pyramid = try? core.pyramid(of: id) else { return }
        let ranges = pyramid.ranges(of: levels ?? 0...pyramid.maximumLevel, in: region)
        core.unpin(id) { $0.intersection(ranges) }
    }

    /// Unpins single tiles. Those that are not pinned are ignored.
    public func unpin(_ tiles: [TileCoordinate]) {
        guard let pyramid = try? core.pyramid(of: id) else { return }
        let runs = TileRuns(tiles.filter { pyramid.contains($0) })
        core.unpin(id) { _ in runs }
    }
}

extension TilePyramid {
    /// Tiles of some levels that overlap a region of the world.
    fileprivate func ranges(of levels: ClosedRange<Int>, in region: PixelRect?) -> [TileRange] {
        guard levels.overlaps(0...maximumLevel) else { return [] }
        let world = PixelRect(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)
        return levels.clamped(to: 0...maximumLevel).map { range(overlapping: region ?? world, at: $0) }
            .filter { !$0.isEmpty }
    }
}
