/// Times of the next plan, the next check for stuck loads and the next step of the limit. They share one timer.
struct DueTimes: Sendable {
    /// Granularity of plan times, in nanoseconds, so that nearly simultaneous retries share a plan.
    static let step: Int64 = 50_000_000

    /// Time of a requested plan; any later plan schedules the following ones.
    private var asked = Int64.max
    /// Time when the newest plan expires.
    private var planned = Int64.max
    private var watch = Int64.max
    /// Time of the next step of the limit towards its full size, after memory pressure.
    private var limit = Int64.max
    /// Time that the timer is set to.
    private var timer = Int64.max
    private var isTimerQueued = false

    var earliest: Int64 { min(asked, planned, watch, limit) }
    var isWatched: Bool { watch != .max }

    /// Requests a plan at a time or soon after. Returns whether the timer has to be set.
    mutating func askPlan(at time: Int64) -> Bool {
        asked = min(asked, Self.roundedUp(time))
        return requestTimer()
    }

    /// Sets when the newest plan expires, `.max` for never. Returns whether the timer has to be set.
    mutating func setPlan(at time: Int64) -> Bool {
        planned = Self.roundedUp(time)
        return requestTimer()
    }

    /// Sets the time of the check for stuck loads. Returns whether the timer has to be set.
    mutating func askWatch(at time: Int64) -> Bool {
        watch = time
        return requestTimer()
    }

    /// Sets the time of the limit's next step, `.max` for never. Returns whether the timer has to be set.
    mutating func setLimit(at time: Int64) -> Bool {
        limit = time
        return requestTimer()
    }

    /// Sets the time of the check for stuck loads, unless one is due before. Returns whether the timer has to be set.
    mutating func askWatch(by time: Int64) -> Bool {
        watch = min(watch, time)
        return requestTimer()
    }

    private mutating func requestTimer() -> Bool {
        guard !isTimerQueued, earliest < timer else { return false }
        isTimerQueued = true
        return true
    }

    /// Takes the time to set the timer to; `nil` if it is set already.
    mutating func takeTimer() -> Int64? {
        isTimerQueued = false
        guard timer != earliest else { return nil }
        timer = earliest
        return timer
    }

    /// Takes what is due after the timer has fired.
    mutating func takeDue(now: Int64) -> (plan: Bool, watch: Bool, limit: Bool) {
        timer = .max
        let due = (plan: min(asked, planned) <= now, watch: watch <= now, limit: limit <= now)
        if asked <= now { asked = .max }
        if planned <= now { planned = .max }
        if watch <= now { watch = .max }
        if limit <= now { limit = .max }
        return due
    }

    private static func roundedUp(_ time: Int64) -> Int64 {
        guard time < .max - step else { return .max }
        return (time > 0 ? time + step - 1 : time) / step * step
    }
}
