import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// A view at rest becomes idle under any limit. No more requests, and the service sleeps.
@Suite(.timeLimit(.minutes(45))) struct ServiceRestTests {
    /// One and a half screens of 1280 x 720 and less. Prefetches were once repeated endlessly here.
    @Test(arguments: [(3, 1), (7, 1), (8, 1), (9, 1), (6, 2)])
    func anAsynchronousSourceIsLeftAlone(mebibytes: Int, layers: Int) throws {
        let service = VirtualService()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(mebibytes))
        service.drive(&configuration)
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 32768, worldHeight: 32768)
        let ids = try (0..<layers).map { index in
            try cache.addLayer(
                VirtualSource(service, layer: index, latency: 20_000_000) as any TileSource,
                pyramid: pyramid
            )
        }
        let view = cache.makeView(layers: ids)
        draw(400, every: 10_000_000, of: view, cache, service) { _ in
            TileViewport(center: WorldPoint(x: 16_500, y: 16_500), width: 1280, height: 720)
        }
        let requests = service.requests
        let late = requests.count { $0.time > 2_000_000_000 }
        #expect(late == 0, "\(requests.count) requests, \(late) of them after two seconds; \(cache.statistics)")
        #expect(view.frame().missingTileCount == 0)
        // Fallbacks that a frame holds may take the room of needed tiles, once.
        #expect(cache.statistics.loads.refused <= 4)
    }

    /// Of a view at rest, no plan followed: the rest of it was loaded.
    @Test func aDestinationThatIsWithdrawnIsLoadedNoFurther() throws {
        let scene = try StillScene(tiles: 64, workers: 1)
        let source = QueuedSource(atATime: 1)
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        func requests() -> [TileRequest] {
            scene.run()
            return source.take()
        }
        let place = ServiceSetup.viewport(480, 480)
        view.update(place)
        var asked = requests()
        while !asked.isEmpty {
            asked.forEach(source.answer)
            asked = requests()
        }
        scene.scheduler.spend(nanoseconds: 2_000_000_000)
        let time = MonotonicTime(nanoseconds: scene.scheduler.now + 10_000_000_000)
        let destination = ViewportDestination(viewport: ServiceSetup.viewport(2000, 480), time: time)
        view.update(place, destination: destination)
        let begun = requests()
        #expect(begun.count == 1)
        view.update(place)
        scene.run()
        #expect(begun.allSatisfy { !$0.isWanted })
        begun.forEach { $0.cancel() }
        #expect(requests().isEmpty)
    }

    /// Prefetches that evict each other, as with plain LRU, end soon after the motion.
    @Test(arguments: [true, false]) func prefetchesThatEvictEachOtherEnd(isBlocking: Bool) throws {
        let service = VirtualService()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(1))
        configuration.usesValues = false
        configuration.usesCompressedTier = false
        service.drive(&configuration)
        let cache = try TileCache(configuration)
        let source = VirtualSource(service, latency: 10_000_000)
        let layer = try source.add(to: cache, isBlocking: isBlocking)
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { GreedyPolicy() })
        draw(90, every: 10_000_000, of: view, cache, service) { _ in ServiceSetup.viewport(900, 900) }
        // They do, until the view has rested.
        #expect(service.requests.count { $0.time > 800_000_000 } > 5)
        draw(50, every: 10_000_000, of: view, cache, service) { _ in ServiceSetup.viewport(900, 900) }
        let before = (service.requests.count, cache.core.lock.withLock { $0.pool.queue.epoch })
        draw(300, every: 10_000_000, of: view, cache, service) { _ in ServiceSetup.viewport(900, 900) }
        let after = (service.requests.count, cache.core.lock.withLock { $0.pool.queue.epoch })
        #expect(before == after)
        #expect(cache.statistics.loadsInFlight == 0)
    }

    /// The needed tiles fit the limit, but not what a source holds while it loads one: a coarser level is drawn, whole.
    /// The last tile was once refused memory endlessly.
    @Test(arguments: 0..<10) func aLoadHasRoomForWhatItHolds(step: Int) throws {
        let service = VirtualService()
        // Twenty tiles of 16 KiB, tables of 23 KB, and up to two tiles more.
        let cache = try uncompressed(.bytes(20 * 16_384 + 20_000 + step * 4096), service)
        let source = VirtualSource(service, latency: 5_000_000, heldBytes: 16_384)
        let view = ServiceSetup.quiet(cache, [try source.add(to: cache, isBlocking: false)])
        draw(400, every: 10_000_000, of: view, cache, service) { _ in ServiceSetup.viewport(2000, 2000) }
        let free = cache.statistics.memory.limit.bytes - cache.statistics.memory.bookkeeping.bytes
        let comment: Comment = "\(view.neededTileCount) needed, \(free) bytes beside the tables; \(cache.statistics)"
        #expect(view.frame().missingTileCount == 0, comment)
        #expect((view.shortfall.bytes == 0) == (view.neededTileCount == 20), comment)
        #expect((view.neededTileCount == 20) == (free >= 21 * 16_384), comment)
    }

    /// Decoded pinned tiles leave a view less room, and those that it shows count once. A view at rest is whole beside
    /// them, and has its own level again without them. Some of its tiles once never came.
    @Test(arguments: [(15, 0, false), (15, 0, true), (5, 0, false), (3, 12, false), (0, 15, false)])
    func aViewIsWholeBesidePins(elsewhere: Int, shown: Int, removesLayer: Bool) throws {
        let service = VirtualService()
        // A view of twenty tiles, and ten more; tables take some 30 KB.
        let cache = try uncompressed(.bytes(30 * 16_384 + 60_000), service)
        let layers = try (0..<2).map { index in
            try VirtualSource(service, layer: index, latency: 5_000_000).add(to: cache, isBlocking: false)
        }
        let place = ServiceSetup.viewport(2000, 2000)
        let pyramid = try ServiceSetup.pyramid()
        try layers[1].pin((0..<elsewhere).map { TileCoordinate(level: 6, column: $0, row: 7) })
        try layers[0].pin(Array(pyramid.neededTiles(under: place, at: 6).prefix(shown)))
        let view = ServiceSetup.quiet(cache, [layers[0]])
        draw(200, every: 10_000_000, of: view, cache, service) { _ in place }
        #expect(view.frame().missingTileCount == 0, "\(cache.statistics)")
        #expect(view.neededTileCount == (elsewhere == 15 ? 9 : 20))
        #expect(view.shortfall.bytes == (elsewhere == 15 ? 20 * 16_384 : 0))
        #expect(cache.statistics.memory.pinnedTiles == elsewhere + shown)
        let count = service.requests.count
        draw(200, every: 10_000_000, of: view, cache, service) { _ in place }
        #expect(service.requests.count == count)
        if removesLayer { layers[1].remove() } else { layers.forEach { $0.unpin() } }
        draw(200, every: 10_000_000, of: view, cache, service) { _ in place }
        #expect(view.frame().missingTileCount == 0 && view.neededTileCount == 20 && view.shortfall.bytes == 0)
    }

    /// Loads that hold more than the limit fit at no level: the view keeps its own. It was drawn at the coarsest one.
    @Test func aLoadThatNeverFitsMakesNoViewCoarser() throws {
        let service = VirtualService()
        let cache = try uncompressed(.mebibytes(1), service)
        let source = VirtualSource(service, latency: 5_000_000, heldBytes: 1 << 30)
        let view = ServiceSetup.quiet(cache, [try source.add(to: cache, isBlocking: false)])
        draw(200, every: 10_000_000, of: view, cache, service) { _ in ServiceSetup.viewport(2000, 2000) }
        #expect(cache.statistics.loads.refused > 0)
        #expect(view.neededTileCount == 20 && view.shortfall.bytes == 0, "\(cache.statistics)")
    }

    /// Frames that a renderer holds lease the fallbacks that they draw for missing tiles. After a zoom out these make
    /// way: the limit has room for few other tiles, or for none. The renderer draws each frame, or those that it is
    /// asked for.
    @Test(arguments: [0, 1, 3, 8], [false, true])
    func fallbacksOnScreenMakeWay(more: Int, hasOverview: Bool) throws {
        for drawsAlways in [true, false] {
            let service = VirtualService()
            let cache = try uncompressed(.bytes((20 + more) * 16_384 + 30_000), service)
            let source = VirtualSource(service, latency: 5_000_000)
            let view = ServiceSetup.quiet(cache, [try source.add(to: cache, isBlocking: false)])
            let isAsked = Lock(false)
            let calls = DispatchQueue(label: "calls")
            view.callbackQueue = calls
            view.onTilesReady = { isAsked.withLock { $0 = true } }
            let held = HeldFrame()
            func show(scale: Double, _ frames: Int = 200) {
                view.update(ServiceSetup.viewport(2000, 2000, scale: scale))
                for frame in 0..<frames {
                    calls.sync {}
                    let draws = isAsked.withLock { asked in
                        defer { asked = false }
                        return asked
                    }
                    if drawsAlways || draws || frame == 0 { held.frame = view.frame() }
                    service.advance(cache, by: 10_000_000)
                }
            }
            if hasOverview { show(scale: 1 / 64) }
            show(scale: 1)
            #expect(view.neededTileCount == 20 && held.frame?.missingTileCount == 0, "always: \(drawsAlways)")
            show(scale: 0.5, 1)
            #expect(held.frame?.missingTileCount == 20)
            show(scale: 0.5)
            #expect(held.frame?.missingTileCount == 0, "always: \(drawsAlways), \(cache.statistics)")
        }
    }

    /// A renderer's own list has two tiles more than there is room for: the overview stays in their place.
    @Test func fallbacksOfTilesThatNeverFitStay() throws {
        let service = VirtualService()
        let cache = try uncompressed(.bytes(17 * 16_384 + 30_000), service)
        let layer = try VirtualSource(service, latency: 5_000_000).add(to: cache, isBlocking: false)
        let view = ServiceSetup.quiet(cache, [layer])
        draw(50, every: 10_000_000, of: view, cache, service) { _ in ServiceSetup.viewport(2000, 2000, scale: 1 / 64) }
        let tiles = try ServiceSetup.pyramid().neededTiles(under: ServiceSetup.viewport(2000, 2000), at: 6)
        let held = HeldFrame()
        draw(300, every: 10_000_000, of: view, cache, service, holding: held) { _ in
            view.update(needing: tiles.map { NeededTile(layer: layer.id, tile: $0) })
            return nil
        }
        let frame = try #require(held.frame)
        #expect(frame.missingTileCount == 2 && frame.count == 18, "\(frame), \(cache.statistics)")
        #expect(Set(frame.filter { !$0.isExact }.map(\.tile.identity.tile.level)) == [0])
    }

    /// A view whose frame has needed tiles only cannot make room: it is not asked to draw while another one lacks some.
    @Test func aViewWithoutFallbacksIsNotAskedForRoom() throws {
        let service = VirtualService()
        // Two views of twenty tiles each, which stay so; tables take some 30 KB.
        let cache = try uncompressed(.bytes(25 * 16_384 + 60_000), service, fitsLevels: false)
        let layer = try VirtualSource(service, latency: 5_000_000).add(to: cache, isBlocking: false)
        let (whole, short) = (ServiceSetup.quiet(cache, [layer]), ServiceSetup.quiet(cache, [layer]))
        draw(100, every: 10_000_000, of: whole, cache, service) { _ in ServiceSetup.viewport(1000, 1000) }
        #expect(whole.frame().missingTileCount == 0)
        let calls = Lock(0)
        let queue = DispatchQueue(label: "calls")
        whole.callbackQueue = queue
        whole.onTilesReady = { calls.withLock { $0 += 1 } }
        draw(100, every: 10_000_000, of: short, cache, service) { _ in ServiceSetup.viewport(3000, 3000) }
        queue.sync {}
        #expect(short.frame().missingTileCount > 0 && whole.frame().missingTileCount == 0)
        #expect(calls.withLock { $0 } == 0)
    }

    /// Within two seconds of rest requests end, and a second later plans. So it is for any limit, sources, layers and
    /// needs. Tiles without room load when there is room. From 200 on there are many layers, with two tile sizes and
    /// shares, and a frame is held: one layer may lack room that another has.
    @Test(arguments: [138, 274] + (1...12) + (200...206) as [UInt64]) func anyViewAtRestBecomesIdle(seed: UInt64) throws
    {
        var dice = SplitMix64(seed: seed)
        let service = VirtualService()
        // A screen has up to 24 tiles of 16 KiB.
        let screen = 24 * 16_384.0
        let layerCount = seed < 200 ? 1 + dice.below(3) : 6 + dice.below(7)
        let limit =
            seed >= 200
            ? 70_000 + dice.below(200_000)
            : Int(16_384 * PortableMath.exp2(dice.nextUnit() * PortableMath.log2(4 * screen / 16_384)))
        var configuration = TileCache.Configuration(byteLimit: .bytes(limit * layerCount), workers: 4 + dice.below(4))
        configuration.fitsLevelToBudget = !dice.oneIn(4)
        configuration.usesCompressedTier = !dice.oneIn(3)
        service.drive(&configuration)
        let cache = try TileCache(configuration)
        let pyramid = try ServiceSetup.pyramid()
        var kinds: [String] = []
        let layers = try (0..<layerCount).map { index in
            let held = dice.oneIn(3) ? 1 + dice.below(20_000) : 0
            let latency = Int64(1 + dice.below(12)) * 1_000_000
            let source = VirtualSource(service, layer: index, latency: latency, heldBytes: held)
            let isBlocking = dice.oneIn(3)
            kinds.append(isBlocking ? "blocking" : "holding \(held)")
            guard seed >= 200 else { return try source.add(to: cache, isBlocking: isBlocking) }
            return try source.add(
                to: cache,
                isBlocking: isBlocking,
                tileSize: dice.oneIn(2) ? 128 : 64,
                maximumShare: dice.oneIn(2) ? 0.5 : 1
            )
        }
        let view = cache.makeView(layers: layers)
        let namesTiles = dice.oneIn(4) && seed < 200
        let isCritical = dice.oneIn(2)
        let holdsFrames = !dice.oneIn(4)
        let traits = "\(kinds), list: \(namesTiles), critical: \(isCritical), holds: \(holdsFrames)"
        let comment: Comment = "seed \(seed): \(configuration.byteLimit), \(traits)"
        let (x, y) = (dice.next(from: -10, to: 10), dice.next(from: -10, to: 10))
        let place = { (step: Int) in
            TileViewport(
                center: WorldPoint(x: 2000 + Double(min(step, 30)) * x, y: 2000 + Double(min(step, 30)) * y),
                width: 320,
                height: 180
            )
        }
        let held = holdsFrames ? HeldFrame() : nil
        var isUnderPressure = false
        func draw(_ frames: Int, from first: Int = 31) {
            // It lasts: a report that is not repeated expires.
            if isUnderPressure { cache.noteMemoryPressure(.critical) }
            self.draw(frames, every: 16_666_667, of: view, cache, service, holding: held) { frame in
                guard namesTiles else { return place(first + frame) }
                let tiles = pyramid.neededTiles(under: place(first + frame), at: 6)
                view.update(needing: layers.flatMap { layer in tiles.map { NeededTile(layer: layer.id, tile: $0) } })
                return nil
            }
        }
        draw(15, from: 0)
        // Frames held by a renderer take room that others need.
        let kept = seed < 200 ? nil : view.frame()
        draw(15, from: 15)
        isUnderPressure = isCritical
        draw(125)
        let count = service.requests.count
        draw(60)
        let plans = cache.core.lock.withLock { $0.pool.queue.epoch }
        draw(120)
        let more = service.requests.count - count
        #expect(more == 0, "\(more) requests after two seconds, \(count) before; \(comment)")
        #expect(cache.core.lock.withLock { $0.pool.queue.epoch } == plans, comment)
        #expect(cache.statistics.loadsInFlight == 0, comment)
        // A plan follows a frame, or the begin or the end of a load. Refused requests cause none.
        #expect(plans <= 215 + 2 * count, "\(plans) plans, \(count) requests; \(comment)")
        cache.byteLimit = .bytes(limit * layerCount * 4)
        isUnderPressure = false
        cache.core.changePressure { $0 = PressureRule() }
        draw(125)
        withExtendedLifetime(kept) {}
        guard seed < 200 else { return }
        let needed = view.neededTileCount * 16_384
        if needed + (1 << 19) < cache.statistics.memory.limit.bytes {
            let missing = view.frame().missingTileCount
            #expect(missing == 0, "\(missing) missing; \(comment)")
        }
    }

    /// A cache without the compressed tier.
    private func uncompressed(
        _ limit: ByteCount,
        _ service: VirtualService,
        fitsLevels: Bool = true
    ) throws -> TileCache {
        var configuration = TileCache.Configuration(byteLimit: limit)
        configuration.fitsLevelToBudget = fitsLevels
        configuration.usesCompressedTier = false
        service.drive(&configuration)
        return try TileCache(configuration)
    }

    /// Draws a number of frames.
    ///
    /// - Parameter held: The last frame, as a renderer holds it until it has the next. `nil` ends each at once.
    private func draw(
        _ frames: Int,
        every span: Int64,
        of view: TileView,
        _ cache: TileCache,
        _ service: VirtualService,
        holding held: HeldFrame? = nil,
        at viewport: (Int) -> TileViewport?
    ) {
        for frame in 0..<frames {
            if let viewport = viewport(frame) { view.update(viewport) }
            if let held { held.frame = view.frame() } else { _ = view.frame() }
            service.advance(cache, by: span)
        }
    }
}

/// The last frame that a renderer has drawn.
private final class HeldFrame {
    var frame: TileFrame?
}

/// Wishes for far more tiles than fit, and never settles.
private struct GreedyPolicy: PrefetchPolicy {
    mutating func observe(_ frame: FrameObservation) {}
    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        target.appendWishes(at: target.level, in: target.rectangle.grown(x: 192, y: 192), value: 1, to: &wishes)
    }
}
