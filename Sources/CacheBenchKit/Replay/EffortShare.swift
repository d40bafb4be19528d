package import TileCache

/// Applies effort to a policy without one: keeps the first part of its wishes, from none at 0 to all at 0.5 and above.
package struct EffortShare: PrefetchPolicy {
    private var base: any PrefetchPolicy

    /// Wraps a policy.
    package init(_ base: any PrefetchPolicy) { self.base = base }

    package var changesAtRest: Bool { base.changesAtRest }
    package var isSettled: Bool { base.isSettled }
    package var goesFirst: Bool { base.goesFirst }

    package mutating func observe(_ frame: FrameObservation) { base.observe(frame) }

    package mutating func appendWishes(to plan: inout Plan, target: PlanTarget, context: PlanContext) {
        let before = plan.entries.count
        base.appendWishes(to: &plan, target: target, context: context)
        let wishes = plan.entries.count - before
        let kept = (Double(wishes) * min(max(2 * context.effort, 0), 1)).rounded(.up)
        plan.entries.removeLast(max(wishes - Int(kept), 0))
    }
}
