/// Zoom of a view: its speed, and the point of the screen that it is about.
///
/// People zoom about a pointer, or between two fingers. Many renderers keep that point in place, others move it to the
/// centre. The next zoom's offset from the centre is predicted as a share of the last one's. The share is fitted by
/// least squares.
struct ZoomEstimate: Sendable {
    /// Decay of evidence per change of level.
    static let memory = 0.9
    /// Weight of the prior, which is a zoom about the centre: the square of an offset in screen pixels. A zoom this
    /// far from the centre counts as much as the prior.
    static let priorWeight = 200.0 * 200

    /// Octaves a second while the scale changes; positive if it grows.
    private(set) var speed = 0.0
    /// Offset of the fixed point from the centre of the view in screen pixels, while the scale changes.
    private(set) var offset = WorldPoint(x: 0, y: 0)
    /// Offset of the fixed point when the level changed; `nil` if the view was panned since.
    private var last: WorldPoint?
    /// Whether the scale changed gradually when the level changed, and not in one step.
    private(set) var isGradual = false
    private var products = 0.0
    private var squares = 0.0

    /// Expected offset of the next zoom.
    var nextOffset: WorldPoint {
        guard let last else { return WorldPoint(x: 0, y: 0) }
        let share = min(max(products / (squares + Self.priorWeight), 0), 1)
        return WorldPoint(x: share * last.x, y: share * last.y)
    }

    mutating func setSpeed(_ octaves: Double, offset: WorldPoint) {
        speed = octaves
        self.offset = offset
    }

    /// The scale is constant.
    mutating func end() { speed = 0 }

    /// The view was panned: the next zoom is about another point.
    mutating func forgetOffset() { last = nil }

    /// The level changed.
    ///
    /// - Parameters:
    ///   - offset: Offset of the fixed point; `nil` if none is in the view.
    ///   - isGradual: Whether the scale changed gradually.
    mutating func noteLevel(offset: WorldPoint?, isGradual: Bool) {
        self.isGradual = isGradual
        if let last, let offset {
            let product = Self.memory * products + last.x * offset.x + last.y * offset.y
            let square = Self.memory * squares + last.x * last.x + last.y * last.y
            if product.isFinite, square.isFinite { (products, squares) = (product, square) }
        }
        last = offset
    }
}
