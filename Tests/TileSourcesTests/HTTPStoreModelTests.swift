import Testing
import TileDiskStore

@testable import TileCache
@testable import TileSources

/// Runs a program many times over one store. Requests to a random server and drawn pixels follow a naive model.
@Suite(.timeLimit(.minutes(45))) struct HTTPStoreModelTests {
    /// Stored entry of a conforming client.
    private struct Stored {
        /// `nil` if the tile is absent.
        var body: Int?
        var tag: String?
        var date: String?
        var lifetime: Int64
        var stale: Int64
        var expires: Int64

        /// Whether no look-up can use it.
        func isUseless(at now: Int64) -> Bool { tag == nil && date == nil && now >= expires + stale }
    }

    /// A server that changes with each request, and the expected effects of its answers.
    private struct Model {
        var random: SplitMix64
        var now: Int64 = 1_000_000
        var body = 0
        var stored: Stored?
        /// Requests that were made, and their differences from the expected ones.
        var requests = 0
        var wrong: [String] = []
        var confirmed = 0
        var changes = 0

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        mutating func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

        private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[draw(elements.count)] }

        mutating func answer(_ request: ModelServer.Request, bodies: [[UInt8]]) -> ModelServer.Answer {
            let asked = [request.headers["if-none-match"], request.headers["if-modified-since"]]
            let isRedirected = request.path != "/0/0/0"
            let expected = isRedirected ? [nil, nil] : [stored?.tag, stored?.date]
            if asked != expected { wrong.append("\(request.path): \(asked) and not \(expected)") }
            // After a redirection without a lifetime of its own.
            if !isRedirected {
                requests += 1
                if draw(5) == 0 { return .init(status: 302, headers: ["Location: /there"]) }
            }
            let lifetime = Int64(draw(100))
            var headers: [String] = []
            var rules: (lifetime: Int64, stale: Int64) = (lifetime, 50)
            switch draw(6) {
            case 0: rules = (3600, 50)
            case 1:
                headers = ["Cache-Control: no-cache, max-age=\(lifetime)"]
                rules = (0, 0)
            case 2:
                headers = ["Cache-Control: max-age=\(lifetime), must-revalidate"]
                rules.stale = 0
            case 3:
                headers = ["Cache-Control: max-age=\(lifetime), stale-while-revalidate=20"]
                rules.stale = 20
            default: headers = ["Cache-Control: max-age=\(lifetime)"]
            }
            if let stored, asked != [nil, nil], draw(2) == 0 {
                confirmed += 1
                if headers.isEmpty { rules = (stored.lifetime, stored.stale) }
                set(
                    Stored(body: stored.body, tag: stored.tag, date: stored.date, lifetime: 0, stale: 0, expires: 0),
                    rules
                )
                return .init(status: 304, headers: headers)
            }
            changes += 1
            if draw(2) == 0 { body = draw(bodies.count) }
            let tag = draw(3) == 0 ? nil : "\"t\(changes)\""
            let date = draw(2) == 0 ? nil : "no date \(changes)"
            if let tag { headers.append("ETag: \(tag)") }
            if let date { headers.append("Last-Modified: \(date)") }
            if isRedirected {
                // The redirection's own lifetime is 0.
                rules = (0, min(rules.lifetime + rules.stale, 50))
            }
            if draw(6) == 0 {
                set(Stored(lifetime: 0, stale: 0, expires: 0), rules)
                return .init(status: 404, headers: headers)
            }
            let kept = Stored(
                body: body,
                tag: isRedirected ? nil : tag,
                date: isRedirected ? nil : date,
                lifetime: 0,
                stale: 0,
                expires: 0
            )
            set(kept, rules)
            return .init(headers: headers, body: bodies[body])
        }

        private mutating func set(_ stored: Stored, _ rules: (lifetime: Int64, stale: Int64)) {
            var stored = stored
            (stored.lifetime, stored.stale, stored.expires) = (rules.lifetime, rules.stale, now + rules.lifetime)
            self.stored = stored
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func manyRunsOverOneStore(seed: UInt64) throws {
        let images = (0..<3).map { TestImage(width: 32, height: 32, seed: $0) }
        let bodies = images.map(\.png)
        let model = Lock(Model(seed: seed))
        let server = try #require(ModelServer { request in model.withLock { $0.answer(request, bodies: bodies) } })
        let (folder, clock) = (ScratchFolder(), StoredRun.Clock())
        let tile = TileCoordinate(level: 0, column: 0, row: 0)
        var (fresh, stale, asked) = (0, 0, 0)
        for round in 0..<40 {
            let (now, before) = model.withLock { model -> (Int64, (stored: Stored?, requests: Int)) in
                // Often exactly at a boundary.
                let end = model.stored.map { [$0.expires, $0.expires + $0.stale][model.draw(2)] }
                let step = Int64(model.draw(60))
                model.now = max(
                    model.now,
                    (model.draw(2) == 0 ? end : nil).map { $0 - Int64(model.draw(2)) } ?? model.now + step
                )
                return (model.now, (model.stored, model.requests))
            }
            clock.now = now
            let run = try StoredRun(server.template, folder, clock, over: { $0 }) {
                $0.usesStale = .seconds(50)
            }
            let isFresh = before.stored.map { now < $0.expires } ?? false
            let isStale = !isFresh && (before.stored.map { $0.body != nil && now < $0.expires + $0.stale } ?? false)
            let requests = before.requests + (isFresh ? 0 : 1)
            // A stale tile is a load from the store, then a revalidation. All others are one load.
            let answers = isStale ? 2 : 1
            let isDone = settled {
                _ = run.drawn()
                let (loads, renewals) = (run.cache.statistics.loads, run.cache.statistics.revalidations)
                return loads.finished + loads.absent + renewals.changed + renewals.unchanged >= answers
            }
            let drawn = run.drawn()[tile].map { $0.isStale ? [] : $0.pixels }
            let figures = run.cache.statistics
            let isExpected = model.withLock { model in
                model.requests == requests && drawn == model.stored?.body.map { images[$0].pixels }
                    && figures.loads.started == 1 && figures.revalidations.started == answers - 1
            }
            // What no look-up can use is only written over an older entry.
            let after = model.withLock { $0.stored }
            let isUseless = [before.stored, after].allSatisfy { $0?.isUseless(at: now) ?? true }
            let isWritten = settled {
                isFresh || isUseless || run.counts.writes + run.source.statistics.notModified > 0
            }
            let staleHits = run.counts.staleHits
            run.end()
            let wrong = model.withLock { $0.wrong }
            let isRight = isDone && isExpected && isWritten && wrong.isEmpty && staleHits == answers - 1
            #expect(
                isRight,
                "seed \(seed), round \(round): \(isDone), \(isExpected), \(isWritten), \(staleHits) stale, \(wrong)"
            )
            if !isRight { break }
            fresh += isFresh ? 1 : 0
            stale += isStale ? 1 : 0
            asked += isFresh ? 0 : 1
        }
        let confirmed = model.withLock { $0.confirmed }
        #expect(fresh > 5 && stale > 2 && asked > 10 && confirmed > 2, "\(fresh), \(stale), \(asked), \(confirmed)")
        withExtendedLifetime(server) {}
    }
}
