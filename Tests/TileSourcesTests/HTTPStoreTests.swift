import Testing

@testable import TileCache
@testable import TileSources

/// Keeps tiles of a server in a store on disk. Tests requests and drawn pixels of later runs.
@Suite(.timeLimit(.minutes(45))) struct HTTPStoreTests {
    private typealias Run = StoredRun
    private typealias Clock = StoredRun.Clock

    /// Requests to a server of one body a tile, and its answers.
    private struct Log {
        var requests: [ModelServer.Request] = []
        var bodies = 0
        var confirmed = 0
    }

    private static func image(_ path: String) -> TestImage {
        TestImage(width: 32, height: 32, seed: path.utf8.reduce(0) { $0 * 31 + Int($1) })
    }

    /// Tiles are loaded once, then drawn without a request, then confirmed without a body.
    @Test func laterRunsTransferNothing() throws {
        let log = Lock(Log())
        let server = try #require(
            ModelServer { request in
                let tag = "\"\(request.path)\""
                return log.withLock { log in
                    log.requests.append(request)
                    if request.headers["if-none-match"] == tag {
                        log.confirmed += 1
                        // States no lifetime: that of the confirmed answer stays.
                        return .init(status: 304)
                    }
                    log.bodies += 1
                    let headers = ["Cache-Control: max-age=100", "ETag: \(tag)"]
                    return .init(headers: headers, body: Self.image(request.path).png)
                }
            }
        )
        let (folder, clock) = (ScratchFolder(), Clock())
        func check(_ run: Run) {
            for (tile, drawn) in run.drawn() {
                let expected = Self.image("/2/\(tile.column)/\(tile.row)").pixels
                #expect(drawn.pixels == expected, "\(tile)")
            }
        }
        let first = try Run(server.template, folder, clock, zoom: 2)
        #expect(first.draws(16))
        #expect(settled { first.counts.writes == 16 })
        check(first)
        first.end()
        #expect(log.withLock { [$0.requests.count, $0.bodies] } == [16, 16])

        clock.now += 99
        let second = try Run(server.template, folder, clock, zoom: 2)
        #expect(second.draws(16))
        check(second)
        #expect(second.counts.hits == 16 && second.counts.staleHits == 0 && second.source.statistics.attempts == 0)
        second.end()

        // Expired: drawn at once, and confirmed.
        clock.now += 1
        let third = try Run(server.template, folder, clock, zoom: 2)
        #expect(settled { third.drawn().count == 16 && third.source.statistics.notModified == 16 })
        #expect(third.draws(16))
        check(third)
        #expect(third.counts.staleHits == 16 && third.source.statistics.attempts == 16)
        third.end()
        #expect(log.withLock { [$0.requests.count, $0.bodies, $0.confirmed] } == [32, 16, 16])

        clock.now += 99
        let fourth = try Run(server.template, folder, clock, zoom: 2)
        #expect(fourth.draws(16))
        check(fourth)
        #expect(fourth.source.statistics.attempts == 0)
        fourth.end()
        withExtendedLifetime(server) {}
    }

    /// A server of one tile, whose answer a test sets.
    private final class Origin: Sendable {
        struct State {
            var headers: [String]
            var status = 200
            var image = "a"
            /// Address of the tile, if it has moved.
            var redirection: String?
            var requests: [ModelServer.Request] = []
        }

        private let state: Lock<State>

        init(_ headers: String...) { state = Lock(State(headers: headers)) }

        func answer(_ request: ModelServer.Request) -> ModelServer.Answer {
            state.withLock { state in
                state.requests.append(request)
                if let target = state.redirection, request.path == "/0/0/0" {
                    return .init(status: 302, headers: ["Location: \(target)", "Cache-Control: max-age=1000"])
                }
                let body = state.status == 200 ? HTTPStoreTests.image(state.image).png : []
                return .init(status: state.status, headers: state.headers, body: body)
            }
        }

        func change(_ body: @Sendable (inout State) -> Void) { state.withLock { body(&$0) } }

        /// Validators of the requests since the last call.
        var asked: [String] {
            state.withLock { state in
                defer { state.requests = [] }
                return state.requests.map { request in
                    let tag = request.headers["if-none-match"] ?? "-"
                    return "\(request.path) \(tag) \(request.headers["if-modified-since"] ?? "-")"
                }
            }
        }
    }

    private func serve(_ origin: Origin) throws -> ModelServer { try #require(ModelServer { origin.answer($0) }) }

    private let tile = TileCoordinate(level: 0, column: 0, row: 0)

    /// A run that draws the tile, with its store's files closed after it.
    private func run(
        _ server: ModelServer,
        _ folder: ScratchFolder,
        _ clock: Clock,
        expecting image: String,
        isKept: Bool = true,
        _ change: (inout HTTPTileOptions) -> Void = { _ in }
    ) throws {
        let run = try Run(server.template, folder, clock, change)
        #expect(run.draws(1))
        #expect(run.drawn()[tile]?.pixels == Self.image(image).pixels)
        // No write or renewal is skipped.
        let isKnown = { run.counts.writes + run.counts.hits + run.source.statistics.notModified > 0 }
        #expect(isKept ? settled(isKnown) : !isKnown())
        run.end()
    }

    @Test func whatMustNotBeStoredIsAskedForAgain() throws {
        let origin = Origin("Cache-Control: no-store, max-age=100", "ETag: \"a\"")
        let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
        try run(server, folder, clock, expecting: "a", isKept: false)
        try run(server, folder, clock, expecting: "a", isKept: false)
        #expect(origin.asked == ["/0/0/0 - -", "/0/0/0 - -"])
    }

    /// A header may go on in lines that begin with a space or a tab.
    @Test func whatMustNotBeStoredMayBeInAFoldedLine() throws {
        let origin = Origin("Cache-Control: max-age=100,", "\tprivate,", "  no-store", "ETag: \"a\"")
        let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
        for _ in 0..<2 { try run(server, folder, clock, expecting: "a", isKept: false) }
        #expect(origin.asked == ["/0/0/0 - -", "/0/0/0 - -"])
    }

    /// Expired tiles with a validator are not drawn before the server has answered. Stale tiles are not used.
    @Test func expiredTilesAreRevalidatedBeforeTheyAreDrawn() throws {
        for rule in ["no-cache", "max-age=0, must-revalidate", "max-age=0, stale-while-revalidate=0"] {
            let origin = Origin("Cache-Control: \(rule)", "ETag: \"a\"", "Last-Modified: now")
            let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
            try run(server, folder, clock, expecting: "a")
            origin.change { $0.status = 304 }
            try run(server, folder, clock, expecting: "a")
            origin.change { ($0.status, $0.image, $0.headers) = (200, "b", ["Cache-Control: \(rule)"]) }
            let late = try Run(server.template, folder, clock)
            #expect(settled { late.drawn().count == 1 })
            #expect(late.drawn()[tile]?.pixels == Self.image("b").pixels && late.counts.staleHits == 0, "\(rule)")
            #expect(settled { late.counts.writes == 1 })
            late.end()
            // The new answer has no validator.
            try run(server, folder, clock, expecting: "b")
            #expect(origin.asked == ["/0/0/0 - -", "/0/0/0 \"a\" now", "/0/0/0 \"a\" now", "/0/0/0 - -"], "\(rule)")
        }
    }

    @Test func staleTilesAreDrawnAsLongAsTheOptionSays() throws {
        let origin = Origin("Cache-Control: max-age=10")
        let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
        try run(server, folder, clock, expecting: "a") { $0.usesStale = .seconds(5) }
        // No more answers: the stale tile stays.
        origin.change { $0.status = 503 }
        clock.now += 14
        let stale = try Run(server.template, folder, clock)
        #expect(settled { stale.drawn()[tile]?.isStale == true && stale.source.statistics.failureCount > 0 })
        stale.end()
        clock.now += 1
        let expired = try Run(server.template, folder, clock)
        #expect(settled { expired.drawn().isEmpty && expired.source.statistics.failureCount > 0 })
        #expect(expired.drawn().isEmpty && expired.counts.staleHits == 0)
        expired.end()
        withExtendedLifetime(server) {}
    }

    /// Validators of another address are not stored. Stored ones are not sent to another address.
    @Test func validatorsStayWithTheTilesOwnAddress() throws {
        let origin = Origin("Cache-Control: max-age=10", "ETag: \"a\"")
        let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
        try run(server, folder, clock, expecting: "a")
        // From the tile's own address, then from another one, then from its own again.
        clock.now += 10
        origin.change { ($0.redirection, $0.image) = ("/there", "b") }
        try run(server, folder, clock, expecting: "b")
        clock.now += 10
        try run(server, folder, clock, expecting: "b")
        clock.now += 10
        origin.change { $0.redirection = nil }
        try run(server, folder, clock, expecting: "b")
        clock.now += 10
        origin.change { $0.status = 304 }
        try run(server, folder, clock, expecting: "b")
        let expected = [
            "/0/0/0 - -", "/0/0/0 \"a\" -", "/there - -", "/0/0/0 - -", "/there - -", "/0/0/0 - -", "/0/0/0 \"a\" -",
        ]
        #expect(origin.asked == expected)
    }

    @Test func absencesExpire() throws {
        let origin = Origin("Cache-Control: max-age=10", "ETag: \"a\"")
        origin.change { $0.status = 404 }
        let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
        func look(_ condition: (Run) -> Bool) throws {
            let run = try Run(server.template, folder, clock)
            #expect(
                settled {
                    _ = run.drawn()
                    return run.cache.statistics.loads.absent == 1 && condition(run)
                }
            )
            run.end()
        }
        try look { $0.counts.writes == 1 }
        clock.now += 9
        try look { $0.counts.hits == 1 }
        #expect(origin.asked == ["/0/0/0 - -"])
        clock.now += 1
        try look { $0.counts.writes == 1 }
        #expect(origin.asked == ["/0/0/0 - -"])
        clock.now += 10
        origin.change { $0.status = 200 }
        try run(server, folder, clock, expecting: "a")
        #expect(origin.asked == ["/0/0/0 - -"])
    }

    /// The source's kept answer has precedence over the store's. Its confirmation renews the store's tile.
    @Test func keptAnswersCountFirst() throws {
        let origin = Origin("Cache-Control: max-age=10", "ETag: \"a\"")
        let (server, folder, clock) = (try serve(origin), ScratchFolder(), Clock())
        let first = try Run(server.template, folder, clock)
        #expect(first.draws(1))
        #expect(settled { first.counts.writes == 1 })
        first.end()
        clock.now += 10
        origin.change { ($0.status, $0.headers) = (304, ["Cache-Control: max-age=20", "ETag: \"other\""]) }
        let second = try Run(server.template, folder, clock, source: first.source)
        #expect(second.draws(1))
        #expect(
            settled {
                second.source.statistics.notModified == 1 && second.cache.statistics.revalidations.unchanged == 1
            }
        )
        second.end()
        clock.now += 19
        try run(server, folder, clock, expecting: "a")
        #expect(origin.asked == ["/0/0/0 - -", "/0/0/0 \"a\" -"])
        clock.now += 1
        // The tag of a confirmation does not replace the tile's.
        try run(server, folder, clock, expecting: "a")
        #expect(origin.asked == ["/0/0/0 \"a\" -"])
    }
}
