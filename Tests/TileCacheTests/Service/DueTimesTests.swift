import Testing

@testable import TileCache

/// One timer for all due times, against a list of all requested ones.
@Suite struct DueTimesTests {
    private let step = DueTimes.step

    @Test func plansAreDueAtTheEndOfTheirStepAndOnce() {
        var due = DueTimes()
        var timers = [due.takeTimer()]
        var asked = [due.askPlan(at: step + 1)]
        // The timer is already about to be set.
        asked.append(due.askPlan(at: step))
        timers += [due.takeTimer(), due.takeTimer()]
        // Later than its present time.
        asked.append(due.askPlan(at: 9 * step))
        let early = due.takeDue(now: step - 1)
        timers.append(due.takeTimer())
        let late = due.takeDue(now: step)
        timers.append(due.takeTimer())
        #expect(asked == [true, false, false])
        #expect(timers == [nil, step, nil, step, nil])
        #expect(early == (false, false, false) && late == (true, false, false))
        #expect(due.earliest == .max)
    }

    @Test func theNewestPlanReplacesWhatAnOlderOneAskedFor() {
        var due = DueTimes()
        let isToldOfPlan = due.setPlan(at: 3 * step)
        var timers = [due.takeTimer()]
        // The timer may stay: it then finds nothing due.
        let isToldOfNone = due.setPlan(at: .max)
        timers.append(due.takeTimer())
        let isTold = due.askWatch(at: 5)
        #expect(isToldOfPlan && !isToldOfNone && isTold && due.isWatched)
        timers.append(due.takeTimer())
        // In between it is disarmed.
        #expect(timers == [3 * step, .max, 5])
        let watch = due.takeDue(now: 5)
        #expect(watch == (false, true, false) && !due.isWatched)
    }

    /// A plan that expires asks for one plan.
    @Test func aPlanExpiresOnce() {
        var due = DueTimes()
        _ = due.setPlan(at: step)
        let (early, late) = (due.takeDue(now: step - 1), due.takeDue(now: step))
        #expect(early == (false, false, false) && late == (true, false, false) && due.earliest == .max)
    }

    /// The limit's next step is due to the nanosecond, and may be put off or called off.
    @Test func theNextStepOfTheLimitReplacesTheOneBefore() {
        var due = DueTimes()
        let isTold = due.setLimit(at: 7)
        var timers = [due.takeTimer()]
        let isToldOfLater = due.setLimit(at: 9)
        let (early, late) = (due.takeDue(now: 8), due.takeDue(now: 9))
        #expect(isTold && !isToldOfLater && early == (false, false, false) && late == (false, false, true))
        let isToldAgain = due.setLimit(at: 11)
        timers.append(due.takeTimer())
        _ = due.setLimit(at: .max)
        timers.append(due.takeTimer())
        #expect(isToldAgain && timers == [7, 11, .max] && due.earliest == .max)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max - 1, .max]) func anyTimeIsATime(time: Int64) {
        var due = DueTimes()
        _ = due.askPlan(at: time)
        #expect(due.earliest >= time)
        #expect(time > .max - step || due.earliest - max(time, -step) <= 2 * step)
    }
}
