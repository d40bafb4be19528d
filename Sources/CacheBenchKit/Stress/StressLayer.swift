import Foundation
import Synchronization
import TileCache

/// State shared by all layers of a run.
struct StressShared: Sendable {
    let seed: UInt64
    let faults: Set<StressFault>
    let findings: StressFindings
    let faultCounts = StressCounts<StressFault>()
    let blocker: StressBlocker
    var features: Set<StressFeature> = []
    /// Stores of all layers, nearest first; empty without ``StressFeature/stores``.
    var stores: [StressStore] = []
    /// At the end sources make no more faults.
    let calm = StressFlag()
    let queues = (0..<3).map { DispatchQueue(label: "stress.answers.\($0)") }
}

/// A flag that is set once.
final class StressFlag: Sendable {
    private let flag = Atomic(false)
    var isUp: Bool { flag.load(ordering: .acquiring) }
    func raise() { flag.store(true, ordering: .releasing) }
}

/// A layer of a stress run: how its source behaves, and which tiles may be drawn.
final class StressLayer: Sendable {
    enum Kind: Int, CaseIterable, Sendable {
        case blocking
        case asynchronous
        /// Blocking, with encoded bytes and a decoder for them.
        case encoded
        /// Blocking, without its two coarsest levels.
        case synthesized
    }

    let number: Int
    let kind: Kind
    let pyramid: TilePyramid
    private let format: TilePixelFormat
    let history = StressHistory()
    let shared: StressShared
    private let loads = Atomic<UInt64>(0)

    static let world = 4096
    static let synthesizedLevels = 2

    init(number: Int, kind: Kind, tileSize: Int, shared: StressShared) throws {
        self.number = number
        self.kind = kind
        self.shared = shared
        let wrapsX = number % 4 == 1
        let shape: StressShape
        if kind == .synthesized || shared.features.isEmpty {
            shape = try StressShape(tileSize: tileSize, wrapsX: wrapsX)
        } else {
            var random = SplitMix64(seed: shared.seed ^ SplitMix64.mixed(UInt64(number)))
            shape = try StressShape(tileSize: tileSize, wrapsX: wrapsX, features: shared.features, random: &random)
        }
        pyramid = shape.pyramid
        format = shape.format
    }

    /// Width of a tile of the finest level, in pixels.
    var tileSize: Int { pyramid.levels[pyramid.maximumLevel].tileWidth }

    var options: LayerOptions {
        var options = LayerOptions(format: format)
        if kind == .synthesized { options.synthesizedLevels = Self.synthesizedLevels }
        if !shared.stores.isEmpty, number % 5 != 4 {
            let stores = number.isMultiple(of: 2) ? shared.stores : [shared.stores[number / 2 % 2]]
            options.stores = LayerStores(stores, dataSet: ["stress", "\(number)"])
        }
        if number > 4, number % 3 == 0 { options.maximumShare = 0.5 }
        return options
    }

    func add(to cache: TileCache) throws(TileCacheError) -> TileLayer {
        switch kind {
        case .blocking, .synthesized:
            try cache.addLayer(StressBlockingSource(layer: self), pyramid: pyramid, options: options)
        case .encoded: try cache.addLayer(StressEncodedSource(layer: self), pyramid: pyramid, options: options)
        case .asynchronous: try cache.addLayer(StressAsyncSource(layer: self), pyramid: pyramid, options: options)
        }
    }

    // MARK: - What is where

    /// Part of the world that a tile shows: pixels beyond the edges never change.
    func worldRectangle(of tile: TileCoordinate) -> PixelRect {
        let world = PixelRect(minX: 0, minY: 0, maxX: pyramid.worldWidth, maxY: pyramid.worldHeight)
        return rectangle(of: tile).intersection(world)
    }

    /// World rectangle of a tile, by the checker's own arithmetic.
    func rectangle(of tile: TileCoordinate) -> PixelRect {
        let level = pyramid.levels[tile.level]
        let width = Double(level.tileWidth) * level.worldPixelsPerPixel
        let height = Double(level.tileHeight) * level.worldPixelsPerPixel
        let x = level.origin.x + Double(tile.column) * width
        let y = level.origin.y + Double(tile.row) * height
        return PixelRect(minX: x, minY: y, maxX: x + width, maxY: y + height)
    }

    var firstLevel: Int { kind == .synthesized ? Self.synthesizedLevels : 0 }

    func style(of tile: TileCoordinate) -> StressTile.Style {
        kind == .synthesized ? .solid : StressTile.style(layer: number, tile)
    }

    /// Permanent outcome of a tile, by its place alone.
    func fate(of tile: TileCoordinate) -> StressFault? {
        let draw = SplitMix64.mixed(
            shared.seed ^ UInt64(number) << 50 ^ UInt64(tile.level) << 40 ^ UInt64(tile.column) << 20 ^ UInt64(tile.row)
        )
        if shared.faults.contains(.absent), draw % 1000 < 40 { return .absent }
        if shared.faults.contains(.permanent), (40..<60).contains(draw % 1000) { return .permanent }
        return nil
    }

    // MARK: - What goes wrong

    /// Starts a load: returns its fault and some random bits.
    func begin(_ tile: TileCoordinate) -> (fault: StressFault?, bits: UInt64) {
        if !pyramid.contains(tile) || tile.level < firstLevel {
            shared.findings.note(.request, "the source of layer \(number) is asked for \(tile), which it does not have")
        }
        let sequence = loads.wrappingAdd(1, ordering: .relaxed).newValue
        let bits = SplitMix64.mixed(shared.seed &+ UInt64(number) << 40 &+ sequence)
        if let fate = fate(of: tile) {
            shared.faultCounts.add(fate)
            return (fate, bits)
        }
        guard !shared.calm.isUp, let fault = Self.draw(bits % 1000, kind), shared.faults.contains(fault) else {
            return (nil, bits)
        }
        if fault == .block {
            guard shared.blocker.take(TileKey(layer: number, tile)) else { return (nil, bits) }
        }
        shared.faultCounts.add(fault)
        return (fault, SplitMix64.mixed(bits))
    }

    /// Distribution in a thousand loads; some faults are of asynchronous sources only.
    private static func draw(_ number: UInt64, _ kind: Kind) -> StressFault? {
        switch number {
        case 0..<30: .fail
        case 30..<60: .stall
        case 60..<64: .block
        case 220..<235: .size
        case 64..<150 where kind == .encoded: .damage
        case 64..<100 where kind == .asynchronous: .twice
        case 100..<150 where kind == .asynchronous: .late
        case 150..<200 where kind == .asynchronous: .thread
        case 200..<215 where kind == .asynchronous: .drop
        default: nil
        }
    }

    /// Writes a tile, after garbage in the same place, which an early read would see.
    func write(_ tile: TileCoordinate, version: UInt32, into pixels: inout TilePixels) {
        pixels.withUnsafeMutableBytes { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0xDD)
            StressTile(layer: number, tile: tile, version: version).write(bytes, style: style(of: tile))
        }
    }

    /// Sleeps up to half a second, usually far less.
    static func stall(_ bits: UInt64) {
        usleep(UInt32(bits % 8 == 0 ? 250_000 + bits >> 8 % 250_000 : bits >> 8 % 20_000))
    }
}
