import Foundation
import TileCache

/// Checks after all threads have stopped. Every view gets its tiles and callbacks, nothing stays pinned, and the cache
/// ends in time although loads still hang.
struct StressEnding {
    /// Maximum wait of a view for its tiles, in seconds; far longer than usual.
    private static let patience = 60.0

    let run: StressRun

    /// Duration of `shutdown`, in nanoseconds.
    private(set) var shutdownNanoseconds: Int64 = 0

    init(run: StressRun) { self.run = run }

    mutating func check(held holds: [StressHolds]) {
        run.shared.calm.raise()
        for layer in run.allLayers { layer.unpin() }
        run.setLimit(quarters: 4)
        waitForPressure()
        run.dropViews()
        for layer in run.allLayers { checkProgress(of: layer) }
        checkRest()
        checkPins(holds)
        for hold in holds { hold.checkAll() }
        shutDown()
        for hold in holds { hold.checkAll() }
    }

    /// Repeats a check until it holds, or the patience is over; returns whether it held.
    private func wait(microseconds: UInt32, for holds: () -> Bool) -> Bool {
        let end = MonotonicTime.now.nanoseconds + Int64(Self.patience * 1e9)
        while !holds() {
            guard MonotonicTime.now.nanoseconds < end else { return false }
            usleep(microseconds)
        }
        return true
    }

    /// Waits for the end of the reported pressure: the cache has its whole limit again.
    private func waitForPressure() {
        var limit = 0
        let isWhole = wait(microseconds: 5000) {
            limit = run.cache.statistics.memory.limit.bytes
            return limit >= run.options.byteLimit / 4 * 4
        }
        if !isWhole { run.findings.note(.progress, "the limit is \(limit) after all pressure") }
    }

    /// Checks that a view over part of a layer gets callbacks. They end when only hanging tiles are missing.
    private func checkProgress(of shown: TileLayer) {
        let layer = run.checker.all[shown.id.serial]
        // Resets failures, so that no retry is waited for.
        layer.history.change(StressHistory.Change(keepsStale: false)) { shown.invalidate(keepsStale: false) }
        let told = DispatchSemaphore(value: 0)
        let view = run.cache.makeView(layers: [shown])
        view.callbackQueue = DispatchQueue(label: "stress.ending")
        view.onTilesReady = { told.signal() }
        let level = layer.pyramid.maximumLevel
        // Finer than the level's own pixels in every pyramid, so that this level is drawn.
        let middle = layer.rectangle(of: TileCoordinate(level: level, column: 8, row: 8))
        view.update(
            TileViewport(
                center: WorldPoint(x: middle.minX + middle.width / 2, y: middle.minY + middle.height / 2),
                width: 2.9 * middle.width,
                height: 2.9 * middle.height
            )
        )
        let hanging = (7...9).flatMap { row in
            (7...9).map { TileCoordinate(level: level, column: $0, row: row) }
        }.count {
            run.shared.blocker.holds(TileKey(layer: layer.number, $0))
                || layer.fate(of: $0) == .permanent
        }
        let end = MonotonicTime.now.nanoseconds + Int64(Self.patience * 1e9)
        var frame = run.look(at: view)
        while frame.missingTileCount > hanging, MonotonicTime.now.nanoseconds < end {
            // Only a callback causes another frame.
            guard told.wait(timeout: .now() + Self.patience) == .success else { break }
            frame = run.look(at: view)
        }
        guard frame.missingTileCount > hanging else { return }
        let missing = frame.missingTileCount
        let isThere = run.look(at: view).missingTileCount <= hanging
        let now = run.cache.statistics
        let state =
            "\(view.shortfall.bytes) bytes short, \(now.loadsInFlight) loads in flight, \(now.stuckLoads) stuck, "
            + "\(now.blockedWorkers) workers blocked, \(now.memory.bookkeeping.bytes) bytes of tables; \(now)"
        run.findings.note(
            .progress,
            isThere
                ? "the tiles of layer \(layer.number) have landed and its view was not told"
                : "\(missing) tiles of layer \(layer.number) (\(layer.kind), \(layer.tileSize)) have not landed in "
                    + "\(Self.patience) s: \(state)"
        )
    }

    /// Checks that a view at rest stops requesting loads. The limit has no room for all that it would prefetch.
    private func checkRest() {
        run.setLimit(quarters: 1)
        let view = run.cache.makeView(layers: run.allLayers)
        let viewport = TileViewport(center: WorldPoint(x: 900, y: 900), width: 300, height: 200)
        var started = -1
        var quietSince: Int64 = 0
        let isQuiet = wait(microseconds: 10_000) {
            view.update(viewport)
            run.look(at: view)
            let loads = run.cache.statistics.loads.started
            if loads != started { (started, quietSince) = (loads, MonotonicTime.now.nanoseconds) }
            return MonotonicTime.now.nanoseconds - quietSince > 1_000_000_000
        }
        if !isQuiet { run.findings.note(.progress, "a view at rest for \(Self.patience) s still asks for tiles") }
    }

    /// Checks that without views only the threads' leases and hanging loads remain.
    private func checkPins(_ holds: [StressHolds]) {
        var left = run.cache.statistics
        let kept = Set(holds.flatMap(\.identities)).count
        let isFree = wait(microseconds: 20_000) {
            run.cache.trim(to: .bytes(0))
            left = run.cache.statistics
            return left.memory.decodedTiles <= kept && left.memory.compressedTiles <= run.shared.blocker.count
        }
        if isFree { return }
        run.findings.note(
            .lease,
            "\(left.memory.decodedTiles) decoded and \(left.memory.compressedTiles) compressed tiles cannot be evicted, "
                + "\(kept) are held"
        )
    }

    private mutating func shutDown() {
        let timeout: Int64 = 2_000_000_000
        let start = MonotonicTime.now.nanoseconds
        let isDone = run.cache.shutdown(timeout: .nanoseconds(timeout))
        shutdownNanoseconds = MonotonicTime.now.nanoseconds - start
        run.noteEnd()
        // Twice the time again for a busy machine.
        if shutdownNanoseconds > 3 * timeout {
            run.findings.note(
                .shutdown,
                "shutdown took \(shutdownNanoseconds / 1_000_000) ms, \(timeout / 1_000_000) were given"
            )
        }
        if !isDone, run.shared.blocker.count == 0 {
            run.findings.note(.shutdown, "work is under way 2 s after the end, although no source hangs")
        }
        run.shared.blocker.end()
        if !run.cache.shutdown(timeout: .seconds(60)) {
            run.findings.note(.shutdown, "work is under way a minute after all sources have returned")
        }
    }
}
