import TileCache

/// Resistance of content pulled beyond its edge. Less and less per pixel, never a whole view.
enum RubberBand {
    /// Visible fraction of a short pull.
    static let stiffness = 0.55

    /// Distance at which content is shown beyond its edge.
    ///
    /// - Parameters:
    ///   - pull: Distance that the finger has pulled it, 0 or more.
    ///   - dimension: Size of the view, which is never reached.
    static func shown(_ pull: Double, _ dimension: Double) -> Double {
        guard pull < .infinity else { return dimension }
        return (1 - 1 / (pull * stiffness / dimension + 1)) * dimension
    }

    /// Pull of a finger that shows content at this distance. The inverse of ``shown(_:_:)``.
    static func pulled(_ shown: Double, _ dimension: Double) -> Double {
        // A throw may go beyond a whole view, and a finger may not: any large value will do.
        let share = min(shown / dimension, 0.999)
        return (1 / (1 - share) - 1) * dimension / stiffness
    }
}

/// Critically damped return of content released beyond its edge.
struct Spring: Hashable, Sendable {
    /// Angular frequency of the spring, per second.
    static let frequency = 10.0
    /// Content closer to its edge than this, in screen pixels, is at rest.
    static let restDistance = 0.1

    let target: Double
    private let displacement: Double
    private let push: Double
    /// Duration in seconds.
    let duration: Double

    /// - Parameters:
    ///   - start: Position of the content, in screen pixels.
    ///   - target: Final position, in screen pixels.
    ///   - velocity: In screen pixels per second.
    init(from start: Double, to target: Double, velocity: Double) {
        self.target = target
        displacement = start - target
        push = velocity + Self.frequency * displacement
        // x = (d + p t) e^(-f t). Both terms are below half of the rest distance after these times.
        let first = 2 * displacement.magnitude / Self.restDistance
        let second = 4 * push.magnitude / (2.718281828459045 * Self.frequency * Self.restDistance)
        let ln2 = 0.6931471805599453
        let times = [
            first > 1 ? PortableMath.log2(first) * ln2 / Self.frequency : 0,
            second > 1 ? 2 * PortableMath.log2(second) * ln2 / Self.frequency : 0,
        ]
        duration = max(times[0], times[1])
    }

    func position(after seconds: Double) -> Double {
        guard seconds < duration else { return target }
        return target + (displacement + push * seconds) * PortableMath.exp(-Self.frequency * seconds)
    }
}
