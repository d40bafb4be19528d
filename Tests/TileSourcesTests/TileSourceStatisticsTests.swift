import Testing

@testable import TileSources

@Suite struct SourceStatisticsTests {
    @Test func theyReadAsASentence() {
        var figures = TileSourceStatistics()
        #expect("\(figures)" == "0 tiles asked for")
        figures.loads = 12
        figures.absent = 2
        figures.failures = [.status: 3, .connection: 1]
        figures.attempts = 15
        figures.retries = 4
        figures.lastFailure = "http://localhost/1: the status 403"
        #expect(
            "\(figures)" == "12 tiles asked for, 4 failures (1 connection, 3 status), 2 absent, 15 requests sent, "
                + "4 of them again; last failure: http://localhost/1: the status 403"
        )
    }
}
