/// How much of its limit a cache uses while the system is short of memory, and how it comes back. Pure: the time is a
/// parameter.
struct PressureRule: Sendable, Hashable {
    /// Of the limit, under a warning and when memory is all but gone. Chosen, not measured: halving twice leaves the
    /// tiles on screen of a limit of four screens.
    static let warningShare = 0.5
    static let criticalShare = 0.25
    /// Nanoseconds without pressure before a step back, and between two steps.
    static let stepTime: Int64 = 5_000_000_000
    /// How much larger a step back makes what is used: what was given up was worth something, but the memory may be
    /// somebody else's by now.
    static let step = 1.5

    /// The part of the limit that may be used now, 0.25 to 1.
    private(set) var share = 1.0
    /// When the share was last changed, or pressure last seen.
    private var since: Int64 = 0

    /// Takes in how things stand; call it again and again for as long as ``share`` is less than 1.
    mutating func note(_ level: MemoryPressureMonitor.Level, now: Int64) {
        let wanted =
            switch level {
            case .normal: 1.0
            case .warning: Self.warningShare
            case .critical: Self.criticalShare
            }
        if level != .normal {
            share = min(share, wanted)
            since = now
            return
        }
        // A clock that was set back begins the wait anew.
        if now < since { since = now }
        guard share < 1, now - since >= Self.stepTime else { return }
        share = min(share * Self.step, 1)
        since = now
    }

    /// A limit's part, at least one byte.
    func bytes(of limit: Int) -> Int { share >= 1 ? limit : max(Int(Double(limit) * share), 1) }
}
