import TileCache

/// How content that was thrown slows down: its speed falls by the same part in every millisecond.
///
/// Where it will come to rest and when are known as soon as it is let go.
public struct ScrollDeceleration: Hashable, Sendable {
    /// What is left of the speed after a millisecond.
    public enum Rate: Hashable, Sendable, CaseIterable {
        /// 0.998: lists and maps.
        case normal
        /// 0.99: pages and photos.
        case fast

        /// What is left of the speed after a millisecond.
        public var perMillisecond: Double { self == .normal ? 0.998 : 0.99 }

        /// The same as the exponent of an exponential decay, per second: -1000 ln of it.
        var decay: Double { self == .normal ? 2.0020026706730793 : 10.050335853501442 }
    }

    /// Content that has less way than this before it, in screen pixels, has come to rest.
    static let restDistance = 0.5

    private let start: ScrollVector
    private let reach: ScrollVector
    private let decay: Double
    /// How long it lasts, in seconds; 0 where the speed is too low to begin with.
    public let duration: Double

    /// Lets content go.
    ///
    /// - Parameters:
    ///   - offset: where, in screen pixels.
    ///   - velocity: in screen pixels per second; one that is not finite counts as none.
    ///   - rate: `.normal` unless given.
    public init(from offset: ScrollVector, velocity: ScrollVector, rate: Rate = .normal) {
        let velocity = velocity.isFinite && velocity.length.isFinite ? velocity : .zero
        start = offset
        decay = rate.decay
        reach = velocity * (1 / decay)
        let distance = reach.length
        duration = distance > Self.restDistance ? Self.ln(distance / Self.restDistance) / decay : 0
    }

    /// Where the content is.
    ///
    /// - Parameter seconds: since it was let go; it stays where it is after ``duration``.
    public func offset(after seconds: Double) -> ScrollVector {
        start + reach * (1 - PortableMath.exp(-decay * seconds.clamped(to: 0...duration)))
    }

    /// How fast the content is, in screen pixels per second; nothing after ``duration``.
    public func velocity(after seconds: Double) -> ScrollVector {
        seconds < duration ? reach * (decay * PortableMath.exp(-decay * max(seconds, 0))) : .zero
    }

    /// Where the content comes to rest.
    public var end: ScrollVector { offset(after: duration) }

    /// When one part of the offset reaches a place that lies on the way, in seconds; `nil` where it never does.
    func time(toReach place: Double, along part: ScrollVector.Part) -> Double? {
        let way = place - start[part]
        if way == 0 { return 0 }
        let share = way / reach[part]
        guard share > 0, share < 1 else { return nil }
        let seconds = -Self.ln(1 - share) / decay
        return seconds <= duration ? seconds : nil
    }

    private static func ln(_ x: Double) -> Double { PortableMath.log2(x) * 0.6931471805599453 }
}
