/// Costs of the newest frames in nanoseconds, for at most a minute.
public struct FrameCosts: Sendable {
    /// Frames in a minute at 60 a second.
    public static let capacity = 3600

    private var ring: [Int64] = []
    private var place = 0
    /// Largest cost in nanoseconds since the start.
    public private(set) var largest: Int64 = 0
    /// Number of frames since the start.
    public private(set) var count = 0

    /// Creates an empty record.
    public init() {}

    /// Adds a frame's cost in nanoseconds.
    public mutating func add(_ cost: Int64) {
        count += 1
        largest = max(largest, cost)
        if ring.count < Self.capacity {
            ring.append(cost)
        } else {
            ring[place] = cost
            place = (place + 1) % Self.capacity
        }
    }

    /// Quantile, 0 to 1, of the last minute's costs; `nil` without frames.
    public func quantiles(_ shares: [Double]) -> [Int64]? {
        guard !ring.isEmpty else { return nil }
        let sorted = ring.sorted()
        return shares.map { sorted[min(max(Int((Double(sorted.count) * $0).rounded(.up)) - 1, 0), sorted.count - 1)] }
    }

    /// `p50 0.05, p99 0.21, largest 1.10 ms`.
    public var text: String {
        guard let middle = quantiles([0.5, 0.99]) else { return "none" }
        return "p50 \(milliseconds(middle[0])), p99 \(milliseconds(middle[1])), largest \(milliseconds(largest)) ms"
    }
}

/// Milliseconds with two decimals.
func milliseconds(_ nanoseconds: Int64) -> String {
    let hundredths = (max(nanoseconds, 0) + 5000) / 10_000
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
}
