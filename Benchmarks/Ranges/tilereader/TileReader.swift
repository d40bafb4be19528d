import Foundation
import TileCache
import TileSources

/// Opens a source by its address and draws a rectangle of tiles of its finest level until all of it is there.
///
/// `tilereader ADDRESS COLUMN ROW COLUMNS ROWS WORKERS [PASSES]` draws it as often as `PASSES` says, by default once; before
/// each further time the cache drops the tiles and keeps their memory. 0 workers are the cache's own choice. It prints a
/// line for each pass: the milliseconds to open, to the first tile and to the last one, then the tiles drawn, the requests
/// sent, the failures, and the milliseconds of processor time.
@main
struct TileReader {
    private let source: any PyramidTileSource
    private let view: TileView
    private let viewport: TileViewport
    private let tileCount: Int

    static func main() throws {
        let words = CommandLine.arguments
        let numbers = words.dropFirst(2).compactMap { Int($0) }
        guard 7...8 ~= words.count, numbers.count == words.count - 2, let address = TileSourceAddress(words[1]) else {
            let usage = "usage: tilereader ADDRESS COLUMN ROW COLUMNS ROWS WORKERS [PASSES]\n"
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
        let start = Reading(nil)
        let source: any PyramidTileSource
        do { source = try address.open() } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
        let opened = ContinuousClock.now
        let limit = ByteCount.gibibytes(4)
        let cache = try numbers[4] > 0 ? TileCache(byteLimit: limit, workers: numbers[4]) : TileCache(byteLimit: limit)
        let layer = try source.addLayer(to: cache)
        try layer.setPrefetchAllowance(.never)
        let reader = TileReader(source, cache.makeView(layers: [layer]), numbers)
        reader.read(since: start, opened: opened)
        for _ in 1..<(numbers.count > 5 ? max(numbers[5], 1) : 1) {
            let again = Reading(source)
            layer.invalidate(keepsStale: false)
            reader.read(since: again, opened: again.time)
        }
    }

    private init(_ source: any PyramidTileSource, _ view: TileView, _ numbers: [Int]) {
        let level = source.pyramid.levels[source.pyramid.maximumLevel]
        let step = level.worldPixelsPerPixel
        let (width, height) = (Double(numbers[2] * level.tileWidth), Double(numbers[3] * level.tileHeight))
        let center = WorldPoint(
            x: (Double(numbers[0] * level.tileWidth) + width / 2) * step,
            y: (Double(numbers[1] * level.tileHeight) + height / 2) * step
        )
        viewport = TileViewport(center: center, width: width, height: height, scale: 1 / step)
        (self.source, self.view, tileCount) = (source, view, numbers[2] * numbers[3])
    }

    /// Draws all tiles and prints the times.
    private func read(since start: Reading, opened: ContinuousClock.Instant) {
        view.update(viewport)
        var first: ContinuousClock.Instant?
        var tiles = 0
        while true {
            let frame = view.frame()
            tiles = frame.count
            if first == nil, tiles > 0 { first = .now }
            if frame.missingTileCount == 0 { break }
            // A frame of so many tiles takes time: the next one is made when all loads have begun.
            repeat { usleep(500) } while first != nil && source.statistics.loads - start.loads < tileCount
        }
        let end = Reading(source)
        func milliseconds(_ instant: ContinuousClock.Instant) -> String {
            String(format: "%.1f", start.time.duration(to: instant) / .milliseconds(1))
        }
        print(
            milliseconds(opened),
            milliseconds(first ?? end.time),
            milliseconds(end.time),
            tiles,
            end.attempts - start.attempts,
            end.failures - start.failures,
            String(format: "%.1f", end.processor - start.processor)
        )
    }
}

/// The time, the milliseconds of processor time that the process has taken, and the counts of a source.
private struct Reading {
    let time = ContinuousClock.now
    let processor: Double
    let loads: Int
    let attempts: Int
    let failures: Int

    init(_ source: (any PyramidTileSource)?) {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        processor = Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
        let statistics = source?.statistics
        (loads, attempts) = (statistics?.loads ?? 0, statistics?.attempts ?? 0)
        failures = statistics?.failureCount ?? 0
    }
}
