/// Fraction of its limit that a cache uses under memory pressure, and its return. Pure: the time is a parameter.
///
/// A note of pressure holds for ``stepTime``. Without a further one the share returns in steps: a program that notes
/// pressure once has the whole limit again after 10 seconds for a warning, and 20 for critical pressure.
struct PressureRule: Sendable, Hashable {
    /// Fractions of the limit under a warning and under critical pressure. Chosen, not measured: halving twice keeps
    /// the tiles on screen of a limit of four screens.
    static let warningShare = 0.5
    static let criticalShare = 0.25
    /// Nanoseconds without pressure before a step back, and between two steps.
    static let stepTime: Int64 = 5_000_000_000
    /// Increase of the limit in force in one recovery step. Gradual, since other processes may use the memory by now.
    static let step = 1.5

    /// Fraction of the limit that may be used now, 0.25 to 1.
    private(set) var share = 1.0
    /// Time at which the share last changed, or pressure was last seen.
    private var since: Int64 = 0

    /// Time of the next step back, if no pressure is noted until then; `.max` if there is none.
    var nextStep: Int64 { share < 1 ? since + Self.stepTime : .max }

    /// Notes the present level. `normal` takes a step back if it is due, and no more.
    mutating func note(_ level: MemoryPressureLevel, now: Int64) {
        guard level != .normal else { return advance(now: now) }
        share = min(share, level == .critical ? Self.criticalShare : Self.warningShare)
        since = now
    }

    /// Takes the next step back if it is due; one step, however late.
    mutating func advance(now: Int64) {
        // A clock that went back restarts the wait.
        if now < since { since = now }
        guard now >= nextStep else { return }
        share = min(share * Self.step, 1)
        since = now
    }

    /// That fraction of a limit, at least one byte.
    func bytes(of limit: Int) -> Int { share >= 1 ? limit : max(Int(Double(limit) * share), 1) }
}
