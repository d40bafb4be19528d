/// What renderers change of a view.
extension CoreState {
    /// Changes a view.
    ///
    /// - Parameter body: Returns whether what the view wants has changed, so that a plan is requested.
    @inline(__always)
    mutating func change(view place: Int, _ body: (inout ViewRecord, inout CoreState) -> Bool) {
        guard !isShutDown else { return }
        if withView(place, body) == true { pool.noteDemand() }
    }

    /// Moves a view to a viewport.
    @inline(__always)
    mutating func update(
        view place: Int,
        to viewport: TileViewport,
        _ destination: ViewportDestination?,
        now: Int64,
        observedAt time: Int64
    ) {
        change(view: place) { view, state in
            guard view.model.update(viewport, now: now, observedAt: time, pool: &state.pool) else {
                view.refusedViewports += 1
                return false
            }
            // The last plan contains it.
            let isWithdrawn = destination == nil && view.model.destination != nil
            view.model.destination = destination
            return isWithdrawn || state.wantsPlan(for: view, now: now)
        }
        planAtRest(now: now)
    }

    /// Makes a view need the tiles of a list.
    mutating func update(view place: Int, needing list: NeededList, now: Int64) {
        change(view: place) { view, state in
            view.model.update(list, now: now, pool: &state.pool)
            return state.wantsPlan(for: view, now: now)
        }
        planAtRest(now: now)
    }

    mutating func setMargin(_ rings: Int, ofView place: Int) {
        change(view: place) { view, _ in
            view.model.margin = min(max(rings, 0), 8)
            return true
        }
    }

    mutating func setLevelBias(_ bias: Double, of layer: LayerID?, ofView place: Int, now: Int64) {
        change(view: place) { view, state in
            view.model.setLevelBias(bias, of: layer, now: now, pool: &state.pool)
        }
    }
}
