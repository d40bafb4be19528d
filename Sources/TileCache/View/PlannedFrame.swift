/// Movement of a view from one frame to the next.
struct FrameStep: Hashable, Sendable {
    /// Way of the centre, in screen pixels.
    private(set) var (x, y) = (0.0, 0.0)
    /// Whether the scale, the size or the rotation changed, too.
    private(set) var isZoom = false

    /// No movement.
    init() {}

    init(from before: TileViewport, to now: TileViewport) {
        x = (now.center.x - before.center.x) * now.scale
        y = (now.center.y - before.center.y) * now.scale
        var moved = before
        moved.center = now.center
        isZoom = moved != now
    }

    /// Sum of both ways, without their directions.
    var length: Double { abs(x) + abs(y) }

    func difference(from other: FrameStep) -> Double { abs(x - other.x) + abs(y - other.y) }
}

/// The frame of a view that its newest plan is for.
///
/// While the view goes on like this, a new plan would start no load, or some a few frames earlier.
struct PlannedFrame: Sendable {
    /// Maximum age, in nanoseconds: six frames at 60 Hz. Later, tiles that could wait have to begin.
    static let maximumAge: Int64 = 100_000_000
    /// Maximum way of the view since, in screen pixels: an eighth of a usual tile. A fast view is beyond what its plan
    /// was for before the plan is old.
    static let maximumWay = 32.0
    /// Maximum difference of the step between two frames, relative to the planned one. Small ones are noise of a
    /// hand and its events; a larger one is a turn or an end.
    static let maximumDifference = 0.5
    /// Least maximum of the difference, in screen pixels: for slow views.
    static let leastDifference = 2.0

    let viewport: TileViewport
    let step: FrameStep
    /// Version of the needed tiles.
    let needsVersion: UInt64
    let time: Int64

    /// Whether a later frame goes on like this one. A zoom does not, nor does the start of a movement.
    func holds(for viewport: TileViewport, _ step: FrameStep, needsVersion: UInt64, now: Int64) -> Bool {
        guard needsVersion == self.needsVersion, now >= time, now - time < Self.maximumAge else { return false }
        if viewport == self.viewport { return step == FrameStep() && self.step == FrameStep() }
        let way = FrameStep(from: self.viewport, to: viewport)
        return self.step.length > 0 && !self.step.isZoom && !way.isZoom
            && max(abs(way.x), abs(way.y)) <= Self.maximumWay
            && step.difference(from: self.step)
                <= max(Self.leastDifference, Self.maximumDifference * self.step.length)
    }
}
