/// A zoom that takes its time: what is seen of the content changes from one rectangle to another.
///
/// The edges of the rectangle go straight from where they were to where they will be, so that nothing comes into view
/// that neither the beginning nor the end shows.
struct ZoomAnimation: Sendable {
    /// How long it takes, in nanoseconds.
    static let duration: Int64 = 200_000_000

    private let start: Int64
    private let limits: ScrollLimits
    private let from: (offset: ScrollVector, scale: Double)
    /// How far the beginning was beyond the edge, which wears off.
    private let excess: ScrollVector
    let endOffset: ScrollVector
    let endScale: Double
    /// When it ends, in nanoseconds.
    var end: Int64 { start + Self.duration }

    init(
        from offset: ScrollVector,
        scale: Double,
        to endOffset: ScrollVector,
        scale endScale: Double,
        limits: ScrollLimits,
        at time: Int64
    ) {
        start = time
        self.limits = limits
        let legal = limits.clamped(offset, at: scale)
        from = (legal, scale)
        excess = offset - legal
        self.endOffset = endOffset
        self.endScale = endScale
    }

    func state(at time: Int64) -> (offset: ScrollVector, scale: Double) {
        guard time < end else { return (endOffset, endScale) }
        let part = Self.eased(Double(max(0, time - start)) / Double(Self.duration))
        let scale = 1 / (1 / from.scale + (1 / endScale - 1 / from.scale) * part)
        let begin = from.offset * (1 / from.scale)
        let corner = begin + (endOffset * (1 / endScale) - begin) * part
        let beyond = ScrollVector(
            x: remaining(excess.x, part, limits.horizontal(at: scale)),
            y: remaining(excess.y, part, limits.vertical(at: scale))
        )
        return (limits.clamped(corner * scale, at: scale) + beyond, scale)
    }

    /// Never more than the content could be moved: what cannot be moved is where it belongs at every moment.
    private func remaining(_ excess: Double, _ part: Double, _ range: ClosedRange<Double>) -> Double {
        let room = limits.alwaysBounces ? .infinity : range.upperBound - range.lowerBound
        return (excess * (1 - part)).clamped(to: -room...room)
    }

    /// Starts and ends softly; from 0 to 1.
    static func eased(_ part: Double) -> Double { part * part * (3 - 2 * part) }
}
