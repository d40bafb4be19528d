import TileCache

/// Random numbers with the distributions of human movements.
extension SplitMix64 {
    mutating func chance(_ share: Double) -> Bool { nextUnit() < share }

    /// Standard normal number, by the Box-Muller transform.
    mutating func normal() -> Double {
        let radius = (-2 * 0.6931471805599453 * PortableMath.log2(1 - nextUnit())).squareRoot()
        return radius * PortableMath.cos(2 * Double.pi * nextUnit())
    }

    /// Log-normal number with a median and a spread: the standard deviation of the logarithm.
    mutating func logNormal(median: Double, spread: Double) -> Double {
        median * PortableMath.exp(spread * normal())
    }

    /// Spread of the log-normal distribution with a median and a 90th percentile. The latter is 1.2816 standard
    /// deviations above.
    static func spread(median: Double, percentile90: Double) -> Double {
        PortableMath.log2(percentile90 / median) * 0.6931471805599453 / 1.2815515655446004
    }
}
