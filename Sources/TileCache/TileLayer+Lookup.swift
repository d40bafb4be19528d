extension TileLayer {
    /// The layer's loads in flight without stuck ones, and the most that may be: 0 or more each.
    ///
    /// The most are those of the source's ``TileSource/loadsInFlight`` at present. For a blocking source they are the cache's
    /// workers. Both are 0 once the layer is removed.
    public var loadsInFlight: (now: Int, most: Int) {
        core.read { state in
            guard state.has(id) else { return (0, 0) }
            return state.pool.loadsInFlight(ofLayer: id.index)
        }
    }

    /// Whether a tile is resident, decoded or compressed. Does not count as a use.
    public func isResident(_ tile: TileCoordinate) -> Bool {
        core.read { state in state.key(of: tile, in: id).map { state.pool.residency(of: $0).isResident } ?? false }
    }

    /// Lends the pixels of a decoded tile without a view. For tools and own lists of tiles.
    ///
    /// Counts as a use, not as a demand.
    ///
    /// - Parameters:
    ///   - tile: The tile.
    ///   - body: Called with the pixels, rows packed, which are valid only during the call.
    /// - Returns: The result of `body`; `nil`, without a call of `body`, if the tile is not decoded.
    @inlinable
    public func withTile<Result, Failure: Error>(
        _ tile: TileCoordinate,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let held = hold(tile) else { return nil }
        defer { endLease(of: held) }
        return try body(UnsafeRawBufferPointer(start: held.address, count: held.byteCount))
    }

    @usableFromInline
    func hold(_ tile: TileCoordinate) -> HeldTile? { core.hold(tile, of: id) }

    @usableFromInline
    func endLease(of held: HeldTile) { core.endLease(of: held) }

    /// Leases the best that can be drawn for a tile now. Its own pixels, also stale ones, or an ancestor's part.
    ///
    /// The part of an ancestor is ``TilePlacement/tileRectangle``; it shows ``TilePlacement/worldRectangle``, which is
    /// the tile's own unless the ancestor covers only a part of it. Not a use, not a demand.
    ///
    /// - Returns: `nil` if nothing is decoded, or the layer has no such tile.
    public func placement(of tile: TileCoordinate) -> TilePlacement? { core.placement(of: tile, in: id) }
}
