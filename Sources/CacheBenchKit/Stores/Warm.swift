package import TileCache

/// Tiles with which to fill a store.
package struct WarmOptions: Sendable {
    /// Levels, 0 the coarsest; `nil` for all.
    package var levels: ClosedRange<Int>?
    /// Part of the world, in world pixels; `nil` for all.
    package var region: PixelRect?
    /// Maximum loads of the source a second, above 0; `nil` for no maximum.
    package var rate: Double?

    package init() {}
}

/// Result of filling a store.
package struct WarmReport: Encodable, Sendable, Hashable {
    package var schema = 1
    /// Tiles of the levels in the region.
    package var tiles = 0
    /// Tiles that were done before the end or an interruption.
    package var done = 0
    /// Tiles that a store had.
    package var stored = 0
    /// Requests to the source: a tile that is retried counts again.
    package var loaded = 0
    package var absent = 0
    /// Tiles that could not be loaded; a second run tries them again.
    package var failed = 0
    /// Tiles that stores did not take, at least; a second run loads them again.
    package var unstored = 0
    /// Tiles that stores evicted, for others or for a lowered limit.
    package var evicted = 0
    package var seconds = 0.0
    package var wasStopped = false
    /// Message of the last load that failed, if any tile could not be loaded.
    @Nullable package var lastFailure: String? = nil
    /// Message of the last write to disk that failed, if any tile was not stored.
    @Nullable package var lastStoreFailure: String? = nil

    /// One paragraph, and a line for each cause of failures.
    package var text: String {
        let words = [
            "\(count: done) of \(count: tiles) tiles in \(seconds: seconds):",
            "\(count: stored) were stored, \(count: loaded) requested",
            "(\(count: absent) absent),",
            "\(count: failed) failed, \(count: unstored) not stored"
                + (evicted > 0 ? ", \(count: evicted) evicted" : ""),
        ]
        var lines = [words.joined(separator: " ")]
        if let lastFailure { lines.append("last failure: \(lastFailure.printable)") }
        if let lastStoreFailure { lines.append("last failure of the disk: \(lastStoreFailure.printable)") }
        if wasStopped { lines.append("The same command continues.") }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Fills the stores of a layer in batches, coarse levels first.
///
/// A tile that a store has is read and not loaded: a second run continues the first.
package struct Warm {
    private let options: WarmOptions
    private let pyramid: TilePyramid
    private let cache: TileCache
    private let layer: TileLayer

    /// Tiles of a batch; the cache must hold them.
    private static let batch = 64
    /// Longest wait for a batch without any progress, in nanoseconds.
    private static let patience: Int64 = 30_000_000_000

    /// The same while nothing is being loaded: retries wait up to 2 s.
    private static let idlePatience: Int64 = 3_000_000_000

    /// Bytes of a cache that holds a batch.
    package static func byteLimit(tileBytes: Int) -> Int {
        3 * batch * VirtualCache.slotBytes(ofTile: tileBytes) + (32 << 20)
    }

    /// Bytes of a write buffer with room for two batches: the last tiles of one may come with those of the next.
    package static func bufferBytes(tileBytes: Int) -> Int { 2 * batch * (tileBytes + 4096) }

    package init(_ options: WarmOptions, cache: TileCache, layer: TileLayer, pyramid: TilePyramid) throws(ReplayError) {
        let all = 0...pyramid.maximumLevel
        if let levels = options.levels, !all.contains(levels.lowerBound) || !all.contains(levels.upperBound) {
            let asked = levels.count == 1 ? "\(levels.lowerBound)" : "\(levels.lowerBound)..\(levels.upperBound)"
            throw ReplayError("--levels takes levels from 0 to \(pyramid.maximumLevel), not \(asked)")
        }
        (self.options, self.cache, self.layer, self.pyramid) = (options, cache, layer, pyramid)
        try require(
            ranges.contains { $0.count > 0 },
            "--region takes a part of the world, which has \(Figures.plain(pyramid.worldWidth)) x "
                + "\(Figures.plain(pyramid.worldHeight)) pixels"
        )
    }

    private var ranges: [TileRange] {
        let world = PixelRect(minX: 0, minY: 0, maxX: pyramid.worldWidth, maxY: pyramid.worldHeight)
        return (options.levels ?? 0...pyramid.maximumLevel)
            .map { pyramid.range(overlapping: options.region ?? world, at: $0) }
    }

    /// - Parameters:
    ///   - shouldStop: Whether to end now.
    ///   - flush: Has the stores write what they have buffered. Called after each batch: a source may be faster than
    ///     they are, and they drop what their buffers have no room for.
    ///   - progress: Called after each batch.
    package func run(
        shouldStop: () -> Bool,
        flush: () -> Void,
        progress: (_ done: Int, _ all: Int) -> Void
    ) -> WarmReport {
        let view = cache.makeView(layers: [layer], selection: TileLevelSelection(), policy: { NoPrefetch() })
        let start = MonotonicTime.now.nanoseconds
        var report = WarmReport()
        report.tiles = ranges.reduce(0) { $0.addingReportingOverflow($1.count).partialValue }
        var tiles = ranges.joined().makeIterator()
        while !shouldStop() {
            let batch = (0..<batchSize).compactMap { _ in tiles.next() }
            guard !batch.isEmpty else { break }
            let missing = load(batch, view, shouldStop)
            guard !shouldStop() else { break }
            report.failed += missing
            report.done += batch.count
            flush()
            note(&report, since: start)
            progress(report.done, report.tiles)
            // The rate is that of all loads so far.
            guard let rate = options.rate else { continue }
            let due = start + Int64(min(Double(report.loaded) / rate * 1e9, 0x1p60))
            while MonotonicTime.now.nanoseconds < due, !shouldStop() { pause() }
        }
        view.update(needing: [])
        note(&report, since: start)
        report.wasStopped = report.done < report.tiles
        return report
    }

    /// Adds what stores did not keep, once the cache is shut down and they are closed.
    package func note(_ stores: [any TileStore], in report: inout WarmReport) {
        for (given, store) in zip(cache.statistics.stores, stores) {
            let own = store.statistics
            // Some tiles have not reached the store, and others were dropped after it had taken them.
            report.unstored += max(given.dropped + given.refused, own.dropped + own.refused)
            report.evicted += own.evictions
        }
    }

    /// A slow rate has small batches, so that it is even.
    private var batchSize: Int { options.rate.map { min(max(Int($0 / 2), 1), Self.batch) } ?? Self.batch }

    private func note(_ report: inout WarmReport, since start: Int64) {
        let counts = cache.statistics
        report.stored = counts.stores.reduce(0) { $0 + $1.hits }
        report.loaded = counts.loads.finished + counts.loads.absent + counts.loads.failed - report.stored
        report.absent = counts.loads.absent
        report.seconds = Double(MonotonicTime.now.nanoseconds - start) / 1e9
    }

    /// Loads a batch. Returns the number of tiles still missing when no more are loaded.
    private func load(_ batch: [TileCoordinate], _ view: TileView, _ shouldStop: () -> Bool) -> Int {
        let needed = batch.map { NeededTile(layer: layer.id, tile: $0) }
        var missing = batch.count
        var last = MonotonicTime.now.nanoseconds
        while true {
            view.update(needing: needed)
            let now = remaining(in: view)
            guard now > 0, !shouldStop() else { return now }
            let time = MonotonicTime.now.nanoseconds
            if now < missing { (missing, last) = (now, time) }
            let isIdle = cache.statistics.loadsInFlight == 0
            guard time - last < (isIdle ? Self.idlePatience : Self.patience) else { return now }
            pause()
        }
    }

    /// Tiles that are missing, or drawn while newer ones are being loaded: stores do not have these yet.
    private func remaining(in view: TileView) -> Int {
        let frame = view.frame()
        return frame.missingTileCount + frame.count { $0.tile.isStale }
    }

    private func pause() { ReplayClockTime(speed: 1).sleep(for: 2_000_000) }
}
