import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// Requests of hosts for single tiles, margins of views and late tiles.
@Suite(.timeLimit(.minutes(45))) struct FetchTests {
    /// Records what handlers receive.
    final class Ends: Sendable {
        private let kinds = Lock([String]())
        var all: [String] { kinds.withLock { $0 } }

        func note(_ outcome: TileFetch.Outcome) { kinds.withLock { $0.append(Self.kind(outcome)) } }

        static func kind(_ outcome: TileFetch.Outcome) -> String {
            switch outcome {
            case .pixels(let tile): "pixels \(tile.identity.tile.column)"
            case .absent: "absent"
            case .failed: "failed"
            case .removed: "removed"
            case .refused: "refused"
            }
        }
    }

    /// A source whose outcome depends on the column; records the order of its loads.
    final class FateSource: BlockingTileSource {
        enum Fate { case pixels, absent, lost, retried }

        private let state = Lock((order: [TileCoordinate](), tried: Set<TileCoordinate>(), version: UInt32(0)))
        private let fate: @Sendable (Int) -> Fate
        private let layer: Int

        init(layer: Int = 0, _ fate: @escaping @Sendable (Int) -> Fate = { _ in .pixels }) {
            self.layer = layer
            self.fate = fate
        }

        var order: [TileCoordinate] { state.withLock { $0.order } }
        var version: UInt32 {
            get { state.withLock { $0.version } }
            set { state.withLock { $0.version = newValue } }
        }

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            let (isFirst, version) = state.withLock { state in
                state.order.append(tile)
                return (state.tried.insert(tile).inserted, state.version)
            }
            switch fate(tile.column) {
            case .absent: return .absent
            case .lost: throw TileFailure.permanent
            case .retried where isFirst: throw TileFailure.transient(retryAfter: .zero)
            case .pixels, .retried: break
            }
            fill(&pixels, with: expectedPixel(layer: layer, tile, version: version))
            return .pixels
        }
    }

    private let queue = DispatchQueue(label: "FetchTests")

    @Test func anOutcomeIsKnownAtOnceOrComesOnce() throws {
        let scene = try StillScene(tiles: 64)
        let fates: [FateSource.Fate] = [.pixels, .absent, .lost, .retried]
        let layer = try scene.cache.addLayer(FateSource { fates[$0 % 4] }, pyramid: scene.pyramid)
        let expected = ["pixels 0", "absent", "failed", "pixels 3"]
        for round in 0..<2 {
            for column in 0..<4 {
                let ends = Ends()
                let fetch = layer.fetch(scene.tile(column), on: queue) { ends.note($0) }
                #expect(scene.scheduler.settle(atMost: 10_000))
                if round == 0 {
                    #expect(fetch.outcome == nil && ends.all == [expected[column]])
                } else {
                    #expect(fetch.outcome.map(Ends.kind) == expected[column] && ends.all.isEmpty)
                }
                #expect(!fetch.cancel() && !fetch.isLoading)
            }
        }
        let nowhere = TileCoordinate(level: 6, column: 64, row: 0)
        let ends = Ends()
        #expect(layer.fetch(nowhere, on: queue) { ends.note($0) }.outcome.map(Ends.kind) == "absent")
        layer.remove()
        let gone = layer.fetch(scene.tile(0), on: queue) { ends.note($0) }
        #expect(gone.outcome.map(Ends.kind) == "removed" && ends.all.isEmpty)
        // Neither demands nor prefetches; what was handed over counts as drawn.
        let figures = scene.cache.statistics
        #expect(figures.pan.total == 0 && figures.zoom.total == 0 && figures.prefetches.started == 0)
        #expect(figures.loads.drawn == 2 && figures.contradictions.isEmpty)
    }

    @Test func afterACancellationTheHandlerDoesNotBegin() throws {
        let scene = try StillScene(tiles: 64)
        let layer = try scene.plainLayer()
        let ends = Ends()
        var fetch: TileFetch? = layer.fetch(scene.tile(0), on: queue) { ends.note($0) }
        #expect(fetch?.cancel() == true && fetch?.cancel() == false)
        scene.run()
        #expect(ends.all.isEmpty && !layer.isResident(scene.tile(0)))
        // With its last reference.
        fetch = layer.fetch(scene.tile(1), on: queue) { ends.note($0) }
        fetch = nil
        scene.run()
        #expect(ends.all.isEmpty && fetch == nil)
        // It has ended, and its handler has not begun.
        let late = layer.fetch(scene.tile(2), on: queue) { ends.note($0) }
        while !layer.isResident(scene.tile(2)) { try #require(scene.scheduler.runOne()) }
        #expect(late.cancel())
        scene.run()
        #expect(ends.all.isEmpty)
        #expect(scene.cache.core.read { $0.interests.pending.isEmpty && $0.pool.ledger[.demand] == 0 })
    }

    @Test func requestsBeyondTheMaximumAreRefused() throws {
        let scene = try StillScene(tiles: 4096)
        let layer = try scene.plainLayer()
        let ends = Ends()
        let fetches = (0..<Interests.maximumCount + 1).map { index in
            layer.fetch(scene.tile(index % 64, row: index / 64 % 64), on: queue) { ends.note($0) }
        }
        #expect(fetches.dropLast().allSatisfy { $0.outcome == nil })
        #expect(fetches.last?.outcome.map(Ends.kind) == "refused")
        #expect(fetches[7].cancel())
        let again = layer.fetch(scene.tile(0), on: queue) { ends.note($0) }
        #expect(again.outcome == nil)
        #expect(scene.scheduler.runAll(atMost: 200_000))
        #expect(ends.all.count == Interests.maximumCount)
        withExtendedLifetime((fetches, again)) {}
    }

    /// No plan followed at rest: such a request stayed pending.
    @Test func aMarginThatALentTileLeftNoRoomForComesWhenItIsLetGo() throws {
        let scene = try StillScene(tiles: 2, workers: 1)
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        scene.need(0..<2, of: layer, view)
        scene.need(0..<1, of: layer, view)
        var request: TileFetch?
        let wasLent: Void? = layer.withTile(scene.tile(1)) { _ in
            request = layer.fetch(scene.tile(5), rank: .margin) { _ in }
            scene.run()
            #expect(scene.resident(5..<6, of: layer) == 0)
        }
        scene.run()
        #expect(wasLent != nil && request?.outcome == nil)
        #expect(scene.resident(5..<6, of: layer) == 1)
        withExtendedLifetime(request) {}
    }

    /// Visible tiles before margins, margins before prefetches, whatever the order of the requests.
    @Test func visibleTilesLoadBeforeMarginsAndTheseBeforePrefetches() throws {
        for allowance in [PrefetchAllowance.standard, .never] {
            let scene = try StillScene(tiles: 64, workers: 1)
            let source = FateSource()
            let options = LayerOptions(prefetch: allowance)
            let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid, options: options)
            let ends = Ends()
            layer.prefetch([scene.tile(1)])
            let fetches = [(2, TileFetch.Rank.margin), (3, .visible), (4, .margin), (5, .visible)].map { column, rank in
                layer.fetch(scene.tile(column), rank: rank, on: queue) { ends.note($0) }
            }
            scene.run()
            #expect(source.order.map(\.column) == [3, 5, 2, 4, 1])
            #expect(ends.all.count == 4 && fetches.allSatisfy { $0.outcome == nil })
            let counts = scene.cache.statistics.prefetches
            #expect(counts.started == 1)
        }
    }

    /// A view's margin: rings around what shows, each tile once. They come after all needed tiles and before
    /// prefetches.
    @Test(arguments: [0, 1, 2]) func aMarginIsLoadedRingByRing(rings: Int) throws {
        let scene = try StillScene(tiles: 256, workers: 1)
        let source = FateSource()
        let options = LayerOptions(prefetch: .never)
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid, options: options)
        let view = ServiceSetup.quiet(scene.cache, [layer])
        view.margin = rings
        layer.prefetch([TileCoordinate(level: 2, column: 0, row: 0)])
        // Two by two tiles, from column and row 10 on, exactly.
        let place = TileViewport(center: WorldPoint(x: 704, y: 704), width: 128, height: 128)
        view.update(place)
        scene.run()
        func ring(_ tile: TileCoordinate) -> Int {
            guard tile.level == 6 else { return 100 }
            let x = max(10 - tile.column, tile.column - 11, 0)
            return max(x, 10 - tile.row, tile.row - 11)
        }
        let found = source.order.map(ring)
        let sizes = [4, 12, 20].prefix(rings + 1)
        #expect(found == sizes.enumerated().flatMap { Array(repeating: $0, count: $1) } + [100])
        #expect(Set(source.order).count == source.order.count)
        let figures = scene.cache.statistics
        #expect(figures.prefetches.started == 1 && figures.pan.total == 0)
        #expect(figures.loads.started == found.count)
        // Moved by a tile: two of the four are new, and with a margin neither is missed.
        _ = view.frame()
        view.update(TileViewport(center: WorldPoint(x: 768, y: 704), width: 128, height: 128))
        #expect(scene.cache.statistics.pan.missed == (rings == 0 ? 2 : 0))
        view.margin = 9
        #expect(view.margin == 8)
        view.margin = -1
        #expect(view.margin == 0)
    }

    /// The best that can be drawn meanwhile. An ancestor's part, then the tile itself, then its outdated pixels.
    @Test func anAncestorIsCutMeanwhile() throws {
        let scene = try StillScene(tiles: 64)
        let source = FateSource()
        let layer = try scene.cache.addLayer(source, pyramid: scene.pyramid)
        let tile = TileCoordinate(level: 6, column: 13, row: 6)
        #expect(layer.placement(of: tile) == nil)
        let ends = Ends()
        let ancestor = TileCoordinate(level: 4, column: 3, row: 1)
        let coarse = layer.fetch(ancestor, on: queue) { ends.note($0) }
        scene.run()
        let part = try #require(layer.placement(of: tile))
        #expect(part.tile.identity.tile == ancestor && !part.isExact)
        #expect(holds(part.tile, expectedPixel(layer: 0, ancestor)))
        #expect(part.worldRectangle == PixelRect(minX: 832, minY: 384, maxX: 896, maxY: 448))
        #expect(part.tileRectangle == PixelRect(minX: 16, minY: 32, maxX: 32, maxY: 48))
        let fine = layer.fetch(tile, on: queue) { ends.note($0) }
        scene.run()
        #expect(ends.all == ["pixels 3", "pixels 13"])
        #expect(layer.placement(of: tile)?.isExact == true)
        // Outdated pixels are drawn, but are no outcome.
        source.version = 1
        layer.invalidate()
        #expect(layer.placement(of: tile)?.tile.isStale == true)
        let new = layer.fetch(tile, on: queue) { ends.note($0) }
        #expect(new.outcome == nil)
        scene.run()
        let now = try #require(layer.placement(of: tile))
        #expect(!now.tile.isStale && holds(now.tile, expectedPixel(layer: 0, tile, version: 1)))
        #expect(ends.all.count == 3)
        withExtendedLifetime((coarse, fine, new)) {}
    }

    /// A compressed tile is there at once. If its slot requires compressing another one, a worker does that.
    @Test func aCompressedTileIsDecompressedAtOnce() throws {
        let scene = try StillScene(tiles: 32) { $0.usesCompressedTier = true }
        let layer = try scene.plainLayer()
        let view = ServiceSetup.quiet(scene.cache, [layer])
        scene.need(0..<28, of: layer, view)
        scene.need(28..<56, of: layer, view)
        func isCold(_ column: Int) -> Bool {
            let isDecoded = scene.decoded(column..<column + 1, of: layer) == 1
            return !isDecoded && layer.isResident(scene.tile(column))
        }
        let ends = Ends()
        let full = try #require((0..<28).first(where: isCold))
        let late = layer.fetch(scene.tile(full), on: queue) { ends.note($0) }
        #expect(late.outcome == nil)
        scene.run()
        #expect(ends.all == ["pixels \(full)"] && !late.cancel())
        scene.cache.byteLimit = .bytes(64 * StillScene.tileBytes)
        scene.run()
        let cold = try #require((0..<28).first(where: isCold))
        let fetch = layer.fetch(scene.tile(cold), on: queue) { _ in }
        guard case .pixels(let tile)? = fetch.outcome else {
            Issue.record("\(String(describing: fetch.outcome))")
            return
        }
        #expect(holds(tile, expectedPixel(layer: 0, scene.tile(cold))))
    }

    /// Needed tiles are late from their first miss on, even before their load begins.
    @Test func framesTellLateTilesFromUnavailableOnes() throws {
        let service = VirtualService()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: 1)
        service.drive(&configuration)
        let cache = try TileCache(configuration)
        let source = VirtualSource(service, latency: 40_000_000, atATime: 1)
        let layer = try source.add(to: cache, isBlocking: false)
        let view = ServiceSetup.quiet(cache, [layer])
        service.advance(cache, by: 5_000_000)
        let start = cache.core.clock()
        let tiles = (0..<2).map { TileCoordinate(level: 6, column: $0, row: 0) }
        view.update(needing: tiles.map { NeededTile(layer: layer.id, tile: $0) })
        service.advance(cache, by: 39_000_000)
        var frame = view.frame()
        #expect(frame.late.map(\.tile.column) == [0, 1] && frame.unavailable.isEmpty && frame.missingTileCount == 2)
        #expect(frame.late.map(\.since.nanoseconds) == [start, start])
        #expect(frame.late.map(\.isLoading) == [true, false])
        #expect(frame.late[1].worldRectangle == PixelRect(minX: 64, minY: 0, maxX: 128, maxY: 64))
        service.advance(cache, by: 2_000_000)
        frame = view.frame()
        #expect(
            frame.late.map(\.tile.column) == [1] && frame.late.map(\.isLoading) == [true],
            "\(frame.late), \(service.requests)"
        )
        service.advance(cache, by: 40_000_000)
        #expect(view.frame().late.isEmpty && view.frame().missingTileCount == 0)
    }
}
