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

        /// As by OpenSSL, whose writes older versions of libcurl do not mark, to a connection that the server has reset.
        @Test func aPipeSignalOfTheLoopIsDroppedInAnotherProcess() async {
            await #expect(processExitsWith: .success) {
                signal(SIGPIPE, SIG_DFL)
                let clock: @Sendable () -> Int64 = {
                    raise(SIGPIPE)
                    return 0
                }
                let template = "http://127.0.0.1:1/{z}/{x}/{y}"
                let options = TileSourceOptions()
                let source = try HTTPTileSource(
                    template: template,
                    http: HTTPTileOptions(retries: 0),
                    options: options,
                    wallClock: clock
                )
                let cache = try TileCache(byteLimit: .mebibytes(16))
                let view = cache.makeView(layers: [try source.addLayer(to: cache)])
                view.update(TileViewport(center: WorldPoint(x: 128, y: 128), width: 64, height: 64, scale: 1))
                // The cache tries again, when the loop has ended and begins anew.
                precondition(settled { source.statistics.failureCount >= 2 })
            }
        }
    }
#endif
