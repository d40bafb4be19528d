/// Requests of hosts for single tiles.
extension CacheCore {
    func fetch(_ tile: TileCoordinate, of layer: LayerID, isMargin: Bool, _ handler: FetchHandler) -> TileFetch {
        let now = MonotonicTime.bounded(clock())
        guard !isForked else { return TileFetch(core: self, id: 0, outcome: .removed, since: now) }
        promote(tile, of: layer)
        let begun = perform { state in state.beginFetch(tile, of: layer, isMargin: isMargin, handler, now: now) }
        switch begun {
        case .success(let id): return TileFetch(core: self, id: id, outcome: nil, since: now)
        case .failure(let known): return TileFetch(core: self, id: 0, outcome: outcome(known), since: now)
        }
    }

    /// Decompresses a tile on the calling thread, unless another one must be compressed for it.
    private func promote(_ tile: TileCoordinate, of layer: LayerID) {
        let begun = perform { state -> CodecWork? in
            guard !state.isShutDown, let key = state.key(of: tile, in: layer) else { return nil }
            return state.beginPromotion(ofBlock: key)
        }
        if let begun { decompress(begun, wakes: .max) { $0.endPromotion(begun.ticket, $1) } }
    }

    private func outcome(_ outcome: FetchOutcome) -> TileFetch.Outcome {
        switch outcome {
        case .pixels(let contents):
            .pixels(contents.placement(at: 0, hold: LeaseHold(core: self, tokens: contents.tokens)).tile)
        case .absent: .absent
        case .failed: .failed
        case .removed: .removed
        case .refused: .refused
        }
    }

    func cancelFetch(_ id: InterestID) -> Bool {
        // Its handler is released outside of the lock: it may own frames and views.
        let (isCancelled, record) = perform { $0.cancelFetch(id) }
        withExtendedLifetime(record) {}
        return isCancelled
    }

    /// Calls a request's handler, unless it was cancelled meanwhile.
    func deliver(_ end: FetchDelivery) {
        enterActivity()
        defer { leaveActivity() }
        let outcome = outcome(end.outcome)
        guard perform({ $0.beginCall(ofFetch: end.id) }) else { return }
        time { end.handler.call(outcome) }
    }

    func placement(of tile: TileCoordinate, in layer: LayerID) -> TilePlacement? {
        guard !isForked else { return nil }
        let contents = perform { state -> FrameContents? in
            guard !state.isShutDown, let pyramid = state.record(of: layer)?.pyramid, pyramid.contains(tile) else {
                return nil
            }
            return state.leaseDecoded(tile, orAncestorIn: pyramid, layer: layer.index)
        }
        return contents.map { $0.placement(at: 0, hold: LeaseHold(core: self, tokens: $0.tokens)) }
    }
}

extension CoreState {
    /// Begins a request; fails with an outcome that is known at once.
    mutating func beginFetch(
        _ tile: TileCoordinate,
        of layer: LayerID,
        isMargin: Bool,
        _ handler: FetchHandler,
        now: Int64
    ) -> Result<InterestID, FetchOutcome> {
        guard !isShutDown, let pyramid = record(of: layer)?.pyramid else { return .failure(.removed) }
        guard pyramid.hasTile(tile) else { return .failure(.absent) }
        let key = TileKey(layer: layer.index, tile)
        if let outcome = fetchOutcome(of: key, since: now) { return .failure(outcome) }
        let rank: Rank = isMargin ? .margin : .fetch
        guard interests.requestCount < Interests.maximumCount,
            let id = add(Interests.Interest(key: key, rank: rank, since: now, handler: handler))
        else { return .failure(.refused) }
        return .success(id)
    }

    /// Ends a request without a call, if it has not ended; its record is released outside of the lock.
    fileprivate mutating func cancelFetch(_ id: InterestID) -> (isCancelled: Bool, record: Interests.Interest?) {
        let (isCancelled, record) = interests.cancel(id)
        if let record {
            pool.letGo(record.entry, by: record.holder)
            pool.note(-Interests.bytesEach, in: .demand)
            // The next plan cancels its load, or leaves it out.
            pool.noteDemand()
        }
        return (isCancelled, record)
    }

    /// Takes an ended request from the list; returns whether its handler is to be called.
    fileprivate mutating func beginCall(ofFetch id: InterestID) -> Bool {
        pool.note(-Interests.bytesEach, in: .demand)
        return interests.beginCall(id)
    }

    /// Leases a tile, or its nearest ancestor that is decoded.
    fileprivate mutating func leaseDecoded(
        _ tile: TileCoordinate,
        orAncestorIn pyramid: TilePyramid,
        layer: Int
    ) -> FrameContents? {
        let own = pyramid.worldRectangle(of: tile)
        for level in stride(from: tile.level, through: 0, by: -1) {
            guard let source = level == tile.level ? tile : pyramid.ancestor(of: tile, at: level) else { break }
            let number = pool.decodedEntry(of: TileKey(layer: layer, source))
            let part = own.intersection(pyramid.worldRectangle(of: source))
            guard number != .none, !part.isEmpty else { continue }
            return leased(number, pyramid, showing: part, isExact: level == tile.level)
        }
        return nil
    }

    /// Outcome of a tile's request, if it is known. Pixels are leased.
    ///
    /// What had expired at the time of the request is not: it comes once it has been revalidated. During an invalidation
    /// of the layer only new pixels are known: all else may be from before.
    private mutating func fetchOutcome(of key: TileKey, since: Int64) -> FetchOutcome? {
        pool.expire(key, now: since)
        let number = pool.table.find(key)
        guard number != .none else { return nil }
        let entry = pool.table[number]
        if entry.residency.isDecoded, !pool.mayBeOutdated(number) {
            pool.touch(number, now: max(entry.lastUse, since))
            let pyramid = layers[key.layer].pyramid
            let rectangle = pyramid.worldRectangle(of: key.coordinate)
            return .pixels(leased(number, pyramid, showing: rectangle, isExact: true))
        }
        if pool.layers[key.layer].invalidations > 0 { return nil }
        if entry.flags.contains(.absent), !entry.flags.contains(.stale) { return .absent }
        return entry.isLost ? .failed : nil
    }

    /// Leases a decoded tile, or a part of it.
    private mutating func leased(
        _ number: EntryID,
        _ pyramid: TilePyramid,
        showing part: PixelRect,
        isExact: Bool
    ) -> FrameContents {
        let entry = pool.table[number]
        let level = pyramid.levels[entry.key.level]
        let tile = ComposedTile(
            entry: number,
            slot: entry.slot,
            key: entry.key,
            generation: entry.generation,
            isStale: entry.flags.contains(.stale),
            isExact: isExact,
            worldRectangle: part,
            tileRectangle: level.tileRectangle(of: entry.key.coordinate, showing: part)
        )
        pool.lease(number)
        let version = FrameVersion(needs: 0, pool: 0)
        return FrameContents(tiles: [tile], version: version, isComplete: false, layers: [], self)
    }

    /// Ends the requests of a tile whose outcome is known.
    mutating func settleFetches(of key: TileKey) {
        for id in interests.requests(of: key) {
            guard let since = interests.pending[id]?.since, let outcome = fetchOutcome(of: key, since: since) else {
                return
            }
            endFetch(id, outcome)
        }
    }

    /// Ends requests whose layer or cache ends, the oldest first.
    ///
    /// - Parameter count: Maximum number of requests. Default: all.
    /// - Returns: Whether there may be more.
    @discardableResult
    mutating func endFetches(atMost count: Int = .max, where isIncluded: (TileKey) -> Bool) -> Bool {
        let ids = interests.ids { $0.isRequest && isIncluded($0.key) }.prefix(count)
        for id in ids { endFetch(id, .removed) }
        return ids.count == count
    }

    private mutating func endFetch(_ id: InterestID, _ outcome: FetchOutcome) {
        guard let record = interests.end(id), let handler = record.handler else { return }
        pool.hold.spend()
        pool.letGo(record.entry, by: record.holder)
        effects.fetchEnds.append(FetchDelivery(id: id, outcome: outcome, handler: handler))
    }

    borrowing func isLoading(fetch id: InterestID) -> Bool {
        guard let entry = interests.pending[id]?.entry, entry != .none else { return false }
        return pool.table[entry].load != .none
    }
}
