/// Sizes of a process's memory in bounded memory, and whether they are flat.
struct StressMemory: Sendable {
    struct Sample: Encodable, Sendable {
        var seconds: Double
        var bytes: Int
    }

    private static let most = 960

    private(set) var samples: [Sample] = []
    private var stride = 1
    private var seen = 0

    /// Adds a sample, if there is one. If there are too many, every second one is dropped and the rate is halved.
    mutating func add(_ bytes: Int?, at seconds: Double) {
        guard let bytes else { return }
        defer { seen += 1 }
        guard seen % stride == 0 else { return }
        samples.append(Sample(seconds: seconds, bytes: bytes))
        guard samples.count >= Self.most else { return }
        samples = samples.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        stride *= 2
    }

    /// Medians of the three thirds of the time; `nil` with fewer than 30 samples.
    var medians: [Int]? {
        guard samples.count >= 30 else { return nil }
        return (0..<3).map { third in
            let part = samples[samples.count * third / 3..<samples.count * (third + 1) / 3].map(\.bytes).sorted()
            return part[part.count / 2]
        }
    }

    /// Median of the last third minus that of the middle one.
    var growth: Int? { medians.map { $0[2] - $0[1] } }

    /// Whether the last third is at most the middle one plus `tolerance` bytes.
    func isFlat(tolerance: Int) -> Bool? { growth.map { $0 <= tolerance } }

    /// At most this many of the samples, evenly spread.
    func spread(_ count: Int) -> [Sample] {
        guard samples.count > count, count > 1 else { return samples }
        return (0..<count).map { samples[$0 * (samples.count - 1) / (count - 1)] }
    }
}
