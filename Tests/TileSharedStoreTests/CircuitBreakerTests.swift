import TestSupport
import Testing
import TileCache

@testable import TileSharedStore

@Suite struct CircuitBreakerTests {
    private let second: Int64 = 1_000_000_000

    private func failing(_ times: Int, at now: Int64 = 0) -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for _ in 0..<times { breaker.note(isFailure: true, at: now) }
        return breaker
    }

    @Test func theThirdFailureInARowOpens() {
        var two = failing(2)
        let isAdmitted = two.admits(at: 0)
        #expect(isAdmitted && two.state(at: 0) == .closed)
        two.note(isFailure: false, at: 0)
        two.note(isFailure: true, at: 0)
        #expect(two.state(at: 0) == .closed)
        var three = failing(3)
        #expect(three.state(at: 0) == .open)
        let admissions = [0, second - 1, second].map { three.admits(at: $0) }
        #expect(admissions == [false, false, true] && three.state(at: second) == .halfOpen)
    }

    @Test func everyOtherFailureOpensToo() {
        var breaker = CircuitBreaker()
        var pairs = 0
        while breaker.state(at: 0) == .closed, pairs < 100 {
            breaker.note(isFailure: true, at: 0)
            if breaker.state(at: 0) == .closed { breaker.note(isFailure: false, at: 0) }
            pairs += 1
        }
        // 2, 1, 3, 2, 4, 3, 5, 4, 6
        #expect(pairs == 5)
    }

    @Test func oneOperationProbes() {
        var breaker = failing(3)
        let first = breaker.admits(at: second)
        let other = breaker.admits(at: second)
        #expect(first && !other)
        breaker.note(isFailure: false, at: second)
        #expect(breaker == CircuitBreaker())
    }

    @Test func eachFailedProbeDoublesTheWait() {
        var breaker = failing(3)
        var now: Int64 = 0
        for wait in [1, 2, 4, 8, 16, 30, 30] as [Int64] {
            #expect(breaker.state(at: now + wait * second - 1) == .open)
            now += wait * second
            let isProbe = breaker.admits(at: now)
            #expect(isProbe, "after \(wait) s")
            breaker.note(isFailure: true, at: now)
        }
    }

    /// Operations sent before it opened.
    @Test func lateFailuresDoNotProlongIt() {
        var breaker = failing(3)
        breaker.note(isFailure: true, at: second / 2)
        #expect(breaker.state(at: second - 1) == .open && breaker.state(at: second) == .halfOpen)
    }

    /// In every sequence, a server that answers again is asked within thirty seconds.
    @Test func itNeverStaysOpen() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<200 {
            var breaker = CircuitBreaker()
            var now: Int64 = 0
            var inFlight = 0
            for _ in 0..<100 {
                now += Int64(random.next() % 4_000_000_000)
                if random.next() % 2 == 0, breaker.admits(at: now) { inFlight += 1 }
                if inFlight > 0, random.next() % 2 == 0 {
                    inFlight -= 1
                    breaker.note(isFailure: random.next() % 3 > 0, at: now)
                }
            }
            for _ in 0..<inFlight { breaker.note(isFailure: true, at: now) }
            let isAdmitted = breaker.admits(at: now + 30 * second)
            #expect(isAdmitted)
        }
    }
}
