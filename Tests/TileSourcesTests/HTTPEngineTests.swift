#if os(Linux)
    import Dispatch
    import Foundation
    import TestSupport
    import Testing

    @testable import CacheBenchKit
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

        /// A server that neither accepts nor refuses a connection costs the time that connecting may take, not the 300
        /// seconds of libcurl.
        @Test func connectingEndsInItsTime() throws {
            let listener = try FullListener()
            defer { withExtendedLifetime(listener) {} }
            let source = try HTTPTileSource(
                template: "http://127.0.0.1:\(listener.port)/{z}/{x}/{y}",
                http: HTTPTileOptions(connectTimeout: .milliseconds(20), timeout: .seconds(3600), retries: 0)
            )
            let cache = try TileCache(byteLimit: .mebibytes(16))
            let view = cache.makeView(layers: [try source.addLayer(to: cache)])
            view.update(TileViewport(center: WorldPoint(x: 128, y: 128), width: 64, height: 64, scale: 1))
            let time = ContinuousClock().measure { _ = settled { source.statistics.failureCount > 0 } }
            #expect(source.statistics.failures[.timeOut] != nil && time < .seconds(300))
            #expect(cache.shutdown())
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
                var heap: [Int] = []
                for _ in 0..<3 {
                    for _ in 0..<1000 {
                        let said = message { _ = try HTTPTileSource(template: template) }
                        precondition(said.contains("libcurl cannot begin"), said)
                    }
                    heap.append(HeapInUse.bytes() ?? 0)
                }
                // Nothing is left of those that could not begin: less than 1 KiB each.
                precondition(heap[2] - heap[0] < 2000 << 10, "\(heap)")
                limit.rlim_cur = usual
                precondition(setrlimit(files, &limit) == 0)
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
