/// Frame rate of a replay, which gives the time of each frame.
///
/// Stored in thousandths of a frame a second, so that times are integer arithmetic: they are exact for any frame and
/// equal on all machines.
public struct PanFrameRate: Hashable, Sendable, CustomStringConvertible {
    /// Sixty frames a second, as in the reference replay.
    public static let sixty = PanFrameRate(thousandths: 60_000)

    /// Frames in a thousand seconds.
    public let thousandths: Int64

    /// Creates a rate.
    ///
    /// - Parameter framesPerSecond: From 0.001 to 1000, rounded to thousandths; `nil` for other values.
    public init?(framesPerSecond: Double) {
        let thousandths = (framesPerSecond * 1000).rounded()
        guard thousandths >= 1, thousandths <= 1_000_000 else { return nil }
        self.init(thousandths: Int64(thousandths))
    }

    private init(thousandths: Int64) {
        self.thousandths = thousandths
    }

    /// Frames a second.
    public var framesPerSecond: Double { Double(thousandths) / 1000 }

    /// Frames a second as text: `60`, `59.94`.
    public var description: String {
        thousandths % 1000 == 0 ? "\(thousandths / 1000)" : "\(framesPerSecond)"
    }

    /// Time of frame n in nanoseconds: n 10^9 / rate, to the nearest integer, halves up.
    ///
    /// - Parameter frame: 0 or more.
    /// - Returns: `nil` if the time exceeds 64 bits, some 292 years.
    public func time(ofFrame frame: Int64) -> Int64? {
        // Thousands of seconds first: the rest is small enough to be multiplied.
        let (thousands, rest) = frame.quotientAndRemainder(dividingBy: thousandths)
        let (whole, overflow) = thousands.multipliedReportingOverflow(by: 1_000_000_000_000)
        let (time, overflow2) = whole.addingReportingOverflow(
            (rest * 1_000_000_000_000 + thousandths / 2) / thousandths
        )
        return overflow || overflow2 ? nil : time
    }
}
