/// Knee of a curve. Beyond it more of x pays less than on average over the whole curve.
///
/// It is the point with the largest distance above the chord from the first point to the last, both axes scaled to
/// 0...1: the "Kneedle" of Satopää, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack" (ICDCS Workshops,
/// 2011), without smoothing, as the points are exact. A curve that dips counts as high as it was before.
enum Knee {
    /// Index of the knee.
    ///
    /// - Parameters:
    ///   - points: By increasing x. Of equal distances the smallest x counts.
    ///   - isAllowed: Points that may be the knee. The others still belong to the curve: without its lower end the knee
    ///     would be elsewhere.
    /// - Returns: `nil` for fewer than three points and for a curve that never rises.
    static func index(of points: [(x: Double, y: Double)], where isAllowed: (Int) -> Bool = { _ in true }) -> Int? {
        guard points.count >= 3, let first = points.first, let last = points.last, last.x > first.x else { return nil }
        var highest = first.y
        let heights = points.map { point in
            highest = max(highest, point.y)
            return highest
        }
        guard highest > first.y else { return nil }
        var best = (index: 0, distance: 0.0)
        for (index, point) in points.enumerated() where isAllowed(index) {
            let across = (point.x - first.x) / (last.x - first.x)
            let up = (heights[index] - first.y) / (highest - first.y)
            if up - across > best.distance { best = (index, up - across) }
        }
        return best.distance > 0 ? best.index : nil
    }
}
