import Dispatch
import Testing

@testable import TileCache

/// Levels that the source does not have: every pixel against whole images, halved repeatedly.
@Suite(.timeLimit(.minutes(45))) struct LevelSynthesisTests {
    /// Shows some tiles and waits until they are resident.
    func show(_ tiles: [TileCoordinate], _ view: TileView, _ layer: TileLayer) -> Bool {
        eventually {
            view.update(needing: tiles.map { NeededTile(layer: layer.id, tile: $0) })
            return view.frame().missingTileCount == 0
        }
    }

    func quiet(_ cache: TileCache, _ layer: TileLayer) -> TileView {
        cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
    }

    /// A cache with one worker whose source waits with each tile for a signal.
    func gated(
        by gate: DispatchSemaphore,
        side: Int,
        depth: Int
    ) throws -> (MadeWorld, MadeSource, TileCache, TileLayer) {
        let world = try MadeWorld(width: side, height: side, depth: depth)
        let source = MadeSource(world) { _, _ in
            gate.wait()
            return .pixels
        }
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        return (world, source, cache, try cache.addLayer(source, pyramid: world.pyramid, options: world.options))
    }

    func expect(_ tile: TileCoordinate, in cache: TileCache, _ layer: TileLayer, _ world: MadeWorld) {
        let pixels = layer.withTile(tile) { Array($0) }
        #expect(pixels == world.pixels(of: tile), "\(tile)")
    }

    struct Shape: Sendable { var width, height, depth: Int; var wraps = false }

    @Test(
        arguments: [
            Shape(width: 256, height: 256, depth: 4), Shape(width: 250, height: 131, depth: 4),
            Shape(width: 129, height: 257, depth: 3, wraps: true), Shape(width: 65, height: 33, depth: 1),
            Shape(width: 193, height: 17, depth: 4, wraps: true),
        ]
    )
    func everyTileEqualsTheWholeImageHalved(shape: Shape) throws {
        let world = try MadeWorld(
            width: shape.width,
            height: shape.height,
            depth: shape.depth,
            wraps: shape.wraps
        )
        let depth = min(shape.depth, world.pyramid.maximumLevel)
        let source = MadeSource(world)
        // From fresh caches, so that each is made from the source's tiles; then in one, from resident ones.
        for tile in world.allTiles where tile.level < depth {
            let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
            let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
            let view = quiet(cache, layer)
            #expect(show([tile], view, layer))
            expect(tile, in: cache, layer, world)
            #expect(cache.statistics.synthesis.tiles == 1)
            cache.shutdown()
        }
        #expect(source.loads.keys.allSatisfy { $0.level >= depth })
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 3)
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        for level in (0...world.pyramid.maximumLevel).reversed() {
            let tiles = world.allTiles.filter { $0.level == level }
            #expect(show(tiles, view, layer))
            for tile in tiles { expect(tile, in: cache, layer, world) }
        }
        // All finer tiles were resident each time.
        #expect(cache.statistics.synthesis.loads == 0)
        cache.shutdown()
    }

    @Test(arguments: [TilePixelFormat.gray8, .gray16, .rgba16, .bgra8])
    func otherFormats(format: TilePixelFormat) throws {
        let world = try MadeWorld(width: 100, height: 70, depth: 3, format: format)
        let cache = try TileCache(byteLimit: .mebibytes(1))
        let layer = try cache.addLayer(MadeSource(world), pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        let coarse = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(show([coarse], view, layer))
        expect(coarse, in: cache, layer, world)
        cache.shutdown()
    }

    @Test func lightAndStraightAlpha() throws {
        let kind = DownsamplingKernelTests.Kind(format: .rgba8, alpha: .straight, downsampling: .sRGB)
        let world = try MadeWorld(width: 128, height: 128, depth: 3, kind: kind)
        let cache = try TileCache(byteLimit: .mebibytes(1))
        var options = world.options
        options.alpha = .straight
        options.downsampling = .sRGB
        let layer = try cache.addLayer(MadeSource(world), pyramid: world.pyramid, options: options)
        let coarse = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(show([coarse], quiet(cache, layer), layer))
        expect(coarse, in: cache, layer, world)
        cache.shutdown()
    }

    @Test func absentTilesAndLostOnesLeaveHoles() throws {
        // 8 x 8 tiles of the source; the first 4 x 4 are absent, one more fails permanently, one fails twice.
        let lost = TileCoordinate(level: 3, column: 6, row: 1)
        let shy = TileCoordinate(level: 3, column: 7, row: 7)
        let world = try MadeWorld(width: 128, height: 128, depth: 3) { x, y in
            (x < 64 && y < 64) || (96..<112 ~= x && 16..<32 ~= y)
        }
        let source = MadeSource(world) { tile, attempt in
            if tile == lost { throw TileFailure.permanent }
            if tile == shy, attempt < 3 { throw TileFailure.transient(retryAfter: .zero) }
            return tile.column < 4 && tile.row < 4 ? .absent : .pixels
        }
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        // Holes stay holes in slots that held other pixels.
        #expect(show((0..<8).map { TileCoordinate(level: 3, column: 4 + $0 % 2, row: 4 + $0 / 2) }, view, layer))
        view.update(needing: [])
        layer.invalidate(keepsStale: false)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(show([top], view, layer))
        expect(top, in: cache, layer, world)
        #expect(cache.statistics.synthesis.holes == 1)
        #expect(cache.statistics.synthesis.loads == 64 + 2)
        #expect(source.loads[shy] == 3)
        // Only absent tiles below.
        #expect(show([TileCoordinate(level: 1, column: 0, row: 0)], view, layer))
        #expect(cache.statistics.loads.absent == 1)
        // Absent tiles are not requested again.
        let loads = source.loads.values.reduce(0, +)
        layer.invalidate(region: PixelRect(minX: 100, minY: 100, maxX: 101, maxY: 101))
        #expect(show([top], view, layer))
        #expect(eventually { !view.frame().contains { $0.tile.isStale } })
        #expect(source.loads.values.reduce(0, +) == loads + 48)
        cache.shutdown()
    }

    @Test func aTileThatFailsForNowIsTriedAgainLater() throws {
        let world = try MadeWorld(width: 64, height: 64, depth: 2)
        let source = MadeSource(world) { tile, attempt in
            if tile.column == 3, tile.row == 3, attempt <= 3 {
                throw TileFailure.wrongSize(expected: .bytes(1), delivered: .bytes(0))
            }
            return .pixels
        }
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(1))
        configuration.retryDelay = .milliseconds(1)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(show([top], quiet(cache, layer), layer))
        expect(top, in: cache, layer, world)
        #expect(cache.statistics.loads.failed == 1)
        cache.shutdown()
    }

    @Test func whatNobodyWantsAnyMoreIsGivenUp() throws {
        let gate = DispatchSemaphore(value: 0)
        let (world, source, cache, layer) = try gated(by: gate, side: 256, depth: 4)
        let view = quiet(cache, layer)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        view.update(needing: [NeededTile(layer: layer.id, tile: top)])
        for _ in 0..<3 { gate.signal() }
        #expect(eventually { source.loads.count == 4 })
        view.update(needing: [])
        // The plan without the tile must exist before the source continues.
        #expect(eventually { cache.core.lock.withLock { $0.pool.isUnwanted(load: LoadID(number: 0)) } })
        gate.signal()
        #expect(eventually { cache.statistics.loads.cancelled == 1 })
        #expect(source.loads.count == 4)
        #expect(cache.statistics.memory.inFlight.bytes == 0)
        for _ in 0..<256 { gate.signal() }
        #expect(show([top], view, layer))
        expect(top, in: cache, layer, world)
        cache.shutdown()
    }

    /// Sixteen loads of six seconds each are no hanging source. One of ten seconds is.
    @Test func manyLoadsInOneAreNotStuck() throws {
        let world = try MadeWorld(width: 64, height: 64, depth: 2)
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(1), workers: 2)
        let time = Lock(Int64(0))
        configuration.clock = { time.withLock { $0 } }
        configuration.stuckLoadTime = .seconds(10)
        let cache = try TileCache(configuration)
        let source = MadeSource(world) { [weak cache] _, _ in
            time.withLock { $0 += 6_000_000_000 }
            let figures = cache?.statistics
            if figures?.stuckLoads != 0 || figures?.blockedWorkers != 0 { throw TileFailure.permanent }
            return .pixels
        }
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(show([top], quiet(cache, layer), layer))
        expect(top, in: cache, layer, world)
        #expect(time.withLock { $0 } == 96_000_000_000)
        #expect(cache.statistics.synthesis.holes == 0)
        cache.shutdown()
    }

    @Test func compressedChildrenAreDecompressedAndNotLoaded() throws {
        // Mostly zeros: noise would not compress.
        let world = try MadeWorld(width: 32, height: 32, depth: 1) { x, _ in x % 16 > 1 }
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
        let layer = try cache.addLayer(MadeSource(world), pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        let children = world.allTiles.filter { $0.level == 1 }
        #expect(show(children, view, layer))
        view.update(needing: [])
        for child in children { #expect(layer.demote(child)) }
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(show([top], view, layer))
        expect(top, in: cache, layer, world)
        #expect(cache.statistics.synthesis.loads == 0)
        cache.shutdown()
    }

    @Test func asynchronousSourcesToo() throws {
        let world = try MadeWorld(width: 128, height: 128, depth: 3)
        let cache = try TileCache(byteLimit: .mebibytes(1), workers: 2)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let view = quiet(cache, layer)
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        var dropped = 0
        var answered = 0
        let isThere = eventually {
            view.update(needing: [NeededTile(layer: layer.id, tile: top)])
            for request in source.take() {
                #expect(request.tile.level == 3 && request.layer == layer.id && request.isWanted)
                // One in nine is released without an answer: it counts as failed and is retried.
                if (answered + dropped) % 9 == 4 {
                    dropped += 1
                    continue
                }
                answered += 1
                request.complete { pixels in
                    let bytes = world.pixels(of: request.tile)
                    pixels.withUnsafeMutableBytes { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
                    return .pixels
                }
                #expect(!request.complete { _ in .absent })
            }
            return view.frame().missingTileCount == 0
        }
        #expect(isThere)
        expect(top, in: cache, layer, world)
        #expect(answered == 64 && dropped == 8)
        #expect(cache.statistics.loads.secondAnswers == 64)

        // A source that never answers: the shutdown does not wait for it, and its later writes are ignored.
        layer.invalidate()
        view.update(needing: [NeededTile(layer: layer.id, tile: top)])
        var late: [TileRequest] = []
        #expect(
            eventually {
                late += source.take()
                return !late.isEmpty
            }
        )
        #expect(cache.shutdown(timeout: .seconds(600)))
        #expect(!late[0].isWanted)
        #expect(!late[0].complete { _ in .pixels })
    }

    /// A tile is loaded once for a view and for a coarser tile made from it.
    @Test func aChildInFlightIsWaitedFor() throws {
        let world = try MadeWorld(width: 32, height: 32, depth: 1)
        let scene = try StillScene(tiles: 64)
        let source = QueuedSource()
        let layer = try scene.cache.addLayer(source, pyramid: world.pyramid, options: world.options)
        let (fine, coarse) = (quiet(scene.cache, layer), quiet(scene.cache, layer))
        let top = TileCoordinate(level: 0, column: 0, row: 0)
        fine.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 1, column: 0, row: 0))])
        scene.run()
        // Used by one thread only.
        nonisolated(unsafe) var asked: [TileCoordinate: Int] = [:]
        nonisolated(unsafe) var requests = source.take()
        nonisolated(unsafe) var (looks, most) = (0, 0)
        #expect(requests.count == 1)
        scene.scheduler.whenWaiting = { [cache = scene.cache] in
            looks += 1
            most = max(most, cache.core.read { $0.synthesis.waiters.values.map(\.count).max() ?? 0 })
            guard looks > 5 else { return }
            for request in requests + source.take() {
                asked[request.tile, default: 0] += 1
                request.complete { pixels in
                    let bytes = world.pixels(of: request.tile)
                    pixels.withUnsafeMutableBytes { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
                    return .pixels
                }
            }
            requests = []
        }
        defer { scene.scheduler.whenWaiting = nil }
        coarse.update(needing: [NeededTile(layer: layer.id, tile: top)])
        #expect(scene.scheduler.settle(atMost: 1000))
        #expect(coarse.frame().missingTileCount == 0)
        // However long the wait, it is counted once.
        #expect(most == 1)
        expect(top, in: scene.cache, layer, world)
        #expect(asked.count == 4 && asked.values.allSatisfy { $0 == 1 }, "\(asked)")
    }

    /// A random walk through all levels with hardly any memory. The pixels are right, and the ledger is consistent.
    @Test(arguments: [9, 14, 24, 60])
    func aWalkWithHardlyAnyMemory(tiles: Int) throws {
        let world = try MadeWorld(width: 250, height: 200, depth: 3, wraps: true)
        // A slot is 4 KiB for any tile; tables, scratch memory and the view's records take the rest.
        let base = try TileCache(byteLimit: .mebibytes(1), workers: 3)
        _ = try base.addLayer(MadeSource(world), pyramid: world.pyramid, options: world.options)
        let limit = base.statistics.memory.bookkeeping.bytes + 65_536 + tiles * 4096
        let cache = try TileCache(byteLimit: .bytes(limit), workers: 3)
        let layer = try cache.addLayer(MadeSource(world), pyramid: world.pyramid, options: world.options)
        let view = cache.makeView(layers: [layer])
        var random = SplitMix64(seed: UInt64(tiles))
        for step in 0..<40 {
            let scale = PortableMath.exp2(-Double(random.next() % 5))
            let viewport = TileViewport(
                center: WorldPoint(x: Double(random.next() % 250), y: Double(random.next() % 200)),
                width: 20,
                height: 20,
                scale: scale
            )
            let isSharp = eventually {
                view.update(viewport)
                return view.frame().missingTileCount == 0
            }
            #expect(isSharp, "step \(step): \(cache.statistics)")
            for placement in view.frame() {
                let tile = placement.tile.identity.tile
                #expect(placement.tile.withUnsafeBytes { Array($0) } == world.pixels(of: tile), "\(tile)")
            }
        }
        #expect(cache.statistics.memory.peak.bytes <= limit)
        #expect(cache.shutdown())
        #expect(cache.statistics.memory.inFlight.bytes == 0)
    }

    /// A source that wants to hold more bytes than there are for each tile.
    private final class GreedySource: TileSource {
        private let state = Lock(0)
        var requests: Int { state.withLock { $0 } }

        func requestTile(_ request: TileRequest) {
            state.withLock { $0 += 1 }
            if !request.holdsEncoded(.mebibytes(64)) { request.fail() }
        }
    }

    /// Memory that a descendant's source is refused is refused to the tile. It did not fail, and is not tried again at
    /// once.
    @Test func aRefusalOfADescendantIsOneOfTheTile() throws {
        let scene = try StillScene(tiles: 16)
        let source = GreedySource()
        let options = LayerOptions(synthesizedLevels: 6)
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid, options: options)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        view.update(needing: [NeededTile(layer: layer.id, tile: TileCoordinate(level: 5, column: 0, row: 0))])
        scene.run()
        let loads = scene.cache.statistics.loads
        #expect(loads.refused == 1 && loads.failed == 0 && source.requests == 1)
    }
}
