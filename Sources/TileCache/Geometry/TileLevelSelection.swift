/// How a view chooses the level to draw.
public struct TileLevelSelection: Hashable, Sendable {
    /// Coarser levels than 1:1 to accept, in octaves. Default: 0. 0.5 halves the tiles on average, for pixels magnified
    /// at most 1.41 times. Negative values select finer tiles than the screen can show. Clamped to -8...8; NaN counts
    /// as 0.
    public var bias: Double {
        didSet { self = TileLevelSelection(bias: bias, hysteresis: hysteresis) }
    }
    /// Hysteresis in octaves: how far the scale may pass a level's bound. Default: 0. Prevents pinches around a bound
    /// from flipping levels. Clamped to 0...1; NaN counts as 0.
    public var hysteresis: Double {
        didSet { self = TileLevelSelection(bias: bias, hysteresis: hysteresis) }
    }

    /// Relative distance above a level's bound within which a scale counts as the bound. Rounding errors in powers of
    /// two then do not change the level.
    static let tolerance = 1 + 1e-6

    private let biasFactor: Double
    private let hysteresisFactor: Double

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - bias: Octaves, clamped to -8...8; NaN counts as 0.
    ///   - hysteresis: Octaves, clamped to 0...1; NaN counts as 0.
    public init(bias: Double = 0, hysteresis: Double = 0) {
        self.bias = bias.isNaN ? 0 : min(max(bias, -8), 8)
        self.hysteresis = hysteresis.isNaN ? 0 : min(max(hysteresis, 0), 1)
        biasFactor = self.bias == 0 ? 1 : PortableMath.exp2(-self.bias)
        hysteresisFactor = self.hysteresis == 0 ? 1 : PortableMath.exp2(self.hysteresis)
    }

    /// Selects the coarsest level that is not magnified at a scale. The finest level if all would be magnified.
    ///
    /// - Parameters:
    ///   - scale: Screen pixels per world pixel.
    ///   - pyramid: The levels.
    ///   - previous: The level drawn before, which hysteresis favours.
    public func level(for scale: Double, in pyramid: TilePyramid, previous: Int? = nil) -> Int {
        let wanted = scale * biasFactor
        let levels = pyramid.levels
        let maximum = levels.count - 1
        // The first level at or below 1:1: magnification decreases with the level.
        let first = (0..<maximum).partitioningIndex { wanted * levels[$0].worldPixelsPerPixel <= Self.tolerance }
        // Without hysteresis only the first level is neither too coarse nor too fine.
        guard let previous, levels.indices.contains(previous) else { return first }
        let notTooCoarse =
            previous == maximum
            || wanted * levels[previous].worldPixelsPerPixel <= Self.tolerance * hysteresisFactor
        let notTooFine =
            previous == 0
            || wanted * levels[previous - 1].worldPixelsPerPixel * hysteresisFactor > Self.tolerance
        return notTooCoarse && notTooFine ? previous : first
    }

    /// Scale at which a zoom changes between a level and the next finer one.
    func bound(above level: Int, zoomsIn: Bool, in pyramid: TilePyramid) -> Double {
        let bound = 1 / (biasFactor * pyramid.levels[level].worldPixelsPerPixel)
        return zoomsIn ? bound * hysteresisFactor : bound / hysteresisFactor
    }
}
