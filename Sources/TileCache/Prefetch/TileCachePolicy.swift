/// The library's own policy.
package struct TileCachePolicy: PrefetchPolicy {
    private var base = VelocityPolicy()
    package init() {}
    package mutating func observe(_ frame: FrameObservation) { base.observe(frame) }
    package mutating func appendWishes(to plan: inout Plan, target: PlanTarget, context: PlanContext) {
        base.appendWishes(to: &plan, target: target, context: context)
    }
}
