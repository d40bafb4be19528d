import PanTraces
package import TileCache

package struct ZoomoutOptions: Sendable, Hashable {
    /// Replay options that apply: limit, workers, tier, clock, latency, speed, pixels and seed. View, world and tile
    /// size are its overrides.
    ///
    /// The limit holds everything, tables and scratch memory included, even if it is in tiles or screens. Without a
    /// latency the tiles of the built-in world are drawn, which needs the real clock. Without a world one is chosen in
    /// which the farthest view fits.
    package var replay = ReplayOptions()
    /// Zoom-out factors from 1:1, each 1 or more, up to 2^20.
    package var factors: [Double] = ZoomoutOptions.powers(upTo: 1024)
    /// Whether the source has only the finest level; the cache makes the others.
    package var isFullResolutionOnly = false
    /// How pixels are averaged for them, under the real clock. The virtual one has no pixels.
    package var downsampling = TileDownsampling.linear

    package init() {
        replay.memoryLimit = .screens(4)
        replay.overrides = PanTraceOverrides(viewport: BuiltInSession.viewport, tileSize: 256)
    }

    /// Powers of two up to a bound: 1, 2, 4 ...
    package static func powers(upTo bound: Double) -> [Double] {
        (0..<64).map { PortableMath.exp2(Double($0)) }.filter { $0 <= bound }
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
        guard replay.clock == .virtual else { return }
        try require(replay.loadLatency != nil, "the virtual clock needs a --load-latency: it draws nothing")
        guard replay.speed == 1 else { throw .speedWithoutRealClock }
        try require(downsampling == .linear, "--gamma-correct needs --clock real: the virtual clock has no pixels")
        try require(
            replay.seed == ReplayOptions().seed,
            "--seed needs --clock real: under the virtual clock nothing is random"
        )
    }

    /// Checks view, world and pyramid.
    func scene() throws(ReplayError) -> PanTraceScene {
        let farthest = factors.max() ?? 1
        guard let viewport = replay.overrides.viewport, viewport.isViewport else {
            throw ReplayError("--viewport takes WIDTHxHEIGHT in screen pixels")
        }
        var side = 131_072
        while Double(side) < 2 * farthest * max(viewport.width, viewport.height), side < 1 << 40 { side *= 2 }
        let header = PanTraceHeader(world: PanTraceHeader.Size(width: Double(side), height: Double(side)))
        do {
            return try PanTraceScene(header, overrides: replay.overrides, name: "zoomout")
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
        var configuration = TileCache.Configuration(byteLimit: .bytes(byteLimit), workers: replay.workers)
        configuration.usesCompressedTier = replay.compressedTier
        return configuration
    }
}
