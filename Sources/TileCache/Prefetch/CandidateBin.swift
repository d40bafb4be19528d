/// Bins of candidates: tiles of one bin are taken to be equally likely to be needed. A bin is an array index.
enum CandidateBin {
    /// Upper bounds of the distances from the view, in screen pixels. Tiles of the first class overlap the view.
    static let distanceBounds = [0.0, 64, 128, 192, 256, 384, 512, 768]
    static let distances = distanceBounds.count + 1

    /// Direction of a tile of the view's level.
    enum Direction: Int {
        case ahead, aside, behind, unknown
    }

    /// Levels of candidates, relative to the view's.
    static let levelSteps = [-3, -2, -1, 1, 2]
    /// Index of the next coarser level.
    static let nextCoarser = 2
    static let zoomContexts = 9

    private static let panCount = 2 * 4 * 4 * distances * 2
    private static let nearCount = panCount + levelSteps.count * zoomContexts * distances * 2
    static let count = nearCount + 2

    /// Class of a distance: the first one whose bound it does not exceed.
    @inline(__always)
    static func distance(_ pixels: Double) -> Int {
        // Without branches, which each tile of a plan would take another way. From 64 on, the bounds are octaves and
        // halves of octaves (all but 96): the class is in the exponent and the highest bit of the fraction. Less 1,
        // since a bound belongs to the class below.
        let bits = Int(truncatingIfNeeded: pixels.bitPattern) &- 1
        let half = bits >> 51 &- 2057
        return bits < 0 ? 0 : min(max(half, half >= 1 ? 2 : 1), distances &- 1)
    }

    /// - Parameter reach: For tiles ahead, when the motion reaches them: 0 within half of its travel, 1 within the
    ///   whole, 2 within twice, 3 beyond.
    static func pan(isMoving: Bool, _ direction: Direction, reach: Int, distance: Int, isSeen: Bool) -> Int {
        // Small numbers: without checks, since every candidate of a plan asks.
        let first = ((isMoving ? 1 : 0) &* 4 &+ direction.rawValue) &* 4 &+ reach
        return (first &* distances &+ distance) &* 2 &+ (isSeen ? 1 : 0)
    }

    /// Factor of the price of a bin without a place, for tiles that can wait.
    static func patience(_ bin: Int) -> Double {
        guard kind(bin) == .pan else { return 1 }
        // Tiles beside and behind a motion, and further ahead than it is likely to reach, are candidates again when it
        // ends. From 4 on, no such tile is loaded at the default effort.
        let moving = pan(isMoving: true, .ahead, reach: 0, distance: 0, isSeen: false)
        if bin >= pan(isMoving: true, .ahead, reach: 3, distance: 0, isSeen: false) { return 4 }
        // A tile around a view at rest that was visited, and evicted since: memory did not hold it, and may not hold it
        // again.
        return bin < moving && bin % 2 == 1 ? 1.25 : 1
    }

    static func zoom(step: Int, _ context: MotionEstimate.ZoomContext, distance: Int, isSeen: Bool) -> Int {
        panCount + ((step * zoomContexts + context.rawValue) * distances + distance) * 2 + (isSeen ? 1 : 0)
    }

    /// A tile anywhere on the view's level that many other sessions viewed.
    static func popular(isSeen: Bool) -> Int { nearCount + (isSeen ? 1 : 0) }

    /// Kinds of candidates.
    enum Kind: Int {
        case pan, zoom, popular
    }

    static let kinds = 3

    /// The kind of a bin without a place.
    static func kind(_ bin: Int) -> Kind { bin < panCount ? .pan : bin < nearCount ? .zoom : .popular }

    // MARK: - Places

    /// Bins with a profile: those without a place, then those of each class of popularity.
    static let placedCount = (1 + PlaceSketch.classes) * count

    /// The bin of a tile whose place has a class of popularity.
    static func placed(_ bin: Int, _ popularity: Int) -> Int { (1 + popularity) * count + bin }

    /// The bin without its place.
    static func unplaced(_ bin: Int) -> Int { bin < count ? bin : bin % count }
}
