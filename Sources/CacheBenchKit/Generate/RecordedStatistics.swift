/// Statistics of recorded human movements, which generated ones match.
///
/// A stroke is motion between pauses of at least 150 ms whose ends are at least 30 px apart; see
/// `PanTraceStatistics` of the tests for the other definitions. The recordings are not part of this package.
package struct RecordedStatistics: Hashable, Sendable {
    /// Median duration of strokes, in seconds.
    package var strokeSeconds: Double
    /// Median length of strokes from end to end, in screen pixels.
    package var strokePixels: Double
    /// 90th percentile of the length of strokes, in screen pixels.
    package var strokePixels90: Double
    package var movingShare: Double
    /// Fraction of strokes that reverse: more than 120 degrees from the one before.
    package var reversedShare: Double
    /// Fraction of strokes that continue: within 60 degrees of the one before.
    package var sameShare: Double
    /// Zooms per minute; `nil` if the recordings do not show it.
    package var zoomsPerMinute: Double?

    /// Maps dragged with a mouse and zoomed with its wheel.
    package static let map = RecordedStatistics(
        strokeSeconds: 0.40,
        strokePixels: 166,
        strokePixels90: 362,
        movingShare: 0.15,
        reversedShare: 0.27,
        sameShare: 0.54,
        zoomsPerMinute: 11.5
    )

    /// Other content dragged with a mouse at work. It was not zoomed there; slides are zoomed as maps are.
    package static let mouse = RecordedStatistics(
        strokeSeconds: 0.40,
        strokePixels: 147,
        strokePixels90: 387,
        movingShare: 0.19,
        reversedShare: 0.22,
        sameShare: 0.59,
        zoomsPerMinute: 11.5
    )

    /// Touch screens. Strokes include deceleration after the release, and fingers that wander without a pause.
    package static let touch = RecordedStatistics(
        strokeSeconds: 3.25,
        strokePixels: 486,
        strokePixels90: 1851,
        movingShare: 0.64,
        reversedShare: 0.08,
        sameShare: 0.83,
        zoomsPerMinute: nil
    )
}
