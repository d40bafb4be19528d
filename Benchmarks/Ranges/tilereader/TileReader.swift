import Foundation
import TileCache
import TileSources

/// Opens a source by its address and draws a rectangle of tiles of its finest level until all of it is there.
///
/// `tilereader ADDRESS COLUMN ROW COLUMNS ROWS WORKERS` prints, in milliseconds, the times to open, to the first tile and
/// to the last one, then the tiles drawn and the requests sent.
@main
struct TileReader {
    static func main() throws {
        let words = CommandLine.arguments
        let numbers = words.dropFirst(2).compactMap { Int($0) }
        guard words.count == 7, numbers.count == 5, let address = TileSourceAddress(words[1]) else {
            FileHandle.standardError.write(Data("usage: tilereader ADDRESS COLUMN ROW COLUMNS ROWS WORKERS\n".utf8))
            exit(2)
        }
        let clock = ContinuousClock()
        let start = clock.now
        let source: any PyramidTileSource
        do { source = try address.open() } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
        let opened = clock.now
        let cache = try TileCache(byteLimit: .gibibytes(4), workers: numbers[4])
        let layer = try source.addLayer(to: cache)
        try layer.setPrefetchAllowance(.never)
        let view = cache.makeView(layers: [layer])
        let level = source.pyramid.levels[source.pyramid.maximumLevel]
        let step = level.worldPixelsPerPixel
        let (width, height) = (Double(numbers[2] * level.tileWidth), Double(numbers[3] * level.tileHeight))
        let center = WorldPoint(
            x: (Double(numbers[0] * level.tileWidth) + width / 2) * step,
            y: (Double(numbers[1] * level.tileHeight) + height / 2) * step
        )
        view.update(TileViewport(center: center, width: width, height: height, scale: 1 / step))
        var first: ContinuousClock.Instant?
        var tiles = 0
        while true {
            let frame = view.frame()
            tiles = frame.count
            if first == nil, tiles > 0 { first = clock.now }
            if frame.missingTileCount == 0 { break }
            // A frame of so many tiles takes time: the next one is made when all loads have begun.
            repeat { usleep(500) } while first != nil && source.statistics.loads < numbers[2] * numbers[3]
        }
        let end = clock.now
        func milliseconds(_ instant: ContinuousClock.Instant?) -> String {
            String(format: "%.1f", start.duration(to: instant ?? end) / .milliseconds(1))
        }
        let statistics = source.statistics
        print(
            milliseconds(opened),
            milliseconds(first),
            milliseconds(end),
            tiles,
            statistics.attempts,
            statistics.failureCount
        )
    }
}
