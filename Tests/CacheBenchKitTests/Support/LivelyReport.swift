import Testing

@testable import CacheBenchKit

/// Report of the lively session, replayed with some options.
func livelyReport(_ options: ReplayOptions) throws -> ReplayReport {
    try #require(try Replay(options).run(ReplayInput(lively: options)).traces.first)
}
