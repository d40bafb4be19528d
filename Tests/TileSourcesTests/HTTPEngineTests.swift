#if os(Linux)
    import Dispatch
    import Foundation
    import Testing

    @testable import TileCache
    @testable import TileSources

    /// Many sources at once, and a process that is short of file descriptors.
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

        /// libcurl begins without what wakes it. Each request would wait for up to a minute.
        @Test func withoutFileDescriptorsThereIsNoSourceInAnotherProcess() async {
            await #expect(processExitsWith: .success) {
                let template = "http://127.0.0.1:1/{z}/{x}/{y}"
                // What is opened once for the process is there then.
                _ = try HTTPTileSource(template: template)
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                precondition(getrlimit(files, &limit) == 0)
                let usual = limit.rlim_cur
                limit.rlim_cur = 0
                precondition(setrlimit(files, &limit) == 0)
                let said = message { _ = try HTTPTileSource(template: template) }
                limit.rlim_cur = usual
                precondition(setrlimit(files, &limit) == 0)
                precondition(said.contains("libcurl cannot begin"), said)
                _ = try HTTPTileSource(template: template)
            }
        }
    }
#endif
