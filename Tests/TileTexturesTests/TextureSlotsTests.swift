import Foundation
import Testing

@testable import TileCache
@testable import TileTextures

/// Slots of a view of a real cache. The renderer has an array of memory for textures.
@Suite(.timeLimit(.minutes(45))) struct TextureSlotsTests {
    /// Fills 64-pixel tiles with a number of their own. The first byte is the version.
    private final class Numbers: BlockingTileSource {
        let version = Lock<UInt8>(1)

        static func number(_ tile: TileCoordinate) -> UInt8 {
            UInt8(truncatingIfNeeded: tile.level * 89 + tile.column * 7 + tile.row * 31)
        }

        func load(_ tile: TileCoordinate, into pixels: inout TilePixels) throws -> TileOutcome {
            let version = version.withLock { $0 }
            pixels.withMutableBytes { bytes in
                for index in bytes.indices { bytes[index] = Self.number(tile) }
                bytes[0] = version
            }
            return .pixels
        }
    }

    private struct Renderer {
        var slots: TextureSlots
        var textures: [Int: (identity: TileIdentity, bytes: [UInt8])] = [:]

        mutating func draw(_ frame: TileFrame, of view: TileView?) -> TextureFrame {
            let step = slots.update(frame, of: view)
            for upload in step.uploads {
                textures[upload.slot] = (upload.tile.identity, upload.tile.withUnsafeBytes { Array($0) })
            }
            slots.noteUploads(.bytes(step.uploads.count * 16_384), took: .microseconds(step.uploads.count))
            for placement in step.placements {
                let held = textures[placement.slot]
                #expect(held?.identity == placement.identity && held?.bytes.count == 16_384)
                #expect(held?.bytes[1] == Numbers.number(placement.identity.tile))
            }
            return step
        }
    }

    private static func setUp(
        format: TilePixelFormat = .rgba8
    ) throws -> (cache: TileCache, layer: TileLayer, view: TileView, source: Numbers) {
        let cache = try TileCache(byteLimit: .mebibytes(16))
        let source = Numbers()
        let layer = try cache.addLayer(
            source,
            pyramid: .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64),
            options: LayerOptions(format: format)
        )
        return (cache, layer, cache.makeView(layers: [layer]), source)
    }

    private static func sharpFrame(_ view: TileView, _ viewport: TileViewport) throws -> TileFrame {
        for _ in 0..<10_000 {
            view.update(viewport)
            let frame = view.frame()
            if frame.missingTileCount == 0 { return frame }
            usleep(1000)
        }
        throw TileCacheError.isShutDown
    }

    @Test func aRendererDrawsFromItsSlots() throws {
        let (cache, _, view, _) = try Self.setUp()
        var renderer = Renderer(slots: try TextureSlots(TextureScene.options(slots: 40, tilesPerFrame: 4)))
        for step in 0..<12 {
            let viewport = TextureScene.viewport(1000 + Double(step) * 50, 1200, 256, 192)
            view.levelBias = renderer.draw(try Self.sharpFrame(view, viewport), of: view).levelBias
            var last = renderer.draw(view.frame(), of: view)
            for _ in 0..<40 where last.waitingTileCount > 0 { last = renderer.draw(view.frame(), of: view) }
            #expect(last.holeCount == 0 && last.waitingTileCount == 0)
            #expect(last.placements.count == view.frame().count && last.placements.allSatisfy { $0.isExact })
        }
        #expect(renderer.slots.statistics.uploads > 12 && renderer.slots.statistics.peakUploads <= 4)
        cache.shutdown()
        // After a shutdown the frame is empty, and the slots stay.
        #expect(renderer.draw(view.frame(), of: view).placements.isEmpty)
    }

    @Test func theBiasMakesTheViewCoarser() throws {
        let (cache, _, view, _) = try Self.setUp()
        defer { cache.shutdown() }
        let viewport = TextureScene.viewport(1024, 1024, 256, 192)
        #expect(try Self.sharpFrame(view, viewport).allSatisfy { $0.tile.identity.tile.level == 6 })
        #expect(view.levelBias == 0)
        view.levelBias = 1
        // At once, without a new viewport.
        #expect(view.neededTileCount <= 9)
        #expect(try Self.sharpFrame(view, viewport).allSatisfy { $0.tile.identity.tile.level == 5 })
        for (given, expected) in [(100.0, 8.0), (-2, 0), (.nan, 0), (0.25, 0.25)] {
            view.levelBias = given
            #expect(view.levelBias == expected)
        }
    }

    @Test func changedTilesAreUploadedAgain() throws {
        let (cache, layer, view, source) = try Self.setUp()
        defer { cache.shutdown() }
        let viewport = TextureScene.viewport(1024, 1024)
        var renderer = Renderer(slots: try TextureSlots(TextureScene.options(slots: 40)))
        let first = renderer.draw(try Self.sharpFrame(view, viewport), of: nil)
        #expect(first.uploads.count == 4)
        source.version.withLock { $0 = 2 }
        layer.invalidate()
        for _ in 0..<10_000 {
            let step = renderer.draw(try Self.sharpFrame(view, viewport), of: nil)
            #expect(step.placements.count == 4 && step.placements.allSatisfy { $0.isExact })
            if step.placements.allSatisfy({ renderer.textures[$0.slot]?.bytes[0] == 2 }) { break }
            usleep(1000)
        }
        #expect(renderer.slots.statistics.uploads == 8 && renderer.slots.statistics.usedSlots == 4)
        renderer.slots.remove(layer.id, region: PixelRect(minX: 1000, minY: 1000, maxX: 1001, maxY: 1001))
        #expect(renderer.draw(try Self.sharpFrame(view, viewport), of: nil).uploads.count == 1)
        // Also if the last frame did not show the layer.
        _ = renderer.slots.update(.empty)
        renderer.slots.remove(layer.id, region: PixelRect(minX: 1000, minY: 1000, maxX: 1001, maxY: 1001))
        #expect(renderer.slots.statistics.usedSlots == 3)
        renderer.slots.remove(layer.id)
        #expect(renderer.draw(try Self.sharpFrame(view, viewport), of: nil).uploads.count == 4)
        renderer.slots.removeAll()
        #expect(renderer.slots.update(.empty).placements.isEmpty)
    }

    @Test func otherFormatsAndLargerTilesAreLeftOut() throws {
        let (cache, _, view, _) = try Self.setUp(format: .gray8)
        defer { cache.shutdown() }
        let frame = try Self.sharpFrame(view, TextureScene.viewport(1024, 1024))
        var other = try TextureSlots(TextureScene.options(slots: 8))
        let step = other.update(frame, of: view)
        #expect(step.placements.isEmpty && step.uploads.isEmpty && step.levelBias == 0 && step.holeCount == 0)
        var small = TextureScene.options(slots: 8)
        (small.format, small.width) = (.gray8, 63)
        var slots = try TextureSlots(small)
        #expect(slots.update(frame, of: view).placements.isEmpty)
        // Larger slots hold smaller tiles, at their corner.
        small.width = 100
        slots = try TextureSlots(small)
        let placed = slots.update(frame).placements
        #expect(placed.count == 4 && placed.allSatisfy { $0.slotRectangle.maxX == 64 })
    }

    /// A map with tiles of 64 pixels and an overlay of 128, each in slots of its own: every tile is in those of its size,
    /// and the bias of the overlay's few slots leaves the map as it is. In slots for both the map is coarser.
    @Test func layersHaveSlotsOfTheirOwn() throws {
        let (cache, map, view, source) = try Self.setUp()
        defer { cache.shutdown() }
        let overlay = try cache.addLayer(
            source,
            pyramid: .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 128)
        )
        view.layers = [map, overlay]
        let viewport = TextureScene.viewport(1100, 1100, 256, 256)
        let wide = TextureScene.options(slots: 81)
        var large = TextureScene.options(slots: 16)
        (large.width, large.height) = (128, 128)
        large.uploadBytes = .mebibytes(16)
        var common = try TextureSlots(large)
        #expect(common.update(try Self.sharpFrame(view, viewport)).levelBias > 0 && common.layers == nil)
        var own = [try TextureSlots(wide), try TextureSlots(large)]
        (own[0].layers, own[1].layers) = ([map.id], [overlay.id])
        let frame = try Self.sharpFrame(view, viewport)
        let steps = own.indices.map { own[$0].update(frame, of: view) }
        for (step, layer) in zip(steps, [map, overlay]) {
            #expect(step.uploads.allSatisfy { $0.tile.identity.layer == layer.id } && step.holeCount == 0)
            #expect(
                !step.placements.isEmpty && step.placements.allSatisfy { $0.identity.layer == layer.id && $0.isExact }
            )
            view.setLevelBias(step.levelBias, of: layer.id)
        }
        // At the finest scale of a level, 512 pixels across: nine tiles of 64, and five of 128 for 4 x 4 slots.
        #expect(steps[0].levelBias == 0 && steps[0].neededSlots == 81)
        #expect(steps[1].levelBias > 0 && steps[1].neededSlots == 25)
        #expect(view.levelBias == 0 && view.levelBias(of: map.id) == 0 && view.levelBias(of: overlay.id) > 0)
        view.setLevelBias(1, of: overlay.id)
        let levels = try Self.sharpFrame(view, viewport).map { ($0.tile.identity.layer, $0.tile.identity.tile.level) }
        #expect(levels.allSatisfy { $0.1 == ($0.0 == map.id ? 6 : 4) })
        // A layer that is left out loses its slots.
        own[1].layers = [map.id, overlay.id]
        #expect(own[1].statistics.usedSlots > 0)
        own[1].layers = []
        #expect(own[1].statistics.usedSlots == 0 && own[1].update(frame).placements.isEmpty)
        view.layers = [map]
        #expect(view.levelBias(of: overlay.id) == 0)
    }

    /// A list of 64 tiles to upload ahead has no place for those of layers with other slots, here 81 of a map or more.
    @Test func layersHaveTilesAheadOfTheirOwn() throws {
        let cache = try TileCache(byteLimit: .mebibytes(64))
        defer { cache.shutdown() }
        let source = Numbers()
        let world = try TilePyramid.powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 64)
        let map = try cache.addLayer(source, pyramid: world.keepingFinestLevels(2))
        let overlay = try cache.addLayer(
            source,
            pyramid: .powerOfTwo(worldWidth: 4096, worldHeight: 4096, tileSize: 128)
        )
        try map.pin(levels: 0...0)
        try overlay.pin(levels: 0...0)
        let view = cache.makeView(layers: [map, overlay])
        var options = TextureScene.options(slots: 400)
        (options.width, options.height, options.uploadBytes) = (128, 128, .mebibytes(64))
        var slots = try TextureSlots(options)
        slots.layers = [overlay.id]
        var ahead: Set<TileCoordinate> = []
        for _ in 0..<2000 where !ahead.contains(tile(0, 0, 0)) {
            let frame = try Self.sharpFrame(view, TextureScene.viewport(2048, 2048, 1100, 1100))
            for upload in slots.update(frame, of: view).uploads where upload.isAhead {
                #expect(upload.tile.identity.layer == overlay.id)
                ahead.insert(upload.tile.identity.tile)
            }
            usleep(1000)
        }
        #expect(ahead.contains(tile(0, 0, 0)))
        // The set of layers is part of what is asked for: the list is another one at once.
        slots.layers = [map.id]
        let frame = try Self.sharpFrame(view, TextureScene.viewport(2048, 2048, 1100, 1100))
        let uploads = slots.update(frame, of: view).uploads
        #expect(uploads.allSatisfy { $0.tile.identity.layer == map.id } && uploads.contains(where: \.isAhead))
    }

    /// The coarsest tile over the screen comes first, then what the plan values. A lease is of the same pixels.
    @Test func expectedTilesCanBeLeased() throws {
        let (cache, layer, view, _) = try Self.setUp()
        defer { cache.shutdown() }
        try layer.pin(levels: 0...0)
        let viewport = TextureScene.viewport(1024, 1024)
        var found: (version: FrameVersion, tiles: [UpcomingTile])?
        for _ in 0..<10_000 {
            _ = try Self.sharpFrame(view, viewport)
            found = view.upcoming(limit: 8, unless: nil)
            if found?.tiles.first?.tile == tile(0, 0, 0) { break }
            usleep(1000)
        }
        let (version, tiles) = try #require(found)
        #expect(tiles.first?.tile == tile(0, 0, 0) && tiles.first?.worth == .infinity && tiles.count <= 8)
        let needed = Set(view.frame().map(\.tile.identity.tile))
        #expect(tiles.allSatisfy { !needed.contains($0.tile) })
        if let same = view.upcoming(limit: 8, unless: version) { #expect(same.1.count <= 8) }
        let identity = TileIdentity(layer: layer.id, tile: tile(0, 0, 0), generation: tiles[0].generation)
        let gone = TileIdentity(layer: layer.id, tile: tile(6, 60, 60), generation: 1)
        let old = TileIdentity(layer: layer.id, tile: tile(0, 0, 0), generation: tiles[0].generation &+ 1)
        let leased = view.lease([identity, gone, old])
        #expect(leased[0]?.identity == identity && leased[1] == nil && leased[2] == nil)
        #expect(leased[0]?.withUnsafeBytes { $0[1] } == Numbers.number(tile(0, 0, 0)))
    }

    /// The range, the stride and the index of a tile lead to its bytes. Range and stride are whole pages of the system.
    @Test func memoryIsAsPublished() throws {
        let (cache, _, view, _) = try Self.setUp()
        defer { cache.shutdown() }
        let frame = try Self.sharpFrame(view, TextureScene.viewport(1024, 1024, 300, 300))
        let page = MemoryRegion.systemPageBytes
        var indices: Set<Int> = []
        for placement in frame {
            let memory = placement.tile.memory
            placement.tile.withUnsafeBytes { bytes in
                #expect(
                    memory.rangeAddress + memory.offset == bytes.baseAddress && bytes.count == placement.tile.byteCount
                )
            }
            #expect(Int(bitPattern: memory.rangeAddress) % page == 0 && memory.rangeByteCount % page == 0)
            #expect(memory.slotStride % page == 0 && memory.slotStride >= placement.tile.byteCount)
            #expect(memory.offset + memory.slotStride <= memory.rangeByteCount)
            #expect(memory.rangeAddress == frame[0].tile.memory.rangeAddress)
            #expect(placement.tile.retained().memory == memory)
            indices.insert(memory.slotIndex)
        }
        #expect(indices.count == frame.count)
    }
}
