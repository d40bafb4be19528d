import PanTraces
package import TileCache

/// Zooms out and back in over the built-in world. Each factor has a fresh cache.
package struct Zoomout: Sendable {
    private let options: ZoomoutOptions
    private let scene: PanTraceScene
    private let pyramid: TilePyramid
    private let tileBytes: Int
    private let byteLimit: Int
    private let stores: [any TileStore]

    /// - Parameter stores: Tiers below memory under the real clock, nearest first. Default: none.
    package init(_ options: ZoomoutOptions, stores: [any TileStore] = []) throws {
        try require(
            stores.isEmpty || options.replay.clock == .real,
            "--disk and --shared need --clock real: the virtual clock has no tiles to keep"
        )
        self.stores = stores
        try require(
            !options.factors.isEmpty && options.factors.allSatisfy { $0 >= 1 && $0 <= 1_048_576 },
            "--factors takes 1..1024 or numbers from 1 to 1048576 separated by commas"
        )
        try options.checkClock()
        self.options = options
        scene = try options.scene()
        tileBytes = try options.replay.tileBytes(in: scene)
        byteLimit = try options.replay.byteLimit(in: scene, tileBytes: tileBytes).bytes
        let whole = try scene.pyramid()
        let made = options.synthesizedLevels
        let most = min(whole.maximumLevel, scene.tileSize.trailingZeroBitCount)
        try require(
            made <= most,
            "--full-resolution-only makes up to \(most) coarser levels of this world with tiles of "
                + "\(scene.tileSize) pixels; --factors asks for \(made)"
        )
        pyramid = options.isFullResolutionOnly ? whole.keepingFinestLevels(made + 1) : whole
    }

    /// Runs all factors; a stopped run reports the finished ones.
    package func run(
        shouldStop: () -> Bool = { false },
        progress: (_ number: Int, _ of: Int) -> Void = { _, _ in }
    ) throws -> ZoomoutReport {
        var rows: [ZoomoutReport.Row] = []
        var most = Needs()
        for (index, factor) in options.factors.enumerated() {
            progress(index + 1, options.factors.count)
            guard let (row, needs) = try zoom(by: factor, shouldStop) else { break }
            rows.append(row)
            most.include(needs)
        }
        return ZoomoutReport(
            configuration: configuration,
            rows: rows,
            tileBound: tileBound,
            mostNeededTiles: most.tiles,
            unfittedBytes: most.unfittedBytes,
            missingBytes: most.missingBytes,
            byteLimit: byteLimit,
            interrupted: rows.count < options.factors.count
        )
    }

    /// Bound of the needed tiles of a view of a power-of-two pyramid, at any scale.
    private var tileBound: Int {
        let side = Double(scene.tileSize)
        let columns = (2 * scene.viewport.width / side).rounded(.up) + 1
        let rows = (2 * scene.viewport.height / side).rounded(.up) + 1
        return Int(columns) * Int(rows)
    }

    /// Off the middle, where tiles of all levels meet.
    private var center: WorldPoint {
        WorldPoint(x: Double(scene.worldWidth) * 0.53, y: Double(scene.worldHeight) * 0.47)
    }

    private func viewport(octavesOut octaves: Double) -> TileViewport {
        TileViewport(
            center: center,
            width: scene.viewport.width,
            height: scene.viewport.height,
            scale: PortableMath.exp2(-octaves)
        )
    }

    /// Maximum needs of any frame.
    private struct Needs {
        var tiles = 0
        var unfittedBytes = 0
        var missingBytes = 0

        mutating func include(_ other: Needs) {
            tiles = max(tiles, other.tiles)
            unfittedBytes = max(unfittedBytes, other.unfittedBytes)
            missingBytes = max(missingBytes, other.missingBytes)
        }
    }

    /// Runs one factor; `nil` if it was stopped early.
    private func zoom(by factor: Double, _ shouldStop: () -> Bool) throws -> (row: ZoomoutReport.Row, most: Needs)? {
        let stage = try stage()
        defer { stage.end() }
        let path = PinchPath(factor: factor)
        var tally = ReplayTally()
        var most = Needs()
        var needed = 0
        var start: Int64?
        for number in 0... {
            let time = Int64(number) * 1_000_000_000 / 60
            let seconds = start.map { Double(time - $0) / 1e9 } ?? 0
            guard seconds <= path.duration else {
                try persist(stage, path, from: time, shouldStop)
                break
            }
            if shouldStop() { return nil }
            let viewport = viewport(octavesOut: path.octaves(at: seconds))
            let drawn = stage.draw(viewport, time)
            var needs = Needs(tiles: drawn.neededTiles, unfittedBytes: drawn.unfittedBytes)
            if needs.unfittedBytes > 0 { needs.missingBytes = needs.unfittedBytes + drawn.tableBytes - byteLimit }
            most.include(needs)
            if path.isFarthest(at: seconds) { needed = max(needed, drawn.neededTiles) }
            if start == nil {
                // The pinches begin once nothing is missing, or after ten seconds.
                if drawn.coverage.missingTiles == 0 || time > 10_000_000_000 { start = time }
            } else {
                tally.add(
                    drawn.coverage,
                    hasMoved: drawn.hasMoved,
                    viewportPixels: ReplayCourse.worldPixels(of: viewport, pyramid),
                    frameMilliseconds: 1000 / 60
                )
            }
        }
        let coverage = tally.pooledReport(name: "").coverage
        let row = ZoomoutReport.Row(
            factor: factor,
            bitmapBytes: try bitmapBytes(factor),
            fullResolutionBytes: try fullResolutionBytes(factor),
            neededTiles: needed,
            neededBytes: needed * tileBytes,
            peakBytes: stage.peakBytes(),
            hitRate: stage.hitRate(),
            sharp: coverage.sharp,
            blank: coverage.blank
        )
        return (row, most)
    }

    /// With stores, stays along the path until no tile is missing. The next run then finds the tiles that the pinches
    /// were too fast for.
    private func persist(_ stage: ZoomoutStage, _ path: PinchPath, from start: Int64, _ shouldStop: () -> Bool) throws {
        guard !stores.isEmpty else { return }
        var time = start
        // Each level is drawn at scales of two octaves at most; the farthest places come first.
        for step in stride(from: Int((path.octaves * 4).rounded(.up)), through: 0, by: -1) {
            let viewport = viewport(octavesOut: min(Double(step) / 4, path.octaves))
            // A limit may be too small for all of them: half a minute without progress ends it.
            var (least, last) = (Int.max, time)
            while time - last < 30_000_000_000, !shouldStop() {
                let missing = stage.draw(viewport, time).coverage.missingTiles
                guard missing > 0 else { break }
                if missing < least { (least, last) = (missing, time) }
                time += 1_000_000_000 / 60
            }
        }
    }

    /// A fresh cache with a view.
    private func stage() throws -> ZoomoutStage {
        switch options.replay.clock {
        case .virtual:
            try .virtual(options, tileBytes: tileBytes, byteLimit: byteLimit, pyramid: pyramid)
        case .real: try .real(options, scene: scene, byteLimit: byteLimit, pyramid: pyramid, stores: stores)
        }
    }

    // MARK: - Without the cache

    /// Bytes of one bitmap of the visible area at a factor, which is drawn smaller.
    func bitmapBytes(_ factor: Double) throws -> Int {
        guard let bytes = options.replay.pixelFormat.bytesPerPixel else { throw ReplayError("pixels are expected") }
        let pixels = (scene.viewport.width * factor).rounded(.up) * (scene.viewport.height * factor).rounded(.up)
        return Int(min(pixels * Double(bytes), 0x1p62))
    }

    /// Bytes of all tiles of the finest level under the view at a factor.
    func fullResolutionBytes(_ factor: Double) throws -> Int {
        let view = viewport(octavesOut: PinchPath(factor: factor).octaves)
        func count(_ middle: Double, _ size: Double, _ cells: Int) -> Int {
            let span = Double(scene.tileSize)
            let first = max(((middle - size / 2) / span).rounded(.down), 0)
            let end = min(((middle + size / 2) / span).rounded(.up), Double(cells))
            return Int(max(end - first, 0))
        }
        let finest = pyramid.levels[pyramid.maximumLevel]
        let columns = count(view.center.x, view.width / view.scale, finest.columns)
        let rows = count(view.center.y, view.height / view.scale, finest.rows)
        return Int(min(Double(columns) * Double(rows) * Double(tileBytes), 0x1p62))
    }

    private var configuration: [String: ConfigurationValue] {
        let shown: Set = [
            "program", "definitions", "viewport", "pixelFormat", "memoryLimit", "byteLimit", "world", "tileSize",
            "workers", "compressedTier", "loadLatencyMilliseconds", "clock", "speed", "seed", "disk", "diskLimit",
            "shared",
        ]
        var values = options.replay.resolvedConfiguration(scene: scene, byteLimit: byteLimit)
            .filter { shown.contains($0.key) }
        values["factors"] = .text(options.factors.map { Figures.plain($0) }.joined(separator: ","))
        values["fullResolutionOnly"] = .flag(options.isFullResolutionOnly)
        values["synthesizedLevels"] = .integer(options.synthesizedLevels)
        values["downsampling"] = .text("\(options.downsampling)")
        return values
    }
}
