import Dispatch
import Testing

@testable import TileCache

/// A layer of fast loads beside one of slow loads, in the whole service under a virtual clock.
@Suite(.timeLimit(.minutes(45))) struct ServiceFairnessTests {
    fileprivate static let millisecond: Int64 = 1_000_000
    private static let never: Int64 = 3600 * 1000 * millisecond

    private struct Scene {
        let service = VirtualService()
        let cache: TileCache

        init() throws {
            var configuration = TileCache.Configuration(byteLimit: .mebibytes(64), workers: 4)
            service.drive(&configuration)
            cache = try TileCache(configuration)
        }

        func layer(_ number: Int, milliseconds: Int64, isBlocking: Bool) throws -> TileLayer {
            try VirtualSource(service, layer: number, latency: milliseconds * ServiceFairnessTests.millisecond)
                .add(to: cache, isBlocking: isBlocking)
        }

        /// Milliseconds until a condition holds, in steps of 4.
        func time(until condition: () -> Bool) -> Int64 {
            let start = service.time
            for _ in 0..<5000 where !condition() { service.advance(cache, by: 4 * ServiceFairnessTests.millisecond) }
            return (service.time - start) / ServiceFairnessTests.millisecond
        }

        func resident(_ layer: TileLayer) -> Int {
            (26..<36).reduce(0) { count, row in
                count
                    + (25..<38).count { column in
                        layer.isResident(TileCoordinate(level: 6, column: column, row: row))
                    }
            }
        }
    }

    /// 13 x 10 tiles.
    private static let viewport = TileViewport(center: WorldPoint(x: 2000, y: 2000), width: 800, height: 600)
    private static let tiles = 130

    private func alone(isBlocking: Bool) throws -> Int64 {
        let scene = try Scene()
        let fast = try scene.layer(0, milliseconds: 4, isBlocking: isBlocking)
        let view = ServiceSetup.quiet(scene.cache, [fast])
        view.update(Self.viewport)
        return scene.time { view.frame().missingTileCount == 0 }
    }

    @Test(arguments: [false, true], [false, true]) func oneView(isBlocking: Bool, slowIsFirst: Bool) throws {
        let alone = try alone(isBlocking: isBlocking)
        let scene = try Scene()
        let slow = try scene.layer(0, milliseconds: 400, isBlocking: isBlocking)
        let fast = try scene.layer(1, milliseconds: 4, isBlocking: isBlocking)
        let view = ServiceSetup.quiet(scene.cache, slowIsFirst ? [slow, fast] : [fast, slow])
        view.update(Self.viewport)
        let took = scene.time { scene.resident(fast) >= Self.tiles }
        #expect(took <= 2 * alone + 400, "\(took) ms, \(alone) ms alone")
    }

    @Test(arguments: [false, true], [1, 4]) func anotherViewLater(isBlocking: Bool, slowLayers: Int) throws {
        let alone = try alone(isBlocking: isBlocking)
        let scene = try Scene()
        let slow = try (0..<slowLayers).map { try scene.layer($0, milliseconds: 400, isBlocking: isBlocking) }
        let fast = try scene.layer(slowLayers, milliseconds: 4, isBlocking: isBlocking)
        let (first, second) = (ServiceSetup.quiet(scene.cache, slow), ServiceSetup.quiet(scene.cache, [fast]))
        first.update(Self.viewport)
        scene.service.advance(scene.cache, by: 300 * Self.millisecond)
        second.update(Self.viewport)
        let took = scene.time { second.frame().missingTileCount == 0 }
        #expect(took <= 2 * alone + 400, "\(took) ms, \(alone) ms alone")
        withExtendedLifetime(first) {}
    }

    @Test(arguments: [false, true]) func aRequestAndAPin(isBlocking: Bool) throws {
        let scene = try Scene()
        let slow = try scene.layer(0, milliseconds: 400, isBlocking: isBlocking)
        let fast = try scene.layer(1, milliseconds: 4, isBlocking: isBlocking)
        let view = ServiceSetup.quiet(scene.cache, [slow])
        view.update(Self.viewport)
        scene.service.advance(scene.cache, by: 300 * Self.millisecond)
        let tile = TileCoordinate(level: 6, column: 3, row: 3)
        let fetch = fast.fetch(tile, on: DispatchQueue(label: "fetch")) { _ in }
        let fetched = scene.time { fast.isResident(tile) }
        #expect(fetched <= 412, "\(fetched) ms")
        try fast.pin([TileCoordinate(level: 2, column: 1, row: 1)])
        let pinned = scene.time { fast.isResident(TileCoordinate(level: 2, column: 1, row: 1)) }
        #expect(pinned <= 412, "\(pinned) ms")
        withExtendedLifetime((view, fetch)) {}
    }

    /// As many servers that never answer as there are workers: one layer has none as soon as they have begun.
    @Test(arguments: [false, true]) func besideAsManyAsWorkers(isBlocking: Bool) throws {
        let scene = try Scene()
        let silent = try (0..<4).map {
            try scene.layer($0, milliseconds: Self.never / Self.millisecond, isBlocking: isBlocking)
        }
        let fast = try scene.layer(4, milliseconds: 4, isBlocking: isBlocking)
        let view = ServiceSetup.quiet(scene.cache, silent + [fast])
        view.update(Self.viewport)
        let took = scene.time { scene.resident(fast) >= Self.tiles }
        #expect(took <= 1000 + 4 * Int64(Self.tiles) + 60, "\(took) ms")
    }

    /// A server that never answers. What is needed beside it does not wait until its loads count as stuck.
    @Test(arguments: [false, true], [Int64(0), 300]) func beside(isBlocking: Bool, start: Int64) throws {
        let scene = try Scene()
        let silent = try scene.layer(0, milliseconds: Self.never / Self.millisecond, isBlocking: isBlocking)
        let fast = try scene.layer(1, milliseconds: 4, isBlocking: isBlocking)
        let (first, second) = (ServiceSetup.quiet(scene.cache, [silent]), ServiceSetup.quiet(scene.cache, [fast]))
        first.update(Self.viewport)
        if start > 0 { scene.service.advance(scene.cache, by: start * Self.millisecond) }
        second.update(Self.viewport)
        let took = scene.time { second.frame().missingTileCount == 0 }
        // A tenth of the time of a stuck load, and then one worker.
        #expect(took <= 1000 + 4 * Int64(Self.tiles) + 60, "\(took) ms")
        #expect(scene.cache.statistics.stuckLoads == 0)
        withExtendedLifetime(first) {}
    }
}
