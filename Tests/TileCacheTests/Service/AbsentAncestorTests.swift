import Dispatch
import TestSupport
import Testing

@testable import TileCache

/// What is drawn in place of tiles that will not come: the deepest ancestor that there is, found with few requests.
@Suite(.timeLimit(.minutes(45))) struct AbsentAncestorTests {
    /// A made archive: which tiles there are.
    private struct Archive: Sendable, CustomStringConvertible {
        let seed: UInt64
        /// Whether what is absent is absent at all finer levels. Otherwise each tile is there by chance.
        let nests: Bool

        var description: String { "seed \(seed), \(nests ? "nested" : "any tiles")" }

        private func draw(_ tile: TileCoordinate) -> UInt64 {
            var random = SplitMix64(
                seed: seed &* 0x9E37_79B9 &+ UInt64(tile.level << 40 | tile.row << 20 | tile.column)
            )
            return random.next() >> 8
        }

        func has(_ tile: TileCoordinate) -> Bool {
            guard nests else { return draw(tile) % 100 < 45 }
            // By place: each tile ends the levels below it with a chance of a quarter.
            var place = tile
            while true {
                if draw(place) % 4 == 0 { return false }
                guard place.level > 0 else { return true }
                place = TileCoordinate(level: place.level - 1, column: place.column / 2, row: place.row / 2)
            }
        }

        /// The tile itself, or its deepest ancestor that there is.
        func deepest(_ tile: TileCoordinate) -> TileCoordinate? {
            var place = tile
            while !has(place) {
                guard place.level > 0 else { return nil }
                place = TileCoordinate(level: place.level - 1, column: place.column / 2, row: place.row / 2)
            }
            return place
        }
    }

    /// Random archives and places, with the usual policy, without prefetches, and with an allowance that forbids them.
    @Test(arguments: [true, false], 0..<3) func everyGapHasTheDeepestAncestor(nests: Bool, kind: Int) throws {
        var (gaps, deep, blank) = (0, 0, 0)
        for seed in UInt64(0)..<12 {
            let archive = Archive(seed: seed, nests: nests)
            let steps = StepScheduler.calm()
            let cache = try steps.cache(byteLimit: .mebibytes(8), workers: 3)
            let source = PlainSource(absent: { !archive.has($0) })
            let pyramid = try ServiceSetup.pyramid()
            let layer = try cache.addLayer(source, pyramid: pyramid)
            if kind == 2 { try layer.setPrefetchAllowance(.never) }
            let view = kind == 1 ? ServiceSetup.quiet(cache, [layer]) : cache.makeView(layers: [layer])
            var dice = NaiveDice(seed: seed + 77)
            let viewport = ServiceSetup.viewport(dice.unit() * 3800 + 100, dice.unit() * 3800 + 100)
            for _ in 0..<4 {
                view.update(viewport)
                _ = view.frame()
                #expect(steps.runAll(atMost: 200_000))
            }
            let frame = view.frame()
            #expect(frame.missingTileCount == 0)
            for tile in pyramid.neededTiles(under: viewport, at: 6) {
                let expected = archive.deepest(tile)
                let own = pyramid.worldRectangle(of: tile)
                let (x, y) = ((own.minX + own.maxX) / 2, (own.minY + own.maxY) / 2)
                let drawn = frame.filter { placement in
                    let area = placement.worldRectangle
                    return area.minX < x && x < area.maxX && area.minY < y && y < area.maxY
                }
                #expect(drawn.map { $0.tile.identity.tile } == (expected.map { [$0] } ?? []), "\(archive), \(tile)")
                if expected != tile { gaps += 1 }
                if let expected, expected.level < 5 { deep += 1 }
                if expected == nil { blank += 1 }
            }
            ServiceSetup.check(frame, viewport, layers: 1)
            // Nothing is asked for twice, and nothing but what lies over the view. A rest asks for no more.
            let loads = source.loads
            #expect(loads.values.allSatisfy { $0 == 1 }, "\(archive)")
            if kind > 0 {
                for (tile, _) in loads {
                    #expect(pyramid.neededTiles(under: viewport, at: tile.level).contains(tile), "\(archive), \(tile)")
                }
                // 20 tiles, then 9 or fewer of level 5, and four or fewer of each coarser one.
                #expect(loads.count <= 20 + 9 + 4 * 4 + 1, "\(archive): \(loads.count)")
            }
            for _ in 0..<(kind > 0 ? 3 : 0) {
                steps.spend(nanoseconds: 2_000_000_000)
                view.update(viewport)
                _ = steps.runAll()
            }
            #expect(source.loads == loads)
        }
        #expect(gaps > 60 && deep > 10, "\(gaps) gaps, \(deep) of them deep, \(blank) blank")
    }

    /// A view that has rested for long, and a memory full of tiles of other places: the ancestors come all the same.
    @Test func ancestorsComeToAViewAtRestInAFullMemory() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(2), workers: 2)
        let source = QueuedSource()
        let options = LayerOptions(isCompressible: false)
        let layer = try cache.addLayer(source, pyramid: try ServiceSetup.pyramid(), options: options)
        let view = ServiceSetup.quiet(cache, [layer])
        func serve(_ answer: (TileRequest) -> Void) {
            while true {
                _ = steps.runAll()
                let requests = source.take()
                if requests.isEmpty { return }
                requests.forEach(answer)
            }
        }
        for place in 0..<12 {
            view.update(ServiceSetup.viewport(200 + 300 * Double(place), 3000))
            serve(source.answer)
            _ = view.frame()
        }
        #expect(cache.statistics.tiers.removals[.capacity] ?? 0 > 0)
        // Each level answers after seconds at rest. Levels 4 to 6 have no tiles here.
        let viewport = ServiceSetup.viewport(1000, 1000)
        var asked: [Int] = []
        for _ in 0..<20 {
            view.update(viewport)
            _ = view.frame()
            _ = steps.runAll()
            steps.spend(nanoseconds: 3_000_000_000)
            view.update(viewport)
            _ = view.frame()
            for request in source.take() {
                asked.append(request.tile.level)
                if request.tile.level > 3 { request.completeAbsent() } else { source.answer(request) }
            }
        }
        let frame = view.frame()
        #expect(!frame.isEmpty && frame.allSatisfy { $0.tile.identity.tile.level == 3 }, "\(asked)")
        #expect(frame.reduce(0) { $0 + $1.worldRectangle.area } >= 256 * 192)
        #expect(Set(asked) == [3, 4, 5, 6] && asked.count < 40, "\(asked)")
    }

    /// Odd tables of levels, whose tiles do not nest, and lists of needed tiles of several levels: under each point the
    /// deepest tile there is, by brute force.
    @Test(arguments: 0..<6) func oddPyramids(seed: Int) throws {
        var dice = NaiveDice(seed: UInt64(seed + 8100))
        var (points, rounds) = (0, 0)
        for number in 0..<60 {
            let pyramid = try dice.paintedWorld().pyramid()
            let archive = Archive(seed: UInt64(seed * 100 + number), nests: false)
            let finest = pyramid.maximumLevel
            guard finest > 0 else { continue }
            let part = PixelRect(
                minX: 0,
                minY: 0,
                maxX: pyramid.worldWidth * dice.unit(),
                maxY: pyramid.worldHeight * dice.unit()
            )
            var gaps = pyramid.range(overlapping: part, at: finest).prefix(200).filter { !archive.has($0) }
            if finest > 1, number % 2 == 0 { gaps += pyramid.range(overlapping: part, at: finest - 1).prefix(3) }
            let open = Set(gaps)
            var known: [TileCoordinate: Bool] = [:]
            var asked = 0
            var found: [TileCoordinate] = []
            for _ in 0...pyramid.levels.count {
                let ancestors = GapAncestors(of: gaps, layer: 0, in: pyramid, from: 0) { keys in
                    keys.map { key in
                        let state = known[key.coordinate]
                        return TileResidency(
                            residency: state == true ? .decoded : .none,
                            isKnown: state != nil,
                            isUnavailable: state == false
                        )
                    }
                }
                found = ancestors.tiles.map(\.coordinate)
                let new = found.filter { known[$0] == nil }
                if new.isEmpty { break }
                rounds += 1
                asked += new.count
                for tile in new { known[tile] = archive.has(tile) && !open.contains(tile) }
            }
            #expect(found.allSatisfy { known[$0] == true } && asked == known.count)
            for gap in gaps {
                let area = pyramid.worldRectangle(of: gap)
                for _ in 0..<4 {
                    let (x, y) = (area.minX + dice.unit() * area.width, area.minY + dice.unit() * area.height)
                    let point = PixelRect(minX: x, minY: y, maxX: x + 1e-3, maxY: y + 1e-3)
                    let over = (0..<gap.level).reversed().compactMap { level in
                        let tiles = Array(pyramid.range(overlapping: point, at: level))
                        // Not at an edge, nor beside the tiles of a level.
                        return tiles.count == 1 && archive.has(tiles[0]) && !open.contains(tiles[0]) ? tiles[0] : nil
                    }
                    let levels = (0..<gap.level).map { pyramid.range(overlapping: point, at: $0).count }
                    guard levels.allSatisfy({ $0 <= 1 }), area.minX < x, x + 1e-3 < area.maxX, area.minY < y,
                        y + 1e-3 < area.maxY
                    else { continue }
                    points += 1
                    guard let deepest = over.first else { continue }
                    #expect(found.contains(deepest), "seed \(seed), case \(number): \(gap) at \(x), \(y)")
                }
            }
        }
        #expect(points > 200 && rounds > 60, "\(points) points, \(rounds) rounds")
    }
}
