import TileCache

/// Deceleration of thrown content: its speed falls by the same factor in every millisecond.
///
/// Place and time of rest are known at the release.
public struct ScrollDeceleration: Hashable, Sendable {
    /// Factor of the speed per millisecond.
    public enum Rate: Hashable, Sendable, CaseIterable {
        /// 0.998: lists and maps.
        case normal
        /// 0.99: pages and photos.
        case fast

        /// Factor of the speed per millisecond.
        public var perMillisecond: Double { self == .normal ? 0.998 : 0.99 }

        /// The same as the exponent of an exponential decay, per second: -1000 ln of it.
        var decay: Double { self == .normal ? 2.0020026706730793 : 10.050335853501442 }
    }

    /// Content closer than this to its end, in screen pixels, is at rest.
    static let restDistance = 0.5

    private let start: ScrollVector
    private let reach: ScrollVector
    private let decay: Double
    /// Duration in seconds; 0 if the speed is too low.
    public let duration: Double

    /// Releases content.
    ///
    /// - Parameters:
    ///   - offset: Offset at the release, in screen pixels.
    ///   - velocity: In screen pixels per second; NaN and infinity count as 0.
    ///   - rate: Default: `.normal`.
    public init(from offset: ScrollVector, velocity: ScrollVector, rate: Rate = .normal) {
        let velocity = velocity.isFinite && velocity.length.isFinite ? velocity : .zero
        start = offset
        decay = rate.decay
        reach = velocity * (1 / decay)
        let distance = reach.length
        duration = distance > Self.restDistance ? Self.ln(distance / Self.restDistance) / decay : 0
    }

    /// Offset of the content after a time.
    ///
    /// - Parameter seconds: Time since the release; after ``duration`` the offset is constant.
    public func offset(after seconds: Double) -> ScrollVector {
        start + reach * (1 - PortableMath.exp(-decay * seconds.clamped(to: 0...duration)))
    }

    /// Velocity in screen pixels per second; zero after ``duration``.
    public func velocity(after seconds: Double) -> ScrollVector {
        seconds < duration ? reach * (decay * PortableMath.exp(-decay * max(seconds, 0))) : .zero
    }

    /// Offset at rest.
    public var end: ScrollVector { offset(after: duration) }

    /// Seconds until one part of the offset reaches a place on the way. `nil` if it never does.
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
