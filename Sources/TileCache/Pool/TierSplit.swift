/// How the limit is divided between the tiers: fixed, or moved to where another byte would earn more.
///
/// A hit in the decoded tier saves a decompression, one in the compressed tier saves a load. What a tier would lose by
/// being a little smaller shows in the hits on its coldest part, so hits there, weighed by what they save, pull the split
/// their way. Only demands count; what the plan promotes ahead of need is not a hit.
struct TierSplit: Sendable {
    /// The part of a tier, by age, whose hits count as marginal.
    static let coldPart = 0.25
    /// Demands between two moves of the split, and how far one goes. Some 50 moves take it from one end to the other,
    /// about a minute of hasty panning.
    static let demandsPerMove = 16
    static let step = 0.02
    static let range = 0.1...0.9
    /// Where an adaptive split begins. Over recorded sessions at 2 and 4 screens a fixed 0.7 has .419 and .521 of hits on
    /// a zooming map where 0.5 has .402 and .507, and 0.85 hardly more.
    static let start = 0.7
    /// How much of the evidence lasts from one move to the next: seldom hits that save a load must not be forgotten
    /// before the many that save a decompression have come.
    static let memory = 0.95

    /// The share of the limit that compressed tiles may take where decoded ones want it too.
    private(set) var compressedShare: Double
    let isAdaptive: Bool
    /// What a load costs over what a decompression costs: 40 ms against 0.1 ms for 256 KiB unless measured.
    var loadCost = 400.0
    private var decodedGain = 0.0
    private var compressedGain = 0.0
    private var demands = 0

    /// - Parameter fixedShare: of the compressed tier, 0 to 1; `nil` lets the traffic decide.
    init(fixedShare: Double?) {
        compressedShare = fixedShare ?? Self.start
        isAdaptive = fixedShare == nil
    }

    /// Takes in a demand that was a hit.
    ///
    /// - Parameters:
    ///   - age: since the tile's last use.
    ///   - oldest: the age of the least recently used tile of the same tier.
    mutating func hit(compressed: Bool, age: Int64, oldest: Int64) {
        guard isAdaptive, Double(age) >= Double(oldest) * (1 - Self.coldPart) else { return }
        if compressed { compressedGain += loadCost } else { decodedGain += 1 }
    }

    /// Takes in that some tiles were demanded, hits or not; moves the split when there were enough.
    mutating func noteDemands(_ count: Int) {
        guard isAdaptive else { return }
        demands += count
        guard demands >= Self.demandsPerMove else { return }
        demands = 0
        if decodedGain != compressedGain {
            let moved = compressedShare + (compressedGain > decodedGain ? Self.step : -Self.step)
            compressedShare = min(max(moved, Self.range.lowerBound), Self.range.upperBound)
        }
        // Old evidence fades, so that a change of habit is followed.
        decodedGain *= Self.memory
        compressedGain *= Self.memory
    }
}
