import Dispatch
import TestSupport

@testable import TileCache

/// Sleeps for a number of microseconds.
func pause(microseconds: UInt32) { usleep(microseconds) }

/// Pixels of a test source. Each identifies its tile, so that a wrong one is detected.
func expectedPixel(layer: Int, _ tile: TileCoordinate, version: UInt32 = 0) -> UInt32 {
    var x = UInt32(truncatingIfNeeded: layer &* 0x9E37 &+ tile.level &* 0x85EB &+ tile.column &* 0xC2B2 &+ tile.row)
    x = (x ^ (x >> 15)) &* 0x2C1B_3C6D ^ version &* 0x297A_2D39
    return x ^ (x >> 12)
}

/// A blocking source with single-value tiles, a gate and a record of its loads.
final class PlainSource: BlockingTileSource {
    private struct State {
        var version: UInt32 = 0
        var loads: [TileCoordinate: Int] = [:]
        var inside = 0
        var maximumInside = 0
    }

    private let state = Lock(State())
    private let gate = DispatchSemaphore(value: 0)
    private let isGated: Bool
    private let layer: Int
    private let absent: @Sendable (TileCoordinate) -> Bool
    private let pause: UInt32

    init(
        layer: Int = 0,
        isGated: Bool = false,
        pauseMicroseconds: UInt32 = 0,
        absent: @escaping @Sendable (TileCoordinate) -> Bool = { _ in false }
    ) {
        self.layer = layer
        self.isGated = isGated
        self.absent = absent
        pause = pauseMicroseconds
    }

    var loads: [TileCoordinate: Int] { state.withLock { $0.loads.separate } }
    var inside: Int { state.withLock { $0.inside } }
    var version: UInt32 {
        get { state.withLock { $0.version } }
        set { state.withLock { $0.version = newValue } }
    }

    /// Lets a number of gated loads continue.
    func open(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let version = state.withLock { state -> UInt32 in
            state.loads[tile, default: 0] += 1
            state.inside += 1
            state.maximumInside = max(state.maximumInside, state.inside)
            return state.version
        }
        defer { state.withLock { $0.inside -= 1 } }
        if isGated { gate.wait() }
        if pause > 0 { usleep(pause) }
        if absent(tile) { return .absent }
        fill(&pixels, with: expectedPixel(layer: layer, tile, version: version))
        return .pixels
    }
}

/// A blocking source that blocks on some tiles until a test releases them. It delivers the others at once.
final class PartlyGatedSource: BlockingTileSource {
    private let state = Lock((isOpen: false, inside: 0))
    private let gate = DispatchSemaphore(value: 0)
    private let isHeld: @Sendable (TileCoordinate) -> Bool

    init(holding isHeld: @escaping @Sendable (TileCoordinate) -> Bool) { self.isHeld = isHeld }

    /// Loads that are blocked.
    var held: Int { state.withLock { $0.inside } }

    /// Releases all loads, from now on as well.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            return state.inside
        }
        for _ in 0..<waiting { gate.signal() }
    }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        if isHeld(tile) {
            let waits = state.withLock { state in
                if !state.isOpen { state.inside += 1 }
                return !state.isOpen
            }
            if waits { gate.wait() }
        }
        fill(&pixels, with: expectedPixel(layer: 0, tile))
        return .pixels
    }
}

/// Fills a tile with one 32-bit value. Its first pixel is inverted, so that no tile is of a single colour.
func fill(_ pixels: inout TilePixels, with value: UInt32) {
    pixels.withUnsafeMutableBytes { $0.fillWords(value) }
}

/// Whether a tile has exactly the bytes of `fill`.
func holds(_ tile: LeasedTile, _ value: UInt32) -> Bool {
    tile.withUnsafeBytes { $0.areWords(value) }
}

/// An asynchronous source that keeps its requests until a test answers them, in any order.
final class QueuedSource: TileSource {
    let loadsInFlight: LoadsInFlight
    private let state = Lock<[TileRequest]>([])
    private let layer: Int

    /// - Parameter atATime: Maximum requests that it has. Default: 4.
    init(layer: Int = 0, atATime: Int = 4) { (self.layer, loadsInFlight) = (layer, .fixed(atATime)) }

    func requestTile(_ request: TileRequest) { state.withLock { $0.append(request) } }

    /// Removes and returns the requests so far.
    func take() -> [TileRequest] {
        state.withLock { state in
            defer { state.removeAll() }
            return state
        }
    }

    /// Waits for requests and removes them.
    ///
    /// - Parameter steps: Scheduler of the cache. Default: nil, real threads.
    /// - Returns: Fewer than `count` if the scheduler has nothing left to run.
    func taken(by steps: StepScheduler? = nil, atLeast count: Int = 1) -> [TileRequest] {
        var requests: [TileRequest] = []
        func areTaken() -> Bool {
            requests += take()
            return requests.count >= count
        }
        _ = steps.map { $0.reaches(areTaken) } ?? eventually(areTaken)
        return requests
    }

    func answer(_ request: TileRequest) {
        request.complete { [layer] pixels in
            fill(&pixels, with: expectedPixel(layer: layer, request.tile))
            return .pixels
        }
    }
}

/// Waits for real threads until a condition holds. Returns false after ten minutes.
///
/// That bound only ends a run that hangs: no working machine is so slow. Tests whose sources do not block have no
/// threads to wait for; see ``StepScheduler/reaches(_:)``.
func eventually(_ condition: () -> Bool) -> Bool {
    let end = MonotonicTime.now.nanoseconds + 600_000_000_000
    while !condition() {
        if MonotonicTime.now.nanoseconds > end { return false }
        usleep(500)
    }
    return true
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension Dictionary {
    /// A copy with separate storage. Copy-on-write storage is safe too. ThreadSanitizer, however, sees neither its
    /// reference counts nor, therefore, that a reader has released it before a write.
    var separate: Self { Self(uniqueKeysWithValues: map { ($0.key, $0.value) }) }
}
