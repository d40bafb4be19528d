import CTileImages
import Testing

@testable import TileCache
@testable import TileSources

@Suite struct SourceStatisticsTests {
    /// What lies in the machine may pass, wherever it happens; what lies in the file does not.
    @Test(arguments: TileLoadFailureCause.allCases) func failuresThatMayPass(cause: TileLoadFailureCause) {
        let mayPass = [.unreadable, .timeOut, .noRoom].contains(cause)
        let delivery = TileDelivery(TileSourceOptions())
        let failure = delivery.counted(TileLoadFailure(cause, "why"), of: "tile")
        #expect(failure == (mayPass ? .transient(retryAfter: .zero) : .permanent))
        #expect(delivery.statistics.failures == [cause: 1] && delivery.statistics.lastFailure == "tile: why")
    }

    /// The decoders' lack of memory is no fault of the image.
    @Test func decodersWithoutMemory() {
        let causes: [(ti_status, TileLoadFailureCause)] = [
            (ti_no_memory, .unreadable), (ti_unreadable, .unreadable), (ti_too_large, .tooLarge),
            (ti_truncated, .truncated), (ti_damaged, .undecodable),
        ]
        for (status, cause) in causes { #expect(TileImages.failure { _ in status }?.cause == cause) }
        #expect(TileImages.failure { _ in ti_ok } == nil)
    }

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
