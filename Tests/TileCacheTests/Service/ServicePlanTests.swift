import Testing

@testable import TileCache

/// Loads that the real service's workers start, and their order.
@Suite(.timeLimit(.minutes(45))) struct ServicePlanTests {
    /// Each load ends only after the view has turned around. None started since is of the place it left.
    @Test func noLoadThatLeftThePlanStarts() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4), workers: 2)
        let source = PlainSource(isGated: true)
        let pyramid = try ServiceSetup.pyramid()
        let layer = try cache.addLayer(source, pyramid: pyramid)
        let view = ServiceSetup.quiet(cache, [layer])
        let places = [ServiceSetup.viewport(600, 600), ServiceSetup.viewport(3000, 3000)]
        view.update(places[0])
        #expect(eventually { source.inside == 2 })
        var begun = Set(source.loads.keys)
        for turn in 1...12 {
            let place = places[turn % 2]
            view.update(place)
            source.open()
            // The next load starts under the old plan or the new one; in both cases the view needs it.
            #expect(eventually { Set(source.loads.keys).subtracting(begun).count == 1 && source.inside == 2 })
            let new = Set(source.loads.keys).subtracting(begun)
            let needed = Set(pyramid.neededTiles(under: place, at: 6))
            #expect(new.isSubset(of: needed), "turn \(turn): \(new)")
            begun.formUnion(new)
        }
        #expect(source.loads.values.allSatisfy { $0 == 1 })
        source.open(40)
        #expect(eventually { view.frame().missingTileCount == 0 })
    }

    /// Plans the level four coarser before all needed tiles.
    private struct CoarserFirst: PrefetchPolicy {
        var goesFirst: Bool { true }
        var validity: WishValidity { [.onceRested, .whileStill] }

        mutating func observe(_ frame: FrameObservation) {}

        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            target.appendWishes(at: max(target.level - 4, 0), in: target.rectangle, value: 1, to: &wishes)
        }
    }

    /// Notes the capacities that it is asked with.
    private struct CapacityNotes: PrefetchPolicy {
        final class Notes: Sendable { let values = Lock<[Int: Int]>([:]) }
        let notes: Notes

        mutating func observe(_ frame: FrameObservation) {}

        mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
            notes.values.withLock { $0[target.layer] = context.capacityTiles }
        }
    }

    /// Each layer is planned for by the size of its own tiles, whatever layers of other sizes there are or were.
    @Test(arguments: [false, true]) func aLayersCapacityIsOfItsOwnTiles(removesLargest: Bool) throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4), workers: 1)
        let layers = try [256, 128, 64].map { size in
            let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: size)
            return try cache.addLayer(PlainSource(), pyramid: pyramid)
        }
        if removesLargest {
            layers[0].remove()
            _ = steps.runAll()
        }
        let notes = CapacityNotes.Notes()
        let policy = CapacityNotes(notes: notes)
        let view = cache.makeView(layers: layers, selection: TileLevelSelection(), policy: { policy })
        view.update(ServiceSetup.viewport(480, 480))
        _ = steps.runAll()
        let expected = removesLargest ? [1: 64, 2: 256] : [0: 16, 1: 64, 2: 256]
        #expect(notes.values.withLock { $0 } == expected)
    }

    /// Needed tiles load although coarser ones come first, as in MapLibre, and never land.
    @Test func neededTilesDoNotWaitBehindPrefetches() throws {
        let cache = try TileCache(.init(byteLimit: .mebibytes(4), workers: 5))
        let source = PartlyGatedSource { $0.level < 6 }
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { CoarserFirst() })
        for step in 0..<6 {
            // Over a corner of four coarse tiles, which leave a worker.
            view.update(ServiceSetup.viewport(1024 + Double(step) * 8, 1024))
            #expect(eventually { view.frame().missingTileCount == 0 })
        }
        #expect(source.held == 4)
        let figures = cache.statistics
        #expect(figures.loadsInFlight == 4)
        #expect(figures.demandWaits.count >= 20)
        #expect(figures.prefetchWaits.count == 4)
        #expect(try #require(figures.demandWaits.p50) <= figures.demandWaits.maximum)
        source.open()
        #expect(eventually { cache.statistics.loadsInFlight == 0 })
    }

    /// A source that never answers occupies workers for a while. Afterwards other layers are not affected.
    @Test(arguments: [true, false]) func aSourceThatHangsTakesItsWorkersAndNothingElse(isBlocking: Bool) throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: 2)
        configuration.stuckLoadTime = .milliseconds(20)
        let cache = try TileCache(configuration)
        let gated = PlainSource(isGated: true)
        let queued = QueuedSource(atATime: 2)
        let pyramid = try ServiceSetup.pyramid()
        let bad =
            isBlocking ? try cache.addLayer(gated, pyramid: pyramid) : try cache.addLayer(queued, pyramid: pyramid)
        let good = try cache.addLayer(PlainSource(layer: 1), pyramid: pyramid)
        let stuck = ServiceSetup.quiet(cache, [bad])
        stuck.update(ServiceSetup.viewport(600, 600))
        #expect(eventually { cache.statistics.stuckLoads >= 2 })
        #expect(eventually { cache.statistics.blockedWorkers == (isBlocking ? 2 : 0) })
        let view = ServiceSetup.quiet(cache, [good])
        view.update(ServiceSetup.viewport(900, 900))
        #expect(eventually { view.frame().missingTileCount == 0 })
        let figures = cache.statistics
        // Another request takes the place of the first stuck one.
        #expect(figures.stuckLoads >= 2 && figures.loadsInFlight <= (isBlocking ? 2 : 3))
        #expect(figures.oldestLoad > .milliseconds(20))
        // It answers at last: its tiles land and it is asked for the others.
        gated.open(100)
        #expect(
            eventually {
                for request in queued.take() { queued.answer(request) }
                return stuck.frame().missingTileCount == 0
            }
        )
        #expect(eventually { cache.statistics.stuckLoads == 0 && cache.statistics.blockedWorkers == 0 })
        // As many workers as before, all idle. The replacements are spare again, for the next source that hangs.
        #expect(
            eventually { cache.core.lock.withLock { [$0.workers.idle.count, $0.workers.spare.count] } == [2, 15] }
        )
        #expect(cache.shutdown(timeout: .seconds(600)))
    }

    @Test func viewsChooseTheirOwnLevels() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(8))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let sharp = ServiceSetup.quiet(cache, [layer])
        let coarse = cache.makeView(layers: [layer], selection: TileLevelSelection(bias: 1))
        let steady = cache.makeView(layers: [layer], selection: TileLevelSelection(hysteresis: 0.5))
        func levels() -> [Int?] {
            [sharp, coarse, steady].map { view in
                #expect(steps.reaches { view.frame().missingTileCount == 0 && !view.frame().isEmpty })
                return view.frame().first?.tile.identity.tile.level
            }
        }
        for view in [sharp, coarse, steady] { view.update(ServiceSetup.viewport(900, 900, scale: 0.5)) }
        #expect(levels() == [5, 4, 5])
        // A quarter of an octave beyond the bound.
        for view in [sharp, coarse, steady] { view.update(ServiceSetup.viewport(900, 900, scale: 0.59)) }
        #expect(levels() == [6, 5, 5])
        for view in [sharp, coarse, steady] { view.update(ServiceSetup.viewport(900, 900, scale: 0.8)) }
        #expect(levels() == [6, 5, 6])
    }
}
