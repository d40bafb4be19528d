import Dispatch
import Testing

@testable import TileCache

/// Invalidations of a layer with stores under random schedules: nothing older than the last change is drawn.
@Suite(.timeLimit(.minutes(10))) struct StoreScheduleTests {
    @Test func nothingOutdatedIsDrawn() throws {
        let seeds = scheduleSeeds(300)
        var (checks, hits) = (0, 0)
        for seed in seeds {
            let run = try StoreRun(seed: seed)
            let problems = try run.run()
            checks += run.checks
            hits += run.hits
            if !problems.isEmpty { Issue.record("TILECACHE_SEED=\(seed): \(problems.prefix(3)); \(run.setting)") }
        }
        #expect(checks > seeds.count && hits > 0, "seeds \(seeds)")
    }
}

/// One random layer with stores. Its source writes the number of the last change as the pixels' bytes.
private final class StoreRun: @unchecked Sendable {
    // Used by one thread only.
    private static let side = 128.0

    private struct Change {
        var region: PixelRect?
        var keepsStale = true
        var isComplete = false
    }

    private final class Source: BlockingTileSource, @unchecked Sendable {
        let scheduler: StepScheduler
        /// Number of the last change. Used by one thread only.
        var version: UInt8 = 0

        init(_ scheduler: StepScheduler) { self.scheduler = scheduler }

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
            let version = version
            for _ in 0..<scheduler.below(4) { scheduler.interleave() }
            _ = pixels.withUnsafeMutableBytes { $0.initializeMemory(as: UInt8.self, repeating: version) }
            return .pixels
        }
    }

    private let scheduler: StepScheduler
    private let pyramid: TilePyramid
    private let stores: [MemoryStore]
    private let source: Source
    private let made: Int
    private let others = DispatchQueue(label: "test.others")
    private let limit: Int
    /// Entry 0 is the state before all changes.
    private var changes = [Change(isComplete: true)]
    private var cache: TileCache
    private var layer: LayerID
    private var view: TileView
    private var problems: [String] = []
    private(set) var checks = 0
    private var earlierHits = 0

    var hits: Int { earlierHits + cache.statistics.stores.reduce(0) { $0 + $1.hits } }
    var setting: String { "\(stores.map(\.keepsUndrawnTiles)) \(made) made levels, \(limit) bytes" }

    init(seed: UInt64) throws {
        scheduler = StepScheduler(seed: seed)
        // A worker that makes a tile waits for others' loads.
        scheduler.nestsWorkers = false
        pyramid = try TilePyramid.powerOfTwo(worldWidth: 128, worldHeight: 128, tileSize: 32)
        made = scheduler.below(3)
        limit = (120 + scheduler.below(200)) << 10
        let keepsUndrawn = scheduler.chance(30)
        stores = (0...scheduler.below(2)).map { _ in MemoryStore(keepsUndrawnTiles: keepsUndrawn) }
        for store in stores where scheduler.chance(30) {
            store.refuses = { [unowned scheduler] in scheduler.chance(20) }
        }
        source = Source(scheduler)
        (cache, layer, view) = try Self.open(source, pyramid, stores, made: made, limit: limit)
    }

    private static func open(
        _ source: Source,
        _ pyramid: TilePyramid,
        _ stores: [MemoryStore],
        made: Int,
        limit: Int
    ) throws -> (TileCache, LayerID, TileView) {
        let cache = try source.scheduler.cache(byteLimit: .bytes(limit), workers: 1 + source.scheduler.below(3))
        let layer = try cache.addLayer(
            source,
            pyramid: pyramid,
            options: LayerOptions(synthesizedLevels: made, stores: LayerStores(stores, dataSet: ["world"]))
        )
        return (cache, layer, ServiceSetup.quiet(cache, [layer]))
    }

    /// The next run of a program over the same stores.
    private func reopen() throws {
        earlierHits = hits
        _ = scheduler.settle(atMost: 5000)
        _ = cache.shutdown(timeout: .zero)
        _ = scheduler.settle(atMost: 5000)
        (cache, layer, view) = try Self.open(source, pyramid, stores, made: made, limit: limit)
    }

    func run() throws -> [String] {
        for _ in 0..<30 where problems.isEmpty {
            switch scheduler.below(100) {
            case 0..<20: change()
            // Another thread's, perhaps while one is under way.
            case 20..<35: scheduler.post({ [unowned self] in change() }, on: others)
            case 35..<75: need()
            case 75..<90: cache.trim(to: .bytes(scheduler.below(limit)))
            case 90..<95: try reopen()
            default: _ = scheduler.settle(atMost: 2000)
            }
            for _ in 0..<[0, 1, 3, 12, 40][scheduler.below(5)] { scheduler.runOne() }
            check()
        }
        _ = scheduler.settle(atMost: 5000)
        check()
        _ = cache.shutdown(timeout: .zero)
        _ = scheduler.settle(atMost: 5000)
        return problems
    }

    private func change() {
        guard changes.count < 255 else { return }
        var change = Change(keepsStale: scheduler.chance(60))
        if scheduler.chance(80) {
            let (x, y) = (Double(scheduler.below(120)), Double(scheduler.below(120)))
            change.region = PixelRect(minX: x, minY: y, maxX: x + 8, maxY: y + 8)
        }
        changes.append(change)
        let number = changes.count - 1
        source.version = UInt8(number)
        cache.invalidate(layer, region: change.region, keepsStale: change.keepsStale)
        changes[number].isComplete = true
    }

    private func need() {
        view.update(
            needing: (0...scheduler.below(6)).map { _ in
                let level = scheduler.below(pyramid.levels.count)
                let side = pyramid.levels[level].columns
                return NeededTile(
                    layer: layer,
                    tile: TileCoordinate(level: level, column: scheduler.below(side), row: scheduler.below(side))
                )
            }
        )
    }

    /// Compares each part of a drawn tile that comes from one tile of the source with the changes of its area.
    private func check() {
        for placement in view.frame() {
            let tile = placement.tile.identity.tile
            let parts = 1 << max(made - tile.level, 0)
            let width = Self.side / Double(pyramid.levels[tile.level].columns)
            for row in 0..<parts {
                for column in 0..<parts {
                    let part = width / Double(parts)
                    let x = Double(tile.column) * width + Double(column) * part
                    let y = Double(tile.row) * width + Double(row) * part
                    let area = PixelRect(minX: x, minY: y, maxX: x + part, maxY: y + part)
                    let pixels = 32 / parts
                    let place = ((row * pixels + pixels / 2) * 32 + column * pixels + pixels / 2) * 4
                    let version = placement.tile.withUnsafeBytes { Int($0[place]) }
                    checks += 1
                    let newer = changes.indices.dropFirst(version + 1).first { number in
                        let change = changes[number]
                        guard change.isComplete, !(placement.tile.isStale && change.keepsStale) else { return false }
                        return change.region.map { !$0.intersection(area).isEmpty } ?? true
                    }
                    if let newer { problems.append("\(tile): version \(version) is drawn after change \(newer)") }
                }
            }
        }
    }
}
