/// Candidates: popular tiles of the view's level, wherever they are.
extension AdaptivePolicy {
    /// Screens that stay free of popular tiles, in the tiles that fit into the limit. With 2, with a profile,
    /// `starcraft_view` hits .007 more at 4 screens and .008 less at 2.
    static let screensBesidePopular = 3.0
    /// Horizon of popular tiles, as a multiple of that of others: they are kept for long. With 1, with a profile,
    /// `starcraft_view` hits .864 instead of .902 at 12 screens. With a horizon of 200 demands it hits .901 and wastes .02
    /// more.
    static let popularHorizon = 2

    /// Considers as many popular tiles as fit beside some screens, the most popular first.
    ///
    /// Loaded at rest only, since they are never urgent. In motion they keep their worth: without it, with a profile at 4
    /// screens, `starcraft_view` wastes .05 more, since they are evicted and loaded again.
    ///
    /// After each change of the needed tiles all are sampled, so that what is learned does not depend on the limit. Those
    /// that are candidates because of their distance have bins of their own.
    ///
    /// - Parameter capacity: Tiles that memory holds.
    mutating func findPopular(_ outlook: Outlook, capacity: Int) {
        let target = outlook.target
        guard let tiles = popular?.tiles(of: target.level, in: target.pyramid, layer: target.layer) else { return }
        let isNew = popularChange != change
        popularChange = change
        let room = Double(capacity) - Self.screensBesidePopular * outlook.screenTiles
        for (number, key) in tiles.enumerated() {
            let hasRoom = Double(number) < room
            guard hasRoom || isNew else { return }
            let slot = seen.find(key)
            if let slot, seen.records[slot].neededAt == change { continue }
            let bin = (profile?.places).placed(CandidateBin.popular(isSeen: slot != nil), key)
            if isNew, !candidates.isClaimed(key) {
                _ = popularSamples.open(key, bin, time: motion.time, until: demands + Self.popularHorizon * horizon)
            }
            if hasRoom {
                let worth = probabilities.worth(bin)
                consider(key, bin: bin, worth, slot: slot, isHopeless: outlook.travel.isMoving)
            }
        }
    }
}

extension Outlook {
    /// Tiles of the view's level that it shows, on average over its positions.
    fileprivate var screenTiles: Double {
        let level = target.pyramid.levels[target.level]
        return (view.width / level.tileSpanX + 1) * (view.height / level.tileSpanY + 1)
    }
}
