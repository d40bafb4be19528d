import TileCache

/// One tile around the viewport, row by row, as most tile viewers prefetch.
struct RingPolicy: PrefetchPolicy {
    var validity: WishValidity { [.onceRested, .whileStill] }
    mutating func observe(_ frame: FrameObservation) {}

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        target.wish(at: target.level, in: target.ring, &wishes)
    }
}

/// The level four coarser under the viewport, before the needed tiles. MapLibre Native's `prefetchZoomDelta` of 4.
struct Zoom4Policy: PrefetchPolicy {
    var goesFirst: Bool { true }
    var validity: WishValidity { [.onceRested, .whileStill] }
    mutating func observe(_ frame: FrameObservation) {}

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        target.wish(at: max(target.level - 4, 0), in: target.rectangle, &wishes)
    }
}

/// Viewports of the last frames, from one frame before a window on.
private struct RecentViewports: Sendable {
    let window: Int
    private(set) var frames: [(time: Int64, viewport: TileViewport)] = []

    /// Whether none of them differs.
    var isStill: Bool { frames.allSatisfy { $0.viewport == frames[0].viewport } }

    mutating func take(_ frame: FrameObservation) {
        frames.append((frame.time, frame.viewport))
        if frames.count > window + 1 { frames.removeFirst() }
    }
}

/// Decaying pan velocity, parents, a ring and the children of the middle, in this order.
struct VelocityPolicy: PrefetchPolicy {
    /// Time constant of the decay: 0.3 s has the least error on recorded motion.
    static let decaySeconds = 0.3
    /// Number of frames for the velocity.
    static let window = 6

    private var history = RecentViewports(window: window)

    var validity: WishValidity { history.isStill ? [.onceRested, .whileStill] : .onceRested }

    mutating func observe(_ frame: FrameObservation) { history.take(frame) }

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        let view = target.rectangle
        let velocity = velocity(now: context.now)
        for step in 1...4 where velocity != WorldPoint(x: 0, y: 0) {
            let time = Self.decaySeconds * Double(step) / 4
            target.wish(at: target.level, in: view.offsetBy(x: velocity.x * time, y: velocity.y * time), &wishes)
        }
        if target.level > 0 {
            target.wish(at: target.level - 1, in: view.grown(x: view.width / 2, y: view.height / 2), &wishes)
        }
        target.wish(at: target.level, in: target.ring, &wishes)
        if target.level < target.pyramid.maximumLevel {
            target.wish(at: target.level + 1, in: view.grown(x: -view.width / 4, y: -view.height / 4), &wishes)
        }
    }

    /// World pixels a second over the last frames; 0 after zooms, jumps and pauses.
    private func velocity(now: Int64) -> WorldPoint {
        let history = history.frames
        guard let first = history.first, let last = history.last, last.time > first.time,
            now - last.time < 100_000_000
        else { return WorldPoint(x: 0, y: 0) }
        for (a, b) in zip(history, history.dropFirst()) {
            let moved = max(
                abs(b.viewport.center.x - a.viewport.center.x) / b.viewport.width,
                abs(b.viewport.center.y - a.viewport.center.y) / b.viewport.height
            )
            if a.viewport.scale != b.viewport.scale || moved * b.viewport.scale > 0.5 { return WorldPoint(x: 0, y: 0) }
        }
        let seconds = Double(last.time - first.time) / 1e9
        return WorldPoint(
            x: (last.viewport.center.x - first.viewport.center.x) / seconds,
            y: (last.viewport.center.y - first.viewport.center.y) / seconds
        )
    }
}

/// Chromium's skewport: extrapolates each edge for 0.2 s, at most 2000 screen pixels.
///
/// A border of 312 pixels or 15 % of the longer side is added. Nearest tiles first.
struct SkewportPolicy: PrefetchPolicy {
    static let targetSeconds = 0.2
    static let limitPixels = 2000.0
    static let borderPixels = 312.0
    static let borderShare = 0.15
    /// Chromium uses the frame before the last one.
    static let window = 2

    private var history = RecentViewports(window: window)

    var validity: WishValidity { history.isStill ? [.onceRested, .whileStill] : .onceRested }

    mutating func observe(_ frame: FrameObservation) { history.take(frame) }

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        let view = target.rectangle
        var skewed = view
        if let first = history.frames.first, context.now > first.time {
            let old = first.viewport.uprightRectangle
            let factor = Self.targetSeconds / (Double(context.now - first.time) / 1e9)
            let limit = Self.limitPixels / target.viewport.scale
            func ahead(_ edge: Double, _ before: Double) -> Double {
                edge + min(max((edge - before) * factor, -limit), limit)
            }
            skewed = PixelRect(
                minX: min(view.minX, ahead(view.minX, old.minX)),
                minY: min(view.minY, ahead(view.minY, old.minY)),
                maxX: max(view.maxX, ahead(view.maxX, old.maxX)),
                maxY: max(view.maxY, ahead(view.maxY, old.maxY))
            )
        }
        let longer = max(target.viewport.width, target.viewport.height)
        let border = min(Self.borderPixels, Self.borderShare * longer) / target.viewport.scale
        appendNearestFirst(in: skewed, target: target, to: &wishes)
        appendNearestFirst(in: view.grown(x: border, y: border), target: target, to: &wishes)
    }

    private func appendNearestFirst(in rectangle: PixelRect, target: PlanTarget, to wishes: inout Wishes) {
        let view = target.rectangle
        var tiles: [(key: TileKey, distance: Double)] = []
        let period = target.pyramid.wrapsX ? target.pyramid.worldWidth : 0
        target.forEachTile(at: target.level, in: rectangle) { key in
            var tile = target.pyramid.worldRectangle(of: key.coordinate)
            if period > 0 {
                let copies = ((view.minX + view.maxX - tile.minX - tile.maxX) / 2 / period).rounded()
                tile = tile.offsetBy(x: copies * period, y: 0)
            }
            let x = max(view.minX - tile.maxX, tile.minX - view.maxX, 0)
            let y = max(view.minY - tile.maxY, tile.minY - view.maxY, 0)
            tiles.append((key, x + y))
        }
        for tile in tiles.stablySorted(by: \.distance) {
            wishes.entries.append(PlanEntry(key: tile.key, value: 1, reason: .prefetch))
        }
    }
}

extension PlanTarget {
    /// The viewport and one tile around it.
    fileprivate var ring: PixelRect {
        let level = pyramid.levels[level]
        return rectangle.grown(x: level.tileSpanX, y: level.tileSpanY)
    }

    fileprivate func wish(at level: Int, in rectangle: PixelRect, _ wishes: inout Wishes) {
        appendWishes(at: level, in: rectangle, value: 1, to: &wishes)
    }
}

extension Sequence {
    /// Sorted by a number; elements of equal ones keep their order.
    func stablySorted<Number: Comparable>(by number: (Element) -> Number) -> [Element] {
        enumerated().map { (number($0.element), $0.offset, $0.element) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }
}
