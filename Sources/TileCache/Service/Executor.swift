package import Dispatch

/// Runs the steps of a cache: those of one queue in order, one at a time. Tests inject one that runs them all on a
/// single thread, in an order of its own.
package struct Executor: Sendable {
    package typealias Step = @Sendable () -> Void

    /// Runs a step on a queue, after those that the queue already has.
    package var run: @Sendable (DispatchQueue, @escaping Step) -> Void = { $0.async(execute: $1) }
    /// Makes a timer that runs its steps on a queue.
    var makeTimer: @Sendable (DispatchQueue) -> any StepTimer = { DispatchStepTimer(on: $0) }
    /// Waits for a signal, for so many nanoseconds at most.
    var wait: @Sendable (DispatchSemaphore, Int) -> DispatchTimeoutResult = {
        $0.wait(timeout: .now() + .nanoseconds($1))
    }
    /// Called before a step takes the cache's lock again: other steps may run there. Default: nil.
    var interleave: Step?
}

/// A timer that is set to one time at most.
protocol StepTimer: Sendable {
    /// Runs a step after so many nanoseconds, or none if they are nil, in the place of what it was set to before.
    func set(after nanoseconds: Int?, _ step: @escaping Executor.Step)
    /// Runs nothing from now on.
    func cancel()
}

/// Dispatch's sources may be used from any thread, but are not declared so everywhere.
private final class DispatchStepTimer: StepTimer, @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(on queue: DispatchQueue) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.activate()
    }

    deinit { source.cancel() }

    func set(after nanoseconds: Int?, _ step: @escaping Executor.Step) {
        source.setEventHandler(handler: step)
        source.schedule(deadline: nanoseconds.map { .now() + .nanoseconds($0) } ?? .distantFuture)
    }

    func cancel() { source.cancel() }
}
