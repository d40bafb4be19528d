/// Prefetches whose last chance to land in time is now.
extension AdaptivePolicy {
    /// Takes them out of the missing candidates, in the order in which they come into view.
    ///
    /// Their loads precede those of needed tiles that are missing already. A needed tile waits for one load more, since a
    /// plan is made for each frame that moves. A tile that comes into view later stays longer, and with it the load is a
    /// hit. Without it, `trackpad_wheel` loses .06 of its hits, and `touch` .01, with loads of 150 ms .04.
    func takeUrgent(of missing: inout [(value: Float, number: Int)]) -> [PlanEntry] {
        // A worker that takes another tile now is free a load later, and gets the next plan up to a frame after that.
        let inTime = Float(latency)..<Float(2 * latency + Self.frameSeconds)
        func isUrgent(_ wish: (value: Float, number: Int)) -> Bool {
            inTime.contains(candidates.list[wish.number].entersAfter)
        }
        let urgent = missing.filter(isUrgent).sorted {
            let (first, second) = (candidates.list[$0.number], candidates.list[$1.number])
            return (first.entersAfter, $0.number) < (second.entersAfter, $1.number)
        }
        guard !urgent.isEmpty else { return [] }
        missing.removeAll(where: isUrgent)
        return urgent.map { entry(of: candidates.list[$0.number], value: Double($0.value)) }
    }
}
