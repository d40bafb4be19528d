import PanTraces
public import TileCache

/// When frames are: at the moments at which a replay at 60 frames a second has its own, so that a session that was
/// recorded makes the same demands when it is replayed.
public struct FrameClock: Sendable {
    /// What happens when a frame comes late.
    public enum Pace: Hashable, Sendable {
        /// Frames are left out: the view is where it should be by now.
        case realTime
        /// None is left out: time itself waits. For scripts and playbacks, whose frames have to be the same each time.
        case everyFrame
    }

    private let pace: Pace
    /// The moment of frame 0, or where it would be had time never waited, on the system's clock.
    private var start: Int64?
    /// The number of the newest frame.
    public private(set) var index: Int64 = -1
    /// How often a frame was left out, or time had to wait for one.
    public private(set) var late = 0

    /// Makes a clock that has not begun.
    public init(pace: Pace) { self.pace = pace }

    /// Nanoseconds from frame 0 to a frame.
    private func offset(_ frame: Int64) -> Int64 { PanFrameRate.sixty.time(ofFrame: frame) ?? .max / 2 }

    /// Nanoseconds from the first frame to the newest: the time that input, recordings and scroll models go by.
    public var elapsed: Int64 { offset(max(index, 0)) }

    /// What has to be added to such a time to have it on the system's clock, in nanoseconds.
    public var origin: Int64 { start ?? 0 }

    /// How long to wait until the next frame is due, in nanoseconds; 0 where it is.
    public func wait(at now: MonotonicTime) -> Int64 {
        guard let start else { return 0 }
        return max(start + offset(index + 1) - now.nanoseconds, 0)
    }

    /// Begins the next frame.
    ///
    /// - Parameter now: the system's clock.
    /// - Returns: when the frame is due, on the system's clock; ``elapsed`` is the same on a grid that begins at 0.
    public mutating func next(at now: MonotonicTime) -> MonotonicTime {
        guard let begun = start else {
            start = now.nanoseconds
            index = 0
            return now
        }
        index += 1
        let due = begun + offset(index)
        // Half a frame early is the next one: displays and sleeps are not exact.
        let behind = now.nanoseconds - due
        if behind > 8_333_333 {
            switch pace {
            case .realTime:
                let skipped = (behind + 8_333_333) / 16_666_667
                index += skipped
                if skipped > 0 { late += 1 }
            case .everyFrame:
                start = begun + behind
                late += 1
            }
        }
        return MonotonicTime(nanoseconds: (start ?? begun) + offset(index))
    }
}
