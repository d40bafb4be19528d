import Dispatch
import TileCache

/// Runs a body for each index from 0 on, on all cores. Returns the results. Starts nothing new after a failure.
///
/// - Throws: Error of the smallest failed index. Indices begin in order, so that it is the same on every run.
@discardableResult
func concurrently<Result: Sendable>(_ count: Int, _ body: @Sendable (Int) throws -> Result) throws -> [Result] {
    let results = Lock<[Int: Result]>([:])
    let failure = Lock<(index: Int, error: any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: count) { index in
        guard failure.withLock({ $0 == nil }) else { return }
        do {
            let result = try body(index)
            results.withLock { $0[index] = result }
        } catch {
            failure.withLock { if $0.map({ index < $0.index }) ?? true { $0 = (index, error) } }
        }
    }
    if let failure = failure.withLock({ $0 }) { throw failure.error }
    return results.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)
}
