/// What was measured of people's recorded movements: the figures that generated ones follow.
///
/// A stroke is motion between pauses of at least 150 ms whose ends lie at least 30 px apart; see ``PanTraceStatistics`` for
/// the other definitions. The recordings themselves are not part of this package.
package struct RecordedStatistics: Hashable, Sendable {
    /// The median of the strokes' durations, in seconds.
    package var strokeSeconds: Double
    /// The median of the strokes' lengths from end to end, in screen pixels.
    package var strokePixels: Double
    /// The 90th percentile of the strokes' lengths, in screen pixels.
    package var strokePixels90: Double
    /// The median of the speeds while something moves, in screen pixels per second.
    package var speed: Double
    /// The 90th percentile of the speeds while something moves, in screen pixels per second.
    package var speed90: Double
    /// The share of the time in which something moves.
    package var movingShare: Double
    /// The share of strokes that turn back: more than 120 degrees away from the one before.
    package var reversedShare: Double
    /// The share of strokes that go on in the direction of the one before, within 60 degrees.
    package var sameShare: Double
    /// Zooms in a minute; `nil` where the recordings say nothing of use about them.
    package var zoomsPerMinute: Double?

    /// Maps that are dragged with a mouse and zoomed with its wheel.
    package static let map = RecordedStatistics(
        strokeSeconds: 0.40,
        strokePixels: 166,
        strokePixels90: 362,
        speed: 231,
        speed90: 1184,
        movingShare: 0.15,
        reversedShare: 0.27,
        sameShare: 0.54,
        zoomsPerMinute: 11.5
    )

    /// Whatever is dragged with a mouse at work. Nothing was zoomed there; slides are zoomed as maps are.
    package static let mouse = RecordedStatistics(
        strokeSeconds: 0.40,
        strokePixels: 147,
        strokePixels90: 387,
        speed: 220,
        speed90: 1270,
        movingShare: 0.19,
        reversedShare: 0.22,
        sameShare: 0.59,
        zoomsPerMinute: 11.5
    )

    /// Touch screens. Strokes include what the content goes on by itself, and fingers that wander without a pause.
    package static let touch = RecordedStatistics(
        strokeSeconds: 3.25,
        strokePixels: 486,
        strokePixels90: 1851,
        speed: 255,
        speed90: 1855,
        movingShare: 0.64,
        reversedShare: 0.08,
        sameShare: 0.83,
        zoomsPerMinute: nil
    )
}
