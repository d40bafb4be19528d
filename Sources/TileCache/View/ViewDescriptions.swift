extension ScreenShares: CustomStringConvertible {
    /// As "sharp 97.5 %, fallback 2.0 %, blank 0.5 %, deficit 0.04 levels".
    public var description: String {
        "sharp \(Wording.percent(sharp)), fallback \(Wording.percent(fallback)), blank \(Wording.percent(blank)), "
            + "deficit \(Wording.rounded(deficit)) levels"
    }
}

extension TileViewStatistics: CustomStringConvertible {
    /// One line for a log.
    public var description: String {
        (shares.map { "\($0); " } ?? "") + "\(Wording.some(frames, "frame")), \(busyFrames) busy, "
            + "\(incompleteFrames) incomplete; \(demands)"
    }
}

extension LateTile: CustomStringConvertible {
    /// As "layer 0, 4/2/1: loading".
    public var description: String { "\(layer), \(tile): \(isLoading ? "loading" : "waiting")" }
}

extension UnavailableTile: CustomStringConvertible {
    /// As "layer 0, 4/2/1: absent".
    public var description: String { "\(layer), \(tile): \(cause == .absent ? "absent" : "failed for good")" }
}
