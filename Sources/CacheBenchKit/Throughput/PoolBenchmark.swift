import TileCache

/// Overhead of the pool over the codec: reserving, storing and finding pages, locks and leases.
package struct PoolReport: Encodable, Sendable, Hashable {
    /// Speed of compressing a tile into the pool relative to the codec alone.
    package var storeToCodec: Double
    /// Speed of decompressing a tile out of the pool relative to the codec alone.
    package var fetchToCodec: Double
}

/// Measures the whole path of the compressed tier and the codec alone, alternately.
struct PoolBenchmark {
    private struct Source: BlockingTileSource {
        let tiles: [CodecBenchmark.Tile]

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            guard tile.row == 0, tile.column < tiles.count else { return .absent }
            let source = tiles[tile.column].pixels
            pixels.withUnsafeMutableBytes { target in source.withUnsafeBytes { target.copyMemory(from: $0) } }
            return .pixels
        }
    }

    private let tiles: [CodecBenchmark.Tile]
    private let coordinates: [TileCoordinate]
    private let cache: TileCache
    private let layer: TileLayer

    /// Fills a cache with those tiles of one size and format that are compressible.
    init?(_ all: [CodecBenchmark.Tile]) throws {
        let codec = try TileCodec(maximumTileBytes: all.map(\.pixels.count).max() ?? 1)
        tiles = all.filter { tile in
            guard tile.isPicture, tile.width == 256, tile.height == 256 else { return false }
            return tile.compress(with: codec) { if case .block = $0 { true } else { false } }
        }
        guard !tiles.isEmpty else { return nil }
        cache = try TileCache(byteLimit: .mebibytes(16 + tiles.count))
        let width = tiles.count * 256
        let level = PyramidLevel(width: width, height: 256, tileWidth: 256, tileHeight: 256, worldPixelsPerPixel: 1)
        let pyramid = try TilePyramid(worldWidth: Double(width), worldHeight: 256, levels: [level])
        layer = try cache.addLayer(Source(tiles: tiles), pyramid: pyramid)
        coordinates = tiles.indices.map { TileCoordinate(level: 0, column: $0, row: 0) }
        let view = cache.makeView(layers: [layer])
        let center = WorldPoint(x: Double(width) / 2, y: 128)
        let whole = TileViewport(center: center, width: Double(width), height: 256)
        view.fill(whole, within: 20)
    }

    func run(rounds: Int, shouldStop: () -> Bool = { false }) throws -> PoolReport {
        let codec = try TileCodec(maximumTileBytes: tiles[0].pixels.count)
        var blocks: [[UInt8]] = []
        for tile in tiles {
            try compressed(tile, codec) { blocks.append([UInt8]($0)) }
        }
        // As many targets as tiles, so that both sides write to equally cold memory.
        let targets = tiles.map { UnsafeMutableRawBufferPointer.allocate(byteCount: $0.pixels.count, alignment: 4096) }
        defer { for target in targets { target.deallocate() } }
        // Seconds by tile, as in CodecRun: the codec alone and through the pool.
        let none = tiles.map { _ in (alone: [Double](), pooled: [Double]()) }
        var (stores, fetches) = (none, none)
        for round in 0..<max(rounds, 1) + 1 where round < 2 || !shouldStop() {
            // The first round commits memory that later ones reuse.
            if round == 1 { (stores, fetches) = (none, none) }
            for (index, tile) in tiles.enumerated() {
                stores[index].alone.append(try seconds { try compressed(tile, codec) { _ in } })
            }
            for (index, tile) in coordinates.enumerated() {
                stores[index].pooled.append(seconds { _ = layer.demote(tile) })
            }
            for (index, tile) in tiles.enumerated() {
                let time = try seconds { try tile.decompress(blocks[index], into: targets[index], with: codec) }
                fetches[index].alone.append(time)
            }
            for (index, tile) in coordinates.enumerated() {
                var moved = false
                fetches[index].pooled.append(seconds { moved = layer.promote(tile) })
                guard moved else { throw ReplayError("the pool lost a tile while it was measured") }
            }
        }
        func ratio(_ times: [(alone: [Double], pooled: [Double])]) -> Double {
            times.reduce(0) { $0 + $1.alone.median } / times.reduce(0) { $0 + $1.pooled.median }
        }
        return PoolReport(storeToCodec: ratio(stores), fetchToCodec: ratio(fetches))
    }

    private func compressed(
        _ tile: CodecBenchmark.Tile,
        _ codec: TileCodec,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws {
        try tile.compress(with: codec) { compressed in
            guard case .block(let block) = compressed else {
                throw ReplayError("a tile that was compressed before no longer is")
            }
            body(block)
        }
    }
}
