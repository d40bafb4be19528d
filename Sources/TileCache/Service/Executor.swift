package import Dispatch

/// Runs the steps of a cache; those of one queue in order. Tests inject one that runs all on a single thread.
package struct Executor: Sendable {
    package typealias Step = @Sendable () -> Void

    /// Runs a step on a queue, in order.
    package var run: @Sendable (DispatchQueue, @escaping Step) -> Void = { $0.async(execute: $1) }
    /// Makes a timer that runs its steps on a queue.
    package var makeTimer: @Sendable (DispatchQueue) -> any StepTimer = { DispatchStepTimer(on: $0) }
    /// Waits for a signal, for at most this many nanoseconds.
    var wait: @Sendable (DispatchSemaphore, Int) -> DispatchTimeoutResult = {
        $0.wait(timeout: .now() + .nanoseconds($1))
    }
    /// Called before a step takes the cache's lock again; other steps may run here. Default: nil.
    var interleave: Step?
}

/// A timer with at most one pending step.
package protocol StepTimer: Sendable {
    /// Replaces the pending step; `nil` cancels it.
    func set(after nanoseconds: Int?, _ step: @escaping Executor.Step)
    /// Stops the timer for good.
    func cancel()
}

/// Dispatch's sources are thread-safe, but not declared so on all platforms.
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
