/// Movement of content without fingers: a fling, a spring from an edge, or both. Each direction is independent.
///
/// It is known entirely at its start.
struct ScrollMotion: Sendable {
    private let start: Int64
    private let horizontal: Axis
    private let vertical: Axis

    /// Offset at the end.
    var endOffset: ScrollVector { ScrollVector(x: horizontal.target, y: vertical.target) }
    /// Time of the end, in nanoseconds.
    var end: Int64 { start + Int64((max(horizontal.duration, vertical.duration) * 1e9).rounded(.up)) }

    /// Releases content; `nil` if it stays in place.
    ///
    /// - Parameters:
    ///   - offset: Visible offset, in screen pixels.
    ///   - velocity: Velocity of the offset, in screen pixels per second.
    ///   - limits: Legal offsets at rest.
    ///   - scale: In screen pixels per content unit.
    ///   - rate: `nil` if content stops when it is released.
    ///   - time: In nanoseconds.
    init?(
        from offset: ScrollVector,
        velocity: ScrollVector,
        limits: ScrollLimits,
        scale: Double,
        rate: ScrollDeceleration.Rate?,
        at time: Int64
    ) {
        let (columns, rows) = (limits.horizontal(at: scale), limits.vertical(at: scale))
        let speed = ScrollVector(
            x: rate != nil && limits.moves(columns) ? velocity.x : 0,
            y: rate != nil && limits.moves(rows) ? velocity.y : 0
        )
        let glide = ScrollDeceleration(from: offset, velocity: speed, rate: rate ?? .normal)
        start = time
        horizontal = Axis(glide, .horizontal, from: offset.x, velocity: speed.x, within: columns)
        vertical = Axis(glide, .vertical, from: offset.y, velocity: speed.y, within: rows)
        if max(horizontal.duration, vertical.duration) <= 0, endOffset == offset { return nil }
    }

    /// Moves content to a place by springs.
    init?(from offset: ScrollVector, to target: ScrollVector, velocity: ScrollVector, at time: Int64) {
        if offset == target, velocity.length < 1 { return nil }
        start = time
        horizontal = Axis(Spring(from: offset.x, to: target.x, velocity: velocity.x))
        vertical = Axis(Spring(from: offset.y, to: target.y, velocity: velocity.y))
    }

    func offset(at time: Int64) -> ScrollVector {
        let seconds = Double(max(0, time - start)) / 1e9
        return ScrollVector(x: horizontal.position(after: seconds), y: vertical.position(after: seconds))
    }

    /// One direction: first thrown, then sprung.
    private struct Axis: Sendable {
        private var glide: (motion: ScrollDeceleration, part: ScrollVector.Part)?
        private var glideEnd = 0.0
        private var spring: Spring?
        let target: Double
        let duration: Double

        init(_ spring: Spring) {
            self.spring = spring
            (target, duration) = (spring.target, spring.duration)
        }

        init(
            _ motion: ScrollDeceleration,
            _ part: ScrollVector.Part,
            from start: Double,
            velocity: Double,
            within range: ClosedRange<Double>
        ) {
            guard range.contains(start) else {
                let spring = Spring(from: start, to: start.clamped(to: range), velocity: velocity)
                self.spring = spring
                (target, duration) = (spring.target, spring.duration)
                return
            }
            glide = (motion, part)
            let natural = motion.end[part]
            let edge = natural.clamped(to: range)
            guard edge != natural, let crossing = motion.time(toReach: edge, along: part) else {
                target = edge
                duration = velocity == 0 ? 0 : motion.duration
                glideEnd = duration
                return
            }
            let speed = motion.velocity(after: crossing)[part]
            let spring = Spring(from: edge, to: edge, velocity: speed)
            self.spring = spring
            (target, glideEnd, duration) = (edge, crossing, crossing + spring.duration)
        }

        func position(after seconds: Double) -> Double {
            if seconds >= duration { return target }
            if let spring, seconds >= glideEnd { return spring.position(after: seconds - glideEnd) }
            return glide.map { $0.motion.offset(after: seconds)[$0.part] } ?? target
        }
    }
}
