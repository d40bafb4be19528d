import TileCache

/// Neuroglancer's rule: prefetches by a normal distribution of the velocity.
///
/// A tile is prefetched if the probability that it is needed within two seconds is at least 0.05, in each of the four
/// directions by itself. Constants are Neuroglancer's (`src/util/velocity_estimation.ts`, `src/sliceview/backend.ts`):
/// half-life 50 ms for the velocity, 1000 ms for its mean and variance, at most 32 tiles in a direction, none above 0.1
/// pixels a millisecond.
struct GaussianPolicy: PrefetchPolicy {
    static let velocityHalfLife = 50.0
    static let momentsHalfLife = 1000.0
    static let horizon = 2000.0
    static let leastProbability = 0.05
    static let maximumTiles = 32
    static let maximumSpeed = 0.1

    /// One axis: velocity in world pixels a millisecond, its mean and its variance.
    private struct Axis {
        var velocity = 0.0
        var mean = 0.0
        var variance = 0.0

        mutating func add(_ sample: Double, velocityShare: Double, momentsShare: Double) {
            velocity += (sample - velocity) * velocityShare
            mean += (velocity - mean) * momentsShare
            variance += ((velocity - mean) * (velocity - mean) - variance) * momentsShare
        }
    }

    private var x = Axis()
    private var y = Axis()
    private var last: (time: Int64, center: WorldPoint)?

    mutating func observe(_ frame: FrameObservation) {
        defer { last = (frame.time, frame.viewport.center) }
        guard let last, frame.time > last.time else { return }
        let span = Double(frame.time - last.time) / 1e6
        let velocityShare = 1 - PortableMath.exp2(-span / Self.velocityHalfLife)
        let momentsShare = 1 - PortableMath.exp2(-span / Self.momentsHalfLife)
        let center = frame.viewport.center
        x.add((center.x - last.center.x) / span, velocityShare: velocityShare, momentsShare: momentsShare)
        y.add((center.y - last.center.y) / span, velocityShare: velocityShare, momentsShare: momentsShare)
    }

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        let speed = (x.velocity * x.velocity + y.velocity * y.velocity).squareRoot() * target.viewport.scale
        guard speed <= Self.maximumSpeed else { return }
        let level = target.pyramid.levels[target.level]
        let view = target.rectangle
        var near: [PlanEntry] = []
        func add(_ rectangle: PixelRect, _ probability: Double) {
            target.forEachTile(at: target.level, in: rectangle) {
                near.append(PlanEntry(key: $0, value: Float(probability), reason: .prefetch))
            }
        }
        let (x, y) = (0.01 * level.tileSpanX, 0.01 * level.tileSpanY)
        walk(self.x, from: view.minX, to: view.maxX, span: level.tileSpanX) {
            add(PixelRect(minX: $0 - x, minY: view.minY, maxX: $0 + x, maxY: view.maxY), $1)
        }
        walk(self.y, from: view.minY, to: view.maxY, span: level.tileSpanY) {
            add(PixelRect(minX: view.minX, minY: $0 - y, maxX: view.maxX, maxY: $0 + y), $1)
        }
        wishes.entries += near.stablySorted { -$0.value }
    }

    /// Calls `body` with the middle and probability of need of each row of tiles. Rows go outwards from both edges.
    private func walk(
        _ axis: Axis,
        from low: Double,
        to high: Double,
        span: Double,
        _ body: (Double, Double) -> Void
    ) {
        let mean = axis.mean * Self.horizon
        let deviation = max(axis.variance, 1e-18).squareRoot() * Self.horizon
        for direction in [-1.0, 1.0] {
            for step in 1...Self.maximumTiles {
                let edge =
                    direction > 0
                    ? ((high / span).rounded(.down) + Double(step)) * span - high
                    : low - ((low / span).rounded(.up) - Double(step) + 1) * span
                let distance = max(edge, 0)
                let probability = Self.upperTail((distance - direction * mean) / deviation)
                if probability < Self.leastProbability { break }
                body(direction > 0 ? high + distance + 0.5 * span : low - distance - 0.5 * span, probability)
            }
        }
    }

    /// Probability that a standard normal number exceeds `z`, within 7.5e-8, by portable arithmetic. Zelen and Severo's
    /// approximation (Abramowitz and Stegun 26.2.17).
    static func upperTail(_ z: Double) -> Double {
        let t = 1 / (1 + 0.2316419 * abs(z))
        let series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
        let tail = PortableMath.exp(-z * z / 2) * 0.3989422804014327 * series
        return z >= 0 ? tail : 1 - tail
    }
}
