@testable import TileCache
@testable import TileSources

/// Result of loading one tile, and all bytes of its memory afterwards.
private struct Loaded {
    var outcome: TileOutcome?
    var pixels: [UInt8]

    init(
        _ source: any PyramidTileSource,
        _ tile: TileCoordinate,
        over filling: UInt8,
        _ load: (inout TilePixels) throws -> TileOutcome
    ) {
        let level = source.pyramid.levels[tile.level]
        let format = source.layerOptions.format
        let count = format.byteCount(width: level.tileWidth, height: level.tileHeight) ?? 0
        var memory = [UInt8](repeating: filling, count: count)
        outcome = memory.withUnsafeMutableBytes { memory in
            var pixels = TilePixels(
                memory: memory,
                width: level.tileWidth,
                height: level.tileHeight,
                format: format,
                alpha: source.layerOptions.alpha
            )
            return try? load(&pixels)
        }
        pixels = memory
    }
}

/// Loads a tile into used memory, since a successful load must write all of it.
///
/// - Returns: The result; `nil` if the load failed or the tile is too large to test.
@discardableResult
func loadTwice(
    _ source: any PyramidTileSource,
    _ tile: TileCoordinate,
    _ load: (inout TilePixels) throws -> TileOutcome
) -> TileOutcome? {
    let level = source.pyramid.levels[tile.level]
    guard level.tileWidth * level.tileHeight <= 1 << 18 else { return nil }
    let first = Loaded(source, tile, over: 0xA5, load)
    let second = Loaded(source, tile, over: 0x5A, load)
    expect(first.outcome == second.outcome, "a tile is once \(first.outcome as Any), once \(second.outcome as Any)")
    if first.outcome == .pixels { expect(first.pixels == second.pixels, "all of a tile is written") }
    return first.outcome
}

extension PyramidTileSource {
    /// Tiles at the corners of all levels.
    var corners: [TileCoordinate] {
        pyramid.levels.indices.flatMap { level in
            let (columns, rows) = (pyramid.levels[level].columns, pyramid.levels[level].rows)
            return [
                TileCoordinate(level: level, column: 0, row: 0),
                TileCoordinate(level: level, column: columns - 1, row: rows - 1),
            ]
        }
    }

    /// Levels grow from the coarsest to the finest, which has the world's size.
    func expectPyramid() {
        let levels = pyramid.levels
        expect(!levels.isEmpty && levels.allSatisfy { $0.columns >= 1 && $0.rows >= 1 }, "levels have tiles")
        for (coarse, fine) in zip(levels, levels.dropFirst()) {
            expect(coarse.worldPixelsPerPixel > fine.worldPixelsPerPixel, "levels become finer")
        }
        expect(contents.minX <= contents.maxX && contents.maxX <= pyramid.worldWidth, "contents \(contents)")
        expect(contents.minY <= contents.maxY && contents.maxY <= pyramid.worldHeight, "contents \(contents)")
    }
}

/// Options from three bits of an input.
func sourceOptions(_ draw: UInt8) -> TileSourceOptions {
    TileSourceOptions(
        format: [.rgba8, .bgra8, .gray8][Int(draw) % 3],
        alpha: draw & 4 == 0 ? .premultiplied : .straight
    )
}
