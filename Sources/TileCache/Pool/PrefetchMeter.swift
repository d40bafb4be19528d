/// Prefetches of a layer within the last minute, against its ceilings.
///
/// Counts intervals of 5 seconds: 13 of them contain any 60 seconds, so that no minute exceeds a ceiling.
struct PrefetchMeter: Sendable {
    private struct Interval {
        var number = Int64.min
        var requests = 0
        var bytes = 0
    }

    private static let count = 13
    private static let nanoseconds: Int64 = 5_000_000_000
    /// Bytes beyond the layer's own record.
    static let byteCount = 32 + count * MemoryLayout<Interval>.stride

    let requestLimit: Int
    let byteLimit: Int
    private var ring = [Interval](repeating: Interval(), count: Self.count)

    /// - Parameter former: A meter with other ceilings, whose counts are taken. Default: nil, none.
    /// - Returns: `nil` if there are no ceilings.
    init?(_ allowance: PrefetchAllowance, after former: PrefetchMeter? = nil) {
        guard case .priced(let terms) = allowance, terms.requestsPerMinute != nil || terms.bytesPerMinute != nil else {
            return nil
        }
        requestLimit = terms.requestsPerMinute ?? .max
        byteLimit = terms.bytesPerMinute?.bytes ?? .max
        if let former { ring = former.ring }
    }

    /// Earliest time when a load is within the ceilings, `now` or later. `nil` if it never is.
    func time(requests: Int, bytes: Int, now: Int64) -> Int64? {
        guard requests <= requestLimit, bytes <= byteLimit else { return nil }
        let current = max(now, 0) / Self.nanoseconds
        var recent = ring.filter { $0.number > current - Int64(Self.count) }.sorted { $0.number < $1.number }
        var (requestSum, byteSum) = recent.reduce((0, 0)) { ($0.0 + $1.requests, $0.1 + $1.bytes) }
        var time = now
        while requestSum > requestLimit - requests || byteSum > byteLimit - bytes, !recent.isEmpty {
            let oldest = recent.removeFirst()
            requestSum -= oldest.requests
            byteSum -= oldest.bytes
            time = (oldest.number + Int64(Self.count)) * Self.nanoseconds
        }
        return time
    }

    /// Counts a load that begins.
    mutating func count(requests: Int, bytes: Int, now: Int64) {
        let number = max(now, 0) / Self.nanoseconds
        let place = Int(number % Int64(Self.count))
        if ring[place].number != number { ring[place] = Interval(number: number) }
        ring[place].requests += requests
        ring[place].bytes += bytes
    }
}
