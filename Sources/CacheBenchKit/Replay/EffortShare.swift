import TileCache

/// Applies effort to a policy without one by keeping the first part of its wishes. None at 0, all at 0.5 and above.
struct EffortShare: PrefetchPolicy {
    private var base: any PrefetchPolicy

    init(_ base: any PrefetchPolicy) { self.base = base }

    var validity: WishValidity { base.validity.subtracting(.whileGoingOn) }
    var goesFirst: Bool { base.goesFirst }

    mutating func observe(_ frame: FrameObservation) { base.observe(frame) }

    mutating func appendWishes(to wishes: inout Wishes, target: PlanTarget, context: PlanContext) {
        let before = wishes.entries.count
        base.appendWishes(to: &wishes, target: target, context: context)
        let added = wishes.entries.count - before
        let kept = (Double(added) * min(max(2 * context.effort, 0), 1)).rounded(.up)
        wishes.entries.removeLast(max(added - Int(kept), 0))
    }
}
