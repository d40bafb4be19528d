/// Changes whenever a frame may have to be composed again, or a list of upcoming tiles be made again.
package struct FrameVersion: Hashable, Sendable {
    var needs: UInt64
    var pool: UInt64
}

/// Tiles of a frame without their leases, shared by equal frames.
final class FrameContents: Sendable {
    let tiles: [ComposedTile]
    let tokens: [LeaseToken]
    let identities: [TileIdentity]
    let version: FrameVersion?
    let layers: [FrameLayer]
    private let looks: [LayerLook]

    static let none = FrameContents()

    private init() {
        tiles = []
        tokens = []
        identities = []
        version = nil
        layers = []
        looks = []
    }

    /// - Parameter isComplete: Whether nothing is missing, so that the contents are valid while the version lasts.
    init(
        tiles: [ComposedTile],
        version: FrameVersion,
        isComplete: Bool,
        layers: [ViewLayer],
        _ state: borrowing CoreState
    ) {
        self.tiles = tiles
        self.layers = layers.map {
            FrameLayer(id: $0.id, pyramid: $0.pyramid, format: state.layers[$0.layer].options.format)
        }
        self.version = isComplete ? version : nil
        var looks: [LayerLook] = []
        var tokens: [LeaseToken] = []
        var identities: [TileIdentity] = []
        tokens.reserveCapacity(tiles.count)
        identities.reserveCapacity(tiles.count)
        for tile in tiles {
            if looks.last?.id.index != tile.key.layer { looks.append(LayerLook(state.layers[tile.key.layer], state)) }
            let (id, slotClass) = (looks.last!.id, looks.last!.slotClass)
            identities.append(TileIdentity(layer: id, tile: tile.key.coordinate, generation: tile.generation))
            tokens.append(LeaseToken(entry: tile.entry, slot: tile.slot, slotClass: slotClass))
        }
        self.looks = looks
        self.tokens = tokens
        self.identities = identities
    }

    func placement(at index: Int, hold: LeaseHold) -> TilePlacement {
        let tile = tiles[index]
        let look = looks.first { $0.id.index == tile.key.layer }!
        return TilePlacement(
            tile: look.leased(identities[index], isStale: tile.isStale, token: tokens[index], hold: hold),
            worldRectangle: tile.worldRectangle,
            tileRectangle: tile.tileRectangle,
            isExact: tile.isExact
        )
    }
}

/// Properties of a layer for placing its tiles.
struct LayerLook: Sendable {
    let id: LayerID
    let format: TilePixelFormat
    let alpha: TileAlphaMode
    let slotClass: Int32
    let slots: SlotRange
    let sizes: [LayerRecord.TileSize]

    init(_ layer: LayerRecord, _ state: borrowing CoreState) {
        id = layer.id
        format = layer.options.format
        alpha = layer.options.alpha
        (slotClass, slots) = state.slots(ofLayer: layer.id.index)
        sizes = layer.sizes
    }

    func leased(_ identity: TileIdentity, isStale: Bool, token: LeaseToken, hold: LeaseHold) -> LeasedTile {
        let size = sizes[identity.tile.level]
        return LeasedTile(
            identity: identity,
            width: size.width,
            height: size.height,
            format: format,
            alpha: alpha,
            isStale: isStale,
            byteCount: size.bytes,
            slots: slots,
            token: token,
            hold: hold
        )
    }
}
