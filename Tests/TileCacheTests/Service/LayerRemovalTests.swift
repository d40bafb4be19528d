import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// Layers are added and removed. Their memory returns, held tiles stay valid, and a later layer of the same index is
/// distinct.
@Suite(.timeLimit(.minutes(45))) struct LayerRemovalTests {
    /// Memory and tables of a cache for its layers.
    private struct Holdings: Hashable {
        var usedBytes: Int
        var entries: Int
        var layers: Int
        var slotSizes: Int
        var regions: Int
    }

    private func holdings(of cache: TileCache) -> Holdings {
        cache.core.lock.withLock { state in
            Holdings(
                usedBytes: state.pool.committedBytes,
                entries: state.pool.table.count,
                layers: state.layers.count,
                slotSizes: state.pool.slots.count,
                regions: state.slotRegions.count
            )
        }
    }

    private func pyramid(tileSize: Int = 64) throws -> TilePyramid {
        try .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: tileSize)
    }

    private func draw(
        _ view: TileView,
        by steps: StepScheduler,
        _ viewport: TileViewport = ServiceSetup.viewport(500, 500)
    ) {
        view.update(viewport)
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
    }

    /// The codecs that a new layer relies on may go with another one while it is added.
    @Test func aNewLayerHasCodecsWhenTheOnlyOtherOneGoes() throws {
        let scene = try StillScene(tiles: 64) { $0.usesCompressedTier = true }
        let first = try scene.plainLayer()
        scene.meanwhile = {
            first.remove()
            return true
        }
        let second = try scene.plainLayer()
        scene.run()
        let (codecs, isCompressible) = scene.cache.core.read { state in
            (state.codecs.count, state.pool.layers[second.id.index].isCompressible)
        }
        #expect(codecs > 0 && isCompressible)
    }

    /// Its spare tile takes the room of sixteen others. It goes once the last load has ended.
    @Test(arguments: [false, true]) func aViewAtRestGetsTheRoomOfARemovedLayer(isLoading: Bool) throws {
        let scene = try StillScene(tiles: 32)
        let stays = try scene.plainLayer()
        let source = QueuedSource()
        let goes = try scene.cache.addLayer(
            source,
            pyramid: try pyramid(tileSize: 256),
            options: LayerOptions(synthesizedLevels: 1)
        )
        let view = ServiceSetup.quiet(scene.cache, [stays])
        view.update(ServiceSetup.viewport(900, 900))
        if isLoading { try goes.pin([TileCoordinate(level: 4, column: 0, row: 0)]) }
        scene.run()
        let requests = source.take()
        #expect(requests.count == (isLoading ? 1 : 0) && view.neededTileCount == 6)
        goes.remove()
        scene.run()
        #expect(view.neededTileCount == (isLoading ? 6 : 20))
        for request in requests { request.cancel() }
        scene.run()
        #expect(view.neededTileCount == 20 && view.shortfall.bytes == 0 && view.frame().missingTileCount == 0)
    }

    @Test(arguments: [false, true]) func whatALayerTookComesBack(hasShare: Bool) throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(8))
        let stays = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = ServiceSetup.quiet(cache, [stays])
        draw(view, by: steps)
        // Nothing is needed: a trim is final.
        view.layers = []
        cache.trim(to: .bytes(0))
        let before = holdings(of: cache)
        for size in [64, 32, 128] {
            let options = LayerOptions(maximumShare: hasShare ? 0.9 : 1)
            let layer = try cache.addLayer(
                PlainSource(layer: 1),
                pyramid: try pyramid(tileSize: size),
                options: options
            )
            try layer.pin(levels: 0...1)
            view.layers = [stays, layer]
            draw(view, by: steps)
            #expect(Set(view.frame().map(\.tile.identity.layer)) == [stays.id, layer.id])
            layer.remove()
            #expect(view.layers == [stays])
            #expect(Set(view.frame().map(\.tile.identity.layer)) == [stays.id])
            view.layers = []
            cache.trim(to: .bytes(0))
            #expect(
                steps.reaches {
                    cache.trim(to: .bytes(0))
                    return holdings(of: cache) == before
                },
                "\(holdings(of: cache)), before: \(before)"
            )
        }
    }

    /// Address ranges are unmapped after the lock is released: that may take long.
    @Test func rangesOutliveTheHoldOfTheLock() throws {
        let cache = try StepScheduler.calm().cache(byteLimit: .mebibytes(8))
        let options = LayerOptions(synthesizedLevels: 1)
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid(), options: options)
        weak let slots = cache.core.read { $0.slotRegions[0] }
        weak let spare = cache.core.read { $0.layers[0].synthesis?.spare }
        _ = cache.core.perform { $0.beginRemoval(of: layer.id, now: 0) }
        let areThere = cache.core.perform { state -> Bool in
            while state.finishRemovals(now: 0) {}
            return state.slotRegions.isEmpty && slots != nil && spare != nil
        }
        #expect(areThere && slots == nil && spare == nil)
    }

    /// Tables of a layer: itself in both tables, and its levels in two.
    @Test func tablesOfALayerAreCounted() throws {
        let level = MemoryLayout<PyramidLevel>.stride + MemoryLayout<LayerRecord.TileSize>.stride
        let one = try TilePyramid.powerOfTwo(worldWidth: 64, worldHeight: 64, tileSize: 64)
        let seven = try pyramid()
        #expect(LayerRecord.byteCount(of: seven) - LayerRecord.byteCount(of: one) == 6 * level)
        let least = MemoryLayout<LayerRecord>.stride + MemoryLayout<PoolLayer>.stride + PrefetchMeter.byteCount
        #expect(LayerRecord.byteCount(of: one) == least + level)
    }

    /// Removed layers keep no memory, index or thread, as in a photo viewer. They are removed one by one or all at
    /// once.
    @Test(arguments: [1, 500]) func tenThousandLayersLeaveNothing(atOnce: Int) throws {
        let cache = try TileCache(byteLimit: .mebibytes(8))
        let view = ServiceSetup.quiet(cache, [])
        let source = PlainSource()
        let viewport = TileViewport(center: WorldPoint(x: 100, y: 100), width: 60, height: 60)
        var before = holdings(of: cache)
        for round in 0..<10_000 / atOnce {
            let layers = try (0..<atOnce).map { number in
                try cache.addLayer(source, pyramid: try pyramid(tileSize: 16 << ((round + number) % 4)))
            }
            view.layers = [layers[0]]
            view.update(viewport)
            if round % 50 == 0 { #expect(eventually { view.frame().missingTileCount == 0 }) }
            for layer in layers { layer.remove() }
            // Tables of views and of the plan grow once.
            if round == 1 {
                #expect(eventually { cache.core.lock.withLock { $0.layers.removed.isEmpty } })
                before = holdings(of: cache)
            }
        }
        #expect(
            eventually {
                let now = holdings(of: cache)
                return now.layers == 0 && now.entries == 0 && now.slotSizes == 0 && now.usedBytes <= before.usedBytes
            },
            "\(holdings(of: cache)), after the second round \(before)"
        )
    }

    @Test func heldTilesStayValidToTheirEnd() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 2)
        let layer = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        draw(view, by: steps)
        var frame: TileFrame? = view.frame()
        let tile = try #require(frame?.first?.tile)
        layer.remove()
        #expect(cache.statistics.memory.used.bytes > 20 * 16_384)
        // Another layer writes into the same memory as soon as it may.
        let other = try cache.addLayer(PlainSource(layer: 7), pyramid: try pyramid())
        #expect(other != layer && other.id.serial == 1)
        view.layers = [other]
        draw(view, by: steps, ServiceSetup.viewport(2000, 2000))
        for placement in try #require(frame) {
            #expect(holds(placement.tile, expectedPixel(layer: 0, placement.tile.identity.tile)))
        }
        frame = nil
        #expect(holds(tile, expectedPixel(layer: 0, tile.identity.tile)))
        #expect(!layer.isResident(tile.identity.tile))
    }

    /// The last tile of a removed layer is held for a while. Its size goes with its memory, without any other event.
    @Test func theLastHeldTileTakesItsSizeWithIt() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 2)
        let stays = try cache.addLayer(PlainSource(), pyramid: try pyramid())
        let layer = try cache.addLayer(PlainSource(layer: 1), pyramid: try pyramid(tileSize: 128))
        let view = ServiceSetup.quiet(cache, [layer])
        draw(view, by: steps)
        var tile = view.frame().first?.tile
        #expect(tile != nil)
        layer.remove()
        view.layers = [stays]
        draw(view, by: steps)
        #expect(steps.reaches { cache.core.read { $0.layers.removed.isEmpty } })
        #expect(holdings(of: cache).slotSizes == 2)
        tile = nil
        #expect(steps.reaches { holdings(of: cache).slotSizes == 1 })
    }

    /// Its load keeps only a worker and a tile's memory until the source returns.
    @Test(arguments: [false, true]) func aLayerWithALoadStuckInItsSourceIsGoneWhenItReturns(isReused: Bool) throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let stuck = try cache.addLayer(source, pyramid: try pyramid())
        let stays = try cache.addLayer(PlainSource(layer: 1), pyramid: try pyramid())
        let view = ServiceSetup.quiet(cache, [stuck])
        view.update(TileViewport(center: WorldPoint(x: 100, y: 100), width: 8, height: 8))
        #expect(eventually { source.inside == 1 })
        stuck.remove()
        #expect(view.layers.isEmpty && view.frame().missingTileCount == 0)
        let next = isReused ? try cache.addLayer(PlainSource(layer: 2), pyramid: try pyramid()) : stays
        // The index is not free while the load is in flight.
        #expect(next.id.index != stuck.id.index)
        view.layers = [stays]
        view.update(ServiceSetup.viewport(500, 500))
        #expect(eventually { view.frame().missingTileCount == 0 })
        #expect(cache.core.lock.withLock { $0.layers.removed } == [stuck.id.index])
        source.open()
        #expect(eventually { cache.core.lock.withLock { $0.layers.removed.isEmpty && $0.pool.loads.count == 0 } })
        #expect(source.loads.count == 1)
        let later = try cache.addLayer(PlainSource(layer: 3), pyramid: try pyramid())
        #expect(later.id.index == stuck.id.index && later.id.serial == (isReused ? 3 : 2))
    }

    /// Requests of a removed layer are cancelled; later answers change nothing.
    @Test func requestsAreCancelled() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 4)
        let source = QueuedSource()
        let layer = try cache.addLayer(source, pyramid: try pyramid())
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(ServiceSetup.viewport(500, 500))
        let requests = source.taken(by: steps, atLeast: 4)
        let cancelled = Lock(0)
        for request in requests { request.onCancel { cancelled.withLock { $0 += 1 } } }
        layer.remove()
        #expect(steps.reaches { cancelled.withLock { $0 } == requests.count })
        #expect(requests.allSatisfy { !$0.isWanted })
        for request in requests { source.answer(request) }
        #expect(steps.reaches { holdings(of: cache).layers == 0 && cache.statistics.loads.outdated == requests.count })
        #expect(source.take().isEmpty)
    }

    @Test func aLayerIsKnownToItsOwnCacheAlone() throws {
        let steps = StepScheduler.calm()
        let (one, two) = (try steps.cache(byteLimit: .mebibytes(2)), try steps.cache(byteLimit: .mebibytes(2)))
        let own = try one.addLayer(PlainSource(), pyramid: try pyramid())
        let foreign = try two.addLayer(PlainSource(), pyramid: try pyramid())
        let tile = TileCoordinate(level: 0, column: 0, row: 0)
        let view = ServiceSetup.quiet(one, [foreign, own, own])
        #expect(view.layers == [own])
        view.update(needing: [NeededTile(layer: foreign.id, tile: tile), NeededTile(layer: own.id, tile: tile)])
        #expect(view.neededTileCount == 1 && steps.reaches { own.isResident(tile) })
        #expect(!foreign.isResident(tile) && foreign.withTile(tile) { _ in true } == nil)
        // The next layer of the same index is distinct.
        own.remove()
        own.remove()
        #expect(steps.reaches { holdings(of: one).layers == 0 })
        let later = try one.addLayer(PlainSource(), pyramid: try pyramid())
        #expect(later.id.index == own.id.index && later != own)
        view.layers = [own]
        #expect(view.layers.isEmpty)
        own.invalidate()
        own.remove()
        view.layers = [later]
        #expect(view.layers == [later])
    }

    /// A layer keeps what is learned of it, whatever layers are added or removed.
    @Test func layersThatStayKeepWhatWasLearned() throws {
        final class Counting: Sendable {
            let made = Lock(0)
        }
        let counting = Counting()
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layers = try (0..<3).map { try cache.addLayer(PlainSource(layer: $0), pyramid: try pyramid()) }
        let view = cache.makeView(layers: [layers[0]], selection: TileLevelSelection()) {
            counting.made.withLock { $0 += 1 }
            return NoPrefetch()
        }
        view.layers = [layers[1], layers[0]]
        view.layers = [layers[2], layers[1], layers[0]]
        #expect(counting.made.withLock { $0 } == 3)
        view.layers = [layers[0], layers[2]]
        #expect(counting.made.withLock { $0 } == 3 && view.layers == [layers[0], layers[2]])
        draw(view, by: steps)
        #expect(Set(view.frame().map(\.tile.identity.layer)) == [layers[0].id, layers[2].id])
        // A layer that is added to the view again is new to it.
        view.layers = [layers[1]]
        #expect(counting.made.withLock { $0 } == 4)
        view.layers = []
        #expect(view.frame().isEmpty && view.frame().missingTileCount == 0)
    }

    /// Several threads add, draw, invalidate and remove layers. No tile of one is ever drawn for another.
    @Test(arguments: 0..<4) func anyOrderOfAddingAndRemovingKeepsTheRules(seed: Int) throws {
        let cache = try TileCache(byteLimit: .mebibytes(3), workers: 3)
        let all = Lock<[TileLayer]>([])
        let wrong = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SplitMix64(seed: UInt64(seed * 16 + thread))
            let view = cache.makeView(layers: [])
            var held: [TileFrame] = []
            for _ in 0..<250 {
                let layers = all.withLock { $0.map { $0 } }
                switch random.below(9) {
                case 0, 1:
                    let size = 16 << random.below(3)
                    let options = LayerOptions(synthesizedLevels: random.below(3) == 0 ? 2 : 0)
                    let source = SerialSource(pauses: random.below(4) == 0)
                    guard let pyramid = try? pyramid(tileSize: size),
                        let layer = try? cache.addLayer(source, pyramid: pyramid, options: options)
                    else { continue }
                    source.serial.withLock { $0 = layer.id.serial }
                    all.withLock { $0.append(layer) }
                case 2:
                    guard layers.count > 3, let layer = all.withLock({ $0.popLast() }) else { continue }
                    layer.remove()
                case 3: if !layers.isEmpty { layers[random.below(layers.count)].invalidate() }
                case 4: view.layers = layers.filter { _ in random.below(2) == 0 }
                case 5: held = Array(held.suffix(2))
                case 6: if !layers.isEmpty { try? layers[random.below(layers.count)].pin(levels: 0...1) }
                default:
                    let place = Double(200 + random.below(3600))
                    view.update(
                        TileViewport(center: WorldPoint(x: place, y: place), width: 200, height: 150, scale: 0.5)
                    )
                    held.append(view.frame())
                }
                for placement in held.last ?? TileFrame.empty {
                    let id = placement.tile.identity
                    placement.tile.withUnsafeBytes { bytes in
                        let found = bytes.load(fromByteOffset: 0, as: UInt8.self)
                        if found != UInt8(id.layer.serial % 251) {
                            wrong.withLock { $0.append("layer \(id.layer.serial) shows \(found) at \(id.tile)") }
                        }
                    }
                }
            }
        }
        #expect(wrong.withLock { $0.map { $0 } } == [], "seed \(seed)")
        for layer in all.withLock({ $0.map { $0 } }) { layer.remove() }
        #expect(eventually { holdings(of: cache).layers == 0 && holdings(of: cache).entries == 0 }, "seed \(seed)")
        #expect(cache.counters.limitBreaches == 0)
        #expect(cache.core.lock.withLock { $0.pool.layers.usedCount } == 0)
    }
}

/// A source whose tiles contain the serial number of its layer.
private final class SerialSource: BlockingTileSource {
    let serial = Lock(-1)
    private let pauses: Bool

    init(pauses: Bool) { self.pauses = pauses }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
        if pauses { pause(microseconds: 500) }
        let value = UInt8(serial.withLock { $0 } % 251)
        pixels.withUnsafeMutableBytes { bytes in _ = bytes.initializeMemory(as: UInt8.self, repeating: value) }
        return .pixels
    }
}
