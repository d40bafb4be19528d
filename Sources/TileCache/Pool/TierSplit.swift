/// Split of the limit between the tiers. Fixed, or moved to the tier with the higher marginal gain.
///
/// A decoded hit saves a decompression, a compressed hit a load. Hits on a tier's coldest part show what it would lose
/// by being smaller; weighed by what they save, they move the split. Only demands count, not promotions by the plan.
struct TierSplit: Sendable {
    /// Fraction of a tier, by age, whose hits count as marginal.
    static let coldPart = 0.25
    /// Demands between two moves of the split, and the size of a move. From end to end in about a minute of fast
    /// panning.
    static let demandsPerMove = 16
    static let step = 0.02
    static let range = 0.1...0.9
    /// Initial adaptive split. A compressed tile takes about a third of the room of a decoded one, so that most of the
    /// memory holds more if it is compressed. A larger part hardly gains.
    static let start = 0.7
    /// Share of the evidence kept per move. Rare hits that save a load must outlast frequent ones that save less.
    static let memory = 0.95
    /// Cost of a load relative to a decompression: 40 ms, 0.1 ms for 256 KiB.
    static let loadCost = 400.0

    /// Fraction of the limit for compressed tiles while both tiers compete.
    private(set) var compressedShare: Double
    let isAdaptive: Bool
    private var decodedGain = 0.0
    private var compressedGain = 0.0
    private var demands = 0

    /// - Parameter fixedShare: Share of the compressed tier, 0...1; `nil` adapts it.
    init(fixedShare: Double?) {
        compressedShare = fixedShare ?? Self.start
        isAdaptive = fixedShare == nil
    }

    /// Counts a hit.
    ///
    /// - Parameters:
    ///   - age: Age of the tile since its last use.
    ///   - oldest: Age of the least recently used tile of the same tier.
    mutating func hit(compressed: Bool, age: Int64, oldest: Int64) {
        guard isAdaptive, Double(age) >= Double(oldest) * (1 - Self.coldPart) else { return }
        if compressed { compressedGain += Self.loadCost } else { decodedGain += 1 }
    }

    /// Counts demands, hits or not; moves the split after enough of them.
    mutating func noteDemands(_ count: Int) {
        guard isAdaptive else { return }
        demands += count
        guard demands >= Self.demandsPerMove else { return }
        demands = 0
        if decodedGain != compressedGain {
            let moved = compressedShare + (compressedGain > decodedGain ? Self.step : -Self.step)
            compressedShare = min(max(moved, Self.range.lowerBound), Self.range.upperBound)
        }
        // Old evidence decays, so that changes of habit are followed.
        decodedGain *= Self.memory
        compressedGain *= Self.memory
    }
}
