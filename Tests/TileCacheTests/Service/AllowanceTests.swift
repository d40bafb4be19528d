import Testing

@testable import TileCache

/// What layers may load ahead of need, in the service.
@Suite(.timeLimit(.minutes(45))) struct AllowanceTests {
    private func context(near: Set<TileKey> = []) -> PlanContext {
        var context = PlanContext.empty()
        context.residency = { $0.coordinate.column == 7 ? .compressed : .none }
        context.isNear = { near.contains($0) }
        return context
    }

    private func entry(_ column: Int, _ reason: Rank) -> PlanEntry {
        PlanEntry(key: key(column), value: 1, reason: reason)
    }

    @Test func anAllowanceLeavesOutLoadsAheadOfNeedOnly() {
        let entries = [
            entry(0, .demand), entry(1, .prefetch), entry(2, .fallback), entry(3, .pin), entry(7, .prefetch),
        ]
        func admitted(_ allowance: PrefetchAllowance, near: Set<TileKey> = []) -> [PlanEntry] {
            var admitted = entries
            context(near: near).admit(&admitted, by: allowance)
            return admitted
        }
        func columns(_ allowance: PrefetchAllowance, near: Set<TileKey> = []) -> [Int] {
            admitted(allowance, near: near).map(\.key.coordinate.column)
        }
        #expect(columns(.standard) == [0, 1, 2, 3, 7])
        #expect(columns(.priced(PrefetchTerms(requestsPerMinute: 0))) == [0, 1, 2, 3, 7])
        #expect(columns(.never) == [0, 3])
        // A tile in memory is only decoded.
        #expect(columns(.resident) == [0, 3, 7])
        #expect(columns(.resident, near: [key(2)]) == [0, 2, 3, 7])
        let marked = admitted(.priced(PrefetchTerms(requestsPerMinute: 1)), near: [key(1)])
        #expect(marked.map(\.isNear) == [false, true, false, false, false])
    }

    @Test func thePriceSetsTheEffort() {
        func effort(_ terms: PrefetchTerms) -> Double { PrefetchAllowance.priced(terms).effort(standard: 0.25) }
        #expect(effort(PrefetchTerms()) == 0.25 && effort(PrefetchTerms(effort: 0.75)) == 0.75)
        #expect(effort(PrefetchTerms(price: 0)) == 1 && effort(PrefetchTerms(price: 0.125)) == 0.5)
        #expect(effort(PrefetchTerms(price: 0.375, effort: 0.9)) == 0.25)
        #expect(PrefetchTerms(effort: 0.25).price == 0.375 && PrefetchTerms().price == nil)
        #expect(PrefetchTerms(price: 0.375) == PrefetchTerms(effort: 0.25))
        #expect(PrefetchAllowance.never.effort(standard: 1) == 0 && PrefetchAllowance.resident.effort(standard: 1) == 1)
    }

    @Test func fieldsOutOfRangeAreRefusedByName() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let expected = "an effort of 0 to 1, or a price of 0 or more, is expected, not an effort of"
        let wrong: [(PrefetchTerms, String)] = [
            (PrefetchTerms(price: -1), "\(expected) nan"), (PrefetchTerms(price: -.infinity), "\(expected) nan"),
            (PrefetchTerms(effort: 1.5), "\(expected) 1.5"),
            (PrefetchTerms(requestsPerMinute: -1), "0 requests a minute or more are expected, not -1"),
        ]
        for (terms, message) in wrong {
            #expect(throws: TileCacheError.invalidLayer(message)) {
                try layer.setPrefetchAllowance(.priced(terms))
            }
            #expect(throws: TileCacheError.invalidLayer(message)) {
                let options = LayerOptions(prefetch: .priced(terms))
                _ = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid(), options: options)
            }
        }
        #expect(layer.prefetchAllowance == .standard)
        layer.remove()
        try layer.setPrefetchAllowance(.never)
        #expect(layer.prefetchAllowance == nil && layer.prefetchCounts == nil)
    }

    /// Pans to the right; returns what was prefetched.
    private func prefetched(
        _ steps: StepScheduler,
        _ cache: TileCache,
        _ layer: TileLayer,
        from left: Double
    ) -> LayerPrefetchCounts {
        let before = layer.prefetchCounts ?? LayerPrefetchCounts()
        let view = cache.makeView(layers: [layer])
        for step in 0..<40 {
            view.update(ServiceSetup.viewport(left + 16 * Double(step), 2000))
            _ = view.frame()
            #expect(steps.reaches { view.frame().missingTileCount == 0 })
        }
        return (layer.prefetchCounts ?? LayerPrefetchCounts()) - before
    }

    @Test func anAllowanceCanBeChangedAtRunTime() throws {
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(64))
        configuration.effort = 1
        let steps = StepScheduler.calm()
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let options = LayerOptions(prefetch: .never)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid(), options: options)
        #expect(prefetched(steps, cache, layer, from: 300) == LayerPrefetchCounts())
        try layer.setPrefetchAllowance(.resident)
        #expect(prefetched(steps, cache, layer, from: 300).requests == 0)
        try layer.setPrefetchAllowance(.priced(PrefetchTerms(requestsPerMinute: 3)))
        #expect(prefetched(steps, cache, layer, from: 1000).requests == 3)
        try layer.setPrefetchAllowance(.standard)
        let counts = prefetched(steps, cache, layer, from: 2000)
        #expect(counts.requests > 3 && counts.drawn > 0 && counts.bytes > counts.drawnBytes)
        #expect(cache.statistics.contradictions.isEmpty)
    }

    /// The application's own wishes are loaded under any allowance.
    @Test(arguments: [PrefetchAllowance.never, .resident]) func wishesOfTheApplicationAreLoaded(
        allowance: PrefetchAllowance
    ) throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(8))
        let options = LayerOptions(prefetch: allowance)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid(), options: options)
        let tile = TileCoordinate(level: 5, column: 3, row: 4)
        layer.prefetch([tile])
        #expect(steps.reaches { layer.isResident(tile) })
    }

    /// The store has the tile, but it has expired.
    @Test(arguments: [PrefetchAllowance.never, .resident]) func wishesForExpiredTilesAreLoaded(
        allowance: PrefetchAllowance
    ) throws {
        let store = MemoryStore()
        let (origin, clock) = (LayerStoreTests.Origin(), LayerStoreTests.Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001)
        try LayerStoreTests.Run([store], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_002
        let run = try LayerStoreTests.Run([store], origin, clock: clock)
        try run.layer.setPrefetchAllowance(allowance)
        run.layer.prefetch([run.scene.tile(0)])
        run.scene.run()
        #expect(origin.loads.count == 2 && run.scene.resident(0..<1, of: run.layer) == 1)
        #expect(run.layer.prefetchCounts?.requests == 1)
    }

    /// The store has the tile, but it has expired, and the ceiling is used up. The wish waits for that. Meanwhile the
    /// store is not read for each plan.
    @Test func wishesForExpiredTilesWaitForTheCeiling() throws {
        let store = MemoryStore()
        let (origin, clock) = (LayerStoreTests.Origin(), LayerStoreTests.Clock())
        origin.freshness = TileStoreFreshness(stored: 1_000_000, expires: 1_000_001)
        try LayerStoreTests.Run([store], origin, clock: clock).need(0..<1)
        clock.seconds = 1_000_002
        let run = try LayerStoreTests.Run([store], origin, clock: clock)
        try run.layer.setPrefetchAllowance(.priced(PrefetchTerms(requestsPerMinute: 1)))
        run.layer.prefetch([run.scene.tile(1)])
        run.scene.run()
        #expect(origin.loads.count == 2)
        run.layer.prefetch([run.scene.tile(0)])
        run.scene.run()
        let reads = store.gets
        // It waits without another plan, which would count it again.
        #expect(run.layer.prefetchCounts?.heldBack == 1)
        run.scene.cache.core.perform { $0.pool.noteDemand() }
        run.scene.run()
        #expect(run.layer.prefetchCounts?.heldBack == 2)
        #expect(origin.loads.count == 2 && store.gets == reads)
        #expect(run.scene.scheduler.reaches { run.scene.resident(0..<1, of: run.layer) == 1 })
        #expect(origin.loads.count == 3 && run.layer.prefetchCounts?.requests == 2)
    }
}
