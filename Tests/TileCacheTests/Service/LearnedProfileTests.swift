import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// Profiles of layers in the service, and in the policy.
@Suite(.timeLimit(.minutes(45))) struct LearnedProfileTests {
    private let steps = StepScheduler.calm()

    /// Pans to the right by a tile with each step.
    private func pan(_ view: TileView, steps count: Int = 20, y: Double = 1000) {
        pan(view, steps: count, y: y) { steps.reaches { view.frame().missingTileCount == 0 } }
    }

    private func pan(_ view: TileView, steps count: Int, y: Double = 1000, untilSharp: () -> Bool) {
        for step in 0..<count {
            view.update(ServiceSetup.viewport(300 + 64 * Double(step), y))
            #expect(untilSharp())
        }
    }

    /// Waits until the last frame has been learned from.
    private func settled(_ cache: TileCache) {
        #expect(steps.reaches { cache.core.lock.withLock { !$0.planning.isQueued && !$0.planning.isMaking } })
    }

    private func cache(_ limit: ByteCount = .mebibytes(64)) throws -> TileCache { try steps.cache(byteLimit: limit) }

    private func addLayer(_ cache: TileCache, profile: PrefetchProfile? = nil) throws -> TileLayer {
        let options = LayerOptions(profile: profile)
        return try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid(), options: options)
    }

    private func policyBytes(_ cache: TileCache) -> Int { cache.core.read { $0.pool.ledger[.policies] } }

    private func rich(_ seed: UInt64 = 1) -> PrefetchProfile {
        var dice = SplitMix64(seed: seed)
        return MadeProfile.random(&dice, hasPlaces: true)
    }

    // MARK: - What was learned

    @Test func aLayerThatNoViewShowsHasTaughtNothing() throws {
        let cache = try cache()
        let layer = try addLayer(cache)
        #expect(layer.learnedProfile() == nil)
        do {
            let view = cache.makeView(layers: [layer])
            defer { withExtendedLifetime(view) {} }
            // A view without a frame has a session without samples.
            let none = try #require(layer.learnedProfile())
            #expect(none.sessions == 1 && none.hasPlaces && none.bins.isEmpty)
            #expect(none.places?.counters.allSatisfy { $0 == 0 } == true)
            pan(view)
            settled(cache)
            #expect(layer.learnedProfile()?.bins.isEmpty == false)
        }
        // With its last reference the view has gone, and what it has learned.
        #expect(layer.learnedProfile() == nil)
    }

    @Test func aRemovedLayerHasTaughtNothing() throws {
        let cache = try cache()
        let (layer, stays) = (try addLayer(cache), try addLayer(cache))
        let view = cache.makeView(layers: [layer, stays])
        defer { withExtendedLifetime(view) {} }
        pan(view)
        settled(cache)
        #expect(layer.learnedProfile() != nil)
        layer.remove()
        #expect(layer.learnedProfile() == nil && stays.learnedProfile() != nil)
        #expect(steps.runAll() && cache.shutdown() && layer.learnedProfile() == nil)
    }

    /// Two threads set the layers of a view, one while the other has not come to the policies yet.
    @Test func aViewHasThePoliciesOfTheLayersThatItShows() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(8))
        steps.adopt(&configuration)
        let run = configuration.executor.run
        // Used by one thread only.
        nonisolated(unsafe) var meanwhile: (() -> Void)?
        configuration.executor.run = { queue, step in
            run(queue, step)
            let once = meanwhile
            meanwhile = nil
            once?()
        }
        let cache = try TileCache(configuration)
        let pyramid = try ServiceSetup.pyramid()
        let layers = try (0..<2).map { try cache.addLayer(PlainSource(layer: $0), pyramid: pyramid) }
        let view = cache.makeView(layers: [])
        #expect(steps.runAll())
        meanwhile = { view.layers = [layers[1]] }
        // A plan is queued as soon as the first thread has set the layers.
        cache.core.lock.withLock { $0.pool.noteDemand() }
        view.layers = [layers[0]]
        #expect(view.layers == [layers[1]])
        #expect(layers[0].learnedProfile() == nil && layers[1].learnedProfile() != nil)
    }

    /// What both viewed was viewed in one session.
    @Test func viewsOfOneSessionAreJoined() throws {
        let cache = try cache()
        let layer = try addLayer(cache)
        let (first, second) = (cache.makeView(layers: [layer]), cache.makeView(layers: [layer]))
        defer { withExtendedLifetime((first, second)) {} }
        pan(first, y: 1000)
        settled(cache)
        let alone = try #require(layer.learnedProfile())
        pan(second, y: 1064)
        settled(cache)
        let both = try #require(layer.learnedProfile())
        #expect(both.sessions == 1 && both.places?.sessions == 1 && both.bins != alone.bins)
        #expect(zip(both.bins.events, alone.bins.events).allSatisfy { $0 >= $1 })
        let (joined, part) = (both.places?.counters ?? [], alone.places?.counters ?? [])
        #expect(joined.max() == 1 && joined.count(of: 1) > part.count(of: 1))
        #expect(zip(joined, part).allSatisfy { $0 >= $1 })
    }

    /// Samples of views add up; tables with and without places go together.
    @Test func samplesOfViewsAddUp() throws {
        func samples(_ count: Int, _ tile: Int) -> SessionSamples {
            var bins = BinCounts(count: count)
            for bin in 0..<count {
                bins.count(bin, weight: Double(1 + bin % 3), wasNeeded: bin % 2 == 0, wasSoon: false)
            }
            var viewed = ViewedPlaces()
            for column in 0...tile { viewed.note(key(column)) }
            return SessionSamples(bins: bins, viewed: viewed)
        }
        let (short, long) = (samples(CandidateBin.count, 3), samples(CandidateBin.placedCount, 9))
        let both = PrefetchProfile(try #require(SessionSamples([short, long])))
        #expect(SessionSamples([long, short]).map(PrefetchProfile.init) == both && both.sessions == 1)
        #expect(SessionSamples([]) == nil)
        #expect(both.places == long.viewed.sketch && both.places?.sessions == 1)
        #expect(both.bins.events[1] == 4 && both.bins.needed[1] == 0 && both.bins.needed[2] == 6)
        #expect(both.bins.events[CandidateBin.count + 1] == long.bins.events[CandidateBin.count + 1])
    }

    /// What was viewed is what the sketch of the session says, and nothing else.
    @Test func placesAreThoseViewed() throws {
        let cache = try cache()
        let layer = try addLayer(cache)
        let view = cache.makeView(layers: [layer])
        defer { withExtendedLifetime(view) {} }
        var viewed = ViewedPlaces()
        let pyramid = try ServiceSetup.pyramid()
        for step in 0..<12 {
            let viewport = ServiceSetup.viewport(300 + 64 * Double(step), 1000)
            for tile in pyramid.neededTiles(under: viewport, at: 6) { viewed.note(TileKey(layer: 0, tile)) }
        }
        pan(view, steps: 12)
        settled(cache)
        #expect(layer.learnedProfile()?.places == viewed.sketch)
    }

    /// While views move, on several threads: nothing tears, for ThreadSanitizer too.
    @Test func itCanBeReadWhileViewsMove() throws {
        let cache = try TileCache(byteLimit: .mebibytes(64))
        let layer = try addLayer(cache, profile: rich())
        let view = cache.makeView(layers: [layer])
        defer { withExtendedLifetime(view) {} }
        DispatchQueue.concurrentPerform(iterations: 3) { index in
            guard index > 0 else {
                return pan(view, steps: 30) { eventually { view.frame().missingTileCount == 0 } }
            }
            for _ in 0..<15 {
                guard let learned = layer.learnedProfile() else {
                    Issue.record("the view shows the layer")
                    return
                }
                #expect(learned.sessions == 1)
                #expect((try? PrefetchProfile(bytes: learned.bytes)) == learned)
            }
        }
    }

    // MARK: - What a layer starts with

    /// The layer's profile is not part of what it has taught.
    @Test func theProfileOfTheOptionsIsNotLearned() throws {
        let cache = try cache()
        let layer = try addLayer(cache, profile: rich())
        let view = cache.makeView(layers: [layer])
        defer { withExtendedLifetime(view) {} }
        let before = try #require(layer.learnedProfile())
        #expect(before.sessions == 1 && before.bins.isEmpty)
        pan(view)
        settled(cache)
        let after = try #require(layer.learnedProfile())
        #expect(after.sessions == 1 && after.bins.events.reduce(0, +) < 10_000)
        // Samples by place, since the profile has places: as many as without one.
        let count = CandidateBin.count
        let (plain, placed) = (after.bins.events[..<count].reduce(0, +), after.bins.events[count...].reduce(0, +))
        #expect(plain > 0 && abs(plain - placed) < 1e-6 * plain)
    }

    /// A profile names no world. In another one nothing fails, and its places are looked up by level, column and row.
    @Test func aProfileOfAnotherPyramidIsTaken() throws {
        let first = try cache()
        let layer = try addLayer(first)
        let view = first.makeView(layers: [layer])
        defer { withExtendedLifetime(view) {} }
        pan(view)
        settled(first)
        var profile = PrefetchProfile()
        for _ in 0..<3 { profile.merge(try #require(layer.learnedProfile())) }
        let pyramids: [TilePyramid] = [
            try .powerOfTwo(worldWidth: 1 << 40, worldHeight: 1 << 40, tileSize: 64),
            try .powerOfTwo(worldWidth: 100, worldHeight: 70, tileSize: 64),
            try .powerOfTwo(worldWidth: 5000, worldHeight: 3000, tileSize: 32, wrapsX: true),
        ]
        for pyramid in pyramids {
            let cache = try cache()
            let other = try cache.addLayer(PlainSource(), pyramid: pyramid, options: LayerOptions(profile: profile))
            let view = cache.makeView(layers: [other])
            defer { withExtendedLifetime(view) {} }
            pan(view, steps: 10, y: 40)
            settled(cache)
            #expect(cache.statistics.contradictions.isEmpty)
            let learned = try #require(other.learnedProfile())
            #expect(learned.sessions == 1)
            profile.merge(learned)
        }
        #expect(profile.sessions == 6)
        // The same coordinates are the same place.
        let tile = TileCoordinate(level: 6, column: 6, row: 15)
        #expect(try #require(profile.places?.popularity(of: TileKey(layer: 4, tile))) > 0)
    }

    /// Without places, or without the effect, all bins are those without a place.
    @Test func withoutPlacesPopularityIsNotUsed() throws {
        let profile = rich()
        let tile = TileKey(layer: 0, TileCoordinate(level: 6, column: 4, row: 4))
        #expect(AdaptivePolicy(profile: profile).bins.places.placed(7, tile) > CandidateBin.count)
        #expect(AdaptivePolicy(profile: profile.withoutPlaces).bins.places.placed(7, tile) == 7)
        let without = AdaptivePolicy(effects: .all.subtracting(.profile), profile: profile)
        #expect(without.bins.places.placed(7, tile) == 7)
    }

    // MARK: - Memory

    /// The documented bytes of a view's tables. They are counted, and small limits have no room for them.
    @Test func tablesCountAgainstTheLimit() throws {
        let (plain, profile) = (AdaptivePolicy().byteCount, rich())
        let cost = AdaptivePolicy(profile: profile).byteCount - plain
        #expect(cost == 388_640)
        // What is not used costs nothing.
        #expect(AdaptivePolicy(profile: profile.withoutPlaces).byteCount == plain)
        #expect(AdaptivePolicy(profile: PrefetchProfile()).byteCount == plain)
        // The profile itself is the layer's.
        let (bare, known) = (try cache(), try cache())
        _ = (try addLayer(bare), try addLayer(known, profile: profile))
        #expect(known.core.read { $0.pool.ledger[.layers] } - bare.core.read { $0.pool.ledger[.layers] } == 297_632)
        // Both sides of the boundary.
        let (out, within) = (AdaptivePolicy(memory: cost - 1), AdaptivePolicy(memory: cost))
        #expect(AdaptivePolicy(memory: cost - 1, profile: profile).byteCount == out.byteCount)
        #expect(AdaptivePolicy(memory: cost, profile: profile).byteCount == within.byteCount + cost)
        for (limit, fits) in [(ByteCount.mebibytes(4), false), (.mebibytes(64), true)] {
            let (with, without) = (try cache(limit), try cache(limit))
            let views = [(with, profile), (without, nil)].map { cache, profile in
                try? cache.makeView(layers: [addLayer(cache, profile: profile)])
            }
            defer { withExtendedLifetime(views) {} }
            for view in views { pan(try #require(view), steps: 5) }
            settled(with)
            settled(without)
            #expect(steps.reaches { policyBytes(with) > 0 && policyBytes(without) > 0 })
            let difference = policyBytes(with) - policyBytes(without)
            // With the popular tiles that the view has looked for and their samples, up to 0.25 MB.
            let expected = fits ? cost...cost + 262_144 : 0...0
            #expect((expected.lowerBound - 32_768...expected.upperBound + 32_768).contains(difference), "\(limit)")
            #expect(policyBytes(with) <= limit.bytes / 8 + 16_384)
        }
    }

    /// A view that has to make room drops the profile, not what it has learned.
    @Test func aLoweredLimitDropsTheProfile() throws {
        let cache = try cache()
        let layer = try addLayer(cache, profile: rich())
        let view = cache.makeView(layers: [layer])
        defer { withExtendedLifetime(view) {} }
        pan(view)
        settled(cache)
        let before = try #require(layer.learnedProfile())
        #expect(policyBytes(cache) > ProbabilityTable.profileBytes)
        // A quarter for policies: less than the profile's tables.
        cache.byteLimit = .mebibytes(1)
        for step in 0..<20 {
            view.update(ServiceSetup.viewport(300 + 64 * Double(step), 2000))
            _ = view.frame()
            settled(cache)
        }
        #expect(steps.reaches { policyBytes(cache) < ProbabilityTable.profileBytes })
        let after = try #require(layer.learnedProfile())
        #expect(after.sessions == 1)
        for bin in before.bins.events.indices { #expect(after.bins.events[bin] >= before.bins.events[bin]) }
        #expect(zip(before.places?.counters ?? [], after.places?.counters ?? []).allSatisfy { $0 <= $1 })
        #expect(after.bins != before.bins)
        #expect(cache.statistics.contradictions.isEmpty)
    }

    /// A view over a very large world: the profile has its usual size.
    @Test func aLargeWorldTakesTheRoomOfASmallOne() throws {
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 40, worldHeight: 1 << 40, tileSize: 256)
        var policy = AdaptivePolicy()
        var dice = SplitMix64(seed: 3)
        for step in 0..<200 {
            let viewport = TileViewport(
                center: WorldPoint(x: dice.next(from: 0, to: 0x1p40), y: dice.next(from: 0, to: 0x1p40)),
                width: 4000,
                height: 3000,
                scale: 1
            )
            let level = TileLevelSelection().level(for: 1, in: pyramid)
            let needed = pyramid.neededTiles(under: viewport, at: level).map { TileKey(layer: 0, $0) }
            policy.observe(
                FrameObservation(
                    time: Int64(step) * 16_000_000,
                    viewport: viewport,
                    level: level,
                    needed: needed,
                    pyramid: pyramid
                )
            )
        }
        let learned = try #require(policy.learned)
        let profile = PrefetchProfile(try #require(SessionSamples([learned])))
        #expect(profile.bytes.count == PrefetchProfile.maximumBytes && profile.hasPlaces)
        #expect((profile.places?.counters.reduce(0) { $0 + Int($1) } ?? 0) > 30_000)
    }
}

extension [UInt16] {
    fileprivate func count(of value: UInt16) -> Int { count { $0 == value } }
}
