/// Bins of candidates: tiles of one bin are taken to be equally likely to be needed. A bin is an array index.
enum CandidateBin {
    /// Upper bounds of the distances from the view, in screen pixels. The first class overlaps it.
    static let distanceBounds = [0.0, 64, 128, 192, 256, 384, 512, 768]
    static let distances = distanceBounds.count + 1

    /// Direction of a tile of the view's level.
    enum Direction: Int {
        case ahead, aside, behind, unknown
    }

    /// Levels of candidates, relative to the view's.
    static let levelSteps = [-3, -2, -1, 1, 2]
    static let zoomContexts = 5

    private static let panCount = 2 * 4 * 4 * distances * 2
    static let count = panCount + levelSteps.count * zoomContexts * distances * 2

    static func distance(_ pixels: Double) -> Int {
        distanceBounds.firstIndex { pixels <= $0 } ?? distances - 1
    }

    /// - Parameter reach: For tiles ahead, when the motion reaches them: 0 within half of its travel, 1 within the
    ///   whole, 2 within twice, 3 beyond.
    static func pan(isMoving: Bool, _ direction: Direction, reach: Int, distance: Int, isSeen: Bool) -> Int {
        let first = ((isMoving ? 1 : 0) * 4 + direction.rawValue) * 4 + reach
        return (first * distances + distance) * 2 + (isSeen ? 1 : 0)
    }

    static func zoom(step: Int, _ context: MotionEstimate.ZoomContext, distance: Int, isSeen: Bool) -> Int {
        panCount + ((step * zoomContexts + context.rawValue) * distances + distance) * 2 + (isSeen ? 1 : 0)
    }
}
