public import TileCache

/// Assigns a view's tiles to texture slots, and bounds the uploads of a frame.
///
/// One value for each view and pixel format: it stores which tile is in which slot. Layers with tiles of different sizes
/// may have slots of their own (``layers``).
/// The slots are the layers of an array texture, or the cells of an atlas (``TextureAtlas``). Each frame, a renderer
/// passes the view's frame, copies the uploads, draws the placements and sets the view's level bias:
///
/// ```swift
/// let step = slots.update(view.frame(), of: view)
/// for upload in step.uploads { upload.tile.withUnsafeBytes { copy($0, to: upload.slot) } }
/// for placement in step.placements { draw(placement) }
/// view.levelBias = step.levelBias
/// ```
///
/// Uploads are ordered by the area that they improve now, and bounded in bytes and time. Tiles without a slot yet are
/// replaced by fallbacks with one. A tile on screen never loses its slot. With budget left, tiles that the view's plan
/// expects are uploaded ahead. A slot whose tile is replaced within a frame is not drawn with its old pixels any more:
/// copy and draw in one queue, in this order.
///
/// A value without threads or clocks, for one thread at a time.
public struct TextureSlots: Sendable {
    /// Maximum number of tiles that are uploaded ahead before the next plan.
    private static let upcomingTiles = 64

    private var core: TextureCore
    /// Tiles that may be drawn soon, as of a plan.
    private var upcoming: [UpcomingTile] = []
    private var upcomingVersion: FrameVersion?
    /// Layers that are listed there; `nil` for all of the view.
    private var upcomingLayers: Set<LayerID>?

    /// Layers whose tiles get slots. Default: `nil`, all with the slots' pixel format.
    ///
    /// For a view whose layers have tiles of different sizes: one value for each size, so that small tiles do not take
    /// large slots, nor one size's lack of slots makes the others coarser. The renderer then sets the bias of these
    /// layers only (``TileCache/TileView/setLevelBias(_:of:)``) and draws the placements of all values in the order of
    /// the view's layers. A change empties the slots of layers that are left out.
    public var layers: Set<LayerID>? {
        didSet {
            guard let layers, layers != oldValue else { return }
            core.remove { !layers.contains($0.layer) }
        }
    }

    /// Creates empty slots.
    ///
    /// - Throws: ``TileCacheError/invalidConfiguration(_:)`` if an option is out of its range.
    public init(_ options: TextureSlotOptions = TextureSlotOptions()) throws(TileCacheError) {
        core = try TextureCore(options)
    }

    /// Decides the uploads and placements of a frame.
    ///
    /// - Parameters:
    ///   - frame: The frame to draw.
    ///   - view: Its view, for tiles to upload ahead. Default: `nil`, none.
    public mutating func update(_ frame: TileFrame, of view: TileView? = nil) -> TextureFrame {
        var screen = TextureScreen(
            layers: frame.layers.filter { $0.format == core.options.format && layers?.contains($0.id) ?? true },
            viewport: frame.viewport,
            selection: frame.selection
        )
        listUpcoming(of: view, screen.layers.count < frame.layers.count ? Set(screen.layers.map(\.id)) : nil)
        let places = Dictionary(screen.layers.enumerated().map { ($1.id, $0) }) { first, _ in first }
        let leased = takePlacements(of: frame, places, in: &screen)
        for tile in upcoming {
            guard let place = places[tile.layer], let bytes = bytes(ofTileAt: tile.tile.level, of: screen.layers[place])
            else { continue }
            screen.tiles.append(
                TextureTile(
                    layer: place,
                    tile: tile.tile,
                    generation: tile.generation,
                    bytes: bytes,
                    worth: tile.worth
                )
            )
        }
        var picks = core.begin(screen)
        var uploads = leases(of: picks, leased, screen, view)
        // Otherwise a renderer that draws again after uploads only would leave ready tiles waiting.
        while uploads.isEmpty, !picks.isEmpty {
            picks = core.decideAgain()
            uploads = leases(of: picks, leased, screen, view)
        }
        let result = core.finish()
        return TextureFrame(
            uploads: uploads,
            placements: result.placements,
            slotCount: result.slotCount,
            levelBias: result.levelBias,
            neededSlots: result.neededSlots,
            waitingTileCount: result.waitingTileCount,
            holeCount: result.holeCount
        )
    }

    /// Reports how long a frame's uploads took, by which ``uploadTime`` becomes a number of bytes.
    public mutating func noteUploads(_ bytes: ByteCount, took time: Duration) {
        core.noteUploads(bytes: bytes.bytes, nanoseconds: time.nanoseconds)
    }

    /// Maximum number of slots, clamped to 1...65,536.
    ///
    /// With the next frame, a lower limit empties the slots beyond it, except those of tiles on screen. These are uploaded
    /// again to lower slots, or leave the screen; ``TextureFrame/slotCount`` says which slots still exist.
    public var slotLimit: Int {
        get { core.slotLimit }
        set { core.setSlotLimit(newValue) }
    }

    /// Maximum bytes of a frame's uploads; at least those of a slot.
    public var uploadBytes: ByteCount {
        get { .bytes(core.budget.bytes) }
        set { core.setUploadBudget(bytes: newValue.bytes, time: core.budget.time) }
    }

    /// Maximum time of a frame's uploads; at least a nanosecond.
    public var uploadTime: Duration {
        get { .nanoseconds(core.budget.time) }
        set { core.setUploadBudget(bytes: core.budget.bytes, time: newValue.nanoseconds) }
    }

    /// Empties all slots, if the renderer has lost its textures.
    public mutating func removeAll() { core.remove { _ in true } }

    /// Empties the slots of a layer. For one that was removed, or whose old pixels must not be drawn any more.
    ///
    /// - Parameters:
    ///   - layer: The layer.
    ///   - region: In world pixels. Default: `nil`, all of the layer.
    public mutating func remove(_ layer: LayerID, region: PixelRect? = nil) {
        core.remove(in: region) { $0.layer == layer }
    }

    /// Counts since the creation.
    public var statistics: TextureStatistics { core.statistics }

    // MARK: - Frames

    /// Brings the list of tiles to upload ahead up to date. Other layers' tiles take no place in it.
    private mutating func listUpcoming(of view: TileView?, _ layers: Set<LayerID>?) {
        guard let view else { return (upcomingVersion, upcoming) = (nil, []) }
        if layers != upcomingLayers { (upcomingVersion, upcomingLayers) = (nil, layers) }
        guard let (version, tiles) = view.upcoming(limit: Self.upcomingTiles, of: layers, unless: upcomingVersion)
        else { return }
        (upcomingVersion, upcoming) = (version, tiles)
    }

    /// Adds what a frame draws, and the needed tiles that it lacks. Returns the leased tiles.
    private func takePlacements(
        of frame: TileFrame,
        _ places: [LayerID: Int],
        in screen: inout TextureScreen
    ) -> [LeasedTile] {
        var leased: [LeasedTile] = []
        for placement in frame {
            let tile = placement.tile
            guard let place = places[tile.identity.layer], fits(tile.identity.tile.level, of: screen.layers[place])
            else {
                continue
            }
            screen.tiles.append(
                TextureTile(
                    layer: place,
                    tile: tile.identity.tile,
                    generation: tile.identity.generation,
                    bytes: tile.byteCount
                )
            )
            leased.append(tile)
            guard placement.isExact else { continue }
            screen.wants.append(
                TextureWant(layer: place, tile: tile.identity.tile, worldRectangle: placement.worldRectangle)
            )
        }
        let missing =
            frame.late.map { ($0.layer, $0.tile, $0.worldRectangle) }
            + frame.unavailable.map { ($0.layer, $0.tile, $0.worldRectangle) }
        for (layer, tile, worldRectangle) in missing {
            guard let place = places[layer], fits(tile.level, of: screen.layers[place]) else { continue }
            screen.wants.append(TextureWant(layer: place, tile: tile, worldRectangle: worldRectangle))
        }
        // Placements are by layer. The sort is stable.
        if !missing.isEmpty, screen.layers.count > 1 { screen.wants.sort { $0.layer < $1.layer } }
        return leased
    }

    private func fits(_ level: Int, of layer: FrameLayer) -> Bool {
        let level = layer.pyramid.levels[level]
        return level.pixelWidth <= core.options.width && level.pixelHeight <= core.options.height
    }

    private func bytes(ofTileAt level: Int, of layer: FrameLayer) -> Int? {
        guard fits(level, of: layer) else { return nil }
        let level = layer.pyramid.levels[level]
        return layer.format.byteCount(width: level.pixelWidth, height: level.pixelHeight)
    }

    /// Leases the tiles to upload. Those that have been evicted since the plan was made are left out.
    private mutating func leases(
        of picks: [TexturePick],
        _ leased: [LeasedTile],
        _ screen: TextureScreen,
        _ view: TileView?
    ) -> [TextureUpload] {
        guard !picks.isEmpty else { return [] }
        let others = picks.filter { $0.tile >= leased.count }
        let identities = others.map { pick in
            let tile = screen.tiles[pick.tile]
            return TileIdentity(layer: screen.layers[tile.layer].id, tile: tile.tile, generation: tile.generation)
        }
        let found = others.isEmpty ? [] : view?.lease(identities) ?? []
        var tiles: [Int: LeasedTile] = [:]
        for (pick, tile) in zip(others, found) {
            if let tile { tiles[pick.tile] = tile }
        }
        var uploads: [TextureUpload] = []
        for pick in picks {
            if let tile = pick.tile < leased.count ? leased[pick.tile] : tiles[pick.tile] {
                uploads.append(TextureUpload(slot: pick.slot, tile: tile, isAhead: pick.isAhead))
            } else {
                core.drop(pick)
            }
        }
        return uploads
    }
}
