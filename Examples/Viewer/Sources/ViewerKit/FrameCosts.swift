/// What the newest frames took, in nanoseconds: at most a minute of them.
public struct FrameCosts: Sendable {
    /// Frames in a minute at 60 a second.
    public static let capacity = 3600

    private var ring: [Int64] = []
    private var place = 0
    /// The longest of all, in nanoseconds, also of those more than a minute ago.
    public private(set) var largest: Int64 = 0
    /// All frames so far.
    public private(set) var count = 0

    /// Nothing yet.
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

    /// What so large a share, 0 to 1, of the last minute's frames did not exceed; `nil` where there was none.
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
