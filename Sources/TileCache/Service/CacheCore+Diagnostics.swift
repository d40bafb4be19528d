/// Diagnostics of views.
extension CacheCore {
    func diagnostics(ofView id: Int, margin: Double, maximumPlannedTiles: Int) -> TileViewDiagnostics {
        let now = clock()
        return perform { state in
            var result = TileViewDiagnostics()
            guard !state.isShutDown, let view = state.views[id] else { return result }
            state.views[id]?.diagnosedAt = now
            result.viewport = view.model.viewport
            result.expectedRectangle = view.expectedRectangle
            let time = state.pool.queue.plan.time
            if time > 0 { result.planTime = MonotonicTime(nanoseconds: time) }
            for layer in view.model.layers {
                state.appendTiles(of: layer, viewport: view.model.viewport, margin: margin, to: &result.tiles)
            }
            state.appendPlan(of: view.model, limit: maximumPlannedTiles, to: &result.plan)
            return result
        }
    }
}

extension CoreState {
    /// More tiles than any overlay can show.
    private static var maximumDiagnosedTiles: Int { 4096 }

    fileprivate borrowing func appendTiles(
        of layer: ViewLayer,
        viewport: TileViewport?,
        margin: Double,
        to tiles: inout [TileViewDiagnostics.Tile]
    ) {
        let id = layer.id
        guard let viewport, layer.needs.level >= 0, !layer.hasOwnList else {
            for key in layer.needs.tiles where tiles.count < Self.maximumDiagnosedTiles {
                tiles.append(tile(key, of: id, layer.pyramid, offset: 0, isNeeded: true))
            }
            return
        }
        let box = ViewportCover(pyramid: layer.pyramid, viewport: viewport, levelIndex: layer.needs.level).box
        let around = box.grown(x: margin * box.width, y: margin * box.height)
        let needed = Set(layer.needs.tiles)
        ViewportCover(pyramid: layer.pyramid, rectangle: around, levelIndex: layer.needs.level)
            .forEach { column, row, offset in
                guard tiles.count < Self.maximumDiagnosedTiles else { return false }
                let key = TileKey(
                    layer: layer.layer,
                    TileCoordinate(level: layer.needs.level, column: column, row: row)
                )
                tiles.append(tile(key, of: id, layer.pyramid, offset: offset, isNeeded: needed.contains(key)))
                return true
            }
    }

    private borrowing func tile(
        _ key: TileKey,
        of layer: LayerID,
        _ pyramid: TilePyramid,
        offset: Double,
        isNeeded: Bool
    ) -> TileViewDiagnostics.Tile {
        TileViewDiagnostics.Tile(
            layer: layer,
            tile: key.coordinate,
            worldRectangle: pyramid.worldRectangle(of: key.coordinate).offsetBy(x: offset, y: 0),
            state: diagnosedState(of: key),
            isNeeded: isNeeded
        )
    }

    fileprivate borrowing func appendPlan(
        of model: ViewModel,
        limit: Int,
        to plan: inout [TileViewDiagnostics.PlannedTile]
    ) {
        // The first of several entries of a tile is the reason for it.
        var told: Set<TileKey> = []
        for planned in pool.queue.plan.entries {
            if plan.count >= limit { return }
            guard let layer = model.layers.first(where: { $0.layer == planned.key.layer }),
                told.insert(planned.key).inserted
            else { continue }
            let state = diagnosedState(of: planned.key)
            switch state {
            case .decoded, .absent: continue
            case .compressed: if !planned.wantsDecoded { continue }
            case .missing, .loading, .stale, .failed: break
            }
            var rectangle = layer.pyramid.worldRectangle(of: planned.key.coordinate)
            if let center = model.viewport?.center.x {
                rectangle = layer.pyramid.nearestCopy(of: rectangle, to: center)
            }
            plan.append(
                TileViewDiagnostics.PlannedTile(
                    layer: layers[layer.layer].id,
                    tile: planned.key.coordinate,
                    worldRectangle: rectangle,
                    reason: TileViewDiagnostics.Reason(planned.reason),
                    state: state,
                    worth: planned.value
                )
            )
        }
    }

    private borrowing func diagnosedState(of key: TileKey) -> TileViewDiagnostics.TileState {
        let number = pool.table.find(key)
        guard number != .none else { return .missing }
        let entry = pool.table[number]
        if entry.flags.contains(.absent) { return .absent }
        guard entry.residency.isResident else {
            if entry.load != .none { return .loading }
            return entry.flags.contains(.failed) ? .failed : .missing
        }
        if entry.flags.contains(.stale) { return .stale }
        return entry.residency.isDecoded ? .decoded : .compressed
    }

    /// Records the expected rectangles of views that still exist.
    mutating func note(expected rectangles: [(view: Int, rectangle: PixelRect)]) {
        for (serial, rectangle) in rectangles {
            guard let place = views.firstIndex(where: { $0?.serial == serial }) else { continue }
            views[place]?.expectedRectangle = rectangle
        }
    }
}

extension ViewRecord {
    /// Whether plans record the view's expected rectangle: its diagnostics were read in the last second.
    borrowing func isDiagnosed(at now: Int64) -> Bool { diagnosedAt.map { now - $0 < 1_000_000_000 } ?? false }
}

extension TileViewDiagnostics.Reason {
    fileprivate init(_ rank: Rank) {
        switch rank {
        case .demand, .fetch: self = .demand
        case .fallback, .ancestor: self = .fallback
        case .pin: self = .pin
        case .destination, .asked, .prefetch: self = .prefetch
        case .margin: self = .margin
        }
    }
}
