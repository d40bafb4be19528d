/// How many frames a second a replay draws, and so when each of them is.
///
/// Kept in thousandths of a frame a second, so that the times are whole-number arithmetic: frame n of a million is
/// where it should be, and no two machines differ.
public struct PanFrameRate: Hashable, Sendable, CustomStringConvertible {
    /// Sixty frames a second, as in the reference replay.
    public static let sixty = PanFrameRate(thousandths: 60_000)

    /// Frames in a thousand seconds.
    public let thousandths: Int64

    /// Makes a rate.
    ///
    /// - Parameter framesPerSecond: from 0.001 to 1000, rounded to thousandths; anything else gives `nil`.
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

    /// When frame n is, in nanoseconds: n 10^9 / rate, rounded to the nearest whole one, halves up.
    ///
    /// - Parameter frame: 0 or more.
    /// - Returns: `nil` where the time is beyond what 64 bits hold, some 292 years.
    public func time(ofFrame frame: Int64) -> Int64? {
        // Thousands of seconds first: what is left is small enough to be multiplied.
        let (thousands, rest) = frame.quotientAndRemainder(dividingBy: thousandths)
        let (whole, overflow) = thousands.multipliedReportingOverflow(by: 1_000_000_000_000)
        let (time, overflow2) = whole.addingReportingOverflow(
            (rest * 1_000_000_000_000 + thousandths / 2) / thousandths
        )
        return overflow || overflow2 ? nil : time
    }
}
