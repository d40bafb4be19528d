import Testing

@testable import TileCache
@testable import TileSources

/// Whether an answer that nobody wants is cut off, without a server or a clock. Times are milliseconds.
@Suite struct OriginHabitsTests {
    /// Answers of 100,000 bytes: 100 until the first one, 20 for the body, after handshakes of some time.
    private func habits(handshake: Double? = 40, isMultiplexed: Bool = false, answers: Int = 40) -> OriginHabits {
        var habits = OriginHabits()
        habits.note(isMultiplexed: isMultiplexed)
        for number in 0..<answers {
            let time = number == 0 ? handshake : nil
            habits.note(OriginHabits.Sample(handshake: time, latency: 100, body: 20, bytes: 100_000))
        }
        return habits
    }

    private typealias Answer = OriginHabits.Answer

    /// A connection with its handshakes is worth more than what is left of a usual answer, at any moment of it.
    @Test(arguments: [0, 1, 400.0]) func usualAnswersOfAConnectionAreLetFinish(handshake: Double) {
        let habits = habits(handshake: handshake)
        for time in stride(from: 0.0, to: 120, by: 5) {
            let received = time > 100 ? Int((time - 100) * 5000) : 0
            let isCounted = received > 0 ? 100_000 : nil
            for isKept in [true, false] {
                let answer = Answer(
                    elapsed: time,
                    hasHeaders: received > 0,
                    received: received,
                    expected: isCounted,
                    isKept: isKept
                )
                #expect(habits.allowance(for: answer) > time, "\(answer)")
            }
        }
    }

    /// What is late may be so for ever: it is cut off after its usual time and as long again as a connection is worth.
    @Test func lateAnswersAreCutOff() {
        let silent = habits().allowance(for: Answer(elapsed: 0))
        #expect((240...250).contains(silent), "\(silent)")
        // A connection that took long to make is waited for.
        let distant = habits(handshake: 1000).allowance(for: Answer(elapsed: 0))
        #expect((1120...1130).contains(distant), "\(distant)")
        // Nor does a request that found no connection wait for ever.
        let unsent = habits().allowance(for: Answer(elapsed: 0, isSent: false))
        #expect((320...330).contains(unsent), "\(unsent)")
        // Half of it has come.
        let half = Answer(elapsed: 110, hasHeaders: true, received: 50_000, expected: 100_000)
        let broken = habits().allowance(for: half)
        #expect((250...260).contains(broken), "\(broken)")
    }

    /// At five megabytes a second, 600,000 bytes take as long as an answer, which is what a connection is worth.
    @Test func longAnswersAreCutOff() {
        func isCutOff(_ expected: Int, received: Int = 0, isKept: Bool = true) -> Bool {
            habits().allowance(
                for: Answer(elapsed: 100, hasHeaders: true, received: received, expected: expected, isKept: isKept)
            ) == 0
        }
        #expect(!isCutOff(590_000) && isCutOff(610_000))
        // What has come is lost with it, if somebody can use the rest.
        #expect(!isCutOff(1_500_000, received: 500_000) && isCutOff(1_500_000, received: 500_000, isKept: false))
        #expect(!isCutOff(1_500_000, received: 910_000, isKept: false))
    }

    /// A stream costs what it has brought. Servers that have had many resets close the connection.
    @Test func streamsAreResetUntilHalfOfThemHasCome() {
        var habits = habits(isMultiplexed: true)
        func isCutOff(_ received: Int, isKept: Bool = true) -> Bool {
            let isThere = received > 0
            return habits.allowance(
                for: Answer(
                    elapsed: 50,
                    hasHeaders: isThere,
                    received: received,
                    expected: isThere ? 100_000 : nil,
                    isKept: isKept
                )
            ) == 0
        }
        #expect(isCutOff(0) && isCutOff(49_000) && !isCutOff(50_000))
        #expect(isCutOff(99_000, isKept: false))
        // One that is not sent yet may be what a new connection waits for.
        #expect(habits.allowance(for: Answer(elapsed: 0, isSent: false)) > 0)
        #expect(habits.resetsLeft == 64 + 5)
        for _ in 0..<69 { habits.noteCut() }
        #expect(habits.resetsLeft == 0 && !isCutOff(0) && !isCutOff(49_000))
        for _ in 0..<8 { habits.note(OriginHabits.Sample(latency: 100, body: 20, bytes: 100_000)) }
        #expect(habits.resetsLeft == 1 && isCutOff(0))
    }

    /// Cuts of connections are no resets.
    @Test func theVersionIsThatOfTheLastAnswer() {
        var habits = OriginHabits()
        #expect(!habits.isMultiplexed && !habits.isSerial)
        habits.note(isMultiplexed: true)
        #expect(habits.isMultiplexed && !habits.isSerial)
        habits.note(isMultiplexed: false)
        habits.noteCut()
        #expect(!habits.isMultiplexed && habits.isSerial && habits.resetsLeft == 64)
    }

    /// Before the first answer a quarter of a second is assumed, with its deviation: nothing is cut off at once.
    @Test func unknownOriginsAreGivenTime() {
        let habits = OriginHabits()
        #expect(habits.allowance(for: Answer(elapsed: 0)) == 1000)
        #expect(habits.allowance(for: Answer(elapsed: 0, isSent: false)) == 1500)
        #expect(habits.allowance(for: Answer(elapsed: 300, hasHeaders: true, received: 1, expected: 1 << 30)) == 1000)
    }

    /// Latencies that vary give later answers more time; answers without a body teach nothing about bodies.
    @Test func latenciesAreLearned() {
        var habits = OriginHabits()
        for number in 0..<100 {
            let latency = number % 2 == 0 ? 50.0 : 150
            habits.note(OriginHabits.Sample(latency: latency, body: 0, bytes: 0))
        }
        let latency = habits.latency ?? 0
        #expect((90...110).contains(latency) && habits.handshake == nil)
        let allowance = habits.allowance(for: Answer(elapsed: 0, hasHeaders: true))
        // 100, four times the deviation of some 50, and a handshake that is not known.
        #expect((500...600).contains(allowance), "\(allowance)")
    }
}
