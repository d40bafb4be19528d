import TileCache

func seconds<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
    let start = MonotonicTime.now.nanoseconds
    try body()
    return Double(MonotonicTime.now.nanoseconds - start) / 1e9
}

extension [(work: Double, spin: Double)] {
    /// Rounds with two cores available; all rounds if there are none.
    var withBothCores: Self {
        let whole = filter { $0.spin > 1.85 }
        return whole.isEmpty ? self : whole
    }
}

extension [Double] {
    /// The median, the mean of two middle values; 0 if there are none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
