import Dispatch
import Synchronization
import TileCache

/// Hours of traffic in minutes: arrivals of mixed contents and sizes, limits lowered and raised, trims, leases held long;
/// and whether the pool kept its promise.
package struct PoolSoak: Sendable {
    /// What a soak showed.
    package struct Report: Codable, Sendable {
        /// Tiles that landed.
        package var arrivals = 0
        /// The limit, at its highest.
        package var byteLimit = 0
        /// The ledger, at its highest.
        package var peakBytes = 0
        /// Changes after which the ledger was above the limit of that moment, other than by what was held when the limit
        /// was lowered.
        package var limitBreaches = 0
        /// Of the ledger, tables and scratch memory at the end.
        package var bookkeepingBytes = 0
        /// Growth of the process's resident memory, at its highest.
        package var residentGrowth = 0
        /// Decoded pixels and compressed blocks before rounding, over the limit, on average while the pool was full.
        package var payloadShare = 0.0
        package var demotions = 0
        package var promotions = 0
        package var evictions = 0
        package var leasesHeld = 0
        package var limitChanges = 0
        package var trims = 0
        /// Leased tiles whose pixels were not what the source had written.
        package var wrongTiles = 0
    }

    private struct Source: BlockingTileSource {
        let contents: [[UInt8]]

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            let content = contents[PoolSoak.content(of: tile, contents.count)]
            pixels.withMutableBytes { target in
                var offset = 0
                while offset < target.count {
                    let count = min(content.count, target.count - offset)
                    content.withUnsafeBytes { bytes in
                        UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + count])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                    }
                    offset += count
                }
                target.storeBytes(of: PoolSoak.mark(of: tile), as: UInt64.self)
            }
            return .pixels
        }
    }

    static func content(of tile: TileCoordinate, _ count: Int) -> Int {
        Int((mark(of: tile) >> 17) % UInt64(count))
    }

    static func mark(of tile: TileCoordinate) -> UInt64 {
        SplitMix64.mixed(UInt64(tile.level) << 48 ^ UInt64(tile.row) << 24 ^ UInt64(tile.column))
    }

    private let contents: [[UInt8]]
    private let byteLimit: Int
    private let arrivals: Int

    /// Prepares a soak.
    ///
    /// - Parameters:
    ///   - contents: tiles of 256 x 256 RGBA that arrivals are copies of.
    ///   - byteLimit: of the cache.
    ///   - arrivals: after so many landed tiles it ends.
    package init(contents: [[UInt8]], byteLimit: Int, arrivals: Int) {
        self.contents = contents
        self.byteLimit = byteLimit
        self.arrivals = arrivals
    }

    /// Runs it.
    package func run(seed: UInt64 = 1) throws -> Report {
        var random = SplitMix64(seed: seed)
        var report = Report()
        report.byteLimit = byteLimit
        let source = Source(contents: contents)
        let memory = ResidentMemory()
        let cache = try TileCache(byteLimit: .bytes(byteLimit))
        let world = 1 << 20
        let small = try cache.addLayer(source, pyramid: .powerOfTwo(worldWidth: world, worldHeight: world))
        let large = try cache.addLayer(
            source,
            pyramid: .powerOfTwo(worldWidth: world, worldHeight: world, tileSize: 512)
        )
        let views = [cache.makeView(layers: [small]), cache.makeView(layers: [large])]
        var center = [WorldPoint(x: 5e5, y: 5e5), WorldPoint(x: 3e5, y: 7e5)]
        var held: [(tile: LeasedTile, until: Int)] = []
        var fullness = (sum: 0.0, count: 0)
        var step = 0
        while cache.statistics.loadsFinished < arrivals {
            step += 1
            let own = Int(random.next() % 2)
            // Mostly pans, now and then back or to another place: what was compressed is asked for again.
            switch random.next() % 40 {
            case 0:
                center[own] = WorldPoint(x: Double(random.next() % 16) * 65_000, y: Double(random.next() % 4) * 250_000)
            case 1...2: center[own].x -= 1500
            default: break
            }
            center[own].x += Double(random.next() % 512) - 128
            center[own].y += Double(random.next() % 256) - 128
            let scale = random.next() % 8 == 0 ? 0.5 : 1.0
            views[own].update(Viewport(center: center[own], width: 1280, height: 720, scale: scale))
            let frame = views[own].frame()
            if !frame.isEmpty, random.next() % 4 == 0 {
                let tile = frame[Int(random.next() % UInt64(frame.count))].tile.retained()
                held.append((tile, step + Int(random.next() % 400)))
                report.leasesHeld += 1
                check(tile, &report)
            }
            let isCrowded = held.count > 24
            held.removeAll { entry in
                guard entry.until <= step || isCrowded else { return false }
                check(entry.tile, &report)
                return true
            }
            try upkeep(cache, step, &random, &report)
            if step % 16 == 0 {
                memory.sample()
                let figures = cache.statistics
                // Under pressure: nothing of the limit is left for another tile, and it has not just been changed.
                if figures.byteLimit == byteLimit, figures.byteLimit - figures.usedBytes < 1 << 20 {
                    fullness.sum += Double(cache.payloadBytes) / Double(byteLimit)
                    fullness.count += 1
                }
            }
            var pause = timespec(tv_sec: 0, tv_nsec: 300_000)
            nanosleep(&pause, nil)
        }
        held.removeAll()
        let figures = cache.statistics
        report.arrivals = figures.loadsFinished
        report.peakBytes = figures.peakBytes
        report.limitBreaches = cache.counters.limitBreaches
        report.demotions = figures.demotions
        report.promotions = figures.promotions
        report.evictions = figures.removals[.capacity] ?? 0
        report.residentGrowth = memory.growth ?? 0
        report.payloadShare = fullness.count == 0 ? 0 : fullness.sum / Double(fullness.count)
        report.bookkeepingBytes = figures.bookkeepingBytes
        cache.shutdown()
        return report
    }

    private func upkeep(
        _ cache: TileCache,
        _ step: Int,
        _ random: inout SplitMix64,
        _ report: inout Report
    ) throws {
        switch random.next() % 3000 {
        case 0:
            cache.byteLimit = .bytes(byteLimit / 2 + Int(random.next() % UInt64(byteLimit / 2)))
            report.limitChanges += 1
        case 1...3:
            cache.byteLimit = .bytes(byteLimit)
            report.limitChanges += 1
        case 4:
            cache.trim(toBytes: byteLimit / 3)
            report.trims += 1
        default: break
        }
    }

    private func check(_ tile: LeasedTile, _ report: inout Report) {
        let coordinate = tile.identity.tile
        let content = contents[Self.content(of: coordinate, contents.count)]
        let isRight = tile.withUnsafeBytes { bytes in
            guard bytes.load(as: UInt64.self) == Self.mark(of: coordinate) else { return false }
            for offset in stride(from: 4096, to: bytes.count, by: 4096)
            where bytes[offset] != content[offset % content.count] { return false }
            return true
        }
        if !isRight { report.wrongTiles += 1 }
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif
