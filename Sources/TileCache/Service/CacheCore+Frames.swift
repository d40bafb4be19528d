/// Frames and leases.
extension CacheCore {
    func frame(ofView id: Int) -> TileFrame {
        var frame = TileFrame.empty
        guard !isForked else { return frame }
        let now = clock()
        // Most frames need no decompression and take the lock once.
        if !make(&frame, ofView: id, now: now, unlessCompressed: true) {
            promoteNeeded(byView: id)
            _ = make(&frame, ofView: id, now: now, unlessCompressed: false)
        }
        return frame
    }

    /// Composes a frame in place; `false` if its tiles should be decompressed first. Without a view it stays as it is.
    private func make(_ frame: inout TileFrame, ofView id: Int, now: Int64, unlessCompressed: Bool) -> Bool {
        perform { state in
            guard !state.isShutDown else { return true }
            return state.withView(id) { view, state in
                make(&frame, of: &view, in: &state, now: now, unlessCompressed: unlessCompressed)
            } ?? true
        }
    }

    private func make(
        _ frame: inout TileFrame,
        of view: inout ViewRecord,
        in state: inout CoreState,
        now: Int64,
        unlessCompressed: Bool
    ) -> Bool {
        var composer = FrameComposer(emitsPlacements: true, drawsCompressed: false, now: now)
        var isMissing = false
        for index in view.model.layers.indices {
            let missing = composer.touch(&view.model.layers[index], &state.pool) {
                if view.waits.count < 4096 { view.waits.append($0) }
            }
            isMissing = isMissing || missing
        }
        // Until all have landed, or none lacks room: each plan begins without a lack, and fallbacks would come and
        // go.
        if !isMissing, view.sparesRoom { view.spared = RoomLack() }
        if !isMissing, let contents = view.contents, contents.version == view.version(in: state) {
            draw(contents, coverage: Coverage(), in: &frame, &view, &state)
            return true
        }
        let isLacking = isMissing && view.noteLack(in: state.pool)
        composer.spared = view.spared
        if isMissing, unlessCompressed, state.firstCompressedNeed(ofView: view) != nil { return false }
        var (composed, coverage) = composer.compose(view, state.pool, isMissing: isMissing)
        if isLacking, state.pool.isKeptFull(byLeasesOf: composed, missing: coverage.missingTiles) {
            composer.takesRoom = false
            (composed, coverage) = composer.compose(view, state.pool, isMissing: true)
        }
        let contents = FrameContents(
            tiles: composed,
            version: view.version(in: state),
            isComplete: !isMissing,
            layers: view.model.layers,
            state
        )
        draw(contents, coverage: coverage, in: &frame, &view, &state)
        if isMissing {
            frame.unavailable = view.model.layers.flatMap { $0.unavailable(in: state.pool) }
            frame.late = view.model.layers.flatMap { $0.late(in: state.pool, now: now) }
        }
        return true
    }

    /// Leases what a frame draws, and finds the tiles that appeared and disappeared.
    private func draw(
        _ contents: FrameContents,
        coverage: Coverage,
        in frame: inout TileFrame,
        _ view: inout ViewRecord,
        _ state: inout CoreState
    ) {
        for token in contents.tokens { state.pool.lease(token.entry) }
        frame = TileFrame(
            contents: contents,
            hold: LeaseHold(core: self, tokens: contents.tokens),
            missingTileCount: coverage.missingTiles,
            coverage: coverage
        )
        view.noteFrame(coverage)
        frame.viewport = view.model.viewport
        frame.selection = view.model.baseSelection
        // By index: an element of a loop would be a copy, whose references are counted.
        for index in view.model.layers.indices {
            if view.model.layers[index].hasOwnList { frame.viewport = nil }
            if view.model.layers[index].isCoarsened { frame.coarsened.append(view.model.layers[index].id) }
            frame.leftOutTileCount += view.model.layers[index].leftOut
        }
        if contents !== view.contents {
            let identities = contents.identities
            let before = view.contents?.identities ?? []
            if identities != before {
                frame.appeared = Set(identities).subtracting(before).sorted()
                frame.disappeared = Set(before).subtracting(identities).sorted()
            }
            view.contents = contents
        }
    }

    /// Decompresses needed tiles on the calling thread, within the view's budget. If a slot requires compressing
    /// another tile first, it is left to a worker.
    private func promoteNeeded(byView id: Int) {
        let start = clock()
        var done = 0
        while true {
            let begun = perform { state -> CodecWork? in
                guard !state.isShutDown, let budget = state.views[id]?.promotionBudget,
                    budget.maximumTiles > done, budget.maximumTime > .zero,
                    done == 0 || clock() - start < budget.maximumTime.nanoseconds,
                    let view = state.views[id], let number = state.firstCompressedNeed(ofView: view)
                else { return nil }
                return state.beginPromotion(number)
            }
            guard let begun else { return }
            // The calling view is about to draw the tile.
            decompress(begun, wakes: .max) { $0.endPromotion(begun.ticket, $1, drawing: id) }
            done += 1
        }
    }

    // MARK: - Leases

    func retain(_ token: LeaseToken) { perform { $0.pool.lease(token) } }

    func release(_ tokens: [LeaseToken]) {
        guard !tokens.isEmpty else { return }
        perform { $0.pool.endLeases(tokens) }
    }

    func removeView(_ id: Int) {
        // Released outside of the lock: the callback may own frames and views, whose ends take it.
        let gone = perform { state -> ViewRecord? in
            guard var view = state.views[id].take() else { return nil }
            for index in view.model.layers.indices { state.pool.clear(&view.model.layers[index].needs) }
            state.views.close(view, at: id)
            return view
        }
        withExtendedLifetime(gone) {}
        if let serial = gone?.serial { removePolicies(ofView: serial) }
    }

    func setLayers(_ layers: [LayerID], ofView place: Int, _ makePolicy: (PrefetchProfile?) -> any PrefetchPolicy) {
        let now = MonotonicTime.bounded(clock())
        let set = perform { state -> (serial: Int, isNew: Bool)? in
            guard !state.isShutDown, let view = state.views[place] else { return nil }
            var known: [(LayerID, TilePyramid)] = []
            var named: Set<LayerID> = []
            for layer in layers where named.insert(layer).inserted {
                if let record = state.record(of: layer) { known.append((layer, record.pyramid)) }
            }
            state.views[place]?.model.setLayers(known, now: now, pool: &state.pool)
            return (view.serial, view.model.layers.isEmpty && view.model.viewport == nil)
        }
        guard let set else { return }
        // Until they are those of the view: meanwhile it or one of the layers may have gone, before its policies were
        // there to be removed, or another thread may have set other layers.
        var made: [LayerID]?
        while let shown = read({ $0.shownLayers(ofView: place, serial: set.serial) }), shown.map(\.id) != made {
            setPolicies(ofView: set.serial, layers: shown, makePolicy)
            made = shown.map(\.id)
        }
        if read({ $0.views[place]?.serial != set.serial }) { removePolicies(ofView: set.serial) }
        // After the policies: a plan without them would prefetch nothing. A new view has no needs yet.
        if !set.isNew { perform { $0.change(view: place) { _, _ in true } } }
    }

    /// Replaces a part of a view's record; releases the old one outside of the lock.
    func exchange<Part: Sendable>(
        _ part: Part,
        ofView id: Int,
        at path: any WritableKeyPath<ViewRecord, Part> & Sendable
    ) {
        let old = perform { state -> Part? in
            let old = state.views[id]?[keyPath: path]
            state.views[id]?[keyPath: path] = part
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension CoreState {
    /// Layers of a view, and their profiles; `nil` if it has gone.
    fileprivate borrowing func shownLayers(
        ofView place: Int,
        serial: Int
    ) -> [(id: LayerID, profile: PrefetchProfile?)]? {
        guard let view = views[place], view.serial == serial else { return nil }
        return view.model.layers.map { (id: $0.id, profile: record(of: $0.id)?.options.profile) }
    }

    /// A needed tile that is compressed as a block. Payloads are left to the workers.
    func firstCompressedNeed(ofView view: ViewRecord) -> EntryID? {
        for layer in view.model.layers {
            for number in layer.needs.entries where number != .none {
                let entry = pool.table.pointer(number)
                guard entry.pointee.residency == .compressed, !entry.pointee.form.isEncoded else { continue }
                return number
            }
        }
        return nil
    }

    /// Whether an update requires a plan. Not if the view is at rest. Nor if nothing is in flight or has changed since
    /// the newest plan, and that plan is final for a view that stands still, or holds for one that goes on.
    borrowing func wantsPlan(for view: borrowing ViewRecord, now: Int64) -> Bool {
        guard view.model.restTime > now else { return false }
        let isUnderWay = view.model.hasMoved || view.model.isHeadingElsewhere(at: now)
        // Diagnostics require the expected rectangle.
        guard pool.loads.count == 0, !view.isDiagnosed(at: now), let newest = planning.newest else { return true }
        return !newest.holds(for: view.model, at: now, isStill: !isUnderWay, in: pool)
    }

    /// Whether a plan would use a change of the supply. At rest only needed and requested tiles count: prefetches would evict
    /// each other.
    ///
    /// - Parameter rank: The last rank of refused tiles that it is worth a plan for.
    borrowing func asksForSupply(of rank: Rank, now: () -> Int64) -> Bool {
        // A plan returns memory above a lowered limit, or of removed layers, in steps.
        if rank.isExtra, pool.isOverLimit || pool.slots.haveRemains { return true }
        // The plan being made entered nothing after its beginning.
        if planning.isMaking, hasMissingEntries { return true }
        guard pool.queue.unmet.rank != nil else { return false }
        if pool.queue.unmet.isOfNeeds || interests.count(of: .margin) > 0 { return true }
        return rank.isExtra && !haveRested(at: now())
    }

    /// Requests the plan that may end a lack of what a plan was refused, if nothing else will.
    mutating func settleLack(now: Int64) {
        guard pool.queue.unmet.isOfNeeds else { return }
        if hasCrowdedView() { ask(forPlanAt: now, now: now) }
        planAtNextMeasuring()
        planAtRest(now: now)
    }

    /// Requests a plan for when all views have rested, if needed tiles lack room: fallbacks evict nothing then.
    mutating func planAtRest(now: Int64) {
        guard pool.queue.unmet.isOfNeeds, !pool.queue.plan.isAtRest else { return }
        ask(forPlanAt: restTime, now: now)
    }

    /// Requests a plan at a time, at once if it is past.
    mutating func ask(forPlanAt time: Int64, now: Int64) {
        if time <= now { pool.noteDemand() } else if due.askPlan(at: time) { effects.setsTimer = true }
    }

    /// When all views will have rested, if none moves; `.min` without views.
    private var restTime: Int64 {
        var time = Int64.min
        for place in views.indices { time = max(time, views[place]?.model.restTime ?? .min) }
        return time
    }

    borrowing func haveRested(at now: Int64) -> Bool { restTime <= now }
}

extension FrameComposer {
    /// Composes all layers of a view.
    fileprivate func compose(
        _ view: borrowing ViewRecord,
        _ pool: borrowing PoolState,
        isMissing: Bool
    ) -> (tiles: [ComposedTile], coverage: Coverage) {
        var coverage = Coverage()
        var tiles: [ComposedTile] = []
        tiles.reserveCapacity((view.contents?.tiles.count ?? 0) + 8)
        for layer in view.model.layers {
            compose(
                layer,
                viewport: view.model.viewport,
                pool: pool,
                isMissing: isMissing,
                coverage: &coverage
            ) { tiles.append($0) }
        }
        return (tiles, coverage)
    }
}

extension ViewLayer {
    /// Needed tiles without pixels that are absent or have failed permanently.
    fileprivate borrowing func unavailable(in pool: borrowing PoolState) -> [UnavailableTile] {
        var tiles: [UnavailableTile] = []
        for visible in visible {
            let number = needs.entries[Int(visible.index)]
            guard number != .none else { continue }
            let entry = pool.table[number]
            guard entry.isUnavailable else { continue }
            let rectangle = pyramid.worldRectangle(of: entry.key.coordinate).offsetBy(x: visible.offset, y: 0)
            tiles.append(
                UnavailableTile(
                    layer: id,
                    tile: entry.key.coordinate,
                    worldRectangle: rectangle,
                    cause: entry.isLost ? .failed : .absent
                )
            )
        }
        return tiles
    }

    /// Needed tiles that are on their way: neither decoded nor unavailable.
    fileprivate borrowing func late(in pool: borrowing PoolState, now: Int64) -> [LateTile] {
        var tiles: [LateTile] = []
        for visible in visible {
            let index = Int(visible.index)
            let entry = needs.entries[index] == .none ? nil : pool.table[needs.entries[index]]
            let load = entry.flatMap { pool.loads[$0.load] }
            if let entry, entry.residency.isDecoded || entry.isUnavailable { continue }
            let tile = needs.tiles[index].coordinate
            // A tile that was drawn, and has been removed since, has not been missed.
            let since = needs.missingSince[index]
            let missed = since != ViewNeeds.notMissing ? since : load?.started ?? now
            tiles.append(
                LateTile(
                    layer: id,
                    tile: tile,
                    worldRectangle: pyramid.worldRectangle(of: tile).offsetBy(x: visible.offset, y: 0),
                    since: MonotonicTime(nanoseconds: missed),
                    isLoading: load != nil
                )
            )
        }
        return tiles
    }
}

extension ViewRecord {
    /// Version of a frame's contents: if nothing is missing, equal versions have equal contents.
    func version(in state: borrowing CoreState) -> FrameVersion {
        FrameVersion(needs: model.needsVersion, pool: state.pool.drawVersion)
    }
}

extension TileFrame {
    /// Made anew: a copy of a constant counts its seven references.
    @inline(__always)
    static var empty: TileFrame { TileFrame(contents: .none, hold: nil, missingTileCount: 0, coverage: Coverage()) }
}

extension TileIdentity: Comparable {
    /// Orders by layer, tile and generation.
    public static func < (a: TileIdentity, b: TileIdentity) -> Bool {
        (a.layer, a.tile, a.generation) < (b.layer, b.tile, b.generation)
    }
}
