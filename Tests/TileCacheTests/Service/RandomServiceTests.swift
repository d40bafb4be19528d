import Foundation
import TestSupport
import Testing

@testable import TileCache

/// Random configurations of the whole service. Every drawn pixel is its source's and at its place, all views become
/// sharp, every limit is reached, and the counters agree.
@Suite(.timeLimit(.minutes(45))) struct RandomServiceTests {
    @Test(arguments: 0..<6) func anyConfigurationKeepsItsPromises(seed: Int) {
        for number in 0..<3 {
            let own = UInt64(seed * 100 + number)
            var dice = NaiveDice(seed: own + 900)
            guard check(ServiceCase(&dice), seed: own, tries: 20, problem: { try ServiceRun($0).problem() }) else {
                return
            }
        }
    }
}

/// A configuration and its operations.
struct ServiceCase: Shrinkable, Equatable {
    enum Kind: CaseIterable { case blocking, asynchronous, encoded }

    struct Layer: Equatable {
        var world: PaintedWorld
        var kind: Kind
        var format: TilePixelFormat
        var isCompressible: Bool
        var synthesizedLevels: Int
        var maximumShare: Double
        var fails: Bool
    }

    var layers: [Layer]
    var workers: Int
    var usesCompressedTier: Bool
    var compressedShare: Double?
    var views: [NaiveView]
    /// Tiles that still fit when the limit has been lowered.
    var tilesLeft: Int
    var lowersLimit: Bool
    var holds: Bool
    var pins: Bool
    var invalidates: Bool
    var trims: Bool
    /// As a system with such pages.
    var pageBytes: Int

    init(_ dice: inout NaiveDice) {
        layers = (0..<dice.whole(1...3)).map { _ in Layer(&dice) }
        workers = [1, 1, 2, 4, 9][dice.whole(0...4)]
        usesCompressedTier = dice.whole(0...3) > 0
        compressedShare = [nil, nil, 0, 0.5, 1][dice.whole(0...4)]
        let world = layers[0].world
        views = (0..<dice.whole(1...5)).map { _ in dice.view(of: world) }
        tilesLeft = dice.whole(1...20)
        lowersLimit = dice.whole(0...2) > 0
        holds = dice.whole(0...1) == 1
        pins = dice.whole(0...1) == 1
        invalidates = dice.whole(0...2) == 0
        trims = dice.whole(0...2) == 0
        pageBytes = [4096, 4096, 16_384, 65_536][dice.whole(0...3)]
    }

    var simpler: [ServiceCase] {
        var cases: [ServiceCase] = []
        func add(_ change: (inout ServiceCase) -> Void) {
            var one = self
            change(&one)
            if one != self { cases.append(one) }
        }
        if layers.count > 1 { for index in layers.indices { add { $0.layers.remove(at: index) } } }
        add { $0.views.removeLast($0.views.count / 2) }
        add { $0.pins = false }
        add { $0.invalidates = false }
        add { $0.trims = false }
        add { $0.pageBytes = 4096 }
        add { $0.lowersLimit = false }
        add { $0.holds = false }
        add { $0.usesCompressedTier = false }
        add { $0.workers = 1 }
        for index in layers.indices {
            add { $0.layers[index].kind = .blocking }
            add { $0.layers[index].fails = false }
            add { $0.layers[index].maximumShare = 1 }
            add { $0.layers[index].world.wraps = false }
        }
        return cases
    }
}

extension ServiceCase.Layer {
    init(_ dice: inout NaiveDice) {
        let isMade = dice.whole(0...4) == 0
        world = dice.paintedWorld(halves: isMade)
        synthesizedLevels = isMade ? min(dice.whole(0...3), world.levels.count - 1) : 0
        kind = ServiceCase.Kind.allCases[dice.whole(0...2)]
        let formats: [TilePixelFormat] = [
            .rgba8, .bgra8, .gray8, .gray16, .rgba16, .float32, .opaque(bytesPerTile: 777),
        ]
        format = formats[dice.whole(0...(isMade ? 3 : 6))]
        isCompressible = dice.whole(0...4) > 0
        maximumShare = dice.whole(0...2) == 0 ? 0.5 : 1
        fails = !isMade && dice.whole(0...1) == 1
    }
}

/// Runs a case.
private struct ServiceRun {
    /// Enough for the case.
    private static let highLimit = 64 << 20

    let some: ServiceCase
    let cache: TileCache
    let contents: [RandomContent]
    let layers: [TileLayer]
    let view: TileView

    init(_ some: ServiceCase) throws {
        self.some = some
        var configuration = TileCache.Configuration(byteLimit: .bytes(Self.highLimit), workers: some.workers)
        configuration.maximumByteLimit = .bytes(Self.highLimit)
        configuration.usesCompressedTier = some.usesCompressedTier
        configuration.compressedShare = some.compressedShare
        configuration.retryDelay = .milliseconds(1)
        configuration.pageBytes = some.pageBytes
        let cache = try TileCache(configuration)
        self.cache = cache
        contents = some.layers.enumerated().map { number, layer in
            RandomContent(
                layer: number,
                world: layer.world,
                format: layer.format,
                isPlain: layer.synthesizedLevels > 0,
                fails: layer.fails
            )
        }
        layers = try zip(some.layers, contents).map { layer, content in
            var options = LayerOptions(
                format: layer.format,
                isCompressible: layer.isCompressible,
                maximumShare: layer.maximumShare
            )
            options.synthesizedLevels = layer.synthesizedLevels
            let pyramid = try layer.world.pyramid()
            return switch layer.kind {
            case .blocking:
                try cache.addLayer(RandomBlockingSource(content: content), pyramid: pyramid, options: options)
            case .encoded:
                try cache.addLayer(RandomEncodedSource(content: content), pyramid: pyramid, options: options)
            case .asynchronous:
                try cache.addLayer(RandomAsyncSource(content: content), pyramid: pyramid, options: options)
            }
        }
        view = cache.makeView(layers: layers)
    }

    /// The failure; `nil` if there is none.
    func problem() throws -> String? {
        defer { cache.shutdown() }
        let pinned = some.pins ? pin() : 0
        if let problem = becomeSharp(pinned: pinned) { return problem }
        if some.invalidates { for layer in layers { layer.invalidate(keepsStale: some.holds) } }
        if some.trims { cache.trim(to: .bytes(Self.highLimit / 64)) }
        if some.invalidates || some.trims, let problem = becomeSharp(pinned: 0) { return problem }
        if some.lowersLimit {
            if let problem = lowerLimit() { return problem }
            cache.byteLimit = .bytes(Self.highLimit)
            if let problem = becomeSharp(pinned: 0) { return problem }
        }
        return ending()
    }

    /// Pins the middle of the last view in each layer whose source has it. Returns the number of tiles.
    private func pin() -> Int {
        let look = some.views[some.views.count - 1]
        var count = 0
        for (layer, made) in zip(layers, some.layers) where made.synthesizedLevels == 0 && !made.fails {
            let world = made.world
            let level = world.idealLevel(scale: look.scale)
            let (width, height) = (look.width / look.scale / 2, look.height / look.scale / 2)
            let region = PixelRect(
                minX: max(look.x - width / 2, 0),
                minY: max(look.y - height / 2, 0),
                maxX: min(look.x + width / 2, world.width),
                maxY: min(look.y + height / 2, world.height)
            )
            guard region.minX < region.maxX, region.minY < region.maxY else { continue }
            guard (try? layer.pin(levels: level...level, region: region)) != nil else { continue }
            count += world.tiles(level).count { tile in
                let table = world.levels[level]
                let left = table.originX + Double(tile.column) * table.spanX
                let top = table.originY + Double(tile.row) * table.spanY
                return left < region.maxX && left + table.spanX > region.minX && top < region.maxY
                    && top + table.spanY > region.minY
            }
        }
        return count
    }

    /// Shows one viewport after the other until each is drawn with exact tiles. Pinned ones stay resident.
    private func becomeSharp(pinned: Int) -> String? {
        if !eventually({ cache.statistics.memory.pinnedTiles >= pinned }) {
            return "\(cache.statistics.memory.pinnedTiles) of \(pinned) pinned tiles came"
        }
        for look in some.views {
            view.update(look.viewport)
            var problem = problem(with: view.frame(), look, isSharp: false)
            let isSharp = eventually {
                problem = problem ?? self.problem(with: view.frame(), look, isSharp: false)
                return problem != nil || view.frame().missingTileCount == 0
            }
            problem = problem ?? self.problem(with: view.frame(), look, isSharp: isSharp)
            if let problem { return problem }
            if !isSharp { return "\(view.frame().missingTileCount) tiles do not come: \(cache.statistics)" }
            if cache.statistics.memory.pinnedTiles < pinned { return "a pinned tile went" }
        }
        return nil
    }

    /// Lowers the limit to the tables and a few tiles. A frame may be held.
    private func lowerLimit() -> String? {
        var held = some.holds ? view.frame() : nil
        let slot = some.layers.indices.map { index in
            (some.layers[index].world.levels.indices.map {
                contents[index].byteCount(TileCoordinate(level: $0, column: 0, row: 0))
            }.max()! + 4095) & ~4095
        }.max()!
        let limit = cache.statistics.memory.bookkeeping.bytes + some.tilesLeft * slot
        cache.byteLimit = .bytes(limit)
        for look in some.views {
            view.update(look.viewport)
            if let problem = problem(with: view.frame(), look, isSharp: false) { return problem }
        }
        if let frame = held, let problem = problem(with: frame, nil, isSharp: false) { return problem }
        held = nil
        let isReached = eventually {
            view.update(some.views[0].viewport)
            _ = view.frame()
            return cache.statistics.memory.used.bytes <= limit
        }
        return isReached ? nil : "\(cache.statistics.memory.used.bytes) bytes are in use, the limit is \(limit)"
    }

    /// After the end of all loads no byte is lost.
    private func ending() -> String? {
        var now = cache.statistics
        var delivered = 0
        // Prefetches may start between two readings; with nothing in flight both count the same loads.
        let agrees = eventually {
            delivered = contents.reduce(0) { $0 + $1.deliveredBytes }
            now = cache.statistics
            let isWhole = now.loads.outdated == 0 && now.loads.refused == 0 && now.synthesis.tiles == 0
            return now.loadsInFlight == 0 && (!isWhole || now.loads.bytes.bytes == delivered)
        }
        guard now.loadsInFlight == 0 else { return "loads do not end" }
        if !agrees { return "\(now.loads.bytes.bytes) bytes landed, not \(delivered)" }
        if cache.counters.limitBreaches > 0 { return "the limit was broken" }
        return now.contradictions.first
    }

    // MARK: - Frames

    private func problem(with frame: TileFrame, _ look: NaiveView?, isSharp: Bool) -> String? {
        for placement in frame {
            let content = contents[placement.tile.identity.layer.index]
            if let problem = content.problem(with: placement.tile) ?? misplacement(of: placement, content) {
                return problem
            }
        }
        let now = cache.statistics
        if let problem = now.contradictions.first ?? contents.lazy.compactMap(\.problem).first { return problem }
        guard isSharp, let look else { return nil }
        for index in layers.indices {
            if let problem = gap(in: frame, index, look) { return problem }
        }
        return nil
    }

    /// Both ends of the drawn part are at the tile's pixels in the world.
    private func misplacement(of placement: TilePlacement, _ content: RandomContent) -> String? {
        let tile = placement.tile.identity.tile
        let level = content.world.levels[tile.level]
        let (drawn, part) = (placement.worldRectangle, placement.tileRectangle)
        let left = level.originX + Double(tile.column) * level.spanX
        let top = level.originY + Double(tile.row) * level.spanY
        func x(_ pixel: Double) -> Double { left + (pixel - Double(level.border)) * level.perPixel }
        func y(_ pixel: Double) -> Double { top + (pixel - Double(level.border)) * level.perPixel }
        let copies = content.world.wraps ? ((drawn.minX - x(part.minX)) / content.world.width).rounded() : 0
        let offset = copies * content.world.width
        let errors = [
            drawn.minX - x(part.minX) - offset, drawn.maxX - x(part.maxX) - offset, drawn.minY - y(part.minY),
            drawn.maxY - y(part.maxY),
        ]
        let width = Double(level.tileWidth + level.border) + 1e-6
        let height = Double(level.tileHeight + level.border) + 1e-6
        let border = Double(level.border) - 1e-6
        let isInside = part.minX >= border && part.minY >= border && part.maxX <= width && part.maxY <= height
        return isInside && errors.allSatisfy({ abs($0) < 1e-6 }) ? nil : "\(part) of \(tile) is drawn at \(drawn)"
    }

    /// A point at which its own tile is not drawn though nothing is missing.
    private func gap(in frame: TileFrame, _ layer: Int, _ look: NaiveView) -> String? {
        let world = contents[layer].world
        let own = frame.filter { $0.tile.identity.layer == layers[layer].id }
        // If a share is too small, the needed tiles are of a coarser level: that of the drawn ones.
        guard view.shortfall.bytes == 0 else { return nil }
        let scene = PainterTests.Scene(world: world, view: look, drawable: [])
        let drawable = Set(world.tiles(scene.level))
        for point in look.points(8) {
            guard let expected = scene.clearlyPainted(point, drawable)?.painted,
                !contents[layer].isAbsent(TileCoordinate(expected.tile))
            else { continue }
            let isDrawn = own.contains {
                $0.worldRectangle.holds(point.x, point.y) && NaiveTile($0.tile.identity.tile) == expected.tile
            }
            if !isDrawn { return "layer \(layer): \(expected.tile) is not drawn at \(point)" }
        }
        return nil
    }
}
