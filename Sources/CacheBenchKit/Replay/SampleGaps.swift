import PanTraces
import TileCache

/// Positions of a trace, and the time of gaps between them in which the view moved.
///
/// A replay moves the view evenly through such a gap, which is slower and steadier than a person's movement.
struct SampleGaps: Hashable, Sendable {
    /// Nanoseconds from which on a gap counts: a stroke and its pause fit into it.
    static let least: Int64 = 500_000_000
    /// Part of the view's size, or of an octave, from which on a step is a movement. The first step after a rest is less.
    static let leastStep = 1.0 / 16

    private(set) var samples = 0
    /// Nanoseconds of all such gaps.
    private(set) var glided: Int64 = 0
    private(set) var longest: Int64 = 0
    private let viewport: PanTraceHeader.Size
    private var last: PanTraceSample?

    init(viewport: PanTraceHeader.Size) { self.viewport = viewport }

    mutating func note(_ sample: PanTraceSample) {
        samples += 1
        defer { last = sample }
        guard let last, sample.time - last.time > Self.least, isGlide(from: last, to: sample) else { return }
        glided += sample.time - last.time
        longest = max(longest, sample.time - last.time)
    }

    /// Whether the view moves evenly from one sample to the next: farther than a small step, and not by a jump.
    private func isGlide(from: PanTraceSample, to: PanTraceSample) -> Bool {
        let scale = max(from.scale, to.scale)
        let (dx, dy) = (
            (to.center.x - from.center.x).magnitude * scale, (to.center.y - from.center.y).magnitude * scale
        )
        let isStep =
            dx > viewport.width * Self.leastStep || dy > viewport.height * Self.leastStep
            || scale / min(from.scale, to.scale) > 1 + Self.leastStep
        return isStep && !PanInterpolation(from: from, to: to, viewport: viewport).isJump
    }
}
