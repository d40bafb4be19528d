import Testing

@testable import TileCache

/// Worlds and tiles of extreme sizes, drawn and not only addressed.
@Suite(.timeLimit(.minutes(45))) struct ExtremeWorldTests {
    private static let side = 1 << 40

    private static func view(_ x: Double, _ y: Double, scale: Double, rotation: Double = 0) -> TileViewport {
        TileViewport(center: WorldPoint(x: x, y: y), width: 256, height: 192, scale: scale, rotation: rotation)
    }

    /// The corners and the middle of a world of 2^40 pixels a side. From the whole world in view to far beyond 1:1.
    @Test(arguments: [(1, false), (1, true), (64, false), (64, true)] as [(Int, Bool)])
    func aWorldOf2To40PixelsIsDrawn(tileSize: Int, wraps: Bool) throws {
        let pyramid = try TilePyramid.powerOfTwo(
            worldWidth: Self.side,
            worldHeight: Self.side,
            tileSize: tileSize,
            wrapsX: wraps
        )
        // Pages of 4 KiB for tiles of 4 bytes: the needed tiles of a view of 16 x 12 pixels fit.
        let steps = StepScheduler.calm()
        let cache = try steps.cache(byteLimit: .mebibytes(8))
        let layer = try cache.addLayer(PlainSource(), pyramid: pyramid)
        let view = cache.makeView(layers: [layer])
        let far = Double(Self.side)
        for scale in [1 / far, 1e-6, 0.5, 1, 1e12] {
            for (x, y) in [(0, 0), (far, far), (far / 2, far / 3), (far - 0.5, 1)] {
                var viewport = Self.view(x, y, scale: scale, rotation: y == 1 ? 0.5 : 0)
                if tileSize == 1 { (viewport.width, viewport.height) = (16, 12) }
                view.update(viewport)
                #expect(
                    steps.reaches {
                        let frame = view.frame()
                        return frame.missingTileCount == 0 && !frame.isEmpty
                    },
                    "\(x), \(y) at \(scale): \(cache.statistics)"
                )
                let frame = view.frame()
                let screen = viewport.uprightRectangle
                for placement in frame {
                    let identity = placement.tile.identity
                    #expect(pyramid.contains(identity.tile))
                    #expect(holdsSmall(placement.tile, expectedPixel(layer: 0, identity.tile)))
                    // Everything drawn is on screen, to the precision of a Double at that distance.
                    let world = placement.worldRectangle
                    let slack = max(world.width, far / Double(1 << 50)) + viewport.width / scale
                    #expect(world.minX <= screen.maxX + slack && world.maxX >= screen.minX - slack)
                    #expect(world.minY <= screen.maxY + slack && world.maxY >= screen.minY - slack)
                }
            }
        }
        #expect(cache.statistics.memory.peak.bytes <= 8 << 20)
        #expect(cache.statistics.refusedViewports == 0)
    }

    /// Above the maximum or 0: refused by name.
    @Test func tablesOutOfRangeAreRefused() {
        func level(_ width: Int, tile: Int = 1, border: Int = 0, scale: Double = 1) -> PyramidLevel {
            PyramidLevel(
                width: width,
                height: 1,
                tileWidth: tile,
                tileHeight: 1,
                worldPixelsPerPixel: scale,
                border: border
            )
        }
        func refusal(_ levels: [PyramidLevel]) -> String {
            do {
                _ = try TilePyramid(worldWidth: 1, worldHeight: 1, levels: levels)
                return ""
            } catch { return "\(error)" }
        }
        #expect(refusal([]).contains("1 to 64 levels"))
        let many = (0..<65).map { level(1, scale: PortableMath.exp2(-Double($0))) }
        #expect(refusal(many).contains("not 65") && refusal(Array(many.prefix(64))) == "")
        #expect(refusal([level(0)]).contains("level 0 is empty") && refusal([level(1, tile: 0)]).contains("is empty"))
        for (most, beyond) in [
            (level(.max, tile: 1 << 30), level(.max, tile: 1 << 30 + 1)),
            (level(1, border: 1 << 20), level(1, border: 1 << 20 + 1)), (level(1), level(1, border: -1)),
        ] {
            #expect(refusal([most]) == "" && refusal([beyond]).contains("tiles are too large"))
        }
        for scale in [0, -1, .infinity, .nan] {
            #expect(refusal([level(1, scale: scale)]).contains("a resolution larger than 0"))
        }
        // A tile, or the last one's edge, beyond all numbers.
        #expect(refusal([level(1, tile: 2, scale: .greatestFiniteMagnitude)]).contains("needs finite numbers"))
        #expect(refusal([level(2, scale: .greatestFiniteMagnitude)]).contains("needs finite numbers"))
        #expect(refusal([level(1, scale: .greatestFiniteMagnitude)]) == "")
        #expect(refusal([level(Self.side)]) == "" && refusal([level(Self.side + 1)]).contains("more than 2^40 columns"))
        #expect(refusal([level(.max, tile: 1 << 23)]) == "")
    }

    /// A level may be finer than the one before by any factor: more tiles replace one than an `Int` can count.
    @Test(arguments: [1 << 30, 1 << 32]) func aTileMayHaveAnyNumberOfChildren(children: Int) throws {
        let pyramid = try TilePyramid(
            worldWidth: Double(Self.side),
            worldHeight: Double(Self.side),
            levels: [
                PyramidLevel(
                    width: 256,
                    height: 256,
                    tileWidth: 256,
                    tileHeight: 256,
                    worldPixelsPerPixel: Double(Self.side / 256)
                ),
                PyramidLevel(
                    width: Self.side,
                    height: Self.side,
                    tileWidth: Self.side / children,
                    tileHeight: Self.side / children,
                    worldPixelsPerPixel: 1
                ),
            ]
        )
        let root = TileCoordinate(level: 0, column: 0, row: 0)
        #expect(pyramid.children(of: root)?.count == (children == 1 << 30 ? 1 << 60 : .max))
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .mebibytes(64))
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let view = cache.makeView(layers: [try cache.addLayer(PlainSource(), pyramid: pyramid)])
        view.update(Self.view(Double(Self.side) / 2, Double(Self.side) / 2, scale: 1e-10))
        #expect(view.frame().missingTileCount == 1)
        #expect(steps.reaches { view.frame().missingTileCount == 0 })
    }

    /// A column of tiles of 16 pixels, at a place where the next number is 2^70 further. A view between the two numbers
    /// shows the column, and the gap beside it is more tiles than an `Int` can count.
    @Test func aMarginFarFromTheOriginIsPlanned() throws {
        let (world, step) = (0x1p123, 0x1p70)
        let level = PyramidLevel(
            width: 16,
            height: 64,
            tileWidth: 16,
            tileHeight: 16,
            worldPixelsPerPixel: 1,
            origin: WorldPoint(x: world - step, y: 0)
        )
        let pyramid = try TilePyramid(worldWidth: world, worldHeight: 64, wrapsX: true, levels: [level])
        let scale = 256 / (step / 4)
        let viewport = TileViewport(
            center: WorldPoint(x: -step / 2, y: 32),
            width: 256,
            height: 16 * scale,
            scale: scale
        )
        let needed = pyramid.neededTiles(under: viewport, at: 0).map { TileKey(layer: 0, $0) }
        let shown = ViewSnapshot.Layer(
            id: LayerID(0),
            pyramid: pyramid,
            level: 0,
            needed: needed,
            hasOwnList: false,
            observations: []
        )
        let snapshot = ViewSnapshot(viewport: viewport, margin: 1, layers: [shown])
        var planner = Planner()
        let plan = planner.makePlan(of: [(id: 0, snapshot: snapshot)], context: .empty())
        #expect(plan.entries.map(\.key.coordinate.row) == [1, 2, 0, 3])
        #expect(plan.entries.map(\.reason) == [.demand, .demand, .margin, .margin])
    }

    /// `fill` inverts all of a tile of one pixel.
    private func holdsSmall(_ tile: LeasedTile, _ value: UInt32) -> Bool {
        tile.width > 1 ? holds(tile, value) : tile.withUnsafeBytes { $0.load(as: UInt32.self) == ~value }
    }

    /// Writes the corners of a tile of 2 GiB: untouched pages take no memory.
    private final class CornerSource: BlockingTileSource {
        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            pixels.withUnsafeMutableBytes { bytes in
                for offset in [0, bytes.count - 8] {
                    bytes.storeBytes(of: UInt64(tile.column + 1), toByteOffset: offset, as: UInt64.self)
                }
            }
            return .pixels
        }
    }

    /// Tiles too large for one LZ4 call are drawn, held and evicted uncompressed.
    @Test func tilesOf16384PixelsOfEightBytesAreDrawnAndGivenUp() throws {
        let steps = StepScheduler.calm()
        var configuration = TileCache.Configuration(byteLimit: .gibibytes(5), workers: 1)
        configuration.maximumByteLimit = configuration.byteLimit
        steps.adopt(&configuration)
        let cache = try TileCache(configuration)
        let pyramid = try TilePyramid.powerOfTwo(worldWidth: 1 << 20, worldHeight: 1 << 20, tileSize: 16_384)
        let layer = try cache.addLayer(CornerSource(), pyramid: pyramid, options: LayerOptions(format: .rgba16))
        let view = ServiceSetup.quiet(cache, [layer])
        for column in 0..<5 {
            view.update(Self.view((Double(column) + 0.5) * 16_384, 8192, scale: 1))
            #expect(steps.reaches { view.frame().missingTileCount == 0 }, "\(cache.statistics)")
            let frame = view.frame()
            #expect(frame.count == 1)
            for placement in frame {
                placement.tile.withUnsafeBytes { bytes in
                    #expect(bytes.count == 1 << 31)
                    let ends = [0, bytes.count - 8].map { bytes.load(fromByteOffset: $0, as: UInt64.self) }
                    #expect(ends == [UInt64(column + 1), UInt64(column + 1)])
                }
            }
        }
        let figures = cache.statistics
        #expect(figures.tiers.demotions == 0 && figures.memory.compressed.bytes == 0)
        #expect(figures.tiers.removals[.capacity] == 3, "\(figures.tiers.removals)")
        #expect(figures.memory.peak.bytes <= 5 << 30)
    }
}
