import PanTraces
public import TileCache

/// Selects the frames of which pictures are recorded: ten a second, the next one if a frame was skipped.
public struct PicturePace: Hashable, Sendable {
    /// Frames for each picture.
    static let framesPerPicture: Int64 = 6
    private var last: Int64 = -1

    /// Creates a pace without pictures.
    public init() {}

    /// Whether a frame is to be recorded.
    ///
    /// - Parameter index: Number of the frame, larger than that of the call before.
    public mutating func isDue(frame index: Int64) -> Bool {
        let number = index / Self.framesPerPicture
        guard number > last else { return false }
        last = number
        return true
    }
}

/// Schedules frames at the times of a replay at 60 frames a second. A recorded session then makes the same demands in a
/// replay.
public struct FrameClock: Sendable {
    /// Reaction to a late frame.
    public enum Pace: Hashable, Sendable {
        /// Skips frames: the view is drawn at its present position.
        case realTime
        /// Skips none and stops time instead. For scripts and playbacks, whose frames must not vary.
        case everyFrame
    }

    private let pace: Pace
    /// Time of frame 0 on the system's clock, shifted by all stops.
    private var start: Int64?
    /// Number of the newest frame.
    public private(set) var index: Int64 = -1
    /// Number of frames that were skipped or delayed.
    public private(set) var late = 0

    /// Creates a clock that has not started.
    public init(pace: Pace) { self.pace = pace }

    /// Nanoseconds from frame 0 to a frame.
    private func offset(_ frame: Int64) -> Int64 { PanFrameRate.sixty.time(ofFrame: frame) ?? .max / 2 }

    /// Nanoseconds from the first frame to the newest, used by input, recordings and scroll models.
    public var elapsed: Int64 { offset(max(index, 0)) }

    /// Offset from such a time to the system's clock, in nanoseconds.
    public var origin: Int64 { start ?? 0 }

    /// Nanoseconds until the next frame is due; 0 if it is due now.
    public func wait(at now: MonotonicTime) -> Int64 {
        guard let start else { return 0 }
        return max(start + offset(index + 1) - now.nanoseconds, 0)
    }

    /// Starts the next frame.
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
        // Up to half a frame early counts as the next frame: displays and sleeps are not exact.
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
