/// An animated zoom: the visible content changes from one rectangle to another.
///
/// The edges of the rectangle move in straight lines, so that nothing is visible that is not visible at the start or
/// the end.
struct ZoomAnimation: Sendable {
    /// Duration in nanoseconds.
    static let duration: Int64 = 200_000_000

    private let start: Int64
    private let limits: ScrollLimits
    private let from: (offset: ScrollVector, scale: Double)
    /// Distance beyond the edge at the start, which decreases to 0.
    private let excess: ScrollVector
    let target: (offset: ScrollVector, scale: Double)
    /// Time of the end, in nanoseconds.
    var end: Int64 { start + Self.duration }

    init(
        from shown: (offset: ScrollVector, scale: Double),
        to target: (offset: ScrollVector, scale: Double),
        limits: ScrollLimits,
        at time: Int64
    ) {
        start = time
        self.limits = limits
        self.target = target
        let legal = limits.clamped(shown.offset, at: shown.scale)
        from = (legal, shown.scale)
        excess = shown.offset - legal
    }

    func state(at time: Int64) -> (offset: ScrollVector, scale: Double) {
        guard time < end else { return target }
        let part = Self.eased(Double(max(0, time - start)) / Double(Self.duration))
        let scale = 1 / (1 / from.scale + (1 / target.scale - 1 / from.scale) * part)
        let begin = from.offset * (1 / from.scale)
        let corner = begin + (target.offset * (1 / target.scale) - begin) * part
        let beyond = ScrollVector(
            x: remaining(excess.x, part, limits.horizontal(at: scale)),
            y: remaining(excess.y, part, limits.vertical(at: scale))
        )
        return (limits.clamped(corner * scale, at: scale) + beyond, scale)
    }

    /// At most the content's room to move. Content that cannot be moved is always in its place.
    private func remaining(_ excess: Double, _ part: Double, _ range: ClosedRange<Double>) -> Double {
        let room = limits.alwaysBounces ? .infinity : range.upperBound - range.lowerBound
        return (excess * (1 - part)).clamped(to: -room...room)
    }

    /// Smoothstep from 0 to 1.
    static func eased(_ part: Double) -> Double { part * part * (3 - 2 * part) }
}
