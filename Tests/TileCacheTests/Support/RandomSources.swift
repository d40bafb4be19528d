import Dispatch
import TestSupport

@testable import TileCache

/// A random layer's tiles: every byte is known, see ``NamedBytes``.
final class RandomContent: Sendable {
    let layer: Int
    let world: PaintedWorld
    let format: TilePixelFormat
    /// All bytes are the same, also on generated levels.
    let isPlain: Bool
    private let fails: Bool
    private let seen = Lock<(tried: Set<TileCoordinate>, bytes: Int, problems: [String])>(([], 0, []))

    init(layer: Int, world: PaintedWorld, format: TilePixelFormat, isPlain: Bool, fails: Bool) {
        (self.layer, self.world, self.format, self.isPlain, self.fails) = (layer, world, format, isPlain, fails)
    }

    /// Bytes of written pixels, and errors in requests.
    var deliveredBytes: Int { seen.withLock { $0.bytes } }
    var problem: String? { seen.withLock { $0.problems.first } }

    func byteCount(_ tile: TileCoordinate) -> Int {
        let level = world.levels[tile.level]
        let pixels = (level.tileWidth + 2 * level.border) * (level.tileHeight + 2 * level.border)
        if case .opaque(let bytes) = format { return bytes }
        return pixels * format.bytesPerPixel!
    }

    private func name(_ tile: TileCoordinate) -> UInt64 {
        SplitMix64.mixed(UInt64(layer) << 60 ^ UInt64(tile.level) << 50 ^ UInt64(tile.column) << 25 ^ UInt64(tile.row))
    }

    func isAbsent(_ tile: TileCoordinate) -> Bool { fails && name(tile) % 23 == 0 }

    /// The pixels or another answer: some tiles are absent, some fail at the first request.
    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        if isAbsent(tile) { return .absent }
        let isFirst = seen.withLock { $0.tried.insert(tile).inserted }
        if fails, isFirst, name(tile) % 7 == 0 { throw TileFailure.transient(retryAfter: .zero) }
        write(tile, into: &pixels)
        seen.withLock { $0.bytes += byteCount(tile) }
        return .pixels
    }

    func write(_ tile: TileCoordinate, into pixels: inout TilePixels) {
        if pixels.byteCount != byteCount(tile) {
            note("\(pixels.byteCount) bytes for \(tile), not \(byteCount(tile))")
        }
        pixels.withUnsafeMutableBytes { bytes in
            if isPlain {
                _ = bytes.initializeMemory(as: UInt8.self, repeating: 0x5A)
            } else {
                NamedBytes(name: name(tile)).fill(bytes)
            }
        }
    }

    func note(_ problem: String) { seen.withLock { $0.problems.append(problem) } }

    /// Error in the bytes of a drawn tile.
    func problem(with tile: LeasedTile) -> String? {
        let place = tile.identity.tile
        return tile.withUnsafeBytes { bytes in
            guard bytes.count == byteCount(place) else { return "\(place) has \(bytes.count) bytes" }
            // Generated tiles are defined within the world only.
            if isPlain { return bytes[0] == 0x5A ? nil : "\(place) begins with \(bytes[0])" }
            let expected = NamedBytes(name: name(place))
            let wrong = expected.firstDifference(from: bytes)
            return wrong.map { "byte \($0) of \(place) is \(bytes[$0]), not \(expected.byte($0))" }
        }
    }
}

/// Delivers at once.
struct RandomBlockingSource: BlockingTileSource {
    let content: RandomContent

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        try content.load(tile, into: &pixels)
    }
}

/// A payload that is the tile's name.
enum NamePayload {
    static func keep(_ tile: TileCoordinate, in pixels: inout TilePixels) {
        [tile.level, tile.column, tile.row].withUnsafeBytes { _ = pixels.keepEncoded($0) }
    }

    static func name(in encoded: UnsafeRawBufferPointer) -> TileCoordinate {
        let name = (0..<3).map { encoded.loadUnaligned(fromByteOffset: $0 * 8, as: Int.self) }
        return TileCoordinate(level: name[0], column: name[1], row: name[2])
    }
}

/// Delivers its payload.
struct RandomEncodedSource: BlockingTileSource, TileDecoder {
    let content: RandomContent

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let outcome = try content.load(tile, into: &pixels)
        if outcome == .pixels { NamePayload.keep(tile, in: &pixels) }
        return outcome
    }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        let name = NamePayload.name(in: encoded)
        if name != tile { content.note("\(tile) is decoded of \(name)") }
        content.write(tile, into: &pixels)
    }
}

/// Answers a little later, on a separate queue.
struct RandomAsyncSource: TileSource {
    let content: RandomContent
    let queue = DispatchQueue(label: "random.answers")

    func requestTile(_ request: TileRequest) {
        queue.async {
            if content.isAbsent(request.tile) { return request.completeAbsent() }
            request.complete { try content.load(request.tile, into: &$0) }
        }
    }
}
