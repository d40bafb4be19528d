import PanTraces
import TileCache

/// Positions of a trace, and the time of gaps between them in which the view moved.
///
/// A replay moves the view evenly through such a gap, which is slower and steadier than a person's movement.
struct SampleGaps: Hashable, Sendable {
    /// Nanoseconds from which on a gap counts: a stroke and its pause fit into it.
    static let least: Int64 = 500_000_000
    /// Part of the view's size, or of its scale, from which on a step is a movement. The first step after a rest is less.
    /// Turns alone do not count.
    static let leastStep = 1.0 / 16

    /// Positions, nanoseconds of all such gaps, and the longest one.
    struct Sum: Hashable, Sendable {
        var samples = 0
        var glided: Int64 = 0
        var longest: Int64 = 0
    }

    private var sum = Sum()
    /// The sum before the last position.
    private var before = Sum()
    private let viewport: PanTraceHeader.Size
    private var last: PanTraceSample?

    init(viewport: PanTraceHeader.Size) { self.viewport = viewport }

    mutating func note(_ sample: PanTraceSample) {
        before = sum
        sum.samples += 1
        defer { last = sample }
        guard let last, sample.time - last.time > Self.least, isGlide(from: last, to: sample) else { return }
        sum.glided += sample.time - last.time
        sum.longest = max(sum.longest, sample.time - last.time)
    }

    /// The sum up to the last frame, in nanoseconds. A replay that ended in a gap has read the position behind: such a gap
    /// does not count.
    func sum(upTo end: Int64) -> Sum { last.map { $0.time - end > Self.least } == true ? before : sum }

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
