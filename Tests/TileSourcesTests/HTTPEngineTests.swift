#if os(Linux)
    import Dispatch
    import Testing

    @testable import TileCache
    @testable import TileSources

    /// Many sources at once.
    @Suite struct HTTPEngineTests {
        /// All queues of a process share 255 threads. A loop that waits keeps one.
        @Test func sourcesThatFetchNothingKeepNoThreadInAnotherProcess() async {
            await #expect(processExitsWith: .success) {
                let sources = try (0..<300).map { try HTTPTileSource(template: "http://127.0.0.1:1/\($0)/{z}/{x}/{y}") }
                let ran = Record<Int>()
                DispatchQueue(label: "another").async { ran.add(1) }
                precondition(settled { ran.count == 1 })
                precondition(sources.count == 300)
            }
        }
    }
#endif
