import PanTraces
import TileCache

/// Collects the data of pictures during a replay.
///
/// Time has a fixed number of intervals: when they are used up, neighbours are merged and each is twice as long. The
/// path is thinned in the same way; the number of tiles is bounded.
final class SeriesRecorder {
    private static let bucketCount = 240
    private static let pathCount = 2048
    private static let tileCount = 30_000

    private let pyramid: TilePyramid
    private var bucketNanoseconds: Int64 = 50_000_000
    private var buckets: [ReplaySeries.Bucket] = []
    private var before = TileCacheStatistics.DemandCounts()
    private var path: [ReplaySeries.Point] = []
    private var pathStride = 1
    private var pathSkip = 0
    private var tiles: [TileCoordinate: Loaded] = [:]
    private var moments: MomentRecorder
    /// Prefetched tiles that have not been drawn since.
    private var waiting: Set<TileCoordinate> = []
    private var forgotten = 0

    private struct Loaded {
        var use = ReplaySeries.Use.wasted
        /// Start of its last load, in nanoseconds.
        var start: Int64
        var isReloaded = false
    }

    init(_ pyramid: TilePyramid, limitBytes: Int, _ tileBytes: Int, _ options: ReplayOptions) {
        self.pyramid = pyramid
        moments = MomentRecorder(
            capacityTiles: limitBytes / max(VirtualCache.slotBytes(ofTile: tileBytes), 1),
            pyramid: pyramid,
            frameRate: options.frameRate
        )
    }

    func started(_ tile: TileCoordinate, isDemand: Bool, at time: Int64) {
        let known = tiles[tile]
        guard known != nil || tiles.count < Self.tileCount else {
            forgotten += 1
            return
        }
        tiles[tile] = Loaded(use: known?.use ?? .wasted, start: time, isReloaded: known != nil)
        if !isDemand { waiting.insert(tile) } else { waiting.remove(tile) }
    }

    /// Notes a drawn frame of a virtual cache.
    func note(_ frame: PanFrame, of cache: VirtualCache, view: Int) {
        note(frame, demands: cache.panDemands + cache.zoomDemands, bytes: cache.tierBytes)
        var (needed, late, evicted) = (0, 0, 0)
        cache.forEachNeeded(view: view) { tile, isDrawable, isLoading in
            needed += 1
            guard let known = tiles[tile] else { return }
            if !isDrawable {
                if isLoading, known.start < frame.time {
                    late += 1
                } else if !isLoading || known.isReloaded {
                    evicted += 1
                }
            } else if waiting.remove(tile) != nil {
                tiles[tile]?.use = .prefetched
            } else if known.use == .wasted {
                tiles[tile]?.use = .drawn
            }
        }
        note(frame, cache.coverage, neededTiles: needed, lateTiles: late, evictedTiles: evicted)
    }

    /// Notes the result of a frame. Late and evicted tiles are unknown under the real clock.
    func note(
        _ frame: PanFrame,
        _ coverage: Coverage,
        neededTiles: Int,
        lateTiles: Int = 0,
        evictedTiles: Int = 0
    ) {
        let isWhole = coverage.missingTiles == 0
        let shown = MomentRecorder.Frame(
            time: frame.time,
            viewport: frame.viewport,
            sharp: isWhole ? ReplayCourse.worldPixels(of: frame.viewport, pyramid) : coverage.sharp,
            coarse: isWhole ? 0 : coverage.fallback,
            blank: isWhole ? 0 : coverage.blank,
            neededTiles: neededTiles,
            missingTiles: coverage.missingTiles,
            lateTiles: lateTiles,
            evictedTiles: evictedTiles
        )
        moments.note(shown)
        let index = bucket(at: frame.time)
        buckets[index].sharpPixels += shown.sharp
        buckets[index].coarsePixels += shown.coarse
        buckets[index].blankPixels += shown.blank
        notePath(frame.viewport.center)
    }

    /// Notes the memory of a real cache.
    func note(_ frame: PanFrame, of figures: TileCacheStatistics) {
        let memory = figures.memory
        var bytes = TierBytes(
            decoded: memory.decoded.bytes - memory.inFlight.bytes,
            compressed: memory.compressed.bytes,
            inFlight: memory.inFlight.bytes,
            bookkeeping: memory.bookkeeping.bytes,
            unused: 0
        )
        bytes.unused = max(memory.used.bytes - bytes.total, 0)
        note(frame, demands: figures.demands, bytes: bytes)
    }

    private func note(_ frame: PanFrame, demands: TileCacheStatistics.DemandCounts, bytes: TierBytes) {
        let index = bucket(at: frame.time)
        buckets[index].decodedHits += demands.decodedHits - before.decodedHits
        buckets[index].compressedHits += demands.compressedHits - before.compressedHits
        buckets[index].late += demands.late - before.late
        buckets[index].missed += demands.missed - before.missed
        before = demands
        if bytes.total > buckets[index].bytes { buckets[index].take(bytes) }
    }

    /// Index of the interval of a time; merges intervals if there are too many.
    private func bucket(at time: Int64) -> Int {
        var index = Int(time / bucketNanoseconds)
        while index >= Self.bucketCount {
            buckets = stride(from: 0, to: buckets.count, by: 2).map { first in
                first + 1 < buckets.count ? buckets[first].joined(with: buckets[first + 1]) : buckets[first]
            }
            bucketNanoseconds *= 2
            index = Int(time / bucketNanoseconds)
        }
        while buckets.count <= index { buckets.append(.init()) }
        return index
    }

    private func notePath(_ center: WorldPoint) {
        let point = ReplaySeries.Point(x: center.x, y: center.y)
        guard point != path.last else { return }
        pathSkip += 1
        guard pathSkip >= pathStride || path.isEmpty else { return }
        pathSkip = 0
        path.append(point)
        guard path.count >= Self.pathCount else { return }
        path = stride(from: 0, to: path.count, by: 2).map { path[$0] }
        pathStride *= 2
    }

    func series(waits: [Int64: Int]) -> ReplaySeries {
        moments.finish()
        return ReplaySeries(
            bucketSeconds: Double(bucketNanoseconds) / 1e9,
            buckets: buckets,
            waits: waits.sorted { $0.key < $1.key }.map { .init(milliseconds: Double($0.key) / 10, count: $0.value) },
            path: path,
            tiles: tiles.sorted { $0.key < $1.key }.map {
                .init(level: $0.key.level, column: $0.key.column, row: $0.key.row, use: $0.value.use)
            },
            forgottenTiles: forgotten,
            tileSpans: pyramid.levels.map { level in
                .init(
                    x: level.worldPixelsPerPixel * Double(level.tileWidth),
                    y: level.worldPixelsPerPixel * Double(level.tileHeight)
                )
            },
            moments: moments.worst,
            world: .init(x: pyramid.worldWidth, y: pyramid.worldHeight),
            wrapsX: pyramid.wrapsX
        )
    }
}

extension ReplaySeries.Bucket {
    fileprivate mutating func take(_ bytes: TierBytes) {
        decodedBytes = bytes.decoded
        compressedBytes = bytes.compressed
        inFlightBytes = bytes.inFlight
        bookkeepingBytes = bytes.bookkeeping
        unusedBytes = bytes.unused
    }

    /// Merges two neighbours: sums of demands, the memory of the fuller one.
    fileprivate func joined(with next: Self) -> Self {
        var (joined, other) = bytes >= next.bytes ? (self, next) : (next, self)
        for field in [\Self.decodedHits, \.compressedHits, \.late, \.missed] {
            joined[keyPath: field] += other[keyPath: field]
        }
        for field in [\Self.sharpPixels, \.coarsePixels, \.blankPixels] {
            joined[keyPath: field] += other[keyPath: field]
        }
        return joined
    }
}
