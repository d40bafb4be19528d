import Testing

@testable import TileCache
@testable import TileSources

/// Servers of this process that change between requests: requests and drawn pixels follow HTTP's rules.
@Suite(.timeLimit(.minutes(45))) struct HTTPModelTests {
    /// A world of one tile, through a cache.
    private final class Scene {
        let source: HTTPTileSource
        let cache: TileCache
        let layer: TileLayer
        private let view: TileView

        init(_ template: String, _ change: (inout HTTPTileOptions) -> Void = { _ in }) throws {
            var http = HTTPTileOptions(zooms: 0...0, connections: 1, timeout: .seconds(60), retries: 0)
            change(&http)
            source = try HTTPTileSource(template: template, http: http, options: TileSourceOptions(tileSize: 32))
            cache = try TileCache(byteLimit: .mebibytes(1), workers: 1)
            layer = try source.addLayer(to: cache)
            view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        }

        /// Drawn pixels; `nil` if there are none.
        func drawn() -> [UInt8]? {
            view.update(TileViewport(center: WorldPoint(x: 16, y: 16), width: 32, height: 32))
            return view.frame().first.map { placement in placement.tile.withUnsafeBytes { Array($0) } }
        }
    }

    /// State and answers of a server, and what a conforming client would keep and draw.
    private struct Model {
        struct Kept {
            var address: String
            var tag: String?
            var date: String?
            var body: Int
        }

        var random: SplitMix64
        var body = 0
        var tag: String?
        var date: String?
        var changes = 0
        var kept: Kept?
        /// Body of the last exchange; `nil` if the tile was absent or failed.
        var delivered: Int?
        var failures = 0
        /// Whether the last exchange failed permanently.
        var isPermanent = false
        var redirections = 0
        var notModified = 0
        /// Exchanges whose conditional headers did not match the kept answer.
        var wrong: [String] = []

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        mutating func draw(_ count: UInt64) -> UInt64 { random.next() % count }

        /// Replaces the server's tile, its validator, or neither.
        mutating func change() {
            changes += 1
            if draw(3) == 0 { body = Int(draw(4)) }
            if draw(2) == 0 {
                tag = draw(4) == 0 ? nil : "\"t\(changes)\""
                date = draw(2) == 0 ? nil : "Tue, 15 Nov 1994 12:\(10 + changes % 50):26 GMT"
            }
        }

        private func names() -> [String] {
            [tag.map { "ETag: \($0)" }, date.map { "Last-Modified: \($0)" }].compactMap { $0 }
        }

        /// Answers a request for an address, which is `there` after a redirection.
        mutating func answer(
            _ request: ModelServer.Request,
            _ address: String,
            isRedirected: Bool,
            there: [String],
            bodies: [[UInt8]]
        ) -> ModelServer.Answer {
            if !isRedirected { change() }
            let own = kept?.address == address ? kept : nil
            let (tagAsked, dateAsked) = (request.headers["if-none-match"], request.headers["if-modified-since"])
            if tagAsked != own?.tag || dateAsked != own?.date {
                let asked = "\(tagAsked ?? "-"), \(dateAsked ?? "-")"
                wrong.append("\(asked) instead of \(own?.tag ?? "-"), \(own?.date ?? "-") at \(address)")
            }
            (delivered, isPermanent) = (nil, false)
            if !isRedirected, draw(3) == 0 {
                redirections += 1
                // The redirection has validators, but is not the tile's answer.
                let target = there[Int(draw(UInt64(there.count)))]
                return .init(
                    status: 302,
                    headers: ["Location: \(target)", "ETag: \"redirection\""] + names().suffix(1)
                )
            }
            let isUnchanged =
                own.map { $0.body == body && ($0.tag == tag || $0.tag == nil) && $0.date == date } ?? false
            switch draw(16) {
            case 0:
                kept = nil
                return .init(status: 404, headers: names())
            case 1:
                failures += 1
                return .init(status: 503, headers: names(), body: Array("<p>later</p>".utf8))
            case 2:
                failures += 1
                kept = nil
                return .init(headers: names(), body: Array("no picture".utf8))
            // Also a 304 to an unconditional request, or from a server that has a newer tile.
            case 3,
                4 where isUnchanged, 5 where isUnchanged, 6 where isUnchanged, 7 where isUnchanged,
                8 where isUnchanged, 9 where isUnchanged:
                if let own {
                    notModified += 1
                    delivered = own.body
                } else {
                    failures += 1
                    isPermanent = true
                }
                return .init(status: 304, headers: draw(2) == 0 ? names() : ["ETag: \"another\""])
            default:
                delivered = body
                kept = tag == nil && date == nil ? nil : Kept(address: address, tag: tag, date: date, body: body)
                return .init(headers: names(), body: bodies[body])
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func revalidationFollowsTheRules(seed: UInt64) throws {
        let images = (0..<4).map { TestImage(width: 32, height: 32, seed: $0) }
        let bodies = images.map(\.png)
        let model = Lock(Model(seed: seed))
        let ports = Lock<[Int]>([])
        let answer: @Sendable (ModelServer.Request, Int) -> ModelServer.Answer = { request, server in
            let ports = ports.withLock { $0 }
            let there = ["/there", "http://127.0.0.1:\(ports[1])/other"]
            return model.withLock {
                $0.answer(
                    request,
                    "\(ports[server])\(request.path)",
                    isRedirected: request.path != "/0/0/0",
                    there: there,
                    bodies: bodies
                )
            }
        }
        let first = try #require(ModelServer { answer($0, 0) })
        let second = try #require(ModelServer { answer($0, 1) })
        ports.withLock { $0 = [first.port, second.port] }
        let scene = try Scene(first.template)
        for round in 0..<50 {
            let before = scene.source.statistics
            scene.layer.invalidate(keepsStale: false)
            var pixels: [UInt8]?
            var failed = before.failureCount
            // Transient failures are retried; permanent ones end a round, so that no exchange is in flight.
            let isAnswered = settled {
                pixels = scene.drawn()
                let statistics = scene.source.statistics
                let isFailed =
                    model.withLock { $0.isPermanent && $0.failures == statistics.failureCount }
                    && statistics.failureCount > before.failureCount
                if pixels != nil || statistics.absent > before.absent || isFailed { return true }
                if statistics.failureCount > failed {
                    failed = statistics.failureCount
                    // Without the wait of a second.
                    scene.layer.invalidate(keepsStale: false)
                }
                return false
            }
            let (delivered, wrong, failures) = model.withLock { ($0.delivered, $0.wrong, $0.failures) }
            let isRight = pixels == delivered.map { images[$0].pixels }
            #expect(isAnswered && isRight && wrong.isEmpty, "seed \(seed), round \(round): \(wrong)")
            #expect(scene.source.statistics.failureCount == failures, "seed \(seed), round \(round)")
            if !isAnswered || !isRight || !wrong.isEmpty { break }
        }
        // The model has seen every kind of event.
        let counts = model.withLock { ($0.redirections, $0.notModified) }
        #expect(counts.0 > 5 && counts.1 > 1, "seed \(seed): \(counts)")
        #expect(scene.cache.shutdown())
        withExtendedLifetime((first, second)) {}
    }

    /// Requests to two servers, in order.
    private struct Log {
        var ports: [Int] = []
        var requests: [(server: Int, request: ModelServer.Request)] = []
    }

    /// One tile, fetched through redirections, and the requests that each server received.
    private func fetched(
        _ user: String = "",
        host: String = "127.0.0.1",
        _ change: (inout HTTPTileOptions) -> Void = { _ in },
        _ redirections: @escaping @Sendable (_ path: String, _ ports: [Int]) -> String?
    ) throws -> (log: [(server: Int, request: ModelServer.Request)], statistics: TileSourceStatistics, isDrawn: Bool) {
        let body = TestImage(width: 32, height: 32).png
        let log = Lock(Log())
        let answer: @Sendable (ModelServer.Request, Int) -> ModelServer.Answer = { request, server in
            let ports = log.withLock { log in
                log.requests.append((server, request))
                return log.ports
            }
            guard let target = redirections(request.path, ports) else { return .init(body: body) }
            return .init(status: 307, headers: ["Location: \(target)"])
        }
        let first = try #require(ModelServer { answer($0, 0) })
        let second = try #require(ModelServer { answer($0, 1) })
        log.withLock { $0.ports = [first.port, second.port] }
        let template = first.template.replacing("http://127.0.0.1", with: "http://\(user)\(host)")
        let scene = try Scene(template) { options in
            options.headers = ["X-Api-Key: secret"]
            change(&options)
        }
        let isEnded = settled { scene.drawn() != nil || scene.source.statistics.failureCount > 0 }
        #expect(isEnded)
        let isDrawn = scene.drawn() != nil
        #expect(scene.cache.shutdown())
        return withExtendedLifetime((first, second)) {
            (log.withLock { $0.requests }, scene.source.statistics, isDrawn)
        }
    }

    /// Follows redirections to another port and back. The key, the user and the password are sent to the first server
    /// only.
    @Test func secretsStayWithTheirOrigin() throws {
        let target: @Sendable (String, [Int]) -> String? = { path, ports in
            switch path {
            case "/0/0/0": "/same"
            case "/same": "//127.0.0.1:\(ports[1])/other"
            case "/other": "http://127.0.0.1:\(ports[0])/back"
            default: nil
            }
        }
        let kept = try fetched("user:p%40ss@", { _ in }, target)
        #expect(kept.isDrawn && kept.log.map(\.request.path) == ["/0/0/0", "/same", "/other", "/back"])
        // "user:p@ss" in base 64.
        for (server, request) in kept.log {
            #expect(request.headers["x-api-key"] == (server == 0 ? "secret" : nil), "\(request)")
            #expect(request.headers["authorization"] == (server == 0 ? "Basic dXNlcjpwQHNz" : nil), "\(request)")
            #expect(request.headers["cookie"] == nil && request.headers["referer"] == nil)
        }
        let given = try fetched("user:p%40ss@", { $0.sendsHeadersToOtherOrigins = true }, target)
        #expect(given.isDrawn && given.log.allSatisfy { $0.request.headers["x-api-key"] == "secret" })
        #expect(given.log.map { $0.request.headers["authorization"] == nil } == [false, false, true, false])
    }

    /// A place in the host: the key goes to the tile's own server, also after a redirection elsewhere and back.
    @Test func tilesOfManyHostsHaveTheirSecrets() throws {
        let target: @Sendable (String, [Int]) -> String? = { path, ports in
            switch path {
            case "/0/0/0": "http://127.0.0.1:\(ports[1])/other"
            case "/other": "http://127.0.0.1:\(ports[0])/back"
            default: nil
            }
        }
        let result = try fetched("user:word@", host: "127.0.{x}.1", { _ in }, target)
        #expect(result.isDrawn && result.log.map(\.request.path) == ["/0/0/0", "/other", "/back"])
        for (server, request) in result.log {
            #expect(request.headers["x-api-key"] == (server == 0 ? "secret" : nil), "\(request)")
            #expect((request.headers["authorization"] != nil) == (server == 0), "\(request)")
        }
    }

    @Test func originsAreSchemeHostAndPort() {
        func origin(_ text: String) -> [String]? { HTTPAddress(text)?.origin }
        #expect(
            origin("http://h/a") == origin("HTTP://H:80/b?c#d") && origin("https://h") == origin("https://u:p@h:443/")
        )
        #expect(origin("https://h/a") != origin("http://h/a") && origin("http://h") != origin("http://h:81"))
        #expect(origin("http://h") != origin("http://h.example") && origin("https://h:80") != origin("http://h:80"))
        for text in ["ftp://h/", "file:///etc/passwd", "h/a", "", "http://", "http://h:99999/"] {
            #expect(origin(text) == nil, "\(text)")
        }
    }

    /// Refused redirections are permanent: the tile is requested once.
    @Test(arguments: [
        ("ftp://127.0.0.1/tile", "address of http or https was expected"),
        ("file:///etc/passwd", "address of http or https was expected"), ("/0/0/0", "more than 5 redirections"),
    ])
    func refusedRedirectionsAreNotRetried(target: String, expected: String) throws {
        let result = try fetched("", { ($0.retries, $0.backOff) = (3, .milliseconds(1)) }) { _, _ in target }
        #expect(result.statistics.failures == [.status: 1] && result.statistics.retries == 0 && !result.isDrawn)
        #expect(result.log.count == (target == "/0/0/0" ? 6 : 1))
        let last = try #require(result.statistics.lastFailure)
        #expect(last.contains(expected), "\(last)")
    }

    /// A password is left out before a long address is cut off.
    @Test func passwordsOfRefusedRedirectionsAreLeftOut() {
        let password = String(repeating: "secret", count: 50)
        let end = RetryRule.end(redirectedTo: "ftp://me:\(password)@h/", number: 1)
        guard case .failed(_, let message, _, _) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(message.hasSuffix("not to ftp://***@h/"), "\(message)")
    }

    /// What fails behind a redirection is another server's fault. Its path and query may be a key.
    @Test func failuresNameTheTargetOfARedirection() throws {
        let other = try #require(ModelServer { _ in .init(status: 403) })
        let place = "http://127.0.0.1:\(other.port)"
        let result = try fetched("", { _ in }) { _, _ in "\(place)/signed?key=secret" }
        let last = try #require(result.statistics.lastFailure)
        #expect(last.hasSuffix("/0/0/0: the server answered with the status 403 (redirected to \(place))"), "\(last)")
        let moved = try #require(
            ModelServer { _ in .init(status: 302, headers: ["Location: \(place)/signed?key=secret"]) }
        )
        let address = "http://127.0.0.1:\(moved.port)/a"
        let said = message { _ = try HTTPTileSource(iiif: address) }
        #expect(said == "\(address)/info.json: the server answered with the status 403 (redirected to \(place))")
        withExtendedLifetime((other, moved)) {}
    }

    /// libcurl tells where a redirection leads only once its body has ended, however long that is.
    @Test func redirectionsMayHaveLongBodies() throws {
        let image = TestImage(width: 32, height: 32)
        let body = image.png
        let server = try #require(
            ModelServer { request in
                guard request.path == "/0/0/0" else { return .init(body: body) }
                return .init(status: 302, headers: ["Location: /there"], body: [UInt8](repeating: 32, count: 1 << 20))
            }
        )
        let scene = try Scene(server.template)
        var pixels: [UInt8]?
        let isEnded = settled {
            pixels = scene.drawn()
            return pixels != nil || scene.source.statistics.failureCount > 0
        }
        let isRight = pixels == image.pixels
        #expect(isEnded && isRight && scene.source.statistics.failureCount == 0, "\(scene.source.statistics)")
        #expect(scene.cache.shutdown())
        withExtendedLifetime(server) {}
    }

    /// The body of a 404 is not read to its end. Nor are headers that are too long.
    @Test func answersThatAreNoTilesAreNotReadToTheirEnd() throws {
        let kinds: [(ModelServer.Answer, TileLoadFailureCause?)] = [
            (.init(status: 404, body: [UInt8](repeating: 32, count: 1 << 20)), nil),
            // It leads nowhere.
            (.init(status: 302, body: [UInt8](repeating: 32, count: 1 << 20)), .status),
            (.init(headers: (0..<2000).map { "X-\($0): \(String(repeating: "x", count: 50))" }), .tooLarge),
            (.init(headers: ["X: \(String(repeating: "x", count: 200_000))"]), .tooLarge),
        ]
        for (answer, cause) in kinds {
            let server = try #require(ModelServer { _ in answer })
            let scene = try Scene(server.template)
            #expect(
                settled {
                    _ = scene.drawn()
                    return scene.source.statistics.absent + scene.source.statistics.failureCount > 0
                }
            )
            #expect(scene.source.statistics.failures == (cause.map { [$0: 1] } ?? [:]))
            #expect(scene.source.statistics.absent == (cause == nil ? 1 : 0))
            #expect(scene.cache.shutdown())
        }
    }

    /// A refusal whose body breaks off is a refusal: its server is asked later, not at once again.
    @Test func aRefusalThatBreaksOffIsOne() throws {
        let body = Array("too many requests".utf8)
        let server = try #require(ModelServer { _ in .init(status: 429, body: body, isCutOff: true) })
        let scene = try Scene(server.template) { ($0.retries, $0.backOff) = (3, .milliseconds(1)) }
        #expect(
            settled {
                _ = scene.drawn()
                return scene.source.statistics.postponed + scene.source.statistics.retries > 0
            }
        )
        #expect(scene.source.statistics.retries == 0 && scene.source.statistics.failures.keys.contains(.status))
        #expect(scene.cache.shutdown())
    }

    /// A few kilobytes of gzip become megabytes, which count against the limit before they are in memory.
    @Test func whatComesOfGzipNeedsRoom() throws {
        let body = MadePMTiles.gzip(TestImage(width: 32, height: 32).png + [UInt8](repeating: 0, count: 4 << 20))
        let server = try #require(ModelServer { _ in .init(body: body) })
        let scene = try Scene(server.template)
        #expect(
            settled {
                _ = scene.drawn()
                return scene.source.statistics.failureCount > 0
            }
        )
        #expect(Array(scene.source.statistics.failures.keys) == [.noRoom])
        #expect(scene.cache.shutdown())
    }
}
