/// Demands of one kind by what became of them.
public struct DemandCounts: Hashable, Sendable {
    /// Tiles that a frame needed and the frame before did not; tiles known to be absent are left out.
    public internal(set) var total = 0
    /// Resident and ready to draw.
    public internal(set) var decodedHits = 0
    /// Resident in compressed form.
    public internal(set) var compressedHits = 0
    /// The load was in flight.
    public internal(set) var late = 0
    /// Not even started.
    public internal(set) var missed = 0

    /// Counts of nothing.
    public init() {}

    /// Demands that were resident in either form.
    public var hits: Int { decodedHits + compressedHits }
    /// Hits over all demands, 0 to 1; `nil` where there was none.
    public var hitRate: Double? { total == 0 ? nil : Double(hits) / Double(total) }

    /// Sums of two counts.
    public static func + (a: DemandCounts, b: DemandCounts) -> DemandCounts {
        var sum = a
        sum.total += b.total
        sum.decodedHits += b.decodedHits
        sum.compressedHits += b.compressedHits
        sum.late += b.late
        sum.missed += b.missed
        return sum
    }
}
