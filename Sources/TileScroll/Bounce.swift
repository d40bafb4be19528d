import TileCache

/// What content does that is pulled beyond its edge: it follows the finger less and less, never by a whole view.
enum RubberBand {
    /// How much of a short pull is seen.
    static let stiffness = 0.55

    /// How far content is shown beyond its edge.
    ///
    /// - Parameters:
    ///   - pull: how far the finger has pulled it, 0 or more.
    ///   - dimension: what it never reaches: the size of the view.
    static func shown(_ pull: Double, _ dimension: Double) -> Double {
        guard pull < .infinity else { return dimension }
        return (1 - 1 / (pull * stiffness / dimension + 1)) * dimension
    }

    /// How far a finger must pull for content to be shown so far beyond its edge; the inverse of ``shown(_:_:)``.
    static func pulled(_ shown: Double, _ dimension: Double) -> Double {
        // Beyond a whole view, which a thrown view may reach and a finger may not, one is as good as another.
        let share = min(shown / dimension, 0.999)
        return (1 / (1 - share) - 1) * dimension / stiffness
    }
}

/// What content does that is let go beyond its edge: it comes back as fast as can be without swinging.
struct Spring: Hashable, Sendable {
    /// The angular frequency of the critically damped spring, per second.
    static let frequency = 10.0
    /// Content that stays closer to its edge than this, in screen pixels, is there.
    static let restDistance = 0.1

    let target: Double
    private let displacement: Double
    private let push: Double
    /// How long it lasts, in seconds.
    let duration: Double

    /// - Parameters:
    ///   - start: where the content is, in screen pixels.
    ///   - target: where it is to be.
    ///   - velocity: in screen pixels per second.
    init(from start: Double, to target: Double, velocity: Double) {
        self.target = target
        displacement = start - target
        push = velocity + Self.frequency * displacement
        // x = (d + p t) e^(-f t). Both parts are below half of the rest distance from these times on.
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
