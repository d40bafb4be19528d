extension AdaptivePolicy {
    /// What a view will show when its movement has died away, in world pixels: what the candidates are looked for in.
    func expectedRectangle(of view: PixelRect, scale: Double, now: Int64) -> PixelRect {
        let travel = travel(of: view, scale: scale, now: now)
        return PixelRect(
            minX: view.minX + travel.left / scale,
            minY: view.minY + travel.top / scale,
            maxX: view.maxX + travel.right / scale,
            maxY: view.maxY + travel.bottom / scale
        )
    }
}

extension Planner {
    /// Where views are expected to go: to their destination where there is one, else on as they move.
    ///
    /// - Parameter watched: the numbers of the views that somebody asks about.
    func expectations(
        of views: [(id: Int, snapshot: ViewSnapshot)],
        watched: Set<Int>,
        now: Int64
    ) -> [(view: Int, rectangle: PixelRect)] {
        guard !watched.isEmpty else { return [] }
        return views.compactMap { id, view in
            guard watched.contains(id), let viewport = view.viewport, let layer = view.layers.first, layer.level >= 0
            else { return nil }
            func box(_ viewport: TileViewport) -> PixelRect {
                ViewportCover(pyramid: layer.pyramid, viewport: viewport, levelIndex: layer.level).box
            }
            if let destination = view.destination, destination.viewport.isDrawable, destination.time.nanoseconds > now {
                return (id, box(destination.viewport))
            }
            let policy = policies[id]?[layer.id] as? AdaptivePolicy
            let here = box(viewport)
            return (id, policy?.expectedRectangle(of: here, scale: viewport.scale, now: now) ?? here)
        }
    }
}
