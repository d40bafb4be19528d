import PanTraces
import Testing

@testable import CacheBenchKit

/// The figures of the built-in session, replayed with some options.
func builtInReport(_ options: ReplayOptions) throws -> ReplayReport {
    let session = BuiltInSession(seed: 1)
    let input = ReplayInput(
        name: "built-in",
        source: ".",
        scene: try PanTraceScene(session.header, name: "built-in"),
        samples: session.stream
    )
    return try #require(try Replay(options).run(input).traces.first)
}
