import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// Tiles that are valid for a time, in memory and in stores. All times are those of a test's clock.
@Suite(.timeLimit(.minutes(45))) struct ExpiryTests {
    private static let start: Int64 = 1_000_000
    private static let second: Int64 = 1_000_000_000

    /// A server with a validator and a lifetime for each tile.
    private final class Server: BlockingTileSource, TileSource, @unchecked Sendable {
        // Used by one thread only.
        var lifetime: Int64 = 3
        var isStorable = true
        var tag: String? = "a"
        var colour: UInt32 = 7
        var isAbsent = false
        /// Tiles of finer levels are absent.
        var finest = Int.max
        var fails: TileFailure?
        var requests: [(tile: TileCoordinate, time: Int64, tag: String?)] = []
        var confirmed = 0
        /// Seconds since 1970.
        var wall: () -> Int64 = { ExpiryTests.start }

        private func answer(
            _ tile: TileCoordinate,
            _ cached: TileStoreFreshness?
        ) throws -> (isUnchanged: Bool, TileStoreFreshness) {
            requests.append((tile, wall(), cached?.entityTag))
            if let fails { throw fails }
            let freshness = TileStoreFreshness(
                stored: wall(),
                expires: wall() + lifetime,
                entityTag: tag,
                isStorable: isStorable
            )
            guard let tag, cached?.entityTag == tag else { return (false, freshness) }
            confirmed += 1
            return (true, freshness)
        }

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            let (isUnchanged, freshness) = try answer(tile, pixels.cached)
            pixels.freshness = freshness
            if isUnchanged { return .unchanged }
            if isAbsent || tile.level > finest { return .absent }
            fill(&pixels, with: colour)
            return .pixels
        }

        func requestTile(_ request: TileRequest) {
            do {
                let (isUnchanged, freshness) = try answer(request.tile, request.cached)
                if isUnchanged { return request.completeUnchanged(freshness: freshness) }
                if isAbsent || request.tile.level > finest {
                    return request.completeAbsent(freshness: freshness)
                }
                request.complete { [colour] pixels in
                    pixels.freshness = freshness
                    fill(&pixels, with: colour)
                    return .pixels
                }
            } catch {
                request.fail(error as? TileFailure ?? .permanent)
            }
        }
    }

    private struct Scene {
        let scene: StillScene
        let server = Server()
        let layer: TileLayer
        let view: TileView

        init(
            isBlocking: Bool = true,
            tiles: Int = 64,
            stores: [any TileStore] = [],
            compresses: Bool = false
        ) throws {
            let box = Lock<StillScene?>(nil)
            let begin = StepScheduler(seed: 1).now
            let wall: @Sendable () -> Int64 = {
                ExpiryTests.start + ((box.withLock { $0 }?.scheduler.now ?? begin) - begin) / ExpiryTests.second
            }
            scene = try StillScene(tiles: tiles) {
                $0.wallClock = wall
                $0.usesCompressedTier = compresses
            }
            box.withLock { [scene] in $0 = scene }
            server.wall = wall
            let options = LayerOptions(stores: stores.isEmpty ? nil : LayerStores(stores, dataSet: ["live"]))
            layer =
                isBlocking
                ? try scene.cache.addLayer(server as any BlockingTileSource, pyramid: scene.pyramid, options: options)
                : try scene.cache.addLayer(server as any TileSource, pyramid: scene.pyramid, options: options)
            view = ServiceSetup.quiet(scene.cache, [layer])
        }

        func need(_ columns: Range<Int>) { scene.need(columns, of: layer, view) }

        /// Lets time pass, with all that is due meanwhile.
        func pass(seconds: Double) {
            let end = scene.scheduler.now + Int64(seconds * 1e9)
            repeat {
                scene.run()
                guard let due = scene.scheduler.nextTimer, due <= end else { break }
                _ = scene.scheduler.passTime()
            } while true
            scene.scheduler.spend(nanoseconds: end - scene.scheduler.now)
            scene.run()
        }

        var drawn: [String] {
            view.frame().map { placement in
                let colour = ~placement.tile.withUnsafeBytes { $0.load(as: UInt32.self) }
                return "\(colour)\(placement.tile.isStale ? " stale" : "")"
            }
        }

        var figures: TileCacheStatistics { scene.cache.statistics }
    }

    /// At rest each tile on the screen is asked for when it expires, and nothing else is. Whether stores may keep it does
    /// not matter.
    @Test(arguments: [true, false], [true, false])
    func tilesOnTheScreenAreRevalidated(isBlocking: Bool, isStorable: Bool) throws {
        let scene = try Scene(isBlocking: isBlocking)
        scene.server.isStorable = isStorable
        scene.need(0..<4)
        #expect(scene.server.requests.count == 4 && scene.drawn == ["7", "7", "7", "7"])
        let identities = scene.view.frame().map(\.tile.identity)
        scene.pass(seconds: 2.9)
        #expect(scene.server.requests.count == 4)
        scene.pass(seconds: 0.3)
        // Confirmed: the same pixels, which have the same identity, and no further load.
        #expect(scene.server.requests.count == 8 && scene.server.confirmed == 4)
        #expect(scene.drawn == ["7", "7", "7", "7"] && scene.view.frame().map(\.tile.identity) == identities)
        #expect(scene.figures.loads.started == 4 && scene.figures.loads.finished == 4)
        #expect(scene.figures.revalidations.started == 4 && scene.figures.revalidations.unchanged == 4)
        // New pixels have another identity.
        (scene.server.tag, scene.server.colour) = ("b", 9)
        scene.pass(seconds: 3.1)
        #expect(scene.server.requests.count == 12 && scene.drawn == ["9", "9", "9", "9"])
        #expect(zip(scene.view.frame().map(\.tile.identity), identities).allSatisfy { $0.0 != $0.1 })
        #expect(scene.figures.revalidations.changed == 4 && scene.figures.loads.started == 4)
        #expect(scene.figures.contradictions == [])
        #expect(scene.figures.demands.hits == scene.figures.demands.total)
    }

    /// What is not needed waits, however long. Needed again it is drawn as stale at once, which is a hit.
    @Test(arguments: [true, false]) func tilesOffTheScreenWait(isBlocking: Bool) throws {
        let scene = try Scene(isBlocking: isBlocking)
        scene.need(0..<4)
        scene.need(4..<8)
        scene.pass(seconds: 100)
        let ofFirst = { scene.server.requests.count { $0.tile.column < 4 } }
        #expect(ofFirst() == 4 && scene.server.requests.count > 4 * 25)
        (scene.server.tag, scene.server.colour) = ("b", 9)
        let before = scene.figures
        scene.view.update(needing: (0..<4).map { NeededTile(layer: scene.layer.id, tile: scene.scene.tile($0)) })
        #expect(scene.drawn == ["7", "7", "7", "7"])
        scene.pass(seconds: 0.1)
        #expect(ofFirst() == 8 && scene.drawn == ["9", "9", "9", "9"])
        #expect((scene.figures - before).demands.hits == 4)
        #expect(scene.figures.contradictions == [])
    }

    /// A lifetime of 0, or one that has passed on the way, is no reason to ask at once. A second and ten seconds are the
    /// least times between two requests of a tile.
    @Test(arguments: [(0, 4), (-100, 4), (1, 31), (7, 5), (Int64.max / 2, 1)] as [(Int64, Int)])
    func aTileIsNotAskedForInALoop(lifetime: Int64, requests: Int) throws {
        let scene = try Scene()
        scene.server.lifetime = lifetime
        scene.need(0..<1)
        scene.pass(seconds: 30.9)
        let count = scene.server.requests.count
        #expect(count <= requests && count >= requests - (lifetime == 1 ? 3 : 1), "\(count)")
    }

    /// Stale tiles stay on the screen while their source fails, with its back-off, and are current once it answers.
    @Test(arguments: [TileFailure.transient(retryAfter: .zero), .postponed(retryAfter: .seconds(5)), .permanent])
    func staleTilesStayIfTheSourceFails(failure: TileFailure) throws {
        let scene = try Scene()
        scene.need(0..<2)
        scene.server.fails = failure
        scene.pass(seconds: 4)
        #expect(scene.drawn == ["7 stale", "7 stale"] && scene.figures.loads.failed == 0)
        #expect(scene.figures.revalidations.unanswered >= 2)
        scene.server.fails = nil
        scene.pass(seconds: 60)
        #expect(scene.drawn == (failure == .permanent ? ["7 stale", "7 stale"] : ["7", "7"]))
        #expect(scene.figures.contradictions == [])
    }

    /// An absence expires, too. Its ancestor remains the answer until there is another one.
    @Test(arguments: [true, false]) func absencesExpire(isBlocking: Bool) throws {
        let scene = try Scene(isBlocking: isBlocking)
        (scene.server.isAbsent, scene.server.tag) = (true, nil)
        scene.need(0..<2)
        scene.pass(seconds: 7)
        // Those of the two tiles, and of their ancestors, of which one may be there.
        #expect(scene.server.requests.count >= 6 && scene.view.frame().missingTileCount == 0)
        scene.server.isAbsent = false
        scene.pass(seconds: 3.1)
        #expect(scene.drawn == ["7", "7"] && scene.figures.contradictions == [])
        scene.server.isAbsent = true
        scene.pass(seconds: 3.1)
        #expect(scene.drawn == [] && scene.view.frame().missingTileCount == 0 && scene.figures.contradictions == [])
    }

    /// A confirmed tile is renewed in memory and in its stores, and not read from them again.
    @Test(arguments: [true, false]) func aConfirmationRenewsMemoryAndStores(isBlocking: Bool) throws {
        let store = MemoryStore()
        let scene = try Scene(isBlocking: isBlocking, stores: [store])
        scene.need(0..<2)
        let puts = store.puts
        scene.pass(seconds: 3.1)
        #expect(scene.server.confirmed == 2 && store.renewals == 2 && store.puts == puts)
        #expect(scene.drawn == ["7", "7"] && scene.figures.revalidations.unchanged == 2)
        scene.pass(seconds: 3)
        #expect(scene.server.confirmed == 4 && store.renewals == 4 && scene.figures.stores[0].hits == 0)
        // A later program finds the renewed entries.
        let entry = try #require(store.all.first).entry
        #expect(entry.freshness.expires == Self.start + 9 && entry.freshness.entityTag == "a")
    }

    /// Another process may have put other bytes into a store. What the source confirms are the pixels in memory.
    @Test(arguments: [true, false], [nil, "w"] as [String?])
    func aConfirmationLeavesOtherEntries(isBlocking: Bool, tag: String?) throws {
        let stores = [MemoryStore(), MemoryStore()]
        let scene = try Scene(isBlocking: isBlocking, stores: stores)
        scene.need(0..<1)
        var other = try #require(stores[1].all.first).entry
        other.kind = .absent
        other.freshness.entityTag = tag
        #expect(stores[1].put(other, cost: .zero) == .accepted)
        // It does not answer: its entry is not known.
        stores[1].misses = tag == nil ? nil : .late
        scene.pass(seconds: 3.1)
        #expect(scene.server.confirmed == 1 && stores.map(\.renewals) == [1, 0])
        #expect(stores[0].all.first?.entry.freshness.expires == Self.start + 6)
        #expect(stores[1].all.first?.entry.freshness == other.freshness)
    }

    /// Invalidated tiles are loaded as such, and a load in flight does not confirm them.
    @Test func anInvalidationCountsMore() throws {
        let scene = try Scene()
        scene.need(0..<2)
        scene.pass(seconds: 2)
        scene.layer.invalidate()
        scene.pass(seconds: 0.5)
        #expect(scene.server.requests.map(\.tag) == [nil, nil, nil, nil] && scene.figures.loads.started == 4)
        #expect(scene.figures.revalidations.started == 0 && scene.figures.contradictions == [])
    }

    /// What is drawn for good in place of an absent tile expires, too.
    @Test(arguments: [true, false]) func ancestorsExpire(isBlocking: Bool) throws {
        let scene = try Scene(isBlocking: isBlocking)
        scene.server.finest = 5
        scene.need(0..<2)
        scene.pass(seconds: 0.1)
        #expect(Set(scene.drawn) == ["7"])
        for colour in 8...10 {
            (scene.server.tag, scene.server.colour) = ("\(colour)", UInt32(colour))
            scene.pass(seconds: 3.1)
            #expect(Set(scene.drawn) == ["\(colour)"] && scene.figures.contradictions == [])
        }
        // One that is not drawn any more waits.
        scene.need(10..<12)
        let before = scene.server.requests.count
        scene.pass(seconds: 10)
        #expect(scene.server.requests[before...].allSatisfy { $0.tile.column >= 10 >> (6 - $0.tile.level) })
    }

    /// The wait that a server asks for holds after the tile has left the screen and is back.
    @Test(arguments: [TileFailure.transient(retryAfter: .seconds(100)), .postponed(retryAfter: .seconds(100))])
    func aWaitHoldsOffTheScreen(failure: TileFailure) throws {
        let scene = try Scene()
        scene.need(0..<2)
        scene.server.fails = failure
        scene.pass(seconds: 4)
        let ofFirst = { scene.server.requests.count { $0.tile.column < 2 } }
        #expect(ofFirst() == 4)
        scene.server.fails = nil
        for _ in 0..<5 {
            scene.need(2..<4)
            scene.pass(seconds: 1)
            scene.need(0..<2)
            scene.pass(seconds: 1)
        }
        #expect(ofFirst() == 4 && scene.drawn == ["7 stale", "7 stale"])
        scene.need(2..<4)
        scene.pass(seconds: 200)
        #expect(ofFirst() == 4)
        scene.need(0..<2)
        scene.pass(seconds: 0.1)
        #expect(ofFirst() == 6 && scene.drawn == ["7", "7"] && scene.figures.contradictions == [])
    }

    /// A host's request of an expired tile ends with the new one, also if the tile was absent.
    @Test(arguments: [false, true]) func aFetchWaitsForTheRevalidation(wasAbsent: Bool) throws {
        let scene = try Scene()
        scene.server.isAbsent = wasAbsent
        scene.need(0..<1)
        scene.need(1..<2)
        scene.pass(seconds: 10)
        scene.server.isAbsent = false
        (scene.server.tag, scene.server.colour) = ("b", 9)
        let ends = Lock([Bool]())
        let queue = DispatchQueue(label: "requests")
        let fetch = scene.layer.fetch(scene.scene.tile(0), on: queue) { outcome in
            if case .pixels(let tile) = outcome { ends.withLock { $0.append(holds(tile, 9) && !tile.isStale) } }
        }
        scene.pass(seconds: 0.1)
        #expect(fetch.outcome == nil && ends.withLock { $0 } == [true])
    }

    /// The same of a compressed tile that a worker decompresses, since the host's thread could not.
    @Test func aFetchOfACompressedTileWaits() throws {
        let scene = try Scene(compresses: true)
        scene.need(0..<1)
        scene.need(1..<2)
        scene.pass(seconds: 10)
        (scene.server.tag, scene.server.colour) = ("b", 9)
        let (tile, layer) = (scene.scene.tile(0), scene.layer)
        let ends = Lock([Bool]())
        let handler = FetchHandler(queue: DispatchQueue(label: "requests")) { outcome in
            if case .pixels(let tile) = outcome { ends.withLock { $0.append(holds(tile, 9) && !tile.isStale) } }
        }
        let now = scene.scene.scheduler.now
        let isKnown = scene.scene.cache.core.perform { state -> Bool in
            let number = state.pool.table.find(TileKey(layer: layer.id.index, tile))
            _ = state.pool.finishDemotion(state.pool.beginDemotion(number), .solid(0))
            guard state.pool.table[number].residency == .compressed else { return true }
            if case .failure = state.beginFetch(tile, of: layer.id, isMargin: false, handler, now: now) { return true }
            return false
        }
        scene.pass(seconds: 0.1)
        #expect(!isKnown && ends.withLock { $0 } == [true])
    }

    /// Random sessions against a simple reference: after time has passed, each needed tile is at most as old as its
    /// lifetime, and each tile was asked for only while it was needed, never twice within a second.
    @Test(arguments: 1...30) func randomSessions(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        func draw(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.count)) }
        let store = draw(0...1) == 1 ? [MemoryStore()] : []
        let scene = try Scene(isBlocking: draw(0...1) == 1, tiles: draw(6...40), stores: store)
        var needed: [(time: Int64, columns: Range<Int>)] = []
        for _ in 0..<40 {
            scene.server.lifetime = Int64(draw(0...12))
            if draw(0...3) == 0 {
                let version = draw(0...9)
                (scene.server.tag, scene.server.colour) = (draw(0...3) == 0 ? nil : "\(version)", UInt32(version))
            }
            let first = draw(0...12)
            let columns = first..<first + draw(1...4)
            needed.append((scene.server.wall(), columns))
            let before = scene.server.requests.count
            scene.need(columns)
            scene.pass(seconds: Double(draw(0...300)) / 20)
            let new = scene.server.requests[before...]
            let outside = new.first { !columns.contains($0.tile.column) }
            #expect(outside == nil, "seed \(seed): \(outside.map { "\($0)" } ?? "")")
            for column in columns {
                let last = scene.server.requests.last { $0.tile.column == column }
                let age = scene.server.wall() - (try #require(last)).time
                // The longest lifetime so far, and the second by which both times are rounded.
                #expect(age <= 13, "seed \(seed): column \(column) is \(age) s old")
            }
            let times = Dictionary(grouping: scene.server.requests, by: \.tile).values.map { $0.map(\.time) }
            for list in times { #expect(zip(list, list.dropFirst()).allSatisfy { $1 - $0 >= 0 }) }
            #expect(scene.drawn.allSatisfy { !$0.contains("stale") }, "seed \(seed): \(scene.drawn)")
            #expect(scene.figures.contradictions == [], "seed \(seed)")
        }
        let most = needed.count * 4 * 16 + 40 * 4
        #expect(scene.server.requests.count <= most, "seed \(seed): \(scene.server.requests.count)")
    }

    @Test func lifetimes() {
        func seconds(_ freshness: TileStoreFreshness, _ now: Int64) -> Int64? {
            CacheCore.lifetime(of: freshness, now: now).map { $0 / Self.second }
        }
        #expect(seconds(TileStoreFreshness(stored: 100), 100) == nil)
        #expect(seconds(TileStoreFreshness(stored: 100, expires: 160), 100) == 60)
        #expect(seconds(TileStoreFreshness(stored: 100, expires: 160), 159) == 1)
        for now in [160, 161, .max] as [Int64] {
            #expect(seconds(TileStoreFreshness(stored: 100, expires: 160), now) == 10)
        }
        // The clock was set back since: the whole lifetime.
        #expect(seconds(TileStoreFreshness(stored: 100, expires: 160), .min) == 60)
        #expect(seconds(TileStoreFreshness(stored: 0, expires: .max), 0) == nil)
        #expect(seconds(TileStoreFreshness(stored: 0, expires: .min), 10) == 10)
    }

    /// Under the virtual clock: a view that rests loads each tile again when it expires; one that has gone does not.
    @Test func theVirtualClockKnowsLifetimes() throws {
        var options = VirtualCache.Options()
        options.byteLimit = 16 << 20
        let cache = VirtualCache(options: options, expectedLatency: 1_000_000) { _, _ in 1_000_000 }
        cache.lifetime = { _, _ in 3 * Self.second }
        let pyramid = try ServiceSetup.pyramid()
        let layer = try cache.addLayer(tileBytes: 16_384)
        let view = cache.addView(layers: [(layer, pyramid, NoPrefetch())])
        var counts: [Int] = []
        for step in 0...120 {
            let place = ServiceSetup.viewport(step < 60 ? 1000 : 3000, 1000)
            cache.frame(view: view, place, at: Int64(step) * 100_000_000)
            if step % 60 == 59 { counts.append(cache.counters.revalidations.started) }
        }
        let needed = cache.views[view].layers[0].needs.tiles.count
        // Six seconds over each place, whose tiles land after the first frame: once each within them.
        #expect(counts == [needed, 2 * needed] && cache.counters.loads.started == 2 * needed, "\(counts) of \(needed)")
        #expect(cache.coverage.missingTiles == 0)
    }
}
