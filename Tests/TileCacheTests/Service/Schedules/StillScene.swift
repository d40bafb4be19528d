import Dispatch

@testable import TileCache

/// A cache on one thread with a stopped clock. Loads come only from explicit requests, without timers and other
/// updates.
final class StillScene: @unchecked Sendable {
    // Used by one thread only. Tiles of 64 x 64 pixels in RGBA.
    static let tileBytes = 16_384

    let scheduler = StepScheduler(seed: 1)
    /// Called when a step takes the lock again, until it returns true. Not within itself.
    var meanwhile: (() -> Bool)? {
        get { interruption.meanwhile }
        set { interruption.meanwhile = newValue }
    }
    private let interruption = Interruption()
    let cache: TileCache
    let pyramid: TilePyramid

    /// - Parameters:
    ///   - tiles: The limit in tiles; tables are granted on top of it. Cold tiles are evicted, unless `change` enables
    ///     the compressed tier.
    ///   - bytes: Addition to the limit. Default: 0.
    init(
        tiles: Int,
        bytes: Int = 0,
        workers: Int = 2,
        _ change: (inout TileCache.Configuration) -> Void = { _ in }
    ) throws {
        pyramid = try ServiceSetup.pyramid()
        scheduler.interrupts = false
        scheduler.takesTime = false
        var configuration = TileCache.Configuration(
            byteLimit: .bytes(tiles * Self.tileBytes + bytes),
            workers: workers
        )
        configuration.grantsBookkeeping = true
        configuration.usesCompressedTier = false
        scheduler.adopt(&configuration)
        configuration.executor.interleave = { [interruption] in interruption.run() }
        change(&configuration)
        cache = try TileCache(configuration)
    }

    func plainLayer() throws -> TileLayer { try cache.addLayer(PlainSource(), pyramid: pyramid) }

    func tile(_ column: Int, row: Int = 0) -> TileCoordinate { TileCoordinate(level: 6, column: column, row: row) }

    /// Runs all work that needs no time to pass; returns whether it ends.
    @discardableResult
    func run() -> Bool { scheduler.runAll() }

    /// Makes a view need tiles of one row, the first ones most. Runs all work.
    func need(_ columns: Range<Int>, of layer: TileLayer, _ view: TileView) {
        view.update(
            needing: columns.map { NeededTile(layer: layer.id, tile: tile($0), importance: Float(-$0)) }
        )
        run()
    }

    func resident(_ columns: Range<Int>, of layer: TileLayer) -> Int {
        columns.count { layer.isResident(tile($0)) }
    }

    func decoded(_ columns: Range<Int>, of layer: TileLayer) -> Int {
        cache.core.read { state in
            columns.count { state.pool.residency(of: TileKey(layer: layer.id.index, tile($0))).isDecoded }
        }
    }

    var isShort: Bool { cache.core.read { $0.pool.queue.lacksRoomForNeeds } }
}

private final class Interruption: @unchecked Sendable {
    // Used by one thread only.
    var meanwhile: (() -> Bool)?

    func run() {
        guard let once = meanwhile else { return }
        meanwhile = nil
        if !once() { meanwhile = once }
    }
}

/// A source with payloads, whose decoder calls the test.
final class PausedDecoder: BlockingTileSource, TileDecoder, @unchecked Sendable {
    // Used by one thread only.
    private let payloadBytes: Int
    /// Called within each decoding.
    var whileDecoding: ((TileCoordinate) -> Void)?

    init(payloadBytes: Int) { self.payloadBytes = payloadBytes }

    func load(_ tile: TileCoordinate, into pixels: inout TilePixels) -> TileOutcome {
        // Noise: its payload is the smaller form.
        var random = SplitMix64(seed: UInt64(tile.column))
        pixels.withMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
        }
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: tile.column), count: payloadBytes)
        _ = payload.withUnsafeBytes { pixels.keepEncoded($0) }
        return .pixels
    }

    func decode(
        _ encoded: UnsafeRawBufferPointer,
        of tile: TileCoordinate,
        into pixels: inout TilePixels
    ) throws(TileFailure) {
        whileDecoding?(tile)
        fill(&pixels, with: 7)
    }
}
