import Foundation
import TileCache

/// A thread that uses the cache: draws decisions from its dice and performs them.
struct StressThread {
    private struct Looker {
        var view: TileView
        var center = WorldPoint(x: 1000, y: 1000)
        var octaves = -2.0
        var rotation = 0.0
        var width = 256.0
        var height = 192.0

        var viewport: TileViewport {
            var scale = 1.0
            for _ in 0..<Int(-octaves) { scale /= 2 }
            scale *= 1 - (-octaves - Double(Int(-octaves))) / 2
            return TileViewport(center: center, width: width, height: height, scale: scale, rotation: rotation)
        }
    }

    let run: StressRun
    private var dice: StressDice
    private var lookers: [Looker] = []
    private(set) var holds: StressHolds
    private let queue: DispatchQueue
    private var fetches: [TileFetch] = []
    /// Digest of all decisions: equal runs have equal ones.
    private(set) var digest: UInt64 = 0
    private var decisions = 0

    init(run: StressRun, number: Int) {
        self.run = run
        dice = StressDice(seed: run.options.seed, thread: number)
        holds = StressHolds(findings: run.findings)
        queue = DispatchQueue(label: "stress.callbacks.\(number)")
    }

    mutating func work() {
        while !run.isOver, decisions != run.options.decisions {
            let action = dice.next()
            decisions += 1
            digest = SplitMix64.mixed(digest ^ action.a ^ UInt64(action.operation.weight))
            perform(action)
            run.operations.add(action.operation)
        }
        lookers.removeAll()
        fetches.removeAll()
    }

    private mutating func perform(_ action: StressAction) {
        let (a, b, c) = (action.a, action.b, action.c)
        switch action.operation {
        case .pan:
            draw(a) {
                $0.center.x += (b.unit - 0.5) * 200
                $0.center.y += (c.unit - 0.5) * 200
            }
        case .jump:
            // Usually one of a few places, so that cold tiles there are needed again.
            draw(a) { $0.center = Self.place(b) }
        case .zoom:
            draw(a) {
                $0.octaves = min(max($0.octaves + (b.unit - 0.5) * 3, -7), 0)
                if c % 4 == 0 { $0.rotation = c.unit * 6 }
            }
        case .look:
            if a % 4 == 0 { run.look(at: run.sharedView(b)) } else { draw(a) { _ in } }
        case .need: need(a, b, c)
        case .refuse: refuse(a, b)
        case .hold:
            holds.check(b.below(max(holds.count, 1)))
            hold(a, c)
        case .release: holds.release(a.below(max(holds.count, 1)))
        case .invalidateLayer: run.invalidate(a, StressHistory.Change(keepsStale: b & 1 == 0))
        case .invalidateRegion:
            // Near the views, since otherwise loads would rarely be overtaken.
            let middle = Self.place(c)
            let (x, y) = ((a.unit * 900 + 1) / 2, (b.unit * 500 + 1) / 2)
            let region = PixelRect(minX: middle.x - x, minY: middle.y - y, maxX: middle.x + x, maxY: middle.y + y)
            run.invalidate(a, StressHistory.Change(region: region, keepsStale: b & 1 == 0))
        case .limit: run.setLimit(quarters: [1, 2, 3, 3, 4, 4][a.below(6)])
        case .trim: run.cache.trim(to: .bytes(a.below(run.options.byteLimit)))
        case .pressure: run.note(pressure: [.normal, .normal, .warning, .critical][a.below(4)])
        case .floor: run.pin(a, b)
        case .unfloor: run.unpin(a)
        case .makeView: makeView(a)
        case .endView: if lookers.count > 1 { lookers.remove(at: a.below(lookers.count)) }
        case .addLayer: run.addLayer(a)
        case .removeLayer: run.removeLayer(a)
        case .setLayers: run.setLayers(a)
        case .prefetch:
            run.prefetch(a, b)
            // The oldest one ends with its last reference, pending or not.
            if fetches.count >= 8 { fetches.remove(at: 0) }
            fetches.append(run.fetch(a, b, on: queue))
        case .borrow: run.borrow(a, b, c)
        case .ask: run.ask(a, b)
        case .rest: usleep(UInt32(a % 3000))
        }
    }

    // MARK: - Views

    /// A place in the world: three times of four one of a few.
    private static func place(_ draw: UInt64) -> WorldPoint {
        let bits = draw % 4 == 0 ? draw : SplitMix64.mixed((draw >> 8) % 6)
        return WorldPoint(x: bits.unit * 4096, y: SplitMix64.mixed(bits).unit * 4096)
    }

    private mutating func makeView(_ a: UInt64) {
        if lookers.count >= 4 { lookers.remove(at: 0) }
        let view = run.makeView(a)
        view.callbackQueue = queue
        view.onTilesReady = { [run, weak view] in run.callback(of: view, a) }
        var looker = Looker(view: view)
        if a >> 20 % 8 == 0 { (looker.width, looker.height) = (700, 500) }
        lookers.append(looker)
    }

    /// Number of one of the views, of which there is at least one.
    private mutating func pick(_ a: UInt64) -> Int {
        if lookers.isEmpty { makeView(a) }
        return a.below(lookers.count)
    }

    private mutating func draw(_ a: UInt64, _ move: (inout Looker) -> Void) {
        let number = pick(a)
        move(&lookers[number])
        // At most a world away, so that tiles are visible.
        lookers[number].center.x = min(max(lookers[number].center.x, -100), 4196)
        lookers[number].center.y = min(max(lookers[number].center.y, -100), 4196)
        let view = a >> 40 % 16 == 0 ? run.sharedView(a) : lookers[number].view
        let destination =
            a >> 50 % 8 == 0
            ? ViewportDestination(
                viewport: TileViewport(center: WorldPoint(x: a.unit * 4096, y: 2000), width: 256, height: 192),
                time: MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds + 300_000_000)
            ) : nil
        run.timed { view.update(lookers[number].viewport, destination: destination) }
        run.look(at: view)
    }

    private mutating func need(_ a: UInt64, _ b: UInt64, _ c: UInt64) {
        let view = lookers[pick(a)].view
        let count = 1 + b.below(12)
        let level = c.below(8)
        let tiles = (0..<count).map { index in
            NeededTile(
                layer: run.layer(a).id,
                tile: TileCoordinate(level: level, column: index + b.below(1 << level) - 1, row: c.below(1 << level)),
                importance: index == 3 ? .nan : Float(index)
            )
        }
        run.timed { view.update(needing: tiles) }
        run.look(at: view)
    }

    private mutating func refuse(_ a: UInt64, _ b: UInt64) {
        let numbers = [0, -1, .nan, .infinity, 1e-300, 1e300, 1e12, 256]
        let looker = lookers[pick(a)]
        var viewport = looker.viewport
        viewport.width = numbers[(a >> 8).below(8)]
        viewport.scale = numbers[(a >> 16).below(8)]
        viewport.center.x = numbers[(b >> 8).below(8)]
        run.timed { looker.view.update(viewport, at: MonotonicTime(nanoseconds: Int64(bitPattern: b))) }
        run.look(at: looker.view)
    }

    private mutating func hold(_ a: UInt64, _ c: UInt64) {
        guard !lookers.isEmpty else { return }
        let frame = run.look(at: lookers[a.below(lookers.count)].view)
        guard !frame.isEmpty else { return }
        holds.take(frame[c.below(frame.count)].tile)
    }
}
