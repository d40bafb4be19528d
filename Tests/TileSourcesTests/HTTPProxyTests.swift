import Foundation
import Testing

@testable import TileCache
@testable import TileSources

/// Real servers with caching headers: alone, and behind nginx as a caching proxy.
@Suite(.enabled(if: TileServer.python != nil, "python3 is not installed"), .timeLimit(.minutes(45)))
struct HTTPProxyTests {
    private let folder = ScratchFolder()
    /// Starts at the present time, so that no answer of a real server looks aged.
    private let clock = StoredRun.Clock(Int64(time(nil)))

    /// A server of 16 tiles, zoom 2.
    private func serve(_ mode: String) throws -> TileServer {
        for column in 0..<4 {
            for row in 0..<4 { folder.write(image(column, row).png, to: "2/\(column)/\(row).png") }
        }
        return try #require(TileServer(folder: folder.path, mode: mode))
    }

    private func image(_ column: Int, _ row: Int) -> TestImage {
        TestImage(width: 32, height: 32, seed: column * 10 + row)
    }

    /// A run that draws all tiles; returns its requests to the server.
    private func run(_ template: String, _ folder: ScratchFolder, confirms: Int = 0) throws -> TileSourceStatistics {
        let run = try StoredRun(template, folder, clock, zoom: 2)
        #expect(settled { run.drawn().count == 16 && run.source.statistics.notModified == confirms })
        #expect(run.draws(16))
        for (tile, drawn) in run.drawn() {
            let expected = image(tile.column, tile.row).pixels
            #expect(drawn.pixels == expected, "\(tile)")
        }
        #expect(settled { run.counts.writes + run.counts.hits >= 16 })
        run.end()
        #expect(run.source.statistics.failureCount == 0)
        return run.source.statistics
    }

    /// The age that a server states shortens the lifetime, to the second.
    @Test func agesOfAServer() throws {
        let server = try serve("log,etag,Cache-Control:max-age=6000,Age:4000")
        let store = ScratchFolder()
        #expect(try run(server.template, store).attempts == 16)
        clock.now += 1999
        #expect(try run(server.template, store).attempts == 0)
        clock.now += 1
        #expect(try run(server.template, store, confirms: 16).attempts == 16)
        let statuses = server.answers.map { $0.prefix(3) }
        #expect(statuses.filter { $0 == "200" }.count == 16 && statuses.filter { $0 == "304" }.count == 16)
    }

    @Test(.enabled(if: NginxServer.program != nil, "nginx is not installed"))
    func aCachingProxyAnswersForItsServer() throws {
        let server = try serve("log,etag,Cache-Control:max-age=6000,Age:4000")
        let proxy = try #require(NginxServer(origin: server.port))
        let store = ScratchFolder()
        #expect(try run(proxy.template, store).attempts == 16)
        #expect(settled { proxy.answers == ["200 MISS": 16] })
        // Another user of the proxy.
        #expect(try run(proxy.template, ScratchFolder()).attempts == 16)
        #expect(settled { proxy.answers == ["200 MISS": 16, "200 HIT": 16] })
        // The first user later: the age that the proxy adds counts.
        clock.now += 1999
        #expect(try run(proxy.template, store).attempts == 0)
        clock.now += 1
        #expect(try run(proxy.template, store, confirms: 16).attempts == 16)
        #expect(settled { proxy.answers == ["200 MISS": 16, "200 HIT": 16, "304 HIT": 16] })
        #expect(server.answers.count == 16)
    }

    /// The proxy's tiles expire, and it revalidates them with the server before it confirms them.
    @Test(.enabled(if: NginxServer.program != nil, "nginx is not installed"))
    func aCachingProxyRevalidates() throws {
        let server = try serve("log,etag,Cache-Control:max-age=1")
        let proxy = try #require(NginxServer(origin: server.port))
        let store = ScratchFolder()
        #expect(try run(proxy.template, store).attempts == 16)
        var confirmed = 0
        let isRevalidated = settled {
            // Expired for the user at each turn, for the proxy after its own second.
            clock.now += 10
            confirmed += 16
            do { _ = try run(proxy.template, store, confirms: 16) } catch { Issue.record(error) }
            return (proxy.answers["304 REVALIDATED"] ?? 0) > 0
        }
        #expect(isRevalidated)
        #expect(server.answers.filter { $0.hasPrefix("200") }.count == 16)
        #expect(server.answers.contains { $0.hasPrefix("304") })
        // It writes its log after it has answered.
        #expect(settled { proxy.answers.values.reduce(0, +) == 16 + confirmed })
        #expect(proxy.answers["200 MISS"] == 16)
    }
}
