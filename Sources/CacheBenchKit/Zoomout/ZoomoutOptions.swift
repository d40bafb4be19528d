import PanTraces
package import TileCache

package struct ZoomoutOptions: Sendable, Hashable {
    package var viewport = BuiltInSession.viewport
    package var pixelFormat = TilePixelFormat.rgba8
    /// Memory limit for everything, tables and scratch memory included, even if it is in tiles or screens.
    package var memoryLimit = MemoryLimit.screens(4)
    /// Zoom-out factors from 1:1, each 1 or more, up to 2^20.
    package var factors: [Double] = ZoomoutOptions.powers(upTo: 1024)
    /// Pixels a side of a tile.
    package var tileSize = 256
    /// World size in world pixels; `nil` chooses one in which the farthest view fits.
    package var world: PanTraceHeader.Size?
    package var workers = 4
    package var compressedTier = true
    package var clock = ReplayClock.virtual
    /// Load latency in nanoseconds. `nil` draws the tiles of the built-in world, which needs the real clock. Default:
    /// 40 ms.
    package var loadLatency: Int64? = 40_000_000
    /// Speed relative to real time, under the real clock. Default: 1.
    package var speed = 1.0
    /// Whether the source has only the finest level; the cache makes the others.
    package var isFullResolutionOnly = false
    /// How pixels are averaged for them, under the real clock; the virtual one has no pixels.
    package var downsampling = TileDownsampling.linear
    package var seed: UInt64 = 1

    package init() {}

    /// Powers of two up to a bound: 1, 2, 4 ...
    package static func powers(upTo bound: Double) -> [Double] {
        var factors: [Double] = []
        var factor = 1.0
        while factor <= bound, factors.count < 64 {
            factors.append(factor)
            factor *= 2
        }
        return factors
    }

    /// Parses `1..1024` (powers of two) or `1,16,1024`; `nil` for other text.
    package static func factors(_ text: String) -> [Double]? {
        func factor(_ text: Substring) -> Double? {
            QuantityText.number(String(text), suffix: "").flatMap { $0 >= 1 && $0 <= 1_048_576 ? $0 : nil }
        }
        if let dots = text.firstRange(of: "..") {
            guard let low = factor(text[..<dots.lowerBound]), let high = factor(text[dots.upperBound...]), low <= high
            else { return nil }
            let factors = powers(upTo: high).filter { $0 >= low }
            return factors.isEmpty ? nil : factors
        }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let factors = words.compactMap(factor)
        return factors.count == words.count && factors.count <= 64 ? factors : nil
    }
}

extension ZoomoutOptions {
    /// Throws for options without effect under the virtual clock.
    func checkClock() throws(ReplayError) {
        guard clock == .virtual else { return }
        guard loadLatency != nil else {
            throw ReplayError("the virtual clock needs a --load-latency: it draws nothing")
        }
        guard speed == 1 else { throw .speedWithoutRealClock }
        guard downsampling == .linear else {
            throw ReplayError("--gamma-correct needs --clock real: the virtual clock has no pixels")
        }
    }

    /// Checks view, world and pyramid.
    func scene() throws(ReplayError) -> PanTraceScene {
        let farthest = factors.max() ?? 1
        guard viewport.isViewport else { throw ReplayError("--viewport takes WIDTHxHEIGHT in screen pixels") }
        var side = 131_072
        while Double(side) < 2 * farthest * max(viewport.width, viewport.height), side < 1 << 40 { side *= 2 }
        let size = world ?? PanTraceHeader.Size(width: Double(side), height: Double(side))
        let header = PanTraceHeader(viewport: viewport, world: size)
        do {
            return try PanTraceScene(header, overrides: PanTraceOverrides(tileSize: tileSize), name: "zoomout")
        } catch {
            throw ReplayError(error.description)
        }
    }

    /// Number of coarser levels that the cache makes.
    var synthesizedLevels: Int {
        guard isFullResolutionOnly else { return 0 }
        return Int(PortableMath.log2(factors.max() ?? 1).rounded(.up))
    }

    /// Cache settings under either clock: the library's defaults, except for the options.
    func cacheConfiguration(_ byteLimit: Int) -> TileCache.Configuration {
        var configuration = TileCache.Configuration(byteLimit: .bytes(byteLimit), workers: workers)
        configuration.usesCompressedTier = compressedTier
        return configuration
    }

    func byteLimit(in scene: PanTraceScene) throws(ReplayError) -> Int {
        var options = ReplayOptions()
        options.memoryLimit = memoryLimit
        options.pixelFormat = pixelFormat
        return try options.byteLimit(in: scene, tileBytes: try options.tileBytes(in: scene)).bytes
    }
}
