/// What renderers change of a view.
extension CoreState {
    /// Moves a view to a viewport.
    @inline(__always)
    mutating func update(
        view place: Int,
        to viewport: TileViewport,
        _ destination: ViewportDestination?,
        now: Int64,
        observedAt time: Int64
    ) {
        guard !isShutDown else { return }
        let wantsPlan = withView(place) { view, state in
            guard view.model.update(viewport, now: now, observedAt: time, pool: &state.pool) else {
                view.refusedViewports += 1
                return false
            }
            // The last plan contains it.
            let isWithdrawn = destination == nil && view.model.destination != nil
            view.model.destination = destination
            return isWithdrawn || state.wantsPlan(for: view, now: now)
        }
        if wantsPlan == true { pool.noteDemand() }
        planAtRest(now: now)
    }

    /// Makes a view need the tiles of a list.
    mutating func update(view place: Int, needing list: NeededList, now: Int64) {
        guard !isShutDown else { return }
        let wantsPlan = withView(place) { view, state in
            view.model.update(list, now: now, pool: &state.pool)
            return state.wantsPlan(for: view, now: now)
        }
        if wantsPlan == true { pool.noteDemand() }
        planAtRest(now: now)
    }

    mutating func setMargin(_ rings: Int, ofView place: Int) {
        views[place]?.model.margin = min(max(rings, 0), 8)
        pool.noteDemand()
    }

    mutating func setLevelBias(_ bias: Double, of layer: LayerID?, ofView place: Int, now: Int64) {
        guard !isShutDown else { return }
        let isChanged = withView(place) { view, state in
            view.model.setLevelBias(bias, of: layer, now: now, pool: &state.pool)
        }
        if isChanged == true { pool.noteDemand() }
    }
}
