/// Motion of a view: pan velocity, zoom rate, direction and last zoom, in screen pixels.
struct MotionEstimate: Sendable {
    /// Time over which the velocity is measured, in seconds. Five frames at 60 Hz, and more than the gaps between
    /// events of a mouse.
    static let window = 0.0845
    /// Time over which the velocity of an accelerating view is measured, in seconds: two frames.
    static let startWindow = 0.034
    /// Minimum speed of a moving view, in pixels a second. A third of a pixel per frame.
    static let leastSpeed = 20.0
    /// Seconds without a frame after which a view counts as at rest.
    static let staleAfter = 0.1
    /// Length of the path that `heading` remembers, in pixels.
    static let headingMemory = 120.0
    /// Minimum length of a heading with a direction, in pixels.
    static let leastHeading = 8.0
    /// Pixels of panning after which a zoom is over.
    static let panAfterZoom = 40.0
    /// Way of a pan, in widths and heights of the view together, after which a view stays on its level: at first; more for
    /// each zoom that follows a pan, less the way of that pan; and the maximum. People who zoom between pans do so again.
    /// A page that was zoomed once to be read tells nothing of that.
    static let settling = (first: 0.5, perZoom: 4.0, most: 16.0)
    /// Change of scale within a frame that restarts the measurement.
    static let zoomStep = 1.2

    private struct Sample {
        var time: Double
        var x: Double
        var y: Double
        var scale: Double
        /// The viewport's own x; `x` continues across the seam of a wrapping world.
        var placedX: Double
    }

    /// What is known of a zoom: the last one, or how soon one in progress reaches a level.
    enum ZoomContext: Int, Sendable {
        case never, inward, outward, inwardThenPanned, outwardThenPanned
        /// The view was panned so far since that it stays on its level, as a page does that is zoomed once and read.
        case settled
        /// A zoom in progress reaches the level within half of its travel, the whole, or twice.
        case imminent, expected, possible
    }

    private var samples: [Sample] = []
    private var level = -1
    private var panned = 0.0
    /// Way of the present pan after which the view stays on its level, in widths and heights of the view together.
    private var patience = settling.first
    /// Width and height of the view together, in screen pixels.
    private var extent = Double.infinity
    /// Whether the view was panned at one scale since its level changed: fingers that pinch move too.
    private var isPan = false
    private var lastZoom = 0

    /// Velocity of the centre, in pixels a second.
    private(set) var velocity = WorldPoint(x: 0, y: 0)
    /// Velocity over two frames if that is faster: a stroke that has just begun.
    private(set) var startVelocity = WorldPoint(x: 0, y: 0)
    /// Speed at which zooming moves the right and bottom edges, in pixels a second. It is relative to the centre.
    private(set) var spread = WorldPoint(x: 0, y: 0)
    /// Sum of recent movements, at most `headingMemory` long.
    private(set) var heading = WorldPoint(x: 0, y: 0)
    /// Zoom, if it is followed.
    private(set) var zoom = ZoomEstimate()
    /// Whether zooms in progress and their fixed points are followed.
    private let followsZoom: Bool
    private(set) var isMoving = false
    /// Speed of the pans so far.
    private(set) var pace = PanPace()
    /// Whether the last frame changed `heading`.
    private var hasTurned = false

    init(followsZoom: Bool = true) { self.followsZoom = followsZoom }

    /// Whether a further frame of the same viewport would change only the time.
    var isStill: Bool {
        guard !isMoving, !hasTurned, samples.count > 1, let last = samples.last else { return false }
        return samples.allSatisfy { $0.x == last.x && $0.y == last.y && $0.scale == last.scale }
    }

    /// Time of the last frame, in seconds.
    var time: Double { samples.last?.time ?? 0 }

    var zoomContext: ZoomContext {
        let hasPanned = panned > Self.panAfterZoom
        if lastZoom == 0 { return .never }
        if panned > patience * extent { return .settled }
        return lastZoom > 0 ? (hasPanned ? .inwardThenPanned : .inward) : (hasPanned ? .outwardThenPanned : .outward)
    }

    /// Takes in a frame.
    mutating func observe(_ viewport: TileViewport, box: PixelRect, level newLevel: Int, time: Double, period: Double) {
        let scale = viewport.scale
        let size = WorldPoint(x: box.width * scale, y: box.height * scale)
        var sample = Sample(
            time: time,
            x: viewport.center.x,
            y: viewport.center.y,
            scale: scale,
            placedX: viewport.center.x
        )
        if let last = samples.last {
            // Beyond the seam, rounding errors would never be rest.
            var x = viewport.center.x == last.placedX ? 0 : viewport.center.x - last.x
            // The short way around a wrapping world.
            if period > 0 { x -= (x / period).rounded() * period }
            sample.x = last.x + x
            let way = WorldPoint(x: x * scale, y: (viewport.center.y - last.y) * scale)
            let isZoom = !(scale <= last.scale * Self.zoomStep && scale >= last.scale / Self.zoomStep)
            let isJump = !(abs(way.x) <= size.x / 2 && abs(way.y) <= size.y / 2)
            var fixedPoint: WorldPoint?
            // A level may change without a zoom, by a bias or for lack of room.
            if followsZoom, newLevel != level, scale != last.scale {
                let point = Self.fixedPoint(from: isZoom ? last : samples[0], to: sample)
                if abs(point.x) <= size.x / 2, abs(point.y) <= size.y / 2 { fixedPoint = point }
            }
            if isJump || isZoom {
                samples.removeAll(keepingCapacity: true)
                if isJump, !isZoom {
                    heading = WorldPoint(x: 0, y: 0)
                    zoom.forgetOffset()
                }
                sample.x = viewport.center.x
            } else {
                isPan = isPan || (scale == last.scale && way != WorldPoint(x: 0, y: 0))
                turn(by: followsZoom ? Self.panned(way, scaledBy: scale / last.scale, size) : way)
            }
            if newLevel != level {
                lastZoom = newLevel > level ? 1 : -1
                zoom.noteLevel(offset: fixedPoint, isGradual: followsZoom && !isZoom && scale != last.scale)
                endPan(byZoom: scale != last.scale)
            } else if panned > Self.panAfterZoom {
                zoom.forgetOffset()
            }
        }
        (level, extent) = (newLevel, size.x + size.y)
        // The renderer's times need not increase: what it showed at later ones says nothing about the velocity.
        if let last = samples.last, last.time > time { samples.removeAll(keepingCapacity: true) }
        // One frame before the window may stay: rare frames need it for the velocity.
        while samples.count > 1, time - samples[1].time > Self.window || samples.count >= 64 { samples.removeFirst() }
        let last = samples.last
        samples.append(sample)
        measure(size)
        if let last {
            let (x, y) = ((sample.x - last.x) * scale, (sample.y - last.y) * scale)
            pace.note(
                way: (x * x + y * y).squareRoot(),
                speed: (velocity.x * velocity.x + velocity.y * velocity.y).squareRoot()
            )
        }
    }

    /// Offset of the point of the world that stays in place on the screen from the centre of the later view, in screen
    /// pixels. Not finite if the scale is the same.
    private static func fixedPoint(from first: Sample, to last: Sample) -> WorldPoint {
        let factor = last.scale / (last.scale / first.scale - 1)
        return WorldPoint(x: (last.x - first.x) * factor, y: (last.y - first.y) * factor)
    }

    /// The part of a movement beyond what a zoom about a point of the view can cause.
    private static func panned(_ way: WorldPoint, scaledBy factor: Double, _ size: WorldPoint) -> WorldPoint {
        guard factor != 1 else { return way }
        func rest(_ way: Double, _ size: Double) -> Double {
            let zoomed = abs(1 - factor) * size / 2
            return way > 0 ? max(way - zoomed, 0) : min(way + zoomed, 0)
        }
        return WorldPoint(x: rest(way.x, size.x), y: rest(way.y, size.y))
    }

    /// The level changes: a view that is zoomed after a pan is likely to be zoomed after the next one too.
    ///
    /// - Parameter byZoom: Whether the scale changes. A level may change by a bias or for lack of room.
    private mutating func endPan(byZoom: Bool) {
        if byZoom, isPan, panned > Self.panAfterZoom {
            patience = min(max(patience - panned / extent, 0) + Self.settling.perZoom, Self.settling.most)
        }
        (panned, isPan) = (0, false)
    }

    private mutating func turn(by way: WorldPoint) {
        let before = heading
        heading.x += way.x
        heading.y += way.y
        let length = (heading.x * heading.x + heading.y * heading.y).squareRoot()
        if length > Self.headingMemory {
            heading.x *= Self.headingMemory / length
            heading.y *= Self.headingMemory / length
        }
        panned += abs(way.x) + abs(way.y)
        hasTurned = way != WorldPoint(x: 0, y: 0) || heading != before
    }

    /// Measures a stroke that has just begun. Its mean over the window would include the rest before it.
    private mutating func measureStart(_ span: Double) {
        let last = samples[samples.count - 1]
        guard span > Self.startWindow,
            // Times are rounded, so two frames may be a little shorter than the window.
            let start = samples.last(where: { last.time - $0.time >= Self.startWindow - 0.002 })
        else { return }
        let time = last.time - start.time
        let x = (last.x - start.x) * last.scale / time
        let y = (last.y - start.y) * last.scale / time
        if x * x + y * y > velocity.x * velocity.x + velocity.y * velocity.y { startVelocity = WorldPoint(x: x, y: y) }
    }

    private mutating func measure(_ size: WorldPoint) {
        velocity = WorldPoint(x: 0, y: 0)
        spread = WorldPoint(x: 0, y: 0)
        startVelocity = velocity
        zoom.end()
        let last = samples[samples.count - 1]
        var first = samples[0]
        if samples.count > 2, last.time - first.time > Self.window { first = samples[1] }
        let span = last.time - first.time
        if span > 0 {
            velocity.x = (last.x - first.x) * last.scale / span
            velocity.y = (last.y - first.y) * last.scale / span
            startVelocity = velocity
            measureStart(span)
            if first.scale != last.scale {
                let rate = (1 - last.scale / first.scale) / span / 2
                spread = WorldPoint(x: rate * size.x, y: rate * size.y)
                if followsZoom {
                    zoom.setSpeed(
                        PortableMath.log2(last.scale / first.scale) / span,
                        offset: Self.fixedPoint(from: first, to: last).clamped(to: size)
                    )
                }
            }
        }
        let x = abs(velocity.x) + abs(spread.x)
        let y = abs(velocity.y) + abs(spread.y)
        isMoving = x * x + y * y > Self.leastSpeed * Self.leastSpeed && (x + y).isFinite
    }
}

extension WorldPoint {
    /// The nearest point of a rectangle about the origin; the origin if a coordinate is not finite.
    fileprivate func clamped(to size: WorldPoint) -> WorldPoint {
        guard x.isFinite, y.isFinite else { return WorldPoint(x: 0, y: 0) }
        return WorldPoint(x: min(max(x, -size.x / 2), size.x / 2), y: min(max(y, -size.y / 2), size.y / 2))
    }
}

/// Travel of a view's edges while its motion decays. Finds the tiles that they reach and leave.
struct EdgeTravel: Sendable {
    /// Time constant of the decay, in seconds. A shorter one is overtaken by long strokes. A longer one loads what most
    /// strokes never reach.
    static let decay = 0.25

    /// Duration that a new stroke is extrapolated for, in seconds. Its first frames do not tell its length: most
    /// strokes last longer than this, and many end soon after.
    static let startTravel = 0.15

    /// View, in world pixels.
    var view: PixelRect
    var scale: Double
    /// Remaining travel of each edge, in screen pixels to the right and downwards. 0 at rest.
    var left = 0.0
    var right = 0.0
    var top = 0.0
    var bottom = 0.0
    var isMoving = false
    /// Time constant in use, in seconds.
    let decay: Double

    /// - Parameters:
    ///   - motion: `nil` counts as at rest.
    ///   - decay: Time constant, in seconds. Default: 0.25.
    init(view: PixelRect, scale: Double, motion: MotionEstimate?, now: Double, decay: Double = Self.decay) {
        self.view = view
        self.scale = scale
        self.decay = decay
        guard let motion, motion.isMoving, now - motion.time < MotionEstimate.staleAfter else { return }
        isMoving = true
        func way(_ steady: Double, _ start: Double, _ spread: Double) -> Double {
            let (long, short) = ((steady + spread) * decay, (start + spread) * Self.startTravel)
            return abs(short) > abs(long) ? short : long
        }
        left = way(motion.velocity.x, motion.startVelocity.x, -motion.spread.x)
        right = way(motion.velocity.x, motion.startVelocity.x, motion.spread.x)
        top = way(motion.velocity.y, motion.startVelocity.y, -motion.spread.y)
        bottom = way(motion.velocity.y, motion.startVelocity.y, motion.spread.y)
    }

    /// Maximum difference of an edge's travel from another one's, in screen pixels.
    func change(from other: EdgeTravel) -> Double {
        max(
            max(abs(left - other.left), abs(right - other.right)),
            max(abs(top - other.top), abs(bottom - other.bottom))
        )
    }

    /// Travel of the left and the right edge.
    var across: AxisTravel { AxisTravel(from: view.minX, to: view.maxX, scale: scale, first: left, last: right) }
    /// Travel of the upper and the lower edge.
    var down: AxisTravel { AxisTravel(from: view.minY, to: view.maxY, scale: scale, first: top, last: bottom) }

    /// Seconds until this fraction of the travel is done. Approximates -decay ln(1 - share) by a rational function,
    /// exact to the second order at 0 and within 4 % up to 0.8. Infinite from 0.95 on.
    func time(forShare share: Double) -> Double {
        share < 0.95 ? decay * share * (6 - share) / (6 - 4 * share) : .infinity
    }
}

/// Travel of two opposite edges of a view, and the columns or rows of tiles that they reach and leave.
struct AxisTravel {
    /// Edges, in world pixels.
    let from: Double
    let to: Double
    /// Screen pixels per world pixel.
    let scale: Double
    /// Remaining travel of each edge, in screen pixels.
    let first: Double
    let last: Double

    /// A column or row of tiles, relative to the view.
    struct Place {
        /// Signed distance from the view in screen pixels, and one more: a tile that touches the view is not in it. 0 in
        /// the view.
        var gap: Double
        /// Distance from the view, in screen pixels.
        var distance: Double
        /// Fraction of the travel after which it is reached; negative if it never is.
        var entry: Double
        /// Fraction of the travel after which it is out of view. Huge if it never is.
        var exit: Double
    }

    /// Place of a column or row with these bounds, in world pixels.
    func place(from low: Double, to high: Double) -> Place {
        let gap = low >= to ? (low - to) * scale + 1 : high <= from ? (high - from) * scale - 1 : 0
        var entry = 0.0
        if gap != 0 {
            let way = gap > 0 ? last : first
            entry = way * gap > 0 ? gap / way : -1
        }
        return Place(gap: gap, distance: max(abs(gap) - 1, 0), entry: entry, exit: exit(from: low, to: high))
    }

    /// Fraction of the travel after which a column or row is out of view. Huge if it never is.
    func exit(from low: Double, to high: Double) -> Double {
        var share = 1e9
        if first > 0 { share = min(share, (high - from) * scale / first) }
        if last < 0 { share = min(share, (to - low) * scale / -last) }
        return share
    }
}
