import Dispatch
import Testing

@testable import TileCache

/// No hold of the lock does work that grows with the number of tiles: whatever has to make way goes in steps, and others
/// have their turn in between. Counted, not timed.
@Suite(.timeLimit(.minutes(45))) struct HoldTests {
    /// Small tiles of 4 KiB, many of them.
    private final class Crowd {
        static let count = 4096
        let scene: StillScene
        let pyramid: TilePyramid
        let layer: TileLayer
        /// A view that a test draws while the others make way.
        let view: TileView

        init(bytes: Int = 0, _ change: (inout TileCache.Configuration) -> Void = { _ in }) throws {
            scene = try StillScene(tiles: Self.count / 4, bytes: bytes) {
                $0.grantsBookkeeping = false
                change(&$0)
            }
            pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 32)
            layer = try scene.cache.addLayer(PlainSource(), pyramid: pyramid)
            let filler = ServiceSetup.quiet(scene.cache, [layer])
            view = ServiceSetup.quiet(scene.cache, [layer])
            for first in stride(from: 0, to: Self.count, by: 512) {
                filler.update(
                    needing: (first..<first + 512).map { NeededTile(layer: layer.id, tile: Self.tile($0)) }
                )
                _ = scene.scheduler.runAll(atMost: 200_000)
            }
            filler.update(needing: [])
            _ = scene.scheduler.runAll(atMost: 200_000)
            forget()
        }

        static func tile(_ number: Int) -> TileCoordinate {
            TileCoordinate(level: 7, column: number % 128, row: number / 128)
        }

        var used: Int { scene.cache.statistics.memory.used.bytes }
        var resident: Int { scene.cache.statistics.memory.decodedTiles }
        /// Steps of the longest hold since `forget`.
        var longest: Int { scene.cache.core.read { $0.pool.hold.longest } }
        func forget() { scene.cache.core.lock.withLock { $0.pool.hold.forgetLongest() } }

        /// Draws while others make way: new tiles, so that the table and the plan need room too. Returns whether it did.
        func drawOften() -> Counter {
            let drawn = Counter()
            var number = 0
            scene.meanwhile = { [unowned self] in
                number += 1
                view.update(
                    needing: (0..<8).map { NeededTile(layer: layer.id, tile: Self.tile(8000 + 8 * number + $0)) }
                )
                _ = view.frame()
                while scene.scheduler.random.next() % 4 > 0, scene.scheduler.runOne() {}
                drawn.count += 1
                return drawn.count > 500
            }
            return drawn
        }

        /// Used by one thread only.
        final class Counter: @unchecked Sendable { var count = 0 }
    }

    /// Steps of a hold, and those of a search that has begun.
    private static let most = 2 * PoolState.stepsAtOnce

    @Test(arguments: [false, true]) func aLowerLimit(byPressure: Bool) throws {
        let crowd = try Crowd()
        #expect(crowd.resident > 3500)
        let drawn = crowd.drawOften()
        let limit = byPressure ? crowd.scene.cache.byteLimit.bytes / 4 : 1 << 20
        if byPressure {
            crowd.scene.cache.noteMemoryPressure(.critical)
        } else {
            crowd.scene.cache.byteLimit = .bytes(limit)
        }
        #expect(drawn.count > 10, "plans and frames in between")
        crowd.scene.meanwhile = nil
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(crowd.used <= limit)
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    @Test func aTrim() throws {
        let crowd = try Crowd()
        let drawn = crowd.drawOften()
        crowd.scene.cache.trim(to: .bytes(1 << 20))
        #expect(drawn.count > 10)
        crowd.scene.meanwhile = nil
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    @Test(arguments: [false, true]) func anInvalidation(keepsStale: Bool) throws {
        let crowd = try Crowd()
        let drawn = crowd.drawOften()
        crowd.layer.invalidate(keepsStale: keepsStale)
        #expect(drawn.count > 10)
        crowd.scene.meanwhile = nil
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    @Test func aRemoval() throws {
        let crowd = try Crowd()
        let drawn = crowd.drawOften()
        crowd.layer.remove()
        #expect(drawn.count > 10)
        crowd.scene.meanwhile = nil
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(crowd.resident == 0)
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    /// Requests of hosts, of a layer that is removed or of a cache that ends.
    @Test(arguments: [false, true]) func manyRequestsThatEnd(byShutdown: Bool) throws {
        let crowd = try Crowd()
        let ended = Crowd.Counter()
        let queue = DispatchQueue(label: "requests")
        let fetches = (0..<1000).map { number in
            crowd.layer.fetch(Crowd.tile(9000 + number), on: queue) { _ in ended.count += 1 }
        }
        crowd.forget()
        if byShutdown {
            _ = crowd.scene.cache.shutdown(timeout: .zero)
        } else {
            crowd.layer.remove()
        }
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(ended.count == 1000)
        withExtendedLifetime(fetches) {}
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    /// Room for a tile, for a layer's scratch memory and for a plan is made of thousands of small tiles.
    @Test func largeTilesInPlaceOfSmallOnes() throws {
        let crowd = try Crowd()
        // 1024 x 1024 in RGBA: a slot takes the room of 1024 small tiles.
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 1024)
        let large = try crowd.scene.cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(crowd.scene.cache, [large])
        let drawn = crowd.drawOften()
        view.update(
            needing: [NeededTile(layer: large.id, tile: TileCoordinate(level: 2, column: 1, row: 1))]
        )
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        crowd.scene.meanwhile = nil
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(drawn.count > 5)
        #expect(large.isResident(TileCoordinate(level: 2, column: 1, row: 1)))
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    /// A slot in place of a thousand that are not used.
    @Test func aLargeTileInPlaceOfUnusedMemory() throws {
        let crowd = try Crowd()
        crowd.layer.invalidate(keepsStale: false)
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000) && crowd.resident == 0)
        crowd.forget()
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 1024)
        let large = try crowd.scene.cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(crowd.scene.cache, [large])
        view.update(needing: [NeededTile(layer: large.id, tile: TileCoordinate(level: 2, column: 1, row: 1))])
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(large.isResident(TileCoordinate(level: 2, column: 1, row: 1)))
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
    }

    /// A source that answers later takes its slot when it is ready.
    @Test func aLargeTileOfAnAsynchronousSource() throws {
        let crowd = try Crowd()
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 1024)
        let large = try crowd.scene.cache.addLayer(PromptSource(), pyramid: pyramid)
        let view = ServiceSetup.quiet(crowd.scene.cache, [large])
        view.update(
            needing: [NeededTile(layer: large.id, tile: TileCoordinate(level: 2, column: 1, row: 1))]
        )
        #expect(crowd.scene.scheduler.runAll(atMost: 200_000))
        #expect(large.isResident(TileCoordinate(level: 2, column: 1, row: 1)))
        #expect(crowd.longest <= Self.most, "\(crowd.longest) steps")
        #expect(crowd.scene.cache.statistics.loads.refused == 0)
    }

    /// The steps of a hold are counted from 0, and a search that is cut off goes on.
    @Test func stepsAreCounted() {
        var hold = HoldSteps()
        func goesOn() -> Bool { hold.mayGoOn() }
        hold.spend(1000)
        let withoutLock = goesOn()
        #expect(withoutLock && hold.left > 1 << 60 && hold.longest == 1000, "without a lock there is no maximum")
        hold.begin(atMost: 10)
        #expect(hold.left == 10 && hold.end(after: 3) == 3 && hold.end(after: .max) == 10)
        hold.spend(9)
        let afterNine = goesOn()
        #expect(afterNine && !hold.isInterrupted)
        hold.pass(63)
        let afterPassing = goesOn()
        #expect(afterPassing)
        hold.pass(64)
        let afterTen = goesOn()
        #expect(hold.left == 0 && !afterTen && hold.isInterrupted)
        hold.begin(atMost: 10)
        let again = goesOn()
        #expect(!hold.isInterrupted && again && hold.longest == 1000)
        hold.forgetLongest()
        #expect(hold.longest == 0)
    }
}

/// An asynchronous source that answers at once.
private final class PromptSource: TileSource {
    func requestTile(_ request: TileRequest) {
        _ = request.complete { pixels in
            fill(&pixels, with: 3)
            return .pixels
        }
    }
}
