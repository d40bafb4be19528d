import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// Random requests, cancellations, invalidations, removals and shutdowns on one thread, in random orders of steps.
@Suite(.timeLimit(.minutes(45))) struct FetchModelTests {
    // Used by one thread only.
    private final class Record: @unchecked Sendable {
        let layer: Int
        let tile: TileCoordinate
        /// Version of the source at the last invalidation before the request.
        let version: UInt32
        var fetch: TileFetch?
        var known: String?
        var ends: [String] = []
        var isCancelled = false

        init(layer: Int, tile: TileCoordinate, version: UInt32) {
            (self.layer, self.tile, self.version) = (layer, tile, version)
        }
    }

    private final class Scene: @unchecked Sendable {
        let scheduler: StepScheduler
        let cache: TileCache
        let sources: [FetchTests.FateSource]
        let layers: [TileLayer]
        var records: [Record] = []
        /// Oldest version that is right, by layer and column.
        var floors = [[UInt32]](repeating: [UInt32](repeating: 0, count: 12), count: 2)
        var removed: Set<Int> = []
        var isShutDown = false
        let queue = DispatchQueue(label: "FetchModelTests")
        static let fates: [FetchTests.FateSource.Fate] = [.pixels, .absent, .lost, .retried, .pixels, .pixels]

        init(seed: UInt64, tiles: Int) throws {
            let scheduler = StepScheduler(seed: seed)
            var configuration = TileCache.Configuration(byteLimit: .bytes(tiles * 16_384), workers: 2)
            configuration.grantsBookkeeping = true
            scheduler.adopt(&configuration)
            self.scheduler = scheduler
            let cache = try TileCache(configuration)
            self.cache = cache
            sources = (0..<2).map { layer in FetchTests.FateSource(layer: layer) { Self.fates[$0 % 6] } }
            layers = try sources.map { try cache.addLayer($0, pyramid: try ServiceSetup.pyramid()) }
        }

        func kind(_ outcome: TileFetch.Outcome, of record: Record) -> String {
            guard case .pixels(let tile) = outcome else { return FetchTests.Ends.kind(outcome) }
            // Pixels from before an invalidation that preceded the request are no outcome.
            let versions = record.version...sources[record.layer].version
            let isRight = versions.contains { version in
                holds(tile, expectedPixel(layer: record.layer, record.tile, version: version))
            }
            return isRight && tile.identity.tile == record.tile ? "pixels" : "wrong pixels"
        }

        func fetch() {
            let layer = scheduler.below(2)
            let tile = TileCoordinate(level: 6, column: scheduler.below(12), row: scheduler.below(2))
            let record = Record(layer: layer, tile: tile, version: floors[layer][tile.column])
            records.append(record)
            let rank: TileFetch.Rank = scheduler.chance(50) ? .visible : .margin
            let fetch = layers[layer].fetch(tile, rank: rank, on: queue) { [unowned self] in
                record.ends.append(kind($0, of: record))
            }
            record.known = fetch.outcome.map { kind($0, of: record) }
            // Its lease would keep its tile.
            if record.known == nil { record.fetch = fetch }
        }

        func cancel() {
            let live = records.filter { $0.fetch != nil }
            guard !live.isEmpty else { return }
            let record = live[scheduler.below(live.count)]
            // The handler may run before the call has the lock.
            if scheduler.chance(50) {
                let isCancelled = record.fetch?.cancel() == true
                #expect(isCancelled == (record.ends.isEmpty && !record.isCancelled))
                record.isCancelled = record.isCancelled || isCancelled
            } else {
                record.fetch = nil
                record.isCancelled = record.isCancelled || record.ends.isEmpty
            }
        }

        func step() {
            switch scheduler.below(20) {
            case 0..<9: fetch()
            case 9..<12: cancel()
            case 12:
                let layer = scheduler.below(2)
                sources[layer].version += 1
                // A region of four columns: the rest of the layer keeps older pixels.
                let isWhole = scheduler.chance(50)
                let region = isWhole ? nil : PixelRect(minX: 0, minY: 0, maxX: 200, maxY: 4096)
                layers[layer].invalidate(region: region, keepsStale: scheduler.chance(50))
                for column in 0..<(isWhole ? 12 : 4) { floors[layer][column] = sources[layer].version }
            case 13: cache.trim(to: .bytes(0))
            case 14: scheduler.spend(nanoseconds: 300_000_000)
            default: for _ in 0..<scheduler.below(12) { scheduler.runOne() }
            }
        }
    }

    @Test(arguments: 0..<60) func eachRequestEndsOnceWithTheRightOutcome(seed: Int) throws {
        let scene = try Scene(seed: UInt64(seed), tiles: seed % 3 == 0 ? 4 : 40)
        for _ in 0..<120 {
            scene.step()
            if seed % 4 == 1, scene.removed.isEmpty, scene.scheduler.chance(1) {
                scene.removed = [0]
                scene.layers[0].remove()
            }
        }
        if seed % 2 == 1 {
            scene.isShutDown = true
            scene.cache.shutdown(timeout: .zero)
            scene.fetch()
        }
        #expect(scene.scheduler.settle(atMost: 200_000), "seed \(seed)")
        for (number, record) in scene.records.enumerated() {
            let place = "seed \(seed), request \(number) of \(record.tile)"
            let all = record.ends + (record.known.map { [$0] } ?? [])
            #expect(all.count == (record.isCancelled ? 0 : 1), "\(place): \(all)")
            let fate = Scene.fates[record.tile.column % 6]
            let right = fate == .absent ? "absent" : fate == .lost ? "failed" : "pixels"
            let mayBeRemoved = scene.isShutDown || scene.removed.contains(record.layer)
            for end in all { #expect(end == right || (mayBeRemoved && end == "removed"), "\(place): \(end)") }
        }
        #expect(scene.cache.core.read { $0.interests.pending.isEmpty }, "seed \(seed)")
        #expect(scene.cache.core.read { $0.pool.ledger[.demand] == 0 }, "seed \(seed)")
        #expect(scene.cache.statistics.contradictions.isEmpty, "seed \(seed)")
    }
}
