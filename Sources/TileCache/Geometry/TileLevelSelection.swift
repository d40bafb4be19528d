/// How a view chooses the level that it draws.
public struct TileLevelSelection: Hashable, Sendable {
    /// Levels coarser than 1:1 that are accepted, in octaves; 0 unless given. 0.5 halves the tiles on average for
    /// pixels that are at most 1.41 times magnified. Negative values ask for finer tiles than the screen can show.
    public var bias: Double
    /// How far, in octaves, the scale may pass a level's bound before the view leaves that level; 0 unless given.
    /// Pinches around a bound then do not flip levels.
    public var hysteresis: Double

    /// A scale within this relative distance above a level's bound still counts as the bound: scales that were a
    /// power of two before somebody's arithmetic should stay one.
    static let tolerance = 1 + 1e-6

    private let biasFactor: Double
    private let hysteresisFactor: Double

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - bias: octaves, -8 to 8; values outside are clamped, and a number that is none counts as 0.
    ///   - hysteresis: octaves, 0 to 1; values outside are clamped, and a number that is none counts as 0.
    public init(bias: Double = 0, hysteresis: Double = 0) {
        self.bias = bias.isNaN ? 0 : min(max(bias, -8), 8)
        self.hysteresis = hysteresis.isNaN ? 0 : min(max(hysteresis, 0), 1)
        biasFactor = self.bias == 0 ? 1 : PortableMath.exp2(-self.bias)
        hysteresisFactor = self.hysteresis == 0 ? 1 : PortableMath.exp2(self.hysteresis)
    }

    /// The coarsest level that is not magnified at a scale; the finest where all would be.
    ///
    /// - Parameters:
    ///   - scale: screen pixels per world pixel.
    ///   - pyramid: the levels to choose from.
    ///   - previous: the level drawn before, which hysteresis favours.
    public func level(for scale: Double, in pyramid: TilePyramid, previous: Int? = nil) -> Int {
        let wanted = scale * biasFactor
        let levels = pyramid.levels
        let maximum = levels.count - 1
        var low = 0
        var high = maximum
        // The magnification falls from level to level, so the first level at or below 1:1 is found by halving.
        while low < high {
            let middle = (low + high) / 2
            if wanted * levels[middle].worldPixelsPerPixel <= Self.tolerance { high = middle } else { low = middle + 1 }
        }
        // Without hysteresis none but the first level is neither too coarse nor too fine.
        guard let previous, levels.indices.contains(previous) else { return low }
        let notTooCoarse =
            previous == maximum
            || wanted * levels[previous].worldPixelsPerPixel <= Self.tolerance * hysteresisFactor
        let notTooFine =
            previous == 0
            || wanted * levels[previous - 1].worldPixelsPerPixel * hysteresisFactor > Self.tolerance
        return notTooCoarse && notTooFine ? previous : low
    }
}
