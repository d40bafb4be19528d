import TileCache
import TileScroll

/// Generates a person's gestures as timed events: strokes and zooms, with pauses between them.
struct GestureHand: Sendable {
    /// Interval between events of fingers and mice, in nanoseconds. 8.4 ms on the recorded touch screens.
    static let eventInterval: Int64 = 8_000_000
    /// Spread of the durations of mouse strokes. It brings the speeds' 90th percentile within a quarter of the recorded
    /// one.
    private static let strokeTimeSpread = 0.45
    /// A stroke is visible some 10 to 15 ms longer than the hand moves. It ends with the frame after it.
    private static let handShare = 0.93
    /// Fraction of touch gestures that are pinches. The recordings have only small ones, some three a minute, one in
    /// five gestures.
    private static let pinchShare = 0.2
    /// Fraction of touch strokes that are flings; the others wander without a pause. Chosen with the figures of
    /// ``wander`` and ``fling`` so that strokes and speeds of a session have the recorded medians and 90th percentiles.
    private static let flingShare = 0.25

    private let preset: GesturePreset
    private let view: ScrollSize
    private let recorded: RecordedStatistics
    private var dice: SplitMix64
    private var way: ScrollVector
    private var nextFinger = 0

    init(preset: GesturePreset, view: ScrollSize, seed: UInt64) {
        self.preset = preset
        self.view = view
        recorded = preset.statistics
        dice = SplitMix64(seed: seed)
        way = ScrollVector(x: 1, y: 0)
        rotate(dice.next(from: 0, to: 2 * Double.pi))
    }

    /// Events of the next stroke or zoom. They start from the time and state at which the view came to rest.
    mutating func next(from time: Int64, _ state: ScrollState, world: ScrollSize) -> [GestureEvent] {
        let start = time + pause()
        if dice.chance(zoomShare) { return zoom(at: start, state, world) }
        turn(state, world)
        return preset.isTouch ? touchStroke(at: start) : mouseStroke(at: start)
    }

    // MARK: When

    /// Fraction of gestures that zoom: the recorded number per minute over all gestures. The moving share and the
    /// strokes' mean duration determine the number of strokes.
    private var zoomShare: Double {
        guard preset.zooming != .none else { return 0 }
        guard let zooms = recorded.zoomsPerMinute else { return Self.pinchShare }
        return zooms / (zooms + strokesPerMinute)
    }

    private var strokesPerMinute: Double {
        // The mean of a log-normal distribution is e^(spread^2 / 2) times its median.
        let spread = Self.strokeTimeSpread
        return 60 * recorded.movingShare / (recorded.strokeSeconds * PortableMath.exp(spread * spread / 2))
    }

    /// Log-normal, around the mean that strokes and zooms leave of a minute. Between strokes on maps half of the
    /// recorded pauses were below 1.5 s and a tenth beyond 6 s; elsewhere they vary less.
    private mutating func pause() -> Int64 {
        let zooms = recorded.zoomsPerMinute ?? 0
        let mean =
            preset.isTouch
            ? (1 - zoomShare) * recorded.strokeSeconds * (1 - recorded.movingShare) / recorded.movingShare
            : 60 * (1 - recorded.movingShare) / (strokesPerMinute + zooms)
        let spread = preset == .map ? 0.9 : 0.5
        // Longer than the shortest pause that ends a stroke. A mean of 1 has this median.
        let factor = dice.logNormal(median: PortableMath.exp(-spread * spread / 2), spread: spread)
        return Int64((0.3 + (mean - 0.3) * factor) * 1e9)
    }

    // MARK: Where to

    /// Reverses and continues as often as recorded; turns away from the world's edges.
    private mutating func turn(_ state: ScrollState, _ world: ScrollSize) {
        let kind = dice.nextUnit()
        let little = dice.next(from: -0.9, to: 0.9)
        if kind < recorded.sameShare {
            rotate(little)
        } else if kind < recorded.sameShare + recorded.reversedShare {
            rotate(Double.pi + little)
        } else {
            rotate((dice.chance(0.5) ? 1 : -1) * dice.next(from: 1.2, to: 1.95))
        }
        let reach = recorded.strokePixels90
        let center = state.viewport.center
        func flips(_ way: Double, _ place: Double, _ size: Double, _ view: Double) -> Bool {
            let room = (way > 0 ? size - place : place) * state.scale - view / 2
            let other = (way > 0 ? place : size - place) * state.scale - view / 2
            return room < reach && other > room
        }
        if flips(way.x, center.x, world.width, view.width) { way.x = -way.x }
        if flips(way.y, center.y, world.height, view.height) { way.y = -way.y }
    }

    private mutating func rotate(_ angle: Double) {
        way = way.turned(by: angle)
        way = way * (1 / way.length)
    }

    // MARK: Strokes

    /// A mouse moves smoothly and stops; the content stays in place.
    private mutating func mouseStroke(at start: Int64) -> [GestureEvent] {
        let length = dice.logNormal(
            median: recorded.strokePixels,
            spread: SplitMix64.spread(median: recorded.strokePixels, percentile90: recorded.strokePixels90)
        )
        let seconds = Self.handShare * dice.logNormal(median: recorded.strokeSeconds, spread: Self.strokeTimeSpread)
        let pull = way * -length
        var finger = FingerPath(begin(), from: placeOfHand(), at: start)
        finger.move(seconds: max(0.1, seconds)) { pull * BallisticPath.share(of: $0) }
        finger.leave()
        return finger.events
    }

    private mutating func touchStroke(at start: Int64) -> [GestureEvent] {
        dice.chance(Self.flingShare) ? fling(at: start) : wander(at: start)
    }

    /// The finger accelerates and is lifted; the view moves on.
    private mutating func fling(at start: Int64) -> [GestureEvent] {
        let speed = dice.logNormal(median: 2900, spread: 0.5)
        let seconds = min(dice.next(from: 0.12, to: 0.32), 1.4 * min(view.width, view.height) / speed)
        let pull = way * (-speed * seconds / 2)
        var finger = FingerPath(begin(), from: placeOfHand(), at: start)
        finger.move(seconds: seconds) { pull * ($0 * $0) }
        finger.lift(after: 0)
        return finger.events
    }

    /// The finger wanders for some seconds, with more way in one direction than back.
    private mutating func wander(at start: Int64) -> [GestureEvent] {
        let (screen, total) = (min(view.width, view.height), dice.logNormal(median: 2.3, spread: 0.95))
        let length = min(dice.logNormal(median: 390, spread: 0.5), 0.7 * view.width)
        var (parts, seconds, place): ([(seconds: Double, way: ScrollVector)], Double, ScrollVector) = ([], 0, .zero)
        while seconds < total {
            let part = min(dice.logNormal(median: 0.35, spread: 0.4), total - seconds)
            let reach = min(dice.logNormal(median: 310, spread: 1.35) * part, screen)
            // A random direction; towards the start once it is far away.
            let home = place.length > 0.35 * screen ? place * (-1 / place.length) : nil
            let angle = home == nil ? dice.next(from: 0, to: 2 * Double.pi) : 0.5 * dice.normal()
            let step = (home ?? ScrollVector(x: 1, y: 0)).turned(by: angle) * reach
            parts.append((part, step))
            place = place + step
            seconds += part
        }
        let drift = (way * -length - place) * (1 / seconds)
        var finger = FingerPath(begin(), from: placeOfHand(), at: start)
        for part in parts {
            finger.move(seconds: part.seconds) { part.way * BallisticPath.share(of: $0) + drift * (part.seconds * $0) }
        }
        // The finger rests before it is lifted, so that nothing is thrown.
        finger.lift(after: 0.064)
        return finger.events
    }

    // MARK: Zooms

    private mutating func zoom(at start: Int64, _ state: ScrollState, _ world: ScrollSize) -> [GestureEvent] {
        let place = placeOfHand()
        let isIn = zoomsIn(state, world)
        switch preset.zooming {
        case .none: return []
        // One octave a click, as in the recorded maps.
        case .wheel: return [GestureEvent(time: start, event: .magnify(by: isIn ? 2 : 0.5, about: place))]
        case .doubleTap: return [GestureEvent(time: start, event: .doubleTap(at: place))]
        case .pinch:
            // Small pinches as recorded; in the designs, large enough to show zooming.
            let size =
                preset == .photoSession
                ? dice.logNormal(median: 0.1, spread: 1.2) : dice.next(from: 0.3, to: 1.1)
            let octaves = isIn ? size : -size
            return pinch(at: start, about: place, by: PortableMath.exp2(octaves))
        }
    }

    /// In or out at random, within the bounds of the scale.
    private mutating func zoomsIn(_ state: ScrollState, _ world: ScrollSize) -> Bool {
        switch preset {
        case .pages, .photo:
            let fit = preset == .pages ? 1 : PhotoScroll.scaleBounds(photo: world, view: view).lowerBound
            return state.scale < fit * 1.2
        case .infinite, .plane, .zoom, .map, .photoSession, .slide:
            let isRandomlyIn = dice.chance(0.5)
            if state.scale * 2 > 1 { return false }
            if state.scale / 2 < GesturePreset.leastScale(world: world, view: view) { return true }
            return isRandomlyIn
        }
    }

    private mutating func pinch(at start: Int64, about place: ScrollVector, by factor: Double) -> [GestureEvent] {
        // Fingers start far apart for zooms out, close together for zooms in.
        let near = 0.15 * min(view.width, view.height) / factor.squareRoot()
        let half = ScrollVector(x: near, y: near / 2)
        let seconds = dice.logNormal(median: 0.7, spread: 0.3)
        var one = FingerPath(begin(), from: place - half, at: start)
        one.move(seconds: seconds) { half * ((1 - factor) * BallisticPath.share(of: $0)) }
        one.leave()
        var other = FingerPath(begin(), from: place + half, at: start)
        other.move(seconds: seconds) { half * ((factor - 1) * BallisticPath.share(of: $0)) }
        other.leave()
        return zip(one.events, other.events).flatMap { [$0, $1] }
    }

    private mutating func begin() -> Int {
        nextFinger += 1
        return nextFinger
    }

    private mutating func placeOfHand() -> ScrollVector {
        ScrollVector(x: dice.next(from: 0.3, to: 0.7) * view.width, y: dice.next(from: 0.3, to: 0.7) * view.height)
    }
}

extension ScrollVector {
    fileprivate func turned(by angle: Double) -> ScrollVector {
        let (cosine, sine) = (PortableMath.cos(angle), PortableMath.sin(angle))
        return ScrollVector(x: x * cosine - y * sine, y: x * sine + y * cosine)
    }
}
