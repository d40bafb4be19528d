import Testing

@testable import TileCache

/// Windows of loads on ways whose best number is known.
@Suite struct LoadWindowTests {
    /// A way with a round trip, a bandwidth that transfers share, and a server that answers some requests at a time.
    struct Way {
        var roundTrip: Double
        /// Loads a second of the whole bandwidth; infinite without a limit.
        var rate = Double.infinity
        var places = Int.max
    }

    /// Requests on a way, one event after the other.
    struct Traffic {
        private struct Request {
            var flight: LoadWindow.Flight
            /// End of its round trip, in seconds; `nil` until the server has a place for it.
            var ready: Double?
            /// `served` at the end of its transfer, once that has begun.
            var mark: Double?
        }

        var way: Way
        var window: LoadWindow
        private(set) var finished = 0
        private var now = 1.0
        /// Loads that a transfer from the start to now would have brought.
        private var served = 0.0
        private var requests: [Request] = []

        init(_ way: Way, _ loads: LoadsInFlight = .standard) { (self.way, window) = (way, LoadWindow(loads)) }

        /// Wants any number of loads for a while, or a number of them at once.
        mutating func run(seconds: Double, wanted: Int = .max) {
            let end = now + seconds
            var wanted = wanted
            while true {
                begin(&wanted)
                guard let time = nextEvent, time <= end else { break }
                advance(to: time)
                finish()
            }
            advance(to: end)
        }

        private var nanoseconds: Int64 { Int64((now * 1e9).rounded()) }
        private var transfers: Int { requests.count { $0.mark != nil } }

        private mutating func begin(_ wanted: inout Int) {
            while wanted > 0, !window.isFull {
                wanted -= 1
                requests.append(Request(flight: window.begin(at: nanoseconds)))
            }
            for place in requests.indices.prefix(way.places) where requests[place].ready == nil {
                requests[place].ready = now + way.roundTrip
            }
        }

        private var nextEvent: Double? {
            let ready = requests.compactMap { $0.mark == nil ? $0.ready : nil }
            let ended = requests.compactMap { $0.mark }.map { now + max($0 - served, 0) * Double(transfers) / way.rate }
            return (ready + ended).min()
        }

        private mutating func advance(to time: Double) {
            if transfers > 0, way.rate < .infinity { served += (time - now) * way.rate / Double(transfers) }
            now = max(now, time)
        }

        private mutating func finish() {
            for place in requests.indices where requests[place].mark == nil {
                if let ready = requests[place].ready, ready <= now + 1e-9 {
                    requests[place].mark = way.rate < .infinity ? served + 1 : served
                }
            }
            for place in requests.indices.reversed() {
                guard let mark = requests[place].mark, mark <= served + 1e-6 else { continue }
                window.end(requests[place].flight, at: nanoseconds, isAnswer: true)
                requests.remove(at: place)
                finished += 1
            }
        }
    }

    @Test func aWayWithoutALimitGetsTheMostWithinTwoSeconds() {
        var traffic = Traffic(Way(roundTrip: 0.15))
        #expect(traffic.window.limit == 8)
        traffic.run(seconds: 2)
        for _ in 0..<10 {
            #expect((47...64).contains(traffic.window.limit), "\(traffic.window.limit)")
            traffic.run(seconds: 1)
        }
    }

    /// One more load than the way holds keeps it full; with half as many again, each waits for others.
    @Test(arguments: [(0.1, 76.0), (0.1, 229.0), (0.03, 381.0)])
    func aFullWayGetsAsManyAsItHolds(roundTrip: Double, rate: Double) {
        var traffic = Traffic(Way(roundTrip: roundTrip, rate: rate))
        let holds = roundTrip * rate
        traffic.run(seconds: 2)
        for _ in 0..<10 {
            traffic.run(seconds: 1)
            let limit = Double(traffic.window.limit)
            #expect(limit > 0.6 * holds && limit < 4 * holds + 4, "\(limit) loads where \(holds) fill the way")
        }
    }

    @Test func aServerWithSixPlacesGetsAboutSix() {
        var traffic = Traffic(Way(roundTrip: 0.05, places: 6))
        traffic.run(seconds: 2)
        for _ in 0..<10 {
            traffic.run(seconds: 1)
            #expect((4...16).contains(traffic.window.limit), "\(traffic.window.limit)")
        }
    }

    /// A way that becomes wider, and one that becomes narrower.
    @Test(arguments: [(76.0, 229.0), (229.0, 76.0)])
    func aChangeOfTheWayIsFollowed(before: Double, after: Double) {
        var traffic = Traffic(Way(roundTrip: 0.1, rate: before))
        traffic.run(seconds: 8)
        traffic.way.rate = after
        traffic.run(seconds: 8)
        let done = traffic.finished
        traffic.run(seconds: 10)
        // Loads that begin together also end together: the way is empty until the next ones come.
        #expect(Double(traffic.finished - done) > 0.4 * 10 * after)
        #expect(traffic.window.limit < 48)
    }

    /// All loads are among as many others: only a change of the size says that fewer are as fast.
    @Test func aWayThatBecomesNarrowUnderTheMostLoadsIsFollowed() {
        var traffic = Traffic(Way(roundTrip: 0.1))
        traffic.run(seconds: 6)
        #expect(traffic.window.limit > 50)
        traffic.way.rate = 76
        traffic.run(seconds: 30)
        #expect(traffic.window.limit < 24, "\(traffic.window.limit)")
    }

    @Test func theRangeHolds() {
        var fixed = Traffic(Way(roundTrip: 0.15), .fixed(3))
        fixed.run(seconds: 3)
        #expect(fixed.window.limit == 3)
        var narrow = Traffic(Way(roundTrip: 0.15), .automatic(12...20))
        #expect(narrow.window.limit == 12)
        narrow.run(seconds: 3)
        #expect((14...20).contains(narrow.window.limit))
        narrow.way.rate = 20
        narrow.run(seconds: 20)
        #expect((12...20).contains(narrow.window.limit))
    }

    /// With few loads in flight, nothing says that more would be faster.
    @Test func aWindowThatIsNotUsedKeepsItsSize() {
        var traffic = Traffic(Way(roundTrip: 0.15))
        for _ in 0..<200 { traffic.run(seconds: 0.2, wanted: 3) }
        #expect(traffic.window.limit == 8)
    }

    @Test func whatIsNoAnswerTeachesNothing() {
        var window = LoadWindow(.standard)
        var now: Int64 = 1
        for _ in 0..<100 {
            let flights = (0..<8).map { _ in window.begin(at: now) }
            #expect(window.isFull)
            now += 10_000_000
            for flight in flights { window.end(flight, at: now, isAnswer: false) }
            #expect(window.count == 0)
        }
        #expect(window.limit == 8)
    }

    /// Times of any kind, also of clocks that go back, leave the size within the range.
    @Test func noTimesLeaveTheRange() {
        var random = SplitMix64(seed: 7)
        var window = LoadWindow(.automatic(2...40))
        var flights: [LoadWindow.Flight] = []
        var now: Int64 = 0
        for _ in 0..<20_000 {
            now &+= [0, 1, 1_000_000, -5_000_000, .max / 4].randomElement(using: &random) ?? 0
            if !window.isFull, Bool.random(using: &random) {
                flights.append(window.begin(at: now))
            } else if let place = flights.indices.randomElement(using: &random) {
                window.end(flights.remove(at: place), at: now, isAnswer: true)
            }
            #expect((2...40).contains(window.limit))
            #expect(window.count == flights.count)
        }
    }

    @Test(arguments: [
        ("7", LoadsInFlight.fixed(7)), ("auto", .standard), ("auto:2-9", .automatic(2...9)), ("0", nil), ("256", nil),
        ("auto:9-2", nil), ("auto:0-4", nil), ("auto:4-256", nil), ("auto:4", nil), ("", nil), ("many", nil),
        ("auto:0-9223372036854775807", nil), ("auto:-9223372036854775808-9", nil),
    ])
    func textsOfNumbers(text: String, expected: LoadsInFlight?) {
        #expect(LoadsInFlight(text) == expected)
        if let expected { #expect(LoadsInFlight(expected.description) == expected) }
    }
}
