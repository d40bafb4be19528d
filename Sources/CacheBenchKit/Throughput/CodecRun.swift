import CLZ4
import Foundation
import TileCache

/// Tiles of one class, compressed both ways, and the times by tile and round.
///
/// A tile takes less than a scheduler's slice: on a busy machine few single times contain a pause, and medians exclude
/// those, while nearly every pass over a class contains one.
struct CodecRun {
    /// Seconds for one tile in one round.
    struct Times {
        var compress = 0.0
        var decompress = 0.0
        var rawCompress = 0.0
        var rawDecompress = 0.0
        var copy = 0.0
    }

    /// A compressed tile, copied out of the codec.
    enum Stored {
        case solid(UInt64)
        case block([UInt8])
        case raw
    }

    private var times: [[Times]] = []
    /// Bytes of all blocks; a tile of one colour counts as eight bytes.
    let storedBytes: Int
    let rawStoredBytes: Int
    /// Bytes of all pixels.
    var bytes: Int { tiles.reduce(0) { $0 + $1.pixels.count } }

    private let tiles: [CodecBenchmark.Tile]
    private let stored: [Stored]
    private let rawBlocks: [[UInt8]]
    private let codec: TileCodec
    private var target: [UInt8]
    private var rawTarget: [UInt8]

    init(tiles: [CodecBenchmark.Tile], maximumTileBytes: Int) throws {
        let codec = try TileCodec(maximumTileBytes: maximumTileBytes)
        let bound = Int(LZ4_compressBound(Int32(maximumTileBytes)))
        var rawTarget = [UInt8](repeating: 0, count: bound)
        self.codec = codec
        self.tiles = tiles
        stored = tiles.map { CodecRun.store($0, with: codec) }
        rawBlocks = tiles.map { tile in
            let count = CodecRun.rawCompress(tile, into: &rawTarget)
            return Array(rawTarget[..<count])
        }
        storedBytes = zip(stored, tiles).reduce(0) { sum, pair in
            switch pair.0 {
            case .solid: sum + 8
            case .block(let bytes): sum + bytes.count
            case .raw: sum + pair.1.pixels.count
            }
        }
        rawStoredBytes = zip(rawBlocks, tiles).reduce(0) { $0 + min($1.0.count, $1.1.pixels.count) }
        target = [UInt8](repeating: 0, count: maximumTileBytes)
        self.rawTarget = rawTarget
        for index in tiles.indices {
            try restore(index)
            guard target.prefix(tiles[index].pixels.count).elementsEqual(tiles[index].pixels) else {
                throw ReplayError("a tile of class \(tiles[index].className) did not come back as it was")
            }
        }
    }

    /// Seconds for all tiles of the class. The sum of each tile's median, or of another statistic of its rounds.
    func seconds(_ pass: (Times) -> Double, of rounds: ([Double]) -> Double = \.median) -> Double {
        tiles.indices.reduce(0) { sum, tile in sum + rounds(times.map { pass($0[tile]) }) }
    }

    /// Measures one round: each of the four passes goes through all tiles of the class.
    mutating func measure(rawFirst: Bool) throws {
        var round = [Times](repeating: Times(), count: tiles.count)
        if rawFirst { measureRaw(&round) }
        for index in tiles.indices {
            round[index].compress = CacheBenchKit.seconds { tiles[index].compress(with: codec) { _ in } }
        }
        for index in tiles.indices { round[index].decompress = try CacheBenchKit.seconds { try restore(index) } }
        if !rawFirst { measureRaw(&round) }
        for index in tiles.indices {
            round[index].copy = CacheBenchKit.seconds {
                target.withUnsafeMutableBytes { pixels in
                    tiles[index].pixels.withUnsafeBytes { pixels.copyMemory(from: $0) }
                }
            }
        }
        times.append(round)
    }

    private mutating func measureRaw(_ round: inout [Times]) {
        for index in tiles.indices {
            round[index].rawCompress = CacheBenchKit.seconds {
                _ = CodecRun.rawCompress(tiles[index], into: &rawTarget)
            }
        }
        for index in tiles.indices {
            round[index].rawDecompress = CacheBenchKit.seconds {
                rawBlocks[index].withUnsafeBytes { block in
                    target.withUnsafeMutableBytes { pixels in
                        _ = LZ4_decompress_safe(
                            block.baseAddress?.assumingMemoryBound(to: CChar.self),
                            pixels.baseAddress?.assumingMemoryBound(to: CChar.self),
                            Int32(block.count),
                            Int32(tiles[index].pixels.count)
                        )
                    }
                }
            }
        }
    }

    private mutating func restore(_ index: Int) throws {
        try CodecRun.restore(stored[index], of: tiles[index], into: &target, with: codec)
    }

    static func store(_ tile: CodecBenchmark.Tile, with codec: TileCodec) -> Stored {
        tile.compress(with: codec) { compressed in
            switch compressed {
            case .solid(let pattern): .solid(pattern)
            case .block(let bytes): .block([UInt8](bytes))
            case .raw: .raw
            }
        }
    }

    static func restore(
        _ stored: Stored,
        of tile: CodecBenchmark.Tile,
        into target: inout [UInt8],
        with codec: TileCodec
    ) throws {
        try target.withUnsafeMutableBytes { bytes in
            let pixels = UnsafeMutableRawBufferPointer(rebasing: bytes[..<tile.pixels.count])
            switch stored {
            case .solid(let pattern): SolidTile.fill(pixels, with: pattern)
            case .raw: pixels.copyBytes(from: tile.pixels)
            case .block(let block):
                try tile.decompress(block, into: pixels, with: codec)
            }
        }
    }

    private static func rawCompress(_ tile: CodecBenchmark.Tile, into target: inout [UInt8]) -> Int {
        tile.pixels.withUnsafeBytes { pixels in
            target.withUnsafeMutableBytes { block in
                Int(
                    LZ4_compress_default(
                        pixels.baseAddress?.assumingMemoryBound(to: CChar.self),
                        block.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(pixels.count),
                        Int32(block.count)
                    )
                )
            }
        }
    }
}

extension CodecBenchmark.Tile {
    /// Calls `body` with the compressed tile, whose bytes are the codec's.
    func compress<Result>(with codec: TileCodec, _ body: (CompressedTile) throws -> Result) rethrows -> Result {
        try pixels.withUnsafeBytes {
            try body(codec.compress($0, width: width, height: height, format: format))
        }
    }

    func decompress(_ block: [UInt8], into target: UnsafeMutableRawBufferPointer, with codec: TileCodec) throws {
        try block.withUnsafeBytes {
            try codec.decompress($0, into: target, width: width, height: height, format: format)
        }
    }
}
