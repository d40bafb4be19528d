import Dispatch
import Foundation
import Testing

@testable import TileCache

/// Any input gives a clear error or a frame, never a crash.
@Suite(.timeLimit(.minutes(45))) struct ServiceInputTests {
    @Test func aTileLargerThanTheLimitIsRefusedByName() throws {
        let cache = try TileCache(byteLimit: .kibibytes(8))
        #expect(throws: TileCacheError.invalidLayer("a tile takes 16384 bytes, more than the limit of 8192")) {
            try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        }
    }

    @Test func viewportsThatCannotBeDrawnAreCounted() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        let good = ServiceSetup.viewport(600, 600)
        view.update(good)
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        let wrong: [Double] = [.nan, .infinity, -.infinity]
        var bad: [TileViewport] = []
        for value in wrong {
            for path: WritableKeyPath<TileViewport, Double> in [
                \.center.x, \.center.y, \.width, \.height, \.scale, \.rotation,
            ] {
                var viewport = good
                viewport[keyPath: path] = value
                bad.append(viewport)
            }
        }
        for value in [0, -1] {
            for path: WritableKeyPath<TileViewport, Double> in [\.width, \.height, \.scale] {
                var viewport = good
                viewport[keyPath: path] = Double(value)
                bad.append(viewport)
            }
        }
        for viewport in bad {
            view.update(viewport)
            #expect(view.frame().count == 20)
        }
        #expect(cache.statistics.refusedViewports == bad.count)
    }

    /// Clocks that stand still, jump ahead for years or go back.
    @Test func clocksMayDoAnything() throws {
        let time = Lock(Int64(0))
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(4), workers: 2)
        configuration.clock = { time.withLock { $0 } }
        configuration.retryDelay = .nanoseconds(1)
        let cache = try TileCache(configuration)
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        for (step, now) in [0, 0, 1 << 60, 5, -(1 << 60), 7, 1 << 61, 8].enumerated() {
            time.withLock { $0 = Int64(now) }
            let place = ServiceSetup.viewport(500 + Double(step) * 300, 700)
            view.update(place)
            #expect(eventually { view.frame().missingTileCount == 0 }, "at \(now)")
        }
        #expect(cache.shutdown(timeout: .seconds(600)))
    }

    /// A setting out of its range is refused, never clamped.
    @Test func settingsAreRefusedBeyondBothEndsOfTheirRanges() {
        typealias Configuration = TileCache.Configuration
        func refusal(_ change: (inout Configuration) -> Void) -> String? {
            var configuration = Configuration(byteLimit: .mebibytes(2), workers: 4)
            change(&configuration)
            guard case .failure(let error) = Result(catching: { try TileCache(configuration) }) else { return nil }
            return "\(error)"
        }
        func check(
            _ name: String,
            _ field: WritableKeyPath<Configuration, Duration>,
            _ good: [Duration],
            _ bad: [Duration]
        ) {
            for value in good { #expect(refusal { $0[keyPath: field] = value } == nil, "\(name) \(value)") }
            for value in bad {
                #expect(refusal { $0[keyPath: field] = value }?.contains(name) == true, "\(name) \(value)")
            }
        }
        let longest = Duration.seconds(Int64.max)
        check(
            "expected load latency",
            \.expectedLoadLatency,
            [.zero, .seconds(3600)],
            [.nanoseconds(-1), .seconds(3601), longest]
        )
        check("retry delay", \.retryDelay, [.nanoseconds(1), .seconds(60)], [.zero, .seconds(61), longest])
        check("stuck load time", \.stuckLoadTime, [.milliseconds(1), longest], [.nanoseconds(999_999), .zero])
        check("slow callback time", \.slowCallbackTime, [.zero, longest], [.nanoseconds(-1)])
        for (bytes, isGood) in [(2 << 20, true), ((2 << 20) - 1, false), (1 << 46, true), ((1 << 46) + 1, false)] {
            // A system, or a sanitizer, may not have the addresses.
            let said = refusal { $0.maximumByteLimit = .bytes(bytes) }
            #expect((said?.contains("maximum byte limit") != true) == isGood, "\(bytes)")
        }
        #expect(refusal { $0.byteLimit = .bytes(0) }?.contains("byte limit of 1 or more") == true)
        for effort in [1.1, -0.1, .nan] {
            #expect(refusal { $0.effort = effort }?.contains("effort of 0 to 1") == true, "\(effort)")
        }
        #expect(refusal { $0.compressedShare = -0.1 }?.contains("compressed share of 0 to 1") == true)
        for workers in [0, 256] {
            #expect(refusal { $0.workers = workers }?.contains("1 to 255 workers") == true, "\(workers)")
        }
    }

    /// Sources write and renderers read through spans, without a pointer.
    @Test func pixelsAreWrittenAndReadWithoutPointers() throws {
        let steps = StepScheduler.calm()
        struct SafeSource: BlockingTileSource {
            func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
                let name = UInt8(truncatingIfNeeded: tile.column * 16 + tile.row)
                pixels.withMutableBytes { bytes in
                    for index in bytes.indices { bytes[index] = name &+ UInt8(truncatingIfNeeded: index) }
                }
                return .pixels
            }
        }
        let cache = try steps.cache(byteLimit: .mebibytes(4))
        let options = LayerOptions(format: .gray8, alpha: .ignored)
        let layer = try cache.addLayer(SafeSource(), pyramid: try ServiceSetup.pyramid(), options: options)
        let view = cache.makeView(layers: [layer])
        view.update(ServiceSetup.viewport(500, 700))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        for placement in view.frame() {
            let tile = placement.tile
            let name = UInt8(truncatingIfNeeded: tile.identity.tile.column * 16 + tile.identity.tile.row)
            let isRight = tile.withBytes { bytes in
                bytes.count == tile.width * tile.height
                    && bytes.indices.allSatisfy { bytes[$0] == name &+ UInt8(truncatingIfNeeded: $0) }
            }
            #expect(isRight && tile.alpha == .ignored && tile.retained().alpha == .ignored)
        }
    }

    @Test func tilesOfOnePixelAreTiles() throws {
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(2))
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 64, worldHeight: 64, tileSize: 1)
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(cache, [layer])
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 64, height: 64))
        #expect(steps.reaches { view.frame().missingTileCount == 0 && !view.frame().isEmpty })
        // 4096 tiles of a page each do not fit; a coarser level does.
        #expect(view.shortfall.bytes == 4096 * 4096)
        #expect(view.frame().allSatisfy { $0.tile.width == 1 })
        #expect(cache.statistics.memory.peak.bytes <= 2 << 20)
    }

    /// Too large for LZ4: held uncompressed.
    @Test func tilesLargerThanLZ4TakesAreNotCompressed() throws {
        var configuration = TileCache.Configuration(byteLimit: .gibibytes(3), workers: 1)
        configuration.maximumByteLimit = configuration.byteLimit
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 20, worldHeight: 1 << 20, tileSize: 16_384)
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid, options: LayerOptions(format: .rgba16))
        let (tileBytes, isCompressible) = cache.core.lock.withLock { state in
            (state.pool.layers[layer.id.index].tileBytes, state.pool.layers[layer.id.index].isCompressible)
        }
        #expect(tileBytes == 1 << 31 && !isCompressible)
    }

    /// More addresses than exist: an error or a cache, but no crash.
    @Test func aHostThatDeniesMemoryGetsAnError() throws {
        do {
            let cache = try TileCache(byteLimit: .gibibytes(1 << 16))
            for size in [64, 128, 256, 512] {
                let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: size)
                _ = try cache.addLayer(PlainSource(), pyramid: pyramid)
            }
            Issue.record("five times 64 TiB of addresses were given")
        } catch TileCacheError.outOfMemory(let size) {
            #expect(size > .bytes(0))
        }
    }

    #if os(Linux)
        /// Under a limit on addresses, in a separate process. Smaller caches work, larger ones are an error, and a
        /// raised limit is one or the other.
        @Test func aProcessShortOfAddressesGetsSmallerCachesInAnotherProcess() async {
            // The sanitizers themselves need more addresses than such a limit allows.
            for symbol in ["__asan_init", "__tsan_init"] where dlsym(nil, symbol) != nil { return }
            await #expect(processExitsWith: .success) {
                let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                var limit = rlimit()
                limit.rlim_cur = rlim_t((Int(pages[0]) ?? 0) * 4096 + 600 << 20)
                limit.rlim_max = limit.rlim_cur
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
                var denied = 0
                var drawn = 0
                for mebibytes in [4, 16, 512, 4096, 1 << 20] {
                    do {
                        var configuration = TileCache.Configuration(byteLimit: .mebibytes(mebibytes))
                        configuration.maximumByteLimit = .mebibytes(mebibytes * 4)
                        let cache = try TileCache(configuration)
                        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
                        let view = cache.makeView(layers: [layer])
                        for place in 1..<4 {
                            cache.byteLimit = .gibibytes(place)
                            view.update(ServiceSetup.viewport(Double(place) * 900, 700))
                            precondition(eventually { view.frame().missingTileCount == 0 })
                        }
                        drawn += 1
                    } catch TileCacheError.outOfMemory {
                        denied += 1
                    }
                }
                precondition(drawn > 0 && denied > 1, "\(drawn) drawn, \(denied) denied")
            }
        }

        /// Addresses for four times the limit are available for one range, not for two.
        @Test func aLayerGetsAddressesForTheLimitIfThereAreNoMoreInAnotherProcess() async {
            guard dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__asan_init") == nil else { return }
            await #expect(processExitsWith: .success) {
                let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
                var limit = rlimit()
                limit.rlim_cur = rlim_t((Int(pages[0]) ?? 0) * 4096 + 800 << 20)
                limit.rlim_max = limit.rlim_cur
                precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
                let cache = try TileCache(byteLimit: .mebibytes(128))
                let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
                let view = cache.makeView(layers: [layer])
                view.update(ServiceSetup.viewport(900, 700))
                precondition(eventually { view.frame().missingTileCount == 0 })
                // Tiles of the same size need no further addresses.
                for _ in 0..<20 { _ = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid()) }
                cache.byteLimit = .mebibytes(512)
                view.update(ServiceSetup.viewport(2900, 2700))
                precondition(eventually { view.frame().missingTileCount == 0 })
            }
        }

        /// A child of `fork()` has none of its parent's threads, so it is refused.
        @Test func aForkedChildIsRefusedInAnotherProcess() async {
            await #expect(processExitsWith: .success) {
                let cache = try TileCache(byteLimit: .mebibytes(4))
                let pyramid = try ServiceSetup.pyramid()
                // Made before: a lock of the Swift runtime that another thread holds at the fork stays locked in the
                // child.
                let (source, other) = (PlainSource(), PlainSource())
                let layer = try cache.addLayer(source, pyramid: pyramid)
                let view = cache.makeView(layers: [layer])
                view.update(ServiceSetup.viewport(900, 700))
                precondition(eventually { view.frame().missingTileCount == 0 })
                typealias Fork = @convention(c) () -> pid_t
                let fork = unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"), to: Fork.self)
                let child = fork()
                if child == 0 {
                    var refused = 0
                    do { _ = try TileCache(byteLimit: .mebibytes(4)) } catch {
                        if error as? TileCacheError == .forked { refused += 1 }
                    }
                    do { _ = try cache.addLayer(other, pyramid: pyramid) } catch {
                        if error as? TileCacheError == .forked { refused += 1 }
                    }
                    view.update(ServiceSetup.viewport(2900, 2700))
                    let isEmpty = view.frame().isEmpty && !cache.shutdown()
                    _exit(refused == 2 && isEmpty ? 0 : 1)
                }
                var status: Int32 = -1
                let hasEnded = eventually { waitpid(child, &status, WNOHANG) == child }
                if !hasEnded { kill(child, SIGKILL) }
                precondition(hasEnded && status == 0, "\(status)")
                view.update(ServiceSetup.viewport(2900, 2700))
                precondition(eventually { view.frame().missingTileCount == 0 })
            }
        }
    #endif

    /// As many layers as fit in a tile's key, and no more. Quadratic time for adding would exceed the suite's time
    /// limit.
    @Test func theLayerThatNoKeyHasRoomForIsRefused() throws {
        let steps = StepScheduler.calm()
        // The layers' tables count.
        let cache = try steps.cache(byteLimit: .mebibytes(128), workers: 1)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 64, worldHeight: 64, tileSize: 64)
        let source = PlainSource()
        var last: TileLayer?
        for _ in 0..<TileKey.layerLimit { last = try cache.addLayer(source, pyramid: pyramid) }
        #expect(last?.id.index == 65_535)
        #expect(throws: TileCacheError.invalidLayer("a cache holds 65536 layers at most")) {
            try cache.addLayer(source, pyramid: pyramid)
        }
        // The last one draws its own tiles.
        let own = try #require(last)
        let view = ServiceSetup.quiet(cache, [own])
        view.update(TileViewport(center: WorldPoint(x: 32, y: 32), width: 32, height: 32))
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
        #expect(view.frame().allSatisfy { $0.tile.identity.layer == own.id })
    }

    @Test func timesMayBeAnything() throws {
        let cache = try TileCache(byteLimit: .mebibytes(4))
        let layer = try cache.addLayer(PlainSource(), pyramid: try ServiceSetup.pyramid())
        let view = cache.makeView(layers: [layer])
        for (index, time) in [Int64.min, 0, .max, -1, .max - 1, .min, 5].enumerated() {
            view.update(ServiceSetup.viewport(800 + Double(index) * 90, 800), at: MonotonicTime(nanoseconds: time))
            _ = view.frame()
        }
        view.update(ServiceSetup.viewport(900, 900))
        #expect(eventually { view.frame().missingTileCount == 0 })
    }
}
