import Testing

@testable import TileCache

/// A plan is kept while the view goes on as in its frame, and nothing of it is left to load. By hand, at 60 Hz.
@Suite struct PlannedFrameTests {
    /// One frame: how far the view moves, and what else changes.
    struct Move: Sendable {
        var x = 0.0
        var y = 0.0
        var scale = 1.0
        var hasDestination = false
    }

    static func moves(_ steps: [Double]) -> [Move] { steps.map { Move(x: $0) } }

    /// Movements of a view at rest, and the frames of them that need a plan, from 1.
    static let cases: [(moves: [Move], planned: [Int])] = [
        // A tenth of a second: six frames.
        (moves([Double](repeating: 4, count: 14)), [1, 7, 13]),
        // 32 pixels.
        (moves([8, 8, 8, 8, 8, 8]), [1, 6]),
        (moves([9, 9, 9, 9, 9]), [1, 5]),
        // Half of the step.
        (moves([8, 4, 12, 8, 12.5]), [1, 5]),
        (moves([8, 4, 12, 8, 3.5]), [1, 5]),
        ([Move(x: 8), Move(x: 6, y: 2), Move(x: 6, y: -2), Move(x: 5, y: 2)], [1, 4]),
        // Two pixels, if the step is short.
        (moves([1, 3, 1, 3.5, 1]), [1, 4, 5]),
        // A stop is another step; then the view rests.
        (moves([4, 4, 0, 0, 0, 4]), [1, 3, 6]),
        (moves([4, 0, 0, 4]), [1, 2, 4]),
        (moves([2, 2, 0, 2]), [1]),
        // A zoom is never expected to go on.
        ([Move(scale: 1.001), Move(scale: 1.002), Move(scale: 1.002), Move(x: 4, scale: 1.002)], [1, 2, 3, 4]),
        ([Move(x: 4), Move(x: 4, scale: 1.001), Move(x: 4, scale: 1.001), Move(x: 4, scale: 1.001)], [1, 2, 3]),
        ([Move(x: 4), Move(x: 4, hasDestination: true), Move(x: 4)], [1, 2, 3]),
    ]

    static func viewports(_ moves: [Move]) -> [(viewport: TileViewport, hasDestination: Bool)] {
        var (x, y) = (900.0, 900.0)
        return moves.map {
            x += $0.x / $0.scale
            y += $0.y / $0.scale
            return (ServiceSetup.viewport(x, y, scale: $0.scale), $0.hasDestination)
        }
    }

    static let frame: Int64 = 16_666_667

    @Test(arguments: 0..<cases.count, [false, true]) func replaysKeepPlans(_ number: Int, isReusable: Bool) throws {
        let moves = Self.cases[number].moves
        let planned = try plannedFrames(ofReplay: moves, StillPolicy(isReusable: isReusable), loading: 1_000_000)
        #expect(planned == (isReusable ? Self.cases[number].planned : Array(1...moves.count)))
    }

    /// A load in flight, and needed tiles that are left out until the view slows down, need a plan in each frame.
    @Test func noPlanIsKeptMeanwhile() throws {
        let (moves, all) = (Self.moves([4, 4, 4, 4]), [1, 2, 3, 4])
        let loading = StillPolicy(isReusable: true)
        #expect(try plannedFrames(ofReplay: moves, loading, loading: 10_000_000_000) == all)
        let leaving = StillPolicy(isReusable: true, leavesNeedsOut: true)
        #expect(try plannedFrames(ofReplay: moves, leaving, loading: 1_000_000) == all)
        #expect(try plannedFrames(ofService: moves, leaving) == all)
    }

    private func plannedFrames(ofReplay moves: [Move], _ policy: StillPolicy, loading span: Int64) throws -> [Int] {
        var options = VirtualCache.Options()
        options.byteLimit = 64 * StillScene.tileBytes
        let cache = VirtualCache(options: options, expectedLatency: span) { _, _ in span }
        let layer = try cache.addLayer(tileBytes: StillScene.tileBytes)
        let view = cache.addView(layers: [(layer, try ServiceSetup.pyramid(), policy)])
        var time: Int64 = 0
        return plannedFrames(moves) { viewport, destination in
            let before = cache.pool.queue.epoch
            time += Self.frame
            cache.frame(view: view, viewport, at: time, destination: destination(time))
            return cache.pool.queue.epoch != before
        }
    }

    @Test(arguments: 0..<cases.count, [false, true]) func servicesKeepPlans(_ number: Int, isReusable: Bool) throws {
        let moves = Self.cases[number].moves
        let planned = try plannedFrames(ofService: moves, StillPolicy(isReusable: isReusable))
        #expect(planned == (isReusable ? Self.cases[number].planned : Array(1...moves.count)))
    }

    private func plannedFrames(ofService moves: [Move], _ policy: StillPolicy) throws -> [Int] {
        let clock = FrameClock()
        let scene = try StillScene(tiles: 64) { $0.clock = { clock.now } }
        let layer = try scene.plainLayer()
        let view = scene.cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { policy })
        return plannedFrames(moves) { viewport, destination in
            let before = epoch(scene)
            clock.now += Self.frame
            view.update(viewport, destination: destination(clock.now))
            scene.run()
            return epoch(scene) != before
        }
    }

    /// Frames that made a plan, after a rest in which everything was loaded.
    private func plannedFrames(
        _ moves: [Move],
        draw: (TileViewport, _ destination: (Int64) -> ViewportDestination?) -> Bool
    ) -> [Int] {
        for _ in 0..<12 { _ = draw(ServiceSetup.viewport(900, 900)) { _ in nil } }
        return Self.viewports(moves).enumerated().compactMap { index, frame in
            let isPlanned = draw(frame.viewport) { now in
                let time = MonotonicTime(nanoseconds: now + 1_000_000_000)
                return frame.hasDestination ? ViewportDestination(viewport: frame.viewport, time: time) : nil
            }
            return isPlanned ? index + 1 : nil
        }
    }

    private func epoch(_ scene: StillScene) -> UInt32 { scene.cache.core.lock.withLock { $0.pool.queue.epoch } }

    /// Other needed tiles need a plan, and so does an entry that was short of room or refused.
    @Test func aPlanIsKeptOnlyIfNothingIsLeftToDo() throws {
        let clock = FrameClock()
        let scene = try StillScene(tiles: 64) { $0.clock = { clock.now } }
        let layer = try scene.plainLayer()
        let view = scene.cache.makeView(layers: [layer], selection: TileLevelSelection()) {
            StillPolicy(isReusable: true)
        }
        var x = 900.0
        func isPlanned() -> Bool {
            let before = epoch(scene)
            clock.now += Self.frame
            x += 4
            view.update(ServiceSetup.viewport(x, 900))
            scene.run()
            return epoch(scene) != before
        }
        while x < 928 { _ = isPlanned() }
        // From 772 + 60 on the first column does not show.
        let changes = (0..<8).map { _ in isPlanned() }
        #expect(x == 960 && changes[7])
        let key = TileKey(layer: layer.id.index, TileCoordinate(level: 0, column: 0, row: 0))
        let refused = PlanEntry(key: key, value: 1, reason: .prefetch)
        while isPlanned() {}
        scene.cache.core.lock.withLock { _ = $0.pool.queue.passForRoom(refused, hasShares: false, isFull: false) }
        #expect(isPlanned())
        while isPlanned() {}
        scene.cache.core.lock.withLock { $0.pool.counters.refusals += 1 }
        #expect(isPlanned())
    }
}

/// A clock that a test sets. Used by one thread only.
private final class FrameClock: @unchecked Sendable {
    var now: Int64 = 1_000_000_000
}

/// Wishes for nothing.
private struct StillPolicy: PrefetchPolicy {
    let isReusable: Bool
    var leavesNeedsOut = false

    var validity: WishValidity { isReusable ? [.onceRested, .whileGoingOn] : .onceRested }

    mutating func observe(_ frame: FrameObservation) {}

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        if leavesNeedsOut { wishes.hopeless = Array(target.needed.prefix(1)) }
    }
}
