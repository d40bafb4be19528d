import Foundation
import TestSupport
import Testing

@testable import TileCache

/// A view does not collect a range of tiles again that it has. Random sessions, against views that always do.
@Suite struct ViewRangeTests {
    /// - Parameter isGranted: Whether tables do not count. Otherwise some needed tiles have no memory at times.
    @Test(arguments: [false, true]) func aKeptRangeChangesNothing(isGranted: Bool) throws {
        var (kept, keptWhileShort, turned, truncated) = (0, 0, 0, 0)
        for seed in 0..<4 {
            let session = try RangeSession(seed: UInt64(seed), grantsBookkeeping: isGranted)
            for step in 0..<600 {
                let name = session.operate()
                if let problem = session.problem() {
                    Issue.record("seed \(seed), step \(step), \(name): \(problem)")
                    return
                }
            }
            kept += session.kept
            keptWhileShort += session.keptWhileShort
            turned += session.turned
            truncated += session.truncated
        }
        // All of these have to occur.
        #expect(kept > 40 && keptWhileShort > 0 && turned > 0)
        #expect((truncated > 0) == !isGranted)
    }
}

/// Two equal scenes. In one of them, the ranges of layers are forgotten before each call.
private final class RangeSession {
    /// Views over one pool.
    private final class Scene {
        let small: TilePool
        var views: [ViewModel]

        init(views: [ViewModel], grantsBookkeeping: Bool) {
            self.views = views
            small = TilePool(tiles: RangeSession.mostTiles) { $0.grantsBookkeeping = grantsBookkeeping }
            for _ in 1..<RangeSession.layerCount { _ = small.pool.addLayer(tileBytes: TilePool.tileBytes) }
        }
    }

    private static let mostTiles = 2000
    private static let layerCount = 3
    private static let sizes: [(width: Double, height: Double)] = [(256, 192), (300, 250), (1280, 1280)]

    private var random: SplitMix64
    private let scenes: [Scene]
    /// By layer: of powers of two, the same wrapping, and an odd one.
    private let pyramids: [TilePyramid]
    private var viewports = Array(repeating: ServiceSetup.viewport(900, 900), count: 2)
    /// Frames that moved and kept a range; of these, those with a coarser level for lack of room; turned frames; frames
    /// without memory for all needed tiles.
    private(set) var (kept, keptWhileShort, turned, truncated) = (0, 0, 0, 0)

    init(seed: UInt64, grantsBookkeeping: Bool) throws {
        var dice = NaiveDice(seed: seed + 700)
        var odd = dice.paintedWorld()
        odd.wraps = false
        let pyramids = try [ServiceSetup.pyramid(), ServiceSetup.pyramid(wraps: true), odd.pyramid()]
        self.pyramids = pyramids
        random = SplitMix64(seed: seed)
        scenes = (0..<2).map { _ in
            let views = [true, seed % 4 == 3].map { fitsBudget in
                ViewModel(
                    layers: [0, 2].map { ViewLayer(id: LayerID($0), pyramid: pyramids[$0]) },
                    selection: TileLevelSelection(hysteresis: seed % 3 == 0 ? 0.3 : 0),
                    fitsBudget: fitsBudget
                )
            }
            return Scene(views: views, grantsBookkeeping: grantsBookkeeping)
        }
    }

    /// Calls one view of each scene.
    private func act(_ view: Int, _ body: (inout ViewModel, inout PoolState, _ now: Int64) -> Void) {
        for index in scenes[1].views[view].layers.indices { scenes[1].views[view].layers[index].range = nil }
        for scene in scenes {
            let now = scene.small.now
            body(&scene.views[view], &scene.small.pool, now)
            scene.small.pool.finishDecommits(scene.small.pool.takePendingDecommits())
        }
    }

    /// Does something; returns what.
    func operate() -> String {
        for scene in scenes { scene.small.now += 16_000_000 }
        let view = random.below(2)
        switch random.below(30) {
        case 0:
            let list = ownList(view)
            act(view) { $0.update(list, now: $2, pool: &$1) }
            return "own list of view \(view)"
        case 1:
            let layers = pyramids.indices.shuffled(using: &random).prefix(random.below(Self.layerCount + 1))
            let new = layers.map { (id: LayerID($0), pyramid: pyramids[$0]) }
            act(view) { $0.setLayers(new, now: $2, pool: &$1) }
            return "layers \(Array(layers)) of view \(view)"
        case 2...3:
            let tiles = random.element(of: [5, 10, 25, 40, 100, 400, Self.mostTiles])
            for scene in scenes { scene.small.pool.setByteLimit(tiles * TilePool.tileBytes) }
            for view in 0..<2 { act(view) { $0.refit(now: $2, pool: &$1) } }
            return "limit of \(tiles) tiles"
        case 4:
            act(view) { $0.refit(now: $2, pool: &$1) }
            return "refit of view \(view)"
        case 5:
            let bias = random.element(of: [0, 0, 0.5, 1])
            act(view) { _ = $0.setLevelBias(bias, now: $2, pool: &$1) }
            return "bias of view \(view)"
        case 6:
            act(view) { view, _, now in view.rest(at: now) }
            return "rest of view \(view)"
        case 7...9:
            load(view)
            return "loads for view \(view)"
        default:
            move(view)
            return "\(viewports[view]) of view \(view)"
        }
    }

    private func ownList(_ view: Int) -> NeededList {
        let layers = scenes[0].views[view].layers
        let list = layers.flatMap { layer in
            (0..<random.below(12)).map { _ in
                let level = random.below(layer.pyramid.levels.count)
                let tile = TileCoordinate(level: level, column: random.below(4), row: random.below(4))
                return NeededTile(layer: layer.id, tile: tile, importance: Float(random.below(3)))
            }
        }
        return NeededList(list, pyramids: Dictionary(layers.map { ($0.id, $0.pyramid) }) { first, _ in first })
    }

    /// Loads some needed tiles; a few do not exist.
    private func load(_ view: Int) {
        let most = random.below(40)
        for scene in scenes {
            let small = scene.small
            small.install(scene.views[view].layers.flatMap { $0.needs.tiles.prefix(most).map(small.demand) })
            while let ticket = small.beginLoad() {
                small.end(ticket, ticket.key.hash.isMultiple(of: 7) ? .absent : .pixels)
            }
        }
    }

    private func move(_ view: Int) {
        var next = viewports[view]
        switch random.below(20) {
        case 0...1: next.rotation = random.oneIn(3) ? random.next(from: -3, to: 3) : 0
        case 2...4: next.scale = min(max(next.scale * pow(2, random.next(from: -1, to: 1)), 1 / 64), 2)
        case 5: next.center = WorldPoint(x: random.next(from: -400, to: 4500), y: random.next(from: -400, to: 4500))
        // Over the odd pyramid, which is smaller.
        case 6: next.center = WorldPoint(x: random.next(from: -100, to: 900), y: random.next(from: -100, to: 900))
        case 7: (next.width, next.height) = random.element(of: Self.sizes)
        case 8: break
        default:
            next.center.x += random.next(from: -6, to: 6) / next.scale
            next.center.y += random.next(from: -6, to: 6) / next.scale
        }
        // Viewports that cannot be drawn are ignored.
        if random.oneIn(30) { next.width = .nan } else { viewports[view] = next }
        let before = scenes[0].views[view].layers.map(\.range)
        act(view) { _ = $0.update(next, now: $2, pool: &$1) }
        let model = scenes[0].views[view]
        let isKept = zip(before, model.layers).contains { $0 != nil && $0 == $1.range && !$1.needs.tiles.isEmpty }
        if isKept, model.hasMoved, next.isDrawable {
            kept += 1
            if model.shortfallBytes > 0 { keptWhileShort += 1 }
        }
        if next.rotation != 0 { turned += 1 }
        if model.isTruncated { truncated += 1 }
    }

    /// What differs between the scenes, or is not what the viewport shows.
    func problem() -> String? {
        for view in 0..<2 {
            let model = scenes[0].views[view]
            if ViewDecisions(model) != ViewDecisions(scenes[1].views[view]) { return "view \(view) decides otherwise" }
            guard let viewport = model.viewport, !model.isTruncated else { continue }
            for layer in model.layers where layer.needs.hasBegun {
                let tiles = layer.pyramid.neededTiles(under: viewport, at: layer.needs.level)
                let isShown = layer.needs.tiles.elementsEqual(tiles.lazy.map { TileKey(layer: layer.layer, $0) })
                if !isShown { return "view \(view) needs other tiles of layer \(layer.layer)" }
            }
        }
        let pools = scenes.map(\.small)
        guard pools[0].counters == pools[1].counters, pools[0].committedBytes == pools[1].committedBytes,
            pools[0].pool.needVersion == pools[1].pool.needVersion,
            pools[0].pool.demandClock == pools[1].pool.demandClock
        else { return "the pools differ" }
        return nil
    }
}
