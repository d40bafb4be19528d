extension Planner {
    /// Expected rectangles of views: their destination if there is one, otherwise the end of their motion.
    ///
    /// - Parameter watched: Serial numbers of the views.
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
            if let destination = view.destination, destination.isAhead(at: now) {
                return (id, box(destination.viewport))
            }
            let policy = policies[id]?[layer.id] as? AdaptivePolicy
            let here = box(viewport)
            return (id, policy?.motion.expectedRectangle(of: here, scale: viewport.scale, now: now) ?? here)
        }
    }
}
