/// Synthesized levels under the virtual clock. A tile takes as long as all its loads, one after the other.
struct VirtualSynthesis {
    let pyramid: TilePyramid
    /// Levels 0 ..< `levels` are synthesized.
    let levels: Int
    /// Scratch slots by load; none is the layer's spare one.
    private var scratch: [LoadID: SlotID] = [:]

    init?(_ pyramid: TilePyramid, levels: Int) {
        guard levels > 0 else { return nil }
        self.pyramid = pyramid
        self.levels = levels
    }

    func makes(_ tile: TileCoordinate) -> Bool { tile.level < levels }

    /// Calls `body` with each load for a tile: its missing descendants in the source.
    func forEachLoad(
        below tile: TileCoordinate,
        isResident: (TileCoordinate) -> Bool,
        _ body: (TileCoordinate) -> Void
    ) {
        for child in pyramid.parts(of: tile) where pyramid.hasTile(child) && !isResident(child) {
            if makes(child) { forEachLoad(below: child, isResident: isResident, body) } else { body(child) }
        }
    }

    /// Takes scratch memory for a load; returns whether there is any.
    mutating func takeScratch(_ load: LoadID, from take: () -> SlotID?) -> Bool {
        scratch[load] = scratch.values.contains(.none) ? take() : SlotID.none
        return scratch[load] != nil
    }

    /// Slot to return at the end of a load; `nil` for the spare one.
    mutating func returnScratch(_ load: LoadID) -> SlotID? {
        scratch.removeValue(forKey: load).flatMap { $0 == .none ? nil : $0 }
    }
}
