import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

/// When an origin may be asked, against simulated servers and without threads or clocks.
@Suite struct OriginPaceTests {
    /// Rules by which servers refuse requests. Times are milliseconds.
    private enum Limiter {
        /// A number of requests in any span of time.
        case sliding(Int, span: Int64, sent: [Int64])
        /// A number of requests in each period.
        case fixed(Int, span: Int64, period: Int64, sent: Int)
        /// A store of requests that is refilled steadily, one in a time.
        case bucket(Int, each: Int64, level: Double, time: Int64)

        mutating func allows(at now: Int64) -> Bool {
            switch self {
            case .sliding(let most, let span, let sent):
                let present = sent.filter { $0 > now - span }
                let isAllowed = present.count < most
                self = .sliding(most, span: span, sent: isAllowed ? present + [now] : present)
                return isAllowed
            case .fixed(let most, let span, let period, let sent):
                let isNew = now / span != period
                let isAllowed = isNew || sent < most
                self = .fixed(most, span: span, period: now / span, sent: (isNew ? 0 : sent) + (isAllowed ? 1 : 0))
                return isAllowed
            case .bucket(let most, let each, let level, let time):
                let filled = min(Double(most), level + Double(now - time) / Double(each))
                self = .bucket(most, each: each, level: filled >= 1 ? filled - 1 : filled, time: now)
                return filled >= 1
            }
        }

        /// The pause that the server asks for.
        func pause(at now: Int64) -> Int64 {
            guard case .sliding(_, let span, let sent) = self, let first = sent.min() else { return 0 }
            return (max(first + span - now, 0) + 999) / 1000 * 1000
        }

        /// Time in which a number of requests is allowed at best.
        func leastTime(for count: Int) -> Double {
            switch self {
            case .sliding(let most, let span, _), .fixed(let most, let span, _, _):
                Double((count - 1) / most) * Double(span)
            case .bucket(let most, let each, _, _): Double(max(count - most, 0)) * Double(each)
            }
        }
    }

    /// Clients of one origin that want some tiles, on some connections each.
    private struct Run {
        var requests = 0
        var refused = 0
        var time: Int64 = 0

        init(_ limiter: Limiter, tiles: Int, connections: Int, asksForPause: Bool, random: inout SplitMix64) {
            var (limiter, pace) = (limiter, OriginPace())
            var flights: [(time: Int64, permit: OriginPace.Permit, isAllowed: Bool)] = []
            var left = tiles
            while left > 0 || !flights.isEmpty {
                while left > 0, flights.count < connections, pace.earliest(now: time, isDemand: true) <= time {
                    let permit = pace.begin(now: time)
                    let trip = 20 + Int64(random.next() % 60)
                    flights.append((time + trip, permit, limiter.allows(at: time + trip / 2)))
                    (left, requests) = (left - 1, requests + 1)
                }
                flights.sort { $0.time < $1.time }
                let turn = left > 0 && flights.count < connections ? pace.earliest(now: time, isDemand: true) : .max
                guard let first = flights.first, first.time <= turn else {
                    time = max(turn, time + 1)
                    continue
                }
                flights.removeFirst()
                time = first.time
                let pause = asksForPause ? limiter.pause(at: time) : 0
                let verdict = first.isAllowed ? OriginPace.Verdict.answered : .refused(pause: pause)
                let dice = Double(random.next() % 1001) / 1000
                pace.end(first.permit, verdict, now: time, first: 200, dice: dice)
                if !first.isAllowed { (left, refused) = (left + 1, refused + 1) }
                guard requests < 100 * tiles else { return }
            }
        }
    }

    /// A screen of 64 tiles and more, whatever the server's rule: at most 1.4 requests a tile and 15 besides, and at most
    /// 1.75 times the time that the rule needs, with a minute and a half besides.
    @Test(arguments: 1...200) func fewRequestsAreRefused(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        func draw(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.count)) }
        let limiters: [Limiter] = [
            .sliding(draw(5...100), span: Int64(draw(500...15_000)), sent: []),
            .fixed(draw(5...100), span: Int64(draw(500...15_000)), period: -1, sent: 0),
            .bucket(draw(1...50), each: Int64(draw(20...3000)), level: 50, time: 0),
        ]
        let (tiles, connections, asks) = (draw(64...300), draw(1...8), draw(0...1) == 1)
        for limiter in limiters {
            let run = Run(limiter, tiles: tiles, connections: connections, asksForPause: asks, random: &random)
            let what = "seed \(seed): \(limiter), \(tiles) tiles, \(connections) connections, asks \(asks): \(run)"
            #expect(Double(run.requests) <= 1.4 * Double(tiles) + 15, "\(what)")
            #expect(Double(run.time) <= 1.75 * limiter.leastTime(for: tiles) + 90_000, "\(what)")
        }
    }

    /// 20 requests in 10 s, of 64 tiles, with 4 connections.
    @Test(arguments: [false, true]) func aScreenBehindALimit(asks: Bool) {
        var random = SplitMix64(seed: 7)
        let limiter = Limiter.sliding(20, span: 10_000, sent: [])
        let run = Run(limiter, tiles: 64, connections: 4, asksForPause: asks, random: &random)
        #expect(run.requests - run.refused == 64 && run.requests <= 80 && run.time <= 60_000, "\(run)")
    }

    @Test func pausesDoubleAndEnd() {
        var pace = OriginPace()
        var now: Int64 = 1000
        var waits: [Int64] = []
        for _ in 0..<12 {
            #expect(pace.earliest(now: now, isDemand: false) <= now)
            let permit = pace.begin(now: now)
            pace.end(permit, .unreachable, now: now, first: 200, dice: 0)
            let next = pace.earliest(now: now, isDemand: true)
            #expect(next == pace.earliest(now: now, isDemand: false))
            waits.append(next - now)
            now = next
        }
        // Each is as long as the time since the first failure.
        #expect(waits == [200, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000])
        // A server that is there again holds nothing back.
        let permit = pace.begin(now: now)
        pace.end(permit, .answered, now: now + 20, first: 200, dice: 0)
        #expect(!pace.isSpaced && pace.earliest(now: now + 20, isDemand: false) == now + 20)
    }

    @Test func onlyOneRequestDecides() {
        var pace = OriginPace()
        let early = (0..<4).map { pace.begin(now: Int64($0)) }
        pace.end(early[0], .answered, now: 100, first: 200, dice: 0)
        pace.end(early[1], .refused(pause: 0), now: 110, first: 200, dice: 1)
        // A tenth longer at most. Requests from before neither prolong the pause nor end it.
        #expect(pace.earliest(now: 110, isDemand: true) == 330)
        pace.end(early[2], .refused(pause: 0), now: 120, first: 200, dice: 0)
        pace.end(early[3], .answered, now: 130, first: 200, dice: 0)
        #expect(pace.earliest(now: 130, isDemand: true) == 330)
        #expect(pace.earliest(now: 330, isDemand: true) == 330)
        let deciding = pace.begin(now: 330)
        #expect(pace.earliest(now: 330, isDemand: true) == 330 + OriginPace.decision)
        // Cancelled, it leaves the decision to the next one.
        pace.end(deciding, .unknown, now: 340, first: 200, dice: 0)
        #expect(pace.earliest(now: 340, isDemand: true) == 340)
        let second = pace.begin(now: 340)
        pace.end(second, .answered, now: 360, first: 200, dice: 0)
        #expect(pace.isSpaced)
        let (demand, other) = (pace.earliest(now: 360, isDemand: true), pace.earliest(now: 360, isDemand: false))
        #expect(demand > 360 && demand <= 860 && other >= demand + Int64(4 * pace.interval))
    }

    /// After a while without requests half as many more come at once as were answered before the first refusal, and half
    /// of that after the second.
    @Test func whatWasNotAskedIsMadeUpFor() {
        var pace = OriginPace()
        var now: Int64 = 0
        func ask(_ verdict: OriginPace.Verdict) {
            pace.end(pace.begin(now: now), verdict, now: now + 20, first: 200, dice: 0)
            now = max(now + 100, pace.earliest(now: now + 20, isDemand: true))
        }
        for _ in 0..<10 { ask(.answered) }
        for most in [6, 3] {
            ask(.refused(pause: 0))
            ask(.answered)
            now += Int64(20 * pace.interval)
            var permits: [OriginPace.Permit] = []
            // Sums of intervals are rounded up to a millisecond.
            while pace.earliest(now: now, isDemand: true) <= now + 1 { permits.append(pace.begin(now: now)) }
            #expect(permits.count == most)
            for permit in permits { pace.end(permit, .answered, now: now + 20, first: 200, dice: 0) }
            now += Int64(20 * pace.interval)
        }
    }

    @Test func whatTheServerAsksForIsKept() {
        let pauses: [(Int64, Int64)] = [(0, 200), (100, 200), (5000, 5000), (60_000, 60_000), (3_600_000, 60_000)]
        for (asked, wait) in pauses {
            var pace = OriginPace()
            pace.end(pace.begin(now: 0), .refused(pause: asked), now: 50, first: 200, dice: 0)
            #expect(pace.earliest(now: 50, isDemand: true) == 50 + wait)
        }
        // A longer one of a request from before counts too.
        var pace = OriginPace()
        let permits = (0..<2).map { _ in pace.begin(now: 0) }
        pace.end(permits[0], .refused(pause: 1000), now: 10, first: 200, dice: 0)
        pace.end(permits[1], .refused(pause: 4000), now: 20, first: 200, dice: 0)
        #expect(pace.earliest(now: 20, isDemand: true) == 4020)
    }

    @Test func aRefusalIsForgotten() {
        var pace = OriginPace()
        pace.end(pace.begin(now: 0), .refused(pause: 0), now: 10, first: 200, dice: 0)
        pace.end(pace.begin(now: 300), .answered, now: 320, first: 200, dice: 0)
        let end = 10 + OriginPace.memory
        for now in [end, end + 1] {
            _ = pace.begin(now: now)
            #expect(pace.isSpaced == (now == end))
        }
        #expect(pace.earliest(now: end + 2, isDemand: false) == end + 2)
    }

    /// Of many origins those that hold nothing back are forgotten, and no others.
    @Test func closedOriginsAreKnown() {
        let (address, open) = ("http://closed.pace.example/", "http://open.pace.example/")
        let (origin, other) = (Origin.of(address), Origin.of(open))
        origin.end(origin.begin(now: 0), .unreachable, now: 1, first: 200)
        for number in 0..<10 { _ = Origin.of("http://\(number).few.pace.example/") }
        #expect(Origin.of(open) === other)
        for number in 0..<1100 { _ = Origin.of("http://\(number).pace.example/") }
        #expect(Origin.of(address) === origin && Origin.of(open) !== other)
    }

    @Test func sourcesOfOneServerShareIt() {
        let origin = Origin.of("http://pace.example:81/1/2/3.png?key=a")
        #expect(origin === Origin.of("HTTP://me:secret@PACE.example:81/other"))
        for other in ["https://pace.example:81/", "http://pace.example/", "http://a.pace.example:81/", "no address"] {
            #expect(origin !== Origin.of(other))
        }
    }
}
