@testable import TileCache

/// A small world of noise whose levels are made plainly: whole images, halved repeatedly.
struct MadeWorld {
    let pyramid: TilePyramid
    let format: TilePixelFormat
    /// Levels that the source does not have.
    let depth: Int
    let tileSize: Int
    /// By level, packed rows.
    private(set) var images: [[UInt8]]

    init(
        width: Int,
        height: Int,
        tileSize: Int = 16,
        depth: Int,
        wraps: Bool = false,
        format: TilePixelFormat = .rgba8,
        kind: DownsamplingKernelTests.Kind? = nil,
        hole: (_ x: Int, _ y: Int) -> Bool = { _, _ in false }
    ) throws {
        pyramid = try TilePyramid.powerOfTwo(
            worldWidth: width,
            worldHeight: height,
            tileSize: tileSize,
            wrapsX: wraps
        )
        self.format = format
        self.depth = depth
        self.tileSize = tileSize
        let bytes = format.bytesPerPixel ?? 1
        let naive = NaiveMean(kind ?? .init(format: format, alpha: .premultiplied, downsampling: .linear))
        var image: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let noise = SplitMix64.mixed(UInt64(y * width + x))
                for k in 0..<bytes { image.append(hole(x, y) ? 0 : UInt8(truncatingIfNeeded: noise >> (8 * k))) }
            }
        }
        images = [image]
        for level in stride(from: pyramid.maximumLevel, to: 0, by: -1) {
            let fine = pyramid.levels[level]
            images.insert(naive.halved(images[0], width: fine.width, height: fine.height), at: 0)
        }
    }

    var options: LayerOptions { LayerOptions(format: format, synthesizedLevels: depth) }

    /// Expected pixels of a tile; zeros outside the world.
    func pixels(of tile: TileCoordinate) -> [UInt8] {
        let level = pyramid.levels[tile.level]
        let bytes = format.bytesPerPixel ?? 1
        var pixels: [UInt8] = []
        for y in tile.row * tileSize..<(tile.row + 1) * tileSize {
            for x in tile.column * tileSize..<(tile.column + 1) * tileSize {
                guard x < level.width, y < level.height else {
                    pixels += [UInt8](repeating: 0, count: bytes)
                    continue
                }
                let at = (y * level.width + x) * bytes
                pixels += images[tile.level][at..<at + bytes]
            }
        }
        return pixels
    }

    var allTiles: [TileCoordinate] {
        pyramid.levels.enumerated().flatMap { index, level in
            Array(TileRange(level: index, columns: 0..<level.columns, rows: 0..<level.rows))
        }
    }
}

/// A source of a made world's fine levels, with faults on request.
final class MadeSource: BlockingTileSource {
    private struct State {
        var loads: [TileCoordinate: Int] = [:]
    }

    let world: MadeWorld
    private let state = Lock(State())
    private let before: @Sendable (TileCoordinate, _ attempt: Int) throws -> TileOutcome

    /// - Parameter before: Called with each load, from 1 for a tile's first. Its errors are rethrown.
    init(
        _ world: MadeWorld,
        before: @escaping @Sendable (TileCoordinate, _ attempt: Int) throws -> TileOutcome = { _, _ in .pixels }
    ) {
        self.world = world
        self.before = before
    }

    var loads: [TileCoordinate: Int] { state.withLock { $0.loads.separate } }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let attempt = state.withLock { state -> Int in
            state.loads[tile, default: 0] += 1
            return state.loads[tile] ?? 0
        }
        guard try before(tile, attempt) == .pixels else { return .absent }
        let bytes = world.pixels(of: tile)
        pixels.withUnsafeMutableBytes { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
        return .pixels
    }
}
