/// What is due without anything happening before: plans and looks after stuck loads. One timer serves them all.
struct DueTimes: Sendable {
    /// Plans are due at multiples of this, in nanoseconds, so that tries at nearly the same time share one.
    static let step: Int64 = 50_000_000

    /// The plan that was asked for; any plan from then on finds the ones after it.
    private var asked = Int64.max
    /// When the newest plan has to be made again.
    private var planned = Int64.max
    private var watch = Int64.max
    /// What the timer is set to.
    private var timer = Int64.max
    private var isTimerQueued = false

    var earliest: Int64 { min(asked, planned, watch) }
    var isWatched: Bool { watch != .max }

    /// Asks for a plan at a time or after; whether the timer has to be told.
    mutating func askPlan(at time: Int64) -> Bool {
        asked = min(asked, Self.roundedUp(time))
        return requestTimer()
    }

    /// Replaces the time at which the newest plan has to be made again, `.max` for never; whether the timer has to be told.
    mutating func setPlan(at time: Int64) -> Bool {
        planned = Self.roundedUp(time)
        return requestTimer()
    }

    /// Asks for a look after loads at a time, in the place of an earlier request; whether the timer has to be told.
    mutating func askWatch(at time: Int64) -> Bool {
        watch = time
        return requestTimer()
    }

    private mutating func requestTimer() -> Bool {
        guard !isTimerQueued, earliest < timer else { return false }
        isTimerQueued = true
        return true
    }

    /// What the timer has to be set to; `nil` if it is already.
    mutating func takeTimer() -> Int64? {
        isTimerQueued = false
        guard timer != earliest else { return nil }
        timer = earliest
        return timer
    }

    /// Takes out what is due; the timer has run.
    mutating func takeDue(now: Int64) -> (plan: Bool, watch: Bool) {
        timer = .max
        let due = (plan: min(asked, planned) <= now, watch: watch <= now)
        if asked <= now { asked = .max }
        if planned <= now { planned = .max }
        if watch <= now { watch = .max }
        return due
    }

    private static func roundedUp(_ time: Int64) -> Int64 {
        guard time < .max - step else { return .max }
        return (time > 0 ? time + step - 1 : time) / step * step
    }
}
