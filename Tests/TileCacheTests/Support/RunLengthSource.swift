import Dispatch

@testable import TileCache

/// A toy image format: short runs of random colours, encoded by run length. The encoded form is smaller than LZ4's of
/// the pixels, as with real sources of payloads.
final class RunLengthSource: BlockingTileSource, TileDecoder {
    private struct State {
        var version: UInt32 = 0
        var loads: [TileCoordinate: Int] = [:]
        var decodes: [TileCoordinate: Int] = [:]
        var kept: [Bool] = []
        var failures = 0
        var threads: Set<UInt64> = []
    }

    private static let runLength = 16
    private let state = Lock(State())
    private let gate = DispatchSemaphore(value: 0)
    private let isGated: Bool
    /// Zeros at the end of each payload, to reach a size that a test sets.
    private let padding: Int

    init(isGated: Bool = false, padding: Int = 0) {
        self.isGated = isGated
        self.padding = padding
    }

    var loads: [TileCoordinate: Int] { state.withLock { $0.loads.separate } }
    var decodes: [TileCoordinate: Int] { state.withLock { $0.decodes.separate } }
    /// Results of ``TilePixels/keepEncoded(_:)``, twice for each load.
    var kept: [Bool] { state.withLock { $0.kept.map { $0 } } }
    /// Threads that decoded.
    var threads: Set<UInt64> { state.withLock { Set($0.threads.map { $0 }) } }
    var version: UInt32 {
        get { state.withLock { $0.version } }
        set { state.withLock { $0.version = newValue } }
    }

    /// Number of the next decodes that fail.
    func failDecodes(_ count: Int) { state.withLock { $0.failures = count } }

    /// Number of gated decodes that may continue.
    func open(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
        let version = state.withLock { state -> UInt32 in
            state.loads[tile, default: 0] += 1
            return state.version
        }
        let encoded = encode(tile, bytes: pixels.byteCount, version: version)
        try encoded.withUnsafeBytes { try Self.expand($0, into: &pixels) }
        let first = encoded.withUnsafeBytes { pixels.keepEncoded($0) }
        // Once is enough.
        let second = encoded.withUnsafeBytes { pixels.keepEncoded($0) }
        state.withLock { $0.kept += [first, second] }
        return .pixels
    }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        let fails = state.withLock { state -> Bool in
            state.decodes[tile, default: 0] += 1
            state.threads.insert(currentThreadNumber())
            state.failures -= 1
            return state.failures >= 0
        }
        if isGated { gate.wait() }
        if fails { throw .permanent }
        // A payload inside a payload belongs to no tile.
        guard !pixels.keepEncoded(encoded) else { throw .permanent }
        try Self.expand(encoded, into: &pixels)
    }

    /// Whether a tile has the pixels of this source.
    func drew(_ tile: LeasedTile) -> Bool {
        let colours = tile.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 4).map { bytes.load(fromByteOffset: $0, as: UInt32.self) }
        }
        return colours.indices.allSatisfy {
            colours[$0] == colour(tile.identity.tile, run: $0 / Self.runLength, version: version)
        }
    }

    private func colour(_ tile: TileCoordinate, run: Int, version: UInt32) -> UInt32 {
        var random = SplitMix64(
            seed: UInt64(tile.level) << 50 ^ UInt64(tile.column) << 30 ^ UInt64(tile.row) << 12 ^ UInt64(version)
        )
        return UInt32(truncatingIfNeeded: SplitMix64.mixed(random.next() &+ UInt64(run)))
    }

    private func encode(_ tile: TileCoordinate, bytes: Int, version: UInt32) -> [UInt8] {
        var encoded: [UInt8] = []
        for run in 0..<bytes / 4 / Self.runLength {
            encoded.append(UInt8(Self.runLength))
            withUnsafeBytes(of: colour(tile, run: run, version: version)) { encoded += $0 }
        }
        return encoded + [UInt8](repeating: 0, count: padding)
    }

    private static func expand(
        _ encoded: UnsafeRawBufferPointer,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        let expected = pixels.byteCount
        var written = 0
        pixels.withUnsafeMutableBytes { target in
            var at = 0
            while at + 5 <= encoded.count, encoded[at] > 0 {
                let colour = encoded.loadUnaligned(fromByteOffset: at + 1, as: UInt32.self)
                for _ in 0..<encoded[at] where written + 4 <= target.count {
                    target.storeBytes(of: colour, toByteOffset: written, as: UInt32.self)
                    written += 4
                }
                at += 5
            }
        }
        guard written == expected else {
            throw .wrongSize(expected: .bytes(expected), delivered: .bytes(written))
        }
    }
}
