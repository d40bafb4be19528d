import TileCache

/// Unusual features of the layers and the cache of a stress run.
package enum StressFeature: String, StressChoice {
    /// Tiles that are not square, with sizes that differ between levels.
    case sizes
    /// Pixels around the tiles that are not drawn.
    case borders
    /// Worlds that end within a tile, and levels with an origin beside the world's corner.
    case edges
    /// Steps between levels other than 2.
    case steps
    /// Pixels of 1, 2 and 8 bytes.
    case formats
    /// A compressed tier that is off or has a fixed share.
    case tiers
    /// Another number of workers, from 1 to 9.
    case workers
    /// Stores below memory, two for every other layer, that are slow, and lose and damage entries.
    case stores
}

/// Pyramid and pixels of a layer, drawn from the run's seed.
struct StressShape: Sendable {
    let pyramid: TilePyramid
    var format = TilePixelFormat.rgba8

    /// The usual shape, of which the cache can make coarse levels.
    init(tileSize: Int, wrapsX: Bool) throws {
        pyramid = try .powerOfTwo(
            worldWidth: StressLayer.world,
            worldHeight: StressLayer.world,
            tileSize: tileSize,
            wrapsX: wrapsX
        )
    }

    init(tileSize: Int, wrapsX: Bool, features: Set<StressFeature>, random: inout SplitMix64) throws {
        func below(_ bound: Int) -> Int { random.next().below(bound) }
        // Draws every number, whether it is used or not, so that turning a feature off changes nothing else.
        let (cut, step, formatNumber) = ((below(200), below(200)), below(4), below(6))
        let (width, height) =
            features.contains(.edges)
            ? (StressLayer.world - cut.0, StressLayer.world - cut.1) : (StressLayer.world, StressLayer.world)
        let factor = features.contains(.steps) ? [2, 3, 4, 1.5][step] : 2
        var levels: [PyramidLevel] = []
        var perPixel = 1.0
        while levels.count < 12 {
            let (sides, border) = ((below(48), below(48)), below(4))
            let shift = (random.next().unit, random.next().unit)
            let tile = features.contains(.sizes) ? (24 + sides.0, 24 + sides.1) : (tileSize, tileSize)
            let span = (Double(tile.0) * perPixel, Double(tile.1) * perPixel)
            // A wrapping level must begin and end with a column that shows some of the world.
            let origin =
                features.contains(.edges)
                ? WorldPoint(x: -shift.0 / 2 * span.0, y: -shift.1 / 2 * span.1) : WorldPoint(x: 0, y: 0)
            levels.insert(
                PyramidLevel(
                    width: Int(((Double(width) - origin.x) / perPixel).rounded(.up)),
                    height: Int(((Double(height) - origin.y) / perPixel).rounded(.up)),
                    tileWidth: tile.0,
                    tileHeight: tile.1,
                    worldPixelsPerPixel: perPixel,
                    origin: origin,
                    border: features.contains(.borders) ? border : 0
                ),
                at: 0
            )
            if levels[0].columns * levels[0].rows <= 2 { break }
            perPixel *= factor
        }
        pyramid = try TilePyramid(
            worldWidth: Double(width),
            worldHeight: Double(height),
            wrapsX: wrapsX,
            levels: levels
        )
        if features.contains(.formats) {
            format = [.rgba8, .rgba8, .bgra8, .gray8, .gray16, .rgba16][formatNumber]
        }
    }
}

extension StressOptions {
    func configuration() -> TileCache.Configuration {
        var random = SplitMix64(seed: SplitMix64.mixed(seed) ^ 0xCAC4E)
        let (count, tier, share) = (random.next().below(9), random.next().below(8), random.next().below(6))
        var configuration = TileCache.Configuration(
            byteLimit: .bytes(byteLimit / 4 * 3),
            workers: workers ?? (features.contains(.workers) ? count + 1 : 4)
        )
        if features.contains(.tiers) {
            configuration.usesCompressedTier = tier != 0
            configuration.compressedShare = [nil, nil, nil, 0, 0.5, 1][share]
        }
        configuration.maximumByteLimit = .bytes(byteLimit)
        configuration.retryDelay = .milliseconds(20)
        configuration.stuckLoadTime = .nanoseconds(StressRun.stuckLoadTime)
        configuration.slowCallbackTime = .milliseconds(5)
        return configuration
    }
}
