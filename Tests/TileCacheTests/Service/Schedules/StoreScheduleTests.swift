import Dispatch
import Testing

@testable import TileCache

/// Invalidations of a layer with stores under random schedules: nothing older than the last change is drawn.
@Suite(.timeLimit(.minutes(45))) struct StoreScheduleTests {
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

/// One or two random layers over one data set, with stores. Their source writes the number of the last change as the
/// pixels' bytes.
private final class StoreRun: @unchecked Sendable {
    // Used by one thread only.
    private static let side = 128.0

    private struct Change {
        var region: PixelRect?
        var keepsStale = true
        /// Users whose layers were told, from the end of that on.
        var users: Set<Int> = []
    }

    private struct User {
        let cache: Int
        var layer: TileLayer
        var view: TileView
    }

    private final class Source: BlockingTileSource, @unchecked Sendable {
        let scheduler: StepScheduler
        /// Number of the last change. Used by one thread only.
        var version: UInt8 = 0
        let expires: Bool
        /// The change from which on some tiles must not be stored.
        let secretSince: UInt8

        init(_ scheduler: StepScheduler) {
            self.scheduler = scheduler
            expires = scheduler.chance(20)
            secretSince = scheduler.chance(20) ? UInt8(scheduler.below(10)) : .max
        }

        func isSecret(_ tile: TileCoordinate, _ version: UInt8) -> Bool {
            version >= secretSince && (tile.column + tile.row).isMultiple(of: 3)
        }

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
            let version = version
            for _ in 0..<scheduler.below(4) { scheduler.interleave() }
            if expires { pixels.freshness = TileStoreFreshness(stored: 0, expires: 1 << 60) }
            if isSecret(tile, version) { pixels.freshness = .notStored }
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
    private var changes = [Change()]
    private var caches: [TileCache] = []
    private var users: [User] = []
    private var problems: [String] = []
    private(set) var checks = 0
    private var earlierHits = 0

    var hits: Int { earlierHits + caches.reduce(0) { $0 + Self.hits($1) } }
    var setting: String {
        "\(stores.map(\.keepsUndrawnTiles)) \(made) made levels, \(limit) bytes, \(users.count) layers, "
            + "\(caches.count) caches, expires: \(source.expires), secret since \(source.secretSince)"
    }

    private static func hits(_ cache: TileCache) -> Int { cache.statistics.stores.reduce(0) { $0 + $1.hits } }

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
        for store in stores where scheduler.chance(50) {
            store.whileReadingGeneration = { [unowned scheduler] in scheduler.interleave() }
        }
        source = Source(scheduler)
        let userCount = 1 + scheduler.below(2)
        caches = try (0...scheduler.below(userCount)).map { _ in try open() }
        users = try (0..<userCount).map { try add(to: $0 % caches.count) }
    }

    private func open() throws -> TileCache {
        try scheduler.cache(byteLimit: .bytes(limit), workers: 1 + scheduler.below(3))
    }

    private func add(to cache: Int) throws -> User {
        let layer = try caches[cache].addLayer(
            source,
            pyramid: pyramid,
            options: LayerOptions(synthesizedLevels: made, stores: LayerStores(stores, dataSet: ["world"]))
        )
        return User(cache: cache, layer: layer, view: ServiceSetup.quiet(caches[cache], [layer]))
    }

    /// The next run of a program over the same stores.
    private func reopen() throws {
        let number = scheduler.below(caches.count)
        _ = scheduler.settle(atMost: 5000)
        earlierHits += Self.hits(caches[number])
        _ = caches[number].shutdown(timeout: .zero)
        _ = scheduler.settle(atMost: 5000)
        let old = caches[number]
        caches[number] = try open()
        withExtendedLifetime(old) {}
        for index in users.indices where users[index].cache == number { try replace(index) }
    }

    /// The old view ends after the assignment: its end runs other threads, which read `users`.
    private func replace(_ index: Int) throws {
        let old = users[index]
        users[index] = try add(to: old.cache)
        withExtendedLifetime(old) {}
    }

    /// Removes a layer and adds it again, perhaps before the stores have been told of its invalidations.
    private func addAgain() throws {
        let index = scheduler.below(users.count)
        users[index].layer.remove()
        try replace(index)
    }

    func run() throws -> [String] {
        for _ in 0..<30 where problems.isEmpty {
            switch scheduler.below(100) {
            case 0..<20: change()
            // Another thread's, perhaps while one is under way.
            case 20..<35: scheduler.post({ [unowned self] in change() }, on: others)
            case 35..<72: need()
            case 72..<84:
                caches[scheduler.below(caches.count)].trim(to: .bytes(scheduler.below(limit)))
            case 84..<91: try addAgain()
            case 91..<95: try reopen()
            default: _ = scheduler.settle(atMost: 2000)
            }
            for _ in 0..<[0, 1, 3, 12, 40][scheduler.below(5)] { scheduler.runOne() }
            check()
        }
        _ = scheduler.settle(atMost: 5000)
        check()
        for cache in caches { _ = cache.shutdown(timeout: .zero) }
        _ = scheduler.settle(atMost: 5000)
        checkStores()
        return problems
    }

    private func change() {
        guard changes.count < 255 else { return }
        var change = Change(keepsStale: scheduler.chance(60))
        // A layer that was not told may store old tiles of a region again, unless generations tell them from new ones.
        let hasRegions = users.count == 1 || stores[0].keepsUndrawnTiles
        if hasRegions, scheduler.chance(80) {
            let (x, y) = (Double(scheduler.below(120)), Double(scheduler.below(120)))
            change.region = PixelRect(minX: x, minY: y, maxX: x + 8, maxY: y + 8)
        }
        changes.append(change)
        let number = changes.count - 1
        source.version = UInt8(number)
        let first = scheduler.below(users.count)
        for step in users.indices where step == 0 || scheduler.chance(70) {
            let index = (first + step) % users.count
            let (cache, layer) = (caches[users[index].cache], users[index].layer)
            layer.invalidate(region: change.region, keepsStale: change.keepsStale)
            // A layer that was removed meanwhile may not have been told.
            let isTold = cache.core.read { $0.record(of: layer.id) != nil }
            if isTold { changes[number].users.insert(index) }
        }
    }

    private func need() {
        let user = users[scheduler.below(users.count)]
        user.view.update(
            needing: (0...scheduler.below(6)).map { _ in
                let level = scheduler.below(pyramid.levels.count)
                let side = pyramid.levels[level].columns
                return NeededTile(
                    layer: user.layer.id,
                    tile: TileCoordinate(level: level, column: scheduler.below(side), row: scheduler.below(side))
                )
            }
        )
    }

    /// Compares each part of a drawn tile that comes from one tile of the source with the changes of its area.
    private func check() { for index in users.indices { check(index) } }

    private func check(_ user: Int) {
        for placement in users[user].view.frame() {
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
                        guard change.users.contains(user), !(placement.tile.isStale && change.keepsStale) else {
                            return false
                        }
                        return change.region.map { !$0.intersection(area).isEmpty } ?? true
                    }
                    if let newer { problems.append("\(tile): version \(version) is drawn after change \(newer)") }
                }
            }
        }
    }

    /// Compares what is left in the stores with what may be stored.
    private func checkStores() {
        for (entry, first) in stores.flatMap(\.all) {
            let tile = entry.key.tile
            if tile.level < made, source.expires { problems.append("\(tile) is made of tiles that expire") }
            if tile.level >= made, let first, source.isSecret(tile, first) { problems.append("\(tile) is stored") }
        }
    }
}
