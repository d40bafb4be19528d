/// What was prefetched and what of it was drawn, as text.
extension ReplayReport.Prefetch {
    /// Prefetches in one line; `nil` if there were none. For example `1,234 loads, 612 drawn; 310.2 MiB, 152.8 MiB
    /// drawn; held back 40 times`.
    ///
    /// Requests of the source are named if they are not as many as the loads.
    var summary: String? {
        guard started > 0 || heldBack > 0 else { return nil }
        let asked = requests == started ? "" : " (\(count: requests) requests)"
        return "\(count: started) loads\(asked), \(count: useful) drawn; " + sizes
            + (heldBack > 0 ? "; held back \(count: heldBack) times" : "")
    }

    /// `310.2 MiB, 152.8 MiB drawn`.
    var sizes: String { "\(bytes: bytes), \(bytes: drawnBytes) drawn" }
}
